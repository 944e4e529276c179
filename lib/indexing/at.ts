// Indexing: `x.at(...)` and `x.withAt(...)` become the rows of these names. What an index selects, and where it stands in the
// result, is Rust's to know; what is a run-time number to Rust is checked and normalised here, at the call: positions and bounds
// (`x.at(3)` and `x.at(4)` are one program), and masks, which are read because the result's shape depends on them.

import { isListed, tensorOf } from '../calls/arrays.js'
import { ArgumentError, DeviceError, IndexError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { Takes } from '../generated/dtypes.js'
import { OP } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import { recordCall } from '../program/record.js'
import { internAttr } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import { advanced, indexTensor, isMask, outOfRange, truePositions, type Advanced } from '../values/index-arrays.js'
import type { Nested } from '../values/nested.js'
import { data, dataSync } from '../values/read.js'
import type { Float16ArrayLike, TypedArray } from '../values/typed-arrays.js'
import { parseItems, Slice, type Item } from './slice.js'

/**
 * An index item. Basic ones make a view: a position, a {@link Slice} or its text (`'1:3'`, `'::-1'`, `':'`), `'...'` for all
 * axes not named, null for a new axis. The others gather: positions along one axis as nested arrays, a typed array or a tensor
 * of integers; or a mask of booleans over one axis or several.
 */
export type IndexItem =
  | number
  | boolean
  | string
  | Slice
  | null
  | Tensor
  | Exclude<TypedArray, BigUint64Array | Float16ArrayLike | Float32Array | Float64Array>
  | readonly Nested<number>[]
  | readonly Nested<bigint>[]
  | readonly Nested<boolean>[]

/** What index items must be beside themselves: tensors hold positions or a mask. */
export type Indices<T> = { readonly [K in keyof T]: T[K] extends Tensor<infer D> ? Takes<'indexOrMask', D> : unknown }

/** Item kinds of the attribute, as `crates/ops/src/attrs.rs` decodes them. */
const NEW_AXIS = 0
const PICK = 1
const RANGE = 2
const WHOLE = 3
const INDEX = 4
const MASK = 5

/** Twice the largest rank: an item for each axis of the tensor, and one for each new axis of the result. */
const MAX_ITEMS = 64

/** Which of the methods was called, for errors. */
type Name = 'at' | 'withAt'

/** An item, its first axis, and how many axes it takes. */
interface Placed {
  readonly item: Item | Advanced
  readonly axis: number
  readonly axes: number
}

/** The elements of a mask that is a tensor. */
type Read = (mask: Tensor) => Uint8Array
const readSync = dataSync as Read

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

function resolve(op: Name, items: readonly unknown[]): (Item | Advanced)[] {
  const out: (Item | Advanced)[] = []
  // By number: an array's own iterator is the caller's to replace.
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    if (typeof item === 'string') for (const part of parse(op, item)) out.push(part)
    else if (item === null || item instanceof Slice) out.push(item)
    else if (typeof item !== 'number') out.push(advanced(op, item))
    else if (Number.isSafeInteger(item)) out.push(item)
    else throw new ArgumentError(`${op}: an index must be an integer, got ${shown(item)}`)
    // Before the next item is copied: each of 100,000 may be an array of a million.
    if (out.length > MAX_ITEMS) throw new IndexError(`${op}: there may be at most ${MAX_ITEMS} index items`)
  }
  return out
}

function isAdvanced(item: Item | Advanced): item is Advanced {
  return typeof item === 'object' && item !== null && !(item instanceof Slice)
}

function axesOf(item: Item | Advanced): number {
  if (item === null || item === '...') return 0
  return isAdvanced(item) && isMask(item) ? item.shape.length : 1
}

/** Gives each item its axes, and `...` (or the end) those that none names. */
function place(op: Name, items: readonly unknown[], { shape, type: { device } }: Tensor): Placed[] {
  const resolved = resolve(op, items)
  const dots = resolved.indexOf('...')
  if (dots !== resolved.lastIndexOf('...')) throw new IndexError(`${op}: '...' may stand only once`)
  const named = resolved.reduce<number>((sum, item) => sum + axesOf(item), 0)
  if (named > shape.length) throw new IndexError(`${op}: ${named} indices for a tensor of rank ${shape.length}`)
  const rest = shape.length - named
  if (dots < 0 && rest > 0) resolved.push('...')
  let axis = 0
  return resolved.map((item) => {
    const axes = item === '...' ? rest : axesOf(item)
    const placed = { item, axis, axes }
    if (isAdvanced(item) && isMask(item)) checkMask(op, item, placed, shape, device)
    axis += axes
    return placed
  })
}

/**
 * A mask has the shape of its axes, or no elements along one (array API, "Boolean array indexing"), and lies on the tensor's device: reading it
 * here must not hide that it does not.
 */
function checkMask(op: Name, mask: Advanced, { axis, axes }: Placed, shape: readonly number[], device: number): void {
  const under = shape.slice(axis, axis + axes)
  if (mask.shape.some((size, i) => size !== under[i] && size !== 0)) {
    throw new ShapeError(`${op}: a mask of shape [${mask.shape.join(', ')}] for axes of shape [${under.join(', ')}], from axis ${axis} on`)
  }
  if (isTensor(mask) && mask.type.device !== device) {
    throw new DeviceError(`${op}: the mask is on another device, ${mask.device}; move it with to()`)
  }
}

