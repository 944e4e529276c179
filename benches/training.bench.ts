// Training steps (float32, forwards, backwards, the optimiser, the loss read) beside PyTorch, JAX and TensorFlow.js where they are
// installed; what of a step is JavaScript; and how much memory a large one takes.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as ft from 'ferrotensor'
import { printMachine } from './machine.js'
import { duration, race, repeat } from './race.js'
import { lossContender } from './training/contender.js'
import { lastLine, type Peer } from './peers/peer.js'
import { PEERS, startPeers, type PeerName } from './peers/registry.js'
import { DESCRIBED, running, started, stepOf, TRAININGS, type Training } from './training/steps.js'

/** First losses agree: sums of up to 784 products in another order. */
const TOLERANCE = 1e-4
/** Rows of a step that is large: what it keeps for the way back is what counts. */
const LARGE = process.argv.includes('--smoke') ? 64 : 8192
const STEPS = 5
/** Where Linux says how large a process has been. */
const STATUS = '/proc/self/status'

type Peers = ReadonlyMap<PeerName, Peer>

/** Rows per contender, and that all have the same loss. */
async function compare(name: string, training: Training, peers: Peers): Promise<void> {
  console.log(`\n${training.what}`)
  const step = stepOf(training)
  const own = (label: string, made: typeof step) => lossContender(label, running(training, made))
  // TensorFlow.js has the dense network alone.
  const theirs = [...peers].filter(([peer]) => peer !== 'tfjs' || name === 'dense').map(([, peer]) => ({ ...peer.contender({ training: name }), name: `${peer.label} ${peer.version}` }))
  const contenders = [own('ferrotensor', step), own('ferrotensor, jit', ft.jit(step)), ...theirs]
  const results = await race(contenders)
  const [first] = results as [(typeof results)[number]]
  for (const { name, seconds, checksum } of results) {
    console.log(`${name.padEnd(36)} ${duration(seconds).padStart(8)} a step, ${(seconds / first.seconds).toFixed(2)} of ours`)
    if (!(Math.abs(checksum - first.checksum) <= TOLERANCE)) {
      console.log(`${name}: its first loss is ${checksum}, ours ${first.checksum}`)
      process.exitCode = 1
    }
  }
  const args = started(training)
  // Nothing of it runs; few enough that memory pressure has no reason to run any.
  const seconds = repeat(0, 10, () => void step(...args))
  console.log(`of ours, recording with its gradients: ${duration(seconds)}`)
}

/** In the child: by how much the resident set rises over steps of many rows, first code and threads aside. */
function ownRise(training: Training, traced: boolean): number {
  const step = traced ? ft.jit(stepOf(training)) : stepOf(training)
  running(training, step)()
  const before = process.memoryUsage.rss()
  const next = running(training, step, LARGE)
  for (let i = 0; i < STEPS; i++) next()
  // In KiB. What `resourceUsage` has is that of the parent, where the parent's was higher.
  const most = Number(/VmHWM:\s*(\d+)/.exec(readFileSync(STATUS, 'utf8'))?.[1])
  return (most * 1024 - before) / 2 ** 20
}

/** MiB that a process says its resident set rose by. */
const rise = async (...command: string[]): Promise<number> => ((await lastLine(command, `${JSON.stringify({ trainings: DESCRIBED })}\n`)) as { rise: number }).rise

async function compareMemory(name: string, peers: Peers): Promise<void> {
  const child = (how: string): Promise<number> => rise(process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2), how, name)
  const rows = [['ferrotensor', await child('--rise')], ['ferrotensor, jit', await child('--rise-traced')]] as [string, number][]
  for (const [peer, { label, version }] of peers) {
    if (peer !== 'tfjs') rows.push([`${label} ${version}`, await rise(...PEERS[peer].command, '--rise', name, String(LARGE), String(STEPS))])
  }
  for (const [label, mebibytes] of rows) console.log(`${label.padEnd(36)} ${mebibytes.toFixed(0).padStart(6)} MiB`)
}

const [how, of] = process.argv.slice(-2) as [string, string]
if (how.startsWith('--rise')) console.log(JSON.stringify({ rise: ownRise(TRAININGS[of] as Training, how === '--rise-traced') }))
else {
  printMachine()
  const peers = await startPeers(['torch', 'jax', 'tfjs'])
  for (const peer of peers.values()) await peer.describe(DESCRIBED)
  for (const [name, training] of Object.entries(TRAININGS)) await compare(name, training, peers)
  for (const peer of peers.values()) peer.close()
  for (const [name, { what }] of existsSync(STATUS) ? Object.entries(TRAININGS) : []) {
    console.log(`\nresident memory above the start, steps of ${LARGE} rows: ${what.split(',', 1)[0]}`)
    await compareMemory(name, peers)
  }
}
