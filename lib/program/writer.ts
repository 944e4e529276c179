// Recorded expressions as programs: serialised in topological order, for one native call.
//
// Words of a program (crates/engine decodes them): an input is [0, type]; an operation is
// [op | forms << 10 | params << 25, attributes, (count,) slots of its tensor operands].

import { HEADER, INPUTS, OUTPUTS, PARAMS, WORDS } from '../generated/protocol.js'
import { bigParams, handles, ints, params, reserve } from '../native.js'
import type { Tensor } from '../tensor/tensor.js'
import { byAge, isPending, NOTHING } from './node.js'
import { rowOf } from './op-table.js'
import { noValue, PLACEHOLDER, type TracedNumber } from './placeholder.js'
import { anyPlaces, noteAgain, noteProgram, placesOf } from './places.js'
import { walk } from './traverse.js'
import { currentAttr, currentType, Signature } from './types.js'

/** Numbers the programs; `seen` is the first one that computed a node. */
let programs = 0

/** The number of the next program. */
export function nextProgram(): number {
  return ++programs
}

/** Operations computed again because an earlier program dropped their values. */
export let recomputed = 0
/** Operations run for the first time. */
export let computed = 0

/** How many operations were computed again since the last call with `reset`. */
export function recomputes(reset = false): number {
  const n = recomputed
  if (reset) recomputed = computed = 0
  return n
}

/** Whether a program is of what was asked for, and not run because of a limit or for the memory that frees. */
let asked = false

/** Whether programs compute what they are asked for, and nothing that belongs to it. */
let alone = false

/** Whether all that belongs together is known already. */
export function isAlone(): boolean {
  return alone
}

/** Runs parts of an expression, of which all that belongs together is known. */
export function attemptsAlone(run: () => void): void {
  alone = true
  try {
    run()
  } finally {
    alone = false
  }
}

/** The program being written. */
let at = 0
let slots = 0
let paramCount = 0
let inputCount = 0
export let outputs: Tensor[] = []
/** The same, where they are many: of thousands, each is looked up here. */
const chosen = new Set<Tensor>()
const along = new Set<readonly Tensor[]>()
let flushing = 0
/** What is noted of a program that is kept (`compile`); null while one is run at once. */
let kept: { readonly inputs: Tensor[]; readonly numbers: [at: number, TracedNumber][] } | null = null

/** The structure of the program being written (places.ts), how many values it has so far, and those, if any may be kept for their places. */
let structure = 0
let written = 0
let looking = false
/** Whether one of its structure was run before. */
export let turned = false
const found: Tensor[] = []

/** Outputs among which each is looked for one by one: a set takes longer to make. */
const FEW_OUTPUTS = 16

/** Has a pending value kept by the program being written. */
export function choose(t: Tensor): void {
  if (outputs.length < FEW_OUTPUTS) {
    if (outputs.includes(t)) return
  } else {
    if (outputs.length === FEW_OUTPUTS) for (const x of outputs) chosen.add(x)
    if (chosen.has(t)) return
    chosen.add(t)
  }
  outputs.push(t)
}

/** Begins or ends a program's outputs. */
export function clearOutputs(): void {
  outputs = []
  if (along.size > 0) along.clear()
  if (chosen.size > 0) chosen.clear()
}

/** Writes a tensor that has a value as an input; says whether to go below. */
function writeInput(t: Tensor): boolean {
  if (t.handle === null && (kept === null || t.signature !== PLACEHOLDER)) return true
  reserve(at - HEADER + 2, 0, inputCount + 1)
  structure = (Math.imul(structure, 31) + 1) | 0
  ints[at++] = 0
  ints[at++] = (t.type.id === 0 ? currentType(t) : t.type).id
  if (kept !== null) kept.inputs.push(t)
  handles[inputCount++] = t.handle ?? 0
  t.slot = slots++
  return false
}

/** Whether an earlier program computed a node and dropped its value. */
function wasDropped(t: Tensor): boolean {
  return t.seen !== 0 && t.seen !== flushing && t.seen !== NOTHING
}

/** Where a value lies in the program, be it one of several of an operation that was written. */
function slotOf(t: Tensor): number {
  return t.group === null ? t.slot : t.group.node.slot + t.group.outputs.indexOf(t)
}

/** Writes an operation, after its operands. */
function writeNode(t: Tensor): void {
  const { group, list } = t
  if (group !== null) t.slot = slotOf(t)
  else {
    const s = t.signature as Signature
    if (s === PLACEHOLDER) throw noValue('a tensor that depends on an argument')
    const row = rowOf(s.op)
    const count = list === null ? 2 : list.length
    const runTime = t.params
    reserve(at - HEADER + 3 + count, paramCount + count + (runTime === null ? 0 : runTime.length), 0)
    const start = at
    const before = paramCount
    ints[at + 1] = s.attr === null ? 0 : currentAttr(s.attr)
    at += 2
    const again = kept === null && wasDropped(t)
    if (again) recomputed++
    else if (kept === null) computed++
    if (list === null) {
      writeOperand(t.a, again)
      writeOperand(t.b, again)
    } else {
      if (row.variadic) ints[at++] = count
      for (let i = 0; i < count; i++) writeOperand(list[i], again)
    }
    if (runTime !== null) for (let i = 0; i < runTime.length; i++) writeNumber(runTime[i] as number | bigint)
    ints[start] = s.word | ((paramCount - before) << 25)
    structure = (Math.imul(structure, 31) + (ints[start] as number)) | 0
    t.slot = slots
    slots += row.outputs
  }
  if (t.seen === 0) {
    t.seen = flushing
    t.place = written
  }
  written++
  if (looking) found.push(t)
  if (t.beside !== null && kept === null) takeAlong(t.beside)
}

