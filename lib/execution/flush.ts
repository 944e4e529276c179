// Gives recorded tensors their values: short expressions as one program, long ones in parts.

import { limits, setPolicy, WATCH_KIB } from '../program/hooks.js'
import { openLevels } from '../program/lifetime.js'
import { isPending } from '../program/node.js'
import { isAlone } from '../program/writer.js'
import type { Tensor } from '../tensor/tensor.js'
import { execute } from './execute.js'
import { passLimit, runInParts } from './parts.js'
import { considerWatching } from './pressure.js'
import { isLong } from './run.js'

setPolicy({ watch: considerWatching, passLimit })

/**
 * Gives recorded tensors their values. `sync` waits for them; with `copy`, a single small result travels with the call.
 * Returns the status bits of the program, 0 if nothing was pending. `wanted` is false for what is run because of a limit.
 *
 * @throws {OutOfMemoryError} when the budget refuses after everything that could be freed was.
 */
export function flush(roots: readonly Tensor[], sync: boolean, copy = false, wanted = true): number {
  const pending = roots.length === 1 ? roots : [...new Set(roots)].filter(isPending)
  if (pending.length === 0 || !isPending(pending[0] as Tensor)) return 0
  if (!isAlone() && pending.some(isLong) && runInParts(pending)) return 0
  return execute(pending, sync, copy, wanted)
}

/** Runs results that are past a limit: with the next operation their older part would be. */
export function runLong(roots: readonly Tensor[]): void {
  if (limits.nodes > 0 && roots.some((t) => isPending(t) && (t.nodes > limits.nodes || t.depth > limits.depth))) flush(roots, false)
}

/** What may have to be done about results when the level they were recorded in has ended. */
export function settleResults(roots: readonly Tensor[]): void {
  if (openLevels() > 0) return
  runLong(roots)
  for (const t of roots) if (isPending(t) && t.pins >= WATCH_KIB) considerWatching(t)
}
