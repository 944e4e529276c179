// A training step of a network of 784, 256 and 10 (batches of 128, float32, forwards, backwards, gradient descent, the loss read) beside
// PyTorch, JAX and TensorFlow.js where they are installed; and what of a step is JavaScript.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { pathToFileURL, fileURLToPath } from 'node:url'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { printMachine } from './machine.js'
import { duration, race, repeat, type Contender, type Slice } from './race.js'

const BATCH = 128
const SIZES = [784, 256, 10] as const
const RATE = 0.01
/** First losses agree: sums of 784 products in another order. */
const TOLERANCE = 1e-4

/** Numbers made of their positions, the same for each contender. */
const numbers = (shape: readonly number[], f: (i: number) => number): Float32Array => Float32Array.from({ length: shape.reduce((n, size) => n * size, 1) }, (_, i) => f(i))
const weights = (): [number[], Float32Array][] =>
  [0, 1].flatMap((i): [number[], Float32Array][] => {
    const shape = [SIZES[i] as number, SIZES[i + 1] as number]
    return [
      [shape, numbers(shape, (n) => Math.sin(n) * 0.05)],
      [[shape[1] as number], new Float32Array(shape[1] as number)]
    ]
  })
const images = numbers([BATCH, SIZES[0]], (i) => Math.cos(i * 0.37))
const labels = Int32Array.from({ length: BATCH }, (_, i) => i % 10)

type Params = Tensor<'float32'>[]

/** Our step; what changes between calls are arguments. */
function trained(params: Params, x: Tensor<'float32'>, y: Tensor<'int32'>): [Params, Tensor] {
  const loss = ([w1, b1, w2, b2]: Params): Tensor =>
    ft.nn.crossEntropy(x.matmul(w1 as Tensor<'float32'>).add(b1 as Tensor<'float32'>).relu().matmul(w2 as Tensor<'float32'>).add(b2 as Tensor<'float32'>), y)
  const [value, gradients] = ft.valueAndGrad(loss)(params)
  return [params.map((p, i) => p.sub((gradients[i] as Params[number]).mul(RATE))), value]
}

/** A contender whose step gives its loss. */
function contender(name: string, step: () => number): Contender {
  let first: number | undefined
  const timed = (): void => {
    const loss = step()
    first ??= loss
  }
  return { name, slice: (seconds): Slice => ({ seconds: repeat(seconds, 1, timed), checksum: (timed(), first as number) }) }
}

const start = (): Params => weights().map(([shape, data]) => ft.fromTypedArray(data, shape))
const batch = (): [x: Tensor<'float32'>, y: Tensor<'int32'>] => [ft.fromTypedArray(images, [BATCH, SIZES[0]]), ft.fromTypedArray(labels, [BATCH])]

function own(name: string, run: typeof trained): Contender {
  let params = start()
  const [x, y] = batch()
  return contender(name, () => {
    const [next, loss] = run(params, x, y)
    params = next
    return loss.itemSync() as number
  })
}

/** PyTorch and JAX in a Python process, which NUMPY_PYTHON names. */
async function python(): Promise<{ contenders: Contender[]; close: () => void }> {
  const script = fileURLToPath(new URL('../../benches/training_peer.py', import.meta.url))
  const interpreter = process.env['NUMPY_PYTHON'] ?? 'python3'
  const child = spawn(interpreter, [script], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = new Promise<null>((resolve) => child.on('error', () => resolve(null)).on('close', () => resolve(null)))
  child.stdin.on('error', () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<unknown> => {
    const next = await Promise.race([lines.next(), ended])
    return next === null || next.done ? null : (JSON.parse(next.value) as unknown)
  }
  const names = (await answer()) as Record<string, string> | null
  const contenders = Object.entries(names ?? {}).map(([peer, name]): Contender => ({
    name,
    slice: async (seconds) => {
      child.stdin.write(`${JSON.stringify({ peer, seconds })}\n`)
      const slice = (await answer()) as Slice | null
      if (slice === null) throw new Error(`${name}: its process ended`)
      return slice
    }
  }))
  for (const [peer, name] of [['torch', 'PyTorch'], ['jax', 'JAX']] as const) {
    if (names?.[peer] === undefined) console.log(`${name} skipped: '${interpreter}' is missing or cannot import ${peer} (set NUMPY_PYTHON)`)
  }
  return { contenders, close: () => child.stdin.end() }
}

/** The parts of TensorFlow.js that a step takes; it has its own types. */
interface TensorFlow {
  readonly version_core: string
  setBackend(name: string): Promise<boolean>
  ready(): Promise<void>
  tensor(data: Float32Array | Int32Array, shape: number[], dtype?: string): unknown
  oneHot(labels: unknown, depth: number): unknown
  variable(x: unknown): { matMul(x: unknown): unknown }
  tidy<T>(f: () => T): T
  readonly train: { sgd(rate: number): { minimize(f: () => unknown, cost: boolean): { dataSync(): Float32Array; dispose(): void } } }
  readonly losses: { softmaxCrossEntropy(labels: unknown, logits: unknown): unknown }
  matMul(a: unknown, b: unknown): { add(x: unknown): { relu(): unknown } }
}

/** TensorFlow.js on WebAssembly, from the folder that TFJS names. */
async function tensorflow(): Promise<Contender[]> {
  const folder = process.env['TFJS']
  if (folder === undefined) {
    console.log('TensorFlow.js skipped: TFJS names no folder with @tensorflow/tfjs and @tensorflow/tfjs-backend-wasm in its node_modules')
    return []
  }
  const require = createRequire(pathToFileURL(join(folder, 'package.json')))
  const tf = require('@tensorflow/tfjs') as TensorFlow
  require('@tensorflow/tfjs-backend-wasm')
  await tf.setBackend('wasm')
  await tf.ready()
  const params = weights().map(([shape, data]) => tf.variable(tf.tensor(data, shape)))
  const x = tf.tensor(images, [BATCH, SIZES[0]])
  const y = tf.oneHot(tf.tensor(labels, [BATCH], 'int32'), 10)
  const optimizer = tf.train.sgd(RATE)
  const [w1, b1, w2, b2] = params
  return [
    contender(`TensorFlow.js ${tf.version_core}, WebAssembly`, () => {
      const cost = optimizer.minimize(() => tf.losses.softmaxCrossEntropy(y, tf.matMul(tf.matMul(x, w1).add(b1).relu(), w2).add(b2)), true)
      const loss = cost.dataSync()[0] as number
      cost.dispose()
      return loss
    })
  ]
}

/** Seconds in which a step is recorded, its gradients too; nothing of it runs. */
function recording(): number {
  const [params, [x, y]] = [start(), batch()]
  // Few enough that memory pressure has no reason to run any.
  return repeat(0, 10, () => void trained(params, x, y))
}

printMachine()
const peers = await python()
const contenders = [own('ferrotensor', trained), own('ferrotensor, jit', ft.jit(trained)), ...peers.contenders, ...(await tensorflow())]
const results = await race(contenders)
peers.close()
const [first] = results as [(typeof results)[number]]
for (const { name, seconds, checksum } of results) {
  console.log(`${name.padEnd(36)} ${duration(seconds).padStart(8)} a step, ${(seconds / first.seconds).toFixed(2)} of ours`)
  if (!(Math.abs(checksum - first.checksum) <= TOLERANCE)) {
    console.log(`${name}: its first loss is ${checksum}, ours ${first.checksum}`)
    process.exitCode = 1
  }
}
console.log(`of ours, recording with its gradients: ${duration(recording())}`)
