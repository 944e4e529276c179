// One run of this library with NumPy beside it: both times, whether the results agree, and what others did to the machine meanwhile.

import { ours } from './contender.js'
import { watchNeighbours } from './machine.js'
import type { Peer } from './peers/peer.js'
import { NOISY, race, type Pace } from './race.js'

export interface Comparison {
  /** Seconds of a call. */
  readonly own: number
  /** NumPy's; null where it has no part. */
  readonly peer: number | null
  /** The share of the machine that others used, where that is too much to trust the times, else null. */
  readonly noise: number | null
  /** Why the results are not the same; null where they are, or are not compared. */
  readonly difference: string | null
}

/**
 * Races `run` against NumPy's expression; alone where either is missing. Checksums may differ by the tolerance, relative to their
 * size.
 */
export async function besideNumPy(numpy: Peer | null, run: () => object, expression: string | null, tolerance: number, pace?: Pace): Promise<Comparison> {
  const theirs = numpy === null || expression === null ? [] : [numpy.contender({ call: expression })]
  const share = watchNeighbours()
  const before = numpy?.cpuSeconds() ?? 0
  const [own, peer] = await race([ours(run), ...theirs], pace)
  if (own === undefined) throw new Error('nothing ran')
  const others = share((numpy?.cpuSeconds() ?? 0) - before)
  const noise = others === null || others <= NOISY ? null : others
  if (peer === undefined) return { own: own.seconds, peer: null, noise, difference: null }
  // Results that are not finite are told as null by NumPy, and agree with nothing.
  const agree = tolerance === Infinity || Math.abs(own.checksum - (peer.checksum ?? NaN)) <= tolerance * Math.abs(own.checksum)
  return { own: own.seconds, peer: peer.seconds, noise, difference: agree ? null : `checksums differ: ${own.checksum} and NumPy's ${peer.checksum}` }
}
