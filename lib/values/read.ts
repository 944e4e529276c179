// Reading values: typed arrays, single elements, nested arrays, bytes; blocking and with promises.

import { constants } from 'node:buffer'
import { getHeapStatistics } from 'node:v8'
import { ArgumentError, OutOfMemoryError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { flush } from '../execution/flush.js'
import { DTYPES, type Complex, type DTypeRow, type ElementArray } from '../generated/dtypes.js'
import { COPIED } from '../generated/protocol.js'
import { native, small } from '../native.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { Type } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'

/** Nested arrays of elements, as deep as the tensor has axes. */
export type NestedArray<T> = T | NestedArray<T>[]

/** Nested arrays of a known depth, from 0 (an element) to 6; beyond, of any. */
export type ArrayOfRank<T, R extends number> = number extends R
  ? NestedArray<T>
  : R extends 0
    ? T
    : R extends 1
      ? T[]
      : R extends 2
        ? T[][]
        : R extends 3
          ? T[][][]
          : R extends 4
            ? T[][][][]
            : R extends 5
              ? T[][][][][]
              : R extends 6
                ? T[][][][][][]
                : NestedArray<T>

type Element = number | bigint | boolean | Complex

/** Views of the buffer in which small results travel, by the dtype's number. */
const SMALL = DTYPES.map(({ storage }) => new storage(small.buffer))

/** Results up to this size are read by the JavaScript thread when they are ready. */
const READ_AT_ONCE = 1 << 20
/** Reads without a turn of the event loop after which the clock is looked at, and how long they may go on. */
const READS_PER_LOOK = 64
const TURN_MS = 2

/** Half floats have no typed array in every supported runtime: they are read as float32. */
function readable(op: string, x: Tensor): Tensor {
  checkAlive(op, x)
  const { row } = x.type
  return row.read === row.storage ? x : (x.astype('float32') as Tensor)
}

const units = ({ row, size }: Type): number => (row.kind === 'complex' ? 2 * size : size)

function fromSmall(type: Type): ElementArray {
  return (SMALL[type.row.code] as ElementArray).slice(0, units(type))
}

/** A result's array, where JavaScript can have one of this size. */
export function allocated<T>(op: string, bytes: number, make: () => T): T {
  try {
    return make()
  } catch {
    throw new OutOfMemoryError(`${op}: JavaScript refuses an array of ${bytes} bytes; take the tensor in parts, with at()`)
  }
}

function fresh(op: string, type: Type): ElementArray {
  return allocated(op, type.bytes, () => new type.row.storage(units(type)))
}

/** `Tensor.dataSync`, for the reader of this name. */
export function dataSync(x: Tensor, op = 'dataSync'): ElementArray {
  const source = readable(op, x)
  if (source.handle === null && (flush([source], true, true) & COPIED) !== 0) return fromSmall(source.type)
  const out = fresh(op, source.type)
  native.read(source.handle as number, out, true)
  return out
}

let reads = 0
let turnStart = 0

/**
 * Reads that are served at once never leave the microtask queue, so a loop of them would starve timers: after 2 ms they wait
 * for one turn of the event loop.
 */
function turn(): Promise<void> | undefined {
  if (++reads % READS_PER_LOOK !== 0) return undefined
  const now = performance.now()
  if (now - turnStart < TURN_MS) return undefined
  return new Promise((resolve) => {
    setImmediate(() => {
      turnStart = performance.now()
      resolve()
    })
  })
}

/** `Tensor.data`, for the reader of this name. */
export async function data(x: Tensor, op = 'data'): Promise<ElementArray> {
  const source = readable(op, x)
  const { type } = source
  let out: ElementArray | undefined
  if (source.handle === null && (flush([source], false, true) & COPIED) !== 0) out = fromSmall(type)
  else if (type.bytes <= READ_AT_ONCE || type.bytes > constants.MAX_LENGTH) {
    // Node makes no buffers beyond MAX_LENGTH of native memory: such a result is copied by this thread.
    const array = fresh(op, type)
    if (native.read(source.handle as number, array, type.bytes > READ_AT_ONCE)) out = array
  }
  if (out !== undefined) {
    const pause = turn()
    if (pause !== undefined) await pause
    return out
  }
  return new type.row.storage(await native.readAsync(source.handle as number))
}

function element(values: ElementArray, i: number, { kind }: DTypeRow): Element {
  if (kind === 'complex') return { re: values[2 * i] as number, im: values[2 * i + 1] as number }
  return kind === 'bool' ? values[i] !== 0 : (values[i] as number | bigint)
}

function checkSingle(op: string, x: Tensor): void {
  if (x.size !== 1) throw new ShapeError(`${op}: the tensor has ${x.size} elements, shape [${x.shape.join(', ')}]; use data()`)
}

/** `Tensor.itemSync`. */
export function itemSync(x: Tensor): Element {
  checkSingle('itemSync', x)
  return element(dataSync(x, 'itemSync'), 0, x.type.row)
}

/** `Tensor.item`. */
export async function item(x: Tensor): Promise<Element> {
  checkSingle('item', x)
  return element(await data(x, 'item'), 0, x.type.row)
}

/** Bytes of V8's heap that a row of nested arrays takes, beside its elements (measured on Node 20). */
const ROW_BYTES = 64
/** Nested arrays up to this size are made without asking V8, which takes 2 us. */
const HEAP_UNASKED = 1 << 20

function elementBytes({ kind, min }: DTypeRow): number {
  return kind === 'complex' ? 80 : typeof min === 'bigint' ? 32 : 8
}

/** V8's limit counts the young generation too, which large arrays never live in: 48 MiB on Node 20, 192 on 24, 96 on 26. */
const YOUNG_GENERATION = 192 << 20

/** Whether V8 has room: it ends the process where its heap ends. Arrays are copied as they grow, so they need it twice. */
function fitsHeap(bytes: number): boolean {
  if (bytes <= HEAP_UNASKED) return true
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics()
  // Under a small limit the share of the young generation is unknown, but never more than this.
  return 2 * bytes <= limit - Math.min(YOUNG_GENERATION, 0.6 * limit) - used
}

/** `Tensor.toArray`; with a rank, that the tensor has it. */
export function toArray(x: Tensor, rank?: unknown): NestedArray<Element> {
  const { row, shape, size } = x.type
  if (rank !== undefined && typeof rank !== 'number') throw new ArgumentError(`toArray: 'rank' must be a number of axes, got ${shown(rank)}`)
  if (rank !== undefined && rank !== shape.length) throw new ShapeError(`toArray: shape [${shape.join(', ')}] has ${shape.length} axes, and ${rank} were asked for`)
  // Rows that are empty cost as much as others.
  const rows = shape.slice(0, shape.includes(0) ? shape.indexOf(0) : -1).reduce((n, length) => n * length, 1)
  const bytes = rows * ROW_BYTES + size * elementBytes(row)
  if (!fitsHeap(bytes)) {
    throw new OutOfMemoryError(`toArray: shape [${shape.join(', ')}] is too large for nested arrays; use data(), or parts of it`)
  }
  const values = dataSync(x, 'toArray')
  let next = 0
  const level = (axis: number): NestedArray<Element> =>
    axis === shape.length ? element(values, next++, row) : Array.from({ length: shape[axis] as number }, () => level(axis + 1))
  return allocated('toArray', bytes, () => level(0))
}

/** `Tensor.toBytes`. */
export function toBytes(x: Tensor): Uint8Array {
  checkAlive('toBytes', x)
  flush([x], true)
  const { bytes } = x.type
  const out = allocated('toBytes', bytes, () => new Uint8Array(bytes))
  native.read(x.handle as number, out, true)
  return out
}

function checkTensors(op: string, tensors: readonly unknown[]): void {
  for (const x of tensors) {
    if (!isTensor(x)) throw new ArgumentError(`${op}: takes tensors, got ${shown(x)}${Array.isArray(x) ? `; spread it: ${op}(...tensors)` : ''}`)
    checkAlive(op, x)
  }
}

/**
 * Computes tensors, all in one program, and resolves when their values are there.
 *
 * @throws {TensorError} `ERR_DISPOSED`, `ERR_OUT_OF_MEMORY`, or the error a value turned out to be.
 */
export async function evaluate(...tensors: readonly Tensor[]): Promise<void> {
  checkTensors('evaluate', tensors)
  flush(tensors, false)
  await Promise.all(tensors.map((x) => native.waitAsync(x.handle as number)))
}

/** As {@link evaluate}, blocking. */
export function evaluateSync(...tensors: readonly Tensor[]): void {
  checkTensors('evaluateSync', tensors)
  flush(tensors, true)
  for (const x of tensors) native.wait(x.handle as number)
}
