// What derived calls (`vjp`, `jvp`) read of the call they speak of. They are recorded on all its operands and results, whose rule Rust knows
// (crates/ops/src/gradient); where a gradient is run in parts, what no rule reads need not be stored, nor computed again.

import { HEADER, INPUTS, OUTPUTS, PARAMS, WORDS } from '../generated/protocol.js'
import { OP } from '../generated/table.js'
import { ints, native, reserve } from '../native.js'
import { derivedSignature, handsThrough, isDifferentiable, operandsOf } from '../program/derived-call.js'
import { isDetecting, limits } from '../program/hooks.js'
import { isJoin } from '../program/join.js'
import { isTracked, replaceOperands } from '../program/lifetime.js'
import { enter, isPending, isTensor, NOTHING, OUTSIDE } from '../program/node.js'
import { recordCall } from '../program/record.js'
import { currentAttr, currentType, infer, internAttr, Signature, Type, type Inferred } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'

/** Which operands are read, by what inference said: one answer for each signature and types of operands. */
const known = new WeakMap<Inferred, readonly boolean[]>()

/** An operation that no kernel hides: what it stands before is seen in a plan where it is read. */
const SEEN: Readonly<Record<string, number>> = {
  bool: OP.logicalNot,
  signed: OP.bitwiseInvert,
  unsigned: OP.bitwiseInvert,
  float: OP.negative,
  complex: OP.negative
}

/** The kernels of a derived call whose operand `through` goes through another operation; of none for -1. */
function kernels(s: Signature, operands: readonly Tensor[], params: number, through: number): string {
  const count = operands.length
  reserve(2 * count + 6 + count, 0, count)
  let at = HEADER
  for (const x of operands) {
    ints[at++] = 0
    ints[at++] = currentType(x).id
  }
  if (through >= 0) {
    ints[at++] = SEEN[(operands[through] as Tensor).type.row.kind] as number
    ints[at++] = 0
    ints[at++] = through
  }
  ints[at++] = s.word | (params << 25)
  ints[at++] = s.attr === null ? 0 : currentAttr(s.attr)
  ints[at++] = count
  for (let i = 0; i < count; i++) ints[at++] = i === through ? count : i
  ints[at] = through >= 0 ? count + 1 : count
  ints[WORDS] = at - HEADER
  ints[PARAMS] = params
  ints[INPUTS] = count
  ints[OUTPUTS] = 1
  const { kernels: found, fused } = native.plan()
  return `${fused} ${found.map(({ name, read }) => `${name} ${read}`).join()}`
}

/** Operands of a call beyond which all are taken to be read: a plan is made for each. */
const MOST_ASKED = 32

/** Which operands a derived call reads. Not while a program is written. */
function reads(s: Signature, operands: readonly Tensor[], params: number): readonly boolean[] {
  if (operands.length > MOST_ASKED) return operands.map(() => true)
  const answer = infer(s, operands)
  let found = known.get(answer)
  if (found === undefined) {
    const plain = kernels(s, operands, params, -1)
    found = operands.map((_, i) => kernels(s, operands, params, i) !== plain)
    known.set(answer, found)
  }
  return found
}

/** What stands for operands of a type that nobody reads: recorded, never computed, and never said to be dropped. */
const nothings = new WeakMap<Type, Tensor>()

function nothing(x: Tensor): Tensor {
  const type = currentType(x)
  let found = nothings.get(type)
  if (found === undefined) {
    const before = enter(OUTSIDE)
    const { row, shape, device } = type
    found = recordCall(OP.zeros, [], internAttr(OP.zeros, [shape.length, ...shape, row.code, device]), null)
    enter(before)
    found.seen = NOTHING
    // Older than all that is recorded on it, and no bound of their age.
    found.seq = 0
    found.low = 2 ** 30 - 1
    found.nodes = 0
    nothings.set(type, found)
  }
  return found
}

/** Operands of a derived call, with nothing in the place of those that have no value and are not read. */
export function readOperands(s: Signature, operands: readonly Tensor[], params: number): readonly Tensor[] {
  const lacks = (x: Tensor): boolean => x.handle === null && x.seen !== NOTHING
  // Where each operation is run at once, nothing is without a value for long, and this would have one.
  if (isDetecting() || limits.nodes === 0 || !operands.some(lacks)) return operands
  const read = reads(s, operands, params)
  return operands.some((x, i) => lacks(x) && !read[i]) ? operands.map((x, i) => (lacks(x) && !read[i] ? nothing(x) : x)) : operands
}

/** Lets go of the operands that a recorded derived call does not read. */
export function prune(t: Tensor): void {
  const { signature: s, list } = t
  if (s === null || list === null || (s.op !== OP.vjp && s.op !== OP.jvp)) return
  const operands = readOperands(s, list as readonly Tensor[], t.params === null ? 0 : t.params.length)
  if (operands !== list) replaceOperands(t, operands)
}

/**
 * Values without which gradients of what is computed now would compute it again, as PyTorch saves them: what the derived calls of all tracked
 * calls below read. What is computed again anyway (`checkpoint`) is left out.
 */
export function residuals(roots: readonly Tensor[]): Set<Tensor> {
  const found = new Set<Tensor>()
  const met = new Set<Tensor>()
  const stack = [...roots]
  const meet = (x: unknown): void => {
    if (isTensor(x) && isTracked(x) && isPending(x) && !met.has(x)) {
      met.add(x)
      stack.push(x)
    }
  }
  for (let t = stack.pop(); t !== undefined; t = stack.pop()) {
    if (t.group !== null) {
      meet(t.group.node)
      continue
    }
    // What runs at once has operands of its own, and theirs were kept when those were computed.
    if (t.step !== null) continue
    const operands = operandsOf(t, t.signature as Signature)
    operands.forEach((x, n) => (n > 0 || t?.again === null) && meet(x))
    if (!handsThrough(t.signature as Signature)) for (const x of readBy(t, operands)) if (isPending(x)) found.add(x)
  }
  return found
}

/** What the gradients of a call read of it. */
function readBy(t: Tensor, operands: readonly unknown[]): Tensor[] {
  const results = t.outputs ?? [t]
  const given = results.map(isDifferentiable)
  if (!given.includes(true) || isJoin(t.signature as Signature, operands)) return []
  const tensors = operands.filter((x) => isTensor(x))
  const all = [...tensors, ...results, ...results.filter(isDifferentiable)]
  const numbers = operands.length - tensors.length + (t.params === null ? 0 : t.params.length)
  if (all.length > MOST_ASKED) return [...tensors, ...results]
  const read = new Set<Tensor>()
  operands.forEach((x, n) => {
    if (!isTensor(x) || !isTracked(x) || !isDifferentiable(x)) return
    const s = derivedSignature(OP.vjp, t.signature as Signature, operands, n, given)
    reads(s, all, numbers).forEach((is, i) => is && i < tensors.length + results.length && read.add(all[i] as Tensor))
  })
  return [...read]
}
