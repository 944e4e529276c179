// Counts the instructions of what each program costs inside the engine: decoded and scheduled, found again, and dispatched; compares
// them with `benches/instructions.json`. Counts, unlike times, are the same on a busy machine. `--renew` writes them instead.
//
// Callgrind counts the bench of the engine at the AVX2 tier (it knows no AVX-512) on one thread, doing a thing N and 3 N times: the
// difference is without the start of the process.

import { readFileSync, writeFileSync } from 'node:fs'
import { idle, judge, RENEW } from './instructions/budget.mjs'
import { run, ROOT } from './steps.mjs'

const BUDGET = `${ROOT}benches/instructions.json`
const TIMES = 100
/** The names of `REPEATED` in benches/program.rs. */
const COUNTED = ['decode', 'lookup', 'dispatch']
const ENVIRONMENT = { FERROTENSOR_ISA: 'avx2', FERROTENSOR_THREADS: '1' }

async function must(command, env = {}) {
  const result = await run(command, { env })
  if (result.code !== 0) throw new Error(`${command.join(' ')}: ended with ${result.code}\n${result.output}`)
  return result.output
}

/** The bench, built as all else is. */
async function built() {
  const output = await must(['cargo', 'build', '--release', '--package', 'ferrotensor-engine', '--bench', 'program', '--message-format', 'json'])
  const found = /"name":"program".*"executable":"([^"]+)"/.exec(output)
  if (found === null) throw new Error(`cargo names no executable:\n${output}`)
  return found[1]
}

async function instructions(binary, what, times) {
  const output = await must(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', binary, what, String(times)], ENVIRONMENT)
  const found = /Collected : (\d+)/.exec(output)
  if (found === null) throw new Error(`callgrind counted nothing:\n${output}`)
  return Number(found[1])
}

const rustc = (await must(['rustc', '--version'])).trim()
const binary = await built()
const counts = {}
for (const what of COUNTED) {
  const [once, thrice] = [await instructions(binary, what, TIMES), await instructions(binary, what, 3 * TIMES)]
  counts[what] = Math.round((thrice - once) / (2 * TIMES))
  console.log(`${what}: ${counts[what]} instructions for each program`)
}
if (process.argv.includes('--renew')) {
  writeFileSync(BUDGET, `${JSON.stringify({ rustc, counts }, null, 2)}\n`)
} else {
  const budget = JSON.parse(readFileSync(BUDGET, 'utf8'))
  const problems = judge(counts, budget, rustc)
  for (const problem of problems) console.log(problem)
  for (const name of idle(counts, budget)) console.log(`note: ${name} is far below its budget of ${budget.counts[name]}; \`${RENEW}\``)
  const over = COUNTED.filter((name) => problems.some((problem) => problem.startsWith(`${name}:`))).length
  const failed = problems.length > 0 ? Math.max(1, over) : 0
  console.log(`${COUNTED.length - over} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}
