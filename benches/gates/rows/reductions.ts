// Rows of reductions, scans and sorts.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import type { Node } from '../onnx.js'
import { distinct, row, uniform, type Row } from '../row.js'

const [ROWS, COLUMNS] = [4096, 1024]
const [SORTED, LARGE] = [1e6, 1e7]
const TOP = 100

type Kind = readonly [name: string, ours: (m: Tensor, axis: number) => Tensor, node: (axis: number) => Node, gates: readonly [columns: number, stretch: number, rows: number, stretch: number]]
const KINDS: readonly Kind[] = [
  ['sum', (m, axis) => m.sum(axis), (axis) => ['ReduceSum', `m [${axis}]`, 'y', { keepdims: 0 }], [1.15, 1.2, 1, 1]],
  ['max', (m, axis) => m.max(axis), (axis) => ['ReduceMax', `m [${axis}]`, 'y', { keepdims: 0 }], [1.5, 1.8, 1, 1]],
  ['argmax', (m, axis) => m.argmax(axis), (axis) => ['ArgMax', 'm', 'y', { axis, keepdims: 0 }], [10, 17, 2, 2.3]],
  ['mean', (m, axis) => m.mean(axis), (axis) => ['ReduceMean', `m [${axis}]`, 'y', { keepdims: 0 }], [1.15, 1.2, 1, 1]]
]

const reductions = ([name, ours, node, gates]: Kind): Row[] =>
  [0, 1].map((axis) =>
    row({
      name: `${name}_ax${axis}`,
      gate: gates[2 * axis] as number,
      stretch: gates[2 * axis + 1] as number,
      limit: { reads: 1, writes: 0, bytes: ROWS * COLUMNS * 4 },
      tolerance: 1e-4,
      operands: () => ({ m: uniform([ROWS, COLUMNS]) }),
      ours: ({ m }) => ours(m, axis),
      calls: {
        numpy: `m.${name}(${axis})`,
        torch: `m.${name === 'max' ? 'amax' : name}(${axis})`,
        jax: `m.${name}(${axis})`,
        tfjs: `tf.${name === 'argmax' ? 'argMax' : name}(m, ${axis})`,
        'numpy-ts': `np.${name}(m, ${axis})`,
        candle: `${name} ${axis}`,
        ...(name === 'sum' ? { ndarray: `sum ${axis}` } : {})
      },
      onnx: [node(axis)]
    })
  )

const SORTING = { reads: 1, writes: 1, bytes: SORTED * 4 }

export const REDUCTIONS: readonly Row[] = [
  ...KINDS.flatMap(reductions),
  row({
    name: 'sum_1e7',
    gate: 1,
    stretch: 1,
    limit: { reads: 1, writes: 0, bytes: LARGE * 4 },
    // Some add one after another in float32.
    tolerance: 1e-2,
    operands: () => ({ x: uniform([LARGE], 0, 1) }),
    ours: ({ x }) => x.sum(),
    calls: { numpy: 'x.sum()', torch: 'x.sum()', jax: 'x.sum()', tfjs: 'tf.sum(x)', 'numpy-ts': 'np.sum(x)', candle: 'sum', ndarray: 'sum' },
    onnx: [['ReduceSum', 'x', 'y', { keepdims: 0 }]]
  }),
  row({
    name: 'cumsum_1e7',
    gate: 2.5,
    stretch: 5.3,
    limit: { reads: 1, writes: 1, bytes: LARGE * 4 },
    tolerance: 1e-2,
    operands: () => ({ x: uniform([LARGE], 0, 1) }),
    ours: ({ x }) => ft.cumulativeSum(x),
    calls: { numpy: 'np.cumsum(x)', torch: 'x.cumsum(0)', jax: 'jnp.cumsum(x)', tfjs: 'tf.cumsum(x)', 'numpy-ts': 'np.cumsum(x)' },
    onnx: [['CumSum', 'x [0]', 'y']]
  }),
  row({
    name: 'sort_1e6',
    gate: 1.1,
    stretch: 2,
    limit: SORTING,
    operands: () => ({ x: distinct(SORTED) }),
    ours: ({ x }) => x.sort(),
    calls: { numpy: 'np.sort(x)', torch: 'x.sort()[0]', jax: 'jnp.sort(x)', 'numpy-ts': 'np.sort(x)' }
  }),
  row({
    name: 'argsort_1e6',
    gate: 4.5,
    stretch: 8,
    against: { numpy: 4.5 },
    limit: SORTING,
    operands: () => ({ x: distinct(SORTED) }),
    ours: ({ x }) => x.argsort(),
    calls: { numpy: 'np.argsort(x)', torch: 'x.argsort()', jax: 'jnp.argsort(x)', 'numpy-ts': 'np.argsort(x)', candle: 'argsort' }
  }),
  row({
    name: 'topk100_1e6',
    gate: 4,
    stretch: 14.2,
    limit: { reads: 1, writes: 0, bytes: SORTED * 4 },
    operands: () => ({ x: distinct(SORTED) }),
    ours: ({ x }) => ft.topk(x, TOP),
    calls: {
      numpy: `(x[j := (q := np.argpartition(x, -${TOP})[-${TOP}:])[np.argsort(-x[q])]], j)`,
      torch: `x.topk(${TOP})`,
      jax: `lax.top_k(x, ${TOP})`,
      tfjs: `tf.topk(x, ${TOP})`
    },
    onnx: [['TopK', `x [${TOP}]`, 'values indices']]
  })
]
