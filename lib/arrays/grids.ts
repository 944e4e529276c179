// Tensors made of positions: triangles, powers, coordinates, diagonals, and what a function makes of coordinates.

import { checkOptions } from '../arguments/options.js'
import { dtypeOption, flag, integer, number, shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { deviceNumber } from '../devices/devices.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type Takes } from '../generated/dtypes.js'
import { diag, ones, pow, stack, zeros, type DiagOptions, type EyeOptions } from '../generated/functions.js'
import { isHalf } from '../program/half.js'
import type { Tensor } from '../tensor/tensor.js'
import type { CreationOptions } from '../values/create.js'
import { allocate } from '../values/nested.js'
import { upload } from '../values/upload.js'
import { arange, logspace, type LinspaceOptions } from './ranges.js'

/**
 * Numbers from `start` to `stop`, both included unless `endpoint` is false, each the same multiple of the one before; float32 by
 * default. Between the ends they are computed in float64 as powers of 10.
 *
 * `start (stop / start)^(i / (num - 1))`
 *
 * NumPy `geomspace`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for ends that are 0, not finite, or of two signs, `ERR_SHAPE` for a negative `num`, `ERR_DTYPE`.
 * @example
 * ```ts
 * ft.geomspace(1, 1000, 4) // [1, 10, 100, 1000]
 * ```
 */
export function geomspace<E extends DType = 'float32'>(start: number, stop: number, num: number, options?: LinspaceOptions<E>): Tensor<NoInfer<E>> {
  const op = 'geomspace'
  return within(op, () => {
    const o = checkOptions(op, options, ['dtype', 'device', 'endpoint']) as LinspaceOptions<E>
    const [first, last, count] = [number(op, 'start', start), number(op, 'stop', stop), integer(op, 'num', num)]
    if (Math.sign(first) !== Math.sign(last) || first === 0 || !Number.isFinite(first) || !Number.isFinite(last)) {
      throw new ArgumentError(`${op}: ends must be finite, of one sign and not 0, got ${first} and ${last}`)
    }
    const powers = logspace(Math.log10(Math.abs(first)), Math.log10(Math.abs(last)), count, o) as Tensor
    let out: Tensor = first < 0 ? powers.multiply(-1) : powers
    if (count > 0) out = out.withAt([0], first)
    return count > 1 && o.endpoint !== false ? out.withAt([-1], last) : out
  }) as Tensor<E>
}

/**
 * Ones on and below the k-th diagonal, zeros above.
 *
 * `out_ij = j <= i + k ? 1 : 0`
 *
 * NumPy `tri`.
 *
 * @throws {TensorError} `ERR_SHAPE` for negative sizes, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.tri(2, { cols: 3 }) // [[1, 0, 0], [1, 1, 0]]
 * ```
 */
export function tri<E extends DType = 'float32'>(rows: number, options?: EyeOptions<E>): Tensor<NoInfer<E>> {
  const op = 'tri'
  return within(op, () => {
    const { cols = rows, k = 0, dtype, device } = checkOptions(op, options, ['cols', 'k', 'dtype', 'device']) as EyeOptions<E>
    return ones(shapeGiven(op, [rows, cols]), { dtype, device }).tril({ k }) as Tensor
  }) as Tensor<E>
}

/**
 * The matrix whose k-th diagonal is a tensor's elements in row-major order, with zeros elsewhere: {@link diag} of it flattened.
 *
 * NumPy and PyTorch `diagflat`.
 *
 * @throws {TensorError} `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.diagflat(ft.tensor([[1], [2]])) // [[1, 0], [0, 2]]
 * ```
 */
export function diagflat<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: DiagOptions): Tensor<D> {
  return within('diagflat', () => diag(arrayGiven('diagflat', 'x', x).flatten(), options) as Tensor<D>)
}

/** Options of `vander`. */
export interface VanderOptions {
  /** How many powers; as many as elements by default. */
  readonly n?: number | undefined
  /** Whether powers increase from 0; false by default. */
  readonly increasing?: boolean | undefined
}

/** More powers than this are a mistake. */
const MOST_POWERS = 2 ** 16

