// `ft.random`: keys and draws under them, distributions made of those, and generators for code that passes no keys around.

export {
  bits,
  fold,
  key,
  normal,
  permutation,
  randint,
  split,
  uniform,
  type BitsOptions,
  type BoundsDType,
  type Key,
  type NormalOptions,
  type RandintOptions,
  type UniformOptions
} from './draw.js'
export {
  bernoulli,
  categorical,
  choice,
  exponential,
  gumbel,
  multivariateNormal,
  shuffle,
  truncatedNormal,
  type BernoulliOptions,
  type CategoricalOptions,
  type ChoiceOptions,
  type ExponentialOptions,
  type GumbelOptions,
  type MultivariateNormalOptions,
  type ShuffleOptions,
  type TruncatedNormalOptions,
  type VectorDType
} from './distributions.js'
export {
  cauchy,
  laplace,
  logistic,
  lognormal,
  pareto,
  power,
  rayleigh,
  triangular,
  wald,
  weibull,
  type LocationScaleOptions,
  type LognormalOptions,
  type RayleighOptions,
  type TriangularOptions
} from './continuous.js'
export { geometric, multinomial, negativeBinomial, type MultinomialOptions } from './counts.js'
export { chisquare, dirichlet, f, standardT, type DirichletOptions } from './gamma-ratios.js'
export { vonmises } from './vonmises.js'
export { beta, binomial, gamma, poisson, type CountOptions, type DrawnAs, type GammaOptions, type Parameter } from './rejection.js'
export { Generator, generator } from './generator.js'
export * from '../generated/names/random.js'
