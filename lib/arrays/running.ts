// Where extremes and the most frequent elements stand along an axis, and running sums of exponentials.

import { axisGiven, flag } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { several, type Several } from '../calls/several.js'
import { ShapeError } from '../errors.js'
import { DTYPE, type DType, type FloatOf, type Takes } from '../generated/dtypes.js'
import { argmax, concat, cumulativeMax, cumulativeMin, notEqual, ones, where } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'
import { associativeScan } from './associative-scan.js'
import { logaddexp } from './complex.js'
import { axisOrOptions, type AxisKeptOptions, type AxisOptions } from './options.js'
import { arange } from './ranges.js'

/** Elements, and where they stand. */
export interface Placed<D extends DType = DType> {
  /** The elements. */
  readonly values: Tensor<D>
  /** Their int32 positions along the axis. */
  readonly indices: Tensor<'int32'>
}

/** 0, 1, 2, ... along the last of so many axes. */
const places = (x: Tensor): Tensor<'int32'> => arange(x.shape.at(-1) as number, { dtype: 'int32', device: x.device })

/** Running extremes and where they stand: the latest of equal ones, the latest NaN. */
function running<D extends DType>(op: string, best: (x: Tensor, options: AxisOptions) => Tensor, x: unknown, options: unknown): Several<Placed<D>> {
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { axis = 0 } = axisOrOptions(op, options)
    if (values.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no axis to run along`)
    const at = axisGiven(op, axis, values.ndim)
    const along = values.moveaxis(at, -1) as Tensor
    const isBest = along.equal(best(along, { axis: -1 })).logicalOr(along.isnan())
    const indices = cumulativeMax(where(isBest, places(along), 0) as Tensor<'int32'>, { axis: -1 })
    const found = along.takeAlongAxis(indices, { axis: -1 })
    return several({ values: found.moveaxis(-1, at) as Tensor<D>, indices: indices.moveaxis(-1, at) })
  })
}

/**
 * Running maxima along an axis, and the positions of the latest of each; a NaN stays from its place on. {@link cumulativeMax} gives the values
 * alone.
 *
 * `values_i = max(x_0, ..., x_i) = x_(indices_i)`
 *
 * PyTorch `cummax`. The gradient of each value goes to the element at its position.
 *
 * @param options The axis alone, or an object of options; 0 by default.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.cummax(ft.tensor([1, 3, 2, 3])).indices // [0, 1, 1, 3]
 * ```
 */
export function cummax<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, options?: number | AxisOptions): Several<Placed<D>> {
  return running('cummax', cumulativeMax, x, options)
}

/**
 * Running minima along an axis, and the positions of the latest of each; a NaN stays from its place on. {@link cumulativeMin} gives the values
 * alone.
 *
 * `values_i = min(x_0, ..., x_i) = x_(indices_i)`
 *
 * PyTorch `cummin`. The gradient of each value goes to the element at its position.
 *
 * @param options The axis alone, or an object of options; 0 by default.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.cummin(ft.tensor([2, 3, 1, 4])).values // [2, 2, 1, 1]
 * ```
 */
export function cummin<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, options?: number | AxisOptions): Several<Placed<D>> {
  return running('cummin', cumulativeMin, x, options)
}

/**
 * The most frequent element along an axis, of several the smallest, and the position of the last of them; each NaN is one of its own.
 *
 * PyTorch `mode`. The elements are sorted, and the longest run of equal ones is found.
 *
 * @param options The axis alone, or an object of options; the last axis by default.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for an axis without elements.
 * @example
 * ```ts
 * ft.mode(ft.tensor([2, 1, 2, 5])).values // 2
 * ```
 * ```ts
 * ft.mode(ft.tensor([2, 1, 2, 5])).indices // 2
 * ```
 */
