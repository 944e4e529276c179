// Distributions made of uniform and normal draws. Element i of a result depends on the key, its parameters and i only.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arrayGiven } from '../calls/operands.js'
import { one } from '../calls/record-call.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatDType, FloatOf, Promote, Takes } from '../generated/dtypes.js'
import { einsum, erf, full, less, logicalAnd } from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { covarianceFactor } from './covariance.js'
import { finite, keyGiven, normal, overShape, permutation, randint, realGiven, standardExponential, uniform, type Key } from './draw.js'
import { tailDraw } from './normal-tail.js'

/** Options of `exponential`. */
export interface ExponentialOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** Mean, above 0; 1 by default. */
  readonly scale?: number | undefined
}

/** Options of `gumbel`. */
export interface GumbelOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** The most likely value; 0 by default. */
  readonly location?: number | undefined
  /** Spread, above 0; 1 by default. */
  readonly scale?: number | undefined
}

/** Options of `bernoulli`. */
export interface BernoulliOptions<P extends DType = DType> {
  /** Probability of true: a number, or a tensor that broadcasts to the shape; 0.5 by default. */
  readonly p?: number | (Tensor<P> & Takes<'real', P>) | undefined
}

/** Options of `categorical`. */
export interface CategoricalOptions {
  /** The axis of the classes; the last by default. */
  readonly axis?: number | undefined
  /** Axes before those of the logits, along which draws are independent; none by default. */
  readonly shape?: readonly number[] | undefined
}

/** Options of `choice`. */
export interface ChoiceOptions {
  /** Whether one may be chosen several times; true by default. */
  readonly replace?: boolean | undefined
  /** How likely each is, a vector of numbers from 0 that need not add up to 1; all the same by default. */
  readonly p?: Tensor | undefined
}

/** Options of `truncatedNormal`. */
export interface TruncatedNormalOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** Mean of the distribution that is cut; 0 by default. */
  readonly mean?: number | undefined
  /** Its standard deviation, above 0; 1 by default. */
  readonly std?: number | undefined
  /** Smallest number, or -Infinity; two standard deviations below the mean by default. */
  readonly low?: number | undefined
  /** Largest number, or Infinity; two standard deviations above the mean by default. */
  readonly high?: number | undefined
}

/** The dtype of normal vectors of a mean of `A` and covariances of `B`: at least float32. */
export type VectorDType<A extends DType, B extends DType> = Promote<Promote<FloatOf<B>, 'float32'>, A>

/** Options of `multivariateNormal`. */
export interface MultivariateNormalOptions {
  /** Axes before those of the mean, along which draws are independent; none by default. */
  readonly shape?: readonly number[] | undefined
}

/** A finite number above 0, or what stands for one left out. */
export function positive(op: string, name: string, value: unknown, fallback: number): number {
  const number = finite(op, name, value, fallback)
  if (number <= 0) throw new ArgumentError(`${op}: '${name}' must be above 0, got ${number}`)
  return number
}

/** Half of the smallest number but 0 that {@link standardExponential} gives, by dtype. */
const LEAST: Readonly<Record<string, number>> = { float16: 2 ** -12, bfloat16: 2 ** -9, float32: 2 ** -25, float64: 2 ** -54 }

/**
 * Draws from the exponential distribution: -scale ln(1 - u).
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a scale that is not finite or not above 0.
 * @example
 * ```ts
 * ft.random.exponential(ft.random.key(1), [2, 3]).shape // [2, 3]
 * ```
 */
export function exponential<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: ExponentialOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.exponential'
  return within(op, () => {
    keyGiven(op, key)
    const o = checkOptions(op, options, ['dtype', 'scale'])
    const scale = positive(op, 'scale', o['scale'], 1)
    return standardExponential(key, shapeGiven(op, shape), o['dtype'] as FloatDType | undefined).multiply(scale) as Tensor<E>
  })
}

/**
 * Draws from the Gumbel distribution, as the largest of many: location - scale ln(-ln(1 - u)).
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a location that is not finite, or a scale that is not or not above 0.
 * @example
 * ```ts
 * ft.random.gumbel(ft.random.key(1), [2, 3]).shape // [2, 3]
 * ```
 */
