// Errors of functions that are made of others.

import { TensorError } from '../errors.js'

/** Runs the body of a function that is made of others. Their errors name the one that was called: its user never called the others. */
export function within<T>(op: string, body: () => T): T {
  try {
    return body()
  } catch (error) {
    if (!(error instanceof TensorError) || error.message.startsWith(`${op}: `)) throw error
    const named = new (error.constructor as new (message: string) => TensorError)(error.message.replace(/^[a-z][\w.]*: /, `${op}: `))
    if (error.cause !== undefined) Object.defineProperty(named, 'cause', { value: error.cause, writable: true, configurable: true })
    throw named
  }
}
