// Changed copies under the names and with the arguments of NumPy and PyTorch: values put where positions or a mask say.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, flag, number, oneOf } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, tensorOf, type Listed, type Positions } from '../calls/arrays.js'
import { arrayGiven, operandGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { broadcastTo, full, ones, where, zeros } from '../generated/functions.js'
import { withAt, type IndexItem } from '../indexing/at.js'
import { slice } from '../indexing/slice.js'
import { isTensor } from '../program/node.js'
import type { Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { integersGiven } from './options.js'
import { arange } from './ranges.js'

/** Integers along an axis. */
type Indices = Tensor | Positions
/** What is put somewhere. */
type Values = Tensor | Listed

/** Values of a tensor's dtype and device; the numbers of an array take them. */
function valuesOf(op: string, name: string, value: unknown, x: Tensor): Tensor {
  if (isListed(value)) return tensorOf(op, value, x).astype(x.dtype)
  const operand = operandGiven(op, name, value)
  return isTensor(operand) ? operand.astype(x.dtype) : (full([], operand, { dtype: x.dtype, device: x.device }) as Tensor)
}

/** Values in row-major order, again and again, as many as there are places. */
function repeated(op: string, values: Tensor, count: number): Tensor {
  if (values.size === 0) throw new ShapeError(`${op}: there are no values`)
  const flat = values.flatten() as Tensor
  return flat.take(arange(count, { dtype: 'int32', device: values.device }).remainder(flat.size)) as Tensor
}

/**
 * A copy in which the elements at positions of the flattened tensor are others; values start again where there are fewer of them than positions.
 *
 * NumPy `put`. Where a position stands twice, the later value stays.
 *
 * @throws {TensorError} `ERR_DTYPE` for positions that are not integers, `ERR_SHAPE` without values; `ERR_INDEX`, for positions in a tensor when the
 * result is read.
 * @example
 * ```ts
 * ft.put(ft.tensor([[1, 2], [3, 4]]), [0, -1], [8, 9]) // [[8, 2], [3, 9]]
 * ```
 */
export function put<D extends DType>(x: Tensor<D>, indices: Indices, values: Values | Operand): Tensor<D> {
  const op = 'put'
  return within(op, () => {
    const before = arrayGiven(op, 'x', x)
    const places = integersGiven(op, 'indices', indices, before).flatten() as Tensor
    if (places.size === 0) return before
    return withAt(before.flatten(), [places], repeated(op, valuesOf(op, 'values', values, before), places.size)).reshape(before.shape)
  }) as Tensor<D>
}

function maskOf(op: string, mask: unknown, x: Tensor): Tensor<'bool'> {
  return broadcastTo(arrayGiven(op, 'mask', mask).astype('bool'), x.shape) as Tensor<'bool'>
}

/**
 * A copy in which the elements where a mask is true are those that stand at the same places of `values`, which start again where they are fewer.
 *
 * NumPy `putmask`. {@link place} puts one value after the other.
 *
 * @throws {TensorError} `ERR_SHAPE` for a mask that does not broadcast to `x`, and without values.
 * @example
 * ```ts
 * ft.putmask(ft.tensor([1, 2, 3]), ft.tensor([true, false, true]), [7, 8, 9]) // [7, 2, 9]
 * ```
 */
export function putmask<D extends DType>(x: Tensor<D>, mask: Tensor | readonly boolean[], values: Values | Operand): Tensor<D> {
  const op = 'putmask'
  return within(op, () => {
    const before = arrayGiven(op, 'x', x)
    return where(maskOf(op, mask, before), repeated(op, valuesOf(op, 'values', values, before), before.size).reshape(before.shape), before)
  }) as Tensor<D>
}

/** For each element that is chosen how many are before it, and 0 elsewhere. */
const ranks = (mask: Tensor<'bool'>): Tensor<'int32'> => where(mask, mask.flatten().cumulativeSum().sub(1).reshape(mask.shape), 0) as Tensor as Tensor<'int32'>

/**
 * A copy in which the elements where a mask is true are one value after the other, which start again where they are fewer.
 *
 * NumPy `place`. Nothing is read.
 *
 * @throws {TensorError} `ERR_SHAPE` for a mask that does not broadcast to `x`, and without values.
 * @example
 * ```ts
 * ft.place(ft.tensor([1, 2, 3]), ft.tensor([true, false, true]), [7, 8]) // [7, 2, 8]
 * ```
 */
export function place<D extends DType>(x: Tensor<D>, mask: Tensor | readonly boolean[], values: Values | Operand): Tensor<D> {
  const op = 'place'
  return within(op, () => {
    const before = arrayGiven(op, 'x', x)
    const [chosen, given] = [maskOf(op, mask, before), valuesOf(op, 'values', values, before)]
    if (given.size === 0) throw new ShapeError(`${op}: there are no values`)
    return where(chosen, given.flatten().take(ranks(chosen).remainder(given.size)), before)
  }) as Tensor<D>
}

/**
 * A copy in which the elements where a mask is true are those of `source`, one after the other in row-major order.
 *
 * PyTorch `masked_scatter`. Nothing is read.
 *
 * @throws {TensorError} `ERR_SHAPE` for a mask that does not broadcast to `x`; `ERR_INDEX` when the result is read, where `source` has too few elements.
 * @example
 * ```ts
 * ft.maskedScatter(ft.tensor([1, 2, 3]), ft.tensor([true, false, true]), ft.tensor([7, 8])) // [7, 2, 8]
 * ```
 */
export function maskedScatter<D extends DType>(x: Tensor<D>, mask: Tensor | readonly boolean[], source: Values): Tensor<D> {
  const op = 'maskedScatter'
  return within(op, () => {
    const before = arrayGiven(op, 'x', x)
    const [chosen, given] = [maskOf(op, mask, before), valuesOf(op, 'source', source, before)]
    // One element more, so that there is one to look up where nothing is chosen; what is chosen is not to find it.
    const padded = given.flatten().pad([[1, 0]])
    const places = where(chosen, ranks(chosen).add(1), 0) as Tensor as Tensor<'int32'>
    return where(chosen, padded.take(places), before)
  }) as Tensor<D>
}

/** Options of `fillDiagonal`. */
export interface FillDiagonalOptions {
  /** Whether the diagonal of a matrix with more rows than columns begins again, an empty row below its end; false by default. */
  readonly wrap?: boolean | undefined
}

/**
 * A copy with other elements on the main diagonal, `x_(i, i, ...)`.
 *
 * NumPy and PyTorch `fill_diagonal`.
 *
 * @param value A number, or as many values as the diagonal has places.
 * @throws {TensorError} `ERR_SHAPE` for fewer than two axes, more than two of different sizes, and values that do not fit, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.fillDiagonal(ft.tensor([[1, 2], [3, 4]]), 0) // [[0, 2], [3, 0]]
 * ```
 */
export function fillDiagonal<D extends DType>(x: Tensor<D>, value: Values | Operand, options?: FillDiagonalOptions): Tensor<D> {
  const op = 'fillDiagonal'
  return within(op, () => {
    const before = arrayGiven(op, 'x', x)
    const { wrap } = checkOptions(op, options, ['wrap'])
    const isWrapped = flag(op, 'wrap', wrap, false)
    const [rows, columns] = before.shape
    if (rows === undefined || columns === undefined) throw new ShapeError(`${op}: a tensor of rank ${before.ndim} has no diagonal`)
    if (before.ndim > 2 && before.shape.some((size) => size !== rows)) throw new ShapeError(`${op}: all of more than two axes must be of one size, got [${before.shape.join(', ')}]`)
    if (before.size === 0) return before
    // From one place of the diagonal to the next, in row-major order.
    const step = before.shape.slice(1).reduceRight<readonly [sum: number, size: number]>(([sum, size], n) => [sum + size * n, size * n], [1, 1])[0]
    const end = before.ndim === 2 && !isWrapped ? columns * columns : before.size
    return withAt(before.flatten(), [slice(0, end, step)], isListed(value) ? value : operandGiven(op, 'value', value)).reshape(before.shape)
  }) as Tensor<D>
}

/** The arguments that PyTorch's updates along an axis have in common. */
function along(op: string, x: unknown, axis: unknown, index: unknown): readonly [x: Tensor, axis: number, index: Tensor<'int32'>] {
  if (typeof axis !== 'number') throw new ArgumentError(`${op}: PyTorch's order is ${op}(x, axis, index, ...), got ${shown(axis)} for the axis`)
  const before = arrayGiven(op, 'x', x)
  const places = integersGiven(op, 'index', index, before)
  if (places.ndim > 1) throw new ShapeError(`${op}: 'index' must be a vector, got shape [${places.shape.join(', ')}]`)
  return [before, axisGiven(op, axis, before.ndim), places.flatten() as Tensor<'int32'>]
}

/** A source of a slice for each position. */
function sourceOf(op: string, value: unknown, x: Tensor, axis: number, count: number): Tensor {
  const source = valuesOf(op, 'source', value, x)
  const wanted = x.shape.map((size, i) => (i === axis ? count : size))
  if (source.shape.join() !== wanted.join()) throw new ShapeError(`${op}: 'source' must have shape [${wanted.join(', ')}], got [${source.shape.join(', ')}]`)
  return source
}

/** Options of `indexAdd`. */
export interface IndexAddOptions {
  /** What the source is multiplied with; 1 by default. */
  readonly alpha?: number | undefined
}

/**
 * A copy to which slices are added at positions along an axis; what is added to one position twice is summed.
 *
 * `out_(index_i) = x_(index_i) + alpha source_i`
 *
 * PyTorch `index_add`: {@link scatterAdd}, the axis first.
 *
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, for a position when the result is read, `ERR_SHAPE` for a source of another shape, `ERR_DTYPE`,
 * `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.indexAdd(ft.tensor([1, 2, 3]), 0, [0, 0, 2], ft.tensor([10, 20, 30])) // [31, 2, 33]
 * ```
 */
export function indexAdd<D extends DType>(x: Tensor<D>, axis: number, index: Indices, source: Values, options?: IndexAddOptions): Tensor<D> {
  const op = 'indexAdd'
  return within(op, () => {
    const [before, at, places] = along(op, x, axis, index)
    const { alpha = 1 } = checkOptions(op, options, ['alpha'])
    const [added, factor] = [sourceOf(op, source, before, at, places.size), number(op, 'alpha', alpha)]
    return before.scatterAdd(places, (factor === 1 ? added : added.multiply(factor)) as Tensor, { axis: at })
  }) as Tensor<D>
}

/**
 * A copy in which slices at positions along an axis are others; where a position stands twice, the later one stays.
 *
 * `out_(index_i) = source_i`
 *
 * PyTorch `index_copy`: {@link scatter}, the axis first.
 *
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, for a position when the result is read, `ERR_SHAPE` for a source of another shape.
 * @example
 * ```ts
 * ft.indexCopy(ft.tensor([1, 2, 3]), 0, [2, 0], ft.tensor([10, 20])) // [20, 2, 10]
 * ```
 */
export function indexCopy<D extends DType>(x: Tensor<D>, axis: number, index: Indices, source: Values): Tensor<D> {
  const op = 'indexCopy'
  return within(op, () => {
    const [before, at, places] = along(op, x, axis, index)
    return before.scatter(places, sourceOf(op, source, before, at, places.size), { axis: at })
  }) as Tensor<D>
}

/**
 * A copy in which slices at positions along an axis are filled with one value.
 *
 * PyTorch `index_fill`.
 *
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, for positions in a tensor when the result is read, `ERR_SHAPE` for more than one value.
 * @example
 * ```ts
 * ft.indexFill(ft.tensor([[1, 2], [3, 4]]), 1, [0], 9) // [[9, 2], [9, 4]]
 * ```
 */
export function indexFill<D extends DType>(x: Tensor<D>, axis: number, index: Indices, value: Operand): Tensor<D> {
  const op = 'indexFill'
  return within(op, () => {
    const [before, at, places] = along(op, x, axis, index)
    const one = operandGiven(op, 'value', value)
    if (isTensor(one) && one.ndim > 0) throw new ShapeError(`${op}: 'value' must be one value, got shape [${one.shape.join(', ')}]`)
    return withAt(before, [...Array.from({ length: at }, () => slice()), places], one)
  }) as Tensor<D>
}

/**
 * A copy in which the elements that index arrays name together are others: `x.withAt(indices, values)`.
 *
 * PyTorch `index_put`.
 *
 * @throws {TensorError} as `withAt`.
 * @example
 * ```ts
 * ft.indexPut(ft.zeros([2, 2]), [[0, 1], [1, 0]], 5) // [[0, 5], [5, 0]]
 * ```
 */
export function indexPut<D extends DType>(x: Tensor<D>, indices: readonly IndexItem[], values: Values | Operand): Tensor<D> {
  const op = 'indexPut'
  return within(op, () => {
    if (!Array.isArray(indices)) throw new ArgumentError(`${op}: 'indices' must be an array of index arrays, got ${shown(indices)}`)
    return withAt(arrayGiven(op, 'x', x), indices, isListed(values) ? values : operandGiven(op, 'values', values))
  }) as Tensor<D>
}

/** How several values at one place become one. */
export type Reduction = 'sum' | 'prod' | 'mean' | 'amax' | 'amin'

/** Options of `scatterReduce`. */
export interface ScatterReduceOptions {
  /** Whether the elements that are there count too; true by default. */
  readonly includeSelf?: boolean | undefined
}

/** The reduction's neutral element. */
function neutral(reduction: Reduction, x: Tensor): number | bigint | boolean {
  if (reduction === 'sum' || reduction === 'mean') return 0
  if (reduction === 'prod') return 1
  const { kind, min, max } = DTYPE[x.dtype]
  if (kind === 'bool') return reduction === 'amin'
  if (kind === 'float') return reduction === 'amax' ? -Infinity : Infinity
  return (reduction === 'amax' ? min : max) as number | bigint
}

/** Positions of the flattened tensor of what an index tensor picks along an axis. */
function flatPlaces(x: Tensor, axis: number, index: Tensor): Tensor<'int64'> {
  if (x.ndim === 1) return index as Tensor<'int64'>
  const options = { dtype: 'int64', device: x.device } as const
  const strides = x.shape.map((_, i) => x.shape.slice(i + 1).reduce((n, size) => n * size, 1))
  // Looked up, so that a position that there is not fails, and negative ones count from the end.
  const known = (arange(x.shape[axis] as number, options) as Tensor<'int64'>).take(index as Tensor<'int32'>)
  return index.shape.reduce<Tensor<'int64'>>((sum, size, i) => {
    if (i === axis) return sum
    const along = arange(size, options).multiply(strides[i] as number) as Tensor<'int64'>
    return sum.add(along.reshape(index.shape.map((_, j) => (j === i ? size : 1))))
  }, known.multiply(strides[axis] as number)).flatten()
}

/**
 * A copy in which the elements at positions along an axis are combined with those of `source` that name them: as {@link putAlongAxis} with
 * `update`, in PyTorch's order.
 *
 * `out_(index_ij, j) = reduction(x_(index_ij, j), source_ij, ...)` of axis 0
 *
 * PyTorch `scatter_reduce`. Means of integers are rounded down.
 *
 * @param index Positions, of the rank of `x`, and along the other axes no larger than `x` and `source`.
 * @param reduction `'sum'`, `'prod'`, `'mean'`, `'amax'` or `'amin'`.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, for a position when the result is read, `ERR_SHAPE` for sizes that do not fit, `ERR_DTYPE`,
 * `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.scatterReduce(ft.tensor([1, 2, 3]), 0, [0, 0, 2], ft.tensor([5, 7, 1]), 'amax') // [7, 2, 3]
 * ```
 */
export function scatterReduce<D extends DType>(x: Tensor<D>, axis: number, index: Indices, source: Values, reduction: Reduction, options?: ScatterReduceOptions): Tensor<D> {
  const op = 'scatterReduce'
  return within(op, () => {
    if (typeof axis !== 'number') throw new ArgumentError(`${op}: PyTorch's order is ${op}(x, axis, index, source, reduction), got ${shown(axis)} for the axis`)
    const before = arrayGiven(op, 'x', x)
    const [at, places, given] = [axisGiven(op, axis, before.ndim), integersGiven(op, 'index', index, before), valuesOf(op, 'source', source, before)]
    oneOf(op, 'reduction', reduction, ['sum', 'prod', 'mean', 'amax', 'amin'])
    const isIncluded = flag(op, 'includeSelf', checkOptions(op, options, ['includeSelf'])['includeSelf'], true)
    const tooLarge = places.shape.some((size, i) => size > (given.shape[i] ?? -1) || (i !== at && size > (before.shape[i] as number)))
    if (places.ndim !== before.ndim || given.ndim !== before.ndim || tooLarge) {
      throw new ShapeError(`${op}: an index of shape [${places.shape.join(', ')}] is larger than x of shape [${before.shape.join(', ')}], axis ${at} aside, or than the source of shape [${given.shape.join(', ')}]`)
    }
    const flat = flatPlaces(before, at, places)
    const updates = given.at(...places.shape.map((size) => slice(0, size))).flatten() as Tensor
    const counts = (zeros([before.size], { dtype: 'int32', device: before.device }) as Tensor<'int32'>).scatterAdd(flat, ones([flat.size], { dtype: 'int32', device: before.device }))
    const own = before.flatten() as Tensor
    const base = (isIncluded ? own : where(counts.greater(0), full([], neutral(reduction, before), { dtype: before.dtype, device: before.device }), own)) as Tensor
    return combined(base, flat, updates, reduction, isIncluded ? counts.add(1) : counts.maximum(1)).reshape(before.shape)
  }) as Tensor<D>
}

function combined(base: Tensor, places: Tensor<'int64'>, updates: Tensor, reduction: Reduction, counts: Tensor): Tensor {
  if (reduction === 'prod') return base.scatterMul(places, updates) as Tensor
  if (reduction === 'amax') return base.scatterMax(places, updates) as Tensor
  if (reduction === 'amin') return base.scatterMin(places, updates) as Tensor
  const sums = base.scatterAdd(places, updates) as Tensor
  if (reduction === 'sum') return sums
  const divisors = counts.astype(base.dtype) as Tensor
  return (DTYPE[base.dtype].min === null ? sums.divide(divisors) : sums.floorDivide(divisors)) as Tensor
}
