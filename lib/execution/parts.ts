// Long expressions are run in parts, by age: each part is one program, whose outputs are what the younger ones use, so every operation
// runs once, whatever the length. Cuts are made at one place of a loop's body, so that most parts are the same program.

import { limits } from '../program/hooks.js'
import { eachOperand, isTracked, openLevels } from '../program/lifetime.js'
import { byAge, isPending, NOTHING } from '../program/node.js'
import { walk } from '../program/traverse.js'
import { attemptsAlone } from '../program/writer.js'
import type { Tensor } from '../tensor/tensor.js'
import { execute } from './execute.js'
import { prune } from './residuals.js'
import { isLong, WHOLE } from './run.js'

/** Nodes that must look alike behind two cuts for a loop to be seen; a body that is longer than its parts are is cut anywhere. */
const ALIKE = 256

/** Operands further away than this are values of another time, at a distance that changes from turn to turn. */
const NEAR = 512

/** Recorded calls below some roots, oldest first; `slot` is their place. */
function callsBelow(roots: readonly Tensor[], leave: (t: Tensor) => void = () => {}): Tensor[] {
  const calls: Tensor[] = []
  const enter = (t: Tensor): boolean => {
    if (!isPending(t) || t.seen === NOTHING) return false
    prune(t)
    return true
  }
  walk(roots, enter, (t) => {
    leave(t)
    if (t.group === null) calls.push(t)
  })
  calls.sort(byAge)
  for (let i = 0; i < calls.length; i++) (calls[i] as Tensor).slot = i
  return calls
}

/** The call that makes a pending tensor; undefined for what is no part of an expression that is to be run. */
function callOf(x: Tensor): Tensor | undefined {
  if (!isPending(x) || x.seen === NOTHING) return undefined
  return x.group === null ? x : x.group.node
}

/** Numbers that are the same for calls of one operation on the same types, made of the same calls before them. */
function likeness(calls: readonly Tensor[]): Int32Array {
  const numbers = new Int32Array(calls.length)
  for (let i = 0; i < calls.length; i++) {
    const t = calls[i] as Tensor
    const s = t.signature
    let n = s === null ? 0 : Math.imul(s.word, 31) + (s.attr === null ? 0 : s.attr.id)
    n = Math.imul(n, 31) + t.type.id
    eachOperand(t, (x) => {
      const call = callOf(x)
      const back = call === undefined ? 0 : i - call.slot
      n = Math.imul(n, 31) + (back < NEAR ? back : 0)
    })
    numbers[i] = n
  }
  return numbers
}

/** Where parts end: after at most so many calls, where the loop is that has been at the start of the part. */
function ends(calls: readonly Tensor[], most: number): number[] {
  const numbers = likeness(calls)
  const found: number[] = []
  const alike = (a: number, b: number): boolean => {
    const end = Math.min(b + ALIKE, numbers.length)
    for (; b < end; a++, b++) if (numbers[a] !== numbers[b]) return false
    return true
  }
  let start = 0
  while (numbers.length - start > most) {
    let length = most
    while (length > most / 4 && !alike(start, start + length)) length--
    start += length > most / 4 ? length : most
    found.push(start)
  }
  found.push(numbers.length)
  return found
}

/** The outputs of each part: what younger parts use, and what is wanted of all. */
function outputsOf(calls: readonly Tensor[], most: number, wanted: Iterable<Tensor>): Tensor[][] {
  const stops = ends(calls, most)
  const outputs: Tensor[][] = stops.map(() => [])
  const partOf = new Int32Array(calls.length)
  for (let i = 0, part = 0; i < calls.length; i++) {
    if (i === stops[part]) part++
    partOf[i] = part
  }
  const chosen = new Set<Tensor>()
  const choose = (x: Tensor, user: number): void => {
    const call = callOf(x)
    if (call === undefined) return
    const part = partOf[call.slot] as number
    if (part === user || chosen.has(x)) return
    chosen.add(x)
    ;(outputs[part] as Tensor[]).push(x)
  }
  for (let i = 0; i < calls.length; i++) eachOperand(calls[i] as Tensor, (x) => choose(x, partOf[i] as number))
  for (const x of wanted) choose(x, -1)
  for (const list of outputs) list.sort(byAge)
  return outputs
}

/** Roots, and what is computed with them. */
function together(roots: readonly Tensor[]): Tensor[] {
  const all = new Set(roots)
  const list = [...roots]
  const met = new Set<readonly Tensor[]>()
  const take = (others: readonly Tensor[] | null): void => {
    if (others === null || met.has(others)) return
    met.add(others)
    for (const x of others) {
      if (!isPending(x) || all.has(x)) continue
      all.add(x)
      list.push(x)
    }
  }
  for (const t of roots) take(t.company)
  // What is added is walked too.
  walk(list, isPending, (t) => take(t.beside))
  return list
}

/** Runs what has no value yet of some outputs, as one program; `wanted` is false for what is run because of a limit. */
function run(outputs: readonly Tensor[], wanted = false): void {
  const pending = outputs.filter(isPending)
  if (pending.length > 0) execute(pending, false, false, wanted)
}

/** Runs long expressions in parts; false where they turn out not to be long. */
export function runInParts(roots: readonly Tensor[]): boolean {
  const all = together(roots)
  const calls = callsBelow(all)
  if (calls.length <= WHOLE * limits.nodes) {
    for (const t of roots) t.nodes = Math.min(t.nodes, calls.length)
    return false
  }
  const parts = outputsOf(calls, limits.nodes, all)
  calls.length = 0
  attemptsAlone(() => {
    for (let i = 0; i < parts.length; i++) {
      run(parts[i] as Tensor[])
      // Nothing is kept alive by a part that has been run.
      parts[i] = []
    }
  })
  return true
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
 * A recorded expression has passed a limit. All but its youngest part are run, three quarters of it at least, with the values the younger
 * parts use as outputs (the live state of a loop), and the youngest stays recorded: each operation of an unread loop runs exactly once.
 * Running the root instead computes and drops the states, 2 to 4.6 times the work. What gradients may be taken of is left until those are
 * known, and with them what of it has to be kept.
 */
export function passLimit(root: Tensor): void {
  if (limits.nodes === 0) {
    run([root], true)
    return
  }
  if (openLevels() > 0 && (isTracked(root) || !isLong(root))) return
  // Bounds go stale when something below is materialised: count, and cut only if half of a limit is really used.
  const calls = callsBelow([root], recount)
  root.nodes = calls.length
  if (calls.length <= limits.nodes / 2 && root.depth <= limits.depth / 2) return
  const parts = outputsOf(calls, Math.floor(0.75 * Math.min(calls.length, limits.nodes)), [])
  for (const outputs of parts) run(outputs)
  for (const t of calls) if (isPending(t)) recount(t)
  if (root.group !== null) recount(root)
  if (root.depth > limits.depth * 0.75) run([root])
}
