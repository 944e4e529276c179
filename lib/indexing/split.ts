// A tensor cut into pieces along an axis. Views.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, integer, integers } from '../arguments/validate.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import type { DType } from '../generated/dtypes.js'
import { concat, stack, zeros } from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { isJoin } from '../program/join.js'
import { pieceOf } from '../program/markers.js'
import type { Attr, Signature } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import type { IndexItem } from './at.js'
import { Slice, slice } from './slice.js'

/** The axis along which a tensor is cut. */
export interface PiecesOptions {
  /** The axis; negative ones count from the last; the first by default. */
  readonly axis?: number | undefined
}

/** So many tensors, as a tuple where the number is known, a whole one and small; else a list. */
export type Tuple<T, N extends number, Found extends readonly T[] = []> = number extends N ? T[] : Found['length'] extends N ? [...Found] : Found['length'] extends 16 ? T[] : Tuple<T, N, [...Found, T]>

/** The pieces of a tensor cut into so many, or at these positions: one more than there are positions. */
export type PiecesOf<D extends DType, S extends number | readonly number[]> = S extends number
  ? Tuple<Tensor<D>, S>
  : S extends readonly number[]
    ? number extends S['length']
      ? Tensor<D>[]
      : Tuple<Tensor<D>, S['length']> extends infer T extends readonly Tensor<D>[]
        ? [...T, Tensor<D>]
        : never
    : never

/** More pieces than this are a mistake: each is an object. */
const MOST = 2 ** 20

function checkCount(op: string, n: number): void {
  if (n > MOST) throw new ShapeError(`${op}: ${n} pieces are more than ${MOST}`)
}

/** The tensor of a call and its axis, not negative. */
function cut<D extends DType>(op: string, value: Tensor<D>, options: unknown): [x: Tensor<D>, axis: number] {
  const x = arrayGiven(op, 'x', value) as Tensor<D>
  const { axis = 0 } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis'])
  return [x, axisGiven(op, axis, x.ndim)]
}

/** `x` at one item of an axis. */
function along<D extends DType>(x: Tensor<D>, axis: number, item: IndexItem): Tensor<D> {
  return x.at(...Array.from({ length: axis }, () => slice()), item)
}

/** The pieces between these bounds, which are clamped as those of slices. */
function between<D extends DType>(x: Tensor<D>, axis: number, bounds: readonly number[]): Tensor<D>[] {
  return [...bounds, null].map((stop, i) => along(x, axis, new Slice(i === 0 ? 0 : bounds[i - 1], stop)))
}

/** Pieces that are the whole of `x` together, joined by `join` where some are there; the others count as zero. */
function whole<D extends DType>(x: Tensor<D>, pieces: Tensor<D>[], join: (parts: Tensor[]) => Tensor): Tensor<D>[] {
  // Gradients go over what is tracked, whose dtype is that of its cotangent.
  const together = (parts: readonly (Tensor | undefined)[]): Tensor => join(pieces.map((piece, i) => parts[i] ?? (zeros(piece.shape, { dtype: piece.dtype, device: piece.device }) as Tensor)))
  return pieces.map((piece, at) => pieceOf(x, piece, { join: together, at }) as Tensor<D>)
}

/** The pieces between positions, all that there are: what belongs to each is put together. */
export function consecutive<D extends DType>(x: Tensor<D>, axis: number, bounds: readonly number[]): Tensor<D>[] {
  return whole(x, between(x, axis, bounds), (parts) => concat(parts, { axis }))
}

/** What lies at items of an axis, all that there is in their order: what belongs to each is put together. A position has no axis, a slice keeps it. */
export function piecesAt<D extends DType>(x: Tensor<D>, axis: number, items: readonly (number | Slice)[]): Tensor<D>[] {
  const pieces = items.map((item) => along(x, axis, item))
  return whole(x, pieces, (parts) => concat(parts.map((part, i) => (typeof items[i] === 'number' ? part.expandDims(axis) : part)), { axis }))
}

function count(op: string, name: string, value: unknown): number {
  const n = integer(op, name, value)
  if (n < 1) throw new ArgumentError(`${op}: '${name}' must be at least 1, got ${n}`)
  checkCount(op, n)
  return n
}

