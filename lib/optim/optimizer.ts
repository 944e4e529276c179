// What all optimisers have in common: a step over a tree of parameters, and what it is told.

import { checkOptions } from '../arguments/options.js'
import { zerosLike } from '../arrays/create-like.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { isHalf } from '../program/half.js'
import { bundle } from '../program/markers.js'
import { checkAlive } from '../program/node.js'
import { computed } from '../program/placeholder.js'
import type { Tensor } from '../tensor/tensor.js'
import { alike, leaves, mapTree, sameDType, sameType } from '../tree/traverse.js'

/** A number, or a number for each step, counted from 0. */
export type Schedule = number | ((step: number) => number)

/** What an optimiser keeps from step to step: a tree like any other, to be saved and restored. Of half floats it is float32. */
export interface OptimizerState<P = unknown> {
  /** Steps taken. */
  readonly count: number
  /** Running averages and the like: for each name a tree of the parameters' structure. */
  readonly slots: { readonly [name: string]: P }
}

/** A rule that turns parameters and gradients into new parameters. Nothing is changed in place. */
export interface Optimizer {
  /** The state before the first step. */
  init<P>(params: P): OptimizerState<P>
  /**
   * New parameters and the new state. Everything is recorded, and runs as one program with the gradients when any of it is read.
   *
   * @throws {TensorError} `ERR_ARGUMENT` for trees of different structure, `ERR_SHAPE`, `ERR_DTYPE` and `ERR_DISPOSED` for their tensors.
   */
  step<P>(params: P, gradients: P, state: OptimizerState<P>): [params: P, state: OptimizerState<P>]
}

/** One tensor's step: parameter, gradient, slots and the step's numbers to the new parameter and slots. */
export type Rule<N> = (p: Tensor, g: Tensor, slots: readonly Tensor[], numbers: N) => readonly [Tensor, ...Tensor[]]

/**
 * The numbers of a step that rules multiply by, from the learning rate and the step's number, which counts from 1. They are computed apart:
 * in a function that `jit` traces they are others in each call.
 */
export type Numbers<N> = (rate: number, count: number) => N

/** A slot: its name, and what it is before the first step. */
export type Slot = readonly [name: string, start: (p: Tensor) => Tensor]

/** Half floats take steps in float32, and are rounded once: a square of 1e-4 is 0 in float16, and so is an epsilon of 1e-8. */
function wide(x: Tensor): Tensor {
  return isHalf(x.dtype) ? x.astype('float32') : x
}

/** A slot of zeros of the parameter's shape. */
export function zeros(name: string): Slot {
  return [name, (p) => zerosLike(p)]
}

/** An optimiser from what it does with one tensor. */
export function optimizer<const N extends readonly number[]>(name: string, schedule: Schedule, slots: readonly Slot[], numbersOf: Numbers<N>, rule: Rule<N>): Optimizer {
  const stepped = (count: unknown): readonly number[] => {
    if (!Number.isSafeInteger(count)) throw new ArgumentError(`${name}: the state must come from init or from the last step, its count is ${shown(count)}`)
    const n = count as number
    return [n + 1, ...numbersOf(typeof schedule === 'function' ? rateAt(name, schedule, n) : schedule, n + 1)]
  }

  const parameters = (params: unknown): Tensor[] => {
    const found = leaves(params, `${name}: the parameters`)
    for (const p of found) {
      checkAlive(name, p)
      if (p.type.row.kind !== 'float') throw new DTypeError(`${name}: parameters are floating tensors, got ${p.dtype}`)
    }
    return found
  }
  return {
    init<P>(params: P): OptimizerState<P> {
      parameters(params)
      return { count: 0, slots: Object.fromEntries(slots.map(([slot, start]) => [slot, mapTree(params, (p) => start(wide(p))) as P])) }
    },
    step<P>(params: P, gradients: P, state: OptimizerState<P>): [P, OptimizerState<P>] {
      const own = parameters(params).map(wide)
      const given = alike(`${name}: the gradients`, params, gradients, sameType) as Tensor[]
      if (typeof state !== 'object' || state === null || typeof state.slots !== 'object' || state.slots === null) {
        throw new ArgumentError(`${name}: the state must come from init or from the last step, got ${shown(state)}`)
      }
      // Averages may be of other shapes than parameters are.
      const kept = slots.map(([slot]) => alike(`${name}: the state's ${slot}`, params, state.slots[slot], (where, p, x) => sameDType(where, wide(p), x)) as Tensor[])
      const [count, ...rates] = computed([state.count], stepped) as unknown as readonly [number, ...N]
      const results = own.map((p, i) => {
        const gradient = given[i] as Tensor
        const [next, ...slots] = rule(p, wide(gradient), kept.map((tree) => tree[i] as Tensor), rates)
        return [next.astype(gradient.dtype), ...slots] as const
      })
      bundle(results.flat())
      const tree = (n: number): P => {
        let next = 0
        return mapTree(params, () => (results[next++] as readonly Tensor[])[n]) as P
      }
      return [tree(0), { count, slots: Object.fromEntries(slots.map(([slot], n) => [slot, tree(n + 1)])) }]
    }
  }
}

function rateAt(name: string, schedule: (step: number) => number, step: number): number {
  const rate: unknown = schedule(step)
  if (typeof rate === 'number' && Number.isFinite(rate)) return rate
  throw new ArgumentError(`${name}: the schedule gave ${shown(rate)} at step ${step}; it must give a number`)
}

/** The numbers an optimiser is made with, checked: defaults where nothing is said, and the range each must lie in. */
export function numbers<T extends { readonly [name: string]: readonly [fallback: number, least: number, below: number] }>(
  name: string,
  options: object,
  wanted: T,
  flags: readonly string[] = []
): { [K in keyof T]: number } {
  checkOptions(name, options, ['learningRate', ...Object.keys(wanted), ...flags])
  const given = options as Record<string, unknown>
  const found = Object.entries(wanted).map(([option, [fallback, least, below]]) => {
    const value = given[option] ?? fallback
    if (typeof value !== 'number' || !(value >= least && value < below)) {
      const range = below === Infinity ? `a number from ${least}` : `a number from ${least} to below ${below}`
      throw new ArgumentError(`${name}: '${option}' must be ${range}, got ${shown(value)}`)
    }
    return [option, value] as const
  })
  return Object.fromEntries(found) as { [K in keyof T]: number }
}

/** The learning rate: a number that is not negative, or a schedule. */
export function learningRate(name: string, options: { readonly learningRate?: Schedule | undefined }, fallback: number): Schedule {
  const value: unknown = options.learningRate ?? fallback
  if (typeof value === 'function' || (typeof value === 'number' && value >= 0 && Number.isFinite(value))) return value as Schedule
  throw new ArgumentError(`${name}: 'learningRate' must be a number from 0 or a function of the step, got ${shown(value)}`)
}
