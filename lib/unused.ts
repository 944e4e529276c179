// While a profile is open: recorded values that no operation uses, which are computed when it ends. Values that are used are computed
// with what uses them, fused as ever.

import { eachOperand } from './record.js'
import type { Tensor } from './tensor.js'
import { isTracing } from './traced.js'
import { isPending } from './walk.js'

/** Those noted since the first profile was opened; null while none is. */
export let unused: Set<Tensor> | null = null
let profiles = 0

/** One more profile asks for what is recorded. */
export function open(): void {
  profiles++
  unused ??= new Set()
}

/** One less does. */
export function close(): void {
  if (--profiles === 0) unused = null
}

/** Notes a recorded node, which uses others. What a trace records has no values. */
export function note(t: Tensor): void {
  if (isTracing()) return
  eachOperand(t.group === null ? t : t.group.node, used)
  unused?.add(t)
}

/** A value was used, or computed. */
export function used(t: Tensor): void {
  unused?.delete(t)
}

/** What was recorded after a node, and nobody has used or computed or given up. */
export function unusedSince(seq: number): Tensor[] {
  return [...(unused ?? [])].filter((t) => t.seq > seq && isPending(t) && !t.disposed && !t.owner.closed)
}
