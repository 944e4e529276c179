// Sorting on a linear array: odd-even transposition.

import { checkOptions, within } from '../call.js'
import { array } from './array.js'
import { run } from './clock.js'
import type { Element } from './element.js'
import type { Values } from './lines.js'
import { vectorGiven, type Vector } from './matrix.js'
import { checkSteps, runOn, RUN_ON, type RunOn } from './ready.js'

/** Whether two numbers are in the wrong order; NaN is behind all others. */
const wrong = (left: number, right: number): boolean => left > right || (Number.isNaN(left) && !Number.isNaN(right))

/** Holds a number, which both neighbours are told; in every other tick it compares with the one to the east, else with the one to the west. */
const CELL: Element<number> = {
  init: ({ value }: { readonly value: number }) => value,
  step(held, { west, east }, { coord: [, col], tick }) {
    // In tick 0 nobody has been told anything.
    const eastward = ((col as number) + tick) % 2 === 1
    const other = eastward ? east : west
    if (tick === 0 || typeof other !== 'number') return [held, { west: held, east: held }]
    const exchanged = eastward ? wrong(held, other) : wrong(other, held)
    const next = exchanged ? other : held
    return [next, { west: next, east: next }]
  }
}

/**
 * Numbers in ascending order, NaN at the end, on a line of as many elements, by odd-even transposition (Habermann 1972): neighbours compare and exchange, in turns with
 * the one and with the other. Takes `n + 1` ticks, the first of which tells neighbours what there is.
 *
 * @throws {ArgumentError} for what is no vector of numbers, and more than 2^25 steps of elements.
 * @example
 * ```ts
 * ft.systolic.sort([3, 1, 2]) // { values: [1, 2, 3], ticks: 4 }
 * ```
 */
export function sort(values: Vector, options?: RunOn): Values {
  const op = 'systolic.sort'
  const where = runOn(checkOptions(op, options, RUN_ON))
  const numbers = vectorGiven(op, 'values', values)
  const n = numbers.length
  if (n === 0) return { values: [], ticks: 0 }
  const ticks = n + 1
  checkSteps(op, n, ticks)
  const made = array(1, n).fill(CELL, Object.fromEntries(numbers.map((value, i) => [`0,${i}`, { value }]))).connect('west_to_east').connect('east_to_west')
  return { values: within(op, () => run(made, { ticks, ...where })).resultMatrix()[0] as number[], ticks }
}
