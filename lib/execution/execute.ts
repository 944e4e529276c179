// Gives recorded tensors their values in one program, with the memory that it takes made free.

import { SMALL, SYNC, WANT_FULL, WANT_MINOR } from '../generated/protocol.js'
import { isPending } from '../program/node.js'
import { rowOf } from '../program/op-table.js'
import { forgetPlaces } from '../program/places.js'
import { computed, nextProgram, recomputed, turned } from '../program/writer.js'
import type { Tensor } from '../tensor/tensor.js'
import type { Signature } from '../program/types.js'
import { collectTurn } from './pressure.js'
import { attempt, madeBytes, resetMade } from './run.js'
import { submit } from './submit.js'

/** Operations computed again from which on their share is looked at: a read of what was on the way costs as much as it is. */
const MANY_RECOMPUTES = 20_000
let warned = false

/** Says once that most of the work is done again. */
function warnOfRecomputes(): void {
  if (warned || recomputed < MANY_RECOMPUTES || recomputed < computed) return
  warned = true
  process.emitWarning(
    `${recomputed} operations were computed again, more than the ${computed} that were new: values are read that earlier reads passed through. ` +
      'Ask for them together, ft.evaluate(a, b), or evaluate what a loop carries; see "Long loops" in docs/performance.md',
    'RecomputeWarning'
  )
}

/**
 * Bytes of results since the last collection from which on the end of a loop's turn is a time for one: what the turn before left is garbage, and
 * its memory warm. At any other time half of a turn's values would be found alive, and outlive the next collection too.
 */
const TURN_BYTES = 32 << 20

/**
 * Runs recorded tensors, which are pending and all different, as one program. `sync` waits for their values; with `copy`, a single small result
 * travels with the call. Returns the status bits of the program. `wanted` is false for what is run because of a limit.
 *
 * @throws {OutOfMemoryError} when the budget refuses after everything that could be freed was.
 */
export function execute(pending: readonly Tensor[], sync: boolean, copy: boolean, wanted: boolean): number {
  const id = nextProgram()
  const flags = (sync ? SYNC : 0) | (copy ? SMALL : 0)
  const { op } = (pending[0] as Tensor).signature as Signature
  const status = submit(() => rowOf(op).name, pending, (more) => {
    // Relief may have run some meanwhile.
    const rest = pending.every(isPending) ? pending : pending.filter(isPending)
    const found = rest.length === 0 ? 0 : attempt(rest, id, flags | more, wanted)
    if (found === -1) forgetPlaces()
    return found
  })
  if (recomputed >= MANY_RECOMPUTES) warnOfRecomputes()
  if (status & (WANT_MINOR | WANT_FULL)) resetMade()
  else if (turned && madeBytes >= TURN_BYTES) {
    resetMade()
    collectTurn()
  }
  return status
}
