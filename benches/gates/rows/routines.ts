// Rows of Fourier transforms, dense linear algebra in float64, and random numbers.

import * as ft from 'ferrotensor'
import { fourier, row, uniform, uniform64, type Row } from '../row.js'

const N = 512
const DRAWN = 1e7

const fft = (exponent: number, gate: number): Row =>
  row({
    name: `fft_2^${exponent}`,
    gate,
    stretch: 2,
    limit: { flops: fourier(2 ** exponent) },
    tolerance: 1e-4,
    operands: () => {
      const [re, im] = [uniform([2 ** exponent]), uniform([2 ** exponent])]
      // ONNX has pairs of floats for complex numbers.
      return { z: ft.complex(re, im), pairs: ft.stack([re, im], 1).reshape([1, 2 ** exponent, 2]) }
    },
    ours: ({ z }) => ft.fft.fft(z),
    calls: { numpy: 'scipy.fft.fft(z, workers=-1)', torch: 'torch.fft.fft(z)', jax: 'jnp.fft.fft(z)' },
    onnx: [['DFT', 'pairs', 'y']]
  })

/** Random, far from singular. */
const general = () => ({ a: uniform64([N, N]), b: uniform64([N]) })
const symmetric = () => {
  const a = uniform64([N, N])
  return { a: a.add(a.matrixTranspose()).divide(2) }
}
const definite = () => {
  const a = uniform64([N, N])
  return { a: a.matmul(a.matrixTranspose()).divide(N).add(ft.eye(N, { dtype: 'float64' })) }
}
const cubes = (factor: number) => ({ flops: factor * N ** 3, wide: true }) as const
/** Of entries of vectors that neighbours in the spectrum mix. */
const MIXED = 1e-6

export const ROUTINES: readonly Row[] = [
  fft(16, 1),
  fft(20, 0.9),
  row({
    name: 'solve_512',
    gate: 0.9,
    stretch: 1.2,
    limit: cubes(2 / 3),
    tolerance: MIXED,
    operands: general,
    ours: ({ a, b }) => ft.linalg.solve(a, b),
    calls: { numpy: 'np.linalg.solve(a, b)', torch: 'torch.linalg.solve(a, b)', jax: 'jnp.linalg.solve(a, b)', 'numpy-ts': 'np.linalg.solve(a, b)', faer: 'solve' }
  }),
  row({
    name: 'cholesky_512',
    gate: 1,
    stretch: 1.5,
    limit: cubes(1 / 3),
    tolerance: MIXED,
    operands: definite,
    ours: ({ a }) => ft.linalg.cholesky(a),
    calls: { numpy: 'np.linalg.cholesky(a)', torch: 'torch.linalg.cholesky(a)', jax: 'jnp.linalg.cholesky(a)', 'numpy-ts': 'np.linalg.cholesky(a)', faer: 'cholesky' }
  }),
  row({
    name: 'qr_512',
    gate: 0.9,
    stretch: 1.2,
    limit: cubes(8 / 3),
    tolerance: MIXED,
    signless: true,
    operands: general,
    ours: ({ a }) => ft.linalg.qr(a),
    calls: { numpy: 'np.linalg.qr(a)', torch: 'torch.linalg.qr(a)', jax: 'jnp.linalg.qr(a)', 'numpy-ts': 'np.linalg.qr(a)', faer: 'qr' }
  }),
  row({
    name: 'svd_512',
    gate: 0.6,
    stretch: 1,
    limit: cubes(22),
    tolerance: MIXED,
    signless: true,
    operands: general,
    ours: ({ a }) => ft.linalg.svd(a),
    // numpy-ts takes 12 s a call.
    calls: { numpy: 'np.linalg.svd(a)', torch: 'torch.linalg.svd(a)', jax: 'jnp.linalg.svd(a)', faer: 'svd' }
  }),
  row({
    name: 'eigh_512',
    gate: 0.55,
    stretch: 1,
    limit: cubes(9),
    tolerance: MIXED,
    signless: true,
    operands: symmetric,
    ours: ({ a }) => ft.linalg.eigh(a),
    // As above of numpy-ts.
    calls: { numpy: 'np.linalg.eigh(a)', torch: 'torch.linalg.eigh(a)', jax: 'jnp.linalg.eigh(a)', faer: 'eigh' }
  }),
  row({
    name: 'randn_1e7',
    gate: 10,
    stretch: 21.2,
    limit: { reads: 0, writes: 1, bytes: DRAWN * 4 },
    // Each library has generators of its own.
    tolerance: Infinity,
    operands: () => ({ key: ft.tensor([0, 42], { dtype: 'uint32' }) }),
    ours: () => ft.random.normal(ft.random.key(42), [DRAWN]),
    calls: {
      numpy: `rng.standard_normal(${DRAWN}, np.float32)`,
      torch: `torch.randn(${DRAWN})`,
      jax: `jax.random.normal(key, (${DRAWN},))`,
      tfjs: `tf.randomNormal([${DRAWN}])`,
      candle: 'randn 1e7'
    },
    onnx: [['RandomNormal', '', 'y', { shape: [DRAWN] }]]
  })
]
