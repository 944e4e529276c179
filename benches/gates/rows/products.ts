// Rows of products: matrices, vectors and batches.

import { bytes, row, uniform, uniform64, type Limit, type Row } from '../row.js'

const MATMUL = { numpy: 'a @ b', torch: 'a @ b', jax: 'a @ b', tfjs: 'tf.matMul(a, b)', 'numpy-ts': 'np.matmul(a, b)', candle: 'matmul', gemm: 'matmul', faer: 'matmul', ndarray: 'matmul' }
const square = (n: number): Limit => ({ flops: 2 * n ** 3 })

/** A product of square matrices. */
const matmul = (n: number, gate: number, stretch: number, against: NonNullable<Row['against']> = {}): Row =>
  row({
    name: `matmul${n}`,
    gate,
    stretch,
    against,
    limit: square(n),
    operands: () => ({ a: uniform([n, n]), b: uniform([n, n]) }),
    ours: ({ a, b }) => a.matmul(b),
    calls: MATMUL,
    onnx: [['MatMul', 'a b', 'y']]
  })

const [BATCH, SIDE] = [64, 128]
const VECTOR = 4096

export const PRODUCTS: readonly Row[] = [
  matmul(64, 0.95, 1.8),
  matmul(256, 1.05, 1.2),
  matmul(1024, 1.05, 1.2, { 'onnxruntime-node': 1.4, candle: 1.8, tfjs: 10 }),
  matmul(2048, 1, 1.2),
  row({
    name: 'matmul1024_f64',
    gate: 1.1,
    stretch: 1.2,
    limit: { flops: 2 * 1024 ** 3, wide: true },
    operands: () => ({ a: uniform64([1024, 1024]), b: uniform64([1024, 1024]) }),
    ours: ({ a, b }) => a.matmul(b),
    calls: { numpy: 'a @ b', torch: 'a @ b', jax: 'a @ b', 'numpy-ts': 'np.matmul(a, b)', candle: 'matmul', gemm: 'matmul', faer: 'matmul', ndarray: 'matmul' },
    onnx: [['MatMul', 'a b', 'y']]
  }),
  row({
    name: 'matmul1024_i8',
    gate: 1,
    stretch: 1.5,
    // An instruction for integers of 8 bits does four times as much as one for floats.
    limit: { flops: (2 * 1024 ** 3) / 4 },
    operands: () => ({ a: bytes([1024, 1024]), b: bytes([1024, 1024]) }),
    ours: ({ a, b }) => a.astype('int32').matmul(b.astype('int32')),
    // NumPy's loop takes a second.
    calls: { torch: 'torch._int_mm(a, b)', jax: 'jnp.matmul(a, b, preferred_element_type=jnp.int32)' },
    onnx: [['MatMulInteger', 'a b', 'y']]
  }),
  row({
    name: 'gemv4096',
    gate: 1,
    stretch: 1,
    limit: { reads: 1, writes: 0, bytes: VECTOR * VECTOR * 4 },
    operands: () => ({ m: uniform([VECTOR, VECTOR]), v: uniform([VECTOR]) }),
    ours: ({ m, v }) => m.matmul(v),
    calls: { numpy: 'm @ v', torch: 'm @ v', jax: 'm @ v', tfjs: 'tf.dot(m, v)', 'numpy-ts': 'np.matmul(m, v)', candle: 'matvec', gemm: 'matvec', ndarray: 'matvec' },
    onnx: [['MatMul', 'm v', 'y']]
  }),
  row({
    name: 'bmm64x128',
    gate: 1.2,
    stretch: 1.3,
    limit: { flops: 2 * BATCH * SIDE ** 3 },
    operands: () => ({ a: uniform([BATCH, SIDE, SIDE]), b: uniform([BATCH, SIDE, SIDE]) }),
    ours: ({ a, b }) => a.matmul(b),
    calls: { numpy: 'a @ b', torch: 'a @ b', jax: 'a @ b', tfjs: 'tf.matMul(a, b)', 'numpy-ts': 'np.matmul(a, b)', candle: 'matmul', gemm: 'matmul' },
    onnx: [['MatMul', 'a b', 'y']]
  })
]
