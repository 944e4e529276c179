// Flushing: a recorded expression is serialised in topological order and run in one native call.
//
// Words of a program (crates/engine decodes them): an input is [0, type]; an operation is
// [op | forms << 10 | params << 25, attributes, (count,) slots of its tensor operands].

import {
  FLAGS,
  FORCE,
  HEADER,
  INPUTS,
  OUTPUTS,
  PARAMS,
  SCOPE,
  SMALL,
  STATUS,
  SYNC,
  WANT_FULL,
  WANT_MINOR,
  WARNED,
  WORDS
} from './generated/protocol.js'
import { admit, collectTurn, relieveSoftly } from './memory.js'
import { bigParams, handles, ints, native, params, reserve } from './native.js'
import { isLong, runInParts } from './parts.js'
import { anyPlaces, forgetPlaces, noteAgain, noteProgram, placesOf } from './places.js'
import { forget, rowOf } from './record.js'
import { NOTHING, residuals } from './residuals.js'
import { isTracked, keep, openLevels } from './tape.js'
import type { Tensor } from './tensor.js'
import { noValue, PLACEHOLDER, TracedNumber } from './traced.js'
import { currentAttr, currentType, type Signature } from './types.js'
import { isPending, walk } from './walk.js'

/** Levels and nodes beyond which a recorded expression is run. No nodes at all: each operation runs at once. */
export const limits = { depth: 256, nodes: 2048 }
if (!['', '0', undefined].includes(process.env['FERROTENSOR_EAGER'])) limits.nodes = 0

/** Numbers the flushes; `seen` is the first one that computed a node. */
let flushes = 0
/** Operations computed again because an earlier program dropped their values. */
let recomputed = 0
/** Operations run for the first time. */
let computed = 0

/** Operations computed again from which on their share is looked at: a read of what was on the way costs as much as it is. */
const MANY_RECOMPUTES = 20_000
let warned = false

/** Says once that most of the work is done again. */
function warnOfRecomputes(): void {
  if (warned || recomputed < MANY_RECOMPUTES || recomputed < computed) return
  warned = true
  process.emitWarning(
    `${recomputed} operations were computed again, more than the ${computed} that were new: values are read that earlier reads passed through. ` +
      'Ask for them together, ft.evaluate(a, b), or evaluate what a loop carries; see "Long loops" in docs/performance.md',
    'RecomputeWarning'
  )
}

/** How many operations were computed again since the last call with `reset`. */
export function recomputes(reset = false): number {
  const n = recomputed
  if (reset) recomputed = computed = 0
  return n
}

/** The program being written. */
let at = 0
let slots = 0
let paramCount = 0
let inputCount = 0
let outputs: Tensor[] = []
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
let turned = false
const found: Tensor[] = []

/** Outputs among which each is looked for one by one: a set takes longer to make. */
const FEW_OUTPUTS = 16

