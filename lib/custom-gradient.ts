// Gradients of the caller's making, and gradients that compute again instead of keeping.

import { shown } from './call.js'
import { ArgumentError } from './errors.js'
import { pullback } from './gradient.js'
import { alike, leaves, mapTree } from './pytree.js'
import { again, withGradient } from './tape.js'
import { Tensor } from './tensor.js'

/**
 * A function whose gradient is what the caller says: `fn` returns its value, a tensor, and a function from the value's cotangent to those of
 * `fn`'s arguments, an array with one for each, of its structure (`null` for none).
 *
 * @example a straight-through estimator
 * const round = ft.customGradient((x) => [x.round(), (g) => [g]])
 *
 * @throws {ArgumentError} when what `fn`, or its second result, returns is something else.
 */
export function customGradient<A extends unknown[], R extends Tensor>(fn: (...args: A) => [R, (cotangent: R) => readonly unknown[]]): (...args: A) => R {
  const name = 'customGradient'
  if (typeof fn !== 'function') throw new ArgumentError(`${name}: expected a function, got ${shown(fn)}`)
  return (...args) => {
    const made: unknown = fn(...args)
    if (!Array.isArray(made) || !(made[0] instanceof Tensor) || typeof made[1] !== 'function') {
      throw new ArgumentError(`${name}: the function must return [value, (cotangent) => [...]], got ${shown(made)}`)
    }
    const [value, back] = made as [R, (cotangent: R) => unknown]
    const pull = (cotangent: Tensor): (Tensor | undefined)[] => {
      const given = back(cotangent as R)
      if (!Array.isArray(given) || given.length !== args.length) throw new ArgumentError(`${name}: the gradient must be an array of ${args.length}, got ${shown(given)}`)
      return args.flatMap((arg, n) => cotangentsOf(`${name}: the gradient of argument ${n}`, arg, given[n]))
    }
    return withGradient(value, args.flatMap(leaves), pull) as R
  }
}

/** A cotangent for each tensor of an argument; none for `null`. */
function cotangentsOf(name: string, arg: unknown, given: unknown): (Tensor | undefined)[] {
  if (given === null || given === undefined) return leaves(arg).map(() => undefined)
  const found = alike(name, arg, given)
  leaves(arg).forEach((x, i) => {
    const g = found[i] as Tensor
    if (g.dtype !== x.dtype || g.shape.join() !== x.shape.join()) {
      throw new ArgumentError(`${name} must be ${x.dtype} of shape [${x.shape.join(', ')}], got ${g.dtype} of shape [${g.shape.join(', ')}]`)
    }
  })
  return found
}

/**
 * The same function, of which gradients keep the arguments alone: what is inside is computed again on the way back. A network of n layers in
 * segments of sqrt(n) keeps about sqrt(n) values, at the price of one more pass (Chen et al., "Training deep nets with sublinear memory
 * cost", 2016). `fn` returns a tensor, and is called twice.
 *
 * @throws {TensorError} as `vjp`.
 */
export function checkpoint<A extends unknown[], R extends Tensor>(fn: (...args: A) => R): (...args: A) => R {
  const name = 'checkpoint'
  if (typeof fn !== 'function') throw new ArgumentError(`${name}: expected a function, got ${shown(fn)}`)
  return (...args) => {
    const value = fn(...args)
    if (!(value instanceof Tensor)) throw new ArgumentError(`${name}: the function must return a tensor, got ${shown(value)}`)
    const pull = (cotangent: Tensor): (Tensor | undefined)[] => pullback(name, fn, args.map((arg) => mapTree(arg, again)) as A, cotangent)
    return withGradient(value, args.flatMap(leaves), pull) as R
  }
}
