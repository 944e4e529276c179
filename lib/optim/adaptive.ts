// Optimisers that go by sums and means of squares, beside those of `rules.ts`. Formulas and defaults are PyTorch's.

import type { FloatDType } from '../generated/dtypes.js'
import { full, where } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'
import { learningRate, numbers, optimizer, zeros, type Optimizer } from './optimizer.js'
import type { AdamOptions, Rated } from './rules.js'

/** A gradient with its decay. */
function decayed(p: Tensor, g: Tensor, weightDecay: number): Tensor {
  return weightDecay === 0 ? g : g.add(p.mul(weightDecay))
}

/** A running mean. */
function moved(mean: Tensor, x: Tensor, beta: number): Tensor {
  return mean.mul(beta).add(x.mul(1 - beta))
}

/** Options of `optim.adagrad`. */
export interface AdagradOptions extends Rated {
  /** How fast steps become smaller, as `rate / (1 + step learningRateDecay)`; 0 by default. */
  readonly learningRateDecay?: number
  /** What sums of squares start from; 0 by default. */
  readonly initialAccumulator?: number
  /** Added to the root; 1e-10 by default. */
  readonly eps?: number
}

/**
 * Adagrad (Duchi, Hazan and Singer, 2011): gradients divided by the root of the sum of their squares, `s = s + g^2`,
 * `p = p - learningRate g / (sqrt s + eps)`. PyTorch `optim.Adagrad`. The learning rate is 0.01 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function adagrad(options: AdagradOptions = {}): Optimizer {
  const name = 'optim.adagrad'
  const { learningRateDecay, initialAccumulator, eps, weightDecay } = numbers(name, options, {
    learningRateDecay: [0, 0, Infinity],
    initialAccumulator: [0, 0, Infinity],
    eps: [1e-10, 0, Infinity],
    weightDecay: [0, 0, Infinity]
  })
  const start = (p: Tensor): Tensor => full(p.shape, initialAccumulator, { dtype: p.dtype as FloatDType, device: p.device }) as Tensor
  const rates = (rate: number, count: number) => [rate / (1 + (count - 1) * learningRateDecay)] as const
  return optimizer(name, learningRate(name, options, 1e-2), [['sum', start]], rates, (p, g, [s], [rate]) => {
    const d = decayed(p, g, weightDecay)
    const sum = (s as Tensor).add(d.square())
    return [p.sub(d.div(sum.sqrt().add(eps)).mul(rate)), sum]
  })
}

/** Options of `optim.adadelta`. */
export interface AdadeltaOptions extends Rated {
  /** Share of the last averages that stays, PyTorch's `rho`; 0.9 by default. */
  readonly decay?: number
  /** Added to means of squares; 1e-6 by default. */
  readonly eps?: number
}

/**
 * Adadelta (Zeiler, 2012): gradients divided by the root of their mean square, times that of the steps before. PyTorch `optim.Adadelta`. The learning rate,
 * a factor of each step, is 1 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function adadelta(options: AdadeltaOptions = {}): Optimizer {
  const name = 'optim.adadelta'
  const { decay, eps, weightDecay } = numbers(name, options, { decay: [0.9, 0, 1], eps: [1e-6, 0, Infinity], weightDecay: [0, 0, Infinity] })
  return optimizer(name, learningRate(name, options, 1), [zeros('square'), zeros('step')], (rate) => [rate], (p, g, [v, u], [rate]) => {
    const d = decayed(p, g, weightDecay)
    const square = moved(v as Tensor, d.square(), decay)
    const step = (u as Tensor).add(eps).sqrt().div(square.add(eps).sqrt()).mul(d)
    return [p.sub(step.mul(rate)), square, moved(u as Tensor, step.square(), decay)]
  })
}

/**
 * Adamax (Kingma and Ba, 2015): Adam with the largest gradient of late, `u = max(beta2 u, |g| + eps)`, in place of the root of the mean square.
 * PyTorch `optim.Adamax`. The learning rate is 0.002 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function adamax(options: AdamOptions = {}): Optimizer {
  const name = 'optim.adamax'
  const { beta1, beta2, eps, weightDecay } = numbers(name, options, { beta1: [0.9, 0, 1], beta2: [0.999, 0, 1], eps: [1e-8, 0, Infinity], weightDecay: [0, 0, Infinity] })
  const rates = (rate: number, count: number) => [rate / (1 - beta1 ** count)] as const
  return optimizer(name, learningRate(name, options, 2e-3), [zeros('mean'), zeros('largest')], rates, (p, g, [m, u], [rate]) => {
    const d = decayed(p, g, weightDecay)
    const mean = moved(m as Tensor, d, beta1)
    const largest = (u as Tensor).mul(beta2).maximum(d.abs().add(eps)) as Tensor
    return [p.sub(mean.div(largest).mul(rate)), mean, largest]
  })
}

/** Options of `optim.nadam`. */
export interface NadamOptions extends AdamOptions {
  /** How fast momentum reaches `beta1`; 0.004 by default. */
  readonly momentumDecay?: number
}

