// How long recorded operations and their values last: until nothing uses them, and where gradients may be taken of them until the last level of
// variables that is open has ended.

import { native } from '../native.js'
import type { Tensor } from '../tensor/tensor.js'
import { isTensor, type Owner } from './node.js'

/** The variables' levels count up; a value has the highest of those it depends on. */
let levels = 0
/** Levels that are open, in the order they were opened. */
const open: number[] = []
/** The lowest of them. */
let lowest = Infinity
/** Values that keep how they came to be, and their memory, until the last level ends. */
let kept: Tensor[] = []

/** Values of levels up to this one are constants to what is recorded now; 0 where none is. */
export let constantsUpTo = 0

/** Calls a function to which values of levels up to this one are constants. */
export function constantsTo<T>(level: number, f: () => T): T {
  const before = constantsUpTo
  constantsUpTo = level
  try {
    return f()
  } finally {
    constantsUpTo = before
  }
}

/** Calls a function to which values of all levels there are, but not of those that it opens, are constants. */
export function withConstants<T>(f: () => T): T {
  return open.length === 0 ? f() : constantsTo(levels, f)
}

/** Whether a value is taken for a constant by what is recorded now. */
export function isConstantNow(t: Tensor): boolean {
  return t.level > 0 && t.level <= constantsUpTo
}

/** Whether a value may be asked for its gradient: it then keeps its operation. */
export function isTracked(t: Tensor): boolean {
  return t.level >= lowest
}

/** Notes a tracked value that was computed, or given up. */
export function keep(t: Tensor): void {
  kept.push(t)
}

/** How many values are kept. */
export function keptCount(): number {
  return kept.length
}

/** At the end of a scope: what was tracked in it, and what its gradients may read, outlives it until the last level ends; `since` is the count at its start. */
export function outliveScope(scope: Owner, since: number): void {
  const outlive = (x: Tensor): void => {
    if (x.owner === scope && x.handle !== null) native.adopt(x.handle, 0)
  }
  for (let i = since; i < kept.length; i++) {
    const t = kept[i] as Tensor
    outlive(t)
    eachOperand(t, outlive)
  }
}

/** Calls a function inside a new level, or one that was open before. */
export function inLevel<T>(f: (level: number) => T, level = ++levels): T {
  open.push(level)
  lowest = Math.min(lowest, level)
  try {
    // One that is open again has variables.
    return constantsUpTo < level ? f(level) : constantsTo(level - 1, () => f(level))
  } finally {
    open.pop()
    lowest = Math.min(...open, Infinity)
    if (open.length === 0) {
      const ended = kept
      kept = []
      for (const t of ended) if (t.handle !== null) forget(t)
      for (const t of ended) if ((t.disposed || t.owner.closed) && t.uses === 0) release(t)
    }
  }
}

/** How many levels are open. */
export function openLevels(): number {
  return open.length
}

/** Calls `f` with each tensor a node was recorded on. */
export function eachOperand(t: Tensor, f: (x: Tensor) => void): void {
  if (t.group !== null) f(t.group.node)
  else if (t.list !== null) {
    for (const x of t.list) if (isTensor(x)) f(x)
  } else {
    if (isTensor(t.a)) f(t.a)
    if (isTensor(t.b)) f(t.b)
  }
}

/** One recorded expression less uses `x`; disposed and unused, its memory goes. */
function unuse(x: Tensor): void {
  if (--x.uses === 0 && x.disposed) release(x)
}

/** Has a recorded operation use others in the place of its operands: of the same types, and it has the same value by them. */
export function replaceOperands(t: Tensor, operands: readonly Tensor[]): void {
  const before = t.list as readonly Tensor[]
  t.list = operands
  for (const x of operands) x.uses++
  before.forEach(unuse)
}

/** Forgets how a tensor was made, so that its ancestors become garbage. */
export function forget(t: Tensor): void {
  if (t.signature === null) return
  eachOperand(t, unuse)
  t.signature = t.group = t.list = t.params = t.outputs = t.pull = t.piece = t.again = t.step = null
  t.a = t.b = null
}

/** Frees what a given-up tensor holds: its value, or its recorded expression; when the gradients it may be needed for are there. */
export function release(t: Tensor): void {
  if (isTracked(t)) {
    keep(t)
    return
  }
  if (t.handle !== null) {
    native.dispose(t.handle)
    t.handle = null
  }
  forget(t)
}