export function gumbel<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: GumbelOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.gumbel'
  return within(op, () => {
    keyGiven(op, key)
    const o = checkOptions(op, options, ['dtype', 'location', 'scale'])
    const [location, scale] = [finite(op, 'location', o['location'], 0), positive(op, 'scale', o['scale'], 1)]
    const wait = standardExponential(key, shapeGiven(op, shape), o['dtype'] as FloatDType | undefined)
    // A wait of 0 would make an infinity.
    return wait.maximum(LEAST[wait.dtype] as number).log().multiply(-scale).add(location) as Tensor<E>
  })
}

/**
 * true with probability `p`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number outside [0, 1], of a tensor when a result is read, `ERR_SHAPE` for a tensor that does not
 *   broadcast to the shape.
 * @example
 * ```ts
 * ft.random.bernoulli(ft.random.key(1), [3], { p: 1 }) // [true, true, true]
 * ```
 */
export function bernoulli<P extends DType>(key: Key, shape: readonly number[], options?: BernoulliOptions<P>): Tensor<'bool'> {
  const op = 'random.bernoulli'
  return within(op, () => {
    keyGiven(op, key)
    const { p = 0.5 } = checkOptions(op, options, ['p'])
    const sizes = shapeGiven(op, shape)
    if (isTensor(p)) {
      const chances = overShape(op, 'p', p, sizes)
      return less(uniform(key, sizes), one(OP.bernoulliChances, [chances, logicalAnd(p.greaterEqual(0), p.lessEqual(1))], [], []))
    }
    if (typeof p !== 'number' || !(p >= 0 && p <= 1)) throw new ArgumentError(`${op}: 'p' must be a tensor or a number from 0 to 1, got ${shown(p)}`)
    return less(uniform(key, sizes), p)
  })
}

/**
 * Classes drawn by their log-probabilities, which need not add up to 1: int32 numbers along an axis (the last by default).
 *
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_DTYPE` for complex logits; `ERR_ARGUMENT` when a result is read that has
 *   no distribution: of logits that are NaN or Infinity, or -Infinity for all classes.
 * @example
 * ```ts
 * ft.random.categorical(ft.random.key(1), ft.tensor([[0, -Infinity], [-Infinity, 0]])) // [0, 1]
 * ```
 */
export function categorical<D extends DType>(key: Key, logits: Tensor<D> & Takes<'integerOrFloat', D>, options?: CategoricalOptions): Tensor<'int32'> {
  const op = 'random.categorical'
  return within(op, () => {
    keyGiven(op, key)
    const o = checkOptions(op, options, ['axis', 'shape'])
    const x = arrayGiven(op, 'logits', logits)
    const more = shapeGiven(op, o['shape'] ?? [])
    const axis = axisGiven(op, o['axis'] ?? -1, x.ndim)
    // The largest of logits and Gumbel numbers (Gumbel, 1954).
    const noise = gumbel(key, [...more, ...x.shape], { dtype: x.dtype === 'float64' ? 'float64' : 'float32' })
    // Without classes argmax throws.
    const known = x.size === 0 ? x : one(OP.categoricalLogits, [x, x.max({ axis }).isfinite()], [], [])
    return known.add(noise).argmax({ axis: axis + more.length })
  })
}

/** The weights of `n` choices, of which none is negative, infinite or NaN, and one above 0. */
function weightsGiven(op: string, p: Tensor, n: number): Tensor {
  if (p.ndim !== 1 || p.size !== n) throw new ShapeError(`${op}: ${n} choices need as many probabilities, got shape [${p.shape.join(', ')}]`)
  const real = realGiven(op, 'p', p)
  const good = logicalAnd(real.isfinite(), real.greaterEqual(0)).all()
  return one(OP.choiceWeights, [real, logicalAnd(good, real.greater(0).any())], [], [])
}

/** Positions of `count` of `n` by their probabilities, none of them twice. */
function apart(op: string, key: Key, n: number, count: number, p: Tensor | undefined): Tensor {
  if (count > n) throw new ShapeError(`${op}: ${count} of ${n} cannot be chosen without replacement`)
  if (p === undefined) return permutation(key, n).at(`:${count}`)
  const enough = p.greater(0).countNonzero().greaterEqual(count)
  return one(OP.choiceCount, [p, enough], [], []).log().add(gumbel(key, [n])).topk(count).indices
}

