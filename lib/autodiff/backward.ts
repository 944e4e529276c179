// Gradients over recorded operations. While a level is open, what depends on its variables keeps the operation it came from; going
// back from a result, each operation's gradient is one operation more, whose meaning is Rust's (crates/ops/src/derived.rs).

import { ArgumentError, UnsupportedError } from '../errors.js'
import { flush } from '../execution/flush.js'
import { readOperands } from '../execution/residuals.js'
import { OP } from '../generated/table.js'
import { cotangentsOfJoin } from '../indexing/split.js'
import { derivedSignature, handsThrough, isDifferentiable, numbersBeside, operandsOf } from '../program/derived-call.js'
import { openLevels } from '../program/lifetime.js'
import { isTensor } from '../program/node.js'
import { derived, valueOf } from '../program/record.js'
import { walk } from '../program/traverse.js'
import type { Signature } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import { Cotangents } from './cotangents.js'

/** An operation on the way from variables to results: its results, and all that was recorded of it. */
export interface Entry {
  readonly results: readonly Tensor[]
  readonly signature: Signature
  readonly operands: readonly unknown[]
  readonly params: readonly (number | bigint)[] | null
  readonly pull: Tensor['pull']
  readonly piece: Tensor['piece']
  readonly again: Tensor['again']
  readonly step: Tensor['step']
}

/**
 * The operations that lead from variables to results, operands first. Values of integers and bool have no derivative: what
 * depends on variables through them alone is constant.
 */
export function trace(results: readonly Tensor[], variables: ReadonlySet<Tensor>, level: number): Entry[] {
  const depends = new Set<Tensor>(variables)
  const entries: Entry[] = []
  const enter = (t: Tensor): boolean => t.level >= level && t.signature !== null && !variables.has(t)
  const leave = (t: Tensor): void => {
    if (t.group !== null) {
      if (depends.has(t.group.node) && isDifferentiable(t)) depends.add(t)
      return
    }
    const s = t.signature as Signature
    const operands = operandsOf(t, s)
    if (!operands.some((x) => isTensor(x) && depends.has(x))) return
    const outputs = t.outputs ?? [t]
    if (!outputs.some(isDifferentiable)) return
    depends.add(t)
    entries.push({ results: outputs, signature: s, operands, params: t.params, pull: t.pull, piece: t.piece, again: t.again, step: t.step })
  }
  walk(results, enter, leave)
  return entries
}

/** Keeps the values of entries for as long as the entries are held: whoever disposes of them leaves them to the collector. */
export function hold(entries: readonly Entry[]): void {
  for (const { results, operands } of entries) {
    for (const t of results) t.uses++
    for (const x of operands) if (isTensor(x)) x.uses++
  }
}

/** Records what derives a call: its tensors, its results, then what is given. */
function record(op: number, entry: Entry, of: number, given: readonly (Tensor | undefined)[]): Tensor {
  const { operands, results, params } = entry
  const s = derivedSignature(op, entry.signature, operands, of, given.map((x) => x !== undefined))
  const tensors: Tensor[] = []
  const all = numbersBeside(operands, params, tensors)
  tensors.push(...results)
  for (const x of given) if (x !== undefined) tensors.push(x)
  // What an earlier program dropped is not computed again for a rule that does not read it.
  let dropped = false
  for (const x of tensors) dropped ||= x.handle === null && x.seen > 0
  return derived(s, dropped ? readOperands(s, tensors, all === null ? 0 : all.length) : tensors, all)
}

/** What was found for each value: a tensor of its own, to be disposed of apart from what was given and from the others. */
function apart(values: readonly Tensor[], found: (x: Tensor) => Tensor | undefined, given: readonly (Tensor | undefined)[]): (Tensor | undefined)[] {
  const taken = new Set(given)
  return values.map((x) => {
    const t = found(x)
    const own = t !== undefined && taken.has(t) ? valueOf(OP.custom, [t]) : t
    taken.add(own)
    return own
  })
}

/**
 * Cotangents of the variables of a level for those of results, added to those they have `before`; nothing where a variable is on no way to
 * them.
 */
