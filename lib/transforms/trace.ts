// Traces: what a function does with arguments of one kind, recorded without values, as a program and a way to its result.

import { synchronous } from '../arguments/functions.js'
import { OP } from '../generated/table.js'
import { limits } from '../program/hooks.js'
import { checkAlive, enter, isTensor, OUTSIDE } from '../program/node.js'
import { during, escaped, PLACEHOLDER, TracedNumber } from '../program/placeholder.js'
import { lastCreated, placeholder, valueOf } from '../program/record.js'
import { walk } from '../program/traverse.js'
import { epoch, type Type } from '../program/types.js'
import { compile, type Compiled } from '../program/writer.js'
import { isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { childrenOf, isRegistered, withChildren } from '../tree/classes.js'
import { mapTree } from '../tree/traverse.js'
import { replaced, type Brought, type Spec } from './argument-signature.js'

export const CAPTURED = -1
const OWN = -2

/** A traced function for arguments of one kind. */
export interface Trace {
  readonly specs: readonly Spec[]
  readonly device: number
  readonly epoch: number
  readonly program: Compiled
  /** For each input: the number of a tensor that a call brings, or that it was captured (and must be alive), or is the trace's own. */
  readonly sources: Int32Array
  /** Numbers that calls bring. */
  readonly numbers: readonly TracedNumber[]
  /** What is done with them in each call, before the program runs. */
  readonly steps: readonly (() => void)[]
  /** Types of the outputs. */
  readonly types: readonly Type[]
  /** The result of a call, of its outputs. */
  readonly result: (outputs: readonly Tensor[]) => unknown
}

/**
 * Records what a function does with arguments of this kind. `settle` gives values to tensors recorded before that it uses; those
 * that stay without are computed by the program. `op` leads the messages of errors.
 */
export function traced(
  op: string,
  fn: (...args: never[]) => unknown,
  args: readonly unknown[],
  specs: readonly Spec[],
  { tensors, numbers: values }: Brought,
  device: number,
  settle: (constants: Tensor[]) => void
): Trace {
  const before = { ...limits }
  // Nothing runs while there are no values.
  limits.nodes = limits.depth = Infinity
  const start = lastCreated()
  // What is made inside is the trace's, and outlives the scope of the call.
  const scope = enter(OUTSIDE)
  const notes = { name: 'jit' as const, steps: [] as (() => void)[] }
  const numbers: TracedNumber[] = []
  const places = new Map<Tensor, number>()
  try {
    const inner = specs.map((spec, n) =>
      replaced(
        spec,
        args[n],
        (kind) => {
          if (kind === 'number') {
            const number = new TracedNumber(values[numbers.length] as number, notes)
            numbers.push(number)
            return number
          }
          const t = placeholder((tensors[places.size] as Tensor).type)
          places.set(t, places.size)
          return t
        },
        (instance, parts) => withChildren(op, instance, parts)
      )
    )
    const [roots, result] = during(notes, () => {
      const found = fn(...(inner as never[]))
      synchronous(op, found, 'what is traced is synchronous; await outside, around the call')
      return resultOf(op, found)
    })
    limits.nodes = before.nodes
    limits.depth = before.depth
    settle(olderThan(roots, start))
    const program = compile(roots)
    during(notes, () => program.numbers.forEach(([, number]) => number.checkTrace()))
    const sources = Int32Array.from(program.inputs, (x) => places.get(x) ?? constantOf(x))
    return { specs, device, epoch, program, sources, numbers, steps: notes.steps, types: roots.map(({ type }) => type), result }
  } finally {
    limits.nodes = before.nodes
    limits.depth = before.depth
    enter(scope)
  }
}

/** Whether a tensor that a trace uses as a constant is anybody else's. */
function constantOf(x: Tensor): number {
  if (x.handle === null) throw escaped('a tensor')
  if (!x.disposed) return CAPTURED
  // The function gave it up after it was used: nobody may free it but the collector, with the trace.
  x.uses++
  return OWN
}

/** What a function computes, each once, and how its result is made of that in a call. */
function resultOf(op: string, found: unknown): [roots: Tensor[], result: Trace['result']] {
  const roots: Tensor[] = []
  const places = new Map<Tensor, number>()
  // Walked once for its errors: trees that contain themselves, tensors in what is no tree.
  mapTree(
    found,
    (x) => {
      checkAlive(op, x)
      if (!places.has(x)) {
        places.set(x, roots.length)
        // An argument or a constant is handed on as another tensor, which may be disposed of alone.
        roots.push(x.handle !== null || x.signature === PLACEHOLDER ? valueOf(OP.custom, [x]) : x)
      }
      return x
    },
    `${op}: the result`
  )
  return [roots, builder(op, found, places)]
}

/** How a part of a result is made. */
function builder(op: string, part: unknown, places: ReadonlyMap<Tensor, number>): Trace['result'] {
  if (isTensor(part)) return output(places.get(part) as number)
  if (part instanceof TracedNumber) {
    part.checkTrace()
    return numberOf(part)
  }
  if (isRegistered(part)) return instance(op, part, builder(op, childrenOf(`${op}: the result`, part), places))
  if (Array.isArray(part)) return array(Array.from(part, (item: unknown) => builder(op, item, places)))
  if (isPlain(part)) return object(Object.keys(part), Object.values(part).map((item) => builder(op, item, places)))
  return constantly(part)
}

// Each on its own: closures of one function keep all that any of them uses, and a trace should not keep the tensors it was recorded with.

function output(at: number): Trace['result'] {
  return (outputs) => outputs[at]
}

function numberOf(number: TracedNumber): Trace['result'] {
  return () => number.value
}

function constantly(value: unknown): Trace['result'] {
  return () => value
}

function instance(op: string, like: object, parts: Trace['result']): Trace['result'] {
  return (outputs) => withChildren(`${op}: the result`, like, parts(outputs))
}

function array(items: readonly Trace['result'][]): Trace['result'] {
  return (outputs) => items.map((item) => item(outputs))
}

function object(keys: readonly string[], items: readonly Trace['result'][]): Trace['result'] {
  // Assigned, that name would be a prototype; entries take twice the time.
  if (keys.includes('__proto__')) return (outputs) => Object.fromEntries(keys.map((key, i) => [key, (items[i] as Trace['result'])(outputs)]))
  return (outputs) => {
    const made: Record<string, unknown> = {}
    for (let i = 0; i < keys.length; i++) made[keys[i] as string] = (items[i] as Trace['result'])(outputs)
    return made
  }
}

/** Tensors recorded before a trace that it uses, which are constants. */
function olderThan(roots: readonly Tensor[], start: number): Tensor[] {
  const older: Tensor[] = []
  const enter = (t: Tensor): boolean => {
    if (t.handle !== null || t.signature === PLACEHOLDER) return false
    if (t.seq > start) return true
    older.push(t)
    return false
  }
  walk(roots, enter, () => {})
  return older
}
