// A test of a loop that must not run out of memory (benches/memory_loops.ts), in a process of its own.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { LOOPS, type Loop } from '../benches/memory_loops.js'

/** Runs one of the loops and prints how much memory it took. */
const program = fileURLToPath(new URL('../benches/memory.bench.js', import.meta.url))

/** Holds the loop of this name to its bound, in a Node with these options, which `about` describes. */
export function bounded(name: string, options: string, about: string): void {
  const { what, bound } = LOOPS[name] as Loop
  test.serial(`bounded: ${what}${about}`, async (t) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--loop', name], { env: { ...process.env, NODE_OPTIONS: options } })
    const { rise } = JSON.parse(stdout) as { rise: number }
    t.log(`${rise.toFixed(0)} MiB above the start`)
    t.true(rise < bound, `${rise.toFixed(0)} MiB, allowed ${bound}`)
  })
}
