// The JavaScript fuzzer: calls everything the module shows with what is largest in each place, then with a seeded mixture of working
// and hostile arguments.
//
//   node scripts/fuzz/calls.mjs [--seed text] [--calls each] [--target path] [--call number]
//
// Each call is made from (seed, target, number) alone, so a failure is repeated by naming the three. Targets are dealt to child
// processes, which say what they are about to do: a crash or a hang has a name too. `--target` runs one target in this process.
// Functions that write files take any text for a path: calls run in a temporary folder, which is emptied after each.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import * as ft from 'ferrotensor'
import { argumentsOf, certain } from './arguments.mjs'
import { Violation, outcomeOf } from './oracle.mjs'
import { Random } from './random.mjs'
import { SCENARIOS, UNREACHABLE } from './scenarios.mjs'
import { targets } from './targets.mjs'

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    calls: { type: 'string', default: '500' },
    target: { type: 'string' },
    call: { type: 'string' },
    shard: { type: 'string' }
  }
})
const { seed } = given
const calls = Number(given.calls)

/** The budget of the children: enormous results are refused, not computed. */
const BUDGET = 64 << 20
/** A call that takes longer is a hang; the slowest seen take a second on a busy machine. */
const HANG_MS = 60_000
/** Share of calls that must succeed: a fuzzer whose calls all fail at the first argument tests one line of each function. */
const LEAST_SUCCESS = 0.3
const SHARDS = 4

/** The working folder of calls; the parent process, which calls nothing but the scenarios, has none. */
let folder = null

/** Where files of calls go. */
const temporary = () => mkdtempSync(join(tmpdir(), 'ferrotensor-calls-'))
const remove = (path) => rmSync(path, { recursive: true, force: true })

/** Settings and files are undone after each call, so that a call depends on nothing before it. */
function settle() {
  if (folder !== null) for (const name of readdirSync(folder)) remove(join(folder, name))
  ft.config({ fusion: true, limit: 2048 })
  ft.strict('allow')
  ft.setPrintOptions()
  ft.setDefaultDevice('cpu')
  ft.setThreads(2)
  ft.setMemoryLimit(BUDGET)
}

async function callOnce(target, i) {
  const rng = new Random(`${seed}/${target.path}/${i}`)
  const ctx = { enormous: false }
  const args = certain(target)[i]?.() ?? argumentsOf(target, rng, ctx)
  const outcome = await outcomeOf(target, args, rng, ctx)
  settle()
  return outcome
}

const say = (line) => process.stdout.write(`${line}\n`)
const count = (map, key, by = 1) => (map[key] = (map[key] ?? 0) + by)

/** What is left of memory once everything unreachable is gone. */
async function liveBytes() {
  // Promises that were abandoned settle, and what they hold dies with them.
  await new Promise((resolve) => setTimeout(resolve, 50))
  for (let i = 0; i < 3; i++) ft.trim()
  return ft.memory().live
}

/** Runs one child's targets; the last line is its report. */
async function shard(index) {
  folder = process.cwd()
  settle()
  const mine = (await targets()).filter((_, i) => i % SHARDS === index)
  const before = await liveBytes()
  const outcomes = {}
  const successes = {}
  const failures = []
  for (const target of mine) {
    successes[target.path] = 0
    for (let i = 0; i < calls; i++) {
      say(`@ ${target.path} ${i}`)
      try {
        const outcome = await callOnce(target, i)
        count(outcomes, outcome)
        if (outcome === 'ok') successes[target.path]++
      } catch (error) {
        if (!(error instanceof Violation)) throw error
        settle()
        failures.push({ path: target.path, call: i, text: error.message })
      }
    }
    const [one, two] = ft.tensor([1, 2]).add(1).dataSync()
    if (one !== 2 || two !== 3) failures.push({ path: target.path, call: calls - 1, text: 'afterwards [1, 2] + 1 is wrong' })
  }
  const polluted = Object.keys(Object.prototype)
  if (polluted.length > 0) failures.push({ path: mine.at(-1).path, call: 0, text: `Object.prototype has ${polluted}` })
  const left = (await liveBytes()) - before
  if (left > 0) failures.push({ path: mine.at(-1).path, call: calls - 1, text: `${left} bytes are left` })
  say(`= ${JSON.stringify({ outcomes, successes, failures, calls: mine.length * calls })}`)
}

