// Determinants' logarithms, systems solved by factors that are there already, and inverses of tensors of more than two axes.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, flag, integer, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed, Positions } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { several, type Several } from '../calls/several.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { DTYPE, type DType, type FloatOf, type Promote } from '../generated/dtypes.js'
import { argmax, complex, tril, where } from '../generated/functions.js'
import { inv, lu, slogdet, solve, solveTriangular } from '../generated/linalg.js'
import type { Tensor } from '../tensor/tensor.js'
import type { PositionDType } from '../values/index-arrays.js'
import { integersGiven } from './options.js'

/**
 * Logarithm of the determinants of square matrices: NaN where it is negative, -Infinity where it is 0; of complex matrices its principal value.
 *
 * `log det x`
 *
 * PyTorch `logdet`. {@link linalg.slogdet} keeps the sign.
 *
 * @throws {TensorError} `ERR_SHAPE` for matrices that are not square.
 * @example
 * ```ts
 * ft.logdet(ft.tensor([[2, 0], [0, 0.5]])) // 0
 * ```
 */
export function logdet<D extends DType = 'float32'>(x: Tensor<D> | Listed): Tensor<FloatOf<D>> {
  return within('logdet', () => {
    const { sign, logabsdet } = slogdet(arrayGiven('logdet', 'x', x))
    const [unit, size] = [sign as Tensor, logabsdet as Tensor]
    if (DTYPE[unit.dtype].kind === 'complex') return complex(size, unit.angle())
    return where(unit.less(0), NaN, size)
  }) as Tensor as Tensor<FloatOf<D>>
}

/** A factorisation L U of rows in another order. */
export interface LUFactor<D extends DType = DType> {
  /** U on and above the diagonal, L below it, whose own diagonal is of ones. */
  readonly lu: Tensor<D>
  /** For each row of L U the row of the matrix that it is, int32. */
  readonly permutation: Tensor<'int32'>
}

/**
 * Square matrices as products L U of rows in another order, in one matrix each, as {@link luSolve} takes them: `x[permutation] = L U`.
 *
 * PyTorch `linalg.lu_factor`, SciPy `lu_factor`, whose pivots are LAPACK's exchanges one after the other; here the order they lead to is given.
 * {@link lu} gives the factors one by one.
 *
 * @throws {TensorError} `ERR_SHAPE` for matrices that are not square.
 * @example
 * ```ts
 * ft.linalg.luFactor(ft.tensor([[0, 2], [4, 0]])).permutation // [1, 0]
 * ```
 */
export function luFactor<D extends DType = 'float32'>(x: Tensor<D> | Listed): Several<LUFactor<FloatOf<D>>> {
  const op = 'linalg.luFactor'
  return within(op, () => {
    const values = square(op, 'x', x)
    const { p, l, u } = lu(values)
    const [order, lower, upper] = [p as Tensor, l as Tensor, u as Tensor]
    // Row i of the transposed permutation matrix has its 1 at the row of x that comes i-th.
    const permutation = argmax(order.real() as Tensor<'float32'>, { axis: -2 })
    return several({ lu: tril(lower, { k: -1 }).add(upper) as Tensor as Tensor<FloatOf<D>>, permutation })
  })
}

function square(op: string, name: string, value: unknown, ...beside: readonly unknown[]): Tensor {
  const x = arrayGiven(op, name, value, ...beside)
  if (x.ndim < 2 || x.shape.at(-1) !== x.shape.at(-2)) throw new ShapeError(`${op}: '${name}' must be square matrices, got shape [${x.shape.join(', ')}]`)
  return x
}

/** A right side: a vector where it has exactly one axis. */
function rightSide(op: string, value: unknown, n: number, beside: Tensor): readonly [columns: Tensor, back: (y: Tensor) => Tensor] {
  const b = arrayGiven(op, 'b', value, beside)
  if (b.ndim === 0 || b.shape[b.ndim === 1 ? 0 : b.ndim - 2] !== n) {
    throw new ShapeError(`${op}: 'b' must have ${n} rows, got shape [${b.shape.join(', ')}]`)
  }
  return b.ndim === 1 ? [b.expandDims(1), (y) => y.squeeze(-1) as Tensor] : [b, (y) => y]
}

