// Extremes with where they stand: PyTorch's `max(dim)` and `min(dim)`, whose names stand for tensors here.

import { checkOptions } from '../arguments/options.js'
import { axisGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, Takes } from '../generated/dtypes.js'
import { argmax, argmin } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `maxWithIndices` and `minWithIndices`. */
export interface ExtremesOptions {
  /** The axis; negative ones count from the last; the flattened tensor by default. */
  readonly axis?: number | undefined
  /** Whether the axis stays, with size 1; false by default. */
  readonly keepdims?: boolean | undefined
}

/** Extremes, and where they stand. */
export interface Extremes<D extends DType = DType> {
  /** The largest or smallest elements. */
  readonly values: Tensor<D>
  /** int32 position of the first of each along the axis, or in the flattened tensor. */
  readonly indices: Tensor<'int32'>
}

/** The elements at the positions that `find` gives. */
function extremes<D extends DType>(op: string, find: (x: Tensor, axis: number) => Tensor<'int32'>, value: unknown, options: unknown): Extremes<D> {
  return within(op, () => {
    const x = tensorGiven(op, 'x', value)
    const { axis, keepdims = false } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis', 'keepdims'])
    if (typeof keepdims !== 'boolean') throw new ArgumentError(`${op}: 'keepdims' must be a boolean, got ${shown(keepdims)}`)
    const along = axis === undefined ? 0 : axisGiven(op, axis, x.ndim)
    const lines = axis === undefined ? x.flatten() : x
    const kept = find(lines, along).expandDims(along) as Tensor<'int32'>
    const shape = x.shape.map((size, i) => (axis === undefined || i === along ? 1 : size)).filter((_, i) => keepdims || !(axis === undefined || i === along))
    return { values: lines.takeAlongAxis(kept, { axis: along }).reshape(shape) as Tensor<D>, indices: kept.reshape(shape) }
  })
}

/**
 * The largest elements along an axis, or of the flattened tensor, and the int32 positions of the first of each; the first NaN wins. `max` gives
 * the values alone.
 *
 * `values = x_indices, indices = min { i : x_i = max x }`
 *
 * PyTorch `max(dim)`. The gradient goes to the element at the position, where that of `max` is shared by equal ones.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` where there are no elements.
 * @example
 * ```ts
 * ft.maxWithIndices(ft.tensor([[1, 5], [7, 4]]), 1).values // [5, 7]
 * ```
 * ```ts
 * ft.maxWithIndices(ft.tensor([[1, 5], [7, 4]]), 1).indices // [1, 0]
 * ```
 */
export function maxWithIndices<D extends DType>(x: Tensor<D> & Takes<'real', D>, options?: number | ExtremesOptions): Extremes<D> {
  return extremes('maxWithIndices', (lines, axis) => argmax(lines, { axis }), x, options)
}

/**
 * The smallest elements along an axis, or of the flattened tensor, and the int32 positions of the first of each; the first NaN wins. `min`
 * gives the values alone.
 *
 * `values = x_indices, indices = min { i : x_i = min x }`
 *
 * PyTorch `min(dim)`. The gradient goes to the element at the position, where that of `min` is shared by equal ones.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` where there are no elements.
 * @example
 * ```ts
 * ft.minWithIndices(ft.tensor([[1, 5], [7, 4]])).indices // 0
 * ```
 */
export function minWithIndices<D extends DType>(x: Tensor<D> & Takes<'real', D>, options?: number | ExtremesOptions): Extremes<D> {
  return extremes('minWithIndices', (lines, axis) => argmin(lines, { axis }), x, options)
}
