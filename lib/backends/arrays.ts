// Flat arrays of the caller: that they hold floats, that their memory is there, and whether two of them share it.

import { types } from 'node:util'
import { ArgumentError, DTypeError, OutOfMemoryError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType } from '../generated/dtypes.js'
import { isTensor } from '../program/node.js'
import { dtypeOfArray, isBuffer, OF_TYPED_ARRAYS, validate } from '../values/typed-arrays.js'

/** What backends compute on: plain memory, in row-major order. */
export type FloatArray = Float32Array | Float64Array

/** The dtype of such an array. */
export type Precision = 'float32' | 'float64'

/** An array of the same kind, whatever class of it was given. */
export type SameArray<T extends FloatArray> = T extends Float32Array ? Float32Array : Float64Array

const { buffer, byteOffset, byteLength } = OF_TYPED_ARRAYS
const ARRAY = { float32: Float32Array, float64: Float64Array } as const

const FROM = (name: string): string => `; convert with Float32Array.from(${name})`
const BYTES = (name: string): string => `; floats in bytes are new Float32Array(${name}.buffer, ${name}.byteOffset, ${name}.byteLength / 4)`
const BIGINTS = (name: string): string => `; convert with Float64Array.from(${name}, Number)`

/** How to convert what is a typed array, but of no floats. */
const CONVERT: Partial<Record<DType, (name: string) => string>> = { uint8: BYTES, int64: BIGINTS, uint64: BIGINTS }

/** What to write instead of a value that is not an array of floats. */
function instead(name: string, value: unknown): string {
  if (isTensor(value)) return `; read it with ${name}.dataSync()`
  if (Array.isArray(value)) return FROM(name)
  if (isBuffer(value)) return `; write new Float32Array(${name})`
  const dtype = dtypeOfArray(value)
  if (dtype !== null) return (CONVERT[dtype] ?? FROM)(name)
  return types.isDataView(value) ? BYTES(name) : ''
}

/** The dtype of an array that {@link flatArray} gave. */
export const precisionOf = (x: FloatArray): Precision => (x instanceof Float32Array ? 'float32' : 'float64')

/**
 * An array of floats as a view of our own, of its length now: no copy.
 *
 * @throws {ArgumentError} for anything else, with what to write instead; for a buffer that was transferred away, or shrank so that
 * the view no longer lies within it.
 */
export function flatArray(op: string, name: string, value: unknown): FloatArray {
  const dtype = dtypeOfArray(value)
  if (dtype !== 'float32' && dtype !== 'float64') {
    throw new ArgumentError(`${op}: '${name}' must be a Float32Array or a Float64Array, got ${shown(value)}${instead(name, value)}`)
  }
  try {
    validate.call(value as Uint8Array)
    const Class = ARRAY[dtype]
    return new Class(buffer.call(value) as ArrayBuffer, byteOffset.call(value), byteLength.call(value) / Class.BYTES_PER_ELEMENT)
  } catch {
    throw new ArgumentError(`${op}: the buffer under '${name}' is detached or too small for it`)
  }
}

/** Whether another thread may write to the memory of an array. */
export const isShared = (x: FloatArray): boolean => types.isSharedArrayBuffer(x.buffer)

/** Refuses two arrays of different precision: which of them the result should have is the caller's to say. */
export function checkSamePrecision(op: string, nameOfA: string, a: FloatArray, nameOfB: string, b: FloatArray): void {
  if (precisionOf(a) === precisionOf(b)) return
  const [narrow, wide] = a instanceof Float32Array ? [nameOfA, nameOfB] : [nameOfB, nameOfA]
  throw new DTypeError(`${op}: '${narrow}' is a Float32Array, '${wide}' a Float64Array; convert one of them, with Float64Array.from(${narrow})`)
}

/**
 * New memory of zeros.
 *
 * @throws {OutOfMemoryError} where JavaScript has no array of this length, or the machine no memory.
 */
export function zeros(op: string, dtype: Precision, length: number): FloatArray {
  try {
    return new ARRAY[dtype](length)
  } catch {
    throw new OutOfMemoryError(`${op}: JavaScript refuses a result of ${length} elements of ${dtype}`)
  }
}

/**
 * A copy that nobody else knows of.
 *
 * @throws {OutOfMemoryError} where there is no memory for it.
 */
export function copied(op: string, x: FloatArray): FloatArray {
  const copy = zeros(op, precisionOf(x), x.length)
  copy.set(x)
  return copy
}

/** How two arrays share memory. */
function overlap(a: FloatArray, b: FloatArray): 'none' | 'all' | 'part' {
  if (a.buffer !== b.buffer || a.byteOffset >= b.byteOffset + b.byteLength || b.byteOffset >= a.byteOffset + a.byteLength) return 'none'
  return a.byteOffset === b.byteOffset && a.byteLength === b.byteLength ? 'all' : 'part'
}

/**
 * The array that a caller wants the result in.
 *
 * @param inPlace Whether it may be one of the operands, which elementwise operations read before they write.
 * @throws {TensorError} `ERR_DTYPE` for another precision, `ERR_SHAPE` for another length, `ERR_ARGUMENT` for an argument that is not an array of floats
 * and for memory that an operand has too.
 */
export function outGiven(op: string, value: unknown, length: number, inPlace: boolean, operands: Readonly<Record<string, FloatArray>>): FloatArray {
  const out = flatArray(op, 'out', value)
  for (const [name, x] of Object.entries(operands)) checkSamePrecision(op, name, x, 'out', out)
  if (out.length !== length) throw new ShapeError(`${op}: 'out' has ${out.length} elements, the result ${length}`)
  for (const [name, x] of Object.entries(operands)) {
    const shared = overlap(x, out)
    if (shared === 'none' || (shared === 'all' && inPlace)) continue
    const allowed = inPlace ? `; it may be '${name}' as a whole` : ''
    throw new ArgumentError(`${op}: 'out' shares memory with '${name}'${allowed}`)
  }
  return out
}
