// Recorded calls as their callers know them: an operation, what it makes, and operands by name. Of a derivative that is the call it derives.

import { OP } from '../generated/table.js'
import { operandsOf } from '../program/derived-call.js'
import { operandName, rowOf } from '../program/op-table.js'
import type { Attr, Signature } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'

/** A recorded call. */
export interface Recorded {
  /** The operation. */
  readonly name: string
  /** What it makes: a result, a gradient, a tangent. */
  readonly what: string
  /** Operands that are there, and options with numbers; without a name where nobody knows one. */
  readonly operands: readonly (readonly [name: string, value: Tensor | number | bigint | boolean])[]
}

type Named = Recorded['operands'][number]

/** Numbers handed over beside operands; those that were left out may stand there as NaN. */
function numbersOf(op: number, params: readonly (number | bigint)[]): Named[] {
  return rowOf(op).params.flatMap(({ name, default: fallback }, i): Named[] => {
    const value = params[i]
    return value === undefined || Object.is(value, fallback) ? [] : [[name, value]]
  })
}

/** Of several, which one. */
const numbered = (word: string, count: number, n: number): string => (count > 1 ? `${word} ${n}` : word)

/** The call of a node that names it: with several outputs not one of them. */
export function recorded(call: Tensor): Recorded {
  const { op, attr } = call.signature as Signature
  if (op === OP.vjp || op === OP.jvp) return derivative(op, (attr as Attr).words, call)
  if (op === OP.vmap) return mapped((attr as Attr).words, call)
  const operands = operandsOf(call, call.signature as Signature).flatMap((x, i): Named[] => (x === undefined || x === null ? [] : [[operandName(op, i), x as Named[1]]]))
  return { name: rowOf(op).name, what: 'the result', operands: [...operands, ...numbersOf(op, call.params ?? [])] }
}

/** The parts of the words of a derivative: `crates/ops/src/derived.rs` decodes them. */
function partsOf(words: readonly number[]): { op: number; forms: readonly number[]; of: number; given: readonly number[]; attrs: readonly number[] } {
  const [op, count] = words as [number, number]
  const at = 2 + count
  const [of, length] = words.slice(at) as [number, number]
  return { op, forms: words.slice(2, at), of, given: words.slice(at + 2, at + 2 + length), attrs: words.slice(at + 2 + length) }
}

/** Of a derivative of a derivative: the operation at the bottom, and what it is the derivative of. */
function innermost(words: readonly number[]): { name: string; order: number } {
  const { op: inner, attrs } = partsOf(words)
  if (inner === OP.vmap) return innermost(attrs)
  if (inner !== OP.vjp && inner !== OP.jvp) return { name: rowOf(inner).name, order: 1 }
  const { name, order } = innermost(attrs)
  return { name, order: order + 1 }
}

/** What stands in a derivative: the operands of the call and its results, then cotangents of these or tangents of those. */
function derivative(op: number, words: readonly number[], call: Tensor): Recorded {
  const { op: inner, forms, of, given } = partsOf(words)
  const { outputs } = rowOf(inner)
  const { name, order } = innermost(words)
  const tensors = [...(call.list as readonly Tensor[])]
  const numbers = [...(call.params ?? [])]
  const operands = forms.flatMap((form, i): Named[] => (form === 4 ? [] : [[operandName(inner, i), (form === 0 ? tensors.shift() : numbers.shift()) as Named[1]]]))
  for (let n = 0; n < outputs; n++) operands.push([numbered('result', outputs, n), tensors.shift() as Tensor])
  const word = (n: number): string => (op === OP.vjp ? numbered('cotangent', outputs, n) : `tangent of ${operandName(inner, n)}`)
  given.forEach((is, n) => is === 1 && operands.push([word(n), tensors.shift() as Tensor]))
  // The operands of a derivative's derivative have no names that anybody knows.
  if (order > 1) return { name, what: `a derivative of order ${order}`, operands: operands.map(([, x]) => ['', x]) }
  const what = op === OP.vjp ? `the gradient with respect to ${operandName(inner, of)}` : `the tangent${outputs > 1 ? ` of result ${of}` : ''}`
  return { name, what, operands: [...operands, ...numbersOf(inner, numbers)] }
}

/** What stands in a call at all positions of an axis: its operands. */
function mapped(words: readonly number[], call: Tensor): Recorded {
  const { op: inner, forms } = partsOf(words)
  const tensors = [...(call.list as readonly Tensor[])]
  const numbers = [...(call.params ?? [])]
  const isRow = inner !== OP.vjp && inner !== OP.jvp && inner !== OP.vmap
  const operands = forms.flatMap((form, i): Named[] => (form === 4 ? [] : [[isRow ? operandName(inner, i) : '', (form === 0 ? tensors.shift() : numbers.shift()) as Named[1]]]))
  return { name: innermost(words).name, what: 'the result of a mapped call', operands: isRow ? [...operands, ...numbersOf(inner, numbers)] : operands }
}
