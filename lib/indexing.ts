// Basic indexing: `x.at(...)` and `x.withAt(...)` become the rows of these names. Positions and bounds are checked
// and normalised here, at the call, because they are run-time numbers to Rust: `x.at(3)` and `x.at(4)` are one program.

import { shown } from './call.js'
import { ArgumentError, IndexError, UnsupportedError } from './errors.js'
import { OP } from './generated/table.js'
import { internAttr, nary } from './record.js'
import { Slice, parseItems, type Item } from './slice.js'
import { Tensor } from './tensor.js'

/**
 * An index item: a position, a {@link Slice} or its text (`'1:3'`, `'::-1'`, `':'`), `'...'` for all axes not named, null
 * for a new axis.
 */
export type IndexItem = number | string | Slice | null

/** Item kinds of the attribute, as `crates/ops/src/attrs.rs` decodes them. */
const NEW_AXIS = 0
const PICK = 1
const RANGE = 2

/** Which of the two methods was called, for errors. */
type Name = 'at' | 'withAt'

/** Texts met before, read: loops repeat theirs. Forgotten all at once at 1024 entries, which no program's text reaches. */
const parsed = new Map<string, readonly Item[]>()

function parse(op: Name, text: string): readonly Item[] {
  let items = parsed.get(text)
  if (items === undefined) {
    if (parsed.size === 1024) parsed.clear()
    parsed.set(text, (items = parseItems(op, text)))
  }
  return items
}

function resolve(op: Name, items: readonly unknown[]): Item[] {
  const out: Item[] = []
  for (const item of items) {
    if (typeof item === 'string') for (const part of parse(op, item)) out.push(part)
    else if (item === null || item instanceof Slice) out.push(item)
    else if (typeof item !== 'number') throw notAnItem(op, item)
    else if (Number.isSafeInteger(item)) out.push(item)
    else throw new ArgumentError(`${op}: an index must be an integer, got ${shown(item)}`)
  }
  return out
}

function notAnItem(op: Name, item: unknown): Error {
  return Array.isArray(item) || ArrayBuffer.isView(item) || item instanceof Tensor
    ? new UnsupportedError(`${op}: index arrays and masks are not offered yet; use take(indices, { axis }) or where()`)
    : new ArgumentError(`${op}: an index item must be a number, a slice, text or null, got ${shown(item)}`)
}

const FULL = new Slice(null, null, 1)

/** Puts full slices for `...` and for the axes after the last item. */
function expand(op: Name, items: Item[], rank: number): Item[] {
  let named = 0
  let dots = -1
  for (let i = 0; i < items.length; i++) {
    if (items[i] !== '...') named += items[i] === null ? 0 : 1
    else if (dots < 0) dots = i
    else throw new IndexError(`${op}: '...' may stand only once`)
  }
  if (named > rank) throw new IndexError(`${op}: ${named} indices for a tensor of rank ${rank}`)
  const rest = new Array<Item>(rank - named).fill(FULL)
  items.splice(dots < 0 ? items.length : dots, dots < 0 ? 0 : 1, ...rest)
  return items
}

function pick(op: Name, index: number, axis: number, size: number): number {
  if (index < -size || index >= size) {
    throw new IndexError(`${op}: index ${index} is out of range for axis ${axis} of size ${size}`)
  }
  return index < 0 ? index + size : index
}

/** First position, step and length, as Python's `slice.indices` gives them; an empty range starts at 0. */
function range({ start, stop, step }: Slice, size: number): [start: number, step: number, length: number] {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1]
  const clamp = (bound: number) => Math.min(Math.max(bound < 0 ? bound + size : bound, low), high)
  const first = start === null ? (step > 0 ? low : high) : clamp(start)
  const last = stop === null ? (step > 0 ? high : low) : clamp(stop)
  const length = Math.max(0, Math.ceil((last - first) / step))
  return length === 0 ? [0, 1, 0] : [first, length === 1 ? 1 : step, length]
}

/** The attribute words and run-time numbers of an index into this shape. */
function lower(op: Name, items: readonly unknown[], shape: readonly number[]): { words: number[]; params: number[] } {
  const expanded = expand(op, resolve(op, items), shape.length)
  const words = [expanded.length]
  const params: number[] = []
  let axis = 0
  for (const item of expanded) {
    if (item === null) {
      words.push(NEW_AXIS, 0)
      continue
    }
    const size = shape[axis] as number
    if (item instanceof Slice) {
      const [start, step, length] = range(item, size)
      words.push(RANGE, length)
      params.push(start, step)
    } else {
      words.push(PICK, 0)
      params.push(pick(op, item as number, axis, size))
    }
    axis++
  }
  return { words, params }
}

/** `x.at(...items)`. */
export function at(x: Tensor, items: readonly unknown[]): Tensor {
  const { words, params } = lower('at', items, x.shape)
  return nary(OP.at, [x], internAttr(OP.at, words), params)
}

/** `x.withAt(items, value)`. */
export function withAt(x: Tensor, items: unknown, value: unknown): Tensor {
  if (typeof items !== 'string' && !Array.isArray(items)) {
    throw new ArgumentError(`withAt: the index must be an array of items or text, got ${shown(items)}`)
  }
  const { words, params } = lower('withAt', typeof items === 'string' ? [items] : items, x.shape)
  return nary(OP.withAt, [x, value], internAttr(OP.withAt, words), params)
}
