// Positions in row-major order and along axes, and rows of all combinations.

import { checkOptions } from '../arguments/options.js'
import { flag, integer, shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed, Positions } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { broadcastTo, stack, zeros } from '../generated/functions.js'
import type { PromoteAll } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import type { PositionDType } from '../values/index-arrays.js'
import { allocate } from '../values/nested.js'
import { upload } from '../values/upload.js'
import { indexMode, integersGiven, listGiven, wideIntegers } from './options.js'
import { meshgrid } from './ranges.js'

/** Positions that fail when they are read where an axis of this size does not have them, and count from its start. */
function checked(positions: Tensor, size: number): Tensor<PositionDType> {
  const wide = DTYPE[positions.dtype].bytes < 4 || size >= 2 ** 31 ? (positions.astype(size >= 2 ** 31 ? 'int64' : 'int32') as Tensor) : positions
  // One zero seen as many: looking a position up in it is what finds that there is none.
  const none = broadcastTo(zeros([1], { dtype: wide.dtype, device: positions.device }), [size]) as Tensor
  const known = wide.add(none.take(positions as Tensor<'int32'>)) as Tensor<PositionDType>
  return known.add(known.less(0).astype(known.dtype).multiply(size)) as Tensor<PositionDType>
}

/** How many elements a shape has, which must be counted. */
function countOf(op: string, shape: readonly number[]): number {
  const count = shape.reduce((n, size) => n * size, 1)
  if (!Number.isSafeInteger(count)) throw new ShapeError(`${op}: shape [${shape.join(', ')}] has more than 2^53 elements`)
  return count
}

/**
 * Positions along each axis of a shape, from those in row-major order: an integer tensor for each axis. Negative ones count from the end.
 *
 * NumPy and PyTorch `unravel_index`. int64 of shapes of 2^31 elements or more.
 *
 * @throws {TensorError} `ERR_DTYPE` for positions that are not integers, `ERR_SHAPE` for invalid sizes; `ERR_INDEX` when a result is read, for
 * a position out of range.
 * @example
 * ```ts
 * ft.unravelIndex([1, 5], [2, 3])[1] // [1, 2]
 * ```
 */
export function unravelIndex(indices: Tensor | Positions, shape: readonly number[]): Tensor<PositionDType>[] {
  const op = 'unravelIndex'
  return within(op, () => {
    const sizes = shapeGiven(op, shape)
    let rest: Tensor = checked(integersGiven(op, 'indices', indices), countOf(op, sizes))
    const axes: Tensor[] = []
    for (const size of sizes.toReversed()) {
      axes.unshift(rest.remainder(Math.max(size, 1)) as Tensor)
      rest = rest.floorDivide(Math.max(size, 1)) as Tensor
    }
    return axes as Tensor<PositionDType>[]
  })
}

/** Options of `ravelMultiIndex`. */
export interface RavelMultiIndexOptions {
  /** What a position that an axis does not have does: an error when the result is read (`'raise'`, the default), counts around, or is limited. */
  readonly mode?: 'raise' | 'wrap' | 'clip' | undefined
}

/**
 * Positions in row-major order, from those along each axis of a shape, which are broadcast. Negative ones count from the end, unless `mode` says
 * otherwise.
 *
 * NumPy `ravel_multi_index`. int64 for shapes of 2^31 elements or more.
 *
 * @throws {TensorError} `ERR_DTYPE` for positions that are not integers, `ERR_SHAPE` for invalid sizes and shapes that do not broadcast, `ERR_ARGUMENT`
 * for more or fewer positions than axes; `ERR_INDEX` when the result is read, for a position out of range.
 * @example
 * ```ts
 * ft.ravelMultiIndex([[0, 1], [1, 2]], [2, 3]) // [1, 5]
 * ```
 */
export function ravelMultiIndex(indices: readonly (Tensor | Positions)[], shape: readonly number[], options?: RavelMultiIndexOptions): Tensor<PositionDType> {
  const op = 'ravelMultiIndex'
  return within(op, () => {
    const [list, sizes] = [listGiven(op, 'indices', indices), shapeGiven(op, shape)]
    const mode = indexMode(op, checkOptions(op, options, ['mode'])['mode'])
    if (list.length === 0 || list.length !== sizes.length) throw new ArgumentError(`${op}: ${list.length} index arrays for ${sizes.length} axes`)
    const wide = countOf(op, sizes.map((size) => Math.max(size, 1))) >= 2 ** 31
    const parts = list.map((value, i) => {
      const [x, size] = [wideIntegers(integersGiven(op, `indices[${i}]`, value)), sizes[i] as number]
      const along = mode === 'raise' ? checked(x, size) : mode === 'wrap' ? x.remainder(size) : x.clip(0, size - 1)
      const stride = sizes.slice(i + 1).reduce((n, other) => n * other, 1)
      return along.astype(wide ? 'int64' : 'int32').multiply(stride) as Tensor
    })
    return parts.reduce((sum, part) => sum.add(part) as Tensor)
  }) as Tensor<PositionDType>
}