function pick(op: Name, index: number, axis: number, size: number): number {
  if (index < -size || index >= size) throw outOfRange(op, index, axis, size)
  return index < 0 ? index + size : index
}

/** First position, step and length, as Python's `slice.indices` gives them; an empty range starts at 0. */
export function rangeOf({ start, stop, step }: Slice, size: number): [start: number, step: number, length: number] {
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1]
  const clamp = (bound: number) => Math.min(Math.max(bound < 0 ? bound + size : bound, low), high)
  const first = start === null ? (step > 0 ? low : high) : clamp(start)
  const last = stop === null ? (step > 0 ? high : low) : clamp(stop)
  const length = Math.max(0, Math.ceil((last - first) / step))
  return length === 0 ? [0, 1, 0] : [first, length === 1 ? 1 : step, length]
}

/** How masks become operands. */
interface Masks {
  readonly kind: number
  operand(mask: Advanced): Tensor
}

/** Records a call of the row of this name: attribute words, run-time numbers, and index operands behind the others. */
function record(op: Name, operands: readonly unknown[], x: Tensor, items: readonly Placed[], masks: Masks): Tensor {
  const words = [0]
  const params: number[] = []
  const indices: Tensor[] = []
  for (const { item, axis, axes } of items) {
    const size = x.shape[axis] as number
    if (item === null) words.push(NEW_AXIS, 0)
    else if (item === '...') words.push(WHOLE, axes)
    else if (typeof item === 'number') {
      words.push(PICK, 0)
      params.push(pick(op, item, axis, size))
    } else if (!isAdvanced(item)) {
      if (item.start === null && item.stop === null && item.step === 1) words.push(WHOLE, 1)
      else {
        const [start, step, length] = rangeOf(item, size)
        words.push(RANGE, length)
        params.push(start, step)
      }
    } else if (isMask(item)) {
      words.push(masks.kind, axes)
      indices.push(masks.operand(item))
    } else {
      words.push(INDEX, 1)
      indices.push(indexTensor(op, item, axis, size, x.type.device))
    }
  }
  words[0] = (words.length - 1) / 2
  return recordCall(OP[op], [...operands, ...indices], internAttr(OP[op], words), params)
}

/** A mask as the positions of its true elements along its axes taken as one. */
function positions(op: Name, { type: { device } }: Tensor, read: Read): Masks {
  return { kind: INDEX, operand: (mask) => truePositions(op, isTensor(mask) ? read(mask) : (mask.data as Uint8Array), device) }
}

/** `x.at(...items)`. */
export function at(x: Tensor, items: readonly unknown[]): Tensor {
  return record('at', [x], x, place('at', items, x), positions('at', x, readSync))
}

/** Reads the masks among items without blocking. */
async function readMasks(items: readonly Placed[]): Promise<Read> {
  const masks = items.flatMap(({ item }) => (isTensor(item) && isMask(item) ? [item] : []))
  const elements = await Promise.all(masks.map((mask) => data(mask)))
  return (mask) => elements[masks.indexOf(mask)] as Uint8Array
}

/** `x.atAsync(...items)`. */
export async function atAsync(x: Tensor, items: readonly unknown[]): Promise<Tensor> {
  const placed = place('at', items, x)
  return record('at', [x], x, placed, positions('at', x, await readMasks(placed)))
}

function placeList(x: Tensor, items: unknown): Placed[] {
  if (typeof items === 'string') return place('withAt', [items], x)
  if (Array.isArray(items)) return place('withAt', items, x)
  const hint = isTensor(items) || ArrayBuffer.isView(items) || typeof items === 'number' ? '; write [index]' : ''
  throw new ArgumentError(`withAt: the index must be an array of items or text, got ${shown(items)}${hint}`)
}

/** Whether one mask, of its axes' shape, takes one value, which needs no positions: nothing is read. */
function isFill(items: readonly Placed[], value: unknown): boolean {
  const indices = items.flatMap(({ item }) => (isAdvanced(item) ? [item] : []))
  const [mask] = indices
  return indices.length === 1 && isMask(mask as Advanced) && !(mask as Advanced).shape.includes(0) && (!isTensor(value) || value.ndim === 0)
}

function change(x: Tensor, items: readonly Placed[], given: unknown, read: Read): Tensor {
  const value = isListed(given) ? tensorOf('withAt', given, x) : given
  const fill: Masks = { kind: MASK, operand: (mask) => indexTensor('withAt', mask, 0, 0, x.type.device) }
  return record('withAt', [x, value], x, items, isFill(items, value) ? fill : positions('withAt', x, read))
}

/** `x.withAt(items, value)`. */
export function withAt(x: Tensor, items: unknown, value: unknown): Tensor {
  return change(x, placeList(x, items), value, readSync)
}

/** `x.withAtAsync(items, value)`. */
export async function withAtAsync(x: Tensor, items: unknown, value: unknown): Promise<Tensor> {
  const placed = placeList(x, items)
  return change(x, placed, value, !isListed(value) && isFill(placed, value) ? readSync : await readMasks(placed))
}
