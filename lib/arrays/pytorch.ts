// Functions of PyTorch whose arguments stand otherwise than ours, under their names: `ft.gather(x, 1, indices)`. Each is made of one or
// two calls, which its documentation names.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, integer, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, positionsOf, type Positions } from '../calls/arrays.js'
import { arrayGiven, operandGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, Takes } from '../generated/dtypes.js'
import { conj, matrixTranspose, searchsorted, where } from '../generated/functions.js'
import { slice } from '../indexing/slice.js'
import { isTensor } from '../program/node.js'
import type { Scalar } from '../program/record.js'
import type { Operand, PromoteAll } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { fromList } from '../values/create.js'
import { selectedBy } from './choices.js'
import { isdtype } from './dtypes.js'

/** Sizes or axes, one after the other or in one array. */
export type Numbers = readonly number[] | readonly [readonly number[]]

/** Numbers that stand one after the other or in one array. */
export function numbers(op: string, name: string, given: readonly unknown[]): readonly number[] {
  return integers(op, name, given.length === 1 && Array.isArray(given[0]) ? given[0] : given)
}

function positions(op: string, value: unknown, x: Tensor): Tensor {
  return isListed(value) ? positionsOf(op, value, x) : arrayGiven(op, 'indices', value)
}

/** PyTorch's `permute`: the axes in another order, as {@link permuteDims}. A view. */
export function permute<D extends DType>(x: Tensor<D>, ...axes: Numbers): Tensor<D> {
  return within('permute', () => arrayGiven('permute', 'x', x).permuteDims(numbers('permute', 'axes', axes)) as Tensor<D>)
}

/**
 * NumPy's and PyTorch's `view`: of sizes as {@link reshape}, of a dtype as {@link bitcast}.
 *
 * @throws {TensorError} as those.
 */
export function view<D extends DType>(x: Tensor<D>, ...shape: Numbers): Tensor<D>
export function view<E extends DType>(x: Tensor, dtype: E): Tensor<E>
export function view(x: Tensor, ...given: readonly unknown[]): Tensor {
  const op = 'view'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    return typeof given[0] === 'string' ? values.bitcast(given[0] as DType) : values.reshape(numbers(op, 'shape', given))
  })
}

/** PyTorch's `expand`: axes of size 1 repeated, as {@link broadcastTo}; -1 keeps a size. A view. */
export function expand<D extends DType>(x: Tensor<D>, ...sizes: Numbers): Tensor<D> {
  const op = 'expand'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x) as Tensor<D>
    const wanted = numbers(op, 'sizes', sizes)
    const added = wanted.length - values.ndim
    return values.broadcastTo(wanted.map((size, i) => (size === -1 && i >= added ? (values.shape[i - added] as number) : size)))
  })
}

/** PyTorch's `t`: a matrix transposed, a vector as it is. A view. */
export function t<D extends DType>(x: Tensor<D>): Tensor<D> {
  const values = arrayGiven('t', 'x', x) as Tensor<D>
  if (values.ndim > 2) throw new ShapeError(`t: a tensor of rank ${values.ndim} is no matrix; mT exchanges the last two axes`)
  return values.ndim < 2 ? values : matrixTranspose(values)
}

/** PyTorch's `adjoint`: the last two axes exchanged, each element conjugated. */
export function adjoint<D extends DType>(x: Tensor<D>): Tensor<D> {
  return within('adjoint', () => conj(matrixTranspose(arrayGiven('adjoint', 'x', x))) as Tensor<D>)
}

/** The part of `x` that index tensors of another size speak of: PyTorch's are at most as large along every other axis. */
function selected(op: string, x: Tensor, shape: readonly number[], axis: number): Tensor {
  if (shape.length !== x.ndim || shape.some((size, i) => i !== axis && size > (x.shape[i] as number))) {
    throw new ShapeError(`${op}: indices of shape [${shape.join(', ')}] are larger than x of shape [${x.shape.join(', ')}], axis ${axis} aside`)
  }
  return x.at(...shape.map((size, i) => (i === axis ? slice() : slice(0, size))))
}

/**
 * PyTorch's `gather`: elements along an axis that a tensor of positions picks, as {@link takeAlongAxis}. Along the other axes the indices
 * may be fewer than x has. Negative ones count from the end.
 *
 * @throws {TensorError} `ERR_SHAPE` for indices of another rank or larger ones, `ERR_INDEX` for an axis out of range; for an index, when read.
 */
export function gather<D extends DType>(x: Tensor<D>, axis: number, indices: Tensor | Positions): Tensor<D> {
  const op = 'gather'
  if (typeof axis !== 'number') throw new ArgumentError(`${op}: PyTorch's order is gather(x, axis, indices), got ${shown(axis)} for the axis; for whole slices write x.take(indices, { axis })`)
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const at = axisGiven(op, axis, values.ndim)
    const places = positions(op, indices, values)
    return selected(op, values, places.shape, at).takeAlongAxis(places as Tensor<'int32'>, at) as Tensor<D>
  })
}

