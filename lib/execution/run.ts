// Runs recorded expressions as one program, in one native call.

import { FLAGS, SCOPE, STATUS } from '../generated/protocol.js'
import { handles, ints, native, params } from '../native.js'
import { limits } from '../program/hooks.js'
import { forget, isTracked, keep, openLevels } from '../program/lifetime.js'
import { isPending } from '../program/node.js'
import { addSiblings, choose, clearOutputs, nextProgram, outputs, takeAlong, write } from '../program/writer.js'
import type { Tensor } from '../tensor/tensor.js'
import { residuals } from './residuals.js'

/** Bytes the last refused program asked for. */
export let refusedBytes = 0

/** Notes what the budget refused, for the error's message. */
export function refuse(bytes: number): void {
  refusedBytes = bytes
}

/** Bytes of results since the last collection. */
export let madeBytes = 0

/** Counts them from here. */
export function resetMade(): void {
  madeBytes = 0
}

/** How many times as much as may be recorded may run as one program: temporaries of a program take less memory than values that pass between programs. */
export const WHOLE = 8

/** Whether an expression is too long for one program. */
export function isLong(t: Tensor): boolean {
  return limits.nodes > 0 && t.nodes > WHOLE * limits.nodes
}

/**
 * Runs pending roots as one program. Returns the status bits, or -1 when the memory budget refused: other programs may run
 * then, so the caller serialises again.
 */
export function attempt(roots: readonly Tensor[], flush: number, flags: number, wanted = false): number {
  clearOutputs()
  for (let i = 0; i < roots.length; i++) choose(roots[i] as Tensor)
  for (let i = 0; i < roots.length; i++) {
    const { group, company } = roots[i] as Tensor
    if (group !== null) addSiblings(group)
    if (company !== null) takeAlong(company)
  }
  // An operation that is run at once has the values it was recorded on.
  const saved = openLevels() > 0 && outputs.some((t) => t.nodes > 1) ? residuals(outputs) : undefined
  saved?.forEach(choose)
  write(flush, wanted)
  const count = outputs.length
  const first = outputs[0] as Tensor
  ints[FLAGS] = flags
  ints[SCOPE] = first.owner.id
  const handle = native.run(count === 1 ? first : outputs)
  if (handle === 0) {
    refuse(params[0] as number)
    clearOutputs()
    return -1
  }
  for (let i = 0; i < count; i++) {
    const t = outputs[i] as Tensor
    const h = handles[i] as number
    if (t.owner !== first.owner) native.adopt(h, t.owner.id)
    t.handle = h
  }
  const status = ints[STATUS] as number
  for (let i = 0; i < count; i++) madeBytes += (outputs[i] as Tensor).type.bytes
  // After all have their handles: forgetting may dispose of others.
  for (let i = 0; i < count; i++) {
    const t = outputs[i] as Tensor
    t.beside = t.company = null
    const tracked = isTracked(t)
    if (tracked || saved?.has(t) === true) keep(t)
    if (!tracked) forget(t)
  }
  clearOutputs()
  return status
}

/** Runs one watched expression if the budget allows; returns whether it has a value now. */
export function tryFlush(t: Tensor): boolean {
  return isPending(t) && !isLong(t) && attempt([t], nextProgram(), 0) !== -1
}
