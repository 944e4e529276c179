// Poolings with what PyTorch's options say beside those of the rows: windows that reach beyond the end, the places of the largest elements,
// and what a sum is divided by.

import { checkOptions } from '../arguments/options.js'
import { flag, integer, integers, padding as sides } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating } from '../arrays/dtypes.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven, tensorGiven } from '../calls/operands.js'
import { several, type Several } from '../calls/several.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatOf, Takes } from '../generated/dtypes.js'
import { where, windowSum, zeros } from '../generated/functions.js'
import { avgPool as mean, maxPool as largest, type AvgPoolOptions as MeanOptions, type MaxPoolOptions as LargestOptions } from '../generated/nn.js'
import { isHalf } from '../program/half.js'
import type { Tensor } from '../tensor/tensor.js'
import { tensor } from '../values/create.js'

/** Options of `nn.maxPool`. */
export interface MaxPoolOptions extends LargestOptions {
  /** Whether there is one more window where the last one leaves elements over; false by default. */
  readonly ceilMode?: boolean | undefined
  /** Whether the result is `{ values, indices }`, with each largest element's place in its channel, row by row (int32); false by default. */
  readonly returnIndices?: boolean | undefined
}

/** Options of `nn.avgPool`. */
export interface AvgPoolOptions extends MeanOptions {
  /** Whether there is one more window where the last one leaves elements over; false by default. */
  readonly ceilMode?: boolean | undefined
  /** Whether places of the padding count in what sums are divided by; true by default. */
  readonly countIncludePad?: boolean | undefined
  /** What sums are divided by in place of their number of places, not 0. */
  readonly divisor?: number | undefined
}

/** Options of `nn.maxUnpool`. */
export interface MaxUnpoolOptions {
  /** How far apart windows were: one number for all axes, or one for each; the window's size by default. */
  readonly stride?: number | readonly number[] | undefined
  /** Places around what was pooled: one number for all axes, or one for each; 0 by default. */
  readonly padding?: number | readonly number[] | undefined
  /** The spatial sizes of what was pooled, where they do not follow from the windows. */
  readonly outputSize?: readonly number[] | undefined
}

/** Largest elements and their places. */
export type MaxPoolIndices<D extends DType = DType> = Several<{ values: Tensor<D>; indices: Tensor<'int32'> }>

/** The windows along one axis. */
interface Along {
  readonly size: number
  readonly window: number
  readonly stride: number
  readonly dilation: number
  readonly before: number
  readonly after: number
  readonly count: number
}

/** Places of all windows along one axis, which are counted one by one. */
const MOST_PLACES = 2 ** 24

/** One number for all axes, or one for each. */
function each(op: string, name: string, value: unknown, axes: number, least: number): readonly number[] {
  const all = typeof value === 'number' ? Array<number>(axes).fill(integer(op, name, value)) : integers(op, name, value)
  if (all.length !== axes || all.some((n) => n < least)) throw new ArgumentError(`${op}: '${name}' must be a size from ${least} or ${axes} of them, got ${shown(value)}`)
  return all
}

/** The windows over the spatial axes of x [batch, channels, spatial...], one more along an axis where `ceil` says so. */
function windowsOf(op: string, x: Tensor, window: unknown, o: Readonly<Record<string, unknown>>, ceil: boolean): Along[] {
  const sizes = x.shape.slice(2)
  const axes = sizes.length
  if (axes < 1 || axes > 3) throw new ShapeError(`${op}: x must have shape [batch, channels, spatial...] with one to three spatial axes, got [${x.shape.join(', ')}]`)
  const windows = each(op, 'window', window, axes, 1)
  const strides = each(op, 'stride', o['stride'] ?? windows, axes, 1)
  const dilations = each(op, 'dilation', o['dilation'] ?? 1, axes, 1)
  const given = o['padding'] === 'same' ? null : sides(op, 'padding', o['padding'] ?? 0).map((places) => each(op, 'padding', places.length === 1 ? places[0] : places, axes, 0))
  return sizes.map((size, i) => {
    const [length, stride, dilation] = [windows[i], strides[i], dilations[i]] as [number, number, number]
    const span = dilation * (length - 1) + 1
    if (given === null) {
      const count = Math.ceil(size / stride)
      const all = Math.max(0, (count - 1) * stride + span - size)
      if (length * count > MOST_PLACES) throw new ShapeError(`${op}: windows of ${length} places are too many along an axis of ${size}`)
      return { size, window: length, stride, dilation, before: Math.floor(all / 2), after: all - Math.floor(all / 2), count }
    }
    const [before, after] = given.map((places) => places[i]) as [number, number]
    const room = size + before + after - span
    if (room < 0) throw new ShapeError(`${op}: a window of ${span} places does not fit an axis of ${size}, padding included`)
    const floor = Math.floor(room / stride) + 1
    if (length * (Math.floor(room / stride) + 2) > MOST_PLACES) throw new ShapeError(`${op}: windows of ${length} places are too many along an axis of ${size}`)
    const more = ceil && room % stride !== 0 && floor * stride < size + before
    return { size, window: length, stride, dilation, before, after, count: more ? floor + 1 : floor }
  })
}