/**
 * Slices of a tensor along its first axis, or numbers from 0 to `x - 1`, chosen at random.
 *
 * @param x A tensor, or how many numbers there are.
 * @param shape The shape of the choice.
 * @throws {TensorError} `ERR_ARGUMENT`, `ERR_SHAPE` for more than there are without replacement and for `p` of another size; `ERR_ARGUMENT`
 *   when a result is read whose `p` has negative, infinite or NaN elements, nothing above 0, or less of that than is chosen without replacement.
 * @example
 * ```ts
 * ft.random.choice(ft.random.key(1), 3, [3], { replace: false }).sort() // [0, 1, 2]
 * ```
 */
export function choice(key: Key, x: number, shape: readonly number[], options?: ChoiceOptions): Tensor<'int32'>
export function choice<D extends DType>(key: Key, x: Tensor<D>, shape: readonly number[], options?: ChoiceOptions): Tensor<D>
export function choice(key: Key, x: number | Tensor, shape: readonly number[], options?: ChoiceOptions): Tensor {
  const op = 'random.choice'
  return within(op, () => {
    keyGiven(op, key)
    const o = checkOptions(op, options, ['replace', 'p'])
    const { replace = true } = o
    if (typeof replace !== 'boolean') throw new ArgumentError(`${op}: 'replace' must be a boolean, got ${shown(replace)}`)
    if (!isTensor(x) && !(Number.isSafeInteger(x) && x > 0)) throw new ArgumentError(`${op}: 'x' must be a tensor or a positive integer, got ${shown(x)}`)
    const n = isTensor(x) ? x.shape[0] : x
    if (n === undefined || n === 0) throw new ShapeError(`${op}: there is nothing to choose from`)
    const p = o['p'] === undefined ? undefined : weightsGiven(op, arrayGiven(op, 'p', o['p']), n)
    const sizes = shapeGiven(op, shape)
    const count = sizes.reduce((a, b) => a * b, 1)
    const positions = replace ? again(key, n, sizes, p) : apart(op, key, n, count, p).reshape(sizes)
    return isTensor(x) ? x.take(positions as Tensor<'int32'>, { axis: 0 }) : positions
  })
}

/** Options of `shuffle`. */
export interface ShuffleOptions {
  /** The axis whose slices change places; negative ones count from the last; the first by default. */
  readonly axis?: number | undefined
}

/**
 * The slices of a tensor along an axis in random order, each in one piece: those of {@link permutation} of the same key.
 *
 * `y_i = x_p(i) for a random order p`
 *
 * NumPy `Generator.permutation`, JAX `random.permutation`. Gradients go through.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_ARGUMENT` for arguments that are not a key or a tensor, `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.random.shuffle(ft.random.key(1), ft.tensor([3, 1, 2])).sort() // [1, 2, 3]
 * ```
 */
export function shuffle<D extends DType>(key: Key, x: Tensor<D>, options?: number | ShuffleOptions): Tensor<D> {
  const op = 'random.shuffle'
  return within(op, () => {
    keyGiven(op, key)
    const values = arrayGiven(op, 'x', x)
    const { axis = 0 } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis'])
    const at = axisGiven(op, axis, values.ndim)
    return values.take(permutation(key, values.shape[at] as number), { axis: at }) as Tensor<D>
  })
}

/** Positions by their probabilities, each as often as it comes. */
function again(key: Key, n: number, shape: readonly number[], p: Tensor | undefined): Tensor {
  if (p === undefined) return randint(key, 0, n, shape)
  const weights = p.astype(p.dtype === 'float64' ? 'float64' : 'float32')
  // Shares of the largest, whose sum is at most their number: of weights it may overflow.
  const ends = weights.divide(weights.max()).cumulativeSum()
  const end = ends.at(-1) as Tensor
  const place = uniform(key, shape, { dtype: ends.dtype as 'float32' }).multiply(end)
  // Rounding may reach the end: that is the last one above 0.
  return ends.searchsorted(place, undefined, { side: 'right' }).minimum(ends.searchsorted(end)) as Tensor
}

/** A number that may be infinite, or what stands for one left out. */
function bound(op: string, name: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  if (typeof value !== 'number' || Number.isNaN(value)) throw new ArgumentError(`${op}: '${name}' must be a number, got ${shown(value)}`)
  return value
}

