// Losses that are made of rows: beside those of the table (`mseLoss`, `huberLoss`, `crossEntropy`, ...), PyTorch's other ones.

import { checkOptions } from '../arguments/options.js'
import { number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating, resultType } from '../arrays/dtypes.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type FloatLimits, type FloatOf, type Promote, type Takes } from '../generated/dtypes.js'
import { logicalAnd, where } from '../generated/functions.js'
import { vectorNorm } from '../generated/linalg.js'
import { binaryCrossEntropyWithLogits as crossEntropyOfLogits, huberLoss, l1Loss } from '../generated/nn.js'
import type { Tensor } from '../tensor/tensor.js'

/** What a loss gives of its elements. */
export interface LossOptions {
  /** Their mean, their sum, or each of them; 'mean' by default. */
  readonly reduction?: 'mean' | 'sum' | 'none' | undefined
}

/** Options of `nn.binaryCrossEntropy`. */
export interface BinaryCrossEntropyOptions<W extends DType = DType> extends LossOptions {
  /** How much each element counts; broadcasts to the shape. */
  readonly weight?: (Tensor<W> & Takes<'real', W>) | undefined
}

/** Options of `nn.binaryCrossEntropyWithLogits`. */
export interface BinaryCrossEntropyWithLogitsOptions<W extends DType = DType> extends LossOptions {
  /** How much each element counts; broadcasts to the shape. */
  readonly weight?: (Tensor<W> & Takes<'real', W>) | undefined
}

/** Options of `nn.smoothL1Loss`. */
export interface SmoothL1LossOptions extends LossOptions {
  /** The error at which squares become lines, from 0; 1 by default. */
  readonly beta?: number | undefined
}

/** Options of losses with a margin. */
export interface MarginLossOptions extends LossOptions {
  /** How far apart is far enough. */
  readonly margin?: number | undefined
}

/** Options of `nn.tripletMarginLoss`. */
export interface TripletMarginLossOptions extends MarginLossOptions {
  /** The order of the norm that measures distances, above 0; 2 by default. */
  readonly p?: number | undefined
  /** Whether the distance of positive and negative counts where it is smaller than that of anchor and negative; false by default. */
  readonly swap?: boolean | undefined
}

/** A loss by its elements. */
export function reduced(op: string, loss: Tensor, reduction: unknown = 'mean'): Tensor {
  if (reduction === 'mean') return loss.mean() as Tensor
  if (reduction === 'sum') return loss.sum() as Tensor
  if (reduction === 'none') return loss
  throw new ArgumentError(`${op}: 'reduction' must be 'mean', 'sum' or 'none', got ${shown(reduction)}`)
}

/** Real tensors of one shape: what broadcasts here is a mistake, as a column of targets beside a row of predictions. */
export function alike(op: string, given: Readonly<Record<string, unknown>>): Tensor[] {
  const tensors = Object.entries(given).map(([name, value]) => [name, tensorGiven(op, name, value)] as const)
  const [[first, x]] = tensors as [readonly [string, Tensor]]
  for (const [name, y] of tensors) {
    if (DTYPE[y.dtype].kind === 'complex') throw new DTypeError(`${op}: '${name}' must be real, got ${y.dtype}`)
    if (y.shape.join() !== x.shape.join()) throw new ShapeError(`${op}: '${first}' and '${name}' differ in shape: [${x.shape.join(', ')}] and [${y.shape.join(', ')}]`)
  }
  return tensors.map(([, y]) => y)
}

/** Tensors in the dtype that they promote to, float32 where that is no float. */
export function promoted(tensors: readonly Tensor[]): Tensor[] {
  const common = resultType(...tensors)
  const dtype = DTYPE[common].kind === 'float' ? common : 'float32'
  return tensors.map((x) => x.astype(dtype) as Tensor)
}

/** A factor beside a floating tensor: bool is 0 and 1. */
function factor(x: Tensor, beside: Tensor): Tensor {
  return x.dtype === 'bool' ? x.astype(beside.dtype) : x
}

/** A finite option. */
export function finite(op: string, name: string, value: unknown, least = -Infinity): number {
  const given = number(op, name, value)
  if (!Number.isFinite(given) || given < least) throw new ArgumentError(`${op}: '${name}' must be a finite number${least === -Infinity ? '' : ` of at least ${least}`}, got ${given}`)
  return given
}

