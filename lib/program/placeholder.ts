// What stands for values while `ft.jit` traces a function, and `ft.vmap` one for all positions: tensors without a value, and numbers that are
// another in each call.

import { ArgumentError } from '../errors.js'
import { DESCRIPTION } from '../errors/describe-value.js'
import { Signature } from './types.js'

/** The signature of a tensor that stands for an argument: it is computed by nothing. */
export const PLACEHOLDER = new Signature(0, 0, null)

/** What a trace notes besides the operations: what each later call has to do with its numbers, in order. */
export interface Notes {
  /** Who traces. */
  readonly name: 'jit' | 'vmap'
  readonly steps: (() => void)[]
}

/** The trace that is going on. */
let notes: Notes | null = null

/** Whether a function is being traced, or called for all positions. */
export function isTracing(): boolean {
  return notes !== null
}

/** Whether it is `vmap` that a function is called for. */
export function isMapping(): boolean {
  return notes?.name === 'vmap'
}

/** Calls a function whose operations are those of a trace. */
export function during<T>(trace: Notes, f: () => T): T {
  const before = notes
  notes = trace
  try {
    return f()
  } finally {
    notes = before
  }
}

const errors = new WeakSet<object>()

/** The error of code that needs a value while it is traced. */
export function noValue(what: string): ArgumentError {
  const error = new ArgumentError(
    isMapping()
      ? `vmap: ${what} has no value of its own while the function is called: it stands for all positions. Use ft.where for a choice by values, and return what is to be read`
      : `jit: ${what} has no value while the function is traced: the operations are recorded once, and run with the values of each call. ` +
          "Use ft.where for a choice by values, return what is to be read, or name the argument in 'static'"
  )
  errors.add(error)
  return error
}

/** Whether an error is that of a missing value. */
export function isNoValue(error: unknown): boolean {
  return typeof error === 'object' && error !== null && errors.has(error)
}

/** The error of what stands for arguments of one trace, and is used by another or by none. */
export function escaped(what: string): ArgumentError {
  return new ArgumentError(`jit: ${what} escaped from the function that was traced with it, and is no value outside; return what is needed from that function`)
}

/** A number that is another in each call. It stands where an operation takes a number beside a tensor, or a run-time option. */
export class TracedNumber {
  /** That of the present call. */
  value: number
  /** The trace it belongs to. */
  readonly #trace: Notes

  constructor(value: number, trace: Notes) {
    this.value = value
    this.#trace = trace
  }

  /**
   * That it belongs to the trace that is going on: left from another it would be whatever that one's last call brought.
   *
   * @throws {ArgumentError} if it does not.
   */
  checkTrace(): void {
    if (this.#trace !== notes) throw escaped('a number')
  }

  /** Has each call's number checked; the present one at once. */
  check(test: (value: number) => void): void {
    this.checkTrace()
    test(this.value)
    this.#trace.steps.push(() => test(this.value))
  }

  get [DESCRIPTION](): string {
    return "a number that jit traces, which no shape or choice can depend on; name its argument in 'static'"
  }

  [Symbol.toPrimitive](): never {
    throw noValue('a number that was passed as an argument')
  }

  /** JSON would have the first call's. */
  toJSON(): never {
    throw noValue('a number that was passed as an argument')
  }
}

/**
 * Numbers computed from numbers, each of which may be traced: then in each call again. What stands in the result's place must be as long
 * each time.
 */
export function computed(given: readonly unknown[], f: (...values: never[]) => readonly number[]): readonly number[] {
  const values = (): never[] => given.map((n) => (n instanceof TracedNumber ? n.value : n)) as never[]
  const traced = given.filter((n) => n instanceof TracedNumber)
  for (const n of traced) n.checkTrace()
  const first = f(...values())
  const trace = notes
  if (trace === null || traced.length === 0) return first
  const made = first.map((value) => new TracedNumber(value, trace))
  trace.steps.push(() => {
    f(...values()).forEach((value, i) => ((made[i] as TracedNumber).value = value))
  })
  return made as unknown as readonly number[]
}
