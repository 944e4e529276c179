// The engines of the CPU in native code, `scalar` to `blas`, and what native code says of them.

import { native, type NativeEngine } from '../native.js'
import type { BackendInfo, Engine } from './engine.js'

/** Their names, slowest first. */
const NAMES = ['scalar', 'simd', 'parallel', 'blas'] as const

/** What native code says of each, or why it says nothing: there is no native binary. */
function rows(): NativeEngine[] {
  try {
    const known = new Map(native.engines().map((row) => [row.name, row]))
    return NAMES.map((name) => known.get(name) ?? { name, reason: 'not part of this native binary' })
  } catch (error) {
    return NAMES.map((name) => ({ name, reason: (error as Error).message }))
  }
}

function infoOf(row: NativeEngine): BackendInfo {
  const { name, reason } = row
  return reason === undefined ? { ...row, available: true } : { name, available: false, reason }
}

function engine({ name, reason }: NativeEngine, at: number): Engine {
  return {
    name,
    reason,
    dtypes: ['float32', 'float64'],
    gpu: false,
    // Asked anew: `setThreads` changes it.
    info: () => infoOf(rows()[at] as NativeEngine),
    run: (_op, { operation, a, b, out, sizes, s }) => native.flat(name, operation, a, b, out, Float64Array.from(sizes), s),
    async runAsync(_op, { operation, a, b, out, sizes, s }, { onProgress, signal }) {
      await native.flatAsync(name, operation, a, b, out, Float64Array.from(sizes), s)
      signal?.throwIfAborted()
      onProgress?.({ done: 1, total: 1, label: operation })
    }
  }
}

/** The engines of the CPU, absent ones with the reason. */
export const cpuEngines = (): Engine[] => rows().map(engine)
