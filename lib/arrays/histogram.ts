// How many elements fall where: counts of integers, of intervals, and the numbers of intervals.

import { checkOptions } from '../arguments/options.js'
import { integer, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, positionsOf, tensorOf } from '../calls/arrays.js'
import { arrayGiven, operandGiven } from '../calls/operands.js'
import { one } from '../calls/record-call.js'
import { several, type Several } from '../calls/several.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type FloatOf, type Promote, type SumOf, type Takes } from '../generated/dtypes.js'
import { equal, full, logicalAnd, logicalNot, ones, searchsorted, segmentSum, stack, where, zeros } from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import type { Fits, Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { arange } from './ranges.js'

/** The weights of a call, one for each element of `x`; ones of int32 where there are none. */
function weightsOf(op: string, x: Tensor, weights: unknown): Tensor {
  if (weights === undefined) return ones([], { dtype: 'int32', device: x.device }).broadcastTo([x.size])
  const w = arrayGiven(op, 'weights', weights)
  if (w.shape.length !== x.shape.length || w.shape.some((size, axis) => size !== x.shape[axis])) {
    throw new ShapeError(`${op}: weights have shape [${w.shape.join(', ')}], the tensor [${x.shape.join(', ')}]`)
  }
  return w.flatten()
}

/** Weights added up by place. Sums of integers are right or refused, which counts of elements need not be asked for. */
function addedUp(places: Tensor, weights: Tensor, count: number, given: unknown): Tensor {
  if (given !== undefined && DTYPE[weights.dtype].min !== null) return segmentSum(weights, places as Tensor<'int32'>, count)
  return zeros([count], { dtype: weights.dtype, device: places.device }).scatterAdd(places, weights)
}

/** Whether some element of a vector is below (above) the one before it, as a tensor of rank 0. */
function steps(bins: Tensor, way: 'less' | 'greater'): Tensor {
  return (bins.at('1:') as Tensor)[way](bins.at(':-1') as Tensor).any()
}

/** Options of `digitize`. */
export interface DigitizeOptions {
  /** Whether intervals hold their right end instead of their left one; false by default. */
  readonly right?: boolean | undefined
}

/**
 * For each element the number of its interval between increasing `bins`: int32, 0 before the first, the number of bins behind the last.
 * Of decreasing bins the other way round: 0 for what is not below the first.
 *
 * @throws {TensorError} `ERR_SHAPE` for bins that are not vector, `ERR_DTYPE` for complex tensors; `ERR_ARGUMENT` when a result is read
 *   whose bins neither increase nor decrease.
 * @example
 * ```ts
 * ft.digitize(ft.tensor([0.5, 1, 9]), ft.tensor([0, 1, 2])) // [1, 2, 3]
 * ```
 */
export function digitize<A extends Operand, B extends DType>(
  x: A & Fits<'real', A, B>,
  bins: Tensor<B> & Takes<'real', B>,
  options?: DigitizeOptions
): Tensor<'int32'> {
  const op = 'digitize'
  return within(op, () => {
    const { right = false } = checkOptions(op, options, ['right'])
    if (typeof right !== 'boolean') throw new ArgumentError(`${op}: 'right' must be a boolean, got ${shown(right)}`)
    const [edges, values, side] = [arrayGiven(op, 'bins', bins, x), operandGiven(op, 'x', x, bins), right ? 'left' : 'right'] as const
    if (edges.ndim !== 1 || edges.size < 2) return searchsorted(edges, values, undefined, { side })
    const [falls, rises] = [steps(edges, 'less'), steps(edges, 'greater')]
    const known = one(OP.digitizeBins, [edges, logicalNot(logicalAnd(falls, rises))], [], [])
    const below = searchsorted(where(falls, known.flip(), known), values, undefined, { side })
    return where(falls, below.negative().add(edges.size), below) as Tensor<'int32'>
  })
}

/** Options of `bincount`. */
export interface BincountOptions<W extends DType = DType> {
  /** What each element counts; 1 by default. */
  readonly weights?: (Tensor<W> & Takes<'numeric', W>) | undefined
  /** The least size of the result; 0 by default. */
  readonly minlength?: number | undefined
}

/** More counts than this are a mistake: every integer up to the largest has one. */
const MOST = 2 ** 31

/** The counts, once the largest and the smallest element are known. */
function counted(op: string, x: Tensor, options: unknown): { ends: Tensor | null; finish(ends: readonly number[]): Tensor } {
  const o = checkOptions(op, options, ['weights', 'minlength'])
  const least = o['minlength'] === undefined ? 0 : integer(op, 'minlength', o['minlength'])
  if (least < 0) throw new ArgumentError(`${op}: 'minlength' must not be negative, got ${least}`)
  const weights = weightsOf(op, x, o['weights'])
  const flat = x.flatten()
  return {
    ends: x.size === 0 ? null : stack([flat.min(), flat.max()]).astype('float64'),
    finish: ([low, high]) =>
      within(op, () => {
        if (low !== undefined && low < 0) throw new ArgumentError(`${op}: elements must not be negative, got ${low}`)
        const length = Math.max(least, high === undefined ? 0 : high + 1)
        if (length > MOST) throw new ShapeError(`${op}: ${length} counts are more than ${MOST}`)
        // The largest is known to be below 2^31. A conversion to the same dtype is a copy.
        return addedUp(flat.dtype === 'int32' ? flat : flat.astype('int32'), weights, length, o['weights'])
      })
  }
}

function integers(op: string, value: unknown): Tensor {
  const x = isListed(value) ? positionsOf(op, value, undefined) : arrayGiven(op, 'x', value)
  if (DTYPE[x.dtype].min === null) throw new ArgumentError(`${op}: 'x' must be of an integer dtype, got ${x.dtype}; convert with astype('int32')`)
  return x
}

/**
 * How often each integer from 0 to the largest element occurs, or the sum of the weights of its elements. Reads the largest element.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for negative elements and dtypes other than integers, `ERR_SHAPE` for weights of another shape;
 *   `ERR_DTYPE` when a result is read for sums of integer weights that their dtype does not hold.
 * @example
 * ```ts
 * ft.bincount(ft.tensor([1, 3, 1], { dtype: 'int32' })) // [0, 2, 0, 1]
 * ```
 */
export function bincount<D extends DType, W extends DType = 'int32'>(x: Tensor<D> & Takes<'integer', D>, options?: BincountOptions<W>): Tensor<NoInfer<W>> {
  const { ends, finish } = counted('bincount', integers('bincount', x), options)
  return finish(ends === null ? [] : (ends.toArray() as number[])) as Tensor<W>
}

/** As {@link bincount}, without blocking. */
export async function bincountAsync<D extends DType, W extends DType = 'int32'>(x: Tensor<D> & Takes<'integer', D>, options?: BincountOptions<W>): Promise<Tensor<NoInfer<W>>> {
  const { ends, finish } = counted('bincountAsync', integers('bincountAsync', x), options)
  return finish(ends === null ? [] : [...((await ends.data()) as Float64Array)]) as Tensor<W>
}

/** Options of `histogramBinEdges`. */
export interface HistogramBinEdgesOptions<B extends DType = DType> {
  /** How many intervals of one width, or their increasing edges; 10 by default. */
  readonly bins?: number | (Tensor<B> & Takes<'real', B>) | undefined
  /** The first and the last edge; those of the elements by default. */
  readonly range?: readonly [number, number] | undefined
}

/** Options of `histogram`. */
export interface HistogramOptions<B extends DType = DType, W extends DType = DType, P extends boolean = boolean> extends HistogramBinEdgesOptions<B> {
  /** What each element counts; 1 by default. */
  readonly weights?: (Tensor<W> & Takes<'numeric', W>) | undefined
  /** Whether to give the density of the distribution instead of counts; false by default. */
  readonly density?: P | undefined
}

/**
 * The dtype of `hist`: that of the weights `W`, which is int32 without weights. With `density` (`P` is true) it is the floating dtype of the weights
 * divided by their sum and by the widths of the intervals, which have the dtype `B` of the edges.
 */
export type CountOf<W extends DType, B extends DType, P extends boolean> = P extends true ? FloatOf<Promote<FloatOf<Promote<W, SumOf<W>>>, B>> : W

/** Counts, and the edges of their intervals. */
export interface Histogram<C extends DType = DType, B extends DType = DType> {
  /** For each interval how many elements, or the sum of their weights, or their density. */
  readonly hist: Tensor<C>
  /** The edges, one more than intervals. */
  readonly binEdges: Tensor<B>
}

const EDGES = ['bins', 'range']

/** The first and the last edge of a call, as a pair of tensors of rank 0 or numbers. */
function ends(op: string, x: Tensor, range: unknown): readonly [Operand, Operand] {
  if (range === undefined) {
    if (x.size === 0) return [0, 1]
    const [low, high] = [x.min(), x.max()]
    // All elements are equal: an interval around them.
    const room = equal(low, high).astype(low.dtype).multiply(0.5)
    return [low.subtract(room), high.add(room)]
  }
  if (!Array.isArray(range) || range.length !== 2) throw new ArgumentError(`${op}: 'range' must be a pair of numbers, got ${shown(range)}`)
  const [low, high] = [number(op, 'range[0]', range[0]), number(op, 'range[1]', range[1])]
  if (!Number.isFinite(low) || !Number.isFinite(high) || low > high) {
    throw new ArgumentError(`${op}: 'range' must be two finite numbers, the first not above the second, got ${shown(range)}`)
  }
  return low === high ? [low - 0.5, high + 0.5] : [low, high]
}

/** The dtype of edges between the extremes of elements: NumPy's float64 for integers that float32 does not hold. */
export type EdgesOf<D extends DType> = D extends 'int32' | 'uint32' | 'int64' | 'uint64' ? 'float64' : FloatOf<D>

function edgeDType(op: string, { dtype }: Tensor): DType {
  const { kind, bytes } = DTYPE[dtype]
  if (kind === 'complex') throw new DTypeError(`${op}: complex numbers have no order, got ${dtype}`)
  if (kind === 'float') return dtype
  return bytes < 4 ? 'float32' : 'float64'
}

/** As `linspace` of ends that are tensors: in float64, by halves where the whole overflows, rounded once; the last is the end itself. */
function spaced(first: Tensor, last: Tensor, count: number, dtype: DType): Tensor {
  const [start, stop] = [first.astype('float64'), last.astype('float64')]
  const fits = stop.subtract(start).isfinite()
  const down = where(fits, 1, 0.5)
  const from = start.multiply(down)
  const along = arange(count + 1, { dtype: 'float64', device: first.device })
  const edges = along.multiply(stop.multiply(down).subtract(from).divide(count)).add(from).multiply(where(fits, 1, 2))
  return where(equal(along, count), stop, edges).astype(dtype)
}

function edgesOf(op: string, x: Tensor, o: Record<string, unknown>): Tensor {
  const given = o['bins'] ?? 10
  const bins = isListed(given) ? tensorOf(op, given, x) : given
  if (isTensor(bins)) {
    if (bins.ndim !== 1 || bins.size < 2) throw new ShapeError(`${op}: edges must be a vector of at least two, got shape [${bins.shape.join(', ')}]`)
    return one(OP.histogramEdges, [bins, logicalNot(steps(bins, 'less'))], [], [])
  }
  const count = integer(op, 'bins', bins)
  if (count < 1) throw new ArgumentError(`${op}: 'bins' must be at least 1, got ${count}`)
  const dtype = edgeDType(op, x)
  const [low, high] = ends(op, x.astype(dtype), o['range'])
  const [start, stop] = [low, high].map((end) => (isTensor(end) ? end : full([], end, { dtype: 'float64', device: x.device })))
  return spaced(start as Tensor, stop as Tensor, count, dtype)
}

/**
 * Edges of intervals of one width between the extremes of the elements, as {@link histogram} counts in.
 *
 * @throws {TensorError} `ERR_ARGUMENT`, when a result is read for edges that do not increase, `ERR_SHAPE` for edges that are not vector,
 *   `ERR_DTYPE` for complex tensors.
 * @example
 * ```ts
 * ft.histogramBinEdges(ft.tensor([0, 4]), { bins: 2 }) // [0, 2, 4]
 * ```
 */
export function histogramBinEdges<D extends DType, B extends DType = EdgesOf<D>>(x: Tensor<D> & Takes<'real', D>, options?: HistogramBinEdgesOptions<B>): Tensor<NoInfer<B>> {
  const op = 'histogramBinEdges'
  return within(op, () => {
    const o = checkOptions(op, options, EDGES)
    return edgesOf(op, arrayGiven(op, 'x', x), o) as Tensor<B>
  })
}

/**
 * How many elements fall into each interval, of which all but the last are without their right end; what is outside is not counted. Edges
 * are those of `linspace`, and elements are compared with them.
 *
 * @throws {TensorError} `ERR_ARGUMENT`, when a result is read for edges that do not increase, `ERR_SHAPE` for edges that are not vector and
 *   weights of another shape, `ERR_DTYPE` for complex tensors.
 * @example
 * ```ts
 * ft.histogram(ft.tensor([1, 2, 2, 4]), { bins: 3 }).hist // [1, 2, 1]
 * ```
 */
export function histogram<D extends DType, B extends DType = EdgesOf<D>, W extends DType = 'int32', P extends boolean = false>(
  x: Tensor<D> & Takes<'real', D>,
  options?: HistogramOptions<B, W, P>
): Several<Histogram<CountOf<NoInfer<W>, NoInfer<B>, NoInfer<P>>, NoInfer<B>>> {
  const op = 'histogram'
  return within(op, () => {
    const o = checkOptions(op, options, [...EDGES, 'weights', 'density'])
    const { density = false } = o
    if (typeof density !== 'boolean') throw new ArgumentError(`${op}: 'density' must be a boolean, got ${shown(density)}`)
    const values = arrayGiven(op, 'x', x)
    const weights = weightsOf(op, values, o['weights'])
    const edges = edgesOf(op, values, o)
    const [flat, count] = [values.flatten(), edges.size - 1]
    // Places 0 and count + 1 are those of what is outside.
    const place = searchsorted(edges, flat, undefined, { side: 'right' })
    const atEnd = equal(flat, edges.at(-1))
    const own = where(atEnd, count, place)
    const counts = addedUp(own as Tensor, weights, count + 2, o['weights']).at('1:-1') as Tensor
    const hist = density ? counts.divide(counts.sum()).divide(edges.diff()) : counts
    return several({ hist: hist as Tensor<CountOf<W, B, P>>, binEdges: edges as Tensor<B> })
  })
}
