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
import { admit, relieveSoftly } from './memory.js'
import { bigParams, handles, ints, native, params, reserve } from './native.js'
import { eachOperand, forget, rowOf } from './record.js'
import { isTracked, keep, openLevels } from './tape.js'
import type { Tensor } from './tensor.js'
import { noValue, PLACEHOLDER, TracedNumber } from './traced.js'
import { currentAttr, currentType, type Signature } from './types.js'
import { isPending, walk } from './walk.js'

/** Levels and nodes beyond which a recorded expression is run. No nodes at all: each operation runs at once. */
export const limits = { depth: 256, nodes: 2048 }
if (!['', '0', undefined].includes(process.env['FERROTENSOR_EAGER'])) limits.nodes = 0

/** How many times as much a gradient may record, at any depth: run in parts, it computes again what its way back needs of the first. */
const GRADIENT = 8

/** Numbers the flushes; `seen` is the first one that computed a node. */
let flushes = 0
/** Operations computed again because an earlier program dropped their values. */
let recomputed = 0

/** How many operations were computed again since the last call with `reset`. */
export function recomputes(reset = false): number {
  const n = recomputed
  if (reset) recomputed = 0
  return n
}

/** The program being written. */
let at = 0
let slots = 0
let paramCount = 0
let inputCount = 0
let outputs: Tensor[] = []
const along = new Set<readonly Tensor[]>()
let flushing = 0
/** What is noted of a program that is kept (`compile`); null while one is run at once. */
let kept: { readonly inputs: Tensor[]; readonly numbers: [at: number, TracedNumber][] } | null = null

/** Writes a tensor that has a value as an input; says whether to go below. */
function writeInput(t: Tensor): boolean {
  if (t.handle === null && (kept === null || t.signature !== PLACEHOLDER)) return true
  reserve(at - HEADER + 2, 0, inputCount + 1)
  ints[at++] = 0
  ints[at++] = (t.type.id === 0 ? currentType(t) : t.type).id
  if (kept !== null) kept.inputs.push(t)
  handles[inputCount++] = t.handle ?? 0
  t.slot = slots++
  return false
}

/** Whether an earlier program computed a node and dropped its value. */
function wasDropped(t: Tensor): boolean {
  return t.seen !== 0 && t.seen !== flushing
}

/** Writes an operation, after its operands. */
function writeNode(t: Tensor): void {
  const { group, list } = t
  if (group !== null) t.slot = group.node.slot + group.outputs.indexOf(t)
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
    if (list === null) {
      writeOperand(t.a, again)
      writeOperand(t.b, again)
    } else {
      if (row.variadic) ints[at++] = count
      for (let i = 0; i < count; i++) writeOperand(list[i], again)
    }
    if (runTime !== null) for (let i = 0; i < runTime.length; i++) writeNumber(runTime[i] as number | bigint)
    ints[start] = s.word | ((paramCount - before) << 25)
    t.slot = slots
    slots += row.outputs
  }
  if (t.seen === 0) t.seen = flushing
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
    if (!again && kept === null && t.handle === null && wasDropped(t) && !outputs.includes(t)) outputs.push(t)
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
  slots = paramCount = inputCount = 0
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
  const count = outputs.length
  reserve(at - HEADER + count, 0, count)
  ints[WORDS] = at - HEADER
  ints[PARAMS] = paramCount
  ints[INPUTS] = inputCount
  ints[OUTPUTS] = count
  for (let i = 0; i < count; i++) ints[at + i] = (outputs[i] as Tensor).slot
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
export function attempt(roots: readonly Tensor[], flush: number, flags: number): number {
  outputs = []
  along.clear()
  for (let i = 0; i < roots.length; i++) {
    const root = roots[i] as Tensor
    outputs.push(root)
    if (root.group !== null) addSiblings(root.group, roots)
    if (root.company !== null) takeAlong(root.company, roots)
  }
  write(flush)
  const count = outputs.length
  const first = outputs[0] as Tensor
  ints[FLAGS] = flags
  ints[SCOPE] = first.owner.id
  const handle = native.run(count === 1 ? first : outputs)
  if (handle === 0) {
    refuse(params[0] as number)
    outputs = []
    return -1
  }
  for (let i = 0; i < count; i++) {
    const t = outputs[i] as Tensor
    const h = handles[i] as number
    if (t.owner !== first.owner) native.adopt(h, t.owner.id)
    t.handle = h
  }
  const status = ints[STATUS] as number
  // After all have their handles: forgetting may dispose of others.
  for (let i = 0; i < count; i++) {
    const t = outputs[i] as Tensor
    t.beside = t.company = null
    if (isTracked(t)) keep(t)
    else forget(t)
  }
  outputs = []
  return status
}

