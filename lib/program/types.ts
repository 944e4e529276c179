// Types, attributes and the memo of inference: which type comes out of an operation is asked of Rust once.
//
// Ids belong to an epoch. When the tables are full everything is forgotten on both sides and ids start again, so a loop over
// 10^6 shapes stays flat. Objects of an earlier epoch have id 0, which no memo knows; whoever meets one interns it again.

import { DTYPES, type DTypeRow } from '../generated/dtypes.js'
import { HEADER } from '../generated/protocol.js'
import { ints, native, params, reserve } from '../native.js'
import type { Tensor } from '../tensor/tensor.js'

/** Types, attributes or memo entries that end an epoch: about 10 MiB on both sides together. */
const EPOCH_TYPES = 1 << 14
const EPOCH_ATTRS = 1 << 14
const EPOCH_MEMOS = 1 << 16

/** Structured cloning fails on the first symbol it meets, with the symbol's text: a tensor's first field is its type. */
const UNCLONABLE = Symbol('a Tensor cannot be posted or cloned; post tensor.share() and call fromShared(token) there')

/** Number of elements: 0 with a size of 0, though the product of the others may be infinite. */
export function sizeOf(shape: readonly number[]): number {
  return shape.includes(0) ? 0 : shape.reduce((n, size) => n * size, 1)
}

/** An interned (dtype, shape, device). */
export class Type {
  readonly unclonable = UNCLONABLE
  /** The id of this epoch; 0 after its end. */
  id: number
  readonly row: DTypeRow
  readonly shape: readonly number[]
  readonly device: number
  /** Number of elements. */
  readonly size: number
  readonly bytes: number
  /** Whole KiB, capped: sums of them stay small integers, which need no heap object. */
  readonly kib: number

  constructor(id: number, row: DTypeRow, shape: readonly number[], device: number) {
    this.id = id
    this.row = row
    this.shape = Object.freeze(shape)
    this.device = device
    this.size = sizeOf(shape)
    this.bytes = this.size * row.bytes
    this.kib = Math.min(Math.floor(this.bytes / 1024), 1 << 20)
  }
}

/** Interned attributes of one operation. */
export class Attr {
  /** The id of this epoch; 0 after its end. */
  id = 0
  readonly op: number
  readonly words: readonly number[]
  /** Signatures by operand forms. */
  readonly signatures: Signature[] = []

  constructor(op: number, words: readonly number[]) {
    this.op = op
    this.words = words
  }
}

/** What inference said: the outputs' types, and the dtype weak scalars must fit. */
export interface Inferred {
  readonly type: Type
  readonly types: readonly Type[]
  readonly weak: DTypeRow
}

type Memo = Map<number, Inferred | Memo>

/** An operation with its operand forms and attributes: all that inference sees but the operands' types. */
export class Signature {
  readonly op: number
  /** 3 bits for each of the first four operands: 0 tensor, 1 number, 2 bigint, 3 boolean, 4 absent. */
  readonly forms: number
  readonly attr: Attr | null
  /** The low 24 bits of the operation's first program word. */
  readonly word: number
  /** The operand types of the last call and its answer: loops repeat themselves, and two compares beat two map look-ups. */
  a: Type | null = null
  b: Type | null = null
  last: Inferred | null = null
  /** Signatures of what derives such a call (lib/program/derived-call.ts). */
  readonly derived = new Map<number | string, Signature>()
  /** Answers by the number of tensor operands (an operation may take any), then by their ids, one level for each. */
  readonly memos: Memo[] = []

  constructor(op: number, forms: number, attr: Attr | null) {
    this.op = op
    this.forms = forms
    this.attr = attr
    this.word = op | (forms << 10)
  }

  forget(): void {
    this.a = this.b = this.last = null
    this.memos.length = 0
  }
}

let types: Type[] = []
let attrs: Attr[] = []
let attrsByContent = new Map<string, Attr>()
let memoEntries = 0
/** Counts epochs: program words of an earlier one mean nothing. */
export let epoch = 0
/** Signatures without attributes: by operation, then forms. They outlive epochs. */
const signatures: Signature[][] = []

/** The signature of an operation; forms as in {@link Signature.forms}. */
export function signature(op: number, forms: number, attr: Attr | null): Signature {
  const list = attr === null ? (signatures[op] ??= []) : attr.signatures
  return (list[forms] ??= new Signature(op, forms, attr))
}

/** Starts a new epoch if a table is full. Called where no id is in use yet. */
function turnEpoch(): void {
  if (types.length < EPOCH_TYPES && attrs.length < EPOCH_ATTRS && memoEntries < EPOCH_MEMOS) return
  for (const type of types) if (type !== undefined) type.id = 0
  for (const attr of attrs) {
    attr.id = 0
    attr.signatures.forEach((s) => s.forget())
  }
  for (const list of signatures) list?.forEach((s) => s.forget())
  types = []
  attrs = []
  attrsByContent = new Map()
  memoEntries = 0
  epoch++
  native.endEpoch()
}

