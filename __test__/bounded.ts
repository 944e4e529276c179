// A test of a loop that must not run out of memory (benches/memory_loops.ts), in a process of its own.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { LOOPS, type Loop } from '../benches/memory_loops.js'

/** Runs one of the loops and prints how much memory it took. */
const program = fileURLToPath(new URL('../benches/memory.bench.js', import.meta.url))

/** What runs a loop, unless told this Node without options in its main thread. */
export interface Runner {
  /** The program and its first arguments. */
  readonly command?: readonly [string, ...string[]]
  /** Options that Node takes from the environment. */
  readonly options?: string
  /** More arguments. */
  readonly more?: readonly string[]
}

/** Holds the loop of this name to its bound where a runner has it run, which `about` describes. */
export function bounded(name: string, about = '', { command: [file, ...first] = [process.execPath], options = '', more = [] }: Runner = {}): void {
  const { what, bound } = LOOPS[name] as Loop
  test.serial(`bounded: ${what}${about}`, async (t) => {
    const { stdout } = await promisify(execFile)(file, [...first, program, '--loop', name, ...more], { env: { ...process.env, NODE_OPTIONS: options } })
    const { rise } = JSON.parse(stdout) as { rise: number }
    t.log(`${rise.toFixed(0)} MiB above the start`)
    t.true(rise < bound, `${rise.toFixed(0)} MiB, allowed ${bound}`)
  })
}