/** Momenta that are multiplied one by one; those of later steps are as good as the last. */
const MOST_MOMENTA = 2 ** 20

/**
 * NAdam (Dozat, 2016): Adam that looks ahead along its mean (Nesterov), with a momentum that grows from half of `beta1` to all of it. PyTorch
 * `optim.NAdam`. The learning rate is 0.002 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function nadam(options: NadamOptions = {}): Optimizer {
  const name = 'optim.nadam'
  const { beta1, beta2, eps, weightDecay, momentumDecay } = numbers(name, options, {
    beta1: [0.9, 0, 1],
    beta2: [0.999, 0, 1],
    eps: [1e-8, 0, Infinity],
    weightDecay: [0, 0, Infinity],
    momentumDecay: [4e-3, 0, Infinity]
  })
  const momentum = (count: number): number => beta1 * (1 - 0.5 * 0.96 ** (count * momentumDecay))
  // The product of all momenta up to a step, from that of the last step that was asked for.
  let [known, all] = [0, 1]
  const product = (count: number): number => {
    if (count < known) [known, all] = [0, 1]
    const end = Math.min(count, known + MOST_MOMENTA)
    while (known < end && all > 0) all *= momentum(++known)
    return known < count && all > 0 ? all * momentum(count) ** (count - known) : all
  }
  const rates = (rate: number, count: number) => {
    const [now, next, passed] = [momentum(count), momentum(count + 1), product(count)]
    return [(rate * (1 - now)) / (1 - passed), (rate * next) / (1 - passed * next), Math.sqrt(1 - beta2 ** count)] as const
  }
  return optimizer(name, learningRate(name, options, 2e-3), [zeros('mean'), zeros('square')], rates, (p, g, [m, v], [own, ahead, scale]) => {
    const d = decayed(p, g, weightDecay)
    const [mean, square] = [moved(m as Tensor, d, beta1), moved(v as Tensor, d.square(), beta2)]
    const root = square.sqrt().div(scale).add(eps)
    return [p.sub(d.mul(own).add(mean.mul(ahead)).div(root)), mean, square]
  })
}

/**
 * RAdam (Liu et al., "On the variance of the adaptive learning rate and beyond", 2020): Adam whose first steps go by the mean alone, until its
 * mean squares are known well enough. PyTorch `optim.RAdam`. The learning rate is 0.001 by default.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function radam(options: AdamOptions = {}): Optimizer {
  const name = 'optim.radam'
  const { beta1, beta2, eps, weightDecay } = numbers(name, options, { beta1: [0.9, 0, 1], beta2: [0.999, 0, 1], eps: [1e-8, 0, Infinity], weightDecay: [0, 0, Infinity] })
  const longest = 2 / (1 - beta2) - 1
  const rates = (rate: number, count: number) => {
    const left = 1 - beta2 ** count
    const length = longest - (2 * count * beta2 ** count) / left
    const own = rate / (1 - beta1 ** count)
    // Below, the variance of the mean square is not known.
    if (!(length > 5)) return [own, 0] as const
    const rectified = Math.sqrt(((length - 4) * (length - 2) * longest) / ((longest - 4) * (longest - 2) * length))
    return [0, own * rectified * Math.sqrt(left)] as const
  }
  return optimizer(name, learningRate(name, options, 1e-3), [zeros('mean'), zeros('square')], rates, (p, g, [m, v], [plain, adaptive]) => {
    const d = decayed(p, g, weightDecay)
    const [mean, square] = [moved(m as Tensor, d, beta1), moved(v as Tensor, d.square(), beta2)]
    const root = square.sqrt().add(eps)
    // Without eps the mean is 0 where its square is.
    return [p.sub(mean.mul(plain)).sub(mean.div(where(root.equal(0), 1, root)).mul(adaptive)), mean, square]
  })
}