/** Starts a child and resolves to its report; one that crashed or hung reports where. */
function start(index) {
  const args = [fileURLToPath(import.meta.url), '--shard', String(index), '--seed', seed, '--calls', String(calls)]
  const cwd = temporary()
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let [rest, errors, at, report, hung] = ['', '', 'the start 0', null, false]
  let guard
  const alive = () => {
    clearTimeout(guard)
    guard = setTimeout(() => {
      hung = true
      child.kill('SIGKILL')
    }, HANG_MS)
  }
  alive()
  child.stderr.setEncoding('utf8').on('data', (text) => (errors = (errors + text).slice(-4000)))
  child.stdout.setEncoding('utf8').on('data', (text) => {
    alive()
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      if (line.startsWith('@ ')) at = line.slice(2)
      else if (line.startsWith('= ')) report = JSON.parse(line.slice(2))
    }
  })
  return new Promise((resolve) =>
    child.on('close', (code, signal) => {
      clearTimeout(guard)
      remove(cwd)
      if (report !== null && code === 0) return resolve(report)
      const path = at.slice(0, at.lastIndexOf(' '))
      const text = hung ? `no answer for ${HANG_MS / 1000} s` : `the process ended with ${signal ?? code}\n${errors}`
      resolve({ outcomes: {}, successes: {}, failures: [{ path, call: Number(at.slice(path.length)), text }], calls: 0 })
    })
  )
}

/** Each code's scenario; returns what is wrong. */
function runScenarios(outcomes) {
  const wrong = []
  settle()
  for (const [code, scenario] of Object.entries(SCENARIOS)) {
    try {
      scenario()
      wrong.push(`the scenario of ${code} throws nothing`)
    } catch (error) {
      if (error.code === code) count(outcomes, code)
      else wrong.push(`the scenario of ${code} throws ${error}`)
    }
  }
  const codes = Object.values(ft).filter((f) => f?.prototype instanceof ft.TensorError).map((Class) => new Class('').code)
  for (const code of codes) if (!(code in UNREACHABLE) && !(outcomes[code] > 0)) wrong.push(`${code} was never seen`)
  return wrong
}

async function all() {
  const began = performance.now()
  const queue = Array.from({ length: SHARDS }, (_, i) => i)
  const reports = []
  const work = async () => {
    for (let index; (index = queue.shift()) !== undefined; ) reports.push(await start(index))
  }
  await Promise.all(Array.from({ length: Math.min(SHARDS, availableParallelism()) }, work))
  const outcomes = {}
  for (const report of reports) for (const [key, n] of Object.entries(report.outcomes)) count(outcomes, key, n)
  const failures = reports.flatMap((report) => report.failures)
  const total = reports.reduce((n, report) => n + report.calls, 0)
  const scenarios = runScenarios(outcomes)
  const successes = Object.assign({}, ...reports.map((report) => report.successes))
  const never = Object.keys(successes).filter((path) => successes[path] === 0)
  if (never.length > 0) scenarios.push(`no call succeeds of ${never.join(', ')}`)
  const [least = 'none'] = Object.keys(successes).sort((a, b) => successes[a] - successes[b])
  const success = (outcomes.ok ?? 0) / total
  if (!(success >= LEAST_SUCCESS)) scenarios.push(`${(100 * success).toFixed(1)} % of the calls succeed, ${100 * LEAST_SUCCESS} % must`)
  // One cause fails many calls: the first of each is shown whole.
  const causes = new Map()
  for (const failure of failures) {
    const cause = failure.text.split('\n', 1)[0].replace(/'[^']*'|\d+/g, '_')
    causes.set(cause, [...(causes.get(cause) ?? []), failure])
  }
  for (const [{ path, call, text }, ...others] of causes.values()) {
    const more = others.length === 0 ? '' : `\n  and ${others.length} more, in ${[...new Set(others.map((other) => other.path))].slice(0, 8).join(', ')}`
    say(`${path}, call ${call}: ${text}\n  node scripts/fuzz/calls.mjs --seed ${seed} --target '${path}' --call ${call}${more}\n`)
  }
  scenarios.forEach(say)
  say(`seed ${seed}: ${Object.keys(successes).length} targets, ${calls} calls each, ${((performance.now() - began) / 1000).toFixed(0)} s`)
  say(`${(100 * success).toFixed(1)} % succeed, least often ${least} (${successes[least]}); ${Object.entries(outcomes).sort().map(([key, n]) => `${key} ${n}`).join(', ')}`)
  const failed = failures.length + scenarios.length
  say(`${total - failures.length + Object.keys(SCENARIOS).length} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

/** One target in this process; with a call, that one only, and everything about it. */
async function single() {
  folder = temporary()
  process.chdir(folder)
  process.on('exit', () => remove(folder))
  settle()
  const target = (await targets()).find(({ path }) => path === given.target)
  if (target === undefined) throw new Error(`there is no target ${given.target}`)
  for (let i = Number(given.call ?? 0); i <= Number(given.call ?? calls - 1); i++) {
    say(`${target.path} ${i}: ${await callOnce(target, i)}`)
  }
}

if (given.shard !== undefined) await shard(Number(given.shard))
else if (given.target !== undefined) await single()
else await all()
