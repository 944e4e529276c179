// Rows of what networks are made of: rows normalised, convolution, pooling, and a whole training step.

import * as ft from 'ferrotensor'
import { row, uniform, type Row } from '../row.js'

const [ROWS, COLUMNS] = [4096, 1024]
const MATRIX = { reads: 1, writes: 1, bytes: ROWS * COLUMNS * 4 }
const [CHANNELS, SIDE, POOLED] = [64, 56, 112]

const [HEADS, WIDTH] = [8, 64]

/** Attention of so many queries to as many keys. */
const attention = (n: number): Row =>
  row({
    name: `attention_${n}`,
    gate: 1,
    stretch: 1.5,
    limit: { flops: 4 * HEADS * n ** 2 * WIDTH },
    tolerance: 1e-4,
    operands: () => ({ q: uniform([1, HEADS, n, WIDTH]), k: uniform([1, HEADS, n, WIDTH]), v: uniform([1, HEADS, n, WIDTH]), s: uniform([], 1 / 8, 1 / 8) }),
    ours: ({ q, k, v }) => ft.nn.scaledDotProductAttention(q, k, v),
    calls: {
      numpy: '(e := np.exp((w := q @ k.swapaxes(-1, -2) / 8) - w.max(-1, keepdims=True))) / e.sum(-1, keepdims=True) @ v',
      torch: 'F.scaled_dot_product_attention(q, k, v)',
      jax: 'jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8) @ v',
      tfjs: 'tf.matMul(tf.softmax(tf.div(tf.matMul(q, k, false, true), 8)), v)'
    },
    onnx: [['Transpose', 'k', 't', { perm: [0, 1, 3, 2] }], ['MatMul', 'q t', 'w'], ['Mul', 'w s', 'x'], ['Softmax', 'x', 'p', { axis: -1 }], ['MatMul', 'p v', 'y']]
  })

export const NETWORKS: readonly Row[] = [
  row({
    name: 'softmax',
    gate: 1.05,
    stretch: 1.1,
    against: { 'onnxruntime-node': 8 },
    limit: MATRIX,
    operands: () => ({ m: uniform([ROWS, COLUMNS]) }),
    ours: ({ m }) => ft.softmax(m, -1),
    calls: {
      numpy: '(e := np.exp(m - m.max(1, keepdims=True))) / e.sum(1, keepdims=True)',
      torch: 'm.softmax(1)',
      jax: 'jax.nn.softmax(m)',
      tfjs: 'tf.softmax(m)',
      'numpy-ts': '((e) => np.divide(e, np.sum(e, 1, true)))(np.exp(np.subtract(m, np.max(m, 1, true))))',
      candle: 'softmax'
    },
    onnx: [['Softmax', 'm', 'y', { axis: -1 }]]
  }),
  row({
    name: 'layernorm',
    gate: 1.3,
    stretch: 1.4,
    limit: MATRIX,
    operands: () => ({ m: uniform([ROWS, COLUMNS]), w: uniform([COLUMNS]), b: uniform([COLUMNS]) }),
    ours: ({ m, w, b }) => ft.nn.layerNorm(m, w, b),
    calls: {
      numpy: '((d := m - m.mean(1, keepdims=True)) / np.sqrt(np.square(d).mean(1, keepdims=True) + 1e-5)) * w + b',
      torch: 'F.layer_norm(m, (1024,), w, b)',
      jax: '(d := m - m.mean(1, keepdims=True)) * lax.rsqrt(jnp.square(d).mean(1, keepdims=True) + 1e-5) * w + b',
      tfjs: '(({ mean, variance }) => tf.add(tf.mul(tf.mul(tf.sub(m, mean), tf.rsqrt(tf.add(variance, 1e-5))), w), b))(tf.moments(m, 1, true))',
      candle: 'layernorm'
    },
    onnx: [['LayerNormalization', 'm w b', 'y', { axis: -1 }]]
  }),
  attention(512),
  attention(2048),
  row({
    name: 'conv3x3_64x56',
    gate: 1.15,
    stretch: 1.3,
    limit: { flops: 2 * SIDE ** 2 * CHANNELS ** 2 * 9 },
    operands: () => ({ x: uniform([1, CHANNELS, SIDE, SIDE]), w: uniform([CHANNELS, CHANNELS, 3, 3]) }),
    ours: ({ x, w }) => ft.nn.conv(x, w, { padding: 1 }),
    calls: { torch: 'F.conv2d(x, w, padding=1)', jax: "lax.conv_general_dilated(x, w, (1, 1), 'SAME')", candle: 'conv' },
    onnx: [['Conv', 'x w', 'y', { pads: [1, 1, 1, 1] }]]
  }),
  row({
    name: 'maxpool_64x112',
    gate: 3,
    stretch: 10.6,
    // Four elements are read for each that is written: as many bytes as a copy of 5/8.
    limit: { reads: 1, writes: 1, bytes: (CHANNELS * POOLED ** 2 * 4 * 5) / 8 },
    operands: () => ({ x: uniform([1, CHANNELS, POOLED, POOLED]) }),
    // As the first layers of residual networks do it.
    ours: ({ x }) => ft.nn.maxPool(x, 3, { stride: 2, padding: 1 }),
    calls: {
      torch: 'F.max_pool2d(x, 3, 2, 1)',
      jax: 'lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1)))'
    },
    onnx: [['MaxPool', 'x', 'y', { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }]]
  }),
  row({
    name: 'mlp_step',
    gate: 1.6,
    stretch: 3.4,
    // Forwards, and backwards to the weights; of the last layer to its input too.
    limit: { flops: 2 * 128 * (2 * 784 * 256 + 3 * 256 * 10) },
    tolerance: 1e-4,
    training: 'dense',
    operands: () => ({}),
    ours: () => ({}),
    calls: { torch: '', jax: '', tfjs: '' }
  })
]
