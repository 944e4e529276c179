// Random programs over a pool of tensors: what they compute depends on the seed only, how it is asked for is the caller's choice.

import { createHash } from 'node:crypto'
import * as ft from 'ferrotensor'

const DTYPES = ['float32', 'float32', 'float32', 'float64', 'int32', 'int32', 'uint8', 'int64', 'bool', 'float16', 'complex64']
const SIZES = [1, 1, 2, 3, 4, 5, 8, 17]
/** Elements above which a tensor no longer grows: results stay below a MiB. */
const LARGE = 1 << 16
const POOL = 10

const UNARY = ['negative', 'abs', 'sign', 'square', 'relu', 'floor', 'round', 'sqrt', 'reciprocal', 'exp', 'log', 'tanh', 'sigmoid', 'sin', 'erf', 'isnan', 'logicalNot', 'copy', 'softmax', 'logSoftmax', 'matrixTranspose', 'flip', 'squeeze', 'sort', 'argsort', 'cumulativeSum']
const BINARY = ['add', 'subtract', 'multiply', 'divide', 'minimum', 'maximum', 'less', 'equal', 'logicalAnd', 'pow', 'remainder', 'floorDivide', 'matmul']
const REDUCE = ['sum', 'prod', 'mean', 'max', 'min', 'all', 'any', 'argmax', 'argmin']

const shapeOf = (rng) => (rng.chance(0.05) ? [rng.pick([1000, 4097, 65536])] : Array.from({ length: rng.int(0, 3) }, () => rng.pick(SIZES)))

function leaf(rng) {
  const shape = shapeOf(rng)
  const size = shape.reduce((n, length) => n * length, 1)
  const values = Float64Array.from({ length: size }, () => (rng.chance(0.02) ? rng.pick([NaN, Infinity, -0, 1e-40]) : Math.round(rng.next() * 64 - 32) / 4))
  return ft.fromTypedArray(values, shape).astype(rng.pick(DTYPES))
}

/** One step: a tensor from tensors of the pool. Wrong combinations are part of it; they must fail alike. */
const STEPS = [
  [8, (rng) => leaf(rng)],
  [30, (rng, a) => a[rng.pick(UNARY)]()],
  [30, (rng, a, b) => a[rng.pick(BINARY)](b)],
  [10, (rng, a) => a[rng.pick(BINARY.slice(0, 9))](rng.pick([0, 1, -2, 3, 0.5, true, 2n]))],
  [15, (rng, a) => a[rng.pick(REDUCE)](rng.pick([{}, { axis: 0 }, { axis: -1 }, { axis: -1, keepdims: true }]))],
  [4, (rng, a) => a.at(...a.shape.map(() => rng.pick([':', '::-1', '1:', ':2', '::2', 0])))],
  [3, (rng, a, b) => a.withAt(a.shape.map(() => rng.pick([':', '::-1', '0:1', 0])), rng.chance(0.5) ? b : 1)],
  [3, (rng, a) => a.at(...rng.pick([[[0]], ['...', [0, -1, 0]], [[0, 0], [[-1], [0]]], [0, '...', [-1]]]))],
  [3, (rng, a, b) => a.at('...', b.astype('int32').remainder(3))],
  [2, (rng, a, b) => a.at(rng.chance(0.7) ? a.greater(0) : b.greater(0))],
  [3, (rng, a, b) => a.withAt([b.astype('int32').remainder(2)], rng.chance(0.5) ? a.at(0) : 1)],
  [2, (rng, a) => a.withAt([a.less(0)], rng.chance(0.7) ? 1 : a.at(a.less(0)))],
  [3, (rng, a) => a.permuteDims(a.shape.map((_, i) => (i + 1) % a.ndim))],
  [3, (rng, a) => a.reshape(rng.pick([[-1], [1, -1], [2, -1], [-1, 4]]))],
  [2, (rng, a) => a.broadcastTo([rng.int(1, 3), ...a.shape])],
  [2, (rng, a) => a.expandDims(rng.int(0, 1))],
  [4, (rng, a) => a.astype(rng.pick(DTYPES))],
  [3, (rng, a, b) => ft.concat(rng.pick([[a, b], [a, a, a], [b, a]]))],
  [3, (rng, a, b) => ft.stack([a, rng.chance(0.3) ? b : a], { axis: rng.pick([0, -1]) })],
  [3, (rng, a, b, c) => ft.where(a, b, c)],
  [2, (rng, a) => a.clip(-1, 2)],
  [4, (rng, a, b) => a.take(b.astype('int32').remainder(4), { axis: 0 })],
  [2, (rng, a, b) => ft.zeros(a.shape, { dtype: 'int32' }).scatterAdd(ft.tensor([0], { dtype: 'int32' }), b.astype('int32'), { axis: 0 })],
  [2, (rng, a) => a.topk(2).values],
  [2, (rng, a) => a.topk(1).indices],
  [1, (rng, a) => ft.fft.fft(a)],
  [1, (rng, a) => ft.linalg.qr(a).r],
  [1, (rng, a, b) => ft.linalg.solve(a.at(...a.shape.map(() => ':1')), b)],
  [2, (rng, a) => ft.random.normal(ft.random.key(rng.int(0, 9)), a.shape)],
  [1, (rng, a) => ft.scope(() => a.add(1).multiply(a))]
]
const TOTAL = STEPS.reduce((n, [weight]) => n + weight, 0)