/** Powers along a new last axis, in increasing order or the other one. */
function powers(op: string, x: unknown, n: unknown, isIncreasing: boolean): Tensor {
  const values = arrayGiven(op, 'x', x)
  if (values.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no axis of points`)
  const count = n === undefined ? (values.shape.at(-1) as number) : integer(op, 'n', n)
  if (count < 0 || count > MOST_POWERS) throw new ArgumentError(`${op}: 'n' must be from 0 to ${MOST_POWERS}, got ${count}`)
  const exponents = arange(count, { dtype: 'int32', device: values.device })
  const points = values.expandDims(-1)
  if (count === 0) return zeros([...values.shape, 0], { dtype: values.dtype, device: values.device })
  // Exponents that the dtype does not hold: integers wrap at the end, and halves are rounded there.
  const wide = DTYPE[values.dtype].min !== null ? 'int64' : isHalf(values.dtype) ? 'float32' : values.dtype
  return pow(points.astype(wide), (isIncreasing ? exponents : exponents.flip()).astype(wide) as Tensor).astype(values.dtype) as Tensor
}

/**
 * Powers of the elements of a vector: a row for each, from the highest power to 0.
 *
 * `out_ij = x_i^(n - 1 - j)`
 *
 * NumPy and PyTorch `vander`. Integers wrap. {@link linalg.vander} has them in increasing order.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a vector, `ERR_DTYPE` for bool, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.vander(ft.tensor([1, 2, 3])) // [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
 * ```
 */
export function vander<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'numeric', D>) | Listed, options?: VanderOptions): Tensor<D> {
  const op = 'vander'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    if (values.ndim !== 1) throw new ShapeError(`${op}: 'x' must be a vector, got shape [${values.shape.join(', ')}]`)
    const { n, increasing } = checkOptions(op, options, ['n', 'increasing'])
    return powers(op, values, n, flag(op, 'increasing', increasing, false)) as Tensor<D>
  })
}

/** Options of `linalg.vander`. */
export interface LinalgVanderOptions {
  /** How many powers; as many as elements along the last axis by default. */
  readonly n?: number | undefined
}

/**
 * Powers of the elements of vectors along the last axis: a row for each, from power 0 on.
 *
 * `out_ij = x_i^j`
 *
 * PyTorch `linalg.vander`. Integers wrap.
 *
 * @throws {TensorError} `ERR_SHAPE` for a tensor of rank 0, `ERR_DTYPE` for bool, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.linalg.vander(ft.tensor([2, 3]), { n: 3 }) // [[1, 2, 4], [1, 3, 9]]
 * ```
 */
export function vander_<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'numeric', D>) | Listed, options?: LinalgVanderOptions): Tensor<D> {
  const op = 'linalg.vander'
  return within(op, () => powers(op, x, checkOptions(op, options, ['n'])['n'], true) as Tensor<D>)
}

/**
 * Coordinates of a grid's points: for each axis of the shape a tensor of it along the first axis of the result.
 *
 * `out_(a, i_0, i_1, ...) = i_a`
 *
 * NumPy `indices`. int32 by default.
 *
 * @throws {TensorError} `ERR_SHAPE` for negative sizes, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.indices([2, 2]) // [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
 * ```
 */
export function indices<E extends DType = 'int32'>(shape: readonly number[], options?: CreationOptions<E>): Tensor<NoInfer<E>> {
  const op = 'indices'
  return within(op, () => {
    const { dtype, device } = checkOptions(op, options, ['dtype', 'device'])
    return coordinates(op, shape, { dtype: dtypeOption(op, dtype, 'int32'), device } as CreationOptions)
  }) as Tensor<E>
}

function coordinates(op: string, shape: unknown, options: CreationOptions): Tensor {
  const sizes = shapeGiven(op, shape)
  if (sizes.length === 0) return zeros([0], options) as Tensor
  return stack(sizes.map((size, axis) => (arange(size, options) as Tensor).reshape(sizes.map((_, i) => (i === axis ? size : 1))).broadcastTo(sizes))) as Tensor
}

/**
 * What a function makes of the coordinates of a grid's points, a tensor for each axis; it is called once.
 *
 * NumPy `fromfunction`. Coordinates are float32 by default.
 *
 * @throws {TensorError} `ERR_SHAPE` for negative sizes, `ERR_ARGUMENT` for an argument that is not a function.
 * @example
 * ```ts
 * ft.fromfunction((i, j) => ft.add(ft.mul(i, 10), j), [2, 2]) // [[0, 1], [10, 11]]
 * ```
 */
export function fromfunction<T, E extends DType = 'float32'>(fn: (...coordinates: Tensor<NoInfer<E>>[]) => T, shape: readonly number[], options?: CreationOptions<E>): T {
  const op = 'fromfunction'
  if (typeof fn !== 'function') throw new ArgumentError(`${op}: 'fn' must be a function of coordinates, got ${shown(fn)}`)
  const axes = within(op, () => {
    const { dtype, device } = checkOptions(op, options, ['dtype', 'device'])
    return [...coordinates(op, shape, { dtype: dtypeOption(op, dtype, 'float32'), device } as CreationOptions)]
  })
  return fn(...(axes as Tensor<E>[]))
}

