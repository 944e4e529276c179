// What a user downloads and what a contributor waits for: the size of the stripped native module, and the seconds a cold
// release build takes, by crate (`cargo build --timings` in a folder of its own).

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printMachine } from './machine.js'

// This file runs as dist/benches/build.bench.js.
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SHOWN = 12

interface Unit {
  readonly name: string
  readonly duration: number
}

/** Seconds by crate, slowest first, from the data inside cargo's report. */
function secondsByCrate(report: string): [string, number][] {
  const data = report.match(/const UNIT_DATA = (\[[^]*?\]);/)?.[1]
  if (data === undefined) throw new Error('cargo-timing.html has no UNIT_DATA; did its format change?')
  const total = new Map<string, number>()
  for (const { name, duration } of JSON.parse(data) as Unit[]) total.set(name, (total.get(name) ?? 0) + duration)
  return [...total].sort(([, a], [, b]) => b - a)
}

function coldBuild(): void {
  const target = mkdtempSync(join(tmpdir(), 'ferrotensor-build-'))
  try {
    const started = performance.now()
    const args = ['build', '--release', '--timings', '--package', 'ferrotensor-node', '--target-dir', target]
    const { status, stderr } = spawnSync('cargo', args, { cwd: ROOT, encoding: 'utf8' })
    if (status !== 0) throw new Error(`cargo build failed\n${stderr}`)
    console.log(`cold release build: ${((performance.now() - started) / 1000).toFixed(0)} s; seconds of one core by crate:`)
    const report = readFileSync(join(target, 'cargo-timings', 'cargo-timing.html'), 'utf8')
    for (const [name, seconds] of secondsByCrate(report).slice(0, SHOWN)) console.log(`${seconds.toFixed(1).padStart(7)}  ${name}`)
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}

printMachine()
const native = join(ROOT, 'native')
for (const name of readdirSync(native).filter((file) => file.endsWith('.node'))) {
  console.log(`\n${name}: ${(statSync(join(native, name)).size / 2 ** 20).toFixed(2)} MiB`)
}
if (process.argv.includes('--smoke')) console.log('cold build: not in smoke mode')
else coldBuild()