/** `n` pieces of which the first ones are larger by one where the size does not divide. */
function nearlyEqual<D extends DType>(x: Tensor<D>, axis: number, n: number): Tensor<D>[] {
  const size = x.shape[axis] as number
  const bounds = Array.from({ length: n - 1 }, (_, i) => (i + 1) * Math.floor(size / n) + Math.min(i + 1, size % n))
  return consecutive(x, axis, bounds)
}

/**
 * The slices of a tensor along an axis, which they do not have.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for more than 2^20 pieces.
 * @example
 * ```ts
 * ft.unstack(ft.tensor([[1, 2], [3, 4]]), { axis: 1 })[0] // [1, 3]
 * ```
 */
export function unstack<D extends DType>(array: Tensor<D>, options?: number | PiecesOptions): Tensor<D>[] {
  const [x, axis] = cut('unstack', array, options)
  const size = x.shape[axis] as number
  checkCount('unstack', size)
  return whole(x, Array.from({ length: size }, (_, i) => along(x, axis, i)), (parts) => stack(parts, { axis }))
}

/**
 * A tensor in so many equal pieces along an axis, or cut at these positions.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE` for a size that does not divide, `ERR_INDEX` for an axis out of range, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.split(ft.tensor([1, 2, 3, 4]), 2)[1] // [3, 4]
 * ```
 * ```ts
 * ft.split(ft.tensor([1, 2, 3, 4]), [1, 3])[1] // [2, 3]
 * ```
 */
export function split<D extends DType, const S extends number | readonly number[]>(array: Tensor<D>, sections: S, options?: number | PiecesOptions): PiecesOf<D, S> {
  const [x, axis] = cut('split', array, options)
  if (typeof sections !== 'number') return between(x, axis, integers('split', 'sections', sections)) as PiecesOf<D, S>
  const n = count('split', 'sections', sections)
  const size = x.shape[axis] as number
  if (size % n !== 0) throw new ShapeError(`split: axis ${axis} of size ${size} has no ${n} equal pieces; arraySplit gives nearly equal ones`)
  return nearlyEqual(x, axis, n) as PiecesOf<D, S>
}

/**
 * Splits a tensor along an axis: into a number of nearly equal pieces, the larger ones first, or at positions.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.arraySplit(ft.tensor([1, 2, 3]), 2)[0] // [1, 2]
 * ```
 */
export function arraySplit<D extends DType, const S extends number | readonly number[]>(array: Tensor<D>, sections: S, options?: number | PiecesOptions): PiecesOf<D, S> {
  const [x, axis] = cut('arraySplit', array, options)
  if (typeof sections !== 'number') return between(x, axis, integers('arraySplit', 'sections', sections)) as PiecesOf<D, S>
  return nearlyEqual(x, axis, count('arraySplit', 'sections', sections)) as PiecesOf<D, S>
}

/**
 * A tensor in at most so many pieces along an axis, all but the last of one size.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.chunk(ft.tensor([1, 2, 3, 4, 5]), 3)[2] // [5]
 * ```
 */
export function chunk<D extends DType>(array: Tensor<D>, chunks: number, options?: number | PiecesOptions): Tensor<D>[] {
  const [x, axis] = cut('chunk', array, options)
  const each = Math.max(1, Math.ceil((x.shape[axis] as number) / count('chunk', 'chunks', chunks)))
  const n = Math.max(1, Math.ceil((x.shape[axis] as number) / each))
  return whole(x, between(x, axis, Array.from({ length: n - 1 }, (_, i) => (i + 1) * each)), (parts) => concat(parts, { axis }))
}

/** Cotangents of the operands of `stack` or `concat`, which are pieces of the result's; undefined where derived calls do. */
export function cotangentsOfJoin(s: Signature, operands: readonly unknown[], cotangent: Tensor): Tensor[] | undefined {
  if (!isJoin(s, operands)) return undefined
  const parts = operands as readonly Tensor[]
  const [, axis] = cut('gradient', cotangent, (s.attr as Attr).words[0])
  if (s.op === OP.stack) return unstack(cotangent, axis)
  let end = 0
  const bounds = parts.slice(1).map((_, i) => (end += (parts[i] as Tensor).shape[axis] as number))
  return consecutive(cotangent, axis, bounds)
}
