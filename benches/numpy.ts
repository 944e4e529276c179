// NumPy in a long-lived process of its own, which takes its turn in the same run. NUMPY_PYTHON names the interpreter.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Contender, Slice } from './race.js'

// This file runs as dist/benches/numpy.js.
const SCRIPT = fileURLToPath(new URL('../../benches/numpy_peer.py', import.meta.url))

export interface NumPy {
  readonly version: string
  /** NumPy as a contender in a case it knows by name. */
  contender(name: string, size: number): Contender
  /** Processor seconds used so far. */
  cpuSeconds(): number
  close(): void
}

/** Starts the peer; null, with a printed line, where Python or NumPy is missing. */
export async function startNumPy(): Promise<NumPy | null> {
  const python = process.env['NUMPY_PYTHON'] ?? 'python3'
  const child = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'] })
  const exited = new Promise<null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('close', () => resolve(null))
  })
  // Writing to a process that is gone is told by `close`.
  child.stdin.on('error', () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const next = await Promise.race([lines.next(), exited])
    return next === null || next.done ? null : (JSON.parse(next.value) as Slice & { version: string; cpu: number })
  }
  const hello = await answer()
  if (hello === null) {
    console.log(`NumPy skipped: '${python}' is missing or cannot import numpy (set NUMPY_PYTHON)`)
    return null
  }
  let cpu = 0
  return {
    version: hello.version,
    contender: (name, size) => ({
      name: 'NumPy',
      async slice(seconds) {
        child.stdin.write(`${JSON.stringify({ name, size, seconds })}\n`)
        const result = await answer()
        if (result === null) throw new Error(`NumPy ended while it ran ${name}`)
        cpu = result.cpu
        return result
      }
    }),
    cpuSeconds: () => cpu,
    close: () => child.stdin.end()
  }
}
