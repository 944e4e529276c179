// Arrays with something behind, between or taken away, nested blocks, and the elements of what can be walked.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, integer, shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, positionsOf, type Listed } from '../calls/arrays.js'
import { arrayGiven, tensorGiven } from '../calls/operands.js'
import { ArgumentError, IndexError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, Promote } from '../generated/dtypes.js'
import { broadcastTo, concat, full, moveaxis, tile, zeros } from '../generated/functions.js'
import { rangeOf, type IndexItem } from '../indexing/at.js'
import { parseItems, Slice, slice } from '../indexing/slice.js'
import { isTensor } from '../program/node.js'
import type { Scalar } from '../program/record.js'
import type { PromoteAll } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { fromList, type CreationOptions } from '../values/create.js'
import { advanced, isMask, outOfRange, truePositions, type Advanced } from '../values/index-arrays.js'
import { dataSync } from '../values/read.js'
import { bytesOf } from '../values/typed-arrays.js'
import { resultType } from './dtypes.js'
import { axisOrOptions, MOST_PLACES, type AxisOptions } from './options.js'

/** A tensor and the axis that is meant: without one all elements, along one axis. */
function along(op: string, x: unknown, options: unknown): readonly [x: Tensor, axis: number, isFlat: boolean] {
  const values = arrayGiven(op, 'x', x)
  const { axis } = axisOrOptions(op, options)
  return axis === undefined ? [values.flatten() as Tensor, 0, true] : [values, axisGiven(op, axis, values.ndim), false]
}

/**
 * `values` behind a tensor's elements along an axis, as {@link concat}; without an axis both are flattened.
 *
 * NumPy `append`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit, `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.append(ft.tensor([[1, 2]]), ft.tensor([3])) // [1, 2, 3]
 * ```
 */
export function append<A extends DType, B extends DType = A>(x: Tensor<A>, values: Tensor<B> | Listed, options?: number | AxisOptions): Tensor<Promote<A, B>> {
  const op = 'append'
  return within(op, () => {
    const [before, axis, isFlat] = along(op, x, options)
    const behind = beside(op, 'values', values, before)
    return concat([before, isFlat ? (behind.flatten() as Tensor) : behind], { axis })
  }) as Tensor as Tensor<Promote<A, B>>
}

/** A tensor, an array or a number, whose numbers take the dtype of the tensor beside it. */
function beside(op: string, name: string, value: unknown, x: Tensor): Tensor {
  if (isListed(value)) return fromList(op, value, { dtype: x.dtype, device: x.device })
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return full([], value, { dtype: x.dtype, device: x.device }) as Tensor
  return arrayGiven(op, name, value)
}

/** A place before which something is put: from -size to size. */
function gap(op: string, index: unknown, axis: number, size: number): number {
  const at = integer(op, 'index', index)
  if (at < -size || at > size) throw outOfRange(op, at, axis, size)
  return at < 0 ? at + size : at
}

/**
 * A tensor with `values` before a place of an axis, or before each of several; without an axis it is flattened. Places are those before
 * anything is put there, and values are converted to the tensor's dtype.
 *
 * NumPy `insert`. Before one place (a number) a whole array may be put; of several, each gets a slice of `values`, or all get the same.
 *
 * @param index A place, from -size to size, or an array of them.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for a place or an axis out of range, `ERR_SHAPE` for values that do not fit, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.insert(ft.tensor([1, 2, 3]), 1, 5) // [1, 5, 2, 3]
 * ```
 * ```ts
 * ft.insert(ft.tensor([[1, 2], [3, 4]]), [0, 2], 0, 1) // [[0, 1, 2, 0], [0, 3, 4, 0]]
 * ```
 */
