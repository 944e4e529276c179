// Cases of operations.bench.ts: tensors out of nothing, of JavaScript's data, or at random.

import * as ft from 'ferrotensor'
import { FREE, type Case } from './case.js'

export const CREATION: readonly Case[] = [
  // np.zeros leaves the writing to whoever reads the pages first.
  ['zeros', ({ n }) => ft.zeros([n]), 'np.full(n, 0, np.float32)'],
  ['ones', ({ n }) => ft.ones([n]), 'np.ones(n, np.float32)'],
  ['empty', ({ n }) => ft.empty([n]), '-'],
  ['full', ({ n }) => ft.full([n], 7), 'np.full(n, 7, np.float32)'],
  ['zerosLike', ({ x }) => ft.zerosLike(x), 'np.full_like(x, 0)'],
  ['onesLike', ({ x }) => ft.onesLike(x), 'np.ones_like(x)'],
  ['emptyLike', ({ x }) => ft.emptyLike(x), '-'],
  ['fullLike', ({ x }) => ft.fullLike(x, 7), 'np.full_like(x, 7)'],
  ['eye', ({ side }) => ft.eye(side), 'np.eye(side, dtype=np.float32)'],
  ['tril', ({ m }) => ft.tril(m), 'np.tril(m)'],
  ['triu', ({ m }) => ft.triu(m), 'np.triu(m)'],
  ['arange', ({ n }) => ft.arange(n), 'np.arange(n, dtype=np.float32)'],
  ['linspace', ({ n }) => ft.linspace(0, 1, n), 'np.linspace(0, 1, n, dtype=np.float32)'],
  ['logspace', ({ n }) => ft.logspace(0, 1, n), 'np.logspace(0, 1, n, dtype=np.float32)'],
  ['meshgrid', ({ v, v2 }) => ft.meshgrid(v, v2).map((grid) => grid.copy()), 'np.meshgrid(v, v2)'],
  ['fromTypedArray', ({ typed }) => ft.fromTypedArray(typed), 'x.copy()', FREE],
  ['tensor', ({ list }) => ft.tensor(list), '-'],

  ['random.bits', ({ key, n }) => ft.random.bits(key, [n]), 'rng.integers(0, 2**32, n, np.uint32)', FREE],
  ['random.uniform', ({ key, n }) => ft.random.uniform(key, [n]), 'rng.random(n, np.float32)', FREE],
  ['random.normal', ({ key, n }) => ft.random.normal(key, [n]), 'rng.standard_normal(n, np.float32)', FREE],
  ['random.randint', ({ key, n }) => ft.random.randint(key, 0, 1000, [n]), 'rng.integers(0, 1000, n, np.int32)', FREE],
  ['random.permutation', ({ key, n }) => ft.random.permutation(key, n), 'rng.permutation(n)', FREE],
  ['random.bernoulli', ({ key, n }) => ft.random.bernoulli(key, [n]), 'rng.random(n, np.float32) < 0.5', FREE],
  ['random.categorical', ({ key, m }) => ft.random.categorical(key, m), '(m + rng.gumbel(size=m.shape)).argmax(1)', FREE],
  ['random.choice', ({ key, x, n }) => ft.random.choice(key, x, [n]), 'rng.choice(x, n)', FREE],
  ['random.exponential', ({ key, n }) => ft.random.exponential(key, [n]), 'rng.standard_exponential(n, np.float32)', FREE],
  ['random.gumbel', ({ key, n }) => ft.random.gumbel(key, [n]), 'rng.gumbel(size=n)', FREE],
  ['random.gamma', ({ key, n }) => ft.random.gamma(key, 2, [n]), 'rng.standard_gamma(2, n, np.float32)', FREE],
  ['random.beta', ({ key, n }) => ft.random.beta(key, 2, 3, [n]), 'rng.beta(2, 3, n)', FREE],
  ['random.poisson', ({ key, n }) => ft.random.poisson(key, 4, [n]), 'rng.poisson(4, n)', FREE],
  ['random.poisson of a large mean', ({ key, n }) => ft.random.poisson(key, 1000, [n]), 'rng.poisson(1000, n)', FREE],
  ['random.binomial', ({ key, n }) => ft.random.binomial(key, 10, 0.3, [n]), 'rng.binomial(10, 0.3, n)', FREE],
  ['random.binomial of many', ({ key, n }) => ft.random.binomial(key, 1000, 0.3, [n]), 'rng.binomial(1000, 0.3, n)', FREE],
  ['random.truncatedNormal', ({ key, n }) => ft.random.truncatedNormal(key, [n]), '-'],
  [
    'random.multivariateNormal',
    ({ key, mean, covariance, rhs }) => ft.random.multivariateNormal(key, mean, covariance, { shape: rhs.shape }),
    'rng.multivariate_normal(mean, covariance, rhs.shape)',
    FREE
  ]
]
