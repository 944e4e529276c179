// This library as a contender: calls, evaluates what comes back, and disposes it.

import * as ft from 'ferrotensor'
import { Tensor } from 'ferrotensor'
import { checksum } from './checksum.js'
import { repeat, type Contender } from './race.js'

/** The tensors of a result: a tensor, or an array or object of them. */
export const tensorsOf = (result: object): Tensor[] => (result instanceof Tensor ? [result] : Object.values(result))

/** `chain` operations of a call share its time; `positive` is the weight of positive elements in the checksum. */
export function ours(run: () => object, chain = 1, positive?: number): Contender {
  const evaluated = (): Tensor[] => {
    const results = tensorsOf(run())
    ft.evaluateSync(...results)
    return results
  }
  let known: number | undefined
  return {
    name: 'ferrotensor',
    slice(seconds) {
      const time = repeat(seconds, 1, () => evaluated().forEach((x) => x.dispose()))
      known ??= checksum(
        evaluated().map((x) => x.dataSync()),
        positive
      )
      return { seconds: time / chain, checksum: known }
    }
  }
}
