// Long loops (benches/long_loops.ts) do the same work for each step, and take bounded memory, whatever runs JavaScript: in the main thread, in a
// worker, and in Bun and Deno, where they are on the path (or `EXPECT_TOOLS` names them). Operations and bytes are counted; never the clock.
// runs on: node

import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import type { Counted } from './counted-loop.js'

const program = fileURLToPath(new URL('counted-loop.js', import.meta.url))

/** How many steps are few, and many. Where gradients are taken, or results kept, memory grows with the steps. */
const LOOPS: Readonly<Record<string, { readonly few: number; readonly many: number; readonly grows?: boolean }>> = {
  spiral: { few: 100, many: 2000, grows: true },
  gru: { few: 100, many: 1000, grows: true },
  lstm: { few: 100, many: 400, grows: true },
  second: { few: 100, many: 500, grows: true },
  cache: { few: 100, many: 1000 },
  spectra: { few: 50, many: 300 },
  losses: { few: 1000, many: 10_000, grows: true },
  simulation: { few: 1000, many: 20_000 },
  optimiser: { few: 100, many: 2000 }
}

/** Operations computed again for each that is not: those of losses that are read at the end. */
const MOST_AGAIN = 1.1
/** Bytes in tensors of a loop that carries its state: what one collection is asked for after, and what the next turns leave. */
const MOST_BYTES = 128 << 20

/** Counts the loops in what a command runs, which `about` describes. */
function steady(about: string, [file, ...first]: readonly [string, ...string[]], more: readonly string[] = []): void {
  for (const [name, { few, many, grows = false }] of Object.entries(LOOPS)) {
    test.serial(`${name}: a step of ${many} as one of ${few}${about}`, async (t) => {
      const { stdout } = await promisify(execFile)(file, [...first, program, name, `${few}`, `${many}`, ...more])
      const [short, long] = JSON.parse(stdout) as [Counted, Counted]
      t.true(long.ops / many <= 1.05 * (short.ops / few), `operations: ${short.ops} of ${few} steps, ${long.ops} of ${many}`)
      t.true(long.recomputes <= MOST_AGAIN * (long.ops - long.recomputes), `${long.recomputes} of ${long.ops} computed again`)
      const most = grows ? 1.3 * (many / few) * short.peak : MOST_BYTES
      t.true(long.peak <= most, `bytes: ${short.peak} of ${few} steps, ${long.peak} of ${many}, allowed ${most}`)
    })
  }
}

steady('', [process.execPath])
steady(' (in a worker)', [process.execPath], ['--worker'])

const RUNTIMES: readonly (readonly [string, ...string[]])[] = [['bun'], ['deno', 'run', '--allow-all']]

for (const command of RUNTIMES) {
  const [name] = command
  const there = spawnSync(name, ['--version']).status === 0
  if (there || (process.env['EXPECT_TOOLS'] ?? '').split(',').includes(name)) steady(` (in ${name})`, command)
  else test(`${name} is not here`, (t) => t.pass())
}