export function insert<D extends DType>(x: Tensor<D>, index: number | readonly number[], values: Tensor | Listed | Scalar, options?: number | AxisOptions): Tensor<D> {
  const op = 'insert'
  return within(op, () => {
    const [before, axis] = along(op, x, options)
    if (before.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no axis to insert along`)
    const size = placesOf(op, before, axis)
    const isOne = !Array.isArray(index)
    const given = beside(op, 'values', values, before).astype(before.dtype) as Tensor
    // As NumPy: an array put before one place has its first axis there.
    const padded = given.ndim < before.ndim ? (given.reshape([...new Array<number>(before.ndim - given.ndim).fill(1), ...given.shape]) as Tensor) : given
    const between = isOne && given.ndim > 0 ? (moveaxis(padded, 0, axis) as Tensor) : padded
    const places = isOne || index.length === 1 ? new Array<number>(between.shape[axis] as number).fill(gap(op, isOne ? index : index[0], axis, size)) : Array.from(index, (at) => gap(op, at, axis, size))
    const wide = broadcastTo(between, before.shape.map((n, i) => (i === axis ? places.length : n))) as Tensor
    const order = places.map((at, i) => ({ at, i })).sort((a, b) => a.at - b.at || a.i - b.i)
    const sources: number[] = []
    for (let at = 0, next = 0; at <= size; at++) {
      for (; next < order.length && (order[next] as { at: number }).at === at; next++) sources.push(size + (order[next] as { i: number }).i)
      if (at < size) sources.push(at)
    }
    return concat([before, wide], { axis }).take(positionsOf(op, sources, before) as Tensor<'int32'>, { axis })
  }) as Tensor<D>
}

/** How many places an axis has, each of which is named one by one. */
function placesOf(op: string, x: Tensor, axis: number): number {
  const size = x.shape[axis] as number
  if (size > MOST_PLACES) throw new ShapeError(`${op}: an axis of ${size} places, more than ${MOST_PLACES}; write concat of slices`)
  return size
}

/** What `delete` takes: places of an axis, as `x.at` takes them. */
export type Places = Extract<IndexItem, number | string | Slice | Tensor | readonly unknown[]>

/** Which places of an axis an item names. */
function named(op: string, item: unknown, axis: number, size: number, device: number): ReadonlySet<number> {
  const parts = typeof item === 'string' ? parseItems(op, item) : [item]
  const [part] = parts
  if (parts.length !== 1 || part === null || part === '...' || part === undefined) throw new ArgumentError(`${op}: 'index' must be places of one axis, got ${shown(item)}`)
  if (part instanceof Slice) {
    const [start, step, length] = rangeOf(part, size)
    return new Set(Array.from({ length }, (_, i) => start + i * step))
  }
  const places: Advanced = typeof part === 'number' ? advanced(op, [part]) : advanced(op, part)
  const elements = isTensor(places) ? dataSync(places, op) : places.data
  if (isMask(places)) {
    if (places.shape.length !== 1 || places.shape[0] !== size) throw new ShapeError(`${op}: a mask of shape [${places.shape.join(', ')}] for axis ${axis} of size ${size}`)
    return new Set((truePositions(op, elements as Uint8Array, device).dataSync() as Int32Array).values())
  }
  return new Set(Array.from(elements as ArrayLike<number | bigint>, (value) => {
    const at = Number(value)
    if (!Number.isInteger(at)) throw new ArgumentError(`${op}: an index must be an integer, got ${at}`)
    if (at < -size || at >= size) throw outOfRange(op, at, axis, size)
    return at < 0 ? at + size : at
  }))
}

/**
 * A copy of a tensor without some positions along an axis; without an axis the tensor is flattened first. Positions in a tensor are read.
 *
 * NumPy `delete`.
 *
 * @param index A place, an array of them or of booleans, a slice or its text: what `x.at` takes for one axis.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for a place or an axis out of range, `ERR_SHAPE` for a mask of another size, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.delete(ft.tensor([1, 2, 3, 4]), [0, -1]) // [2, 3]
 * ```
 * ```ts
 * ft.delete(ft.tensor([[1, 2, 3]]), '1:', 1) // [[1]]
 * ```
 */
function delete_<D extends DType>(x: Tensor<D>, index: Places, options?: number | AxisOptions): Tensor<D> {
  const op = 'delete'
  return within(op, () => {
    const [before, axis] = along(op, x, options)
    if (before.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no places`)
    const size = placesOf(op, before, axis)
    const gone = named(op, index, axis, size, before.type.device)
    const left: number[] = []
    for (let i = 0; i < size; i++) if (!gone.has(i)) left.push(i)
    return before.take(positionsOf(op, left, before) as Tensor<'int32'>, { axis })
  }) as Tensor<D>
}
export { delete_ as delete }

/** Options of `trimZeros`. */
export interface TrimZerosOptions {
  /** Which ends lose zeros: `'f'` the front, `'b'` the back, `'fb'` both (the default). */
  readonly trim?: 'f' | 'b' | 'fb' | undefined
}

const ENDS: readonly unknown[] = ['f', 'b', 'fb', 'bf']

/**
 * A vector without the zeros before its first and behind its last other element, of more axes the smallest box that holds all others. Reads a
 * mask.
 *
 * NumPy `trim_zeros`.
 *
 * @throws {TensorError} `ERR_SHAPE` for a tensor of rank 0, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.trimZeros(ft.tensor([0, 0, 1, 0, 2, 0])) // [1, 0, 2]
 * ```
 */
export function trimZeros<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: TrimZerosOptions): Tensor<D> {
  const op = 'trimZeros'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { trim = 'fb' } = checkOptions(op, options, ['trim']) as TrimZerosOptions
    if (!ENDS.includes(trim)) throw new ArgumentError(`${op}: 'trim' must be one of 'f', 'b', 'fb', got ${shown(trim)}`)
    if (values.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no ends`)
    const some = values.astype('bool')
    const axes = values.shape.map((_, i) => i)
    const ranges = axes.map((axis) => {
      const line = dataSync(some.any({ axis: axes.filter((i) => i !== axis) }) as Tensor, op) as Uint8Array
      const [first, last] = [line.indexOf(1), line.lastIndexOf(1)]
      if (first < 0) return slice(0, 0)
      return slice(trim.includes('f') ? first : 0, trim.includes('b') ? last + 1 : line.length)
    })
    return values.at(...ranges)
  }) as Tensor<D>
}

/**
 * A tensor of another shape, filled with the elements in row-major order, again and again; with zeros where there are none.
 *
 * NumPy `resize`, the function. Its method, and PyTorch's, change a tensor's size, which none does here.
 *
 * @throws {TensorError} `ERR_SHAPE` for negative sizes, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.resize(ft.tensor([1, 2, 3]), [2, 4]) // [[1, 2, 3, 1], [2, 3, 1, 2]]
 * ```
 */
export function resize<D extends DType = 'float32'>(x: Tensor<D> | Listed, shape: readonly number[]): Tensor<D> {
  const op = 'resize'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const sizes = shapeGiven(op, shape)
    const count = sizes.reduce((n, size) => n * size, 1)
    if (values.size === 0 || count === 0) return zeros(sizes, { dtype: values.dtype, device: values.device })
    const times = Math.ceil(count / values.size)
    const flat = values.flatten() as Tensor
    return (times === 1 ? flat : tile(flat, [times])).at(slice(0, count)).reshape(sizes)
  }) as Tensor<D>
}

/**
 * An axis moved before another one; {@link moveaxis} says it more plainly. A view.
 *
 * NumPy `rollaxis`.
 *
 * @param axis The axis that moves; negative ones count from the last.
 * @param start The axis before which it comes to stand, or their number; 0 by default.
 * @throws {TensorError} `ERR_INDEX` for axes out of range.
 * @example
 * ```ts
 * ft.rollaxis(ft.zeros([2, 3, 4]), 2).shape // [4, 2, 3]
 * ```
 */
export function rollaxis<D extends DType = 'float32'>(x: Tensor<D> | Listed, axis: number, start?: number): Tensor<D> {
  const op = 'rollaxis'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const [from, given] = [axisGiven(op, axis, values.ndim), start === undefined ? 0 : integer(op, 'start', start)]
    const before = given < 0 ? given + values.ndim : given
    if (before < 0 || before > values.ndim) throw new IndexError(`${op}: start ${given} is out of range for rank ${values.ndim}`)
    return moveaxis(values, from, from < before ? before - 1 : before)
  }) as Tensor<D>
}

/** Tensors and numbers in arrays of arrays. */
export type Blocks = Tensor | Scalar | readonly Blocks[]

/** Deeper nesting than any tensor has rank, and more blocks in one array than are joined one by one. */
const [DEEPEST, WIDEST] = [32, 2 ** 12]
/** Parts of all arrays together: lists that share parts have as many as there are ways to them. */
const MOST_PARTS = 2 ** 14

/** Nested arrays, copied: that of a proxy may have another length each time it is asked. */
function copied(op: string, item: unknown, level = 0, met = { parts: 0 }): unknown {
  if (++met.parts > MOST_PARTS) throw new ShapeError(`${op}: more than ${MOST_PARTS} blocks`)
  if (!Array.isArray(item)) return item
  if (level === DEEPEST) throw new ShapeError(`${op}: arrays are nested more than ${DEEPEST} deep`)
  const { length } = item as { length: unknown }
  if (length === 0) throw new ShapeError(`${op}: an array of blocks is empty`)
  if (typeof length !== 'number' || !(length <= WIDEST)) throw new ShapeError(`${op}: an array of ${shown(length)} blocks, more than ${WIDEST}`)
  return Array.from({ length }, (_, i) => copied(op, item[i], level + 1, met))
}

/** How deep a list of lists is nested; all of its leaves are as deep. */
function depthOf(op: string, item: unknown, level = 0): number {
  if (!Array.isArray(item)) return level
  const depths = item.map((part) => depthOf(op, part, level + 1))
  if (depths.some((depth) => depth !== depths[0])) throw new ShapeError(`${op}: blocks are nested to different depths`)
  return depths[0] as number
}

/**
 * Tensors put together from nested arrays of blocks: those of the innermost arrays along the last axis, those around them along the one before,
 * and so on. Blocks of fewer axes get axes of size 1 before their own.
 *
 * NumPy `block`. A number is a block of one element of the dtype of the tensors.
 *
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit and empty or unevenly nested arrays, `ERR_ARGUMENT` for anything but tensors and numbers.
 * @example
 * ```ts
 * ft.block([[ft.eye(2), ft.zeros([2, 1])], [ft.ones([1, 2]), 5]]) // [[1, 0, 0], [0, 1, 0], [1, 1, 5]]
 * ```
 */
export function block(blocks: Blocks): Tensor {
  const op = 'block'
  return within(op, () => {
    const nested = copied(op, blocks) as Blocks
    const depth = depthOf(op, nested)
    const leaves = (Array.isArray(nested) ? nested.flat(DEEPEST) : [nested]) as (Tensor | Scalar)[]
    const first = leaves.find((leaf) => isTensor(leaf))
    const wrong = leaves.find((leaf) => !isTensor(leaf) && !['number', 'bigint', 'boolean'].includes(typeof leaf))
    if (wrong !== undefined || leaves.includes(undefined as never)) throw new ArgumentError(`${op}: a block must be a tensor or a number, got ${shown(wrong)}`)
    const dtype = resultType(...leaves)
    const rank = Math.max(depth, ...leaves.map((leaf) => (isTensor(leaf) ? leaf.ndim : 0)))
    const joined = (item: Blocks, level: number): Tensor => {
      if (Array.isArray(item)) return concat(item.map((part: Blocks) => joined(part, level + 1)), { axis: level - depth }) as Tensor
      const leaf = (isTensor(item) ? item : full([], item as number, { dtype, device: first?.device })) as Tensor
      return leaf.reshape([...new Array<number>(rank - leaf.ndim).fill(1), ...leaf.shape]) as Tensor
    }
    return joined(nested, 0)
  })
}

/**
 * Matrices along the diagonal of one, with zeros elsewhere; a vector is a matrix of one row, a tensor of rank 0 one of one element.
 *
 * PyTorch and SciPy `block_diag`.
 *
 * @throws {TensorError} `ERR_SHAPE` for more than two axes, `ERR_ARGUMENT` without tensors.
 * @example
 * ```ts
 * ft.blockDiag(ft.tensor([[1, 2]]), ft.tensor([[3], [4]])) // [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
 * ```
 */
export function blockDiag<const A extends readonly Tensor[]>(...tensors: A): Tensor<PromoteAll<A>> {
  const op = 'blockDiag'
  return within(op, () => {
    if (tensors.length === 0) throw new ArgumentError(`${op}: takes at least one tensor`)
    const matrices = tensors.map((x, i) => {
      const given = arrayGiven(op, `tensors[${i}]`, x, ...tensors)
      if (given.ndim > 2) throw new ShapeError(`${op}: 'tensors[${i}]' must be a matrix, got shape [${given.shape.join(', ')}]`)
      return given.reshape([...new Array<number>(2 - given.ndim).fill(1), ...given.shape]) as Tensor
    })
    const width = matrices.reduce((sum, x) => sum + (x.shape[1] as number), 0)
    let column = 0
    const rows = matrices.map((x) => {
      const before = column
      column += x.shape[1] as number
      return x.pad([[0, 0], [before, width - column]]) as Tensor
    })
    return concat(rows, { axis: 0 }) as Tensor
  }) as Tensor<PromoteAll<A>>
}

/** Options of `fromiter`. */
export interface FromiterOptions<E extends DType = DType> extends CreationOptions<E> {
  /** How many elements are taken; all by default. */
  readonly count?: number | undefined
}

/** What ends an endless walk: an array of so many numbers takes 128 MiB. */
const MOST_WALKED = 2 ** 24

/** The walk of an iterable; a proxy of a typed array says that it has one, and has none. */
function iteratorOf(op: string, source: Iterable<unknown>): Iterator<unknown> {
  try {
    return source[Symbol.iterator]()
  } catch {
    throw new ArgumentError(`${op}: 'iterable' must be an iterable of numbers, got ${shown(source)}`)
  }
}

/**
 * A vector of what an iterable gives: numbers, bigints, booleans or complex numbers, as {@link tensor} takes them.
 *
 * NumPy `fromiter`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for what cannot be walked and where fewer than `count` elements come, `ERR_SHAPE` for more than 2^24.
 * @example
 * ```ts
 * ft.fromiter(new Set([3, 1])) // [3, 1]
 * ```
 */
export function fromiter<E extends DType = 'float32'>(iterable: Iterable<unknown>, options?: FromiterOptions<E>): Tensor<NoInfer<E>> {
  const op = 'fromiter'
  const o = within(op, () => checkOptions(op, options, ['count', 'dtype', 'device']))
  if (typeof iterable === 'string' || (iterable as Iterable<unknown> | null | undefined)?.[Symbol.iterator] === undefined) {
    throw new ArgumentError(`${op}: 'iterable' must be an iterable of numbers, got ${shown(iterable)}`)
  }
  const most = o['count'] === undefined ? MOST_WALKED + 1 : integer(op, 'count', o['count'])
  if (most < 0 || (most > MOST_WALKED && o['count'] !== undefined)) throw new ArgumentError(`${op}: 'count' must be from 0 to ${MOST_WALKED}, got ${most}`)
  if (isTensor(iterable) && iterable.ndim !== 1) throw new ShapeError(`${op}: a tensor must be a vector, got shape [${iterable.shape.join(', ')}]`)
  if (ArrayBuffer.isView(iterable)) bytesOf(op, iterable)
  // The walk of a tensor would read it element by element.
  const source = isTensor(iterable) ? (tensorGiven(op, 'iterable', iterable).toArray() as unknown[]) : iterable
  const walked = { [Symbol.iterator]: () => iteratorOf(op, source) }
  const items: unknown[] = []
  if (most > 0) {
    for (const item of walked) {
      items.push(item)
      if (items.length === most) break
    }
  }
  if (o['count'] === undefined && items.length > MOST_WALKED) throw new ShapeError(`${op}: the iterable gives more than ${MOST_WALKED} elements; name their 'count', or use fromTypedArray`)
  if (o['count'] !== undefined && items.length < most) throw new ArgumentError(`${op}: the iterable gave ${items.length} elements, and 'count' is ${most}`)
  return within(op, () => fromList(op, items, { dtype: o['dtype'] as E, device: o['device'] as string | undefined })) as Tensor<E>
}
