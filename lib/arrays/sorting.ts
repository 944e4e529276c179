// Orders by several keys and by one place, and the elements where something is true or changes.

import { axisGiven, integer, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, IndexError, ShapeError } from '../errors.js'
import type { DType, Takes } from '../generated/dtypes.js'
import { any, concat, notEqual, ones } from '../generated/functions.js'
import { slice } from '../indexing/slice.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { axisOrOptions, listGiven, rowsGiven, type AxisOptions } from './options.js'

/**
 * Elements in ascending order along the first axis: {@link sort}.
 *
 * PyTorch `msort`.
 *
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.msort(ft.tensor([[3, 1], [2, 5]])) // [[2, 1], [3, 5]]
 * ```
 */
export function msort<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed): Tensor<D> {
  return within('msort', () => arrayGiven('msort', 'x', x).sort({ axis: 0 }) as Tensor<D>)
}

/** More keys than this are a mistake: each is sorted. */
const MOST_KEYS = 2 ** 10

/**
 * The order of places along an axis by several keys: by the last one, equal ones by the one before, and so on; int32.
 *
 * NumPy `lexsort`. Keys are an array of tensors of one shape, or a tensor along whose first axis they stand.
 *
 * @param options The axis alone, or an object of options; the last axis by default.
 * @throws {TensorError} `ERR_SHAPE` for keys of different shapes and of rank 0, `ERR_ARGUMENT` without keys, `ERR_INDEX` for an axis out of range, `ERR_DTYPE`.
 * @example
 * ```ts
 * ft.lexsort([ft.tensor([2, 1, 3]), ft.tensor([5, 5, 4])]) // [2, 1, 0]
 * ```
 */
export function lexsort(keys: readonly Tensor[] | Tensor, options?: number | AxisOptions): Tensor<'int32'> {
  const op = 'lexsort'
  return within(op, () => {
    const { axis = -1 } = axisOrOptions(op, options)
    const list = (isTensor(keys) ? rowsGiven(op, 'keys', keys) : listGiven(op, 'keys', keys)).map((key, i) => arrayGiven(op, `keys[${i}]`, key))
    const [first, ...rest] = list
    if (first === undefined || list.length > MOST_KEYS) throw new ArgumentError(`${op}: takes 1 to ${MOST_KEYS} keys, got ${list.length}`)
    const other = rest.find((key) => key.shape.join() !== first.shape.join())
    if (other !== undefined) throw new ShapeError(`${op}: keys have shapes [${first.shape.join(', ')}] and [${other.shape.join(', ')}]`)
    if (first.ndim === 0) throw new ShapeError(`${op}: keys of rank 0 have no order`)
    const at = axisGiven(op, axis, first.ndim)
    return rest.reduce<Tensor<'int32'>>((order, key) => {
      const next = key.takeAlongAxis(order, { axis: at }).argsort({ axis: at }) as Tensor<'int32'>
      return order.takeAlongAxis(next, { axis: at })
    }, first.argsort({ axis: at }))
  })
}

/** Checks the places that are to be in order. */
function checkPlaces(op: string, x: Tensor, kth: unknown, axis: number): void {
  const size = x.shape[axis] as number
  for (const k of typeof kth === 'number' ? [integer(op, 'kth', kth)] : integers(op, 'kth', kth)) {
    if (k < -size || k >= size) throw new IndexError(`${op}: place ${k} is out of range for axis ${axis} of size ${size}`)
  }
}

/** The lines that are partitioned, and their axis. */
function partitioned(op: string, x: unknown, kth: unknown, options: unknown): readonly [Tensor, number] {
  const values = arrayGiven(op, 'x', x)
  const { axis = -1 } = axisOrOptions(op, options)
  if (values.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no places`)
  const at = axisGiven(op, axis, values.ndim)
  checkPlaces(op, values, kth, at)
  return [values, at]
}

/**
 * Elements along an axis so that what is smaller than the k-th stands before it, and what is larger behind. All are sorted, which is one of the orders
 * that this allows.
 *
 * NumPy `partition`. {@link kthvalue} gives the k-th alone, {@link topk} the largest.
 *
 * @param kth A place, counted from 0, or an array of them; negative ones count from the end.
 * @param options The axis alone, or an object of options; the last axis by default.
 * @throws {TensorError} `ERR_INDEX` for a place or an axis out of range, `ERR_DTYPE` for a complex tensor, `ERR_SHAPE` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.partition(ft.tensor([7, 1, 5]), 1).at(1) // 5
 * ```
 */
export function partition<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, kth: number | readonly number[], options?: number | AxisOptions): Tensor<D> {
  const op = 'partition'
  return within(op, () => {
    const [values, axis] = partitioned(op, x, kth, options)
    return values.sort({ axis }) as Tensor<D>
  })
}

/**
 * The int32 positions that bring an axis into an order of {@link partition}; all are sorted.
 *
 * NumPy `argpartition`.
 *
 * @param kth A place, counted from 0, or an array of them; negative ones count from the end.
 * @param options The axis alone, or an object of options; the last axis by default.
 * @throws {TensorError} `ERR_INDEX` for a place or an axis out of range, `ERR_DTYPE` for a complex tensor, `ERR_SHAPE` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.argpartition(ft.tensor([7, 1, 5]), 0).at(0) // 1
 * ```
 */
export function argpartition<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, kth: number | readonly number[], options?: number | AxisOptions): Tensor<'int32'> {
  const op = 'argpartition'
  return within(op, () => {
    const [values, axis] = partitioned(op, x, kth, options)
    return values.argsort({ axis })
  })
}

