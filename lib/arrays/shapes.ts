// Operations on shapes that take more than their rows: several new axes, counts of their own for each place, and no axis at all.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, type Listed, type Positions } from '../calls/arrays.js'
import { arrayGiven, tensorList } from '../calls/operands.js'
import { ArgumentError, IndexError, ShapeError } from '../errors.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import {
  concat as concatAlong, expandDims as expandOne, flatten as flattenBetween, repeat as repeatEqually, tile as tileAlong, type FlattenOptions,
  type RepeatOptions
} from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import type { PromoteAll } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { allocate } from '../values/nested.js'
import { dataSync } from '../values/read.js'
import { upload } from '../values/upload.js'
import { axisOrOptions, integersGiven, MOST_PLACES } from './options.js'

/**
 * New axes of size 1 at these places of the result. A view.
 *
 * `x`
 *
 * Takes any dtype; gives the same dtype.
 * NumPy `expand_dims`, PyTorch `unsqueeze`.
 *
 * @param x A tensor.
 * @param axis One axis of the result, or several; negative ones count from its last; 0 by default.
 * @throws {TensorError} `ERR_INDEX`, as for `ft.zeros([2]).expandDims(3)` and axes that are named twice.
 * @example
 * ```ts
 * ft.expandDims(ft.tensor([1, 2]), [0, 2]) // [[[1], [2]]]
 * ```
 */
export function expandDims<A extends DType = 'float32'>(x: Tensor<A> | Listed, axis?: number | readonly number[]): Tensor<A> {
  const op = 'expandDims'
  if (!Array.isArray(axis)) return Reflect.apply(expandOne, undefined, arguments) as Tensor<A>
  return within(op, () => {
    const values = arrayGiven(op, 'x', x) as Tensor<A>
    const given = integers(op, 'axis', axis)
    const places = given.map((place) => axisGiven(op, place, values.ndim + given.length)).sort((a, b) => a - b)
    const twice = places.find((place, i) => place === places[i + 1])
    if (twice !== undefined) throw new IndexError(`${op}: axis ${twice} is named twice`)
    return places.reduce((out, place) => expandOne(out, place), values)
  })
}

/** Options of `concat`. */
export interface ConcatOptions {
  /** The axis; negative ones count from the last; null joins the elements of all in row-major order; 0 by default. */
  readonly axis?: number | null | undefined
}

/**
 * Tensors joined along an axis they have; without one (null) their elements along one axis.
 *
 * `[x_1, ..., x_n]`
 *
 * Takes any dtype; gives the promoted dtype.
 * NumPy `concat`, PyTorch `cat`.
 *
 * @param arrays Tensors, at least one.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE`, as for `ft.concat([ft.zeros([2]), ft.zeros([2, 2])])`, `ERR_ARGUMENT`, as for `ft.concat([])`.
 * @example
 * ```ts
 * ft.concat([ft.tensor([[1, 2]]), ft.tensor([3])], null) // [1, 2, 3]
 * ```
 */
export function concat<const A extends readonly Tensor[]>(arrays: A, options?: number | null | ConcatOptions): Tensor<PromoteAll<A>> {
  const axis = options === null ? null : typeof options === 'object' && (options as ConcatOptions).axis === null ? checkOptions('concat', options, ['axis'])['axis'] : undefined
  if (axis !== null) return Reflect.apply(concatAlong, undefined, arguments) as Tensor<PromoteAll<A>>
  return within('concat', () => concatAlong(tensorList(OP.concat, arrays).map((x) => x.flatten()))) as Tensor as Tensor<PromoteAll<A>>
}

/**
 * Each element several times, along an axis or in row-major order of all: all as often, or each as often as its count says. Counts in a
 * tensor are read.
 *
 * `out_i = x_{floor(i / repeats)}`
 *
 * Takes any dtype; gives the same dtype.
 * NumPy `repeat`, PyTorch `repeat_interleave`.
 *
 * @param x A tensor.
 * @param repeats An integer, or one for each place of the axis.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_ARGUMENT`, as for `ft.zeros([2]).repeat(-1)`, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for more or fewer counts than
 * places.
 * @example
 * ```ts
 * ft.repeat(ft.tensor([5, 6, 7]), [2, 0, 1]) // [5, 5, 7]
 * ```
 */
