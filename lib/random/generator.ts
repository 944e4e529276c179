// Generators: a key and a counter, for code that does not pass keys around.

import { ArgumentError } from '../errors.js'
import type { DType, FloatDType, IntegerDType, Takes } from '../generated/dtypes.js'
import { isTracing } from '../program/placeholder.js'
import type { Device, Fits } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import {
  cauchy, laplace, logistic, lognormal, pareto, power, rayleigh, triangular, wald, weibull, type LocationScaleOptions, type LognormalOptions,
  type RayleighOptions, type TriangularOptions
} from './continuous.js'
import { geometric, multinomial, negativeBinomial, type MultinomialOptions } from './counts.js'
import {
  bernoulli, categorical, choice, exponential, gumbel, multivariateNormal, shuffle, truncatedNormal, type BernoulliOptions, type CategoricalOptions,
  type ChoiceOptions, type ExponentialOptions, type GumbelOptions, type MultivariateNormalOptions, type ShuffleOptions, type TruncatedNormalOptions,
  type VectorDType
} from './distributions.js'
import {
  bits, fold, key, normal, permutation, randint, uniform, type BitsOptions, type BoundsDType, type Key, type NormalOptions, type RandintOptions,
  type UniformOptions
} from './draw.js'
import { chisquare, dirichlet, f, standardT, type DirichletOptions } from './gamma-ratios.js'
import { beta, binomial, gamma, poisson, type CountOptions, type DrawnAs, type GammaOptions, type Parameter } from './rejection.js'
import { vonmises } from './vonmises.js'

/** A source of draws for code that does not pass keys around: each draw folds a counter into the generator's key. */
export class Generator {
  readonly #key: Key
  #draws = 0

  /** Use `ft.random.generator(seed)`. */
  constructor(key: Key) {
    this.#key = key
  }

  /** A draw under a fresh key, which a refused one leaves to the next. */
  #draw<T>(draw: (key: Key) => T): T {
    if (isTracing()) throw new ArgumentError('Generator: jit would draw the same numbers in every call, and vmap at every position; pass keys as an argument, ft.random.fold(key, step) or ft.random.split(key, n)')
    const drawn = draw(fold(this.#key, this.#draws))
    this.#draws++
    return drawn
  }

  /** A fresh key: the one the next draw would use. */
  key(): Key {
    return this.#draw((key) => key)
  }

  /** As `ft.random.bits`. */
  bits<E extends 'uint32' | 'uint64' = 'uint32'>(shape: readonly number[], options?: BitsOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => bits(key, shape, options))
  }