function step(rng, pool) {
  let left = rng.next() * TOTAL
  const [, make] = STEPS.find(([weight]) => (left -= weight) < 0) ?? STEPS[0]
  // Chains: the youngest is taken most often.
  const from = () => (rng.chance(0.5) ? pool.at(-1) : rng.pick(pool))
  return make(rng, from(), from(), from())
}

/** What a value is, in few letters: dtype, shape and a hash of its bits. NaNs are all alike. */
export function digest(dtype, shape, data) {
  if (data instanceof Float32Array || data instanceof Float64Array) for (let i = 0; i < data.length; i++) if (Number.isNaN(data[i])) data[i] = NaN
  const hash = createHash('sha1').update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)).digest('hex').slice(0, 12)
  return `${dtype}[${shape}] ${hash}`
}

/** The code of an error that may happen; any other one is passed on. */
export function codeOf(error) {
  if (!(error instanceof ft.TensorError) || error.code === 'ERR_INTERNAL') throw error
  return error.code
}

/** Errors that values decide. A value that depends on two of them reports one; which one depends on what ran together. */
const OF_VALUES = new Set(['ERR_INDEX', 'ERR_LINALG'])

/** What is observed of a value that is an error, or of a step that had to read one. */
export function failed(error) {
  const code = codeOf(error)
  return OF_VALUES.has(code) ? 'failed' : code
}

/**
 * Runs the program of a seed. `ways.read(x)` gives a digest or the promise of one, `ways.drop(x)` is told what leaves the pool,
 * `ways.between()` comes after each step. Returns what was observed, step by step.
 */
export async function run(rng, ways) {
  const trace = []
  const pool = [leaf(rng), leaf(rng), leaf(rng)]
  const steps = rng.int(10, 120)
  for (let i = 0; i < steps; i++) {
    try {
      const x = step(rng, pool)
      // Run at once, what is too large is refused here; recorded, it is never read.
      trace.push(x.size <= LARGE ? `${x.dtype}[${x.shape}]` : 'large')
      if (x.size <= LARGE) pool.push(x)
    } catch (error) {
      const code = failed(error)
      trace.push(code === 'ERR_OUT_OF_MEMORY' ? 'large' : code)
    }
    if (pool.length > POOL) ways.drop(pool.splice(rng.int(0, pool.length - 2), 1)[0])
    if (rng.chance(0.15)) trace.push(ways.read(rng.pick(pool)))
    await ways.between()
  }
  for (const x of pool) trace.push(ways.read(x))
  const observed = await Promise.all(trace)
  pool.forEach((x) => ways.drop(x))
  return observed
}