/** Those windows as options of a row: what lies beyond the end is padding. */
function rowOptions(windows: readonly Along[]): { stride: number[]; dilation: number[]; padding: [number, number][] } {
  const reach = ({ count, stride, dilation, window, size, before, after }: Along): number => Math.max(after, (count - 1) * stride + dilation * (window - 1) + 1 - size - before)
  return { stride: windows.map((w) => w.stride), dilation: windows.map((w) => w.dilation), padding: windows.map((w) => [w.before, reach(w)]) }
}

/** Numbers of each window along each axis, multiplied over the axes: [windows...]. */
function products(windows: readonly Along[], of: (along: Along, n: number) => number, like: Tensor): Tensor {
  const along = windows.map((w, i) => {
    const numbers = Float64Array.from({ length: w.count }, (_, n) => of(w, n))
    return tensor(numbers, { device: like.device }).reshape(windows.map((_, axis) => (axis === i ? w.count : 1))) as Tensor
  })
  return along.reduce((a, b) => a.multiply(b) as Tensor).astype(like.dtype)
}

/** The place of each element of each window in its channel, row by row: [places of a window, windows...], and whether there is one. */
function placesOf(windows: readonly Along[], device: string): [places: Tensor<'int32'>, there: Tensor<'bool'>] {
  const axes = windows.length
  const shape = [...windows.map((w) => w.window), ...windows.map((w) => w.count)]
  const [all, inside] = [windows.map((w, i) => {
    const numbers = Int32Array.from({ length: w.window * w.count }, (_, n) => Math.floor(n / w.count) * w.dilation + (n % w.count) * w.stride - w.before)
    return tensor(numbers, { device }).reshape(shape.map((size, axis) => (axis === i || axis === axes + i ? size : 1))) as Tensor
  })].flatMap((along) => [along, along.map((x, i) => x.greaterEqual(0).logicalAnd(x.less((windows[i] as Along).size)))]) as [Tensor[], Tensor<'bool'>[]]
  const there = inside.reduce((a, b) => a.logicalAnd(b))
  const flat = all.reduce((sum, x, i) => sum.multiply((windows[i] as Along).size).add(x) as Tensor)
  const rows = [windows.reduce((n, w) => n * w.window, 1), ...windows.map((w) => w.count)]
  return [where(there, flat, 0).reshape(rows) as Tensor<'int32'>, there.broadcastTo(shape).reshape(rows) as Tensor<'bool'>]
}

/**
 * Largest element of each window over the spatial axes of x [batch, channels, spatial...]; NaN wins, what lies outside x never does.
 *
 * `y_(b,c,p) = max_k x_(b,c,p stride + k dilation - padding)`
 *
 * Takes an integer or floating dtype; gives the same dtype. PyTorch `nn.functional.max_pool2d`.
 *
 * @param window One number for all axes of a window, or one for each.
 * @throws {TensorError} `ERR_SHAPE` for windows that do not fit, `ERR_ARGUMENT` for options out of range.
 * @example
 * ```ts
 * ft.nn.maxPool(ft.tensor([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]), 2, { stride: 1 }) // [[[[5, 6], [8, 9]]]]
 * ```
 * ```ts
 * ft.nn.maxPool(ft.tensor([[[1, 5, 3, 2, 4]]]), 2, { ceilMode: true, returnIndices: true }).indices // [[[1, 2, 4]]]
 * ```
 */