export function backward(
  entries: readonly Entry[],
  results: readonly Tensor[],
  cotangents: readonly (Tensor | undefined)[],
  variables: readonly Tensor[],
  level: number,
  before: readonly (Tensor | undefined)[] = []
): (Tensor | undefined)[] {
  // Whatever else is wanted of the results is computed with what the way back reads of them.
  const atOnce = openLevels() === 1 && entries.some(({ step }) => step !== null)
  if (atOnce) flush(results, false)
  const sums = new Cotangents(atOnce)
  before.forEach((g, i) => g !== undefined && sums.set(variables[i] as Tensor, g))
  const onTheWay = new Set<Tensor>(variables)
  for (const { results: all } of entries) for (const t of all) onTheWay.add(t)
  results.forEach((x, i) => {
    const g = cotangents[i]
    if (g !== undefined) sums.add(x, g)
  })
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i] as Entry
    const given = entry.results.map((t) => sums.total(t))
    for (const t of entry.results) sums.delete(t)
    if (given.every((g) => g === undefined)) continue
    if (entry.piece !== null) sums.addPiece(entry.operands[1] as Tensor, entry.piece, given[0] as Tensor)
    else if (entry.step !== null && atOnce) {
      // With all that the rest of the way back starts from, which would be computed again.
      flush([given[0] as Tensor, ...sums.changes()], false)
      const own = entry.operands.slice(1) as Tensor[]
      const known = new Map(own.filter((x) => onTheWay.has(x)).map((x) => [x, sums.sum(x)]))
      entry.step.pull(given[0] as Tensor, known).forEach((g, n) => g !== undefined && onTheWay.has(own[n] as Tensor) && sums.set(own[n] as Tensor, g))
    } else if (entry.pull !== null) pulled(entry, given[0] as Tensor, variables, level, (x, g) => onTheWay.has(x) && sums.add(x, g))
    else if (entry.again !== null || entry.step !== null) computedAgain((entry.again ?? entry.step?.again) as () => Tensor, given, onTheWay, level, sums)
    else if (handsThrough(entry.signature)) sums.add(entry.operands[0] as Tensor, given[0] as Tensor)
    else {
      const pieces = cotangentsOfJoin(entry.signature, entry.operands, given[0] as Tensor)
      entry.operands.forEach((x, n) => {
        if (isTensor(x) && onTheWay.has(x) && isDifferentiable(x)) sums.add(x, pieces?.[n] ?? record(OP.vjp, entry, n, given))
      })
    }
  }
  variables.forEach((x) => sums.total(x))
  return apart(variables, (x) => sums.sum(x), cotangents)
}

/** A gradient of the caller's making. */
function pulled(entry: Entry, cotangent: Tensor, variables: readonly Tensor[], level: number, add: (x: Tensor, g: Tensor) => void): void {
  const [value, ...own] = entry.operands as Tensor[]
  const others = new Set(variables)
  for (const x of own) others.delete(x)
  const inside = trace([value as Tensor], new Set([...own, ...others]), level)
  if (others.has(value as Tensor) || inside.some(({ operands }) => operands.some((x) => others.has(x as Tensor)))) {
    throw new ArgumentError('customGradient: the value depends on a variable that is no argument of the function; pass it as one, or stopGradient it')
  }
  entry.pull?.(cotangent).forEach((g, n) => {
    if (g !== undefined) add(own[n] as Tensor, g)
  })
}

/** What is computed again: back from it to all that the first computation was made of. */
function computedAgain(
  again: () => Tensor,
  cotangents: readonly (Tensor | undefined)[],
  known: ReadonlySet<Tensor>,
  level: number,
  sums: Cotangents
): void {
  const result = again()
  const entries = trace([result], known, level)
  const reached = [...new Set(entries.flatMap(({ operands }) => operands as Tensor[]).filter((x) => known.has(x)))]
  backward(entries, [result], cotangents, reached, level).forEach((g, i) => {
    if (g !== undefined) sums.add(reached[i] as Tensor, g)
  })
}

/** Tangents of results for those of variables; nothing where a result does not depend on them. */
export function forward(
  entries: readonly Entry[],
  results: readonly Tensor[],
  variables: readonly Tensor[],
  tangents: readonly Tensor[],
  level: number
): (Tensor | undefined)[] {
  const known = new Map<Tensor, Tensor>()
  variables.forEach((v, i) => known.set(v, tangents[i] as Tensor))
  for (const entry of entries) {
    const given = entry.operands.map((x) => (isTensor(x) ? known.get(x) : undefined))
    if (given.every((t) => t === undefined)) continue
    if (entry.pull !== null) throw new UnsupportedError('jvp: what customGradient makes has cotangents, and no tangents; use vjp or grad')
    if (entry.step !== null) {
      const result = entry.step.again()
      const inside = trace([result], new Set(known.keys()), level)
      const reached = [...known.keys()].filter((x) => entry.operands.includes(x))
      const [tangent] = forward(inside, [result], reached, reached.map((x) => known.get(x) as Tensor), level)
      if (tangent !== undefined) known.set(entry.results[0] as Tensor, tangent)
      continue
    }
    // Forwards nothing is kept: what is computed again would be the same.
    const through = handsThrough(entry.signature)
    entry.results.forEach((t, n) => {
      const tangent = through ? given[0] : isDifferentiable(t) ? record(OP.jvp, entry, n, given) : undefined
      if (tangent !== undefined) known.set(t, tangent)
    })
  }
  return apart(results, (x) => known.get(x), tangents)
}
