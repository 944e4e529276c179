// `ft.jit`: a function is traced once for each kind of arguments, and its program run with the values of each call.

import { callable } from '../arguments/functions.js'
import { checkOptions } from '../arguments/options.js'
import { deviceNumber } from '../devices/devices.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { flush } from '../execution/flush.js'
import { refuse } from '../execution/run.js'
import { submit } from '../execution/submit.js'
import { FLAGS, HEADER, SCOPE, STATUS } from '../generated/protocol.js'
import { handles, ints, native, params, reserve } from '../native.js'
import { isDetecting } from '../program/hooks.js'
import { openLevels } from '../program/lifetime.js'
import { checkAlive, createTensor, owner } from '../program/node.js'
import { isTracing, type TracedNumber } from '../program/placeholder.js'
import { epoch } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import { leaves } from '../tree/traverse.js'
import { difference, matches, specOf, specOfStatic, type Brought, type Spec } from './argument-signature.js'
import { CAPTURED, traced, type Trace } from './trace.js'

/** Options of `jit`. */
export interface JitOptions {
  /**
   * Numbers of arguments that the trace depends on by value, those in arrays and plain objects too: each new value is traced anew. Booleans,
   * texts and functions are so anyway.
   */
  readonly static?: number | readonly number[] | undefined
  /** Numbers of arguments that are given up: their tensors are disposed of by each call, and their memory is free for what comes next. */
  readonly donate?: number | readonly number[] | undefined
}

/** How often functions were traced. */
export interface Traces {
  /** Traces made. */
  readonly traces: number
  /** Those made because a function was called with arguments of another kind: the function, and what was different. */
  readonly retraces: readonly { readonly name: string; readonly reason: string; readonly count: number }[]
}

let made = 0
let again = new Map<string, { name: string; reason: string; count: number }>()

/** How often functions were traced since the last call with `reset`. */
export function traces(reset = false): Traces {
  const found = { traces: made, retraces: [...again.values()].map((retrace) => ({ ...retrace })) }
  if (reset) {
    made = 0
    again = new Map()
  }
  return found
}

/** Reasons that are told apart; a function called with ever new shapes has as many. */
const MOST_REASONS = 256

function count(name: string, reason: string): void {
  const key = `${name}: ${reason}`
  const known = again.get(key)
  if (known !== undefined) known.count++
  else if (again.size < MOST_REASONS) again.set(key, { name, reason, count: 1 })
}

/** Traces kept for each function: beyond, those used longest ago go. */
const MOST_TRACES = 64

/** Arguments of a call; an option that names more names none. */
const MOST_ARGUMENTS = 1000

/** The numbers of arguments that an option names. */
function positions(option: string, given: unknown): readonly number[] {
  // An array's length may be that of nothing but holes.
  const list: readonly unknown[] = given === undefined ? [] : Array.isArray(given) && given.length <= MOST_ARGUMENTS ? given : [given]
  return list.map((n) => {
    if (typeof n !== 'number' || !Number.isSafeInteger(n) || n < 0) throw new ArgumentError(`jit: '${option}' must be the number of an argument or an array of such, got ${shown(given)}`)
    return n
  })
}

/** Whether any is tracked or traced, so that its operations must be seen by whoever does. */
export const isInline = (): boolean => isTracing() || openLevels() > 0 || isDetecting()

/**
 * A function that computes what `fn` does, with its operations recorded once for each kind of arguments: structure, dtypes, shapes, devices,
 * and values that are neither tensors nor numbers. Further calls run the recorded program at once, with their own tensors and numbers. `fn`
 * takes and returns trees of tensors and numbers; it must not depend on anything that changes: captured tensors are constants, and so is
 * all that is computed without the arguments. JAX `jit`.
 *
 * While `fn` is traced its tensors have no values: reads throw, and so does arithmetic on numbers that were passed (`1 - rate`); comparing
 * those (`step > 0`) throws too, but `if (step)` and `step === 0` cannot. Name such arguments in `static`. Inside of `grad`, of another `jit`
 * and of `detectNaN` the function runs as it is.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for anything but a function, and at a call: for values that are needed while it is traced, promises, and
 * captured random generators; else what `fn` throws.
 * @example
 * ```ts
 * ft.jit((x, y) => x.mul(y).add(1))(ft.tensor([1, 2]), ft.tensor(10)) // [11, 21]
 * ```
 */
export function jit<R>(fn: (...args: Tensor[]) => R, options?: JitOptions): (...args: Tensor[]) => R
export function jit<F extends (...args: never[]) => unknown>(fn: F, options?: JitOptions): F
export function jit(fn: (...args: never[]) => unknown, options: JitOptions = {}): (...args: never[]) => unknown {
  callable('jit', fn)
  const o = checkOptions('jit', options, ['static', 'donate']) as JitOptions
  const statics = positions('static', o.static)
  const donated = positions('donate', o.donate)
  const common = statics.find((n) => donated.includes(n))
  if (common !== undefined) throw new ArgumentError(`jit: argument ${common} is named in 'static' and in 'donate'`)
  const run = tracedCalls(fn, statics, donated, true)
  const call = (...args: never[]): unknown => (isInline() ? fn(...args) : run(...args))
  Object.defineProperty(call, 'name', { value: fn.name, configurable: true })
  return call
}

