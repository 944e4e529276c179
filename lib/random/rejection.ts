// Gamma, beta, Poisson and binomial numbers. Where they are drawn by proposing and rejecting, lanes cannot wait for each other, so
// every element gets the same number of proposals and keeps its first accepted one; where none is, which happens with the probability
// said at each number of rounds, a gamma number is a - 1/3 and a count the mode. Counts of small means are found by adding up
// probabilities, those of numbers in a table. Element i of a result depends on the key, its parameters and i only.

import { checkOptions } from '../arguments/options.js'
import { dtypeOption, shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type FloatDType, type IntegerDType } from '../generated/dtypes.js'
import { full, logicalAnd, maximum, where } from '../generated/functions.js'
import { undetected } from '../program/hooks.js'
import { isTensor } from '../program/node.js'
import type { Fits } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { tensor } from '../values/create.js'
import { fold, keyGiven, normal, overShape, realGiven, split, standardExponential, uniform, type Key } from './draw.js'

/** Options of `gamma`, `beta` and other draws of real numbers by parameters. */
export interface GammaOptions<E extends FloatDType = FloatDType> {
  /** The dtype; that of a floating parameter by default, or float32. */
  readonly dtype?: E | undefined
}

/** Options of `poisson`, `binomial` and other counts. */
export interface CountOptions<E extends IntegerDType = IntegerDType> {
  /** The dtype; int32 by default. */
  readonly dtype?: E | undefined
}

/** A parameter of a distribution. */
export type Parameter = number | Tensor

/** The dtype of numbers drawn by a parameter: that of a floating tensor, otherwise `D`. */
export type DrawnAs<P, D extends FloatDType = 'float32'> = P extends Tensor<infer E> ? (E extends FloatDType ? E : D) : D

/** What a number must be beside finite, as a test and in words. */
type Range = readonly [test: (x: number) => boolean, words: string]

export const ANY: Range = [() => true, 'a finite number']
export const POSITIVE: Range = [(x) => x > 0, 'a number above 0']
export const NOT_NEGATIVE: Range = [(x) => x >= 0, 'a number of at least 0']
const PROBABILITY: Range = [(x) => x >= 0 && x <= 1, 'a number from 0 to 1']
export const POSITIVE_PROBABILITY: Range = [(x) => x > 0 && x <= 1, 'a number above 0, up to 1']
export const COUNT: Range = [(x) => Number.isSafeInteger(x) && x >= 0, 'an integer from 0 to 2^53 - 1']

/** As `within`; what a proposal that is rejected comes to may be NaN. */
export const drawing = <T>(op: string, body: () => T): T => within(op, () => undetected(body))

/** A parameter in a dtype: a number of its range, or a tensor, whose elements nobody looks at, over the whole shape. */
export function parameter(op: string, name: string, value: unknown, [test, words]: Range, key: Key, shape: readonly number[], dtype: DTypeOfParameters): Tensor {
  if (isTensor(value)) {
    return overShape(op, name, realGiven(op, name, value), shape).astype(dtype)
  }
  if (typeof value !== 'number' || !Number.isFinite(value) || !test(value)) {
    throw new ArgumentError(`${op}: '${name}' must be a tensor or ${words}, got ${shown(value)}`)
  }
  // A number that is above 0 does not become 0.
  const held = dtype === 'float32' && !test(Math.fround(value)) ? 2 ** -149 : value
  return full([], held, { dtype, device: key.device })
}

export type DTypeOfParameters = 'float32' | 'float64'

/** The first accepted of some proposals, each under a key of its own, or `otherwise`. */
export function firstAccepted(key: Key, rounds: number, otherwise: Tensor, propose: (key: Key) => { value: Tensor; accepted: Tensor }): Tensor {
  let chosen = otherwise
  for (let round = rounds - 1; round >= 0; round--) {
    const { value, accepted } = propose(fold(key, round))
    chosen = where(accepted, value, chosen)
  }
  return chosen
}

