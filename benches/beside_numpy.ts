// One run of this library with NumPy beside it: both times, whether the results agree, and what others did to the machine meanwhile.

import * as ft from 'ferrotensor'
import { Tensor } from 'ferrotensor'
import { watchNeighbours } from './machine.js'
import type { NumPy } from './numpy.js'
import { NOISY, race, repeat, type Contender, type Pace } from './race.js'

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

/** The tensors of a result: a tensor, or an array or object of them. */
export const tensorsOf = (result: object): Tensor[] => (result instanceof Tensor ? [result] : Object.values(result))

/**
 * One number for results of any kind. Elements are weighed by place and by sign, so that it sees exchanges and lost signs, and has
 * nothing that cancels: relative differences of two such numbers mean something.
 */
function checksum(results: readonly Tensor[]): number {
  let total = 0
  for (const x of results) {
    const data = x.dataSync()
    for (let i = 0; i < data.length; i++) {
      const value = Number(data[i])
      total += (value < 0 ? -value : 3 * value) * ((i % 97) + 1)
    }
  }
  return total
}

/** This library as a contender: calls, and evaluates what comes back. */
function ours(run: () => object): Contender {
  const evaluated = () => {
    const results = tensorsOf(run())
    ft.evaluateSync(...results)
    return results
  }
  let known: number | undefined
  return {
    name: 'ferrotensor',
    slice(seconds) {
      const time = repeat(seconds, 1, () => evaluated().forEach((x) => x.dispose()))
      return { seconds: time, checksum: (known ??= checksum(evaluated())) }
    }
  }
}

/**
 * Races `run` against NumPy's expression; alone where either is missing. Checksums may differ by the tolerance, relative to their
 * size.
 */
export async function besideNumPy(numpy: NumPy | null, run: () => object, expression: string | null, tolerance: number, pace?: Pace): Promise<Comparison> {
  const theirs = numpy === null || expression === null ? [] : [numpy.contender(expression)]
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