/**
 * Calls of a function through traces of it, whatever is open. Without `own` they are the library's: not counted, and of tensors that
 * somebody may have given up meanwhile.
 */
export function tracedCalls(fn: (...args: never[]) => unknown, statics: readonly number[], donated: readonly number[], own: boolean): (...args: never[]) => unknown {
  const name = fn.name === '' ? 'a function' : fn.name
  /** The last used first. */
  let known: Trace[] = []
  return (...args: never[]): unknown => {
    const device = deviceNumber('jit', undefined)
    for (let i = 0; i < known.length; i++) {
      const trace = known[i] as Trace
      if (trace.epoch !== epoch || trace.device !== device || trace.specs.length !== args.length) continue
      const brought: Brought = { tensors: [], numbers: [] }
      if (!args.every((arg, n) => matches(trace.specs[n] as Spec, arg, brought))) continue
      compute(brought.tensors)
      brought.numbers.forEach((value, at) => ((trace.numbers[at] as TracedNumber).value = value))
      for (const step of trace.steps) step()
      // A schedule may have made an end of the tables that the program's words are of.
      if (trace.epoch !== epoch) break
      if (i > 0) known = [trace, ...known.filter((other) => other !== trace)]
      return run(trace, brought.tensors, args, donated)
    }
    // Trees that contain themselves are refused here.
    args.forEach((arg, n) => {
      if (own && !statics.includes(n)) for (const x of leaves(arg, `jit: argument ${n}`)) checkAlive('jit', x)
    })
    const specs = args.map((arg, n) => (statics.includes(n) ? specOfStatic(arg) : specOf(arg)))
    // Before the function is called, which may change what it was given, as a getter may.
    const brought: Brought = { tensors: [], numbers: [] }
    const odd = args.findIndex((arg, n) => !matches(specs[n] as Spec, arg, brought))
    if (odd >= 0) throw new ArgumentError(`jit: argument ${odd} is another each time it is looked at`)
    compute(brought.tensors)
    const trace = traced('jit', fn, args, specs, brought, device, (constants) => flush(constants, false))
    if (own) {
      made++
      const last = known[0]
      if (last !== undefined) count(name, reasonFor(last, trace))
    }
    known = [trace, ...known.filter((other) => other.epoch === epoch)].slice(0, MOST_TRACES)
    return run(trace, brought.tensors, args, donated)
  }
}

/** Why a trace was made although there was one. */
function reasonFor(last: Trace, now: Trace): string {
  if (last.specs.length !== now.specs.length) return `${last.specs.length} arguments before, and ${now.specs.length} now`
  for (let n = 0; n < now.specs.length; n++) {
    const found = difference(last.specs[n] as Spec, now.specs[n] as Spec, `argument ${n}`)
    if (found !== undefined) return found
  }
  return last.device === now.device ? 'the tables of types were full and started anew' : 'the default device is another'
}

/** Gives a call's tensors their values. Before a trace is taken: what a long expression is cut by may end an epoch. */
function compute(tensors: readonly Tensor[]): void {
  const pending = tensors.filter((t) => t.handle === null)
  if (pending.length > 0) flush(pending, false)
}

/** Runs a trace with the tensors that a call brings; its numbers are set. */
function run(trace: Trace, tensors: readonly Tensor[], args: readonly unknown[], donated: readonly number[]): unknown {
  const outputs = trace.types.length === 0 ? [] : outputsOf(trace, tensors)
  for (const n of donated) for (const x of leaves(args[n])) x.dispose()
  return trace.result(outputs)
}

function outputsOf({ program, sources, types }: Trace, tensors: readonly Tensor[]): Tensor[] {
  const outputs = types.map((type) => createTensor(type, null, null, null, null, null))
  const attempt = (flags: number): number => {
    const { words, params: own, inputs } = program
    reserve(words.length - HEADER, own.length, Math.max(inputs.length, types.length))
    ints.set(words)
    params.set(own)
    for (const [at, number] of program.numbers) params[at] = number.value
    for (let i = 0; i < inputs.length; i++) {
      const source = sources[i] as number
      const x = source < 0 ? (inputs[i] as Tensor) : (tensors[source] as Tensor)
      if (source === CAPTURED) checkAlive('jit: a captured tensor', x)
      handles[i] = x.handle as number
    }
    ints[FLAGS] = flags
    ints[SCOPE] = owner.id
    if (native.run(outputs.length === 1 ? (outputs[0] as Tensor) : outputs) === 0) {
      refuse(params[0] as number)
      return -1
    }
    for (let i = 0; i < outputs.length; i++) (outputs[i] as Tensor).handle = handles[i] as number
    return ints[STATUS] as number
  }
  submit(() => 'jit', outputs, attempt)
  return outputs
}
