// Continuous distributions by the inverse of their integral, of exponential, normal and uniform numbers. Those in half floats are drawn in
// float32 and rounded once. Element i depends on the key, its parameters and i only.

import { checkOptions } from '../arguments/options.js'
import { shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { FloatDType } from '../generated/dtypes.js'
import { less, where } from '../generated/functions.js'
import type { Fits } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { gumbel, positive } from './distributions.js'
import { finite, keyGiven, normal, split, standardExponential, uniform, type Key } from './draw.js'
import { drawing, floatDType, parameter, POSITIVE, wide, type DrawnAs, type DTypeOfParameters, type GammaOptions, type Parameter } from './rejection.js'

/** Options of `laplace`, `cauchy` and `logistic`. */
export interface LocationScaleOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** The middle; 0 by default. */
  readonly location?: number | undefined
  /** Spread, above 0; 1 by default. */
  readonly scale?: number | undefined
}

/** Options of `lognormal`. */
export interface LognormalOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** Mean of the logarithm; 0 by default. */
  readonly mean?: number | undefined
  /** Standard deviation of the logarithm, at least 0; 1 by default. */
  readonly std?: number | undefined
}

/** Options of `rayleigh`. */
export interface RayleighOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** The most likely value, above 0; 1 by default. */
  readonly scale?: number | undefined
}

/** Options of `triangular`. */
export interface TriangularOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
}

/** What a draw in a wide dtype gives, in the dtype asked for. */
function drawn(op: string, key: Key, shape: unknown, dtype: unknown, draw: (sizes: readonly number[], dtype: DTypeOfParameters) => Tensor): Tensor {
  keyGiven(op, key)
  const asked = floatDType(op, dtype, [])
  return draw(shapeGiven(op, shape), wide(asked)).astype(asked)
}

/** true with probability a half. */
function half(key: Key, shape: readonly number[]): Tensor<'bool'> {
  return less(uniform(key, shape), 0.5)
}

/** A draw of a location and a scale, made of standard ones. */
function located<E extends FloatDType>(op: string, key: Key, shape: unknown, options: unknown, draw: (sizes: readonly number[], dtype: DTypeOfParameters) => Tensor): Tensor<E> {
  const o = checkOptions(op, options, ['dtype', 'location', 'scale'])
  const [location, scale] = [finite(op, 'location', o['location'], 0), positive(op, 'scale', o['scale'], 1)]
  return drawn(op, key, shape, o['dtype'], (sizes, dtype) => draw(sizes, dtype).multiply(scale).add(location) as Tensor) as Tensor<E>
}

/**
 * Draws from the Laplace distribution: exponential numbers of either sign, with the density e^-|x - location| / scale / (2 scale).
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a location that is not finite, or a scale that is not or not above 0.
 * @example
 * ```ts
 * ft.random.laplace(ft.random.key(1), [2, 3]).shape // [2, 3]
 * ```
 */
export function laplace<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: LocationScaleOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.laplace'
  return within(op, () =>
    located<E>(op, key, shape, options, (sizes, dtype) => {
      const [forWait, forSign] = split(key)
      const wait = standardExponential(forWait, sizes, dtype)
      return where(half(forSign, sizes), wait, wait.negative()) as Tensor
    })
  )
}

/**
 * Draws from the Cauchy distribution, which has no mean: location + scale tan(pi (u - 1/2)).
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a location that is not finite, or a scale that is not or not above 0.
 * @example
 * ```ts
 * ft.random.cauchy(ft.random.key(1), [2, 3]).shape // [2, 3]
 * ```
 */
export function cauchy<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: LocationScaleOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.cauchy'
  return within(op, () =>
    located<E>(op, key, shape, options, (sizes, dtype) => {
      const [forSize, forSign] = split(key)
      // The angle from the pole, in (0, pi / 2]: near the pole itself a tangent has no digits.
      const size = uniform(forSize, sizes, { dtype }).negative().add(1).multiply(Math.PI / 2).tan().reciprocal()
      return where(half(forSign, sizes), size, size.negative()) as Tensor
    })
  )
}

/**
 * Draws from the logistic distribution: location + scale ln(u / (1 - u)), as the difference of two Gumbel numbers, which reaches further.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a location that is not finite, or a scale that is not or not above 0.
 * @example
 * ```ts
 * ft.random.logistic(ft.random.key(1), [2, 3]).shape // [2, 3]
 * ```
 */
export function logistic<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: LocationScaleOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.logistic'
  return within(op, () =>
    located<E>(op, key, shape, options, (sizes, dtype) => {
      const [first, second] = split(key)
      return gumbel(first, sizes, { dtype }).subtract(gumbel(second, sizes, { dtype })) as Tensor
    })
  )
}

/**
 * Draws from the log-normal distribution: numbers whose logarithm is normally distributed.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a mean that is not finite, or a standard deviation that is not or is negative.
 * @example
 * ```ts
 * ft.random.lognormal(ft.random.key(1), [3], { std: 0 }) // [1, 1, 1]
 * ```
 */
export function lognormal<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: LognormalOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.lognormal'
  return within(op, () => {
    const { dtype, mean, std } = checkOptions(op, options, ['dtype', 'mean', 'std']) as LognormalOptions
    return drawn(op, key, shape, dtype, (sizes, d) => normal(key, sizes, { dtype: d, mean, std }).exp()) as Tensor<E>
  })
}

/**
 * Draws from the Rayleigh distribution, that of the lengths of normal vectors of two features: scale sqrt(-2 ln u).
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a scale that is not finite or not above 0.
 * @example
 * ```ts
 * ft.random.rayleigh(ft.random.key(1), [2, 3]).shape // [2, 3]
 * ```
 */
