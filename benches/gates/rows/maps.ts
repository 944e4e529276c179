// Rows of elementwise operations, and of copies that change order, place or dtype.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import type { Node } from '../onnx.js'
import { integers, row, uniform, type Limit, type Row } from '../row.js'

const [SMALL, LARGE] = [1e5, 1e7]
const CHAIN = 1000

/** An operation on its own result, again and again. */
function chained(step: (x: Tensor) => Tensor, start: Tensor): Tensor {
  let x = start
  for (let i = 0; i < CHAIN; i++) x = step(x)
  return x
}

const pass = (reads: number, n: number): Limit => ({ reads, writes: 1, bytes: n * 4 })
const ADD = { numpy: 'x + y', torch: 'x + y', jax: 'x + y', tfjs: 'tf.add(x, y)', 'numpy-ts': 'np.add(x, y)', candle: 'add', ndarray: 'add' }

/** Additions that follow from one another: the cost of an operation, its work aside. */
const addChain = (name: string, n: number, gate: number, limit: Limit | null, more: Pick<Row, 'against' | 'aside'>): Row =>
  row({
    name,
    gate,
    stretch: 1.4,
    ...more,
    limit,
    chain: CHAIN,
    operands: () => ({ x: uniform([n]), y: uniform([n], -1e-3, 1e-3) }),
    ours: ({ x, y }) => chained((x) => x.add(y), x),
    calls: ADD,
    onnx: [['Add', 'x y', 'z']]
  })

const add = (n: number, gate: number, stretch: number, against: NonNullable<Row['against']> = {}): Row =>
  row({
    name: `add_${n.toExponential().replace('+', '')}`,
    gate,
    stretch,
    against,
    limit: pass(2, n),
    operands: () => ({ x: uniform([n]), y: uniform([n]) }),
    ours: ({ x, y }) => x.add(y),
    calls: ADD,
    onnx: [['Add', 'x y', 'z']]
  })

type Unary = readonly [name: string, ours: (x: Tensor) => Tensor, calls: Row['calls'], onnx: Node, gates: readonly [small: number, stretch: number, large: number, stretch: number]]
const UNARY: readonly Unary[] = [
  ['exp', ft.exp, { numpy: 'np.exp(x)', torch: 'x.exp()', jax: 'jnp.exp(x)', tfjs: 'tf.exp(x)', 'numpy-ts': 'np.exp(x)', candle: 'exp' }, ['Exp', 'x', 'y'], [1.25, 1.5, 1.25, 1.3]],
  ['log', ft.log, { numpy: 'np.log(x)', torch: 'x.log()', jax: 'jnp.log(x)', tfjs: 'tf.log(x)', 'numpy-ts': 'np.log(x)', candle: 'log' }, ['Log', 'x', 'y'], [1.4, 1.8, 2.8, 3.3]],
  ['tanh', ft.tanh, { numpy: 'np.tanh(x)', torch: 'x.tanh()', jax: 'jnp.tanh(x)', tfjs: 'tf.tanh(x)', 'numpy-ts': 'np.tanh(x)', candle: 'tanh' }, ['Tanh', 'x', 'y'], [1.3, 1.7, 1.3, 1.4]],
  ['sigmoid', ft.sigmoid, { numpy: '1 / (1 + np.exp(-x))', torch: 'x.sigmoid()', jax: 'jax.nn.sigmoid(x)', tfjs: 'tf.sigmoid(x)', candle: 'sigmoid' }, ['Sigmoid', 'x', 'y'], [2, 2.7, 1.05, 1.1]],
  ['sin', ft.sin, { numpy: 'np.sin(x)', torch: 'x.sin()', jax: 'jnp.sin(x)', tfjs: 'tf.sin(x)', 'numpy-ts': 'np.sin(x)', candle: 'sin' }, ['Sin', 'x', 'y'], [1.8, 2.9, 2.5, 3.1]],
  [
    'gelu',
    (x) => ft.nn.gelu(x),
    {
      numpy: 'x / 2 * (1 + scipy.special.erf(x / 1.4142135623730951))',
      torch: 'F.gelu(x)',
      jax: 'jax.nn.gelu(x, approximate=False)',
      tfjs: 'tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.div(x, 1.4142135623730951)), 1))',
      candle: 'gelu'
    },
    ['Gelu', 'x', 'y'],
    [1.2, 1.6, 1.5, 1.8]
  ]
]

const unary = ([name, ours, calls, node, gates]: Unary): Row[] =>
  ([[SMALL, '1e5', gates[0], gates[1]], [LARGE, '1e7', gates[2], gates[3]]] as const).map(([n, size, gate, stretch]) =>
    row({
      name: `${name}_${size}`,
      gate,
      stretch,
      limit: pass(1, n),
      operands: () => ({ x: name === 'log' ? uniform([n], 0.05, 4) : uniform([n]) }),
      ours: ({ x }) => ours(x),
      calls,
      onnx: [node]
    })
  )

const pow = (n: number, size: string, gate: number, stretch: number): Row =>
  row({
    name: `pow_${size}`,
    gate,
    stretch,
    limit: pass(2, n),
    operands: () => ({ x: uniform([n], 0.5, 2), y: uniform([n]) }),
    ours: ({ x, y }) => x.pow(y),
    calls: { numpy: 'x ** y', torch: 'x ** y', jax: 'x ** y', tfjs: 'tf.pow(x, y)', 'numpy-ts': 'np.power(x, y)', candle: 'pow' },
    onnx: [['Pow', 'x y', 'z']]
  })