export function mode<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, options?: number | AxisKeptOptions): Several<Placed<D>> {
  const op = 'mode'
  return within(op, () => {
    const given = arrayGiven(op, 'x', x)
    const { axis = -1, keepdims } = axisOrOptions(op, options, ['axis', 'keepdims'])
    const isKept = flag(op, 'keepdims', keepdims, false) && given.ndim > 0
    const values = given.ndim === 0 ? given.expandDims(0) : given
    const at = axisGiven(op, axis, values.ndim)
    const along = values.moveaxis(at, -1) as Tensor
    if (along.shape.at(-1) === 0) throw new ShapeError(`${op}: axis ${at} has no elements`)
    const order = along.argsort({ axis: -1 })
    const sorted = along.takeAlongAxis(order, { axis: -1 })
    const begins = concat([ones([...along.shape.slice(0, -1), 1], { dtype: 'bool', device: along.device }), notEqual(sorted.at('...', '1:'), sorted.at('...', ':-1'))], { axis: -1 })
    const runs = places(along).subtract(cumulativeMax(where(begins, places(along), 0) as Tensor<'int32'>, { axis: -1 }))
    const indices = order.takeAlongAxis(argmax(runs as Tensor<'int32'>, { axis: -1, keepdims: true }), { axis: -1 })
    const placed = (t: Tensor): Tensor => (isKept ? t.moveaxis(-1, at) : t.squeeze(-1)) as Tensor
    return several({ values: placed(along.takeAlongAxis(indices, { axis: -1 })) as Tensor<D>, indices: placed(indices) as Tensor<'int32'> })
  })
}

/** Where the extreme of what is no NaN stands; a line of NaN alone is looked up behind its end, which fails when it is read. */
function withoutNaN(op: string, find: 'nanmax' | 'nanmin', x: unknown, options: unknown): Tensor<'int32'> {
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { axis, keepdims } = axisOrOptions(op, options, ['axis', 'keepdims'])
    const isKept = flag(op, 'keepdims', keepdims, false)
    const lines = (axis === undefined ? values.flatten() : values) as Tensor
    const at = axis === undefined ? 0 : axisGiven(op, axis, values.ndim)
    const n = lines.shape[at] as number
    if (n === 0) throw new ShapeError(`${op}: there are no elements`)
    const best = find === 'nanmax' ? lines.nanmax({ axis: at, keepdims: true }) : lines.nanmin({ axis: at, keepdims: true })
    const first = argmax(lines.equal(best), { axis: at })
    const known = where(best.isnan().squeeze(at), n, first) as Tensor<'int32'>
    const found = arange(n, { dtype: 'int32', device: lines.device }).take(known)
    return isKept ? (axis === undefined ? found.reshape(values.shape.map(() => 1)) : found.expandDims(at)) : found
  })
}

/**
 * The int32 position of the largest element along an axis, or of the flattened tensor, that is not NaN; of several the first.
 *
 * NumPy `nanargmax`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, and when the result is read where all elements are
 * NaN; `ERR_SHAPE` where there are no elements.
 * @example
 * ```ts
 * ft.nanargmax(ft.tensor([NaN, 2, 3])) // 2
 * ```
 */
export function nanargmax<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, options?: number | AxisKeptOptions): Tensor<'int32'> {
  return withoutNaN('nanargmax', 'nanmax', x, options)
}

/**
 * The int32 position of the smallest element along an axis, or of the flattened tensor, that is not NaN; of several the first.
 *
 * NumPy `nanargmin`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, and when the result is read where all elements are
 * NaN; `ERR_SHAPE` where there are no elements.
 * @example
 * ```ts
 * ft.nanargmin(ft.tensor([NaN, 2, 3])) // 1
 * ```
 */
export function nanargmin<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, options?: number | AxisKeptOptions): Tensor<'int32'> {
  return withoutNaN('nanargmin', 'nanmin', x, options)
}

/**
 * Running logarithms of sums of exponentials along an axis, without computing these.
 *
 * `out_i = log(e^x_0 + ... + e^x_i)`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * PyTorch `logcumsumexp`. A scan of {@link logaddexp} ({@link associativeScan}): each result is rounded some 2 log2 n times, whatever its terms.
 *
 * @param options The axis alone, or an object of options; 0 by default.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.logcumsumexp(ft.tensor([1000, 1000])) // [1000, 1000.6931]
 * ```
 */
export function logcumsumexp<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: number | AxisOptions): Tensor<FloatOf<D>> {
  const op = 'logcumsumexp'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { axis = 0 } = axisOrOptions(op, options)
    if (values.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no axis to run along`)
    const at = axisGiven(op, axis, values.ndim)
    const terms = (DTYPE[values.dtype].float === null ? values.astype('float32') : values) as Tensor
    return associativeScan<Tensor>((a, b) => logaddexp(a, b) as Tensor, terms, at)
  }) as Tensor<FloatOf<D>>
}
