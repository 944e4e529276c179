// Index arrays and masks as users write them: nested arrays, typed arrays, tensors; checked, and turned into index tensors.

import { ArgumentError, IndexError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE } from '../generated/dtypes.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { flatten, type Flat } from './nested.js'
import { allocated } from './read.js'
import { bytesOf, dtypeOfArray } from './typed-arrays.js'
import { upload } from './upload.js'

/** An index array or a mask: a tensor, or elements that JavaScript holds. */
export type Advanced = Tensor | Flat

/** Whether it is of booleans; all others are positions along an axis, and Rust refuses what are no integers. */
export function isMask({ dtype }: Advanced): boolean {
  return dtype === 'bool'
}

/**
 * An item that is not a basic one, copied where JavaScript holds it.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not an index, `ERR_SHAPE` for ragged arrays.
 */
export function advanced(op: string, item: unknown): Advanced {
  if (isTensor(item)) {
    checkAlive(op, item)
    return item
  }
  if (typeof item === 'boolean') return flatten(op, item, 'bool')
  if (Array.isArray(item)) {
    const flat = flatten(op, item, undefined, 'float64')
    return flat.dtype === 'float64' ? integers(op, flat) : flat
  }
  const dtype = dtypeOfArray(item)
  if (dtype === null) {
    throw new ArgumentError(`${op}: an index item must be a number, a slice, text, null, an array or a tensor of integers or booleans, got ${shown(item)}`)
  }
  const bytes = bytesOf(op, item as ArrayBufferView).slice()
  const data = new DTYPE[dtype].storage(bytes.buffer)
  return { shape: [data.length], dtype, data }
}

/** Numbers as int32, or as int64 where one is beyond that. */
function integers(op: string, { shape, data }: Flat): Flat {
  const numbers = data as Float64Array
  const odd = numbers.find((value) => !Number.isSafeInteger(value))
  if (odd !== undefined) throw new ArgumentError(`${op}: an index must be an integer, got ${odd}`)
  const wide = numbers.some((value) => value !== (value | 0))
  return wide ? { shape, dtype: 'int64', data: BigInt64Array.from(numbers, BigInt) } : { shape, dtype: 'int32', data: Int32Array.from(numbers) }
}

/** The error of a position that an axis does not have. */
export function outOfRange(op: string, index: number | bigint, axis: number, size: number): IndexError {
  return new IndexError(`${op}: index ${index} is out of range for axis ${axis} of size ${size}`)
}

/**
 * An index array as a tensor on a device: its elements are checked now if JavaScript holds them, else when they are read.
 *
 * @throws {IndexError} for an index out of range.
 */
export function indexTensor(op: string, index: Advanced, axis: number, size: number, device: number): Tensor {
  if (isTensor(index)) return index
  const { shape, dtype, data } = index
  // What is no integer has no range; Rust refuses it.
  if (DTYPE[dtype].min !== null) {
    for (let i = 0; i < data.length; i++) {
      const at = data[i] as number | bigint
      if (at < -size || at >= size) throw outOfRange(op, at, axis, size)
    }
  }
  return upload(op, DTYPE[dtype], shape, device, new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
}

/** The dtype of positions: int64 of more elements than int32 counts. */
export type PositionDType = 'int32' | 'int64'

/** The positions of a mask's true elements in row-major order, its axes taken as one. */
export function truePositions(op: string, elements: Uint8Array, device: number): Tensor<PositionDType> {
  let count = 0
  for (let i = 0; i < elements.length; i++) if (elements[i] !== 0) count++
  // What int32 does not reach needs int64.
  const wide = elements.length > 2 ** 31
  const positions = allocated(op, count * (wide ? 8 : 4), () => (wide ? new BigInt64Array(count) : new Int32Array(count)))
  let n = 0
  for (let i = 0; i < elements.length; i++) if (elements[i] !== 0) positions[n++] = wide ? BigInt(i) : i
  return upload(op, DTYPE[wide ? 'int64' : 'int32'], [count], device, new Uint8Array(positions.buffer)) as Tensor<PositionDType>
}