function known(id: number, row: DTypeRow, shape: readonly number[], device: number): Type {
  while (types.length < id) types.push(undefined as never)
  return (types[id] ??= new Type(id, row, shape, device))
}

/** The type with an id that inference gave. */
export function typeAt(id: number): Type {
  if (types[id] !== undefined) return types[id]
  const rank = native.typeOf(id)
  return known(id, DTYPES[ints[HEADER] as number] as DTypeRow, Array.from(params.subarray(0, rank)), ints[HEADER + 1] as number)
}

/** Not through the shared buffers: an expression of an earlier epoch is interned again while a program is written there. */
function intern(row: DTypeRow, shape: readonly number[], device: number): Type {
  return known(native.internType(row.code, Float64Array.from(shape), device), row, [...shape], device)
}

/**
 * The type of these parts.
 *
 * @throws {TensorError} for sizes that are fractional, negative or too large.
 */
export function internType(row: DTypeRow, shape: readonly number[], device: number): Type {
  turnEpoch()
  return intern(row, shape, device)
}

/** A tensor's type in this epoch. */
export function currentType(x: Tensor): Type {
  const { type } = x
  if (type.id === 0) x.type = intern(type.row, type.shape, type.device)
  return x.type
}

/** The id of attributes in this epoch. */
export function currentAttr(attr: Attr): number {
  if (attr.id === 0) {
    attr.id = native.internAttrs(attr.op, Float64Array.from(attr.words))
    attrs.push(attr)
  }
  return attr.id
}

/**
 * The attributes of one call, memoised by content: float64 words in the row's schema order, as `crates/ops/src/attrs.rs`
 * decodes them.
 *
 * @throws {TensorError} for words the schema refuses.
 */
export function internAttr(op: number, words: number[]): Attr {
  const key = `${op}:${words.join()}`
  const known = attrsByContent.get(key)
  if (known !== undefined) return known
  turnEpoch()
  const attr = new Attr(op, words)
  currentAttr(attr)
  attrsByContent.set(key, attr)
  return attr
}

/** Looks the operands' types up in a signature's memo. */
function recall(s: Signature, operands: readonly Tensor[]): Inferred | undefined {
  if (operands.length === 0) return s.last ?? undefined
  let level: Inferred | Memo | undefined = s.memos[operands.length]
  for (let i = 0; i < operands.length && level !== undefined; i++) {
    level = (level as Memo).get((operands[i] as Tensor).type.id)
  }
  return level as Inferred | undefined
}

function remember(s: Signature, operands: readonly Tensor[], answer: Inferred): void {
  // Each may be a level of its own: a list of 10^5 tensors is not one entry.
  memoEntries += operands.length + 1
  if (operands.length === 0) {
    s.last = answer
    return
  }
  let level = (s.memos[operands.length] ??= new Map())
  for (let i = 0; i + 1 < operands.length; i++) {
    const { id } = (operands[i] as Tensor).type
    let next = level.get(id) as Memo | undefined
    if (next === undefined) level.set(id, (next = new Map()))
    level = next
  }
  level.set((operands[operands.length - 1] as Tensor).type.id, answer)
}

/** Asks Rust, in this epoch. */
function ask(s: Signature, operands: readonly Tensor[]): Inferred {
  turnEpoch()
  for (let i = 0; i < operands.length; i++) currentType(operands[i] as Tensor)
  const attr = s.attr === null ? 0 : currentAttr(s.attr)
  reserve(operands.length + 1, 0, 0)
  ints[0] = s.op
  ints[1] = s.forms
  ints[2] = attr
  ints[3] = operands.length
  for (let i = 0; i < operands.length; i++) ints[HEADER + i] = (operands[i] as Tensor).type.id
  const count = native.infer()
  // Copied first: `typeAt` writes to the same words.
  const found = Array.from(ints.subarray(HEADER, HEADER + count + 1))
  const outputs = found.slice(0, count).map(typeAt)
  const answer = { type: outputs[0] as Type, types: outputs, weak: DTYPES[found[count] as number] as DTypeRow }
  remember(s, operands, answer)
  return answer
}

/**
 * What comes out of an operation on these tensors.
 *
 * @throws {TensorError} the typed error of the call: shape, dtype, axis, device.
 */
export function infer(s: Signature, operands: readonly Tensor[]): Inferred {
  return recall(s, operands) ?? ask(s, operands)
}

/** `infer` for one or two tensors, through the signature's last answer. */
export function inferFast(s: Signature, x: Tensor, y: Tensor | null): Inferred {
  const a = x.type
  const b = y === null ? null : y.type
  if (s.a === a && s.b === b) return s.last as Inferred
  const answer = infer(s, y === null ? [x] : [x, y])
  s.a = x.type
  s.b = y === null ? null : y.type
  s.last = answer
  return answer
}
