// The optimisers. Formulas and defaults are PyTorch's, but for lion, which it does not have.

import { finfo } from '../arrays/dtypes.js'
import type { FloatDType } from '../generated/dtypes.js'
import { maximum, zeros as zerosOf } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'
import { learningRate, numbers, optimizer, zeros, type Optimizer, type Schedule, type Slot } from './optimizer.js'

/** What most optimisers are told. */
export interface Rated {
  /** Step size, or a function of the step's number. */
  readonly learningRate?: Schedule
  /** How much of a parameter is added to its gradient; 0 by default. */
  readonly weightDecay?: number
}

/** Options of `optim.sgd`. */
export interface SgdOptions extends Rated {
  /** Share of the last direction that stays; 0 by default. */
  readonly momentum?: number
  /** Look ahead along the direction (Nesterov); false by default. */
  readonly nesterov?: boolean
}

/**
 * Stochastic gradient descent: `d = g + weightDecay p`, `m = momentum m + d`, `p = p - learningRate m`; with `nesterov` the step is along
 * `d + momentum m`. PyTorch `optim.SGD`. The learning rate is 0.001 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function sgd(options: SgdOptions = {}): Optimizer {
  const name = 'optim.sgd'
  const { momentum, weightDecay } = numbers(name, options, { momentum: [0, 0, 1], weightDecay: [0, 0, Infinity] }, ['nesterov'])
  const slots: readonly Slot[] = momentum === 0 ? [] : [zeros('momentum')]
  return optimizer(name, learningRate(name, options, 1e-3), slots, (rate) => [rate], (p, g, [m], [rate]) => {
    const d = weightDecay === 0 ? g : g.add(p.mul(weightDecay))
    if (m === undefined) return [p.sub(d.mul(rate))]
    const next = m.mul(momentum).add(d)
    const direction = options.nesterov === true ? d.add(next.mul(momentum)) : next
    return [p.sub(direction.mul(rate)), next]
  })
}

/** Options of `optim.rmsprop`. */
export interface RmspropOptions extends Rated {
  /** Share of the last average of squares that stays; 0.99 by default. */
  readonly decay?: number
  /** Added to the root; 1e-8 by default. */
  readonly eps?: number
  /** Share of the last direction that stays; 0 by default. */
  readonly momentum?: number
}

/**
 * Gradients divided by the root of their mean square: `v = decay v + (1 - decay) g^2`, `p = p - learningRate g / (sqrt v + eps)`. PyTorch
 * `optim.RMSprop`. The learning rate is 0.01 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function rmsprop(options: RmspropOptions = {}): Optimizer {
  const name = 'optim.rmsprop'
  const { decay, eps, momentum, weightDecay } = numbers(name, options, {
    decay: [0.99, 0, 1],
    eps: [1e-8, 0, Infinity],
    momentum: [0, 0, 1],
    weightDecay: [0, 0, Infinity]
  })
  const slots: readonly Slot[] = momentum === 0 ? [zeros('square')] : [zeros('square'), zeros('momentum')]
  return optimizer(name, learningRate(name, options, 1e-2), slots, (rate) => [rate], (p, g, [v, m], [rate]) => {
    const d = weightDecay === 0 ? g : g.add(p.mul(weightDecay))
    const square = (v as Tensor).mul(decay).add(d.square().mul(1 - decay))
    const direction = d.div(square.sqrt().add(eps))
    if (m === undefined) return [p.sub(direction.mul(rate)), square]
    const next = m.mul(momentum).add(direction)
    return [p.sub(next.mul(rate)), square, next]
  })
}

/** Options of `optim.adam` and `optim.adamw`. */
export interface AdamOptions extends Rated {
  /** Share of the last mean that stays; 0.9 by default. */
  readonly beta1?: number
  /** Share of the last mean square that stays; 0.999 by default. */
  readonly beta2?: number
  /** Added to the root; 1e-8 by default. */
  readonly eps?: number
}

function adaptive(name: string, options: AdamOptions, decoupled: boolean, decay: number): Optimizer {
  const { beta1, beta2, eps, weightDecay } = numbers(name, options, {
    beta1: [0.9, 0, 1],
    beta2: [0.999, 0, 1],
    eps: [1e-8, 0, Infinity],
    weightDecay: [decay, 0, Infinity]
  })
  // What both averages lack for having started at zero; what decay leaves of a parameter.
  const corrected = (rate: number, count: number) => [rate / (1 - beta1 ** count), 1 - rate * weightDecay, Math.sqrt(1 - beta2 ** count)] as const
  return optimizer(name, learningRate(name, options, 1e-3), [zeros('mean'), zeros('square')], corrected, (p, g, [m, v], [rate, kept, scale]) => {
    const before = decoupled && weightDecay !== 0 ? p.mul(kept) : p
    const d = decoupled || weightDecay === 0 ? g : g.add(p.mul(weightDecay))
    const mean = (m as Tensor).mul(beta1).add(d.mul(1 - beta1))
    const square = (v as Tensor).mul(beta2).add(d.square().mul(1 - beta2))
    const root = square.sqrt().div(scale).add(eps)
    return [before.sub(mean.div(root).mul(rate)), mean, square]
  })
}