/** PyTorch's bound for the logarithm of a probability of 0. */
const LEAST_LOG = -100

/** The slope there that PyTorch's gradient has, where the dtype holds it. */
const STEEPEST = 1e12

/** Logarithms of probabilities; of 0, and of what is smaller than normal numbers, the least. Nothing infinite is on the way back. */
function logOf(p: Tensor, log: (q: Tensor) => Tensor, whole: number): Tensor {
  const { smallestNormal, max } = DTYPE[p.dtype].float as FloatLimits
  const left = whole === 1 ? p : p.negative().add(1)
  const gone = logicalAnd(left.greaterEqual(0), left.less(smallestNormal))
  return where(gone, left.multiply(Math.min(STEEPEST, max)).add(LEAST_LOG), log(where(gone, whole, p) as Tensor)) as Tensor
}

/**
 * Cross entropy of probabilities `x` and targets from 0 to 1: the mean, or by `reduction` the sum or each loss. From logits it is
 * `nn.binaryCrossEntropyWithLogits`, which loses no digits.
 *
 * `mean of -w (target ln x + (1 - target) ln(1 - x))`
 *
 * PyTorch `nn.functional.binary_cross_entropy`. Logarithms are at least -100, where their slope is 1e12, as there; of probabilities outside [0, 1] it is NaN.
 *
 * @throws {TensorError} `ERR_SHAPE` for targets of another shape and weights that do not broadcast, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.binaryCrossEntropy(ft.tensor([0.5, 0.5]), ft.tensor([1, 0])) // 0.6931472
 * ```
 */
export function binaryCrossEntropy<A extends DType, B extends DType, W extends DType = 'bool'>(
  x: Tensor<A> & Takes<'real', A>,
  target: Tensor<B> & Takes<'real', B>,
  options?: BinaryCrossEntropyOptions<W>
): Tensor<FloatOf<Promote<Promote<A, B>, W>>> {
  const op = 'nn.binaryCrossEntropy'
  return within(op, () => {
    const { reduction, weight } = checkOptions(op, options, ['reduction', 'weight'])
    const [p, t] = alike(op, { x, target }) as [Tensor, Tensor]
    const share = floating(p)
    const positive = logOf(share, (q) => q.log() as Tensor, 1)
    const negative = logOf(share, (q) => q.negative().log1p() as Tensor, 0)
    const each = negative.add(factor(t, share).multiply(positive.subtract(negative))).negative() as Tensor
    return reduced(op, weight === undefined ? each : weighed(op, each, weight), reduction)
  }) as Tensor<FloatOf<Promote<Promote<A, B>, W>>>
}

/** A loss times what its elements count. */
function weighed(op: string, each: Tensor, weight: unknown): Tensor {
  return each.multiply(factor(tensorGiven(op, 'weight', weight), each).broadcastTo(each.shape)) as Tensor
}

/**
 * Cross entropy of probabilities, given by the logits x, and targets from 0 to 1, without overflow; positives weigh posWeight times as much: the
 * mean, or by `reduction` the sum or each loss.
 *
 * `mean of -w (posWeight target ln s + (1 - target) ln(1 - s)), s = 1 / (1 + e^-x)`
 *
 * Takes a real dtype; gives the promoted dtype, float32 for integers and bool. PyTorch `nn.functional.binary_cross_entropy_with_logits`.
 *
 * @param posWeight A real tensor that broadcasts to the shape.
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not go together, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.binaryCrossEntropyWithLogits(ft.tensor([0, 0]), ft.tensor([1, 0])) // 0.6931472
 * ```
 */
export function binaryCrossEntropyWithLogits<A extends DType, B extends DType, C extends DType = 'bool', W extends DType = 'bool'>(
  x: Tensor<A> & Takes<'real', A>,
  target: Tensor<B> & Takes<'real', B>,
  posWeight?: Tensor<C> & Takes<'real', C>,
  options?: BinaryCrossEntropyWithLogitsOptions<W>
): Tensor<FloatOf<Promote<Promote<Promote<A, B>, C>, W>>> {
  const op = 'nn.binaryCrossEntropyWithLogits'
  return within(op, () => {
    const { reduction, weight } = checkOptions(op, options, ['reduction', 'weight']) as BinaryCrossEntropyWithLogitsOptions
    if (weight === undefined) return crossEntropyOfLogits(x, target, posWeight, { reduction })
    return reduced(op, weighed(op, crossEntropyOfLogits(x, target, posWeight, { reduction: 'none' }) as Tensor, weight), reduction)
  }) as Tensor<FloatOf<Promote<Promote<Promote<A, B>, C>, W>>>
}

