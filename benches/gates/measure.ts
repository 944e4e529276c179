// One row: its operands handed over, everybody warm, turns taken together with the limits of the machine, checksums compared.

import { cpus } from 'node:os'
import * as ft from 'ferrotensor'
import { ours } from '../contender.js'
import { untilQuiet, watchNeighbours } from '../machine.js'
import type { Call, Peer } from '../peers/peer.js'
import { withFile, type PeerName } from '../peers/registry.js'
import { NOISY, PACE, takeTurns, type Contender, type Pace } from '../race.js'
import { lossContender } from '../training/contender.js'
import { running, stepOf, TRAININGS, type Training } from '../training/steps.js'
import { onnxModel } from './onnx.js'
import type { Limit, Operands, Row } from './row.js'
import type { Measured } from './verdict.js'

/** Elementwise results differ by an ULP, sums of a row by a few. */
const TOLERANCE = 1e-5
/** Peers that take a hundred times as long need not have all turns. */
const RUN: Pace = { ...PACE, limit: 1 }
const CORES = cpus().length

/** Why a peer has no part in a row that is not what it is for. */
export const NO_CALL = 'has no call for it'

interface Asked {
  readonly name: PeerName
  readonly peer: Peer
  readonly contender: Contender
}

export interface Measurement extends Measured {
  /** Peers whose results are others than ours; their times are left out. */
  readonly wrong: readonly string[]
}

/** What a peer is asked to do; null where it has no part. */
function callOf({ calls, onnx, training, chain, signless }: Row, name: PeerName, operands: Operands): Call | null {
  const call = name === 'onnxruntime' || name === 'onnxruntime-node' ? onnx && onnxModel(onnx, operands) : calls[name]
  if (call === undefined) return null
  return training === undefined ? { call, chain, positive: signless ? 1 : undefined } : { training }
}

/** What it takes to find the limit: contenders of `limits`, and what their seconds are multiplied by. */
function limitCalls(limit: Limit): readonly [calls: readonly string[], factor: number] {
  const threads = CORES === 1 ? [1] : [1, CORES]
  if ('flops' in limit) return [threads.map((n) => `${limit.wide ? 'fma64' : 'fma32'} ${n}`), limit.flops / 1e9]
  return [threads.map((n) => `stream ${limit.reads} ${limit.writes} ${Math.round(limit.bytes)} ${n}`), 1]
}

function own({ ours: run, training, chain, signless }: Row, operands: Operands): Contender {
  if (training === undefined) return ours(() => run(operands), chain, signless ? 1 : undefined)
  const described = TRAININGS[training] as Training
  return lossContender('ferrotensor', running(described, ft.jit(stepOf(described))))
}

/** Those that take the operands and get through a first slice; the others' reasons go to `absent`. */
function warm(asked: readonly Asked[], operands: Operands, absent: Record<string, string>): Promise<Asked[]> {
  return withFile(operands, async (file) => {
    const able: Asked[] = []
    for (const one of asked) {
      try {
        await one.peer.load(file)
        await one.contender.slice(PACE.slice)
        able.push(one)
      } catch (error) {
        absent[one.name] = String(error instanceof Error ? error.message : error)
      }
    }
    return able
  })
}

/** Measures a row with the peers and the limits there are. */
export async function measure(row: Row, peers: ReadonlyMap<PeerName, Peer>, limits: Peer | null): Promise<Measurement> {
  const operands = row.operands()
  ft.evaluateSync(...Object.values(operands))
  const absent: Record<string, string> = {}
  const asked = [...peers].flatMap(([name, peer]) => {
    const call = callOf(row, name, operands)
    if (call === null) absent[name] = NO_CALL
    return call === null ? [] : [{ name, peer, contender: peer.contender(call) }]
  })
  const [calls, factor] = row.limit === null || limits === null ? [[], 1] : limitCalls(row.limit)
  const machine = calls.map((call) => (limits as Peer).contender({ call }))

  const everybody = [...peers.values(), ...(limits === null ? [] : [limits])]
  const used = (): number => everybody.reduce((sum, peer) => sum + peer.cpuSeconds(), 0)
  const theirs = await warm(asked, operands, absent)
  const self = own(row, operands)
  for (const contender of [self, ...machine]) await contender.slice(PACE.slice)
  await untilQuiet()
  const [share, before] = [watchNeighbours(), used()]
  const [mine, ...results] = await takeTurns([self, ...theirs.map(({ contender }) => contender), ...machine], RUN)
  const others = share(used() - before)
  for (const x of Object.values(operands)) x.dispose()

  const found: Record<string, number> = {}
  const wrong: string[] = []
  if (mine === undefined) throw new Error('nothing ran')
  const tolerance = row.tolerance ?? TOLERANCE
  for (const [i, { name }] of theirs.entries()) {
    const { seconds, checksum } = results[i] as (typeof results)[number]
    const apart = Math.abs(mine.checksum - (checksum ?? NaN)) / Math.abs(mine.checksum)
    if (tolerance === Infinity || apart <= tolerance) found[name] = seconds
    else {
      absent[name] = `its checksum is ${checksum}, ours ${mine.checksum}`
      wrong.push(name)
    }
  }
  const bounds = results.slice(theirs.length).map(({ seconds }) => seconds * factor)
  return { own: mine.seconds, peers: found, absent, limit: bounds.length > 0 ? Math.min(...bounds) : null, noise: others === null || others <= NOISY ? null : others, wrong }
}