/**
 * Adam (Kingma and Ba, 2015): the mean of gradients divided by the root of their mean square, both corrected for their start at zero; `weightDecay` is
 * added to the gradient. PyTorch `optim.Adam`. The learning rate is 0.001 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function adam(options: AdamOptions = {}): Optimizer {
  return adaptive('optim.adam', options, false, 0)
}

/**
 * Adam with decoupled weight decay (Loshchilov and Hutter, 2019): parameters shrink by `learningRate weightDecay` apart from the gradient.
 * `weightDecay` is 0.01 by default. PyTorch `optim.AdamW`.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function adamw(options: AdamOptions = {}): Optimizer {
  return adaptive('optim.adamw', options, true, 1e-2)
}

/** Options of `optim.lion`. */
export interface LionOptions extends Rated {
  /** Weight of the mean in the direction; 0.9 by default. */
  readonly beta1?: number
  /** Share of the last mean that stays; 0.99 by default. */
  readonly beta2?: number
}

/**
 * Lion (Chen et al., "Symbolic discovery of optimization algorithms", 2023): steps of one size along the signs of
 * `beta1 m + (1 - beta1) g`, with decoupled weight decay. The learning rate is 0.0001 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function lion(options: LionOptions = {}): Optimizer {
  const name = 'optim.lion'
  const { beta1, beta2, weightDecay } = numbers(name, options, { beta1: [0.9, 0, 1], beta2: [0.99, 0, 1], weightDecay: [0, 0, Infinity] })
  return optimizer(name, learningRate(name, options, 1e-4), [zeros('mean')], (rate) => [rate, 1 - rate * weightDecay], (p, g, [m], [rate, kept]) => {
    const direction = (m as Tensor).mul(beta1).add(g.mul(1 - beta1)).sign()
    const before = weightDecay === 0 ? p : p.mul(kept)
    return [before.sub(direction.mul(rate)), (m as Tensor).mul(beta2).add(g.mul(1 - beta2))]
  })
}

/** Options of `optim.adafactor`. */
export interface AdafactorOptions extends Rated {
  /** Exponent of the step's number in the decay of mean squares; -0.8 by default. */
  readonly decayExponent?: number
  /** The least size of parameters that steps are relative to; 0.001 by default. */
  readonly eps?: number
  /** Largest root mean square of an update; 1 by default. */
  readonly threshold?: number
}

/**
 * Adafactor (Shazeer and Stern, 2018): Adam's mean squares of matrices kept as a row and a column, steps relative to the parameters' size.
 * PyTorch `optim.Adafactor`. The learning rate, 0.01 by default, is the most that a step may be of a parameter's size.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function adafactor(options: AdafactorOptions = {}): Optimizer {
  const name = 'optim.adafactor'
  const { decayExponent, eps, threshold, weightDecay } = numbers(name, options, {
    decayExponent: [-0.8, -Infinity, 0],
    eps: [1e-3, 0, Infinity],
    threshold: [1, 1, Infinity],
    weightDecay: [0, 0, Infinity]
  })
  // A vector has its squares in `rows`, and one zero in `columns`.
  const part = (axis: number, p: Tensor): Tensor => {
    const shape = p.ndim < 2 ? (axis === -1 ? p.shape : []) : p.shape.map((d, n) => (n === p.ndim + axis ? 1 : d))
    return zerosOf(shape, { dtype: p.dtype, device: p.device })
  }
  const slots: readonly Slot[] = [['rows', (p) => part(-1, p)], ['columns', (p) => part(-2, p)]]
  const relative = (rate: number, count: number) => [Math.min(rate, 1 / Math.sqrt(count)), 1 - rate * weightDecay, count ** decayExponent] as const
  return optimizer(name, learningRate(name, options, 1e-2), slots, relative, (p, g, [r, c], [rate, kept, share]) => {
    const least = finfo(p.dtype as FloatDType).eps
    const size = (x: Tensor): Tensor => x.square().mean().sqrt()
    const moved = (from: Tensor, to: Tensor): Tensor => from.add(to.sub(from).mul(share))
    const alpha = maximum(size(p), eps).mul(rate)
    const before = weightDecay === 0 ? p : p.mul(kept)
    const [rows, columns] = [r as Tensor, c as Tensor]
    const nextRows = moved(rows, p.ndim < 2 ? g.square() : g.square().mean({ axis: -1, keepdims: true }))
    const nextColumns = p.ndim < 2 ? columns : moved(columns, g.square().mean({ axis: -2, keepdims: true }))
    const estimate = p.ndim < 2 ? nextRows : nextRows.matmul(nextColumns).div(maximum(nextRows.mean({ axis: -2, keepdims: true }), least))
    const update = g.mul(maximum(estimate, least ** 2).rsqrt())
    const step = alpha.div(maximum(size(update).div(threshold), 1))
    return [before.sub(update.mul(step)), nextRows, nextColumns]
  })
}