/** Where half of the smallest uniform number but 0 lies in the tail of a normal distribution, by dtype. */
const FURTHEST: Readonly<Record<string, number>> = { float16: 3.49, bfloat16: 2.89, float32: 5.42, float64: 8.29 }

/** The deviation between two that a uniform number stands for. */
function deviation(u: Tensor, low: number, high: number): Tensor {
  if (low >= 1) return tailDraw(u, low, high)
  if (high <= -1) return tailDraw(u, -high, -low).negative()
  // Two numbers, for which any processor has the float64 that devices may lack.
  const ends = [low, high].map((end) => erf(full([], end / Math.SQRT2, { dtype: 'float64', device: 'cpu' })).astype(u.dtype).to(u.device))
  const furthest = FURTHEST[u.dtype] as number
  // What rounds to an end that is infinite is the furthest that there is.
  return (ends[0] as Tensor).lerp(ends[1] as Tensor, u).erfinv().multiply(Math.SQRT2).clip(-furthest, furthest)
}

/**
 * Draws from the normal distribution, limited to `low` to `high`, of which either may be infinite, by the inverse of the distribution's integral: in the tail,
 * from one standard deviation on, of its logarithm.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a mean or a standard deviation that is not finite, one not above 0, or an empty range.
 * @example
 * ```ts
 * ft.random.truncatedNormal(ft.random.key(1), [100]).abs().max().lessEqual(2) // true
 * ```
 */
export function truncatedNormal<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: TruncatedNormalOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.truncatedNormal'
  return within(op, () => {
    keyGiven(op, key)
    const o = checkOptions(op, options, ['dtype', 'mean', 'std', 'low', 'high'])
    const [mean, std] = [finite(op, 'mean', o['mean'], 0), positive(op, 'std', o['std'], 1)]
    const [low, high] = [bound(op, 'low', o['low'], mean - 2 * std), bound(op, 'high', o['high'], mean + 2 * std)]
    if (low >= high) throw new ArgumentError(`${op}: low ${low} is not below high ${high}`)
    const u = uniform(key, shape, { dtype: o['dtype'] as FloatDType | undefined }) as Tensor
    return deviation(u, (low - mean) / std, (high - mean) / std).multiply(std).add(mean).clip(low, high) as Tensor<E>
  })
}

/**
 * Normal vectors of a mean [..., n] and covariances [..., n, n], which may be singular: a variance of 0 gives the mean.
 *
 * @throws {TensorError} `ERR_SHAPE`, `ERR_DTYPE` for complex tensors; `ERR_LINALG` when a result is read whose correlations are not symmetric
 * or have an eigenvalue below 0, by more than 1e-8 of their largest eigenvalue and the dtype's rounding.
 * @example
 * ```ts
 * ft.random.multivariateNormal(ft.random.key(1), ft.zeros([2]), ft.eye(2), { shape: [5] }).shape // [5, 2]
 * ```
 */
export function multivariateNormal<A extends DType, B extends DType>(
  key: Key,
  mean: Tensor<A> & Takes<'integerOrFloat', A>,
  covariance: Tensor<B> & Takes<'integerOrFloat', B>,
  options?: MultivariateNormalOptions
): Tensor<VectorDType<A, B>> {
  const op = 'random.multivariateNormal'
  return within(op, () => {
    keyGiven(op, key)
    const o = checkOptions(op, options, ['shape'])
    const [centre, spread] = [realGiven(op, 'mean', arrayGiven(op, 'mean', mean)), realGiven(op, 'covariance', arrayGiven(op, 'covariance', covariance))]
    const n = centre.shape.at(-1)
    if (n === undefined || spread.ndim < 2 || spread.shape.at(-1) !== n || spread.shape.at(-2) !== n) {
      throw new ShapeError(`${op}: a mean of shape [${centre.shape.join(', ')}] and covariances of shape [${spread.shape.join(', ')}] do not go together`)
    }
    const more = shapeGiven(op, o['shape'] ?? [])
    const wide = spread.dtype === 'float64' || spread.dtype === 'float32' ? spread.dtype : 'float32'
    const factor = covarianceFactor(spread).astype(wide).to(spread.device)
    const z = normal(key, [...more, ...centre.shape], { dtype: factor.dtype === 'float64' ? 'float64' : 'float32' })
    return einsum('...ij,...j->...i', factor, z).add(centre) as Tensor<VectorDType<A, B>>
  })
}
