// Parts of a function that gradients are taken of, in which none is.

import { callable, synchronous } from '../arguments/functions.js'
import { withConstants } from '../program/lifetime.js'

/**
 * Calls a function and returns its result; gradients take what is computed in it for constants, and nothing is kept for them. What the function uses
 * keeps its own gradient elsewhere, and calls of `grad` inside have theirs. Outside of gradients it is the call alone: nothing is prepared there.
 *
 * PyTorch `no_grad`. Of one tensor: {@link stopGradient}.
 *
 * @throws {ArgumentError} for anything but a function, and for one that returns a promise: what it does later would not be constant.
 * @example
 * ```ts
 * ft.grad((x) => ft.noGrad(() => x.mul(2)).mul(x).sum())(ft.tensor([1, 3])) // [2, 6]
 * ```
 */
export function noGrad<R>(fn: () => R): R {
  const name = 'noGrad'
  callable(name, fn)
  const result = withConstants(fn)
  synchronous(name, result, 'call noGrad inside of it, around what is computed')
  return result
}