/** Options of `combinations`. */
export interface CombinationsOptions {
  /** How many elements each has; 2 by default. */
  readonly r?: number | undefined
  /** Whether an element may stand in one more than once; false by default. */
  readonly withReplacement?: boolean | undefined
}

/** More positions than this are a mistake: they are found one by one. */
const MOST = 2 ** 27

/** The number of combinations of r of n. */
function binomial(n: number, r: number): number {
  let count = 1
  for (let i = 0; i < r && count <= MOST; i++) count = (count * (n - i)) / (i + 1)
  return r > n ? 0 : Math.round(count)
}

/** All increasing sequences of r numbers below n, one after the other. */
function sequences(op: string, n: number, r: number, isRepeating: boolean): Int32Array {
  const count = r === 0 ? 0 : binomial(isRepeating ? n + r - 1 : n, r)
  if (count * r > MOST) throw new ShapeError(`${op}: ${count} combinations of ${r} are too many`)
  const out = allocate(op, DTYPE.int32, count * r) as Int32Array
  const now = Int32Array.from({ length: r }, (_, i) => (isRepeating ? 0 : i))
  for (let row = 0; row < count; row++) {
    out.set(now, row * r)
    let at = r - 1
    while (at >= 0 && now[at] === (isRepeating ? n - 1 : n - r + at)) at--
    if (at < 0) break
    const next = (now[at] as number) + 1
    for (let i = at; i < r; i++) now[i] = isRepeating ? next : next + i - at
  }
  return out
}

/**
 * All combinations of a vector's elements in the order in which they stand there: a row for each.
 *
 * PyTorch `combinations`.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a vector, and for too many combinations, `ERR_ARGUMENT` for a negative number of elements.
 * @example
 * ```ts
 * ft.combinations(ft.tensor([1, 2, 3])) // [[1, 2], [1, 3], [2, 3]]
 * ```
 */
export function combinations<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: CombinationsOptions): Tensor<D> {
  const op = 'combinations'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    if (values.ndim !== 1) throw new ShapeError(`${op}: 'x' must be a vector, got shape [${values.shape.join(', ')}]`)
    const { r = 2, withReplacement } = checkOptions(op, options, ['r', 'withReplacement'])
    const length = integer(op, 'r', r)
    if (length < 0 || length > 2 ** 16) throw new ArgumentError(`${op}: 'r' must be from 0 to 65536, got ${length}`)
    const isRepeating = flag(op, 'withReplacement', withReplacement, false)
    if (length === 0) return values.at('0:0')
    const places = sequences(op, values.size, length, isRepeating)
    const index = upload(op, DTYPE.int32, [places.length / length, length], values.type.device, new Uint8Array(places.buffer))
    return values.take(index as Tensor<'int32'>)
  }) as Tensor<D>
}

/**
 * All choices of one element of each vector: a row for each, the last vector's elements changing first.
 *
 * PyTorch `cartesian_prod`. Of one vector it is the vector itself.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a vector, `ERR_ARGUMENT` without vectors.
 * @example
 * ```ts
 * ft.cartesianProd(ft.tensor([1, 2]), ft.tensor([3, 4])) // [[1, 3], [1, 4], [2, 3], [2, 4]]
 * ```
 */
export function cartesianProd<const A extends readonly Tensor[]>(...vectors: A): Tensor<PromoteAll<A>> {
  const op = 'cartesianProd'
  return within(op, () => {
    const list = vectors.map((x, i) => {
      const given = arrayGiven(op, `vectors[${i}]`, x, ...vectors)
      if (given.ndim !== 1) throw new ShapeError(`${op}: 'vectors[${i}]' must be a vector, got shape [${given.shape.join(', ')}]`)
      return given
    })
    const [first] = list
    if (first === undefined) throw new ArgumentError(`${op}: takes at least one vector`)
    if (list.length === 1) return first
    return stack(meshgrid(...list, { indexing: 'ij' }) as Tensor[], { axis: -1 }).reshape([-1, list.length]) as Tensor
  }) as Tensor<PromoteAll<A>>
}
