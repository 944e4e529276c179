// Scopes: what was made inside is freed at the end, but for what is returned.

import { ArgumentError } from '../errors.js'
import { native } from '../native.js'
import { keptCount, outliveScope } from '../program/lifetime.js'
import { checkAlive, enter, isTensor, type Owner } from '../program/node.js'
import { isTracing } from '../program/placeholder.js'
import { isPromise } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { tensorsIn } from '../tree/traverse.js'
import { evaluateSync } from '../values/read.js'

let scopes = 0

/**
 * Calls a synchronous function and frees every tensor made in it, but for those it returns (alone, or in arrays, plain
 * objects and instances of classes that `tree.register` knows), which are evaluated. Using another one afterwards throws
 * `DisposedError`. A loop inside stays bounded: the scope does not keep tensors alive.
 *
 * @throws {ArgumentError} when the function returns a promise; use `scopeAsync`.
 */
export function scope<T>(fn: () => T): T {
  if (typeof fn !== 'function') throw new ArgumentError('scope: expected a function')
  // What is traced has no memory to free.
  if (isTracing()) return fn()
  const inner: Owner = { id: ++scopes, closed: false }
  const outer = enter(inner)
  const since = keptCount()
  try {
    const result = fn()
    if (isPromise(result)) {
      // Nobody will wait for it.
      result.catch(() => {})
      throw new ArgumentError('scope: the function returned a promise; use scopeAsync')
    }
    const kept = [...tensorsIn('scope', result)].filter((t) => t.owner === inner)
    evaluateSync(...kept)
    for (const t of kept) {
      t.owner = outer
      native.adopt(t.handle as number, outer.id)
    }
    return result
  } finally {
    enter(outer)
    outliveScope(inner, since)
    inner.closed = true
    native.closeScope(inner.id)
  }
}

/** What `scopeAsync` hands to its function. */
export interface AsyncScope {
  /** Has a tensor freed at the end of the scope unless it is returned. */
  track<T extends Tensor>(tensor: T): T
}

/**
 * Calls an asynchronous function and disposes, when it is done, of the tensors that went through `track`, but for those it
 * returns.
 */
export async function scopeAsync<T>(fn: (scope: AsyncScope) => Promise<T>): Promise<T> {
  if (typeof fn !== 'function') throw new ArgumentError('scopeAsync: expected a function')
  const tracked = new Set<Tensor>()
  const track = <X extends Tensor>(tensor: X): X => {
    if (!isTensor(tensor)) throw new ArgumentError('scopeAsync: track takes a tensor')
    checkAlive('scopeAsync', tensor)
    tracked.add(tensor)
    return tensor
  }
  let kept = new Set<Tensor>()
  try {
    const result = await fn({ track })
    kept = tensorsIn('scopeAsync', result)
    return result
  } finally {
    for (const t of tracked) if (!kept.has(t)) t.dispose()
  }
}
