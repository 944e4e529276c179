// The JavaScript libraries that node_peer.ts can measure. A call is an expression over the operands and the library (of onnxruntime: a
// model); in a chain it is given its own result for x.

import type { DType } from 'ferrotensor'
import type { Training } from '../training/steps.js'
import { tensorflowStep, type TensorFlow } from '../training/tensorflow.js'

type Data = ArrayLike<number | bigint>
export type Operand = readonly [name: string, dtype: DType, shape: readonly number[], data: Data]
/** What a library's call returns. */
type Result = object | number

export interface Library {
  readonly version: string
  readonly facts: Readonly<Record<string, string>>
  /** Milliseconds to wait after a slice. */
  readonly pause: number
  load(operands: readonly Operand[]): void
  function(call: string, chain: number): Promise<() => Promise<Result> | Result>
  /** Elements of the results. */
  parts(result: Result): Data[]
  dispose(result: Result): void
  /** A step of a training, which gives its loss. */
  step?(training: Training): () => number
}

type Step = (x: unknown) => Result

/** An expression as a function of x; the library and the other operands are in its scope. */
function compile(call: string, names: Readonly<Record<string, unknown>>): Step {
  const { x: _, ...others } = names
  return new Function(...Object.keys(others), `return (x) => (${call})`)(...Object.values(others)) as Step
}

/** The parts of onnxruntime-node that a call takes. */
interface Runtime {
  readonly env: { readonly versions: { readonly node: string } }
  readonly Tensor: new (dtype: string, data: Data, shape: readonly number[]) => object
  readonly InferenceSession: { create(model: Uint8Array): Promise<Session> }
}
interface Session {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(feeds: object): Promise<Record<string, { readonly data: Data; dispose(): void }>>
}

function onnxruntime(require: NodeJS.Require): Library {
  const runtime = require('onnxruntime-node') as Runtime
  let operands: ReadonlyMap<string, Operand> = new Map()
  const operand = (wanted: string): object => {
    const [, dtype, shape, data] = operands.get(wanted) as Operand
    return new runtime.Tensor(dtype, dtype === 'bool' ? Uint8Array.from(data as ArrayLike<number>) : data, shape)
  }
  return {
    version: runtime.env.versions.node,
    facts: {},
    // Its pool spins for 60 ms.
    pause: 100,
    load: (loaded) => void (operands = new Map(loaded.map((one) => [one[0], one]))),
    async function(call, chain) {
      const session = await runtime.InferenceSession.create(Buffer.from(call, 'base64'))
      const feeds = Object.fromEntries(session.inputNames.map((name) => [name, operand(name)]))
      const [output] = session.outputNames as [string]
      if (chain === 1) return () => session.run(feeds)
      return async () => {
        let result = await session.run(feeds)
        for (let i = 1; i < chain; i++) result = await session.run({ ...feeds, x: result[output] })
        return result
      }
    },
    parts: (result) => Object.values(result as Awaited<ReturnType<Session['run']>>).map(({ data }) => data),
    dispose: (result) => Object.values(result as Awaited<ReturnType<Session['run']>>).forEach((x) => x.dispose())
  }
}

interface TensorFlowTensor {
  dataSync(): Data
  dispose(): void
}

/** TensorFlow.js on WebAssembly. */
async function tensorflow(require: NodeJS.Require): Promise<Library> {
  const tf = require('@tensorflow/tfjs') as TensorFlow
  require('@tensorflow/tfjs-backend-wasm')
  await tf.setBackend('wasm')
  await tf.ready()
  const names: Record<string, unknown> = { tf }
  const tensors = (result: Result): TensorFlowTensor[] => ('dataSync' in (result as object) ? [result as TensorFlowTensor] : Object.values(result))
  return {
    version: tf.version_core,
    facts: { backend: 'WebAssembly, one thread' },
    pause: 0,
    load(operands) {
      for (const [name] of Object.entries(names).filter(([name]) => name !== 'tf')) {
        ;(names[name] as TensorFlowTensor).dispose()
        delete names[name]
      }
      // It has no integers of 64 bits.
      for (const [name, dtype, shape, data] of operands) if (dtype !== 'int64') names[name] = tf.tensor(data as Float32Array, shape, dtype)
    },
    async function(call, chain) {
      const step = compile(call, names)
      const first = names['x']
      // What an expression leaves behind is freed, as its users do it.
      if (chain === 1) return () => tf.tidy(() => step(first))
      return () =>
        tf.tidy(() => {
          let x = step(first)
          for (let i = 1; i < chain; i++) x = step(x)
          return x
        })
    },
    parts: (result) => tensors(result).map((x) => x.dataSync()),
    dispose: (result) => tensors(result).forEach((x) => x.dispose()),
    step: (training) => tensorflowStep(tf, training)
  }
}

interface NumPyTSArray {
  readonly data: Data
  reshape(shape: readonly number[]): NumPyTSArray
  astype(dtype: string): NumPyTSArray
  dispose(): void
}
interface NumPyTS {
  readonly __version__: string
  array(data: Data): NumPyTSArray
  ravel(x: NumPyTSArray): NumPyTSArray
  configureWasm(options: { readonly maxMemory: number }): void
}

async function numpyTS(_require: NodeJS.Require, load: (name: string) => Promise<unknown>): Promise<Library> {
  const np = (await load('numpy-ts')) as NumPyTS
  // Its default is too small for a result of 10^7 elements.
  np.configureWasm({ maxMemory: 2 ** 31 })
  const names: Record<string, unknown> = { np }
  const array = (dtype: DType, data: Data): NumPyTSArray =>
    dtype === 'bool' ? np.array(Uint8Array.from(data as ArrayLike<number>)).astype('bool') : np.array(data)
  // Sums of all elements are plain numbers.
  const arrays = (result: Result): (NumPyTSArray | number)[] =>
    typeof result === 'number' ? [result] : 'dispose' in result ? [result as NumPyTSArray] : (Object.values(result) as NumPyTSArray[])
  const dispose = (result: Result): void => arrays(result).forEach((x) => typeof x === 'number' || x.dispose())
  return {
    version: np.__version__,
    facts: { kernels: 'WebAssembly, one thread' },
    pause: 0,
    load(operands) {
      for (const name of Object.keys(names).filter((name) => name !== 'np')) {
        dispose(names[name] as Result)
        delete names[name]
      }
      for (const [name, dtype, shape, data] of operands) names[name] = array(dtype, data).reshape(shape)
    },
    async function(call, chain) {
      const step = compile(call, names)
      const first = names['x']
      return () => {
        let x = step(first)
        for (let i = 1; i < chain; i++) {
          const next = step(x)
          dispose(x)
          x = next
        }
        return x
      }
    },
    parts: (result) => arrays(result).map((x) => (typeof x === 'number' ? [x] : np.ravel(x).data)),
    dispose
  }
}

export const LIBRARIES: Readonly<Record<string, (require: NodeJS.Require, load: (name: string) => Promise<unknown>) => Library | Promise<Library>>> = {
  'onnxruntime-node': onnxruntime,
  tfjs: tensorflow,
  'numpy-ts': numpyTS
}
