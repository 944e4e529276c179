// Whether the suites catch what they are for: faults on purpose (scripts/planted/), one at a time, each held against the parts of the
// steps that are to catch it, until one does. What no step catches is a failure.
//
//   node scripts/planted.mjs [NAME...] [--list] [--keep]
//
// Everything runs in a copy of the repository (scripts/planted/tree.mjs). First each command must pass without a fault: one that fails
// anyway catches nothing. A run of all faults writes docs/planted-faults.md, where it is what the suites caught. `--keep`: the copy is
// taken as it is and as it was built.
//
// A command that does not end is ended after some minutes, and has caught nothing: nobody would be told by the step that it is a part of.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { absence } from './absence.mjs'
import { tierOf, suiteOf, whole, WHOLE } from './planted/commands.mjs'
import { FAULTS, isSwitch } from './planted/faults.mjs'
import { page, table } from './planted/report.mjs'
import { apply, buildNative, buildTypes, refresh, TREE } from './planted/tree.mjs'
import { ROOT, run, seconds } from './steps.mjs'
import { ENVIRONMENT, verdict } from './suites.mjs'

/** Milliseconds of a command, those that build among them. */
const LIMIT = 20 * 60_000
/** Lines shown of a command that failed without a fault. */
const SHOWN = 15

const { values: given, positionals } = parseArgs({ allowPositionals: true, options: { list: { type: 'boolean' }, keep: { type: 'boolean' } } })
const unknown = positionals.filter((name) => !FAULTS.some((fault) => fault.name === name))
if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`)
const chosen = positionals.length > 0 ? FAULTS.filter(({ name }) => positionals.includes(name)) : FAULTS

/** The commands of a fault: a sample of the conformance suite is followed by all of it. */
const candidates = ({ by }) => [...by, ...by.filter(({ step }) => step === 'conformance').map(whole)]

/** Whether the compiled TypeScript is of other sources than the copy has. */
let stale = false

/** Runs a command in the copy with the fault of a name, or none; resolves to what the step would have counted. */
async function held({ step, command, more = [], env = {} }, planted = '') {
  if (stale) await buildTypes()
  stale = false
  const result = await run([...command, ...more], { cwd: TREE, limit: LIMIT, env: { ...ENVIRONMENT, ...env, FERROTENSOR_PLANTED: planted } })
  return { ...verdict(suiteOf(step) ?? suiteOf('conformance'), result), ...result, hung: result.output.endsWith('\nended by SIGKILL\n') }
}

const key = ({ command, env }) => JSON.stringify([command, env])
const controls = new Map()

/** Whether a command passes without a fault. */
async function passes(entry) {
  if (!controls.has(key(entry))) {
    const result = await held(entry)
    const right = result.failed === 0 && result.code === 0
    if (!right) console.log(`${entry.command.join(' ')} fails without a fault:\n${result.output.trimEnd().split('\n').slice(-SHOWN).join('\n')}`)
    controls.set(key(entry), right)
  }
  return controls.get(key(entry))
}

/** Plants a fault and runs its commands until one fails: the entry that caught it, or what each of them said. */
async function caught(fault) {
  const missed = []
  let absent = 0
  for (const entry of candidates(fault)) {
    const lacking = absence(suiteOf(entry.step) ?? {})
    if (lacking !== null) {
      missed.push(`${entry.step}: ${lacking}`)
      absent++
      continue
    }
    if (!(await passes(entry))) {
      missed.push(`${entry.step} fails anyway`)
      continue
    }
    const takeBack = isSwitch(fault) ? null : await apply(fault.patch)
    const compiled = fault.patch?.file.endsWith('.ts') ?? false
    stale ||= compiled
    const start = performance.now()
    try {
      const { failed, hung } = await held(entry, isSwitch(fault) ? fault.name : '')
      if (failed > 0 && !hung) return { entry, took: seconds(start), missed }
      missed.push(`${entry.step} ${hung ? 'does not end' : 'passes'}`)
    } finally {
      await takeBack?.()
      stale ||= compiled
    }
  }
  return { entry: null, took: '-', missed, skipped: absent === missed.length }
}

if (given.list) {
  for (const { name, class: kind } of FAULTS) console.log(`${name}: ${kind}`)
} else {
  const started = performance.now()
  if (!given.keep) {
    await refresh()
    await buildNative()
    await buildTypes()
  }
  const outcomes = []
  for (const fault of chosen) {
    const { entry, took, missed, skipped } = await caught(fault)
    const where = entry === null ? `${skipped ? 'skipped' : 'NOT CAUGHT'}: ${missed.join(', ')}` : `${tierOf(entry.step)}, ${entry.step}, ${took} s${missed.length > 0 ? ` (${missed.join(', ')})` : ''}`
    console.log(`${fault.name.padEnd(44)} ${where}`)
    if (!skipped) outcomes.push({ fault, step: entry?.step ?? null, took })
  }
  console.log(`\n${table(outcomes)}`)
  const escaped = outcomes.filter(({ step }) => step === null)
  // A fault that the quick tier misses has a reason, or a check too few.
  const unexplained = outcomes.filter(({ fault, step }) => step !== null && step !== WHOLE && tierOf(step) !== 'quick' && fault.why === undefined)
  for (const { fault, step } of unexplained) console.log(`${fault.name}: only '${step}' catches it, and nothing says why`)
  if (outcomes.length === FAULTS.length && escaped.length === 0) await writeFile(join(ROOT, 'docs/planted-faults.md'), page(outcomes))
  const failed = escaped.length + unexplained.length
  console.log(`in ${seconds(started)} s`)
  console.log(`${outcomes.length - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}
