// `npm run bench [name...] [-- option...]`: runs benches/<name>.bench.ts, all of them without names, with the options. `--smoke` runs each
// just long enough to see that it works, and ends with `N passed, N failed`.

import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setUp } from './setup.mjs'
import { ROOT } from './steps.mjs'

const ENDING = '.bench.ts'
const known = readdirSync(join(ROOT, 'benches')).filter((file) => file.endsWith(ENDING)).map((file) => file.slice(0, -ENDING.length))
const args = process.argv.slice(2)
const first = args.findIndex((arg) => arg.startsWith('--'))
const [named, options] = first < 0 ? [args, []] : [args.slice(0, first), args.slice(first)]
const smoke = options.includes('--smoke')
const unknown = named.filter((name) => !known.includes(name))

/** Runs one bench in a process of its own and resolves to whether it succeeded. */
const bench = (name) =>
  new Promise((resolve) => {
    console.log(`\n== ${name}`)
    spawn(process.execPath, [`dist/benches/${name}.bench.js`, ...options], { cwd: ROOT, stdio: 'inherit' }).on('close', (code) => resolve(code === 0))
  })

if (unknown.length > 0) {
  console.log(`no such bench: ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  process.exitCode = 1
} else if (await setUp()) {
  let [passed, failed] = [0, 0]
  for (const name of named.length > 0 ? named : known) {
    if (await bench(name)) passed++
    else failed++
  }
  if (smoke) console.log(`\n${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
} else {
  process.exitCode = 1
}
