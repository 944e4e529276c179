// The engines of the CPU in native code, `scalar` to `blas`, and what native code says of them.

import { VERSION } from '../generated/package.js'
import { absence, native } from '../native.js'
import type { NativeEngine } from '../native/flat.js'
import type { BackendInfo, Engine } from './engine.js'

/** Their names, slowest first. */
const NAMES = ['scalar', 'simd', 'parallel', 'blas'] as const

/** What native code says of an engine, or why it says nothing: there is no native binary. */
function row(name: string): NativeEngine {
  return absence === null ? native.engine(name) : { name, reason: absence }
}

/** The version is that of the library behind an engine, where there is one. */
function infoOf({ name, reason, ...row }: NativeEngine): BackendInfo {
  if (reason !== undefined) return { name, available: false, reason }
  return row.library === undefined ? { name, available: true, ...row, version: VERSION } : { name, available: true, ...row }
}

function engine(name: string): Engine {
  let first: NativeEngine | undefined
  return {
    name,
    // Asked for when somebody wants to know: of `blas` the answer opens the library.
    get reason() {
      return (first ??= row(name)).reason
    },
    dtypes: ['float32', 'float64'],
    gpu: false,
    copies: true,
    // Asked anew: `setThreads` changes it.
    info: () => infoOf(row(name)),
    run: (op, { operation, a, b, out, sizes, s }) => native.flat(op, name, operation, a, b, out, Float64Array.from(sizes), s),
    async runAsync(op, { operation, a, b, out, sizes, s }, { onProgress, signal }) {
      const bytes = await native.flatAsync(op, name, operation, a, b, out, Float64Array.from(sizes), s)
      out.set(out instanceof Float32Array ? new Float32Array(bytes) : new Float64Array(bytes))
      signal?.throwIfAborted()
      onProgress?.({ done: 1, total: 1, label: operation })
    }
  }
}

/** The engines of the CPU, absent ones with the reason. */
export const cpuEngines = (): Engine[] => NAMES.map(engine)
