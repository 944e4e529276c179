// Recording: an operation on tensors becomes a node that names it. No native call, no native object; what comes out of
// the operation is asked of Rust once (types.ts), and everything wrong with shapes and dtypes throws here, at the call.

import { ArgumentError, DTypeError, IndexError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DTypeRow } from '../generated/dtypes.js'
import { OP } from '../generated/table.js'
import { isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { comparable } from './comparisons.js'
import { checkBeside, holdsInteger } from './exact.js'
import { afterRecord } from './hooks.js'
import { constantsTo, constantsUpTo, isConstantNow } from './lifetime.js'
import { checkAlive, createTensor, isTensor, type Group } from './node.js'
import { axisLast, operandName, optionsLast, rowOf } from './op-table.js'
import { PLACEHOLDER, TracedNumber } from './placeholder.js'
import { infer, inferFast, signature, type Attr, type Inferred, type Signature, type Type } from './types.js'

/** A JavaScript value that may stand where an operation takes a tensor; it never changes the dtype. */
export type Scalar = number | bigint | boolean

let created = 0

/** What was meant, where an operand is what PyTorch and NumPy have in its place: an axis before indices, operands by name, or options. */
function hintFor(op: number, x: unknown, position: number): string | undefined {
  const row = rowOf(op)
  const { name, operands } = row
  if (operands[position] === 'indices' && typeof x === 'number') return axisLast(row)
  const choice = row.variadic ? undefined : row.attrs.find(({ choices }) => choices?.includes(x as string))
  if (choice !== undefined) return optionsLast(name, operands, { [choice.name]: x })
  if (!isPlain(x)) return undefined
  const named = operands.slice(position).map((operand) => (Object.hasOwn(x, operand) ? shown(x[operand]) : undefined))
  const last = named.findLastIndex((value) => value !== undefined)
  if (last >= 0) return `; operands have no names: ${name}(${[...operands.slice(0, position), ...named.slice(0, last + 1)].map(String).join(', ')})`
  // A complex number is an object too.
  const mayBeOptions = position > 0 && !row.variadic && row.attrs.length + row.params.length > 0 && !Object.hasOwn(x, 're')
  return mayBeOptions ? optionsLast(name, operands, x) : undefined
}

/**
 * The operand's form: 0 tensor, 1 number, 2 bigint, 3 boolean, 4 absent.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for anything else, `ERR_DISPOSED`.
 */
export function formOf(op: number, x: unknown, position: number): number {
  if (isTensor(x)) {
    if (x.disposed || x.owner.closed) checkAlive(rowOf(op).name, x)
    return 0
  }
  if (x === undefined) return 4
  const weak = rowOf(op).weak.includes(position)
  const form = typeof x === 'number' || x instanceof TracedNumber ? 1 : typeof x === 'bigint' ? 2 : typeof x === 'boolean' ? 3 : 0
  if (weak && form > 0) return form
  const hint = hintFor(op, x, position) ?? (form > 0 ? '; wrap it with ft.tensor(...)' : '')
  throw new ArgumentError(`${rowOf(op).name}: '${operandName(op, position)}' must be ${weak ? 'a tensor or a number' : 'a tensor'}, got ${shown(x)}${hint}`)
}

/**
 * Checks that a scalar lies where the operation takes one, and is exact in the dtype it becomes; a float takes any number, rounded
 * once, but for integers where digits matter (exact.ts). Without a tensor beside it (`full`) that dtype was named, or follows from the scalar.
 */
function checkScalar(op: number, value: Scalar | TracedNumber, weak: DTypeRow, beside: boolean): void {
  if (value instanceof TracedNumber) return value.check((n) => checkScalar(op, n, weak, beside))
  const { range } = rowOf(op)
  if (range !== undefined && !(Number(value) >= range[0] && Number(value) <= range[1])) {
    throw new IndexError(`${rowOf(op).name}: ${shown(value)} is outside of [${range.join(', ')}]`)
  }
  if (typeof value === 'boolean') return
  const { kind, name, min, max } = weak
  const [whose, advice] = beside ? ['the tensor is', 'use astype first'] : ['the dtype is', 'name another dtype']
  if (kind === 'float' || kind === 'complex') {
    if (typeof value === 'number') return beside ? checkBeside(op, rowOf(op).name, weak, value) : undefined
    if (BigInt.asIntN(64, value) === value && BigInt(Number(value)) === value && holdsInteger(weak, Number(value))) return
    throw new DTypeError(`${rowOf(op).name}: ${value}n is not exact in ${name}; use Number(${value}n) if rounding is meant`)
  }
  if (kind === 'bool') throw new DTypeError(`${rowOf(op).name}: ${shown(value)} is a number, and ${whose} bool; use a boolean, or ${advice}`)
  if (typeof value === 'number' && !Number.isInteger(value)) {
    throw new DTypeError(`${rowOf(op).name}: ${value} is not an integer, and ${whose} ${name}; ${beside ? "use astype('float32') first" : advice}`)
  }
  const [low, high] = [min as number | bigint, max as number | bigint]
  // As numbers the largest 64-bit integers round up to 2^63 and 2^64, so the upper bound is exclusive.
  const fits = typeof value === 'bigint' ? value >= low && value <= high : value >= Number(low) && value < Number(high) + 1
  if (!fits) throw new DTypeError(`${rowOf(op).name}: ${value} is out of range for ${name} (${low} to ${high}); ${advice}`)
}

/** Checks numbers that elements of the result are, as scalars beside its tensor; for booleans, which options are not, stand 0 and 1. */
function checkElements(op: number, params: readonly (number | TracedNumber)[], row: DTypeRow): void {
  const check = (value: number): void => {
    if (row.kind !== 'bool') return checkScalar(op, value, row, true)
    if (value !== 0 && value !== 1) throw new DTypeError(`${rowOf(op).name}: ${value} is neither 0 nor 1, and the tensor is bool; use astype first`)
  }
  rowOf(op).params.forEach(({ kind }, i) => {
    if (kind !== 'element') return
    const value = params[i] as number | TracedNumber
    if (value instanceof TracedNumber) value.check(check)
    else check(value)
  })
}

/** An operand as what is recorded now may use it: another tensor of the same value where it is to be a constant. */
function usable(x: unknown): unknown {
  if (!isTensor(x) || !isConstantNow(x)) return x
  const c = constantsTo(0, () => valueOf(OP.custom, [x]))
  c.level = 0
  // Nobody but the node that uses it holds it: with that one it is released.
  c.disposed = true
  return c
}

/** A new node: sequence number, bounds of the expression below it, and what it keeps alive. */
function node(
  type: Type,
  s: Signature,
  a: unknown,
  b: unknown,
  list: readonly unknown[] | null,
  params: readonly (number | bigint)[] | null
): Tensor {
  if (constantsUpTo > 0) [a, b, list] = [usable(a), usable(b), list === null ? null : list.map(usable)]
  const t = createTensor(type, s, a, b, list, params)
  t.seq = t.low = ++created
  t.depth = t.nodes = 1
  if (list === null) {
    if (isTensor(a)) use(t, a, b)
    if (isTensor(b)) use(t, b, a)
  } else {
    for (let i = 0; i < list.length; i++) if (isTensor(list[i])) use(t, list[i] as Tensor)
  }
  // The sum doubles at every `w + f(w)`; creation numbers bound it: nothing older than `low` is below.
  const span = t.seq - t.low + 1
  if (t.nodes > span) t.nodes = span
  return t
}

/** A tensor that stands for an argument of a function that is traced. */
export function placeholder(type: Type): Tensor {
  const t = node(type, PLACEHOLDER, null, null, null, null)
  t.nodes = 0
  return t
}

/** The number of the last node. */
export function lastCreated(): number {
  return created
}

/** How far below an operand the other one is looked for. */
const NEAR = 4

/**
 * Whether an expression is seen to take a value already: the `b` of `x = x.mul(a).add(b)`. Counted each time, a chain of 1,000 such
 * operations would seem to keep as many values alive, and was watched at each of them: 2.8 us an operation instead of 0.23.
 */
function takes(t: unknown, x: Tensor): boolean {
  for (let depth = 0; depth < NEAR && isTensor(t) && t.handle === null; depth++) {
    if (t.a === x || t.b === x) return true
    t = t.a
  }
  return false
}

/** Adds an operand to a new node's bounds; `other` is the node's other one. */
function use(t: Tensor, x: Tensor, other: unknown = null): void {
  x.uses++
  if (x.level > t.level) t.level = x.level
  if (x.handle === null) {
    if (x.low < t.low) t.low = x.low
    if (x.depth >= t.depth) t.depth = x.depth + 1
    t.nodes += x.nodes
    t.pins += x.pins
    if (x.leaf > t.leaf) t.leaf = x.leaf
  } else {
    const { kib } = x.type
    if (kib > t.leaf) t.leaf = kib
    if (!takes(other, x)) t.pins += kib
  }
}

/**
 * Records an operation on one tensor.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for anything but a tensor, `ERR_DISPOSED`, or the typed error of the call.
 */
export function recordUnary(op: number, x: unknown): Tensor {
  if (!isTensor(x)) return recordCall(op, [x], null, null)
  if (x.disposed || x.owner.closed) checkAlive(rowOf(op).name, x)
  const s = signature(op, 0, null)
  return afterRecord(node(inferFast(s, x, null).type, s, x, null, null, null))
}

/**
 * Records an operation on two operands, one of which may be a scalar.
 *
 * @throws {TensorError} `ERR_ARGUMENT` without a tensor, `ERR_DISPOSED`, or the typed error of the call.
 */
export function recordBinary(op: number, a: unknown, b: unknown): Tensor {
  const fa = formOf(op, a, 0)
  const fb = formOf(op, b, 1)
  const s = signature(op, fa | (fb << 3), null)
  if (fa === 0 && fb === 0) return afterRecord(node(inferFast(s, a as Tensor, b as Tensor).type, s, a, b, null, null))
  if (fa !== 0 && fb !== 0) throw new ArgumentError(`${rowOf(op).name}: at least one operand must be a tensor; use tensor(${String(a)})`)
  const [x, scalar] = (fa === 0 ? [a, b] : [b, a]) as [Tensor, Scalar | TracedNumber]
  const { type, weak } = inferFast(s, x, null)
  const given = comparable(op, scalar, fa !== 0, weak)
  // What is the same for all elements is so of each and itself.
  if (typeof given === 'boolean' && typeof scalar !== 'boolean') return recordBinary(given ? OP.lessEqual : OP.less, x, x)
  checkScalar(op, given, weak, true)
  return afterRecord(node(type, s, fa === 0 ? a : given, fa === 0 ? given : b, null, null))
}

/** Signature and answer for any operands. */
function prepare(op: number, operands: readonly unknown[], attr: Attr | null): [Signature, Inferred] {
  let forms = 0
  const row = rowOf(op)
  // The tensors of a list come last.
  const single = row.variadic ? row.operands.length - 1 : row.operands.length
  const tensors: Tensor[] = []
  for (let i = 0; i < operands.length; i++) {
    const form = formOf(op, operands[i], i)
    if (form === 0) tensors.push(operands[i] as Tensor)
    else if (i < single) forms |= form << (3 * i)
    else throw new ArgumentError(`${rowOf(op).name}: '${operandName(op, i)}' must be a tensor, got ${shown(operands[i])}`)
  }
  const s = signature(op, forms, attr)
  const answer = infer(s, tensors)
  if (forms !== 0) {
    for (const x of operands) if (x !== undefined && !isTensor(x)) checkScalar(op, x as Scalar, answer.weak, tensors.length > 0)
  }
  return [s, answer]
}

/**
 * Records an operation with any operands (`undefined`: left out), attributes and run-time numbers.
 *
 * @throws {TensorError} `ERR_ARGUMENT`, `ERR_DISPOSED`, or the typed error of the call.
 */
export function recordCall(op: number, operands: readonly unknown[], attr: Attr | null, params: readonly number[] | null): Tensor {
  const [s, answer] = prepare(op, operands, attr)
  if (params !== null) checkElements(op, params, answer.type.row)
  return afterRecord(node(answer.type, s, null, null, operands, params))
}

/**
 * Records an operation with several outputs: one node, and a projection of it for each output.
 *
 * @throws {TensorError} as {@link recordCall}.
 */
export function recordOutputs(op: number, operands: readonly unknown[], attr: Attr | null, params: readonly number[] | null): Tensor[] {
  const [s, answer] = prepare(op, operands, attr)
  const call = node(answer.type, s, null, null, operands, params)
  // Nobody but its projections holds the node: with the last of them it is released.
  call.disposed = true
  const outputs: Tensor[] = []
  call.outputs = outputs
  const group: Group = { node: call, outputs }
  for (const type of answer.types) {
    const t = createTensor(type, s, null, null, null, null)
    t.group = group
    use(t, call)
    // The same creation number: a cut by age never separates outputs from their node.
    t.seq = call.seq
    t.low = call.low
    t.depth = call.depth
    t.nodes = call.nodes
    outputs.push(t)
  }
  for (const t of outputs) afterRecord(t)
  return outputs
}

/** Records what derives a call from the call's own tensors, which need not be alive to the user any more. */
export function derived(s: Signature, operands: readonly Tensor[], params: readonly (number | bigint)[] | null): Tensor {
  return afterRecord(node(infer(s, operands).type, s, null, null, operands, params))
}

/** Records one of the rows that hand the value of their first operand through. */
export function valueOf(op: number, operands: readonly Tensor[]): Tensor {
  const s = signature(op, 0, null)
  return afterRecord(node(infer(s, operands).type, s, null, null, operands, null))
}

