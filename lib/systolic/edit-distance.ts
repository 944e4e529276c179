// The edit distance of two texts on a linear array.

import { checkOptions, shown, within } from '../call.js'
import { ArgumentError } from '../errors.js'
import { array } from './array.js'
import { run } from './clock.js'
import { EMPTY, type Element } from './element.js'
import { checkSteps, runOn, RUN_ON, type RunOn } from './ready.js'

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
  const where = runOn(checkOptions(op, options, RUN_ON.filter((name) => name !== 'tileRows' && name !== 'tileCols')))
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