export function repeat<A extends DType = 'float32'>(x: Tensor<A> | Listed, repeats: number | Positions | Tensor, options?: number | RepeatOptions): Tensor<A> {
  const op = 'repeat'
  if (!isListed(repeats) && !isTensor(repeats)) return Reflect.apply(repeatEqually, undefined, arguments) as Tensor<A>
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { axis } = axisOrOptions(op, options)
    const lines = (axis === undefined ? values.flatten() : values) as Tensor
    const at = axis === undefined ? 0 : axisGiven(op, axis, lines.ndim)
    const counts = integersGiven(op, 'repeats', repeats, lines)
    const size = lines.shape[at] as number
    if (size > MOST_PLACES) throw new ShapeError(`${op}: an axis of ${size} places, more than ${MOST_PLACES}; write one count for all`)
    if (counts.ndim > 1 || (counts.size !== size && counts.size !== 1)) throw new ShapeError(`${op}: counts of shape [${counts.shape.join(', ')}] for axis ${at} of size ${size}`)
    const read = Array.from(dataSync(counts, op) as ArrayLike<number | bigint>, Number)
    const each = read.length === size ? read : new Array<number>(size).fill(read[0] as number)
    const negative = each.find((count) => count < 0)
    if (negative !== undefined) throw new ArgumentError(`${op}: a count must not be negative, got ${negative}`)
    const total = each.reduce((sum, count) => sum + count, 0)
    const places = allocate(op, DTYPE.int32, total) as Int32Array
    let end = 0
    each.forEach((count, i) => places.fill(i, end, (end += count)))
    return lines.take(upload(op, DTYPE.int32, [total], lines.type.device, new Uint8Array(places.buffer)) as Tensor<'int32'>, { axis: at })
  }) as Tensor<A>
}

/**
 * Several axes as one, in row-major order; all of them by default, the first and the last of them by name or one after the other.
 *
 * `x`
 *
 * Takes any dtype; gives the same dtype.
 * NumPy `ravel`, PyTorch `flatten`.
 *
 * @param x A tensor.
 * @param options The first axis alone, or an object of options.
 * @param endAxis The last axis, behind the first; -1 by default.
 * @throws {TensorError} `ERR_INDEX`, as for `ft.zeros([2]).flatten({ startAxis: 1 })`, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.flatten(ft.zeros([2, 3, 4]), 1).shape // [2, 12]
 * ```
 */
export function flatten<A extends DType = 'float32'>(x: Tensor<A> | Listed, options?: number | FlattenOptions, endAxis?: number): Tensor<A> {
  if (typeof options !== 'number') return Reflect.apply(flattenBetween, undefined, arguments) as Tensor<A>
  return flattenBetween(x, { startAxis: options, endAxis })
}

/**
 * One axis as several, of these sizes, one of which may be -1: what {@link flatten} did, reversed.
 *
 * `x`
 *
 * Takes any dtype; gives the same dtype.
 * PyTorch `unflatten`.
 *
 * @param x A tensor.
 * @param axis The axis; a negative one counts from the last.
 * @param sizes Sizes whose product is that of the axis.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for sizes that do not fit it, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.unflatten(ft.arange(4), 0, [2, -1]) // [[0, 1], [2, 3]]
 * ```
 */
export function unflatten<A extends DType = 'float32'>(x: Tensor<A> | Listed, axis: number, sizes: readonly number[]): Tensor<A> {
  const op = 'unflatten'
  return within(op, () => {
    const given = arrayGiven(op, 'x', x)
    const at = axisGiven(op, axis, given.ndim)
    const wanted = integers(op, 'sizes', sizes)
    if (wanted.length === 0) throw new ArgumentError(`${op}: 'sizes' must have a size`)
    // Any size is for this axis alone, where reshape would take it from others.
    const known = wanted.reduce((n, size) => (size === -1 ? n : n * size), 1)
    const own = wanted.map((size) => (size === -1 && known !== 0 ? (given.shape[at] as number) / known : size))
    if (own.some((size) => size < 0 || !Number.isInteger(size)) || own.reduce((n, size) => n * size, 1) !== given.shape[at]) {
      throw new ShapeError(`${op}: sizes [${wanted.join(', ')}] do not make up axis ${at} of size ${given.shape[at]}`)
    }
    return given.reshape([...given.shape.slice(0, at), ...own, ...given.shape.slice(at + 1)])
  }) as Tensor<A>
}

/**
 * The tensor again and again along its last axes, or along axes before them: as often as numbers say.
 *
 * `out_i = x_{i mod n}`
 *
 * Takes any dtype; gives the same dtype.
 * NumPy `tile`, PyTorch `tile`.
 *
 * @param x A tensor.
 * @param repetitions How often along each of the last axes; a number alone is along the last one.
 * @throws {TensorError} `ERR_ARGUMENT`, as for `ft.zeros([2]).tile([-1])`.
 * @example
 * ```ts
 * ft.tile(ft.tensor([1, 2]), 2) // [1, 2, 1, 2]
 * ```
 */
export function tile<A extends DType = 'float32'>(x: Tensor<A> | Listed, repetitions: number | readonly number[]): Tensor<A> {
  return (typeof repetitions === 'number' && arguments.length === 2 ? tileAlong(x, [repetitions]) : Reflect.apply(tileAlong, undefined, arguments)) as Tensor<A>
}
