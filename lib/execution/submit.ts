// One native call that the memory budget may refuse: memory is made free, and it is made again.

import { FORCE, WANT_FULL, WANT_MINOR, WARNED } from '../generated/protocol.js'
import { native } from '../native.js'
import type { Tensor } from '../tensor/tensor.js'
import { admit, relieveSoftly } from './pressure.js'

/**
 * Makes a call for some results; `op` names the operation that makes the first. `attempt` is given flags of a program, and returns its status
 * bits, or -1 when the budget refused. Returns the status bits.
 *
 * @throws {OutOfMemoryError} when the budget refuses after everything that could be freed was.
 */
export function submit(op: () => string, results: readonly Tensor[], attempt: (flags: number) => number): number {
  let status = attempt(0)
  if (status === -1) status = admit(op(), results, (force) => attempt(force ? FORCE : 0))
  if (status & (WANT_MINOR | WANT_FULL)) relieveSoftly(status)
  if (status & WARNED) for (const text of native.takeWarnings()) process.emitWarning(text, 'FallbackWarning')
  return status
}
