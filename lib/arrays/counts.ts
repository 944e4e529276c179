// Differences of the flattened tensor, and how many points fall where along several axes.

import { checkOptions } from '../arguments/options.js'
import { flag, integer, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, tensorOf, type Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { several, type Several } from '../calls/several.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, Takes } from '../generated/dtypes.js'
import { concat, diff, equal, ones, searchsorted, where, zeros } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'
import { histogram, histogramBinEdges, type EdgesOf } from './histogram.js'

/** Options of `ediff1d`. */
export interface Ediff1dOptions {
  /** What stands before the differences. */
  readonly toBegin?: Tensor | Listed | number | undefined
  /** What stands behind the differences. */
  readonly toEnd?: Tensor | Listed | number | undefined
}

/**
 * Differences between neighbours of the flattened tensor, with other numbers before and behind them.
 *
 * `out_i = x_(i + 1) - x_i`
 *
 * NumPy `ediff1d`.
 *
 * @throws {TensorError} `ERR_DTYPE` for bool and for numbers that the tensor's dtype does not hold, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.ediff1d(ft.tensor([[1, 2], [4, 7]]), { toEnd: 9 }) // [1, 2, 3, 9]
 * ```
 */
export function ediff1d<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'numeric', D>) | Listed, options?: Ediff1dOptions): Tensor<D> {
  const op = 'ediff1d'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x).flatten() as Tensor
    const { toBegin, toEnd } = checkOptions(op, options, ['toBegin', 'toEnd'])
    const side = (name: string, value: unknown): readonly Tensor[] => {
      if (value === undefined) return []
      const given = typeof value === 'number' || typeof value === 'bigint' ? tensorOf(op, [value], values) : isListed(value) ? tensorOf(op, value, values) : arrayGiven(op, name, value)
      return [given.flatten().astype(values.dtype) as Tensor]
    }
    return concat([...side('toBegin', toBegin), diff(values as Tensor<'float32'>) as Tensor, ...side('toEnd', toEnd)])
  }) as Tensor<D>
}

/** Options of `histc`. */
export interface HistcOptions {
  /** How many intervals; 100 by default. */
  readonly bins?: number | undefined
  /** The first edge; 0 by default, or where `max` is 0 too the smallest element. */
  readonly min?: number | undefined
  /** The last edge; 0 by default, or where `min` is 0 too the largest element. */
  readonly max?: number | undefined
}

/**
 * How many elements fall into each interval of one width, in the dtype of `x`; what is outside is not counted. {@link histogram} gives the edges too.
 *
 * PyTorch `histc`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for fewer than one interval and ends that are not finite or in the wrong order, `ERR_DTYPE` for
 * anything but float32 and float64.
 * @example
 * ```ts
 * ft.histc(ft.tensor([1, 2, 1]), { bins: 4, min: 0, max: 3 }) // [0, 2, 1, 0]
 * ```
 */
export function histc<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'float', D>) | Listed, options?: HistcOptions): Tensor<D> {
  const op = 'histc'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    // As PyTorch: other dtypes do not hold the counts.
    if (!['float32', 'float64'].includes(values.dtype)) throw new DTypeError(`${op}: takes float32 or float64, got ${values.dtype}; histogram(x) counts others in int32`)
    const { bins = 100, min = 0, max = 0 } = checkOptions(op, options, ['bins', 'min', 'max'])
    const [low, high] = [number(op, 'min', min), number(op, 'max', max)]
    const range = low === 0 && high === 0 ? undefined : ([low, high] as const)
    return histogram(values as Tensor<'float32'>, { bins: integer(op, 'bins', bins), range }).hist.astype(values.dtype)
  }) as Tensor<D>
}

/** Options of `histogramdd`. */
export interface HistogramddOptions {
  /** How many intervals of one width along each axis, or for each axis its number or its increasing edges; 10 by default. */
  readonly bins?: number | readonly (number | Tensor | Listed)[] | undefined
  /** For each axis the first and the last edge; those of the points by default. */
  readonly range?: readonly (readonly [number, number] | undefined)[] | undefined
  /** What each point counts; 1 by default. */
  readonly weights?: Tensor | Listed | undefined
  /** Whether to give the density of the distribution instead of counts; false by default. */
  readonly density?: boolean | undefined
}

const OPTIONS = ['bins', 'range', 'weights', 'density']

/** A pair of numbers, or edges, for each axis. */
function forAxis(op: string, name: string, value: unknown, axis: number, count: number): unknown {
  if (value === undefined || typeof value === 'number') return value
  if (!Array.isArray(value) || value.length !== count) throw new ArgumentError(`${op}: '${name}' must have ${count} items, one for each axis, got ${shown(value)}`)
  return value[axis]
}

