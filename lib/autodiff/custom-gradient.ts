// Gradients of the caller's making, and gradients that compute again instead of keeping.

import { callable } from '../arguments/functions.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { barrier, recomputed, withGradient } from '../program/markers.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { alike, leaves, mapTree, sameType } from '../tree/traverse.js'

/** The tensors of arguments. */
function tensorsOf(name: string, args: readonly unknown[]): Tensor[] {
  return args.flatMap((arg, n) => leaves(arg, `${name}: argument ${n}`))
}

/**
 * A function whose gradient is what the caller says: `fn` returns its value, a tensor, and a function from the value's cotangent to those of
 * `fn`'s arguments, an array with one for each, of its structure; `null` stands for none, of an argument or a tensor in it. What the value
 * depends on has to be an argument.
 *
 * @throws {ArgumentError} when what `fn`, or its second result, returns is something else.
 * @example
 * ```ts
 * ft.grad((x) => ft.customGradient((x) => [x.round(), (g) => [g]])(x).sum())(ft.tensor([0.4, 1.6])) // [1, 1]
 * ```
 */
export function customGradient(fn: (...args: Tensor[]) => readonly [Tensor, (cotangent: Tensor) => readonly (Tensor | null)[]]): (...args: Tensor[]) => Tensor
export function customGradient<A extends unknown[], R extends Tensor>(fn: (...args: A) => readonly [R, (cotangent: R) => readonly unknown[]]): (...args: A) => R
export function customGradient(fn: (...args: never[]) => unknown): (...args: never[]) => Tensor {
  const name = 'customGradient'
  callable(name, fn)
  return (...args) => {
    const made: unknown = fn(...args)
    if (!Array.isArray(made) || !isTensor(made[0]) || typeof made[1] !== 'function') {
      throw new ArgumentError(`${name}: the function must return [value, (cotangent) => [...]], got ${shown(made)}`)
    }
    const [value, back] = made as [Tensor, (cotangent: Tensor) => unknown]
    checkAlive(name, value)
    const pull = (cotangent: Tensor): (Tensor | undefined)[] => {
      const given = back(cotangent)
      if (!Array.isArray(given) || given.length !== args.length) throw new ArgumentError(`${name}: the gradient must be an array of ${args.length}, got ${shown(given)}`)
      return args.flatMap((arg, n) => alike(`${name}: the gradient of argument ${n}`, arg, given[n], sameType, null))
    }
    return withGradient(value, tensorsOf(name, args), pull)
  }
}

/**
 * The same function, of which gradients keep the arguments alone: what is inside is computed again on the way back. A network of n layers in
 * segments of sqrt(n) keeps about sqrt(n) values, at the price of one more pass (Chen et al., "Training deep nets with sublinear memory
 * cost", 2016). `fn` returns a tensor, and is called twice.
 *
 * @throws {ArgumentError} when `fn` returns anything but a tensor.
 */
export function checkpoint<A extends unknown[], R extends Tensor>(fn: (...args: A) => R): (...args: A) => R {
  const name = 'checkpoint'
  callable(name, fn)
  return (...args) => {
    const value: unknown = fn(...args)
    if (!isTensor(value)) throw new ArgumentError(`${name}: the function must return a tensor, got ${shown(value)}`)
    checkAlive(name, value)
    const again = (): Tensor => fn(...(args.map((arg) => mapTree(arg, barrier)) as A))
    return recomputed(value, tensorsOf(name, args), again) as R
  }
}
