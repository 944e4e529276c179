// Random tensors: `ft.random` and its generators.

import * as ft from 'ferrotensor'
import { dtype, is } from '../expectations.js'
import { bool, i8, f16, bf16, f32, f64, c64, wide } from '../operands.js'

const key = ft.random.key(0)
const generator = ft.random.generator(0n, { device: f32.device })

export function results(): void {
  // Keys.
  dtype('uint32', ft.random.key(1))
  dtype('uint32', ft.random.key(1n, { device: 'cpu' }))
  dtype(['uint32', 'uint32'], ft.random.split(key))
  dtype(['uint32', 'uint32', 'uint32'], ft.random.split(key, 3))
  dtype('uint32', ft.random.fold(key, 7))
  // Draws: float32, int32 or uint32 unless told otherwise.
  dtype('uint32', ft.random.bits(key, [2]))
  dtype('uint64', ft.random.bits(key, [2], { dtype: 'uint64' }))
  dtype('float32', ft.random.uniform(key, [2]))
  dtype('float16', ft.random.uniform(key, [2], { dtype: 'float16', low: -1, high: 1 }))
  dtype('float32', ft.random.normal(key, [2]))
  dtype('bfloat16', ft.random.normal(key, [2], { dtype: 'bfloat16', mean: 1, std: 2 }))
  dtype('int32', ft.random.randint(key, 0, 2, [1]))
  dtype('uint8', ft.random.randint(key, 0, 2, [1], { dtype: 'uint8' }))
  dtype('int64', ft.random.randint(key, 0n, 2n, [1]))
  dtype('int64', ft.random.randint(key, 0, 2n, [1]))
  dtype('uint8', ft.random.randint(key, 0n, 2n, [1], { dtype: 'uint8' }))
  dtype('int32', ft.random.permutation(key, 5))
  // Distributions.
  dtype('float32', ft.random.exponential(key, [2]))
  dtype('float64', ft.random.exponential(key, [2], { dtype: 'float64', scale: 2 }))
  dtype('float32', ft.random.gumbel(key, [2]))
  dtype('float16', ft.random.gumbel(key, [2], { dtype: 'float16', location: 1, scale: 2 }))
  dtype('float32', ft.random.truncatedNormal(key, [2]))
  dtype('float64', ft.random.truncatedNormal(key, [2], { dtype: 'float64', mean: 1, std: 2, low: 0, high: 3 }))
  dtype('bool', ft.random.bernoulli(key, [4], { p: 0.1 }))
  dtype('bool', ft.random.bernoulli(key, [4], { p: f64 }))
  dtype('int32', ft.random.categorical(key, f32))
  dtype('int32', ft.random.categorical(key, i8, { axis: 0, shape: [3] }))
  dtype('int32', ft.random.choice(key, 4, [2], { replace: false }))
  dtype('complex64', ft.random.choice(key, c64, [2], { p: f32 }))
  dtype('complex64', ft.random.shuffle(key, c64))
  dtype('int8', ft.random.shuffle(key, i8, -1))
  dtype('float32', ft.random.multivariateNormal(key, f32, ft.eye(4), { shape: [2] }))
  dtype('float64', ft.random.multivariateNormal(key, i8, ft.eye(4, { dtype: 'float64' })))
  dtype('float32', ft.random.multivariateNormal(key, f16, ft.eye(4, { dtype: 'float16' })))
  dtype('float32', ft.random.laplace(key, [2]))
  dtype('float64', ft.random.logistic(key, [2], { dtype: 'float64', location: 1 }))
  dtype('float16', ft.random.cauchy(key, [2], { dtype: 'float16' }))
  dtype('float32', ft.random.lognormal(key, [2], { std: 2 }))
  dtype('float64', ft.random.rayleigh(key, [2], { dtype: 'float64' }))
  dtype('float32', ft.random.triangular(key, 0, 1, 2, [2]))
  // By their parameters, where those are floating.
  dtype('float64', ft.random.weibull(key, f64, [4]))
  dtype('float32', ft.random.pareto(key, 2, [4]))
  dtype('float16', ft.random.power(key, i8, [4], { dtype: 'float16' }))
  dtype('float64', ft.random.wald(key, 2, f64, [4]))
  dtype('float32', ft.random.vonmises(key, 0, i8, [4]))
  dtype('float64', ft.random.chisquare(key, f64, [4]))
  dtype('float32', ft.random.standardT(key, 3, [4]))
  dtype('float64', ft.random.f(key, 3, f64, [4]))
  dtype('float64', ft.random.dirichlet(key, f64))
  dtype('float32', ft.random.dirichlet(key, i8, { shape: [2] }))
  dtype('int32', ft.random.geometric(key, 0.5, [4]))
  dtype('int64', ft.random.negativeBinomial(key, 2, f32, [4], { dtype: 'int64' }))
  dtype('uint8', ft.random.multinomial(key, 3, f32, { dtype: 'uint8' }))
  dtype('float32', generator.laplace([2]))
  dtype('float64', generator.standardExponential([2], { dtype: 'float64' }))
  dtype('float64', generator.standardGamma(f64, [4]))
  dtype('float32', generator.cauchy([2]))
  dtype('float32', generator.logistic([2]))
  dtype('float16', generator.lognormal([2], { dtype: 'float16' }))
  dtype('float32', generator.rayleigh([2]))
  dtype('float32', generator.triangular(0, 1, 2, [2]))
  dtype('float64', generator.weibull(f64, [4]))
  dtype('float32', generator.pareto(2, [4]))
  dtype('float32', generator.power(2, [4]))
  dtype('float32', generator.wald(2, 3, [4]))
  dtype('float32', generator.chisquare(2, [4]))
  dtype('float32', generator.standardT(2, [4]))
  dtype('float64', generator.f(2, f64, [4]))
  dtype('float32', generator.vonmises(0, 3, [4]))
  dtype('float32', generator.dirichlet(f32))
  dtype('int32', generator.geometric(0.5, [4]))
  dtype('uint8', generator.negativeBinomial(3, 0.5, [4], { dtype: 'uint8' }))
  dtype('int32', generator.multinomial(3, f32))
  dtype('float32', ft.random.gamma(key, 2, [4]))
  dtype('float64', ft.random.gamma(key, f64, [4]))
  dtype('float32', ft.random.gamma(key, i8, [4]))
  dtype('float16', ft.random.gamma(key, f64, [4], { dtype: 'float16' }))
  dtype('float32', ft.random.beta(key, 1, 2, [4]))
  dtype('float16', ft.random.beta(key, f16, f64, [4]))
  dtype('bfloat16', ft.random.beta(key, 1, bf16, [4]))
  dtype('float64', ft.random.beta(key, i8, 1, [4], { dtype: 'float64' }))
  dtype('int32', ft.random.poisson(key, 3, [2]))
  dtype('int64', ft.random.poisson(key, f64, [4], { dtype: 'int64' }))
  dtype('int32', ft.random.binomial(key, 5, 0.5, [2]))
  dtype('uint8', ft.random.binomial(key, i8, f32, [4], { dtype: 'uint8' }))
  // The same of a generator.
  dtype('uint32', generator.key())
  dtype('uint32', generator.bits([2]))
  dtype('uint64', generator.bits([2], { dtype: 'uint64' }))
  dtype('float32', generator.uniform([2]))
  dtype('float64', generator.uniform([2], { dtype: 'float64' }))
  dtype('float32', generator.normal([2]))
  dtype('float16', generator.normal([2], { dtype: 'float16' }))
  dtype('int32', generator.randint(0, 2, [1]))
  dtype('int8', generator.randint(0, 2, [1], { dtype: 'int8' }))
  dtype('int64', generator.randint(0n, 2n, [1]))
  dtype('int32', generator.permutation(3))
  dtype('float32', generator.exponential([2]))
  dtype('bfloat16', generator.exponential([2], { dtype: 'bfloat16' }))
  dtype('float32', generator.gumbel([2]))
  dtype('float32', generator.truncatedNormal([2]))
  dtype('bool', generator.bernoulli([2]))
  dtype('int32', generator.categorical(f64))
  dtype('int32', generator.choice(4, [2]))
  dtype('bool', generator.choice(bool, [2]))
  dtype('bool', generator.shuffle(bool, { axis: 0 }))
  dtype('float32', generator.multivariateNormal(f32, ft.eye(4)))
  dtype('float16', generator.gamma(f16, [4]))
  dtype('float64', generator.beta(1, f64, [4]))
  dtype('int32', generator.poisson(3, [2]))
  dtype('int16', generator.binomial(5, 0.5, [2], { dtype: 'int16' }))
}