export function rayleigh<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: RayleighOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.rayleigh'
  return within(op, () => {
    const o = checkOptions(op, options, ['dtype', 'scale'])
    const scale = positive(op, 'scale', o['scale'], 1)
    return drawn(op, key, shape, o['dtype'], (sizes, dtype) => standardExponential(key, sizes, dtype).multiply(2).sqrt().multiply(scale) as Tensor) as Tensor<E>
  })
}

/**
 * Numbers from `left` to `right`, the likelier the nearer to `mode`, in a straight line on both sides.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for numbers that are not finite or not in order, and an empty range.
 * @example
 * ```ts
 * ft.random.triangular(ft.random.key(1), -1, 0, 3, [100]).lessEqual(3).all() // true
 * ```
 */
export function triangular<E extends FloatDType = 'float32'>(
  key: Key,
  left: number,
  mode: number,
  right: number,
  shape: readonly number[],
  options?: TriangularOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.triangular'
  return within(op, () => {
    keyGiven(op, key)
    const { dtype } = checkOptions(op, options, ['dtype'])
    const ends = [['left', left], ['mode', mode], ['right', right]] as const
    for (const [name, value] of ends) {
      if (!Number.isFinite(value)) throw new ArgumentError(`${op}: '${name}' must be a finite number, got ${shown(value)}`)
    }
    if (!(left <= mode && mode <= right && left < right)) throw new ArgumentError(`${op}: left ${left}, mode ${mode} and right ${right} must be in order, left below right`)
    // Halves, since the span of two numbers may overflow.
    const share = (mode / 2 - left / 2) / (right / 2 - left / 2)
    return drawn(op, key, shape, dtype, (sizes, d) => {
      const u = uniform(key, sizes, { dtype: d }) as Tensor
      const [below, above] = [u.multiply(share).sqrt(), u.negative().add(1).multiply(1 - share).sqrt().negative().add(1)]
      const t = where(u.less(share), below, above) as Tensor
      return t.negative().add(1).multiply(left).add(t.multiply(right)).clip(left, right) as Tensor
    }) as Tensor<E>
  })
}

/** A draw by a parameter above 0, NaN where its elements are not, made of exponential numbers. */
function shaped<E extends FloatDType>(op: string, key: Key, a: Parameter, shape: unknown, options: unknown, draw: (wait: Tensor, a: Tensor) => Tensor): Tensor<E> {
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [a])
    const sizes = shapeGiven(op, shape)
    const own = parameter(op, 'a', a, POSITIVE, key, sizes, wide(dtype))
    return where(own.greater(0), draw(standardExponential(key, sizes, wide(dtype)), own), NaN).astype(dtype) as Tensor<E>
  })
}

/**
 * Draws from the Weibull distribution with shape `a` and scale 1: (-ln u)^(1 / a).
 *
 * @param a Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.weibull(ft.random.key(1), 2, [3, 4]).shape // [3, 4]
 * ```
 */
export function weibull<A extends Parameter, E extends FloatDType = DrawnAs<A>>(key: Key, a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
  return shaped('random.weibull', key, a, shape, options, (wait, own) => wait.pow(own.reciprocal()))
}

/**
 * Draws from the Pareto distribution of the second kind (Lomax), as NumPy's: u^(-1 / a) - 1. Those of the first kind are 1 more.
 *
 * @param a Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.pareto(ft.random.key(1), 3, [3, 4]).shape // [3, 4]
 * ```
 */
export function pareto<A extends Parameter, E extends FloatDType = DrawnAs<A>>(key: Key, a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
  return shaped('random.pareto', key, a, shape, options, (wait, own) => wait.divide(own).expm1())
}

/**
 * Numbers from 0 to 1 with the density a x^(a - 1): u^(1 / a).
 *
 * @param a Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.power(ft.random.key(1), 3, [100]).lessEqual(1).all() // true
 * ```
 */
export function power<A extends Parameter, E extends FloatDType = DrawnAs<A>>(key: Key, a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
  return shaped('random.power', key, a, shape, options, (wait, own) => wait.divide(own).negative().exp())
}

/**
 * Draws from the inverse Gaussian (Wald) distribution with a mean and a shape `scale`: when a motion at random, which drifts, first reaches a point (Michael, Schucany and Haas,
 * "Generating random variates using transformations with multiple roots", 1976).
 *
 * @param mean Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @param scale As `mean`.
 * @throws {TensorError} `ERR_ARGUMENT` for numbers that are not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.wald(ft.random.key(1), 3, 2, [3, 4]).shape // [3, 4]
 * ```
 */
export function wald<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
  key: Key,
  mean: A & Fits<'real', A>,
  scale: B & Fits<'real', B>,
  shape: readonly number[],
  options?: GammaOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.wald'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [mean, scale])
    const sizes = shapeGiven(op, shape)
    const [m, s] = [parameter(op, 'mean', mean, POSITIVE, key, sizes, wide(dtype)), parameter(op, 'scale', scale, POSITIVE, key, sizes, wide(dtype))]
    const [forRoots, forChoice] = split(key)
    // Both roots' product is the square of the mean: neither loses digits to a difference.
    const d = normal(forRoots, sizes, { dtype: wide(dtype) }).square().multiply(m).divide(s.multiply(2))
    const ratio = d.add(1).add(d.multiply(d.add(2)).sqrt())
    const isSmaller = uniform(forChoice, sizes, { dtype: wide(dtype) }).multiply(ratio.reciprocal().add(1)).lessEqual(1)
    const drawn = where(isSmaller, m.divide(ratio), m.multiply(ratio))
    return where(m.greater(0).logicalAnd(s.greater(0)), drawn, NaN).astype(dtype) as Tensor<E>
  })
}
