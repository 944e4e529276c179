// Walks over recorded expressions, and what is kept alive below them.

import type { Tensor } from '../tensor/tensor.js'
import { isPending } from './node.js'

/** Numbers the walks; a node's `mark` is the last one that met it. */
let walks = 0
const stack: Tensor[] = []

/** A node's slot while a walk is below it, and after; program slots are not negative. */
const ENTERED = -1
const DONE = -2

/**
 * Walks the nodes below `root`, operands first, each once per walk. `enter` says whether to go below a node that
 * the walk meets; `leave` is called for every entered one when all below it is done.
 */
function descend(root: Tensor, mark: number, enter: (t: Tensor) => boolean, leave: (t: Tensor) => void): void {
  // An exception may have left the last walk unfinished. To set a length costs a tenth of a microsecond, even to what it is.
  if (stack.length > 0) stack.length = 0
  stack.push(root)
  while (stack.length > 0) {
    const t = stack[stack.length - 1] as Tensor
    if (t.mark !== mark) {
      t.mark = mark
      t.slot = DONE
      if (enter(t)) {
        t.slot = ENTERED
        pushOperands(t, mark)
      } else stack.pop()
    } else {
      stack.pop()
      if (t.slot === ENTERED) {
        t.slot = DONE
        leave(t)
      }
    }
  }
}

/** Walks below several nodes, which may become more on the way: operands first, each once. */
export function walk(roots: readonly Tensor[], enter: (t: Tensor) => boolean, leave: (t: Tensor) => void): void {
  const mark = ++walks
  for (let i = 0; i < roots.length; i++) {
    const root = roots[i] as Tensor
    if (root.mark !== mark) descend(root, mark, enter, leave)
  }
}

/** Whether an operand is a tensor that a walk has not met. Of the objects among operands, traced numbers have no type. */
function isNew(x: unknown, mark: number): x is Tensor {
  return typeof x === 'object' && x !== null && (x as Tensor).type !== undefined && (x as Tensor).mark !== mark
}

function pushOperands({ group, list, a, b }: Tensor, mark: number): void {
  if (group !== null) {
    if (group.node.mark !== mark) stack.push(group.node)
  } else if (list !== null) {
    for (let i = list.length - 1; i >= 0; i--) if (isNew(list[i], mark)) stack.push(list[i] as Tensor)
  } else {
    if (isNew(b, mark)) stack.push(b)
    if (isNew(a, mark)) stack.push(a)
  }
}

/** Bytes of distinct values below pending nodes, by device number. */
export function pinnedBytes(roots: readonly Tensor[]): Map<number, number> {
  const bytes = new Map<number, number>()
  const enter = (t: Tensor): boolean => {
    if (t.handle !== null) bytes.set(t.type.device, (bytes.get(t.type.device) ?? 0) + t.type.bytes)
    return isPending(t)
  }
  walk(roots, enter, () => {})
  return bytes
}

/** KiB of distinct values below a pending node; stops counting after `most` nodes. */
export function countPinned(root: Tensor, most: number): number {
  let kib = 0
  let nodes = 0
  const enter = (t: Tensor): boolean => {
    if (t.handle !== null) kib += t.type.kib
    return isPending(t) && ++nodes <= most
  }
  walk([root], enter, () => {})
  return nodes > most ? root.pins : kib
}
