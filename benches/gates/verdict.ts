// What a row's times say: the fastest peer, what the gate asks for, and by how much it is met or missed.

import type { Row } from './row.js'

/** A gate that asks for more than this share of what the machine can do asks for this share. */
const ATTAINABLE = 0.9

/** A row as it was measured; all times are seconds. */
export interface Measured {
  readonly own: number
  readonly peers: Readonly<Record<string, number>>
  /** Peers that have no time, and why. */
  readonly absent: Readonly<Record<string, string>>
  /** What the machine needs at least. */
  readonly limit: number | null
  /** The share of the machine that others used, where that is too much to trust the row, else null. */
  readonly noise: number | null
}

export interface Verdict {
  readonly best: string
  /** How many times as fast as the fastest peer. */
  readonly ratio: number
  /** Seconds that are allowed. */
  readonly required: number
  /** Whether the limit, not the peer, says what is allowed. */
  readonly capped: boolean
  readonly met: boolean
  /** Single peers that were asked for more: what of them is met. */
  readonly against: readonly { readonly peer: string; readonly ratio: number; readonly gate: number; readonly met: boolean }[]
}

/** By how much a gate is missed, of the fastest peer or of single ones. */
export function missedBy(row: string, own: number, { required, against }: Verdict): string {
  const behind = own > required ? [`by ${((own / required - 1) * 100).toFixed(0)} %`] : []
  const single = against.filter(({ met }) => !met).map(({ peer, ratio, gate }) => `${ratio.toPrecision(3)} of ${gate} times ${peer}`)
  return `${row} ${[...behind, ...single].join(', ')}`
}

/** Null where there is no peer to compare with. */
export function verdict({ gate, against = {}, aside = {} }: Pick<Row, 'gate' | 'against' | 'aside'>, { own, peers, limit }: Measured): Verdict | null {
  const [fastest] = Object.entries(peers).filter(([peer]) => !(peer in aside)).sort(([, a], [, b]) => a - b)
  if (fastest === undefined) return null
  const [best, seconds] = fastest
  const attainable = limit === null ? 0 : limit / ATTAINABLE
  const required = Math.max(seconds / gate, attainable)
  const single = Object.entries(against).flatMap(([peer, gate]) => {
    const theirs = peers[peer]
    return theirs === undefined ? [] : [{ peer, ratio: theirs / own, gate, met: own <= Math.max(theirs / gate, attainable) }]
  })
  return { best, ratio: seconds / own, required, capped: attainable > seconds / gate, met: own <= required && single.every(({ met }) => met), against: single }
}