/**
 * Smooth L1 loss: quadratic for errors below beta, linear beyond; `huberLoss` with that delta, divided by it. The mean, or by `reduction` the
 * sum or each loss.
 *
 * `mean of e^2 / (2 beta) where |e| < beta, else |e| - beta / 2`, with `e = x - target`
 *
 * PyTorch `nn.functional.smooth_l1_loss`. With beta 0 it is `l1Loss`.
 *
 * @throws {TensorError} `ERR_SHAPE` for a target of another shape, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.smoothL1Loss(ft.tensor([1, 2]), ft.tensor([1.5, 4])) // 0.8125
 * ```
 */
export function smoothL1Loss<A extends DType, B extends DType>(x: Tensor<A> & Takes<'real', A>, target: Tensor<B> & Takes<'real', B>, options?: SmoothL1LossOptions): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.smoothL1Loss'
  return within(op, () => {
    const { reduction, beta = 1 } = checkOptions(op, options, ['reduction', 'beta'])
    const delta = finite(op, 'beta', beta, 0)
    const [given, wanted] = alike(op, { x, target }) as [Tensor<'float32'>, Tensor<'float32'>]
    const o = { reduction: reduction as 'mean' | undefined }
    return delta === 0 ? l1Loss(given, wanted, o) : huberLoss(given, wanted, { ...o, delta }).divide(delta)
  }) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}

/**
 * Hinge loss of scores `x` for targets 1 and -1: 0 where the score has the sign of its target and at least the size of the margin. The mean,
 * or by `reduction` the sum or each loss.
 *
 * `mean of max(0, margin - target x)`
 *
 * scikit-learn `hinge_loss`, Optax `hinge_loss`. The margin is 1 by default.
 *
 * @throws {TensorError} `ERR_SHAPE` for a target of another shape, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.hingeLoss(ft.tensor([0.5, 2]), ft.tensor([1, -1])) // 1.75
 * ```
 */
export function hingeLoss<A extends DType, B extends DType>(x: Tensor<A> & Takes<'real', A>, target: Tensor<B> & Takes<'integerOrFloat', B>, options?: MarginLossOptions): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.hingeLoss'
  return within(op, () => {
    const { reduction, margin = 1 } = checkOptions(op, options, ['reduction', 'margin'])
    const [scores, sides] = alike(op, { x, target }) as [Tensor, Tensor]
    return reduced(op, floating(scores).multiply(sides).negative().add(finite(op, 'margin', margin)).maximum(0) as Tensor, reduction)
  }) as Tensor<FloatOf<Promote<A, B>>>
}

/**
 * Hinge embedding loss of distances `x` between pairs: the distance where the pair belongs together (target 1), and the difference to the
 * margin where it does not (target -1) and is nearer than that. The mean, or by `reduction` the sum or each loss.
 *
 * `mean of x where target is 1, max(0, margin - x) where it is -1, else x + max(0, margin - x)`
 *
 * PyTorch `nn.functional.hinge_embedding_loss`. The margin is 1 by default.
 *
 * @throws {TensorError} `ERR_SHAPE` for a target of another shape, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.hingeEmbeddingLoss(ft.tensor([0.5, 0.25]), ft.tensor([1, -1])) // 0.625
 * ```
 */
export function hingeEmbeddingLoss<A extends DType>(x: Tensor<A> & Takes<'real', A>, target: Tensor, options?: MarginLossOptions): Tensor<FloatOf<A>> {
  const op = 'nn.hingeEmbeddingLoss'
  return within(op, () => {
    const { reduction, margin = 1 } = checkOptions(op, options, ['reduction', 'margin'])
    const [distances, sides] = alike(op, { x, target }) as [Tensor, Tensor]
    const short = floating(distances).negative().add(finite(op, 'margin', margin)).maximum(0)
    const each = where(sides.notEqual(1), short, 0).add(where(sides.notEqual(-1), floating(distances), 0)) as Tensor
    return reduced(op, each, reduction)
  }) as Tensor<FloatOf<A>>
}

/** Lengths squared, beside which an angle with a vector of zeros is none: PyTorch's number. */
const TINY = 1e-12

