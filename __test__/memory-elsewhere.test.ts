// The loops of memory.test.ts that differ most, where garbage is collected in another way: in a worker, by a Node whose V8 takes no more flags, and
// in Bun and Deno, where they are on the path (or `EXPECT_TOOLS` names them).
// runs on: node

import { spawnSync } from 'node:child_process'
import test from 'ava'
import { bounded } from './bounded.js'

/** Results that JavaScript is given, sources that stay open, tensors that are dropped, expressions that pin others. */
const NAMES = ['npy', 'opened', 'loaded', 'evaluated', 'uploads', 'smallLosses', 'positions'] as const

for (const name of NAMES) {
  bounded(name, ' (in a worker)', { more: ['--worker'] })
  bounded(name, ' (no flags can be set)', { command: [process.execPath, '--freeze-flags-after-init'] })
}

const RUNTIMES: readonly (readonly [string, ...string[]])[] = [['bun'], ['deno', 'run', '--allow-all']]

for (const command of RUNTIMES) {
  const [name] = command
  const there = spawnSync(name, ['--version']).status === 0
  if (there || (process.env['EXPECT_TOOLS'] ?? '').split(',').includes(name)) for (const loop of NAMES) bounded(loop, ` (in ${name})`, { command })
  else test(`${name} is not here`, (t) => t.pass())
}
