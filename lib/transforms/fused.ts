// Functions of tensors that the library runs as traced programs in plain code, forwards and back, or forwards alone: a step of a recurrent layer is
// some sixty recorded operations with its gradient, which take eight times as long to record and to write as to run.

import { backward, trace } from '../autodiff/backward.js'
import { flush } from '../execution/flush.js'
import { isDetecting, limits } from '../program/hooks.js'
import { inLevel, isTracked, openLevels } from '../program/lifetime.js'
import { constant, stepOf, variable } from '../program/markers.js'
import { enter, isPending, OUTSIDE } from '../program/node.js'
import { isTracing } from '../program/placeholder.js'
import type { Tensor } from '../tensor/tensor.js'
import { tracedCalls } from './jit.js'

/** A function of tensors, some of which may be left out, and of what else it depends on. */
export type Fused = (fixed: unknown, ...args: readonly (Tensor | undefined)[]) => Tensor

/** Whether a fused function would run at once: not where each operation is looked at, traced, or has gradients of gradients. */
export const isRunAtOnce = (): boolean => !isTracing() && !isDetecting() && limits.nodes > 0 && openLevels() < 2

/** Gives tensors their values where what is derived of them is about to run at once: they would be computed again for their next reader. */
export function settle(tensors: readonly Tensor[]): void {
  const pending = isRunAtOnce() ? tensors.filter(isPending) : []
  if (pending.length > 0) flush(pending, false)
}

/**
 * The same function, run at once as {@link fused} where no gradient may be taken of it, and recorded elsewhere: for what takes longer to compute
 * again than to record.
 */
export function fusedForwards(fn: Fused): Fused {
  const forwards = tracedCalls(fn as (...args: never[]) => unknown, [], [], false) as unknown as Fused
  return (fixed, ...args) => {
    const given = args.filter((x) => x !== undefined)
    return isRunAtOnce() && new Set(given).size === given.length && !given.some(isTracked) ? forwards(fixed, ...args) : fn(fixed, ...args)
  }
}

type Sums = readonly (Tensor | undefined)[]

/**
 * The same function. In plain code, and inside of one level of gradients, it is run at once, as a program that is recorded for each kind of
 * arguments; the way back computes it again, and adds to the cotangents that the arguments have from elsewhere, in the order in which what
 * is recorded would: the bits are the same. Where more has to be seen of it (traces, gradients of gradients, `detectNaN`) it is recorded.
 */
export function fused(fn: Fused): Fused {
  const forwards = tracedCalls(fn as (...args: never[]) => unknown, [], [], false) as unknown as Fused
  const back = (fixed: unknown, args: Sums, cotangent: Tensor, before: Sums): Sums =>
    inLevel((level) => {
      const inner = args.map((x) => x && variable(x, level))
      const variables = inner.filter((x) => x !== undefined)
      const result = fn(fixed, ...inner)
      const found = backward(trace([result], new Set(variables), level), [result], [cotangent], variables, level, before.filter((_, i) => args[i] !== undefined))
      return args.map((x) => x && found.shift())
    })
  const backwards = tracedCalls(back as (...args: never[]) => unknown, [], [], false) as unknown as typeof back

  return (fixed, ...args) => {
    const given = args.filter((x) => x !== undefined)
    if (!isRunAtOnce() || new Set(given).size < given.length) return fn(fixed, ...args)
    if (!given.some(isTracked)) return forwards(fixed, ...args)
    // Of their own: whoever disposes of arguments, or leaves a scope, leaves them to the way back.
    const scope = enter(OUTSIDE)
    try {
      const own = args.map((x) => x && constant(x))
      flush([...given, ...own.filter((x) => x !== undefined)].filter(isPending), false)
      const value = forwards(fixed, ...own)
      return stepOf(
        value,
        given,
        (cotangent, before) => {
          const outer = enter(OUTSIDE)
          try {
            const sums = args.map((x) => x && before.get(x))
            return backwards(fixed, own, cotangent, sums).filter((_, i) => args[i] !== undefined)
          } finally {
            enter(outer)
          }
        },
        () => fn(fixed, ...args)
      )
    } finally {
      enter(scope)
    }
  }
}