/** A proposal is rejected with a probability of at most 0.048 (at a = 1): six are with 1.3e-8. */
const GAMMA_ROUNDS = 6

/**
 * Draws from the gamma distribution with concentration `a` as d (1 + w)^3 e^-boost (Marsaglia and Tsang, "A simple method for generating gamma variables",
 * 2000): below a concentration of 1, those of a + 1 times U^(1/a).
 */
export function gammaParts(key: Key, a: Tensor, shape: readonly number[]): { d: Tensor; w: Tensor; boost: Tensor } {
  const dtype = a.dtype as DTypeOfParameters
  const [forProposals, forBoost] = split(key)
  const small = a.less(1)
  const d = where(small, a.add(1), a).subtract(1 / 3)
  const c = d.multiply(9).rsqrt()
  const start = full(shape, 0, { dtype, device: key.device })
  const w = firstAccepted(forProposals, GAMMA_ROUNDS, start, (round) => {
    const [forNormal, forWait] = split(round)
    const w = normal(forNormal, shape, { dtype }).multiply(c) as Tensor
    // ln(U) < x^2 / 2 + d (1 - v + ln v) with v = (1 + w)^3 and x^2 = 9 d w^2, terms that cancel left out. NaN for w < -1.
    const bound = w.log1p().subtract(w).multiply(3).add(w.square().multiply(w.multiply(-1).add(1.5))).multiply(d)
    return { value: w, accepted: standardExponential(forWait, shape, dtype).negative().less(bound) }
  })
  return { d, w, boost: where(small, standardExponential(forBoost, shape, dtype).divide(a), 0) }
}

/** Draws from the gamma distribution in the dtype of their concentrations, NaN where these are not above 0. */
export function gammaNumbers(key: Key, concentration: Tensor, shape: readonly number[]): Tensor {
  const { d, w, boost } = gammaParts(key, concentration, shape)
  const drawn = d.multiply(w.add(1).pow(3)).multiply(boost.negative().exp())
  return where(concentration.greater(0), drawn, NaN) as Tensor
}

/** The dtype of a result: the one asked for, or that of the first floating parameter. */
export function floatDType(op: string, asked: unknown, parameters: readonly unknown[]): FloatDType {
  const own = parameters.filter((x): x is Tensor => isTensor(x)).find((x: Tensor) => DTYPE[x.dtype].kind === 'float')
  const dtype = dtypeOption(op, asked, own?.dtype ?? 'float32')
  if (DTYPE[dtype].kind !== 'float') throw new DTypeError(`${op}: takes a floating dtype, got ${dtype}`)
  return dtype as FloatDType
}

/** Half floats are drawn in float32 and rounded once. */
export const wide = (dtype: FloatDType): DTypeOfParameters => (dtype === 'float64' ? 'float64' : 'float32')

/**
 * Draws from the gamma distribution with concentration `a` and scale 1, with the density x^(a - 1) e^-x / Gamma(a). A scale is a factor of the result.
 *
 * @param a Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.gamma(ft.random.key(1), 2.5, [3, 4]).shape // [3, 4]
 * ```
 */
export function gamma<A extends Parameter, E extends FloatDType = DrawnAs<A>>(key: Key, a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.gamma'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [a])
    const sizes = shapeGiven(op, shape)
    const concentration = parameter(op, 'a', a, POSITIVE, key, sizes, wide(dtype))
    return gammaNumbers(key, concentration, sizes).astype(dtype) as Tensor<E>
  })
}

/**
 * Draws from the beta distribution, with the density x^(a - 1) (1 - x)^(b - 1) / B(a, b) on [0, 1]: the first of two gamma numbers as a share of their sum.
 *
 * @param a Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @param b As `a`.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.beta(ft.random.key(1), 2, 3, [100]).lessEqual(1).all() // true
 * ```
 */