/**
 * Cosine embedding loss of two sets of vectors [..., features]: one minus the cosine of a pair that belongs together (target 1), and the
 * excess of the cosine over the margin for a pair that does not (target -1). The mean, or by `reduction` the sum or each loss.
 *
 * `mean of 1 - cos(x1, x2) where target is 1, max(0, cos(x1, x2) - margin) where it is -1`
 *
 * PyTorch `nn.functional.cosine_embedding_loss`. The margin is 0 by default.
 *
 * @throws {TensorError} `ERR_SHAPE` for vectors of two shapes and targets that are not one for each, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.cosineEmbeddingLoss(ft.tensor([[1, 0], [1, 0]]), ft.tensor([[0, 1], [2, 0]]), ft.tensor([1, -1])) // 1
 * ```
 */
export function cosineEmbeddingLoss<A extends DType, B extends DType>(
  x1: Tensor<A> & Takes<'real', A>,
  x2: Tensor<B> & Takes<'real', B>,
  target: Tensor,
  options?: MarginLossOptions
): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.cosineEmbeddingLoss'
  return within(op, () => {
    const { reduction, margin = 0 } = checkOptions(op, options, ['reduction', 'margin'])
    const [a, b] = alike(op, { x1, x2 }).map(floating) as [Tensor, Tensor]
    const sides = tensorGiven(op, 'target', target)
    if (a.ndim === 0 || sides.shape.join() !== a.shape.slice(0, -1).join()) {
      throw new ShapeError(`${op}: there must be one target for each vector of shape [${a.shape.join(', ')}], got shape [${sides.shape.join(', ')}]`)
    }
    const product = (x: Tensor, y: Tensor): Tensor => x.multiply(y).sum(-1) as Tensor
    const cosine = product(a, b).divide(product(a, a).add(TINY).multiply(product(b, b).add(TINY)).sqrt())
    const apart = cosine.subtract(finite(op, 'margin', margin)).maximum(0)
    return reduced(op, where(sides.equal(1), cosine.negative().add(1), where(sides.equal(-1), apart, 0)) as Tensor, reduction)
  }) as Tensor<FloatOf<Promote<A, B>>>
}

/** Keeps distances of equal vectors from 0, where they have no gradient: PyTorch's number. */
const APART = 1e-6

/**
 * Triplet margin loss of anchors, positives and negatives [..., features]: the distance to the positive plus the margin, less the distance to
 * the negative, and 0 where that is negative. The mean, or by `reduction` the sum or each loss.
 *
 * `mean of max(0, |anchor - positive + 1e-6|_p - |anchor - negative + 1e-6|_p + margin)`
 *
 * PyTorch `nn.functional.triplet_margin_loss`. The margin is 1 by default.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that differ and scalars, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.tripletMarginLoss(ft.tensor([[0, 0]]), ft.tensor([[3, 4]]), ft.tensor([[0, 2]])) // 4
 * ```
 */
export function tripletMarginLoss<A extends DType, B extends DType, C extends DType>(
  anchor: Tensor<A> & Takes<'real', A>,
  positive: Tensor<B> & Takes<'real', B>,
  negative: Tensor<C> & Takes<'real', C>,
  options?: TripletMarginLossOptions
): Tensor<FloatOf<Promote<Promote<A, B>, C>>> {
  const op = 'nn.tripletMarginLoss'
  return within(op, () => {
    const { reduction, margin = 1, p = 2, swap = false } = checkOptions(op, options, ['reduction', 'margin', 'p', 'swap'])
    if (typeof swap !== 'boolean') throw new ArgumentError(`${op}: 'swap' must be a boolean, got ${shown(swap)}`)
    const order = number(op, 'p', p)
    if (!(order > 0)) throw new ArgumentError(`${op}: 'p' must be above 0, got ${order}`)
    const [a, near, far] = alike(op, { anchor, positive, negative }).map(floating) as [Tensor, Tensor, Tensor]
    if (a.ndim === 0) throw new ShapeError(`${op}: scalars have no features`)
    const distance = (x: Tensor, y: Tensor): Tensor => vectorNorm(x.subtract(y).add(APART), { axis: -1, ord: order }) as Tensor
    const away = swap ? distance(a, far).minimum(distance(near, far)) : distance(a, far)
    return reduced(op, distance(a, near).subtract(away).add(finite(op, 'margin', margin)).maximum(0) as Tensor, reduction)
  }) as Tensor<FloatOf<Promote<Promote<A, B>, C>>>
}
