// Index items as users write them, and the text form `'1:3, ..., ::-1'`.

import { integer } from '../arguments/validate.js'
import { IndexError } from '../errors.js'

/** A range of positions along one axis, with Python's meaning of negative and left-out bounds. */
export class Slice {
  /** First position; negative counts from the end; null for the natural one. */
  readonly start: number | null
  /** Position after the last; null for the natural one. */
  readonly stop: number | null
  /** Distance between positions, not 0; negative walks backwards. */
  readonly step: number

  /** As `ft.slice(start, stop, step)`. */
  constructor(start?: number | null, stop?: number | null, step?: number | null) {
    this.start = bound('start', start)
    this.stop = bound('stop', stop)
    this.step = bound('step', step) ?? 1
    if (this.step === 0) throw new IndexError('slice: step must not be 0')
  }

  /** The range as text: `'1:3'`. */
  toString(): string {
    const tail = this.step === 1 ? '' : `:${this.step}`
    return `${this.start ?? ''}:${this.stop ?? ''}${tail}`
  }
}

function bound(name: string, value: unknown): number | null {
  return value === undefined || value === null ? null : integer('slice', name, value)
}

/**
 * A slice for `x.at(...)`: positions from `start` (included) to `stop` (excluded) by `step`. Bounds left out (undefined or
 * null) mean "from the first" and "to the last"; negative ones count from the end; bounds outside the axis are clamped.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a bound that is not an integer, `ERR_INDEX` for a step of 0.
 * @example
 * ```ts
 * ft.tensor([1, 2, 3, 4]).at(ft.slice(1, -1)) // [2, 3]
 * ```
 */
export function slice(start?: number | null, stop?: number | null, step?: number | null): Slice {
  return new Slice(start, stop, step)
}

/** What one index item means: a position, a range, a new axis, or all axes not named. */
export type Item = number | Slice | null | '...'

const ITEM = /\s*(?:(\.\.\.)|(null|newaxis)|([+-]?\d+)?\s*(:)?\s*([+-]?\d+)?\s*(:)?\s*([+-]?\d+)?)\s*/y

function fail(op: string, text: string, column: number, problem: string): IndexError {
  return new IndexError(`${op}: ${problem} at column ${column + 1} of the index\n  ${text}\n  ${' '.repeat(column)}^`)
}

/** The integer of a capture; anything beyond 2^53 - 1 is no position of any tensor. */
function position(op: string, text: string, column: number, digits: string): number {
  const value = Number(digits)
  if (!Number.isSafeInteger(value)) throw fail(op, text, column, `${digits} is too large`)
  return value
}

/**
 * Reads the text form: items separated by commas, each an integer, `start:stop:step` with any part left out, `...`, or
 * `null` for a new axis.
 *
 * @throws {IndexError} pointing at the column that does not belong there.
 */
export function parseItems(op: string, text: string): Item[] {
  const items: Item[] = []
  for (let column = 0; ; ) {
    ITEM.lastIndex = column
    const match = ITEM.exec(text)
    const found = match?.[0] ?? ''
    const end = column + found.length
    if (end < text.length && text[end] !== ',') throw fail(op, text, end, `unexpected '${text[end]}'`)
    if (found.trim() === '') throw fail(op, text, end, 'an item is missing')
    items.push(itemOf(op, text, column + found.search(/\S/), match as RegExpExecArray))
    if (end >= text.length) return items
    column = end + 1
  }
}

function itemOf(op: string, text: string, column: number, [, ellipsis, axis, start, colon, stop, second, step]: RegExpExecArray): Item {
  if (ellipsis !== undefined) return '...'
  if (axis !== undefined) return null
  const read = (digits: string | undefined) => (digits === undefined ? null : position(op, text, column, digits))
  if (colon === undefined) {
    // `1 2`: the pattern lets a second number follow without a colon.
    if (start === undefined || stop !== undefined) throw fail(op, text, column, 'expected an integer, a slice, null or ...')
    return position(op, text, column, start)
  }
  if (second === undefined && step !== undefined) throw fail(op, text, column, 'expected start:stop:step')
  const by = read(step) ?? 1
  if (by === 0) throw fail(op, text, column, 'a step of 0')
  return new Slice(read(start), read(stop), by)
}