export function beta<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
  key: Key,
  a: A & Fits<'real', A>,
  b: B & Fits<'real', B>,
  shape: readonly number[],
  options?: GammaOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.beta'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [a, b])
    const sizes = shapeGiven(op, shape)
    const [first, second] = [parameter(op, 'a', a, POSITIVE, key, sizes, wide(dtype)), parameter(op, 'b', b, POSITIVE, key, sizes, wide(dtype))]
    // Of so small concentrations both logarithms below may be infinite; all numbers are 0 or 1, by the proportion of both alone.
    const small = maximum(first, second).less(1e-36)
    // As logarithms, which numbers too small for the dtype survive.
    const [x, y] = [first, second].map((concentration, i) => {
      const { d, w, boost } = gammaParts(fold(key, i), where(small, concentration.multiply(2 ** 60), concentration), sizes)
      return d.log().add(w.log1p().multiply(3)).subtract(boost)
    }) as [Tensor, Tensor]
    return where(logicalAnd(first.greater(0), second.greater(0)), x.subtract(y).sigmoid(), NaN).astype(dtype) as Tensor<E>
  })
}

/** Means below this are counted up from 0; above it, Hoermann's proposals are made for. */
const MEAN = 10

/** Of a Poisson distribution of mean 10, and of a binomial one of a smaller mean, less than 2^-53 lies above. */
const STEPS = 48

/**
 * The least k whose probabilities 0..k add up to more than a uniform number; `ratio(k)` times the probability of k - 1 is that of k.
 * What depends on the parameters alone is computed once for each of them.
 */
function countUp(key: Key, shape: readonly number[], none: Tensor, ratio: (k: number) => Tensor): Tensor {
  const u = uniform(key, shape, { dtype: 'float64' }) as Tensor
  let [probability, sum, count] = [none, none, u.greaterEqual(none).astype('float64')]
  for (let k = 1; k < STEPS; k++) {
    probability = probability.multiply(ratio(k))
    sum = sum.add(probability)
    count = count.add(u.greaterEqual(sum).astype('float64'))
  }
  return count
}

/** A proposal is rejected with a probability of at most 0.3 (at a mean of 10): sixteen are with 4e-9. */
const COUNT_ROUNDS = 16

/** What Hoermann's transformed rejection needs to know of a distribution; `logarithm(k)` is that of k's probability. */
interface Hat {
  readonly a: Tensor
  readonly b: Tensor
  readonly centre: Tensor
  readonly inverseAlpha: Tensor
  readonly mode: Tensor
  logarithm(k: Tensor): Tensor
}

/** Hoermann, "The transformed rejection method for generating Poisson random variables", 1993: the plain test of algorithm PTRS. */
function transformed(key: Key, shape: readonly number[], { a, b, centre, inverseAlpha, mode, logarithm }: Hat): Tensor {
  return firstAccepted(key, COUNT_ROUNDS, mode, (round) => {
    const [forPlace, forHeight] = split(round)
    const u = uniform(forPlace, shape, { dtype: 'float64' }).subtract(0.5) as Tensor
    const left = u.abs().negative().add(0.5)
    const k = a.multiply(2).divide(left).add(b).multiply(u).add(centre).floor()
    const hat = inverseAlpha.divide(a.divide(left.square()).add(b)).log()
    return { value: k, accepted: logicalAnd(hat.subtract(standardExponential(forHeight, shape, 'float64')).lessEqual(logarithm(k)), k.greaterEqual(0)) }
  })
}

/** The variance from which counts are rounded normal numbers: where rejection would compare differences of logarithms of no digits. */
const LARGE = 1e9

/**
 * Counts of a large variance, by a normal number and its correction for skewness (Cornish and Fisher): the distribution function is off
 * by less than 1e-9. The key is one that no proposal has.
 */
function nearlyNormal(key: Key, shape: readonly number[], mean: Tensor, variance: Tensor, skewed: Tensor | number): Tensor {
  const z = normal(fold(key, COUNT_ROUNDS), shape, { dtype: 'float64' }) as Tensor
  const skew = z.square().subtract(1).multiply(skewed).divide(6)
  return variance.sqrt().multiply(z).add(skew).add(mean).add(0.5).floor()
}