/** Compiled, never called. */
export function compiled(): void {
  is<ft.random.Generator>()(ft.random.generator(0))
  is<[ft.random.Key, ft.random.Key]>()(ft.random.split(key))
  dtype('float32' as ft.FloatDType, ft.random.gamma(key, wide, [4]))
  dtype('float32' as ft.DType, ft.random.choice(key, wide, [2]))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: the key is missing
  ft.random.shuffle(f32)
  // @ts-expect-error: a text for a seed
  ft.random.key('1')
  // @ts-expect-error: the seed is missing
  ft.random.key()
  // @ts-expect-error: options are an object
  ft.random.key(1.5, 2)
  // @ts-expect-error: a tensor of floats is no key
  ft.random.split(f32)
  // @ts-expect-error: a text for a number
  ft.random.split(key, '2')
  // @ts-expect-error: a seed is no key
  ft.random.split(7)
  // @ts-expect-error: the number is missing
  ft.random.fold(key)
  // @ts-expect-error: a tensor for a number
  ft.random.fold(key, key)
  // @ts-expect-error: the key is missing
  ft.random.uniform([2])
  // @ts-expect-error: the shape is missing
  ft.random.uniform(key)
  // @ts-expect-error: sizes are an array
  ft.random.uniform(key, 2)
  // @ts-expect-error: of floats alone
  ft.random.uniform(key, [2], { dtype: 'int32' })
  // @ts-expect-error: no such option
  ft.random.uniform(key, [2], { min: 0 })
  // @ts-expect-error: a text for a number
  ft.random.uniform(key, [2], { low: '0' })
  // @ts-expect-error: a seed is no key
  ft.random.normal(0, [2])
  // @ts-expect-error: of floats alone
  ft.random.normal(key, [2], { dtype: 'complex64' })
  // @ts-expect-error: no such option
  ft.random.normal(key, [2], { scale: 1 })
  // @ts-expect-error: of uint32 and uint64 alone
  ft.random.bits(key, [2], { dtype: 'int32' })
  // @ts-expect-error: the shape is missing
  ft.random.randint(key, 0, 2)
  // @ts-expect-error: of integers alone
  ft.random.randint(key, 0, 2, [1], { dtype: 'float32' })
  // @ts-expect-error: a text for a bound
  ft.random.randint(key, '0', 2n, [1])
  // @ts-expect-error: of integers alone
  ft.random.randint(key, 0, 2, [1], { dtype: 'bool' })
  // @ts-expect-error: a tensor for a number
  ft.random.permutation(key, f32)
  // @ts-expect-error: no such option
  ft.random.exponential(key, [2], { rate: 1 })
  // @ts-expect-error: of floats alone
  ft.random.gumbel(key, [2], { dtype: 'int8' })
  // @ts-expect-error: no such option
  ft.random.truncatedNormal(key, [2], { min: 0 })
  // @ts-expect-error: options are an object
  ft.random.bernoulli(key, [2], 0.5)
  // @ts-expect-error: a text for a probability
  ft.random.bernoulli(key, [2], { p: '0.5' })
  // @ts-expect-error: probabilities are real
  ft.random.bernoulli(key, [2], { p: c64 })
  // @ts-expect-error: complex numbers have no order
  ft.random.categorical(key, c64)
  // @ts-expect-error: bool is no numeric dtype
  ft.random.categorical(key, bool)
  // @ts-expect-error: an array for a tensor
  ft.random.categorical(key, [0, 1])
  // @ts-expect-error: sizes are an array
  ft.random.categorical(key, f32, { shape: 3 })
  // @ts-expect-error: an array for a tensor
  ft.random.choice(key, [1, 2], [1])
  // @ts-expect-error: the shape is missing
  ft.random.choice(key, 4)
  // @ts-expect-error: an array for a tensor
  ft.random.choice(key, 4, [2], { p: [0.1] })
  // @ts-expect-error: the covariances are missing
  ft.random.multivariateNormal(key, f32)
  // @ts-expect-error: bool is no numeric dtype
  ft.random.multivariateNormal(key, bool, f32)
  // @ts-expect-error: covariances are real
  ft.random.multivariateNormal(key, f32, c64)
  // @ts-expect-error: parameters are real
  ft.random.gamma(key, c64, [2])
  // @ts-expect-error: a text for a parameter
  ft.random.gamma(key, '1', [2])
  // @ts-expect-error: of floats alone
  ft.random.gamma(key, 1, [2], { dtype: 'int32' })
  // @ts-expect-error: a bigint for a parameter
  ft.random.gamma(key, 1n, [2])
  // @ts-expect-error: the other parameter is missing
  ft.random.beta(key, 1, [2])
  // @ts-expect-error: parameters are real
  ft.random.beta(key, 1, c64, [2])
  // @ts-expect-error: of integers alone
  ft.random.poisson(key, 3, [2], { dtype: 'float32' })
  // @ts-expect-error: parameters are real
  ft.random.poisson(key, c64, [2])
  // @ts-expect-error: the probability is missing
  ft.random.binomial(key, 5, [2])
  // @ts-expect-error: parameters are real
  ft.random.binomial(key, c64, 0.5, [2])
  // @ts-expect-error: a seed is no key
  new ft.random.Generator(7)
  // @ts-expect-error: a text for a seed
  ft.random.generator('7')
  // @ts-expect-error: the shape is missing
  generator.uniform()
  // @ts-expect-error: a generator has its key
  generator.uniform(key, [2])
  // @ts-expect-error: of floats alone
  generator.normal([2], { dtype: 'int8' })
  // @ts-expect-error: of integers alone
  generator.randint(0, 2, [1], { dtype: 'float16' })
  // @ts-expect-error: an array for a tensor
  generator.choice([1], [1])
  // @ts-expect-error: complex numbers have no order
  generator.categorical(c64)
  // @ts-expect-error: parameters are real
  generator.gamma(c64, [2])
  // @ts-expect-error: of integers alone
  generator.poisson(3, [2], { dtype: 'float64' })
  // @ts-expect-error: no such method
  generator.split()
  // @ts-expect-error: the result is float32
  ft.random.uniform(key, [2]) satisfies ft.Tensor<'float64'>
  // @ts-expect-error: the result is float64
  ft.random.gamma(key, f64, [4]) satisfies ft.Tensor<'float32'>
  // @ts-expect-error: the result is int32
  ft.random.randint(key, 0, 2, [1]) satisfies ft.Tensor<'int64'>
}
