// The other libraries' training steps: PyTorch and JAX in a Python process, TensorFlow.js here.

import { execFile, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { repeat, type Contender, type Slice } from '../race.js'
import { images, labels, TRAININGS, weights } from './steps.js'

const SCRIPT = fileURLToPath(new URL('../../../benches/training/peer.py', import.meta.url))
const INTERPRETER = process.env['NUMPY_PYTHON'] ?? 'python3'
const NAMES = { torch: 'PyTorch', jax: 'JAX' } as const
type Peer = keyof typeof NAMES

const trainings = `${JSON.stringify(Object.fromEntries(Object.entries(TRAININGS).map(([name, { batch, pixels, shapes }]) => [name, { batch, pixels, shapes }])))}\n`

/** A contender whose step gives its loss. */
export function contender(name: string, step: () => number): Contender {
  let first: number | undefined
  const timed = (): void => {
    const loss = step()
    first ??= loss
  }
  return { name, slice: (seconds): Slice => ({ seconds: repeat(seconds, 1, timed), checksum: (timed(), first as number) }) }
}

export interface Python {
  /** The libraries that were found, with their versions. */
  readonly names: readonly (readonly [peer: Peer, name: string])[]
  contenders(training: string): Contender[]
  close(): void
}

/** PyTorch and JAX in a Python process, which NUMPY_PYTHON names. */
export async function python(): Promise<Python> {
  const child = spawn(INTERPRETER, [SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = new Promise<null>((resolve) => child.on('error', () => resolve(null)).on('close', () => resolve(null)))
  child.stdin.on('error', () => {})
  child.stdin.write(trainings)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<unknown> => {
    const next = await Promise.race([lines.next(), ended])
    return next === null || next.done ? null : (JSON.parse(next.value) as unknown)
  }
  const versions = (await answer()) as Record<Peer, string | null> | null
  const names = (Object.keys(NAMES) as Peer[]).flatMap((peer) => {
    const version = versions?.[peer] ?? null
    if (version !== null) return [[peer, `${NAMES[peer]} ${version}`] as const]
    console.log(`${NAMES[peer]} skipped: '${INTERPRETER}' is missing or cannot import ${peer} (set NUMPY_PYTHON)`)
    return []
  })
  const contenders = (training: string): Contender[] =>
    names.map(([peer, name]) => ({
      name,
      slice: async (seconds) => {
        child.stdin.write(`${JSON.stringify({ peer, training, seconds })}\n`)
        const slice = (await answer()) as Slice | null
        if (slice === null) throw new Error(`${name}: its process ended`)
        return slice
      }
    }))
  return { names, contenders, close: () => child.stdin.end() }
}

/** MiB by which a process's resident set rose over some steps. */
export function rise(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, (error, stdout) => (error === null ? resolve((JSON.parse(stdout) as { rise: number }).rise) : reject(error)))
    child.stdin?.end(trainings)
  })
}

/** As {@link rise}, of a Python library. */
export function peerRise(peer: Peer, training: string, rows: number, steps: number): Promise<number> {
  return rise(INTERPRETER, [SCRIPT, peer, training, String(rows), String(steps)])
}

/** The parts of TensorFlow.js that a step takes; it has its own types. */
interface TensorFlow {
  readonly version_core: string
  setBackend(name: string): Promise<boolean>
  ready(): Promise<void>
  tensor(data: Float32Array | Int32Array, shape: readonly number[], dtype?: string): unknown
  oneHot(labels: unknown, depth: number): unknown
  variable(x: unknown): { matMul(x: unknown): unknown }
  readonly train: { sgd(rate: number): { minimize(f: () => unknown, cost: boolean): { dataSync(): Float32Array; dispose(): void } } }
  readonly losses: { softmaxCrossEntropy(labels: unknown, logits: unknown): unknown }
  matMul(a: unknown, b: unknown): { add(x: unknown): { relu(): unknown } }
}

/** TensorFlow.js on WebAssembly, from the folder that TFJS names: the dense network, whose step its own optimiser makes. */
export async function tensorflow(): Promise<Contender[]> {
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
  const training = TRAININGS['dense']!
  const [w1, b1, w2, b2] = weights(training).map(([, shape, data]) => tf.variable(tf.tensor(data, shape)))
  const x = tf.tensor(images(training, training.batch), [training.batch, training.pixels])
  const y = tf.oneHot(tf.tensor(labels(training.batch), [training.batch], 'int32'), 10)
  const optimizer = tf.train.sgd(0.01)
  const step = (): number => {
    const cost = optimizer.minimize(() => tf.losses.softmaxCrossEntropy(y, tf.matMul(tf.matMul(x, w1).add(b1).relu(), w2).add(b2)), true)
    const loss = cost.dataSync()[0] as number
    cost.dispose()
    return loss
  }
  return [contender(`TensorFlow.js ${tf.version_core}, WebAssembly`, step)]
}
