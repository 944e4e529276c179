// Operations that speak of a call: its gradient (`vjp`), its tangent (`jvp`), the call at all positions of an axis (`vmap`).

import { OP } from '../generated/table.js'
import type { Tensor } from '../tensor/tensor.js'
import { isTensor } from './node.js'
import { rowOf } from './op-table.js'
import { TracedNumber } from './placeholder.js'
import { internAttr, signature, type Signature } from './types.js'

/** Whether elements have derivatives. */
export function isDifferentiable(x: Tensor): boolean {
  const { kind } = x.type.row
  return kind === 'float' || kind === 'complex'
}

/** What stands in the place of each operand of a call. */
export function operandsOf(t: Tensor, s: Signature): readonly unknown[] {
  if (t.list !== null) return t.list
  return rowOf(s.op).operands.length > 1 ? [t.a, t.b] : [t.a]
}

/** Whether an operation has the value of its first operand, as it is. */
export function handsThrough({ op }: Signature): boolean {
  return op === OP.custom || op === OP.barrier
}

/** Results or operands whose cotangents fit into a number beside the rest of a key. */
const GIVEN_IN_NUMBERS = 16

/** What tells derivatives of a call apart: a number where there are few operands, as texts take a microsecond. */
function keyOf(op: number, operands: number, of: number, given: readonly boolean[]): number | string {
  if (given.length > GIVEN_IN_NUMBERS || operands >= 1024) return `${op}:${operands}:${of}:${given.map(Number).join('')}`
  let bits = 1
  for (const is of given) bits = 2 * bits + Number(is)
  const kind = op === OP.vjp ? 1 : op === OP.vmap ? 2 : 0
  return ((bits * 4 + kind) * 1024 + operands) * 1024 + of
}

/** The signature of what speaks of a call (`vjp`, `jvp`, `vmap`), remembered with the call's own: `of` and `given` as Rust has them. */
export function derivedSignature(op: number, s: Signature, operands: readonly unknown[], of: number, given: readonly boolean[]): Signature {
  const key = keyOf(op, operands.length, of, given)
  const known = s.derived.get(key)
  if (known !== undefined) return known
  const forms = operands.map((x) => (isTensor(x) ? 0 : typeof x === 'number' || x instanceof TracedNumber ? 1 : typeof x === 'bigint' ? 2 : typeof x === 'boolean' ? 3 : 4))
  const words = [s.op, forms.length, ...forms, of, given.length, ...given.map(Number), ...(s.attr?.words ?? [])]
  const made = signature(op, 0, internAttr(op, words))
  s.derived.set(key, made)
  return made
}

/** Puts the tensors of a call into a list, and returns its numbers: those among the operands, then the run-time ones. */
export function numbersBeside(operands: readonly unknown[], params: readonly (number | bigint)[] | null, tensors: Tensor[]): readonly (number | bigint)[] | null {
  let numbers: (number | bigint)[] | null = null
  for (const x of operands) {
    if (isTensor(x)) tensors.push(x)
    else if (x !== undefined && x !== null) (numbers ??= []).push(typeof x === 'boolean' ? Number(x) : (x as number | bigint))
  }
  return numbers === null ? params : params === null ? numbers : [...numbers, ...params]
}