function poissonHat(mean: Tensor): Hat {
  const b = mean.sqrt().multiply(2.53).add(0.931)
  const log = mean.log()
  return {
    a: b.multiply(0.02483).subtract(0.059),
    b,
    centre: mean.add(0.43),
    inverseAlpha: b.subtract(3.4).reciprocal().multiply(1.1328).add(1.1239),
    mode: mean.floor(),
    logarithm: (k) => k.multiply(log).subtract(mean).subtract(k.add(1).lgamma())
  }
}

/** For p of at most a half (Hoermann, "The generation of binomial random variates", 1993: algorithm BTRS). */
function binomialHat(n: Tensor, p: Tensor): Hat {
  const mean = n.multiply(p)
  const deviation = mean.multiply(p.negative().add(1)).sqrt()
  const b = deviation.multiply(2.53).add(1.15)
  const mode = mean.add(p).floor()
  const odds = p.log().subtract(p.negative().log1p())
  const both = (k: Tensor): Tensor => k.add(1).lgamma().add(n.subtract(k).add(1).lgamma())
  const atMode = both(mode)
  return {
    a: b.multiply(0.0248).subtract(0.0873).add(p.multiply(0.01)),
    b,
    centre: mean.add(0.5),
    inverseAlpha: b.reciprocal().multiply(5.1).add(2.83).multiply(deviation),
    mode,
    logarithm: (k) => where(k.greater(n), -Infinity, atMode.subtract(both(k)).add(k.subtract(mode).multiply(odds)))
  }
}

/** The dtype of a count, checked. */
export function countDType(op: string, asked: unknown): IntegerDType {
  const dtype = dtypeOption(op, asked, 'int32')
  if (!['signed', 'unsigned'].includes(DTYPE[dtype].kind)) throw new DTypeError(`${op}: takes an integer dtype, got ${dtype}`)
  return dtype as IntegerDType
}

/** Largest standard deviation whose table is made: of about 21 times as many numbers. */
const TABLE = 4096

/** Of the mode's probability: what is about 10.5 standard deviations from the mode. */
const NEGLIGIBLE = 1e-24

/**
 * Counts of one distribution, by looking a uniform number up in the table of its sums. `ratio(k)` times the probability of k - 1 is
 * that of k.
 */
function lookUp(key: Key, shape: readonly number[], mode: number, ratio: (k: number) => number): Tensor {
  const [below, above]: [number[], number[]] = [[], []]
  for (let k = mode, p = k > 0 ? 1 / ratio(k) : 0; p > NEGLIGIBLE; k--, p = k > 0 ? p / ratio(k) : 0) below.push(p)
  for (let k = mode + 1, p = ratio(k); p > NEGLIGIBLE; k++, p *= ratio(k)) above.push(p)
  const sums = [...below.toReversed(), 1, ...above]
  for (let i = 1; i < sums.length; i++) sums[i] = (sums[i] as number) + (sums[i - 1] as number)
  const u = uniform(key, shape, { dtype: 'float64', high: sums.at(-1) as number })
  return tensor(new Float64Array(sums), { device: key.device }).searchsorted(u, undefined, { side: 'right' }).astype('float64').add(mode - below.length)
}

/**
 * Draws from the Poisson distribution: how many events there are where `mean` are expected. Drawn in float64, from a number's table of probabilities or for a
 * tensor by rejection.
 *
 * @param mean At least 0: a number, or a tensor that broadcasts to the shape; where its elements are negative or NaN the result is -1
 * (0 in unsigned dtypes). Counts that the dtype does not hold become its largest.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is negative or not finite, `ERR_SHAPE` for a tensor that does not broadcast to the
 * shape, `ERR_DTYPE` for a dtype that is not an integer dtype.
 * @example
 * ```ts
 * ft.random.poisson(ft.random.key(1), 0, [3]) // [0, 0, 0]
 * ```
 */
