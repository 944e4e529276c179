// What tests of values share: comparing nested results, and naming the error a call must throw.

import type { ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'

/** Whether two nested results agree within a relative and absolute 1e-5; null stands for NaN. */
export function close(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length === expected.length && expected.every((item, i) => close(actual[i], item))
  }
  if (expected === null) return Number.isNaN(actual)
  if (typeof expected === 'object') {
    const [a, e] = [actual as ft.Complex, expected as ft.Complex]
    return close(a.re, e.re) && close(a.im, e.im)
  }
  if (typeof expected !== 'number' || typeof actual !== 'number') return Object.is(actual, expected)
  return actual === expected || Object.is(actual, expected) || Math.abs(actual - expected) <= 1e-5 * Math.max(1, Math.abs(expected))
}

/** Evaluates a TypeScript expression (which must be JavaScript too) on the package. */
export function evaluate(code: string): unknown {
  return new Function('ft', `return (${code})`)(ft)
}

/** The error of this package that a call must throw; ava wants a class it could construct. */
export function failure(t: ExecutionContext, call: () => unknown, about = String(call)): ft.TensorError {
  const error: unknown = t.throws(call, { any: true }, about)
  if (!(error instanceof ft.TensorError)) throw new TypeError(`${about} threw ${String(error)}`)
  return error
}

/** Asserts that a call throws a `TensorError` of this code whose message matches. */
export function throws(t: ExecutionContext, code: string, message: RegExp, call: () => unknown, about = String(call)): void {
  const error = failure(t, call, about)
  t.is(error.code, code, `${about}: ${error.message}`)
  t.regex(error.message, message, about)
}