export function maxPool<A extends DType = 'float32'>(
  x: (Tensor<A> & Takes<'integerOrFloat', A>) | Listed,
  window: number | readonly number[],
  options: MaxPoolOptions & { readonly returnIndices: true }
): MaxPoolIndices<A>
export function maxPool<A extends DType = 'float32'>(
  x: (Tensor<A> & Takes<'integerOrFloat', A>) | Listed,
  window: number | readonly number[],
  options?: MaxPoolOptions & { readonly returnIndices?: false | undefined }
): Tensor<A>
export function maxPool(x: Tensor | Listed, window: number | readonly number[], options?: MaxPoolOptions): Tensor | MaxPoolIndices {
  const op = 'nn.maxPool'
  return within(op, () => {
    const { ceilMode, returnIndices, ...own } = checkOptions(op, options, ['stride', 'padding', 'dilation', 'ceilMode', 'returnIndices']) as MaxPoolOptions
    const values = arrayGiven(op, 'x', x) as Tensor<'float32'>
    const [ceil, placed] = [flag(op, 'ceilMode', ceilMode, false), flag(op, 'returnIndices', returnIndices, false)]
    if (!ceil && !placed) return largest(values, window, own) as Tensor
    const windows = windowsOf(op, values, window, own, ceil)
    const y = largest(values, windows.map((w) => w.window), rowOptions(windows)) as Tensor
    if (!placed) return y
    const [batch, channels, ...sizes] = values.shape as [number, number, ...number[]]
    const size = sizes.reduce((n, d) => n * d, 1)
    if (size >= 2 ** 31) throw new ShapeError(`${op}: channels of ${sizes.join(' x ')} places have more than int32 counts`)
    const [places, there] = placesOf(windows, values.device)
    const all = values.reshape([batch, channels, size]).take(places.flatten(), { axis: 2 }).reshape([batch, channels, ...places.shape]) as Tensor
    // The first of the largest ones: NaN equals nothing.
    const wins = there.logicalAnd(all.equal(y.expandDims(2)).logicalOr(all.isnan())) as Tensor
    const first = wins.astype('int8').argmax({ axis: 2 }).expandDims(2) as Tensor<'int32'>
    const indices = places.broadcastTo(all.shape).takeAlongAxis(first, { axis: 2 }).squeeze(2) as Tensor<'int32'>
    return several({ values: y, indices })
  })
}

/**
 * Arithmetic mean of each window over the spatial axes of x [batch, channels, spatial...]; places outside x count as zeros; integers give float32.
 *
 * `y_(b,c,p) = sum_k x_(b,c,p stride + k dilation - padding) / places`
 *
 * Takes an integer or floating dtype; gives the same dtype, float32 for integers. PyTorch `nn.functional.avg_pool2d`: where `ceilMode` adds a
 * window, its places beyond the padding do not count.
 *
 * @param window One number for all axes of a window, or one for each.
 * @throws {TensorError} `ERR_SHAPE` for windows that do not fit, `ERR_ARGUMENT` for options out of range.
 * @example
 * ```ts
 * ft.nn.avgPool(ft.tensor([[[1, 2, 3, 4]]]), 2) // [[[1.5, 3.5]]]
 * ```
 * ```ts
 * ft.nn.avgPool(ft.tensor([[[1, 2, 3]]]), 2, { padding: 1, countIncludePad: false }) // [[[1, 2.5]]]
 * ```
 */
