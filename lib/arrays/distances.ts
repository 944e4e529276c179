// Distances between tensors and between their rows, and slices of bounded norm, as PyTorch has them.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import type { DType, FloatOf, Promote, RealOf, Takes } from '../generated/dtypes.js'
import { where } from '../generated/functions.js'
import { vectorNorm } from '../generated/linalg.js'
import type { Tensor } from '../tensor/tensor.js'
import { floating, resultType } from './dtypes.js'

/** The order of a distance. */
function order(op: string, value: unknown): number {
  const p = number(op, 'p', value)
  if (!(p >= 0)) throw new ArgumentError(`${op}: 'p' must be a number from 0, got ${p}`)
  return p
}

/** The difference of two tensors: of integers one of floating numbers, as theirs would wrap. */
function difference(a: Tensor, b: Tensor): Tensor {
  const dtype = resultType(a, b)
  // Bools have no difference, which is the error of their subtraction.
  return dtype === 'bool' ? (a.subtract(b) as Tensor) : (floating(a.astype(dtype)).subtract(floating(b.astype(dtype))) as Tensor)
}

/**
 * The distance between two tensors: the norm of their difference as one vector.
 *
 * `(sum |x_1 - x_2|^p)^(1 / p)`
 *
 * PyTorch `dist`.
 *
 * @param p The order, 2 by default; `Infinity` is the largest difference, 0 the number of elements that differ.
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast, `ERR_DTYPE` for bool, `ERR_ARGUMENT` for an order below 0.
 * @example
 * ```ts
 * ft.dist(ft.tensor([0, 0]), ft.tensor([3, 4])) // 5
 * ```
 */
export function dist<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'numeric', A>, x2: Tensor<B> & Takes<'numeric', B>, p?: number): Tensor<RealOf<FloatOf<Promote<A, B>>>> {
  const op = 'dist'
  return within(op, () => {
    const between = difference(arrayGiven(op, 'x1', x1, x2), arrayGiven(op, 'x2', x2, x1))
    return vectorNorm(between.flatten(), { ord: order(op, p === undefined ? 2 : p) })
  }) as Tensor as Tensor<RealOf<FloatOf<Promote<A, B>>>>
}

/** Options of `cdist`. */
export interface CdistOptions {
  /** The order of the norm, 2 by default; `Infinity` is the largest difference, 0 the number of elements that differ. */
  readonly p?: number | undefined
}

/**
 * Distances between each row of a matrix [..., n, d] and each row of another [..., m, d]: [..., n, m].
 *
 * `d_ij = (sum_k |x_ik - y_jk|^p)^(1 / p)`
 *
 * PyTorch `cdist`. Differences are summed as they are, so near rows keep all their digits; PyTorch's products of rows lose some.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a matrix, and for sizes that do not fit, `ERR_DTYPE` for bool, `ERR_ARGUMENT` for an order below 0.
 * @example
 * ```ts
 * ft.cdist(ft.tensor([[0, 0]]), ft.tensor([[3, 4], [0, 1]])) // [[5, 1]]
 * ```
 */
export function cdist<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'numeric', A>, x2: Tensor<B> & Takes<'numeric', B>, options?: CdistOptions): Tensor<RealOf<FloatOf<Promote<A, B>>>> {
  const op = 'cdist'
  return within(op, () => {
    const [a, b] = [arrayGiven(op, 'x1', x1, x2), arrayGiven(op, 'x2', x2, x1)]
    const { p = 2 } = checkOptions(op, options, ['p'])
    if (a.ndim < 2 || b.ndim < 2 || a.shape.at(-1) !== b.shape.at(-1)) {
      throw new ShapeError(`${op}: takes rows of one size, [..., n, d] and [..., m, d], got shapes [${a.shape.join(', ')}] and [${b.shape.join(', ')}]`)
    }
    const between = difference(a.expandDims(-2) as Tensor, b.expandDims(-3) as Tensor)
    return vectorNorm(between, { ord: order(op, p), axis: -1 })
  }) as Tensor as Tensor<RealOf<FloatOf<Promote<A, B>>>>
}

/** What PyTorch adds to the norm before it divides. */
const ROOM = 1e-7

/**
 * Slices along an axis, each scaled down to a norm where its own is larger.
 *
 * `x_i min(1, maxnorm / (|x_i|_p + 10^-7))`
 *
 * PyTorch `renorm`.
 *
 * @param p The order of the norm.
 * @param axis The axis whose slices these are; negative ones count from the last.
 * @param maxnorm The largest norm.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for fewer than two axes, `ERR_ARGUMENT` for numbers below 0.
 * @example
 * ```ts
 * ft.renorm(ft.tensor([[3, 4], [0, 1]]), 2, 0, 5) // [[3, 4], [0, 1]]
 * ```
 */
export function renorm<D extends DType>(x: Tensor<D>, p: number, axis: number, maxnorm: number): Tensor<FloatOf<D>> {
  const op = 'renorm'
  return within(op, () => {
    const values = floating(arrayGiven(op, 'x', x))
    const [ord, most, at] = [order(op, p), number(op, 'maxnorm', maxnorm), axisGiven(op, axis, values.ndim)]
    if (!(most >= 0)) throw new ArgumentError(`${op}: 'maxnorm' must be a number from 0, got ${most}`)
    if (values.ndim < 2) throw new ShapeError(`${op}: a tensor of rank ${values.ndim} has no slices along an axis`)
    const others = values.shape.map((_, i) => i).filter((i) => i !== at)
    const norms: Tensor = vectorNorm(values, { ord, axis: others, keepdims: true })
    return values.multiply(where(norms.greater(most), norms.add(ROOM).reciprocal().multiply(most), 1))
  }) as Tensor as Tensor<FloatOf<D>>
}
