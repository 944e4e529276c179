// Losses of scores and their sides: which of two is the higher one, and on which side of 0 one is.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import type { DType, FloatOf, Promote, Takes } from '../generated/dtypes.js'
import { softplus } from '../generated/nn.js'
import type { Tensor } from '../tensor/tensor.js'
import { alike, finite, promoted, reduced, type LossOptions, type MarginLossOptions } from './losses.js'

/**
 * Margin ranking loss of pairs of scores, of which the first is to be the higher one (target 1) or the lower one (target -1): 0 where it is, by the
 * margin at least. The mean, or by `reduction` the sum or each loss.
 *
 * `mean of max(0, margin - target (x1 - x2))`
 *
 * Takes real dtypes; gives the promoted float, float32 for integers and bool. PyTorch `nn.functional.margin_ranking_loss`. The margin is 0 by
 * default.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that differ, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.marginRankingLoss(ft.tensor([1, 5]), ft.tensor([2, 3]), ft.tensor([1, 1])) // 0.5
 * ```
 */
export function marginRankingLoss<A extends DType, B extends DType, C extends DType>(
  x1: Tensor<A> & Takes<'real', A>,
  x2: Tensor<B> & Takes<'real', B>,
  target: Tensor<C> & Takes<'integerOrFloat', C>,
  options?: MarginLossOptions
): Tensor<FloatOf<Promote<Promote<A, B>, C>>> {
  const op = 'nn.marginRankingLoss'
  return within(op, () => {
    const { reduction, margin = 0 } = checkOptions(op, options, ['reduction', 'margin'])
    const [first, second, sides] = promoted(alike(op, { x1, x2, target })) as [Tensor, Tensor, Tensor]
    return reduced(op, second.subtract(first).multiply(sides).add(finite(op, 'margin', margin)).maximum(0) as Tensor, reduction)
  }) as Tensor<FloatOf<Promote<Promote<A, B>, C>>>
}

/**
 * Soft margin loss of scores x for targets 1 and -1, without overflow. The mean, or by `reduction` the sum or each loss.
 *
 * `mean of ln(1 + e^(-target x))`
 *
 * Takes real dtypes; gives the promoted float, float32 for integers and bool. PyTorch `nn.functional.soft_margin_loss`.
 *
 * @throws {TensorError} `ERR_SHAPE` for targets of another shape, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.softMarginLoss(ft.tensor([0, 0]), ft.tensor([1, -1])) // 0.6931472
 * ```
 */
export function softMarginLoss<A extends DType, B extends DType>(x: Tensor<A> & Takes<'real', A>, target: Tensor<B> & Takes<'integerOrFloat', B>, options?: LossOptions): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.softMarginLoss'
  return within(op, () => {
    const { reduction } = checkOptions(op, options, ['reduction'])
    const [scores, sides] = promoted(alike(op, { x, target })) as [Tensor, Tensor]
    return reduced(op, softplus(scores.multiply(sides).negative() as Tensor<'float32'>) as Tensor, reduction)
  }) as Tensor<FloatOf<Promote<A, B>>>
}