/** Has a pending value kept by the program being written. */
function choose(t: Tensor): void {
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
function clearOutputs(): void {
  outputs = []
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
 * Bytes of results since the last collection from which on the end of a loop's turn is a time for one: what the turn before left is garbage, and
 * its memory warm. At any other time half of a turn's values would be found alive, and outlive the next collection too.
 */
const TURN_BYTES = 32 << 20
let made = 0

/** Bytes the last refused program asked for. */
export let refusedBytes = 0

/** Notes what the budget refused, for the error's message. */
export function refuse(bytes: number): void {
  refusedBytes = bytes
}

/**
 * Nodes of a program with several outputs, which are written in the order they were recorded. Output by output, the first gradient's way back
 * would come first, and keep what the others are made of: 498 MiB instead of 274 for 200 layers of 1 MiB.
 */
const nodes: Tensor[] = []
const byAge = (a: Tensor, b: Tensor): number => a.seq - b.seq

function collect(t: Tensor): void {
  nodes.push(t)
  if (t.beside !== null && kept === null) takeAlong(t.beside)
}

/** Writes the program of `outputs`, which may become more on the way. */
function write(flush: number): void {
  flushing = flush
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
    write(++flushes)
    return { words: ints.slice(0, at + roots.length), params: params.slice(0, paramCount), ...kept }
  } finally {
    kept = null
    outputs = []
  }
}

/**
 * Runs pending roots as one program. Returns the status bits, or -1 when the memory budget refused: other programs may run
 * then, so the caller serialises again.
 */
export function attempt(roots: readonly Tensor[], flush: number, flags: number, wanted = false): number {
  asked = wanted
  clearOutputs()
  along.clear()
  for (let i = 0; i < roots.length; i++) choose(roots[i] as Tensor)
  for (let i = 0; i < roots.length; i++) {
    const { group, company } = roots[i] as Tensor
    if (group !== null) addSiblings(group)
    if (company !== null) takeAlong(company)
  }
  // An operation that is run at once has the values it was recorded on.
  const saved = openLevels() > 0 && outputs.some((t) => t.nodes > 1) ? residuals(outputs) : undefined
  saved?.forEach(choose)
  write(flush)
  const count = outputs.length
  const first = outputs[0] as Tensor
  ints[FLAGS] = flags
  ints[SCOPE] = first.owner.id
  const handle = native.run(count === 1 ? first : outputs)
  if (handle === 0) {
    refuse(params[0] as number)
    clearOutputs()
    return -1
  }
  for (let i = 0; i < count; i++) {
    const t = outputs[i] as Tensor
    const h = handles[i] as number
    if (t.owner !== first.owner) native.adopt(h, t.owner.id)
    t.handle = h
  }
  const status = ints[STATUS] as number
  for (let i = 0; i < count; i++) made += (outputs[i] as Tensor).type.bytes
  // After all have their handles: forgetting may dispose of others.
  for (let i = 0; i < count; i++) {
    const t = outputs[i] as Tensor
    t.beside = t.company = null
    const tracked = isTracked(t)
    if (tracked || saved?.has(t) === true) keep(t)
    if (!tracked) forget(t)
  }
  clearOutputs()
  return status
}

/** Whether a program is of what was asked for, and not run because of a limit or for the memory that frees. */
let asked = false
/** Whether programs compute what they are asked for, and nothing that belongs to it. */
let alone = false

/** Runs parts of an expression, of which all that belongs together is known. */
export function attemptsAlone(run: () => void): void {
  alone = true
  try {
    run()
  } finally {
    alone = false
  }
}

/** Has pending values computed in this program too. */
function takeAlong(others: readonly Tensor[]): void {
  // Once for all that share the list: a step of 1,000 parameters is one.
  if (alone || along.has(others)) return
  along.add(others)
  for (const x of others) if (isPending(x)) choose(x)
}

/** An operation with several outputs is run once: those still recorded are all kept. */
function addSiblings({ outputs: siblings }: { outputs: readonly Tensor[] }): void {
  for (const t of siblings) if (isPending(t)) choose(t)
}

/**
 * Gives recorded tensors their values. `sync` waits for them; with `copy`, a single small result travels with the call.
 * Returns the status bits of the program, 0 if nothing was pending. `wanted` is false for what is run because of a limit.
 *
 * @throws {OutOfMemoryError} when the budget refuses after everything that could be freed was.
 */
export function flush(roots: readonly Tensor[], sync: boolean, copy = false, wanted = true): number {
  const pending = roots.length === 1 ? roots : [...new Set(roots)].filter(isPending)
  if (pending.length === 0 || !isPending(pending[0] as Tensor)) return 0
  if (!alone && pending.some(isLong) && runInParts(pending)) return 0
  const id = ++flushes
  const flags = (sync ? SYNC : 0) | (copy ? SMALL : 0)
  const { op } = (pending[0] as Tensor).signature as Signature
  let status = attempt(pending, id, flags, wanted)
  if (status === -1) {
    forgetPlaces()
    status = admit(rowOf(op).name, pending, (force) => attemptRest(pending, id, flags | (force ? FORCE : 0), wanted))
  }
  if (recomputed >= MANY_RECOMPUTES) warnOfRecomputes()
  if (status & (WANT_MINOR | WANT_FULL)) {
    made = 0
    relieveSoftly(status)
  } else if (turned && made >= TURN_BYTES) {
    made = 0
    collectTurn()
  }
  if (status & WARNED) for (const text of native.takeWarnings()) process.emitWarning(text, 'FallbackWarning')
  return status
}

/** As {@link attempt}, for those that relief has not run meanwhile. */
function attemptRest(roots: readonly Tensor[], id: number, flags: number, wanted: boolean): number {
  const rest = roots.filter(isPending)
  return rest.length === 0 ? 0 : attempt(rest, id, flags, wanted)
}

/** Runs one watched expression if the budget allows; returns whether it has a value now. */
export function tryFlush(t: Tensor): boolean {
  return isPending(t) && !isLong(t) && attempt([t], ++flushes, 0) !== -1
}
