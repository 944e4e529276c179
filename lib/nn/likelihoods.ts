// Losses that are negative logarithms of likelihoods: of counts after Poisson, of numbers after Gauss.

import { checkOptions } from '../arguments/options.js'
import { flag } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { DTYPE, type DType, type FloatOf, type Promote, type Takes } from '../generated/dtypes.js'
import { where } from '../generated/functions.js'
import { constant } from '../program/markers.js'
import type { Tensor } from '../tensor/tensor.js'
import { alike, finite, promoted, reduced, type LossOptions } from './losses.js'

/** Options of `nn.poissonNllLoss`. */
export interface PoissonNllLossOptions extends LossOptions {
  /** Whether x are logarithms of the rates, true by default. */
  readonly logInput?: boolean | undefined
  /** Whether Stirling's approximation of ln(target!) is added, which depends on no prediction; false by default. */
  readonly full?: boolean | undefined
  /** What is added to rates before their logarithm is taken; 1e-8 by default. */
  readonly eps?: number | undefined
}

/** Options of `nn.gaussianNllLoss`. */
export interface GaussianNllLossOptions extends LossOptions {
  /** Whether ln(2 pi) / 2 is added, which depends on no prediction; false by default. */
  readonly full?: boolean | undefined
  /** The least variance, above 0; smaller ones are taken for it. 1e-6 by default. */
  readonly eps?: number | undefined
}

/** A number above 0. */
function positive(op: string, name: string, value: unknown): number {
  const given = finite(op, name, value)
  if (!(given > 0)) throw new ArgumentError(`${op}: '${name}' must be above 0, got ${given}`)
  return given
}

/** Stirling's approximation of ln(n!), of n above 1; 0 of others. */
function stirling(n: Tensor): Tensor {
  const isMany = n.greater(1)
  const many = where(isMany, n, 2) as Tensor
  const terms = many.multiply(many.log()).subtract(many).add(many.multiply(2 * Math.PI).log().multiply(0.5)) as Tensor
  return where(isMany, terms, 0) as Tensor
}

/**
 * Negative logarithm of the likelihood of counts after Poisson's distribution, whose rates are e^x, or x without `logInput`: the mean, or by
 * `reduction` the sum or each loss.
 *
 * `mean of e^x - target x`, or `x - target ln(x + eps)`
 *
 * Takes real dtypes; gives the promoted float, float32 for integers and bool. PyTorch `nn.functional.poisson_nll_loss`.
 *
 * @throws {TensorError} `ERR_SHAPE` for targets of another shape, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.poissonNllLoss(ft.tensor([0, 0]), ft.tensor([2, 3])) // 1
 * ```
 */
export function poissonNllLoss<A extends DType, B extends DType>(x: Tensor<A> & Takes<'real', A>, target: Tensor<B> & Takes<'real', B>, options?: PoissonNllLossOptions): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.poissonNllLoss'
  return within(op, () => {
    const { reduction, logInput, full, eps = 1e-8 } = checkOptions(op, options, ['reduction', 'logInput', 'full', 'eps'])
    const least = positive(op, 'eps', eps)
    const [rates, counts] = promoted(alike(op, { x, target })) as [Tensor, Tensor]
    const each = flag(op, 'logInput', logInput, true) ? rates.exp().subtract(counts.multiply(rates)) : rates.subtract(counts.multiply(rates.add(least).log()))
    return reduced(op, (flag(op, 'full', full, false) ? each.add(stirling(counts)) : each) as Tensor, reduction)
  }) as Tensor<FloatOf<Promote<A, B>>>
}

/** Variances of x, one for each element, or one for all along the last axis, which then has size 1 or is left out. */
function spread(op: string, value: unknown, x: Tensor): Tensor {
  const given = tensorGiven(op, 'variance', value)
  if (DTYPE[given.dtype].kind === 'complex') throw new DTypeError(`${op}: 'variance' must be real, got ${given.dtype}`)
  const [own, shape, before] = [given.shape.join(), x.shape, x.shape.slice(0, -1)]
  if (own === shape.join() || (shape.length > 0 && own === [...before, 1].join())) return given
  if (shape.length > 0 && own === before.join()) return given.expandDims(-1) as Tensor
  throw new ShapeError(`${op}: 'variance' must have the shape of x, [${shape.join(', ')}], with a last axis of size 1 or without one, got [${given.shape.join(', ')}]`)
}

/**
 * Negative logarithm of the likelihood of targets after normal distributions about x of these variances: the mean, or by `reduction` the sum or each
 * loss.
 *
 * `mean of (ln v + (x - target)^2 / v) / 2` with `v = max(variance, eps)`
 *
 * Takes real dtypes; gives the promoted float, float32 for integers and bool. PyTorch `nn.functional.gaussian_nll_loss`; as there, the gradient
 * of variances below `eps` is that at `eps`. Negative variances, which PyTorch refuses by reading them, are below it as well.
 *
 * @param variance Of the shape of x, with a last axis of size 1, or without the last axis.
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not go together, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.gaussianNllLoss(ft.tensor([1, 2]), ft.tensor([1, 4]), ft.tensor([1, 1])) // 1
 * ```
 */
export function gaussianNllLoss<A extends DType, B extends DType, C extends DType>(
  x: Tensor<A> & Takes<'real', A>,
  target: Tensor<B> & Takes<'real', B>,
  variance: Tensor<C> & Takes<'real', C>,
  options?: GaussianNllLossOptions
): Tensor<FloatOf<Promote<Promote<A, B>, C>>> {
  const op = 'nn.gaussianNllLoss'
  return within(op, () => {
    const { reduction, full, eps = 1e-6 } = checkOptions(op, options, ['reduction', 'full', 'eps'])
    const least = positive(op, 'eps', eps)
    const [first, second] = alike(op, { x, target }) as [Tensor, Tensor]
    const [means, wanted, given] = promoted([first, second, spread(op, variance, first)]) as [Tensor, Tensor, Tensor]
    const isSmall = given.less(least)
    const small = where(isSmall, given, least) as Tensor
    const v = where(isSmall, small.subtract(constant(small)).add(least), given) as Tensor
    const each = means.subtract(wanted).square().divide(v).add(v.log()).multiply(0.5)
    return reduced(op, (flag(op, 'full', full, false) ? each.add(Math.log(2 * Math.PI) / 2) : each) as Tensor, reduction)
  }) as Tensor<FloatOf<Promote<Promote<A, B>, C>>>
}
