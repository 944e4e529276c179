// Gradients over recorded operations. While a level is open, what depends on its variables keeps the operation it came from; going
// back from a result, each operation's gradient is one operation more, whose meaning is Rust's (crates/ops/src/derived.rs).

import { OP } from './generated/table.js'
import { walk } from './flush.js'
import { UnsupportedError } from './errors.js'
import { derived, forget, rowOf, valueOf } from './record.js'
import { Tensor } from './tensor.js'
import { internAttr, signature, type Signature } from './types.js'

/** The variables' levels count up; a value has the highest of those it depends on. */
let levels = 0
/** Levels that are open, the outermost first. */
const open: number[] = []
/** Values that keep how they came to be until the last level ends. */
let kept: Tensor[] = []

/** Whether a value may be asked for its gradient: it then keeps its operation. */
export function isTracked(t: Tensor): boolean {
  return open.length > 0 && t.level >= (open[0] as number)
}

/** Notes a tracked value that has been computed. */
export function keep(t: Tensor): void {
  kept.push(t)
}

/** Calls a function inside a new level; what it needs of the level it takes while it runs. */
export function inLevel<T>(f: (level: number) => T): T {
  const level = ++levels
  open.push(level)
  try {
    return f(level)
  } finally {
    open.pop()
    if (open.length === 0) {
      const ended = kept
      kept = []
      ended.forEach(forget)
    }
  }
}

/** The same value as a variable of a level. */
export function variable(x: Tensor, level: number): Tensor {
  const v = valueOf(OP.custom, [x])
  v.level = level
  return v
}

/** The same value as a constant. */
export function constant(x: Tensor): Tensor {
  const c = valueOf(OP.custom, [x])
  c.level = 0
  return c
}

/** The same value, whose cotangents go where the caller says: to `operands`, by `pull`. */
export function withGradient(value: Tensor, operands: readonly Tensor[], pull: Tensor['pull']): Tensor {
  const t = valueOf(OP.custom, [value, ...operands])
  t.pull = pull
  return t
}

/** The same value, to be computed from again. */
export function again(x: Tensor): Tensor {
  return valueOf(OP.barrier, [x])
}

/** Whether elements have derivatives. */
export function isDifferentiable(x: Tensor): boolean {
  const { kind } = x.type.row
  return kind === 'float' || kind === 'complex'
}

/** An operation on the way from variables to results: the node that was recorded, and its results. */
export interface Entry {
  readonly node: Tensor
  readonly results: readonly Tensor[]
  readonly signature: Signature
  readonly operands: readonly unknown[]
  readonly params: readonly (number | bigint)[] | null
  readonly pull: Tensor['pull']
}

function operandsOf(t: Tensor, s: Signature): readonly unknown[] {
  if (t.list !== null) return t.list
  return rowOf(s.op).operands.length > 1 ? [t.a, t.b] : [t.a]
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
    if (!operands.some((x) => x instanceof Tensor && depends.has(x))) return
    const outputs = t.outputs ?? [t]
    if (!outputs.some(isDifferentiable)) return
    depends.add(t)
    entries.push({ node: t, results: outputs, signature: s, operands, params: t.params, pull: t.pull })
  }
  walk(results, enter, leave)
  return entries
}

/** The signature of what derives a call, remembered with the call's own: `of` and `given` as Rust has them. */
function derivedSignature(op: number, entry: Entry, of: number, given: readonly boolean[]): Signature {
  const { signature: s, operands } = entry
  const key = `${op}:${operands.length}:${of}:${given.map(Number).join('')}`
  const known = s.derived.get(key)
  if (known !== undefined) return known
  const forms = operands.map((x) => (x instanceof Tensor ? 0 : typeof x === 'number' ? 1 : typeof x === 'bigint' ? 2 : typeof x === 'boolean' ? 3 : 4))
  const words = [s.op, forms.length, ...forms, of, given.length, ...given.map(Number), ...(s.attr?.words ?? [])]
  const made = signature(op, 0, internAttr(op, words))
  s.derived.set(key, made)
  return made
}

/** Records what derives a call: its tensors, its results, then what is given. */
function record(op: number, entry: Entry, of: number, given: readonly (Tensor | undefined)[]): Tensor {
  const { operands, results, params } = entry
  const s = derivedSignature(op, entry, of, given.map((x) => x !== undefined))
  const tensors: Tensor[] = []
  let numbers: (number | bigint)[] | null = null
  for (const x of operands) {
    if (x instanceof Tensor) tensors.push(x)
    else if (x !== undefined && x !== null) (numbers ??= []).push(typeof x === 'boolean' ? Number(x) : (x as number | bigint))
  }
  tensors.push(...results)
  for (const x of given) if (x !== undefined) tensors.push(x)
  return derived(s, tensors, numbers === null ? params : params === null ? numbers : [...numbers, ...params])
}

/** Cotangents of variables for those of results; nothing where a variable is on no way to them. */
export function backward(entries: readonly Entry[], results: readonly Tensor[], cotangents: readonly Tensor[], variables: readonly Tensor[]): (Tensor | undefined)[] {
  const sums = new Map<Tensor, Tensor>()
  const add = (x: Tensor, g: Tensor): void => {
    const before = sums.get(x)
    sums.set(x, before === undefined ? g : before.add(g))
  }
  const onTheWay = new Set<Tensor>(variables)
  for (const { results: all } of entries) all.forEach((t) => onTheWay.add(t))
  results.forEach((x, i) => add(x, cotangents[i] as Tensor))
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i] as Entry
    const given = entry.results.map((t) => sums.get(t))
    if (given.every((g) => g === undefined)) continue
    if (entry.pull === null && (entry.signature.op === OP.custom || entry.signature.op === OP.barrier)) {
      add(entry.operands[0] as Tensor, given[0] as Tensor)
      continue
    }
    if (entry.pull !== null) {
      entry.pull(given[0] as Tensor).forEach((g, n) => {
        const x = entry.operands[n + 1] as Tensor
        if (g !== undefined && onTheWay.has(x)) add(x, g)
      })
      continue
    }
    entry.operands.forEach((x, n) => {
      if (x instanceof Tensor && onTheWay.has(x) && isDifferentiable(x)) add(x, record(OP.vjp, entry, n, given))
    })
  }
  return variables.map((v) => sums.get(v))
}

/** Tangents of results for those of variables; nothing where a result does not depend on them. */
export function forward(entries: readonly Entry[], results: readonly Tensor[], variables: readonly Tensor[], tangents: readonly Tensor[]): (Tensor | undefined)[] {
  const known = new Map<Tensor, Tensor>()
  variables.forEach((v, i) => known.set(v, tangents[i] as Tensor))
  for (const entry of entries) {
    const given = entry.operands.map((x) => (x instanceof Tensor ? known.get(x) : undefined))
    if (given.every((t) => t === undefined)) continue
    if (entry.pull !== null) throw new UnsupportedError('jvp: what customGradient and checkpoint make has cotangents, and no tangents; use vjp or grad')
    entry.results.forEach((t, n) => {
      if (isDifferentiable(t)) known.set(t, record(OP.jvp, entry, n, given))
    })
  }
  return results.map((t) => known.get(t))
}