/**
 * Solves systems whose matrices {@link luFactor} has taken apart.
 *
 * `y with x y = b`
 *
 * PyTorch `linalg.lu_solve`, SciPy `lu_solve`.
 *
 * @param factors The factors' matrices, [..., n, n].
 * @param permutation The order of rows, [..., n].
 * @param b Right sides, [..., n, k], or a vector of n.
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit, `ERR_DTYPE`; `ERR_LINALG` when the result is read, for singular matrices.
 * @example
 * ```ts
 * ft.linalg.luSolve(ft.tensor([[4, 0], [0, 2]]), [1, 0], ft.tensor([2, 4])) // [1, 1]
 * ```
 */
export function luSolve<A extends DType, B extends DType>(factors: Tensor<A>, permutation: Tensor<PositionDType> | Positions, b: Tensor<B>): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'linalg.luSolve'
  return within(op, () => {
    const both = square(op, 'factors', factors, b)
    const order = integersGiven(op, 'permutation', permutation, both)
    const n = both.shape.at(-1) as number
    if (order.ndim !== both.ndim - 1 || order.shape.some((size, i) => size !== both.shape[i])) {
      throw new ShapeError(`${op}: factors of shape [${both.shape.join(', ')}] have an order of rows of shape [${both.shape.slice(0, -1).join(', ')}], got [${order.shape.join(', ')}]`)
    }
    const [columns, back] = rightSide(op, b, n, both)
    const lead = Math.max(0, columns.ndim - both.ndim)
    const rows = order.reshape([...new Array<number>(lead).fill(1), ...order.shape, 1])
    const stack = Math.max(both.ndim, columns.ndim)
    const wide = columns.reshape([...new Array<number>(stack - columns.ndim).fill(1), ...columns.shape])
    const sorted = broadcastRows(wide, rows as Tensor<'int32'>)
    const lower: Tensor = solveTriangular(both, sorted, { unitDiagonal: true, upper: false })
    return back(solveTriangular(both, lower, { upper: true }))
  }) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}

/** Rows of stacks of matrices in an order that each stack has of its own. */
function broadcastRows(x: Tensor, order: Tensor<'int32'>): Tensor {
  const shape = x.shape.map((size, i) => (i < x.ndim - 2 && size === 1 ? (order.shape[i] as number) : size))
  const columns = shape.at(-1) as number
  return x.broadcastTo(shape).takeAlongAxis(order.broadcastTo([...shape.slice(0, -1), columns]), { axis: -2 })
}

/** Options of `choleskySolve`. */
export interface CholeskySolveOptions {
  /** Whether the factor is above the diagonal, of `U^H U`; false by default. */
  readonly upper?: boolean | undefined
}

/**
 * Solves systems whose matrices {@link cholesky} has taken apart.
 *
 * `y with L L^H y = b`
 *
 * PyTorch `cholesky_solve`, SciPy `cho_solve`, the right sides first as in the one.
 *
 * @param b Right sides, [..., n, k], or a vector of n.
 * @param factor The factors of the matrices, [..., n, n].
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit, `ERR_ARGUMENT`; `ERR_LINALG` when the result is read, for singular factors.
 * @example
 * ```ts
 * ft.linalg.choleskySolve(ft.tensor([4, 9]), ft.tensor([[2, 0], [0, 3]])) // [1, 1]
 * ```
 */
