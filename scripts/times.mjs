// What each step of the suites took: test.mjs writes a line for each into target/times.jsonl, `.ci/run` prints all of them as one table,
// and a step that takes 1.5 times what scripts/times.json has of it on a machine of the same kind is named, with the cases that grew.
//
//   node scripts/times.mjs                     the table
//   node scripts/times.mjs --add NAME SECONDS  one more line, of what no suite runs (.ci/run: making the machine ready)
//   node scripts/times.mjs --renew             writes scripts/times.json from the last run

import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from './steps.mjs'

const LINES = join(ROOT, 'target/times.jsonl')
const KNOWN = join(ROOT, 'scripts/times.json')
/** So many times as long is worth a warning, and so many seconds more: short steps wait for a busy machine. */
const FACTOR = 1.5
const LEAST_GROWTH = 2
/** Cases that are named in a warning. */
const SHOWN = 5

/** Seconds are compared on machines of one kind only. */
export const machine = () => `${availableParallelism()} x ${cpus()[0]?.model ?? process.arch}`

/** Whether nothing is built yet: the time of such a run is compared with that of others like it. */
export function isCold(target) {
  const folder = join(ROOT, 'target', target ?? '', 'release/deps')
  return !existsSync(folder) || readdirSync(folder).length === 0
}

/** Adds `{ tier, name, cold, seconds, passed, failed, cases }`. */
export function record(entry) {
  mkdirSync(join(ROOT, 'target'), { recursive: true })
  appendFileSync(LINES, `${JSON.stringify(entry)}\n`)
}

const everything = () => (existsSync(LINES) ? readFileSync(LINES, 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [])

/** Forgets what an earlier run of a tier wrote. */
export function forget(tier) {
  const others = everything().filter((entry) => entry.tier !== tier)
  rmSync(LINES, { force: true })
  others.forEach(record)
}

/** Seconds by case, of a suite's lines `took: 1.25 s name`. */
export const casesOf = (output) => Object.fromEntries([...output.matchAll(/^took: ([\d.]+) s (.*)$/gm)].map(([, seconds, name]) => [name, Number(seconds)]))

/** The table as text: a row for each step, and the sum of each tier. */
export function table(entries) {
  const lines = [`${'step'.padEnd(36)}${'tier'.padEnd(8)}${'built'.padEnd(7)}${'seconds'.padStart(8)}${'passed'.padStart(9)}${'failed'.padStart(8)}`]
  const row = ({ name, tier, cold, seconds, passed, failed }) =>
    lines.push(`${name.padEnd(36)}${tier.padEnd(8)}${(cold ? 'cold' : 'warm').padEnd(7)}${seconds.toFixed(1).padStart(8)}${String(passed ?? '').padStart(9)}${String(failed ?? '').padStart(8)}`)
  for (const tier of new Set(entries.map((entry) => entry.tier))) {
    const own = entries.filter((entry) => entry.tier === tier)
    own.forEach(row)
    const sum = (key) => own.reduce((total, entry) => total + (entry[key] ?? 0), 0)
    // Steps beside each other share their seconds with another one.
    const seconds = own.filter(({ beside }) => !beside).reduce((total, entry) => total + entry.seconds, 0)
    row({ name: `all of ${tier}`, tier, cold: own[0].cold, seconds, passed: sum('passed'), failed: sum('failed') })
  }
  return lines.join('\n')
}

/** A sentence for each step that grew beside what is known of this machine. */
export function grown(entries, known) {
  const much = (now, before, least) => now > FACTOR * before && now - before > least
  return entries.flatMap(({ tier, name, cold, seconds, cases = {} }) => {
    const before = known[`${tier}/${name}`]?.[cold ? 'cold' : 'warm']
    if (before === undefined || !much(seconds, before.seconds, LEAST_GROWTH)) return []
    const longer = Object.entries(cases).filter(([each, now]) => much(now, before.cases?.[each] ?? 0, LEAST_GROWTH / 20))
    const by = ([each, now]) => `${each} ${(before.cases?.[each] ?? 0).toFixed(1)} -> ${now.toFixed(1)}`
    const most = longer.sort((a, b) => b[1] - (before.cases?.[b[0]] ?? 0) - (a[1] - (before.cases?.[a[0]] ?? 0))).slice(0, SHOWN)
    return [`${name} took ${seconds.toFixed(1)} s, ${before.seconds.toFixed(1)} s are known of it${most.length > 0 ? `; grown: ${most.map(by).join(', ')}` : ''}`]
  })
}

const known = () => (existsSync(KNOWN) ? JSON.parse(readFileSync(KNOWN, 'utf8')) : {})

/** Warnings about these entries on this machine. */
export const warnings = (entries) => grown(entries, known()[machine()] ?? {})

function renew() {
  const all = known()
  const own = (all[machine()] ??= {})
  for (const { tier, name, cold, seconds, cases } of everything()) {
    const longest = Object.entries(cases ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 40)
    const rounded = longest.map(([each, took]) => [each, Number(took.toFixed(1))])
    own[`${tier}/${name}`] = { ...own[`${tier}/${name}`], [cold ? 'cold' : 'warm']: { seconds: Number(seconds.toFixed(1)), ...(rounded.length > 0 && { cases: Object.fromEntries(rounded) }) } }
  }
  writeFileSync(KNOWN, `${JSON.stringify(all, null, 1)}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [option, name, seconds] = process.argv.slice(2)
  if (option === '--add') record({ tier: 'ci', name, cold: false, seconds: Number(seconds) })
  else if (option === '--renew') renew()
  else console.log(table(everything()))
}
