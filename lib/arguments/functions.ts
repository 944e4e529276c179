// Functions of the caller's, checked, and what they returned.

import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { isPromise } from '../realm.js'

/** That a function is one. */
export function callable(name: string, fn: unknown): void {
  if (typeof fn !== 'function') throw new ArgumentError(`${name}: expected a function, got ${shown(fn)}`)
}

/** That a function of the caller's returned no promise; `hint` says what it may do instead of waiting. */
export function synchronous(name: string, result: unknown, hint: string): void {
  if (!isPromise(result)) return
  // Nobody will wait for it.
  result.catch(() => {})
  throw new ArgumentError(`${name}: the function returned a promise; ${hint}`)
}