/** Options of the positions of triangles. */
export interface TriangleOptions {
  /** How many columns; as many as rows by default. */
  readonly cols?: number | undefined
  /** Which diagonal ends or begins it: above the main one, or with a negative number below; 0 by default. */
  readonly k?: number | undefined
  /** The device; `ft.setDefaultDevice` sets the default. */
  readonly device?: string | undefined
}

/** More rows or positions than this are a mistake: they are counted one by one. */
const MOST_POSITIONS = 2 ** 27

/** Rows and columns of the places of a triangle, row by row. */
function triangle(op: string, rows: unknown, options: unknown, part: 'low' | 'high'): [Tensor<'int32'>, Tensor<'int32'>] {
  return within(op, () => {
    const o = checkOptions(op, options, ['cols', 'k', 'device'])
    const [n, m] = shapeGiven(op, [rows, o['cols'] === undefined ? rows : o['cols']]) as [number, number]
    if (n > MOST_POSITIONS) throw new ShapeError(`${op}: ${n} rows are more than ${MOST_POSITIONS}`)
    const k = o['k'] === undefined ? 0 : integer(op, 'k', o['k'])
    const device = deviceNumber(op, o['device'])
    const edge = (i: number): number => Math.min(Math.max(i + k + (part === 'low' ? 1 : 0), 0), m)
    let count = 0
    for (let i = 0; i < n; i++) count += part === 'low' ? edge(i) : m - edge(i)
    if (count > MOST_POSITIONS) throw new ShapeError(`${op}: ${count} positions are more than ${MOST_POSITIONS}`)
    const [down, along] = [allocate(op, DTYPE.int32, count), allocate(op, DTYPE.int32, count)] as [Int32Array, Int32Array]
    let at = 0
    for (let i = 0; i < n; i++) {
      const [low, high] = part === 'low' ? [0, edge(i)] : [edge(i), m]
      for (let j = low; j < high; j++) {
        down[at] = i
        along[at++] = j
      }
    }
    const made = (positions: Int32Array): Tensor<'int32'> => upload(op, DTYPE.int32, [count], device, new Uint8Array(positions.buffer)) as Tensor<'int32'>
    return [made(down), made(along)]
  })
}

/**
 * Rows and columns of a matrix's elements on and below the k-th diagonal, in row-major order: `x.at(...ft.trilIndices(n))`.
 *
 * NumPy and PyTorch `tril_indices`; the number of columns and the diagonal are options.
 *
 * @throws {TensorError} `ERR_SHAPE` for negative sizes and more than 2^27 rows or positions, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.trilIndices(2)[1] // [0, 0, 1]
 * ```
 */
export function trilIndices(rows: number, options?: TriangleOptions): [rows: Tensor<'int32'>, columns: Tensor<'int32'>] {
  return triangle('trilIndices', rows, options, 'low')
}

/**
 * Rows and columns of a matrix's elements on and above the k-th diagonal, in row-major order: `x.at(...ft.triuIndices(n))`.
 *
 * NumPy and PyTorch `triu_indices`; the number of columns and the diagonal are options.
 *
 * @throws {TensorError} `ERR_SHAPE` for negative sizes and more than 2^27 rows or positions, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.triuIndices(2, { k: 1 })[1] // [1]
 * ```
 */
export function triuIndices(rows: number, options?: TriangleOptions): [rows: Tensor<'int32'>, columns: Tensor<'int32'>] {
  return triangle('triuIndices', rows, options, 'high')
}

/** Options of `diagIndices`. */
export interface DiagIndicesOptions {
  /** How many axes; 2 by default. */
  readonly ndim?: number | undefined
  /** The device; `ft.setDefaultDevice` sets the default. */
  readonly device?: string | undefined
}

/**
 * Positions of the main diagonal of a tensor of n places along each axis, an int32 tensor for each: `x.at(...ft.diagIndices(n))`.
 *
 * NumPy `diag_indices`.
 *
 * @throws {TensorError} `ERR_SHAPE` for a negative size, `ERR_ARGUMENT` for a number of axes that is not from 1 to 32.
 * @example
 * ```ts
 * ft.diagIndices(3)[1] // [0, 1, 2]
 * ```
 */
export function diagIndices(n: number, options?: DiagIndicesOptions): Tensor<'int32'>[] {
  const op = 'diagIndices'
  return within(op, () => {
    const { ndim = 2, device } = checkOptions(op, options, ['ndim', 'device'])
    const [size, count] = [shapeGiven(op, [n])[0] as number, integer(op, 'ndim', ndim)]
    if (count < 1 || count > 32) throw new ArgumentError(`${op}: 'ndim' must be from 1 to 32, got ${count}`)
    // One each, so that disposing of one leaves the others.
    return Array.from({ length: count }, () => arange(size, { dtype: 'int32', device: device as string | undefined }) as Tensor<'int32'>)
  })
}
