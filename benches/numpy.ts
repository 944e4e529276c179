// NumPy in a long-lived process of its own, which takes its turn in the same run. NUMPY_PYTHON names the interpreter.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import type { Contender, Slice } from './race.js'

// This file runs as dist/benches/numpy.js.
const SCRIPT = fileURLToPath(new URL('../../benches/numpy_peer.py', import.meta.url))

interface Answer extends Slice {
  readonly version: string
  readonly cpu: number
  readonly error?: string
}

export interface NumPy {
  readonly version: string
  /** Hands over what expressions may name; what was handed over before is forgotten. */
  load(operands: Readonly<Record<string, Tensor>>, numbers?: Readonly<Record<string, number>>): Promise<void>
  /** NumPy as a contender that evaluates a Python expression. */
  contender(expression: string): Contender
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
    return next === null || next.done ? null : (JSON.parse(next.value) as Answer)
  }
  let cpu = 0
  const ask = async (request: object) => {
    child.stdin.write(`${JSON.stringify(request)}\n`)
    const result = await answer()
    if (result === null || result.error !== undefined) throw new Error(`NumPy, asked ${JSON.stringify(request)}: ${result?.error ?? 'ended'}`)
    cpu = result.cpu
    return result
  }
  const hello = await answer()
  if (hello === null) {
    console.log(`NumPy skipped: '${python}' is missing or cannot import numpy (set NUMPY_PYTHON)`)
    return null
  }
  return {
    version: hello.version,
    async load(operands, numbers = {}) {
      const folder = mkdtempSync(join(tmpdir(), 'ferrotensor-numpy-'))
      try {
        const file = join(folder, 'operands.npz')
        ft.io.saveNpzSync(file, operands)
        await ask({ operands: file, numbers })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    contender: (expression) => ({ name: 'NumPy', slice: (seconds) => ask({ expression, seconds }) }),
    cpuSeconds: () => cpu,
    close: () => child.stdin.end()
  }
}