/** PyTorch's `index_select`: slices along an axis, as {@link take}. */
export function indexSelect<D extends DType>(x: Tensor<D>, axis: number, indices: Tensor | Positions): Tensor<D> {
  const op = 'indexSelect'
  if (typeof axis !== 'number') throw new ArgumentError(`${op}: PyTorch's order is indexSelect(x, axis, indices); take(indices, { axis }) has it last`)
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    return values.take(positions(op, indices, values) as Tensor<'int32'>, axis) as Tensor<D>
  })
}

/** PyTorch's `masked_select`: the elements where a mask is true, along one axis, as `x.at(mask)`. Reads the mask. */
export function maskedSelect<D extends DType>(x: Tensor<D>, mask: Tensor<'bool'>): Tensor<D> {
  const op = 'maskedSelect'
  return within(op, () => {
    const [values, chosen] = [arrayGiven(op, 'x', x), arrayGiven(op, 'mask', mask)]
    return values.at(chosen.broadcastTo(values.shape) as Tensor<'bool'>) as Tensor<D>
  })
}

/** Values in the place of others; the numbers of an array take the dtype of those, as one number does. */
function valueGiven(op: string, value: unknown, x: unknown): Operand {
  return isListed(value) && isTensor(x) ? fromList(op, value, { dtype: x.dtype, device: x.device }) : operandGiven(op, 'value', value)
}

/** PyTorch's `masked_fill`: x with one value where a mask is true, as {@link where}. */
export function maskedFill<D extends DType>(x: Tensor<D>, mask: Tensor, value: Operand): Tensor<D> {
  const op = 'maskedFill'
  return within(op, () => where(arrayGiven(op, 'mask', mask), valueGiven(op, value, x), arrayGiven(op, 'x', x, value)) as Tensor<D>)
}

/** PyTorch's `narrow`: so many places of an axis from one on. A view. */
export function narrow<D extends DType>(x: Tensor<D>, axis: number, start: number, length: number): Tensor<D> {
  const op = 'narrow'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x) as Tensor<D>
    const at = axisGiven(op, axis, values.ndim)
    const size = values.shape[at] as number
    const [given, count] = [integer(op, 'start', start), integer(op, 'length', length)]
    const first = given < 0 ? given + size : given
    if (first < 0 || count < 0 || first + count > size) throw new ShapeError(`${op}: ${count} places from ${given} on are not within axis ${at} of size ${size}`)
    return values.at(...Array.from({ length: at }, () => slice()), slice(first, first + count))
  })
}

/**
 * PyTorch's `select`: one place of an axis, which the result does not have, a view. NumPy's, of arrays: at each place the choice of the first condition
 * that is true there, and where none is, `fallback`, 0 by default.
 *
 * @throws {TensorError} `ERR_INDEX` for an axis or a place out of range, `ERR_ARGUMENT` for conditions that are not of bool or not as many as choices.
 * @example
 * ```ts
 * ft.select([ft.tensor([true, false, true])], [ft.tensor([1, 2, 3])], 9) // [1, 9, 3]
 * ```
 */
export function select<D extends DType>(x: Tensor<D>, axis: number, index: number): Tensor<D>
export function select<const T extends readonly Tensor[]>(conditions: readonly Tensor<'bool'>[], choices: T, fallback?: Scalar): Tensor<PromoteAll<T>>
export function select(x: unknown, axis: number | readonly Tensor[], index?: Scalar): Tensor {
  const op = 'select'
  if (Array.isArray(x) && typeof axis !== 'number') return selectedBy(op, x, axis, index)
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const at = axisGiven(op, axis, values.ndim)
    return values.at(...Array.from({ length: at }, () => slice()), integer(op, 'index', index))
  })
}

/** Number of elements: `x.size`. */
export function numel(x: Tensor): number {
  return arrayGiven('numel', 'x', x).size
}

/** Options of `bucketize`. */
export interface BucketizeOptions {
  /** Whether the bounds belong to the lower bucket (false, the default) or to the higher one. */
  readonly right?: boolean | undefined
}

/** PyTorch's `bucketize`: between which boundaries elements lie, as {@link searchsorted} with the operands exchanged. */
export function bucketize<A extends DType, B extends DType>(x: Tensor<A> & Takes<'real', A>, boundaries: Tensor<B> & Takes<'real', B>, options?: BucketizeOptions): Tensor<'int32'> {
  const op = 'bucketize'
  return within(op, () => {
    const { right = false } = checkOptions(op, options, ['right'])
    if (typeof right !== 'boolean') throw new ArgumentError(`${op}: 'right' must be a boolean, got ${shown(right)}`)
    return searchsorted(boundaries as Tensor as Tensor<'float32'>, x as Tensor as Tensor<'float32'>, undefined, { side: right ? 'right' : 'left' }) as Tensor as Tensor<'int32'>
  })
}

/** Whether a tensor's dtype is floating, as {@link isdtype}. */
export function isFloatingPoint(x: Tensor): boolean {
  return isdtype(arrayGiven('isFloatingPoint', 'x', x).dtype, 'real floating')
}

/** Whether a tensor's dtype is complex, as {@link isdtype}. */
export function isComplex(x: Tensor): boolean {
  return isdtype(arrayGiven('isComplex', 'x', x).dtype, 'complex floating')
}

