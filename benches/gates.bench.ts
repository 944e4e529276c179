// The gates: what people spend their time in, beside the libraries they would pick, in turns, with what the machine can do measured in the
// same rounds. Prints how many times as fast as the fastest peer each row is, whether its gate is met, and the fractions of the limit; writes
// benches/results/<machine>.json. Options: `--setup` installs the peers first; `--only row,row` measures some rows and keeps the others in the
// file; `--peers name,name` asks some peers only, and writes nothing.

import { machineFacts, printMachine } from './machine.js'
import { measure, NO_CALL, type Measurement } from './gates/measure.js'
import { commit, save, type Saved } from './gates/results.js'
import type { Row } from './gates/row.js'
import { MAPS } from './gates/rows/maps.js'
import { NETWORKS } from './gates/rows/networks.js'
import { PRODUCTS } from './gates/rows/products.js'
import { REDUCTIONS } from './gates/rows/reductions.js'
import { ROUTINES } from './gates/rows/routines.js'
import { missedBy, verdict, type Verdict } from './gates/verdict.js'
import { startPeer } from './peers/peer.js'
import { LIMITS, PEER_NAMES, startPeers, type PeerName } from './peers/registry.js'
import { setUpPeers } from './peers/setup.js'
import { duration } from './race.js'
import { DESCRIBED } from './training/steps.js'

const ROWS: readonly Row[] = [...PRODUCTS, ...MAPS, ...REDUCTIONS, ...NETWORKS, ...ROUTINES]
const NAMES = ROWS.map(({ name }) => name)
const smoke = process.argv.includes('--smoke')

/** The names behind an option, all where it is not given. */
function chosen<Name extends string>(option: string, known: readonly Name[]): readonly Name[] {
  const at = process.argv.indexOf(option)
  if (at < 0) return known
  const named = (process.argv[at + 1] ?? '').split(',')
  const unknown = named.filter((name) => !known.includes(name as Name))
  if (unknown.length > 0) {
    console.log(`${option}: unknown: ${unknown.join(', ')}; there are: ${known.join(', ')}`)
    process.exit(1)
  }
  return known.filter((name) => named.includes(name))
}

const factor = (value: number): string => value.toPrecision(3)
const COLUMNS = [16, 9, 28, 8, 8, 14, 13, 13]
const line = (...cells: string[]): void => console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(COLUMNS[i] as number) : cell.padStart(COLUMNS[i] ?? 0))).join(' ').trimEnd())

/** A row of the table, then what of it needs words. */
function report(row: Row, { own, peers, absent, limit, noise }: Measurement, result: Verdict | null): void {
  const of = (seconds: number): string => (limit === null ? '-' : (limit / seconds).toFixed(2))
  if (result === null) line(row.name, duration(own), '-', '-', factor(row.gate), '-', of(own), '-')
  else {
    const { best, ratio, met, required, capped } = result
    const theirs = peers[best] as number
    const outcome = `${met ? 'met' : `MISSED ${(own / required).toFixed(2)}`}${capped ? ' ^' : ''}${noise === null ? '' : ' ~'}`
    line(row.name, duration(own), `${best} ${duration(theirs)}`, factor(ratio), factor(row.gate), outcome, of(own), of(theirs))
    const rest = Object.entries(peers).sort(([, a], [, b]) => a - b)
    console.log(`    ${rest.map(([name, seconds]) => `${name} ${duration(seconds)}`).join(', ')}`)
    for (const { peer, ratio, gate, met } of result.against) console.log(`    ${factor(ratio)} x ${peer}, gate ${gate}: ${met ? 'met' : 'MISSED'}`)
  }
  for (const [name, why] of Object.entries(row.aside ?? {})) if (name in peers) console.log(`    ${name} does not count: ${why}`)
  const without = Object.entries(absent).filter(([, why]) => why === NO_CALL)
  if (without.length > 0) console.log(`    without ${without.map(([name]) => name).join(', ')}`)
  for (const [name, why] of Object.entries(absent)) if (why !== NO_CALL) console.log(`    without ${name}: ${why}`)
}

if (process.argv.includes('--setup') && !setUpPeers()) process.exitCode = 1
printMachine()
const [rows, asked] = [chosen('--only', NAMES), chosen('--peers', PEER_NAMES)]
const peers = await startPeers<PeerName>(asked)
const limits = await startPeer(LIMITS)
const versions: Record<string, Record<string, string>> = {}
for (const { label, version, facts } of [...peers.values(), ...(limits === null ? [] : [limits])]) {
  versions[label] = { version, ...facts }
  console.log(`${label} ${version}${Object.entries(facts).map(([what, fact]) => `; ${what}: ${fact}`).join('')}`)
}
for (const name of ['torch', 'jax', 'tfjs'] as const) await peers.get(name)?.describe(DESCRIBED)
if (process.env['OPENBLAS_CORETYPE'] !== undefined) console.log(`OPENBLAS_CORETYPE is ${process.env['OPENBLAS_CORETYPE']}: NumPy does not choose its kernels itself`)

console.log('\ntimes of a call; how many times as fast as the fastest peer; fractions of what the machine can do. ^: 0.9 of that is the gate;')
console.log('~: others used the machine\n')
line('', 'ours', 'fastest peer', 'ratio', 'gate', '', 'ours of limit', 'peer of limit')
const wrong: string[] = []
const missed: string[] = []
/** Rows that say nothing, since others used the machine. */
const noisy: string[] = []
let met = 0
let written: string | null = null
/** The fastest peer may not have been asked, or not seriously. */
const unfit = smoke || peers.size < PEER_NAMES.length || limits === null
const [measured, date] = [commit(), new Date().toISOString().slice(0, 10)]
for (const row of ROWS.filter(({ name }) => rows.includes(name))) {
  const { wrong: differing, ...result } = await measure(row, peers, limits)
  const outcome = verdict(row, result)
  report(row, { ...result, wrong: differing }, outcome)
  wrong.push(...differing.map((name) => `${row.name}: ${name}: ${result.absent[name]}`))
  if (result.noise !== null) noisy.push(row.name)
  else if (outcome?.met) met++
  else if (outcome !== null) missed.push(missedBy(row.name, result.own, outcome))
  const saved: Saved = { ...result, gate: row.gate, stretch: row.stretch, verdict: outcome, commit: measured, date }
  // After each row: a run may be broken off.
  if (!unfit) written = save({ machine: machineFacts(), peers: versions, rows: { [row.name]: saved } }, NAMES)
}
for (const peer of [...peers.values(), ...(limits === null ? [] : [limits])]) peer.close()

console.log(`\n${met} gates met, ${missed.length} missed${missed.length > 0 ? `: ${missed.join(', ')}` : ''}`)
if (noisy.length > 0) console.log(`${noisy.length} rows count for nothing, since others used the machine; repeat: --only ${noisy.join(',')}`)
console.log(written === null ? 'not written: some peers were not there, or not for long' : `written: ${written}`)
if (wrong.length > 0) {
  console.log(`\nresults differ:\n${wrong.join('\n')}`)
  process.exitCode = 1
}
