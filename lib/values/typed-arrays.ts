// Typed arrays, buffers and views of the caller as elements: which dtype they are, and their bytes as they are now.

import { types } from 'node:util'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType } from '../generated/dtypes.js'

/** The dtype of each kind of typed array; by tag, so that Buffer and arrays of other realms are recognised. */
const DTYPE_OF_TAG = {
  Int8Array: 'int8',
  Uint8Array: 'uint8',
  Uint8ClampedArray: 'uint8',
  Int16Array: 'int16',
  Uint16Array: 'uint16',
  Int32Array: 'int32',
  Uint32Array: 'uint32',
  BigInt64Array: 'int64',
  BigUint64Array: 'uint64',
  Float16Array: 'float16',
  Float32Array: 'float32',
  Float64Array: 'float64'
} as const

type Tags = typeof DTYPE_OF_TAG

/** What `Float16Array` looks like to programs whose TypeScript library does not know it yet. */
export interface Float16ArrayLike extends ArrayBufferView {
  readonly [Symbol.toStringTag]: 'Float16Array'
  readonly length: number
}

/** A typed array whose elements have a dtype. */
export type TypedArray =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array
  | BigInt64Array | BigUint64Array | Float16ArrayLike | Float32Array | Float64Array

/** The dtype of a typed array. */
export type DTypeOfArray<T extends TypedArray> = T extends { readonly [Symbol.toStringTag]: infer K extends keyof Tags }
  ? Tags[K]
  : DType

/** The engine's own name of a typed array's kind: an object may carry any tag, and a typed array a false one. */
const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get as () => keyof Tags | undefined

/** The dtype of a typed array; null for a DataView and for anything else. */
export function dtypeOfArray(value: unknown): DType | null {
  const tag = tagOf.call(value)
  return tag === undefined ? null : (DTYPE_OF_TAG[tag] ?? null)
}

/** Whether a value is an ArrayBuffer or a SharedArrayBuffer, of this realm or another. */
export function isBuffer(value: unknown): value is ArrayBufferLike {
  return types.isAnyArrayBuffer(value)
}

/** What the engine itself says of where a view lies: an object may have any property of these names. */
const getters = (prototype: object) => {
  const getter = (name: string) => Object.getOwnPropertyDescriptor(prototype, name)?.get
  return { buffer: getter('buffer') as () => ArrayBufferLike, byteOffset: getter('byteOffset') as () => number, byteLength: getter('byteLength') as () => number }
}
const typedArrays = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array

/** Where typed arrays lie. */
export const OF_TYPED_ARRAYS = getters(typedArrays)
const OF_DATA_VIEWS = getters(DataView.prototype)

/** Throws where a typed array's buffer was transferred away, or shrank: its `byteLength` is 0 then. Getters of a DataView throw themselves. */
export const validate = typedArrays.keys

/**
 * The bytes under a view or buffer: not copied, unless another thread may write to them.
 *
 * @throws {ArgumentError} where the buffer was transferred away, or shrank so that the view no longer lies within it.
 */
export function bytesOf(op: string, source: ArrayBufferView | ArrayBufferLike): Uint8Array {
  try {
    if (!ArrayBuffer.isView(source)) return unshared(new Uint8Array(source))
    const isTyped = !types.isDataView(source)
    if (isTyped) validate.call(source as Uint8Array)
    const { buffer, byteOffset, byteLength } = isTyped ? OF_TYPED_ARRAYS : OF_DATA_VIEWS
    return unshared(new Uint8Array(buffer.call(source), byteOffset.call(source), byteLength.call(source)))
  } catch {
    throw new ArgumentError(`${op}: the buffer under ${shown(source)} is detached or too small for it`)
  }
}

function unshared(bytes: Uint8Array): Uint8Array {
  // A buffer of another realm (node:vm) is no instance of this one's class.
  return types.isSharedArrayBuffer(bytes.buffer) ? bytes.slice() : bytes
}