  /** As `ft.random.uniform`. */
  uniform<E extends FloatDType = 'float32'>(shape: readonly number[], options?: UniformOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => uniform(key, shape, options))
  }

  /** As `ft.random.normal`. */
  normal<E extends FloatDType = 'float32'>(shape: readonly number[], options?: NormalOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => normal(key, shape, options))
  }

  /** As `ft.random.randint`. */
  randint<L extends number | bigint, H extends number | bigint, E extends IntegerDType = BoundsDType<L | H>>(
    low: L,
    high: H,
    shape: readonly number[],
    options?: RandintOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.#draw((key) => randint(key, low, high, shape, options))
  }

  /** NumPy's `random`: as `ft.random.uniform`. */
  random<E extends FloatDType = 'float32'>(shape: readonly number[], options?: UniformOptions<E>): Tensor<NoInfer<E>> {
    return this.uniform(shape, options)
  }

  /** NumPy's `standard_normal`: as `ft.random.normal`. */
  standardNormal<E extends FloatDType = 'float32'>(shape: readonly number[], options?: NormalOptions<E>): Tensor<NoInfer<E>> {
    return this.normal(shape, options)
  }

  /** NumPy's `integers`: as `ft.random.randint`. */
  integers<L extends number | bigint, H extends number | bigint, E extends IntegerDType = BoundsDType<L | H>>(
    low: L,
    high: H,
    shape: readonly number[],
    options?: RandintOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.randint(low, high, shape, options)
  }

  /** As `ft.random.permutation`. */
  permutation(count: number): Tensor<'int32'> {
    return this.#draw((key) => permutation(key, count))
  }

  /** As `ft.random.shuffle`. */
  shuffle<D extends DType>(x: Tensor<D>, options?: number | ShuffleOptions): Tensor<D> {
    return this.#draw((key) => shuffle(key, x, options))
  }

  /** As `ft.random.exponential`. */
  exponential<E extends FloatDType = 'float32'>(shape: readonly number[], options?: ExponentialOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => exponential(key, shape, options))
  }

  /** As `ft.random.gumbel`. */
  gumbel<E extends FloatDType = 'float32'>(shape: readonly number[], options?: GumbelOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => gumbel(key, shape, options))
  }

  /** As `ft.random.bernoulli`. */
  bernoulli<P extends DType>(shape: readonly number[], options?: BernoulliOptions<P>): Tensor<'bool'> {
    return this.#draw((key) => bernoulli(key, shape, options))
  }

  /** As `ft.random.categorical`. */
  categorical<D extends DType>(logits: Tensor<D> & Takes<'integerOrFloat', D>, options?: CategoricalOptions): Tensor<'int32'> {
    return this.#draw((key) => categorical(key, logits, options))
  }

  /** As `ft.random.choice`. */
  choice(x: number, shape: readonly number[], options?: ChoiceOptions): Tensor<'int32'>
  choice<D extends DType>(x: Tensor<D>, shape: readonly number[], options?: ChoiceOptions): Tensor<D>
  choice(x: number | Tensor, shape: readonly number[], options?: ChoiceOptions): Tensor {
    return this.#draw((key) => choice(key, x as Tensor, shape, options))
  }

  /** As `ft.random.truncatedNormal`. */
  truncatedNormal<E extends FloatDType = 'float32'>(shape: readonly number[], options?: TruncatedNormalOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => truncatedNormal(key, shape, options))
  }

  /** As `ft.random.gamma`. */
  gamma<A extends Parameter, E extends FloatDType = DrawnAs<A>>(a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => gamma(key, a, shape, options))
  }

  /** As `ft.random.beta`. */
  beta<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
    a: A & Fits<'real', A>,
    b: B & Fits<'real', B>,
    shape: readonly number[],
    options?: GammaOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.#draw((key) => beta(key, a, b, shape, options))
  }

  /** As `ft.random.poisson`. */
  poisson<A extends Parameter, E extends IntegerDType = 'int32'>(mean: A & Fits<'real', A>, shape: readonly number[], options?: CountOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => poisson(key, mean, shape, options))
  }

  /** As `ft.random.binomial`. */
  binomial<A extends Parameter, B extends Parameter, E extends IntegerDType = 'int32'>(
    n: A & Fits<'real', A>,
    p: B & Fits<'real', B>,
    shape: readonly number[],
    options?: CountOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.#draw((key) => binomial(key, n, p, shape, options))
  }

  /** NumPy's `standard_exponential`: as `ft.random.exponential`. */
  standardExponential<E extends FloatDType = 'float32'>(shape: readonly number[], options?: ExponentialOptions<E>): Tensor<NoInfer<E>> {
    return this.exponential(shape, options)
  }

  /** NumPy's `standard_gamma`: as `ft.random.gamma`. */
  standardGamma<A extends Parameter, E extends FloatDType = DrawnAs<A>>(a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
    return this.gamma(a, shape, options)
  }

  /** As `ft.random.laplace`. */
  laplace<E extends FloatDType = 'float32'>(shape: readonly number[], options?: LocationScaleOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => laplace(key, shape, options))
  }

  /** As `ft.random.cauchy`. */
  cauchy<E extends FloatDType = 'float32'>(shape: readonly number[], options?: LocationScaleOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => cauchy(key, shape, options))
  }

  /** As `ft.random.logistic`. */
  logistic<E extends FloatDType = 'float32'>(shape: readonly number[], options?: LocationScaleOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => logistic(key, shape, options))
  }

  /** As `ft.random.lognormal`. */
  lognormal<E extends FloatDType = 'float32'>(shape: readonly number[], options?: LognormalOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => lognormal(key, shape, options))
  }

  /** As `ft.random.rayleigh`. */
  rayleigh<E extends FloatDType = 'float32'>(shape: readonly number[], options?: RayleighOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => rayleigh(key, shape, options))
  }

  /** As `ft.random.triangular`. */
  triangular<E extends FloatDType = 'float32'>(left: number, mode: number, right: number, shape: readonly number[], options?: TriangularOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => triangular(key, left, mode, right, shape, options))
  }

  /** As `ft.random.weibull`. */
  weibull<A extends Parameter, E extends FloatDType = DrawnAs<A>>(a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => weibull(key, a, shape, options))
  }

  /** As `ft.random.pareto`. */
  pareto<A extends Parameter, E extends FloatDType = DrawnAs<A>>(a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => pareto(key, a, shape, options))
  }

  /** As `ft.random.power`. */
  power<A extends Parameter, E extends FloatDType = DrawnAs<A>>(a: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => power(key, a, shape, options))
  }

  /** As `ft.random.wald`. */
  wald<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
    mean: A & Fits<'real', A>,
    scale: B & Fits<'real', B>,
    shape: readonly number[],
    options?: GammaOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.#draw((key) => wald(key, mean, scale, shape, options))
  }

  /** As `ft.random.chisquare`. */
  chisquare<A extends Parameter, E extends FloatDType = DrawnAs<A>>(df: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => chisquare(key, df, shape, options))
  }

  /** As `ft.random.standardT`. */
  standardT<A extends Parameter, E extends FloatDType = DrawnAs<A>>(df: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => standardT(key, df, shape, options))
  }

  /** As `ft.random.f`. */
  f<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
    dfNumerator: A & Fits<'real', A>,
    dfDenominator: B & Fits<'real', B>,
    shape: readonly number[],
    options?: GammaOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.#draw((key) => f(key, dfNumerator, dfDenominator, shape, options))
  }

  /** As `ft.random.vonmises`. */
  vonmises<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
    mu: A & Fits<'real', A>,
    kappa: B & Fits<'real', B>,
    shape: readonly number[],
    options?: GammaOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.#draw((key) => vonmises(key, mu, kappa, shape, options))
  }

  /** As `ft.random.dirichlet`. */
  dirichlet<A extends DType, E extends FloatDType = DrawnAs<Tensor<A>>>(alpha: Tensor<A> & Takes<'real', A>, options?: DirichletOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => dirichlet(key, alpha, options))
  }

  /** As `ft.random.geometric`. */
  geometric<A extends Parameter, E extends IntegerDType = 'int32'>(p: A & Fits<'real', A>, shape: readonly number[], options?: CountOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => geometric(key, p, shape, options))
  }

  /** As `ft.random.negativeBinomial`. */
  negativeBinomial<A extends Parameter, B extends Parameter, E extends IntegerDType = 'int32'>(
    n: A & Fits<'real', A>,
    p: B & Fits<'real', B>,
    shape: readonly number[],
    options?: CountOptions<E>
  ): Tensor<NoInfer<E>> {
    return this.#draw((key) => negativeBinomial(key, n, p, shape, options))
  }

  /** As `ft.random.multinomial`. */
  multinomial<A extends Parameter, B extends DType, E extends IntegerDType = 'int32'>(n: A & Fits<'real', A>, p: Tensor<B> & Takes<'real', B>, options?: MultinomialOptions<E>): Tensor<NoInfer<E>> {
    return this.#draw((key) => multinomial(key, n, p, options))
  }

  /** As `ft.random.multivariateNormal`. */
  multivariateNormal<A extends DType, B extends DType>(
    mean: Tensor<A> & Takes<'integerOrFloat', A>,
    covariance: Tensor<B> & Takes<'integerOrFloat', B>,
    options?: MultivariateNormalOptions
  ): Tensor<VectorDType<A, B>> {
    return this.#draw((key) => multivariateNormal(key, mean, covariance, options))
  }
}

/** A generator with a seed; there is no hidden global one. */
export function generator(seed: number | bigint, options?: { readonly device?: Device | undefined }): Generator {
  return new Generator(key(seed, options))
}