/** The counts of points, a vector of coordinates for each axis, between edges. */
function counted(op: string, points: readonly Tensor[], options: unknown): { hist: Tensor; edges: Tensor[] } {
  const o = checkOptions(op, options, OPTIONS)
  const isDensity = flag(op, 'density', o['density'], false)
  const [first] = points as [Tensor, ...Tensor[]]
  const edges = points.map((x, axis) => {
    const bins = forAxis(op, 'bins', o['bins'], axis, points.length)
    const range = forAxis(op, 'range', o['range'], axis, points.length)
    return histogramBinEdges(x as Tensor<'float32'>, { bins: bins as number, range: range as [number, number] }) as Tensor
  })
  const sizes = edges.map((edge) => edge.size - 1)
  const size = sizes.reduce((n, count) => n * count, 1)
  if (size >= 2 ** 31) throw new ShapeError(`${op}: [${sizes.join(', ')}] intervals are 2^31 or more`)
  // The last place of all is that of what is outside.
  let [place, inside]: [Tensor, Tensor] = [zeros(first.shape, { dtype: 'int32', device: first.device }) as Tensor, ones(first.shape, { dtype: 'bool', device: first.device }) as Tensor]
  points.forEach((x, axis) => {
    const [edge, count] = [edges[axis] as Tensor, sizes[axis] as number]
    const above = searchsorted(edge as Tensor<'float32'>, x as Tensor<'float32'>, undefined, { side: 'right' }) as Tensor
    const own = where(equal(x, edge.at(-1) as Tensor), count, above).sub(1) as Tensor
    inside = inside.logicalAnd(own.greaterEqual(0)).logicalAnd(own.less(count))
    place = place.multiply(count).add(own.clip(0, count - 1)) as Tensor
  })
  const weights = o['weights'] === undefined ? undefined : isListed(o['weights']) ? tensorOf(op, o['weights'], first) : arrayGiven(op, 'weights', o['weights'])
  if (weights !== undefined && weights.shape.join() !== first.shape.join()) throw new ShapeError(`${op}: weights have shape [${weights.shape.join(', ')}] for ${first.size} points`)
  const each = weights ?? (ones(first.shape, { dtype: 'int32', device: first.device }) as Tensor)
  const sums = zeros([size + 1], { dtype: each.dtype, device: first.device }).scatterAdd(where(inside, place, size) as Tensor<'int32'>, each)
  const hist = sums.at(':-1').reshape(sizes) as Tensor
  if (!isDensity) return { hist, edges }
  const widths = edges.map((edge, axis): Tensor => edge.diff().reshape(sizes.map((_, i) => (i === axis ? -1 : 1))))
  return { hist: widths.reduce<Tensor>((density, width) => density.divide(width), hist.divide(hist.sum()) as Tensor), edges }
}

/** Counts of points of a plane, and the edges of their intervals. */
export interface Histogram2d<A extends DType = DType, B extends DType = DType> {
  /** For each interval of `x` along the first axis, of `y` along the second, how many points, or the sum of their weights, or their density. */
  readonly hist: Tensor
  /** The edges along x, one more than intervals. */
  readonly xEdges: Tensor<A>
  /** The edges along y, one more than intervals. */
  readonly yEdges: Tensor<B>
}

/**
 * How many points of a plane fall into each rectangle, all but the last of each axis without their right end; what is outside is not counted.
 *
 * NumPy `histogram2d`.
 *
 * @param x Coordinates along the first axis, a vector.
 * @param y Coordinates along the second axis, as many.
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a vector, and for sizes that do not fit, `ERR_ARGUMENT`, when a result is read for edges that do not
 * increase, `ERR_DTYPE` for complex tensors.
 * @example
 * ```ts
 * ft.histogram2d(ft.tensor([0, 1, 1]), ft.tensor([0, 0, 2]), { bins: 2 }).hist // [[1, 0], [1, 1]]
 * ```
 */
export function histogram2d<A extends DType, B extends DType>(x: Tensor<A> & Takes<'real', A>, y: Tensor<B> & Takes<'real', B>, options?: HistogramddOptions): Several<Histogram2d<EdgesOf<A>, EdgesOf<B>>> {
  const op = 'histogram2d'
  return within(op, () => {
    const points = [arrayGiven(op, 'x', x, y), arrayGiven(op, 'y', y, x)]
    const [a, b] = points as [Tensor, Tensor]
    if (a.ndim !== 1 || b.ndim !== 1 || a.size !== b.size) throw new ShapeError(`${op}: takes vectors of one size, got shapes [${a.shape.join(', ')}] and [${b.shape.join(', ')}]`)
    const { hist, edges } = counted(op, points, options)
    return several({ hist, xEdges: edges[0] as Tensor<EdgesOf<A>>, yEdges: edges[1] as Tensor<EdgesOf<B>> })
  })
}

/** Counts of points of a space, and the edges of their intervals along each axis. */
export interface Histogramdd {
  /** For each box how many points, or the sum of their weights, or their density; an axis for each of the space's. */
  readonly hist: Tensor
  /** The edges along each axis, one more than intervals. */
  readonly edges: Tensor[]
}

/**
 * How many points of a space fall into each box, as {@link histogram2d}.
 *
 * NumPy `histogramdd`.
 *
 * @param sample Points, [n, axes].
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a matrix, `ERR_ARGUMENT`, when a result is read for edges that do not increase, `ERR_DTYPE` for
 * a complex tensor.
 * @example
 * ```ts
 * ft.histogramdd(ft.tensor([[0, 0], [1, 0], [1, 2]]), { bins: 2 }).hist // [[1, 0], [1, 1]]
 * ```
 */
export function histogramdd(sample: Tensor | Listed, options?: HistogramddOptions): Several<Histogramdd> {
  const op = 'histogramdd'
  return within(op, () => {
    const points = arrayGiven(op, 'sample', sample)
    if (points.ndim !== 2 || points.shape[1] === 0 || (points.shape[1] as number) > 32) throw new ShapeError(`${op}: 'sample' must be points [n, axes] of 1 to 32 axes, got shape [${points.shape.join(', ')}]`)
    return several(counted(op, [...(points.matrixTranspose() as Tensor)], options))
  })
}
