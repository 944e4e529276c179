// A training as a contender: its checksum is the loss of the first step.

import { repeat, type Contender } from '../race.js'

/** A contender whose step gives its loss. */
export function lossContender(name: string, step: () => number): Contender {
  let first: number | undefined
  const timed = (): void => {
    const loss = step()
    first ??= loss
  }
  return { name, slice: (seconds) => ({ seconds: repeat(seconds, 1, timed), checksum: first as number }) }
}
