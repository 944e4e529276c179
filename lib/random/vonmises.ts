// Angles about a direction: the von Mises distribution.

import { checkOptions } from '../arguments/options.js'
import { shapeGiven } from '../arguments/validate.js'
import type { FloatDType } from '../generated/dtypes.js'
import { full, less, where } from '../generated/functions.js'
import type { Fits } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { fold, keyGiven, normal, split, standardExponential, uniform, type Key } from './draw.js'
import { ANY, drawing, firstAccepted, floatDType, NOT_NEGATIVE, parameter, type DrawnAs, type GammaOptions, type Parameter } from './rejection.js'

/** A proposal is rejected with a probability of at most 0.3423 (for a large kappa): eighteen are with 4e-9. */
const ROUNDS = 18

/** From here on the distribution is a normal one of variance 1 / kappa: their densities differ by less than 1e-6 of themselves. */
const NARROW = 1e6

/** Below, the terms of the proposal cancel: its parameter is 1 / kappa + kappa, to kappa^3. */
const WIDE = 1e-5

/** Deviations from the direction (Best and Fisher, "Efficient simulation of the von Mises distribution", 1979), in float64. */
function deviations(key: Key, kappa: Tensor, sizes: readonly number[]): Tensor {
  const [forSign, forProposals] = split(key)
  // What is not in this range is drawn otherwise, and must not be NaN here.
  const k = kappa.clip(WIDE, NARROW)
  const tau = k.square().multiply(4).add(1).sqrt().add(1)
  const rho = tau.subtract(tau.multiply(2).sqrt()).divide(k.multiply(2))
  const exact = rho.square().add(1).divide(rho.multiply(2))
  const held = kappa.clip(1e-300, NARROW)
  const r = where(kappa.less(WIDE), held.reciprocal().add(held), exact) as Tensor
  const angle = firstAccepted(forProposals, ROUNDS, full(sizes, 0, { dtype: 'float64', device: key.device }) as Tensor, (round) => {
    const [forPlace, forHeight] = split(round)
    const z = uniform(forPlace, sizes, { dtype: 'float64' }).multiply(Math.PI).cos()
    const cosine = z.multiply(r).add(1).divide(r.add(z)).clip(-1, 1) as Tensor
    const c = held.multiply(r.subtract(cosine)) as Tensor
    const height = standardExponential(forHeight, sizes, 'float64')
    return { value: cosine.acos() as Tensor, accepted: c.log().add(height).add(1).greaterEqual(c) as Tensor }
  })
  const side = where(less(uniform(forSign, sizes), 0.5), angle, angle.negative())
  const near = normal(fold(key, 2), sizes, { dtype: 'float64' }).multiply(kappa.maximum(NARROW).rsqrt())
  return where(kappa.less(NARROW), side, near) as Tensor
}

/**
 * Draws from the von Mises distribution: angles from -pi to pi around `mu`, with a density proportional to e^(kappa cos(x - mu)). A larger `kappa`
 * concentrates them; with a kappa of 0 they are uniform. Drawn in float64.
 *
 * @param mu The direction, an angle: a number, or a tensor that broadcasts to the shape.
 * @param kappa At least 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are negative.
 * @throws {TensorError} `ERR_ARGUMENT` for numbers out of range, `ERR_SHAPE` for a tensor that does not broadcast to the shape, `ERR_DTYPE` for
 * a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.vonmises(ft.random.key(1), 0, 4, [3, 4]).shape // [3, 4]
 * ```
 */
export function vonmises<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
  key: Key,
  mu: A & Fits<'real', A>,
  kappa: B & Fits<'real', B>,
  shape: readonly number[],
  options?: GammaOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.vonmises'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [mu, kappa])
    const sizes = shapeGiven(op, shape)
    const direction = parameter(op, 'mu', mu, ANY, key, sizes, 'float64')
    const narrow = parameter(op, 'kappa', kappa, NOT_NEGATIVE, key, sizes, 'float64')
    const angle = deviations(key, narrow, sizes).add(direction)
    const turned = angle.subtract(angle.divide(2 * Math.PI).round().multiply(2 * Math.PI))
    return where(narrow.greaterEqual(0), turned.clip(-Math.PI, Math.PI), NaN).astype(dtype) as Tensor<E>
  })
}
