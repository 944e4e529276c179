// Ranks and pseudoinverses of matrices in stacks, each with a tolerance of its own.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import { isListed, type Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import type { DType, FloatOf } from '../generated/dtypes.js'
import { where } from '../generated/functions.js'
import { matrixRank as rankOf, pinv as inverseOf, svd, svdvals } from '../generated/linalg.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `linalg.matrixRank` and `linalg.pinv`. */
export interface ToleranceOptions {
  /** Which share of the largest singular value another one must be above: a number, or one for each matrix; follows from the dtype by default. */
  readonly rtol?: number | Tensor | Listed | undefined
}

/** The tolerances of matrices, where there are several. */
function severalOf(op: string, options: unknown): Tensor | undefined {
  const { rtol } = checkOptions(op, options, ['rtol'])
  return isTensor(rtol) || isListed(rtol) ? arrayGiven(op, 'rtol', rtol) : undefined
}

/** Which singular values of matrices count; a tolerance that is NaN is that of the dtype. */
function above(s: Tensor, given: Tensor, x: Tensor): Tensor<'bool'> {
  const rtol = given.astype(s.dtype) as Tensor
  const usual = Math.max(...x.shape.slice(-2)) * (s.dtype === 'float64' ? 2 ** -52 : 2 ** -23)
  return s.greater(s.max({ axis: -1, keepdims: true }).multiply(where(rtol.isnan(), usual, rtol).expandDims(-1)))
}

/**
 * How many singular values of a matrix are above rtol times the largest: max(m, n) units in the last place of 1 where rtol is left out or NaN.
 *
 * `count(s_i > rtol max s)`
 *
 * Takes any dtype; gives int32.
 * NumPy `linalg.matrix_rank`, PyTorch `linalg.matrix_rank`.
 *
 * @param x A tensor.
 * @param options Options.
 * @throws {TensorError} `ERR_SHAPE`, as for `ft.linalg.matrixRank(ft.zeros([2]))` and tolerances that do not broadcast to the matrices.
 * @example
 * ```ts
 * ft.linalg.matrixRank(ft.tensor([[[1, 0], [0, 0.1]], [[1, 0], [0, 0.1]]]), { rtol: [0.01, 0.5] }) // [2, 1]
 * ```
 */
export function matrixRank(x: Tensor | Listed, options?: ToleranceOptions): Tensor<'int32'> {
  const op = 'linalg.matrixRank'
  const rtol = within(op, () => severalOf(op, options))
  if (rtol === undefined) return Reflect.apply(rankOf, undefined, arguments) as Tensor<'int32'>
  return within(op, () => {
    const matrices = arrayGiven(op, 'x', x)
    return above(svdvals(matrices) as Tensor, rtol, matrices).sum({ axis: -1 }) as Tensor<'int32'>
  })
}

/**
 * Pseudoinverses of matrices of any shape and rank (Moore-Penrose); singular values up to rtol times the largest count as zero, rtol as in matrixRank.
 *
 * `vh^H @ diag(1 / s) @ u^H`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * NumPy `linalg.pinv`, PyTorch `linalg.pinv`.
 *
 * @param x A tensor.
 * @param options Options.
 * @throws {TensorError} `ERR_SHAPE`, as for `ft.linalg.pinv(ft.zeros([2]))` and tolerances that do not broadcast to the matrices.
 * @example
 * ```ts
 * ft.linalg.pinv(ft.tensor([[[2, 0], [0, 1]]]), { rtol: [0.6] }) // [[[0.5, 0], [0, 0]]]
 * ```
 */
export function pinv<A extends DType = 'float32'>(x: Tensor<A> | Listed, options?: ToleranceOptions): Tensor<FloatOf<A>> {
  const op = 'linalg.pinv'
  const rtol = within(op, () => severalOf(op, options))
  if (rtol === undefined) return Reflect.apply(inverseOf, undefined, arguments) as Tensor<FloatOf<A>>
  return within(op, () => {
    const matrices = arrayGiven(op, 'x', x)
    const { u, s, vh } = svd(matrices, { fullMatrices: false })
    const [left, values, right] = [u as Tensor, s as Tensor, vh as Tensor]
    const counts = above(values, rtol, matrices)
    // 1 in place of what does not count, so that no division by 0 reaches a gradient.
    const inverse = where(counts, where(counts, values, 1).reciprocal() as Tensor, 0) as Tensor
    const scaled = right.matrixTranspose().conj().multiply(inverse.expandDims(-2)) as Tensor
    return scaled.matmul(left.matrixTranspose().conj() as Tensor)
  }) as Tensor as Tensor<FloatOf<A>>
}