const chain = (n: number, size: string, gate: number, stretch: number): Row =>
  row({
    name: `chain_${size}`,
    gate,
    stretch,
    limit: pass(3, n),
    operands: () => ({ a: uniform([n]), b: uniform([n]), c: uniform([n]) }),
    ours: ({ a, b, c }) => a.multiply(b).add(c).relu().exp(),
    calls: {
      numpy: 'np.exp(np.maximum(a * b + c, 0))',
      torch: '(a * b + c).relu().exp()',
      jax: 'jnp.exp(jax.nn.relu(a * b + c))',
      tfjs: 'tf.exp(tf.relu(tf.add(tf.mul(a, b), c)))',
      'numpy-ts': 'np.exp(np.maximum(np.add(np.multiply(a, b), c), 0))',
      candle: 'chain'
    },
    onnx: [['Mul', 'a b', 'p'], ['Add', 'p c', 's'], ['Relu', 's', 'r'], ['Exp', 'r', 'y']]
  })

const [MATRIX, SQUARE] = [3168, 1024]
const [PICKED, WIDTH] = [1e5, 64]

export const MAPS: readonly Row[] = [
  addChain('tiny_add4', 4, 1, null, {
    // The fastest in JavaScript is among these.
    against: { tfjs: 7, 'onnxruntime-node': 7, 'numpy-ts': 7 },
    aside: { ndarray: 'its dtype and rank are known to the compiler: nothing is left to decide at a call' }
  }),
  addChain('add_1e3', 1e3, 0.45, pass(2, 1e3), {}),
  add(SMALL, 1.15, 1.4),
  add(LARGE, 1.6, 1.8, { torch: 6, 'onnxruntime-node': 7 }),
  ...UNARY.flatMap(unary),
  pow(SMALL, '1e5', 1.8, 4),
  pow(LARGE, '1e7', 2.8, 3.5),
  chain(SMALL, '1e5', 2.5, 3.7),
  chain(LARGE, '1e7', 2.2, 2.4),
  row({
    name: 'transpose3168',
    gate: 3.5,
    stretch: 4.7,
    limit: pass(1, MATRIX ** 2),
    operands: () => ({ m: uniform([MATRIX, MATRIX]) }),
    ours: ({ m }) => m.permuteDims([1, 0]).copy(),
    calls: { numpy: 'np.ascontiguousarray(m.T)', torch: 'm.t().contiguous()', jax: 'm.T', tfjs: 'tf.transpose(m)', 'numpy-ts': 'np.ascontiguousarray(np.transpose(m))', candle: 'transpose' },
    onnx: [['Transpose', 'm', 'y', { perm: [1, 0] }]]
  }),
  row({
    name: 'badd1024',
    gate: 1.1,
    stretch: 1.2,
    limit: pass(1, SQUARE ** 2),
    operands: () => ({ m: uniform([SQUARE, SQUARE]), v: uniform([SQUARE]) }),
    ours: ({ m, v }) => m.add(v),
    calls: { numpy: 'm + v', torch: 'm + v', jax: 'm + v', tfjs: 'tf.add(m, v)', 'numpy-ts': 'np.add(m, v)', candle: 'badd', ndarray: 'badd' },
    onnx: [['Add', 'm v', 'y']]
  }),
  row({
    name: 'where_1e7',
    gate: 1.35,
    stretch: 1.7,
    // Two arrays and a byte for each element are read: 13 bytes in all.
    limit: { reads: 2, writes: 1, bytes: (LARGE * 13) / 3 },
    operands: () => ({ k: uniform([LARGE]).greater(0), x: uniform([LARGE]), y: uniform([LARGE]) }),
    ours: ({ k, x, y }) => ft.where(k, x, y),
    calls: { numpy: 'np.where(k, x, y)', torch: 'torch.where(k, x, y)', jax: 'jnp.where(k, x, y)', tfjs: 'tf.where(k, x, y)', 'numpy-ts': 'np.where(k, x, y)', candle: 'where' },
    onnx: [['Where', 'k x y', 'z']]
  }),
  row({
    name: 'cast_1e7',
    gate: 3,
    stretch: 4.2,
    // 12 bytes for each element.
    limit: { reads: 1, writes: 1, bytes: LARGE * 6 },
    operands: () => ({ x: uniform([LARGE]) }),
    ours: ({ x }) => x.astype('float64'),
    calls: { numpy: 'x.astype(np.float64)', torch: 'x.double()', jax: 'x.astype(jnp.float64)', 'numpy-ts': "x.astype('float64')", candle: 'cast' },
    onnx: [['Cast', 'x', 'y', { to: 11 }]]
  }),
  row({
    name: 'gather_1e5x64',
    gate: 1.6,
    stretch: 2.7,
    limit: { reads: 1, writes: 1, bytes: PICKED * WIDTH * 4 },
    // The libraries in Python and candle want int64, and would convert at each call.
    operands: () => {
      const i = integers([PICKED], PICKED)
      return { m: uniform([PICKED, WIDTH]), i, j: i.astype('int64') }
    },
    ours: ({ m, i }) => ft.take(m, i, 0),
    calls: { numpy: 'm.take(j, 0)', torch: 'm.index_select(0, j)', jax: "jnp.take(m, i, 0, mode='clip')", tfjs: 'tf.gather(m, i)', 'numpy-ts': 'np.take(m, i, 0)', candle: 'gather' },
    onnx: [['Gather', 'm i', 'y', { axis: 0 }]]
  })
]