/** Has pending values computed in this program too. */
function takeAlong(others: readonly Tensor[], roots: readonly Tensor[] = []): void {
  // Once for all that share the list: a step of 1,000 parameters is one.
  if (along.has(others)) return
  along.add(others)
  for (const x of others) if (isPending(x) && !roots.includes(x) && !outputs.includes(x)) outputs.push(x)
}

/** An operation with several outputs is run once: those still recorded are all kept. */
function addSiblings({ outputs: siblings }: { outputs: readonly Tensor[] }, roots: readonly Tensor[]): void {
  for (const t of siblings) {
    if (t.handle === null && t.signature !== null && !roots.includes(t) && !outputs.includes(t)) outputs.push(t)
  }
}

/**
 * Gives recorded tensors their values. `sync` waits for them; with `copy`, a single small result travels with the call.
 * Returns the status bits of the program, 0 if nothing was pending.
 *
 * @throws {OutOfMemoryError} when the budget refuses after everything that could be freed was.
 */
export function flush(roots: readonly Tensor[], sync: boolean, copy = false): number {
  const pending = roots.length === 1 ? roots : [...new Set(roots)].filter(isPending)
  if (pending.length === 0 || !isPending(pending[0] as Tensor)) return 0
  const id = ++flushes
  const flags = (sync ? SYNC : 0) | (copy ? SMALL : 0)
  const { op } = (pending[0] as Tensor).signature as Signature
  let status = attempt(pending, id, flags)
  if (status === -1) status = admit(rowOf(op).name, pending, (force) => attemptRest(pending, id, flags | (force ? FORCE : 0)))
  if (status & (WANT_MINOR | WANT_FULL)) relieveSoftly(status)
  if (status & WARNED) for (const text of native.takeWarnings()) process.emitWarning(text, 'FallbackWarning')
  return status
}

/** As {@link attempt}, for those that relief has not run meanwhile. */
function attemptRest(roots: readonly Tensor[], id: number, flags: number): number {
  const rest = roots.filter(isPending)
  return rest.length === 0 ? 0 : attempt(rest, id, flags)
}

/** Runs one watched expression if the budget allows; returns whether it has a value now. */
export function tryFlush(t: Tensor): boolean {
  return isPending(t) && attempt([t], ++flushes, 0) !== -1
}

/** Bounds of a node again, from its operands as they are now. */
function recount(t: Tensor): void {
  t.low = t.seq
  t.depth = t.nodes = 1
  t.pins = t.leaf = 0
  eachOperand(t, (x) => {
    if (x.handle === null) {
      t.low = Math.min(t.low, x.low)
      t.depth = Math.max(t.depth, x.depth + 1)
      t.nodes += x.nodes
      t.pins += x.pins
      t.leaf = Math.max(t.leaf, x.leaf)
    } else {
      t.pins += x.type.kib
      t.leaf = Math.max(t.leaf, x.type.kib)
    }
  })
  t.nodes = Math.min(t.nodes, t.seq - t.low + 1)
}

/**
 * A recorded expression has passed a limit. Its older three quarters, by creation number, are run, with the values the newer
 * part uses as outputs (the live state of a loop), and the newer part stays recorded: each operation of an unread loop runs
 * exactly once. Running the root instead computes and drops the states, 2 to 4.6 times the work.
 */
export function passLimit(root: Tensor): void {
  if (limits.nodes === 0) {
    if (isPending(root)) flush([root], false)
    return
  }
  if (openLevels() > 0 && root.nodes <= GRADIENT * limits.nodes) return
  // Bounds go stale when something below is materialised: count, and cut only if half of a limit is really used.
  let count = 0
  walk([root], isPending, (t) => {
    count++
    recount(t)
  })
  root.nodes = count
  if (count <= limits.nodes / 2 && root.depth <= limits.depth / 2) return
  const cut = root.low + Math.floor((root.seq - root.low) * 0.75)
  const older: Tensor[] = []
  const newer: Tensor[] = []
  const enter = (t: Tensor): boolean => {
    if (!isPending(t)) return false
    if (t.seq <= cut) older.push(t)
    return t.seq > cut
  }
  walk([root], enter, (t) => newer.push(t))
  flush(older, false)
  newer.forEach(recount)
  if (root.depth > limits.depth * 0.75) flush([root], false)
}

/** Runs a gradient that is past a limit, whole: with the next operation its older part would be. */
export function runLong(roots: readonly Tensor[]): void {
  if (limits.nodes > 0 && openLevels() === 1 && roots.some((t) => isPending(t) && (t.nodes > limits.nodes || t.depth > limits.depth))) flush(roots, false)
}