export function avgPool<A extends DType = 'float32'>(x: (Tensor<A> & Takes<'integerOrFloat', A>) | Listed, window: number | readonly number[], options?: AvgPoolOptions): Tensor<FloatOf<A>> {
  const op = 'nn.avgPool'
  return within(op, () => {
    const { ceilMode, countIncludePad, divisor, ...own } = checkOptions(op, options, ['stride', 'padding', 'dilation', 'ceilMode', 'countIncludePad', 'divisor']) as AvgPoolOptions
    const values = arrayGiven(op, 'x', x) as Tensor<'float32'>
    const [ceil, counted] = [flag(op, 'ceilMode', ceilMode, false), flag(op, 'countIncludePad', countIncludePad, true)]
    if (!ceil && counted && divisor === undefined) return mean(values, window, own) as Tensor as Tensor<FloatOf<A>>
    if (divisor !== undefined && !(Number.isFinite(divisor) && divisor !== 0)) throw new ArgumentError(`${op}: 'divisor' must be a finite number other than 0, got ${shown(divisor)}`)
    const windows = windowsOf(op, values, window, own, ceil)
    if (!['signed', 'unsigned', 'float'].includes(values.type.row.kind)) throw new DTypeError(`${op}: 'x' must be integers or floating, got ${values.dtype}`)
    const given = floating(values)
    const wide = isHalf(given.dtype) ? given.astype('float32') : given
    const { stride, dilation, padding } = rowOptions(windows)
    const sums = windowSum(wide as Tensor<'float32'>, [1, 1, ...windows.map((w) => w.window)], {
      stride: [1, 1, ...stride],
      dilation: [1, 1, ...dilation],
      padding: [[0, 0], [0, 0], ...padding]
    }) as Tensor
    const places = (w: Along, n: number): number => {
      const [low, high] = counted ? [-w.before, w.size + w.after] : [0, w.size]
      let inside = 0
      for (let k = 0; k < w.window; k++) {
        const at = n * w.stride + k * w.dilation - w.before
        if (at >= low && at < high) inside++
      }
      return inside
    }
    return sums.divide(divisor ?? products(windows, places, sums)).astype(given.dtype) as Tensor<FloatOf<A>>
  })
}

/**
 * The partial inverse of {@link maxPool} with `returnIndices`: the largest elements of windows at their original positions, zeros elsewhere.
 *
 * PyTorch `nn.functional.max_unpool2d`.
 *
 * @param x Elements [batch, channels, windows...].
 * @param indices Their places in each channel, row by row: integers of x's shape.
 * @param window One number for all axes of a window, or one for each.
 * @throws {TensorError} `ERR_SHAPE` for indices of another shape, `ERR_DTYPE` for indices that are not integers, `ERR_ARGUMENT` for options out of
 * range; `ERR_INDEX` when a result is read whose indices are beyond it.
 * @example
 * ```ts
 * ft.nn.maxUnpool(ft.tensor([[[5, 3]]]), ft.tensor([[[1, 2]]], { dtype: 'int32' }), 2) // [[[0, 5, 3, 0]]]
 * ```
 */
export function maxUnpool<A extends DType, B extends DType>(x: Tensor<A> & Takes<'integerOrFloat', A>, indices: Tensor<B> & Takes<'index', B>, window: number | readonly number[], options?: MaxUnpoolOptions): Tensor<A> {
  const op = 'nn.maxUnpool'
  return within(op, () => {
    const o = checkOptions(op, options, ['stride', 'padding', 'outputSize'])
    const [values, places] = [tensorGiven(op, 'x', x), tensorGiven(op, 'indices', indices)] as [Tensor, Tensor]
    if (!/^u?int/.test(places.dtype)) throw new DTypeError(`${op}: 'indices' must be integers, got ${places.dtype}`)
    if (places.shape.join() !== values.shape.join()) throw new ShapeError(`${op}: x and indices differ in shape: [${values.shape.join(', ')}] and [${places.shape.join(', ')}]`)
    const [batch, channels, ...counts] = values.shape
    const axes = counts.length
    if (axes < 1 || axes > 3) throw new ShapeError(`${op}: x must have shape [batch, channels, windows...] with one to three spatial axes, got [${values.shape.join(', ')}]`)
    const windows = each(op, 'window', window, axes, 1)
    const [strides, around] = [each(op, 'stride', o['stride'] ?? windows, axes, 1), each(op, 'padding', o['padding'] ?? 0, axes, 0)]
    const follows = counts.map((n, i) => (n - 1) * (strides[i] as number) - 2 * (around[i] as number) + (windows[i] as number))
    const sizes = o['outputSize'] === undefined ? follows : each(op, 'outputSize', o['outputSize'], axes, 0)
    if (sizes.some((n) => n < 0)) throw new ShapeError(`${op}: windows of ${windows.join(' x ')} with a padding of ${around.join(' x ')} leave a result of ${sizes.join(' x ')}`)
    const start = zeros([batch as number, channels as number, sizes.reduce((n, d) => n * d, 1)], { dtype: values.dtype, device: values.device }) as Tensor
    const flat = [batch as number, channels as number, -1]
    const filled = start.putAlongAxis(places.reshape(flat) as Tensor<'int32'>, values.reshape(flat), { axis: 2 })
    return filled.reshape([batch as number, channels as number, ...sizes]) as Tensor as Tensor<A>
  })
}
