// A long loop (benches/long_loops.ts) that a test runs in a process of its own, with `--worker` in a worker there: prints what is counted of a
// few steps and of many, once the first round has planned them.

import { isMainThread, Worker } from 'node:worker_threads'
import * as ft from 'ferrotensor'
import { LONG_LOOPS, type LongLoop } from '../benches/long_loops.js'

/** What is counted of a loop of so many steps. */
export interface Counted {
  readonly steps: number
  readonly ops: number
  readonly recomputes: number
  /** Bytes in tensors at most, above those before. */
  readonly peak: number
}

const [name, ...rest] = process.argv.slice(2)

function counted(steps: number): Counted {
  const run = (LONG_LOOPS[name as string] as LongLoop).prepare()
  const { live } = ft.memory()
  run(steps)
  const { peak } = ft.memory()
  ft.resetStats()
  run(steps)
  const { ops, recomputes } = ft.stats()
  return { steps, ops, recomputes, peak: peak - live }
}

if (isMainThread && rest.includes('--worker')) new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) })
else console.log(JSON.stringify(rest.filter((arg) => arg !== '--worker').map((arg) => counted(Number(arg)))))