/**
 * A tensor's slot, or a weak scalar's value. A value that an earlier program computed and dropped becomes an output when a
 * new consumer uses it; keeping every value met again would store whole chains (twice the work in an unread loop). A program
 * that is kept has the outputs it was asked for.
 */
function writeOperand(x: unknown, again: boolean): void {
  if (typeof x === 'object') {
    if (x === null) return
    const t = x as Tensor
    if (t.type === undefined) return writeNumber(x as TracedNumber)
    ints[at++] = t.slot
    structure = (Math.imul(structure, 31) + t.slot) | 0
    if (!again && kept === null && t.handle === null && wasDropped(t)) {
      noteAgain(t.seen, t.place)
      choose(t)
    }
  } else if (typeof x === 'number' || typeof x === 'bigint') writeNumber(x)
  else if (typeof x === 'boolean') params[paramCount++] = x ? 1 : 0
}

function writeNumber(x: number | bigint | TracedNumber): void {
  if (typeof x === 'number') params[paramCount++] = x
  else if (typeof x === 'bigint') bigParams[paramCount++] = x
  else {
    if (kept === null) throw noValue('a tensor that depends on a number of an argument')
    kept.numbers.push([paramCount, x])
    params[paramCount++] = x.value
  }
}

/**
 * Nodes of a program with several outputs, which are written in the order they were recorded. Output by output, the first gradient's way back
 * would come first, and keep what the others are made of: 498 MiB instead of 274 for 200 layers of 1 MiB.
 */
const nodes: Tensor[] = []

function collect(t: Tensor): void {
  nodes.push(t)
  if (t.beside !== null && kept === null) takeAlong(t.beside)
}

/** Writes the program of `outputs`, which may become more on the way; `wanted` as {@link asked}. */
export function write(flush: number, wanted: boolean): void {
  flushing = flush
  asked = wanted
  at = HEADER
  slots = paramCount = inputCount = structure = written = 0
  looking = asked && kept === null && anyPlaces()
  turned = false
  if (found.length > 0) found.length = 0
  const several = outputs.length > 1
  // An exception may have left some.
  if (nodes.length > 0) nodes.length = 0
  walk(outputs, writeInput, several ? collect : writeNode)
  if (several) {
    nodes.sort(byAge)
    nodes.forEach(writeNode)
    // Nothing is kept alive by a program that was written.
    nodes.length = 0
  }
  if (asked && kept === null) {
    turned = noteProgram(flush, structure, written)
    if (looking) keepPlaces()
  }
  const count = outputs.length
  reserve(at - HEADER + count, 0, count)
  ints[WORDS] = at - HEADER
  ints[PARAMS] = paramCount
  ints[INPUTS] = inputCount
  ints[OUTPUTS] = count
  for (let i = 0; i < count; i++) ints[at + i] = slotOf(outputs[i] as Tensor)
}

/** Has the values of a program kept that are asked for again in their places. */
function keepPlaces(): void {
  for (const place of placesOf(structure)) {
    const t = found[place]
    if (t !== undefined && isPending(t)) choose(t)
  }
  found.length = 0
}

/** A program that is kept, to be run with other inputs and numbers. */
export interface Compiled {
  /** Header, program and slots of the outputs. */
  readonly words: Int32Array
  readonly params: Float64Array
  /** Placeholders, and tensors that have a value. */
  readonly inputs: readonly Tensor[]
  /** Traced numbers by their places in `params`. */
  readonly numbers: readonly (readonly [at: number, TracedNumber])[]
}

/** The program of recorded roots, all different. */
export function compile(roots: readonly Tensor[]): Compiled {
  kept = { inputs: [], numbers: [] }
  outputs = [...roots]
  try {
    write(nextProgram(), false)
    return { words: ints.slice(0, at + roots.length), params: params.slice(0, paramCount), ...kept }
  } finally {
    kept = null
    outputs = []
  }
}

/** Has pending values computed in this program too. */
export function takeAlong(others: readonly Tensor[]): void {
  // Once for all that share the list: a step of 1,000 parameters is one.
  if (alone || along.has(others)) return
  along.add(others)
  for (const x of others) if (isPending(x)) choose(x)
}

/** An operation with several outputs is run once: those still recorded are all kept. */
export function addSiblings({ outputs: siblings }: { outputs: readonly Tensor[] }): void {
  for (const t of siblings) if (isPending(t)) choose(t)
}

