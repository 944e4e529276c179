// Linear arrays for sequences: sorting by odd-even transposition, and the edit distance.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { array } from './array.js'
import { run } from './clock.js'
import { EMPTY, type Element } from './element.js'
import type { TimedValues } from './lines.js'
import { checkSteps, vectorGiven, type Vector } from './ready.js'
import { RUN_ON, runOn, type RunOn } from './run-on.js'

/** Whether two numbers are in the wrong order; NaN is behind all others. */
const wrong = (left: number, right: number): boolean => left > right || (Number.isNaN(left) && !Number.isNaN(right))

/** Holds a number, which both neighbours are told; in every other tick it compares with the one to the east, else with the one to the west. */
const EXCHANGE: Element<number> = {
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
export function sort(values: Vector, options?: RunOn): TimedValues {
  const op = 'systolic.sort'
  const where = runOn(op, checkOptions(op, options, RUN_ON))
  const numbers = vectorGiven(op, 'values', values)
  const n = numbers.length
  if (n === 0) return { values: [], ticks: 0 }
  const ticks = n + 1
  checkSteps(op, n, ticks)
  const made = array(1, n).fill(EXCHANGE, Object.fromEntries(numbers.map((value, i) => [`0,${i}`, { value }]))).connect('west_to_east').connect('east_to_west')
  return { values: within(op, () => run(made, { ticks, ...where })).resultMatrix()[0] as number[], ticks }
}

/** A distance, and the ticks that it took. */
export interface EditDistance {
  readonly distance: number
  readonly ticks: number
}

interface Cell {
  readonly item: unknown
  /** The distance above, which is that of the row before. */
  readonly above: number
  /** The one beside that. */
  readonly corner: number
}

/** A column of the table of distances, one row a tick. */
const COLUMN: Element<Cell> = {
  init: ({ item, column }: { readonly item: unknown; readonly column: number }) => ({ item, above: column + 1, corner: column }),
  step(cell, { item, left }) {
    if (item === EMPTY) return [cell]
    const kept = cell.corner + (item === cell.item ? 0 : 1)
    const distance = Math.min(kept, cell.above + 1, (left as number) + 1)
    return [{ item: cell.item, above: distance, corner: left as number }, { itemOut: item, right: distance }]
  },
  result: ({ above }) => above
}

/** More items are more than any run may take. */
const MOST_ITEMS = 2 ** 20

/** What is compared: characters of a text, or items of a list. */
function itemsGiven(op: string, name: string, value: unknown): unknown[] {
  if (typeof value === 'string' && value.length <= 2 * MOST_ITEMS) return [...value]
  if (!Array.isArray(value) || value.length > MOST_ITEMS) throw new ArgumentError(`${op}: '${name}' must be a text or an array of at most ${MOST_ITEMS} items, got ${shown(value)}`)
  return Array.from({ length: value.length }, (_, i): unknown => {
    const item: unknown = value[i]
    if (item === undefined || item === EMPTY) throw new ArgumentError(`${op}: '${name}[${i}]' must be an item, got ${shown(item)}`)
    return item
  })
}

/**
 * The edit distance of two texts or lists: how many characters (or items, compared by `===`) have to be inserted, removed or replaced (Levenshtein 1966), on a line with an element
 * for each character of `b`, through which `a` goes: an element has a column of the table of distances (Wagner and Fischer 1974; as a systolic array Lipton and Lopresti
 * 1985). Takes `a.length + b.length - 1` ticks.
 *
 * @throws {ArgumentError} for what is no text or list, and more than 2^25 steps of elements.
 * @example
 * ```ts
 * ft.systolic.editDistance('kitten', 'sitting') // { distance: 3, ticks: 12 }
 * ```
 */
export function editDistance(a: string | readonly unknown[], b: string | readonly unknown[], options?: RunOn): EditDistance {
  const op = 'systolic.editDistance'
  const where = runOn(op, checkOptions(op, options, RUN_ON.filter((name) => name !== 'tileRows' && name !== 'tileCols')))
  const [rows, columns] = [itemsGiven(op, 'a', a), itemsGiven(op, 'b', b)]
  if (rows.length === 0 || columns.length === 0) return { distance: rows.length + columns.length, ticks: 0 }
  const n = columns.length
  const ticks = rows.length + n - 1
  checkSteps(op, n, ticks)
  const neighbours: Readonly<Record<string, string>> = { itemOut: 'item', right: 'left' }
  const line = array({
    coords: columns.map((_, j) => [j]),
    ports: ['item', 'left', 'itemOut', 'right'],
    neighbours: ([j], port) => (neighbours[port] !== undefined && (j as number) + 1 < n ? { coord: [(j as number) + 1], port: neighbours[port] } : undefined)
  })
  const made = line.fill(COLUMN, Object.fromEntries(columns.map((item, column) => [String(column), { item, column }]))).connect()
    .link({ to: { coord: [0], port: 'item' } }).link({ to: { coord: [0], port: 'left' } })
    .input('item', [[[0], rows]]).input('left', [[[0], rows.map((_, i) => i + 1)]])
  return { distance: within(op, () => run(made, { ticks, ...where })).resultMap().get(String(n - 1)) as number, ticks }
}
