// What is done about a node as soon as it is recorded. Recording knows no policy: execution and diagnostics, which stand above it, say here what it is.

import type { Tensor } from '../tensor/tensor.js'
import { openLevels } from './lifetime.js'

/** Levels and nodes beyond which a recorded expression is run. No nodes at all: each operation runs at once. */
export const limits = { depth: 256, nodes: 2048 }
if (!['', '0', undefined].includes(process.env['FERROTENSOR_EAGER'])) limits.nodes = 0

/** Expressions that keep at least this much alive are candidates for being watched. */
export const WATCH_KIB = 16

/** Looks at each node (`detectNaN`), and says whether it was run; null where nothing does. */
let detector: ((t: Tensor) => boolean) | null = null

/** Whether each operation runs as it is recorded. */
export function isDetecting(): boolean {
  return detector !== null
}

/** Calls a function with something, or nothing, that looks at nodes. */
export function detectedWith<T>(looks: typeof detector, f: () => T): T {
  const before = detector
  detector = looks
  try {
    return f()
  } finally {
    detector = before
  }
}

/** Calls a function in which NaN is no mistake: what a draw rejects may have one. */
export function undetected<T>(f: () => T): T {
  return detectedWith(null, f)
}

/** What is done about expressions that grow. */
interface Policy {
  /** One that keeps much memory alive. */
  readonly watch: (t: Tensor) => void
  /** One that has passed {@link limits}. */
  readonly passLimit: (t: Tensor) => void
}

let policy: Policy

/** Sets it, once. */
export function setPolicy(given: Policy): void {
  policy = given
}

/** What may have to be done about a new node at once. */
export function afterRecord(t: Tensor): Tensor {
  if (detector !== null && detector(t)) return t
  // What gradients may be taken of is run with them: alone, it would be computed twice.
  if (t.pins >= WATCH_KIB && openLevels() === 0) policy.watch(t)
  if (t.nodes > limits.nodes || t.depth > limits.depth) policy.passLimit(t)
  return t
}
