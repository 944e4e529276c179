// Time, work and memory of a step, by the number of steps: of loops as people write them, each in a process of its own. Fails where more
// than 1.1 operations are computed again for each one of a loop, or most are where there are many steps.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as ft from 'ferrotensor'
import { LONG_LOOPS, type LongLoop } from './long_loops.js'
import { printMachine } from './machine.js'
import { median } from './race.js'

const smoke = process.argv.includes('--smoke')
const ROUNDS = smoke ? 1 : 5
/** Operations computed again, for each that is not. */
const MOST_AGAIN = 1.1

interface Found {
  readonly seconds: number
  readonly ops: number
  readonly recomputes: number
  readonly schedules: number
  /** Bytes in tensors at most. */
  readonly peak: number
}

/** In the child: the second round of a loop, planned and warm, and the median time of more. */
function measure({ prepare }: LongLoop, steps: number): Found {
  const run = prepare()
  const before = ft.memory().live
  run(steps)
  const { peak } = ft.memory()
  ft.resetStats()
  const seconds = Array.from({ length: ROUNDS }, () => {
    const start = performance.now()
    run(steps)
    return (performance.now() - start) / 1000
  })
  const { ops, recomputes, schedules } = ft.stats()
  return { seconds: median(seconds), ops: ops / ROUNDS, recomputes: recomputes / ROUNDS, schedules: schedules / ROUNDS, peak: peak - before }
}

async function child(name: string, steps: number): Promise<Found> {
  const args = [fileURLToPath(import.meta.url), '--loop', name, '--steps', `${steps}`, ...(smoke ? ['--smoke'] : [])]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as Found
}

async function report(): Promise<void> {
  printMachine()
  for (const [name, loop] of Object.entries(LONG_LOOPS)) {
    console.log(`\n${name}: ${loop.what}\n   steps  us/step  ops/step  again/op  planned  peak KiB/step`)
    const rows = new Map<number, Found>()
    for (const steps of smoke ? loop.steps.slice(0, 2) : loop.steps) {
      const found = await child(name, steps)
      rows.set(steps, found)
      const again = found.recomputes / (found.ops - found.recomputes)
      const columns = [
        `${steps}`.padStart(8),
        ((found.seconds / steps) * 1e6).toFixed(1).padStart(9),
        (found.ops / steps).toFixed(1).padStart(10),
        again.toFixed(3).padStart(10),
        found.schedules.toFixed(1).padStart(9),
        (found.peak / 1024 / steps).toFixed(2).padStart(15)
      ]
      console.log(`${columns.join('')}${again <= MOST_AGAIN ? '' : '  TOO MUCH AGAIN'}`)
      if (again > MOST_AGAIN) process.exitCode = 1
    }
    const [first, last] = [rows.get(loop.from), [...rows.values()].at(-1)]
    const most = Math.max(...rows.keys())
    if (first === undefined || last === undefined) continue
    const ratio = (of: (found: Found) => number): string => (of(last) / most / (of(first) / loop.from)).toFixed(2)
    console.log(`  a step of ${most} beside one of ${loop.from}: ${ratio(({ seconds }) => seconds)} of the time, ${ratio(({ peak }) => peak)} of the memory`)
  }
}

const at = process.argv.indexOf('--loop')
const only = process.argv.indexOf('--steps')
if (at >= 0) console.log(JSON.stringify(measure(LONG_LOOPS[process.argv[at + 1] as string] as LongLoop, Number(process.argv[only + 1]))))
else await report()