export function choleskySolve<A extends DType, B extends DType>(b: Tensor<A>, factor: Tensor<B>, options?: CholeskySolveOptions): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'linalg.choleskySolve'
  return within(op, () => {
    const given = square(op, 'factor', factor, b)
    const { upper } = checkOptions(op, options, ['upper'])
    const lower: Tensor = flag(op, 'upper', upper, false) ? given.matrixTranspose().conj() : given
    const [columns, back] = rightSide(op, b, lower.shape.at(-1) as number, lower)
    const half: Tensor = solveTriangular(lower, columns)
    return back(solveTriangular(lower.matrixTranspose().conj() as Tensor, half, { upper: true }))
  }) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}

const product = (sizes: readonly number[]): number => sizes.reduce((n, size) => n * size, 1)

/** Options of `tensorinv`. */
export interface TensorinvOptions {
  /** How many first axes are the rows of the matrix; 2 by default. */
  readonly ind?: number | undefined
}

/**
 * The inverse of a tensor as a map from its last axes to its first ones: `ft.tensordot` of it, over `ind` axes, and a right side is
 * what {@link tensorsolve} gives.
 *
 * NumPy and PyTorch `linalg.tensorinv`.
 *
 * @throws {TensorError} `ERR_SHAPE` where the sizes of the first and of the last axes have different products, `ERR_ARGUMENT`; `ERR_LINALG` when the
 * result is read, for a singular one.
 * @example
 * ```ts
 * ft.linalg.tensorinv(ft.eye(4).reshape([4, 2, 2]), { ind: 1 }).shape // [2, 2, 4]
 * ```
 */
export function tensorinv<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: TensorinvOptions): Tensor<FloatOf<D>> {
  const op = 'linalg.tensorinv'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { ind = 2 } = checkOptions(op, options, ['ind'])
    const count = integer(op, 'ind', ind)
    if (count < 1) throw new ArgumentError(`${op}: 'ind' must be at least 1, got ${count}`)
    const [first, last] = [values.shape.slice(0, count), values.shape.slice(count)]
    const n = product(first)
    if (n !== product(last)) throw new ShapeError(`${op}: sizes [${first.join(', ')}] and [${last.join(', ')}] have different products`)
    return inv(values.reshape([n, n])).reshape([...last, ...first])
  }) as Tensor as Tensor<FloatOf<D>>
}

/** Options of `tensorsolve`. */
export interface TensorsolveOptions {
  /** Axes of `a` that are moved to its end first. */
  readonly axes?: readonly number[] | undefined
}

/**
 * The solution y of a linear system in tensors: `a` maps the axes of y, which are its last ones, to those of `b`, which are its first ones.
 *
 * `y with tensordot(a, y, { axes: y.ndim }) = b`
 *
 * NumPy and PyTorch `linalg.tensorsolve`.
 *
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit, `ERR_INDEX` for axes out of range; `ERR_LINALG` when the result is read, for a singular one.
 * @example
 * ```ts
 * ft.linalg.tensorsolve(ft.eye(4).reshape([2, 2, 4]), ft.tensor([[1, 2], [3, 4]])) // [1, 2, 3, 4]
 * ```
 */
export function tensorsolve<A extends DType, B extends DType>(a: Tensor<A>, b: Tensor<B>, options?: TensorsolveOptions): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'linalg.tensorsolve'
  return within(op, () => {
    const [given, right] = [arrayGiven(op, 'a', a, b), arrayGiven(op, 'b', b, a)]
    const { axes = [] } = checkOptions(op, options, ['axes'])
    const moved = integers(op, 'axes', axes).map((axis) => axisGiven(op, axis, given.ndim))
    const map = given.moveaxis(moved, moved.map((_, i) => i - moved.length)) as Tensor
    const rest = map.shape.slice(right.ndim)
    if (right.ndim > map.ndim || product(rest) !== right.size || map.size !== right.size ** 2) {
      throw new ShapeError(`${op}: a of shape [${map.shape.join(', ')}] does not take tensors to shape [${right.shape.join(', ')}]`)
    }
    return solve(map.reshape([right.size, right.size]), right.flatten()).reshape(rest)
  }) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}