export function poisson<A extends Parameter, E extends IntegerDType = 'int32'>(key: Key, mean: A & Fits<'real', A>, shape: readonly number[], options?: CountOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.poisson'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = countDType(op, checkOptions(op, options, ['dtype'])['dtype'])
    const sizes = shapeGiven(op, shape)
    const m = parameter(op, 'mean', mean, NOT_NEGATIVE, key, sizes, 'float64')
    if (typeof mean === 'number' && Math.sqrt(mean) <= TABLE) return lookUp(key, sizes, Math.floor(mean), (k) => mean / k).astype(dtype) as Tensor<E>
    const few = countUp(key, sizes, m.negative().exp(), (k) => m.divide(k))
    const some = where(m.less(MEAN), few, transformed(key, sizes, poissonHat(m)))
    const count = where(m.less(LARGE), some, nearlyNormal(key, sizes, m, m, 1))
    return where(m.greaterEqual(0), count, -1).astype(dtype) as Tensor<E>
  })
}

/**
 * Draws from the binomial distribution: how many of `n` trials succeed, each with probability `p`. Drawn in float64, from the numbers'
 * table of probabilities or for tensors by rejection.
 *
 * @param n An integer of at least 0, or a tensor that broadcasts to the shape, whose fractions are dropped.
 * @param p From 0 to 1: a number, or a tensor that broadcasts to the shape. Where elements of `n` or `p` are out of range the result is
 * -1 (0 in unsigned dtypes). Counts that the dtype does not hold become its largest.
 * @throws {TensorError} `ERR_ARGUMENT` for numbers out of range, `ERR_SHAPE` for a tensor that does not broadcast to the shape, `ERR_DTYPE`
 * for a dtype that is not an integer dtype.
 * @example
 * ```ts
 * ft.random.binomial(ft.random.key(1), 5, 1, [3]) // [5, 5, 5]
 * ```
 */
export function binomial<A extends Parameter, B extends Parameter, E extends IntegerDType = 'int32'>(
  key: Key,
  n: A & Fits<'real', A>,
  p: B & Fits<'real', B>,
  shape: readonly number[],
  options?: CountOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.binomial'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = countDType(op, checkOptions(op, options, ['dtype'])['dtype'])
    const sizes = shapeGiven(op, shape)
    const trials = parameter(op, 'n', n, COUNT, key, sizes, 'float64').floor()
    const chance = parameter(op, 'p', p, PROBABILITY, key, sizes, 'float64')
    if (typeof n === 'number' && typeof p === 'number' && p < 1 && Math.sqrt(n * p * (1 - p)) <= TABLE) {
      return lookUp(key, sizes, Math.min(Math.floor((n + 1) * p), n), (k) => (n - k + 1) / k * (p / (1 - p))).astype(dtype) as Tensor<E>
    }
    // Of the rarer outcome; the other's count is the rest.
    const likely = chance.greater(0.5)
    const rare = where(likely, chance.negative().add(1), chance)
    const log = rare.negative().log1p()
    const odds = rare.divide(rare.negative().add(1))
    const few = countUp(key, sizes, log.multiply(trials).exp(), (k) => trials.subtract(k - 1).divide(k).multiply(odds)).minimum(trials)
    const mean = trials.multiply(rare)
    const some = where(mean.less(MEAN), few, transformed(key, sizes, binomialHat(trials, rare)))
    const variance = mean.multiply(rare.negative().add(1))
    const count = where(variance.less(LARGE), some, nearlyNormal(key, sizes, mean, variance, rare.multiply(-2).add(1)))
    const valid = logicalAnd(trials.greaterEqual(0), logicalAnd(chance.greaterEqual(0), chance.lessEqual(1)))
    return where(valid, where(likely, trials.subtract(count), count), -1).astype(dtype) as Tensor<E>
  })
}