/** A condition as a vector of bool, which may be shorter than what it chooses from. */
function chosen(op: string, condition: unknown, x: Tensor, axis: number): Tensor {
  const mask = arrayGiven(op, 'condition', condition).astype('bool') as Tensor
  if (mask.ndim !== 1) throw new ShapeError(`${op}: 'condition' must be a vector, got shape [${mask.shape.join(', ')}]`)
  const size = x.shape[axis] as number
  if (mask.size > size) throw new ShapeError(`${op}: a condition of ${mask.size} for axis ${axis} of size ${size}`)
  return x.at(...x.shape.map((_, i) => (i === axis ? (mask as Tensor<'bool'>).pad([[0, size - mask.size]]) : slice()))) as Tensor
}

/**
 * The slices of an axis where a condition is true; without an axis the elements of the flattened tensor. Reads the condition, which is false where
 * it is too short.
 *
 * NumPy `compress`. `x.at(mask)` takes masks of more axes, and `x.atAsync(mask)` reads without blocking.
 *
 * @param condition A vector; what is not 0 is true.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE` for a condition that is not a vector or too long, `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.compress([true, false, true], ft.tensor([1, 2, 3])) // [1, 3]
 * ```
 */
export function compress<D extends DType = 'float32'>(condition: Tensor | Listed | readonly boolean[], x: Tensor<D> | Listed, options?: number | AxisOptions): Tensor<D> {
  const op = 'compress'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { axis } = axisOrOptions(op, options)
    const lines = (axis === undefined ? values.flatten() : values) as Tensor
    if (lines.ndim === 0) throw new IndexError(`${op}: axis ${String(axis)} is out of range for rank 0`)
    return chosen(op, condition, lines, axis === undefined ? 0 : axisGiven(op, axis, lines.ndim))
  }) as Tensor<D>
}

/**
 * The elements where a condition is true, along one axis. Reads the condition, which is false where it is too short.
 *
 * NumPy `extract`: {@link compress} of both flattened.
 *
 * @throws {TensorError} `ERR_SHAPE` for a condition of more elements than there are.
 * @example
 * ```ts
 * ft.extract(ft.tensor([[true, false], [false, true]]), ft.tensor([[1, 2], [3, 4]])) // [1, 4]
 * ```
 */
export function extract<D extends DType = 'float32'>(condition: Tensor | Listed | readonly boolean[], x: Tensor<D> | Listed): Tensor<D> {
  const op = 'extract'
  return within(op, () => chosen(op, arrayGiven(op, 'condition', condition).flatten(), arrayGiven(op, 'x', x).flatten() as Tensor, 0)) as Tensor<D>
}

/**
 * A tensor without the elements that are equal to the one before; with an axis without the slices that are. Each NaN differs. Reads a mask.
 *
 * PyTorch `unique_consecutive`, without the results that it gives beside.
 *
 * @param options The axis alone, or an object of options; the flattened tensor by default.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.uniqueConsecutive(ft.tensor([1, 1, 2, 1])) // [1, 2, 1]
 * ```
 */
export function uniqueConsecutive<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: number | AxisOptions): Tensor<D> {
  const op = 'uniqueConsecutive'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { axis } = axisOrOptions(op, options)
    const lines = (axis === undefined ? values.flatten() : values) as Tensor
    const at = axis === undefined ? 0 : axisGiven(op, axis, lines.ndim)
    const first = lines.moveaxis(at, 0) as Tensor
    const n = first.shape[0] as number
    const differ = any(notEqual(first.at('1:'), first.at(':-1')), { axis: first.shape.slice(1).map((_, i) => i + 1) })
    const mask = concat([ones([Math.min(n, 1)], { dtype: 'bool', device: first.device }), differ]) as Tensor<'bool'>
    return first.at(mask).moveaxis(0, at)
  }) as Tensor<D>
}
