// Tensors from JavaScript data, and tensors like another one.

import { checkOptions } from '../arguments/options.js'
import { dtypeOption, shapeGiven } from '../arguments/validate.js'
import { deviceNumber } from '../devices/devices.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type Complex, type DType, type DTypeRow } from '../generated/dtypes.js'
import { isTensor } from '../program/node.js'
import { sizeOf } from '../program/types.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { flatten, type Nested } from './nested.js'
import { bytesOf, dtypeOfArray, isBuffer, type DTypeOfArray, type TypedArray } from './typed-arrays.js'
import { upload } from './upload.js'

// `NoInfer` in results: a dtype that no argument names is the default one, not that of the variable that the tensor is assigned to.

/** What `ft.tensor` takes: a scalar, nested arrays of one kind of scalar, or a typed array. */
export type TensorData = Nested<number> | Nested<bigint> | Nested<boolean> | Nested<Complex> | TypedArray

/** The dtype of data where none is named. */
export type DTypeOfData<T> = T extends TypedArray
  ? DTypeOfArray<T>
  : T extends Nested<number>
    ? 'float32'
    : T extends Nested<bigint>
      ? 'int64'
      : T extends Nested<boolean>
        ? 'bool'
        : T extends Nested<Complex>
          ? 'complex64'
          : DType

/** Where a tensor lives and what its elements are. */
export interface CreationOptions<E extends DType = DType> {
  /** The dtype, where not the one the data suggest. */
  readonly dtype?: E | undefined
  /** The device; `ft.setDefaultDevice` sets the default. */
  readonly device?: Device | undefined
}

/** Options of `tensor`. */
export interface TensorOptions<E extends DType = DType> extends CreationOptions<E> {
  /** Axis sizes, where not those of the nesting; the data are taken in row-major order. */
  readonly shape?: readonly number[] | undefined
}

/** The names in {@link CreationOptions}. */
export const CREATION: readonly string[] = ['dtype', 'device']

/** An argument where it was given; null is no default, but an error of whoever reads it. */
export function orElse<T>(given: unknown, fallback: T): T {
  return given === undefined ? fallback : (given as T)
}

/** Uploads elements under a shape that holds as many; without one, along one axis. */
function place(op: string, row: DTypeRow, given: unknown, device: unknown, source: ArrayBufferView | ArrayBufferLike): Tensor {
  const onto = deviceNumber(op, device)
  const asked = given === undefined ? undefined : shapeGiven(op, given)
  // After everything that may run the caller's code (getters, proxies), which could change or detach the buffer.
  const bytes = bytesOf(op, source)
  const length = bytes.byteLength / row.bytes
  if (!Number.isInteger(length)) {
    throw new ShapeError(`${op}: ${bytes.byteLength} bytes are no whole number of ${row.name} elements (${row.bytes} bytes each)`)
  }
  const shape = asked ?? [length]
  const held = sizeOf(shape)
  if (held !== length) throw new ShapeError(`${op}: shape [${shape.join(', ')}] holds ${held} elements, the data ${length}`)
  return upload(op, row, shape, onto, bytes)
}

/**
 * A tensor from a scalar, nested arrays or a typed array, copied at the call. Numbers become float32, bigints int64, booleans
 * bool, `{ re, im }` complex64; a typed array keeps its own dtype and has one axis unless `shape` is given. With `dtype`, array
 * elements must fit it exactly (integers) or are rounded to it (floats); typed arrays are converted as by `astype`. Without, an
 * integer that float32 does not hold exactly, such as 123456789, is refused: fractions are rounded, digits of integers never lost.
 *
 * @throws {TensorError} `ERR_SHAPE` for ragged arrays, `ERR_ARGUMENT` for elements that are not numbers, of mixed kinds, or in
 * a detached buffer, `ERR_DTYPE` for elements that the dtype cannot hold, and for integers that the default one would round.
 * @example
 * ```ts
 * ft.tensor([[1, 2], [3, 4]], { dtype: 'int32' }) // [[1, 2], [3, 4]]
 * ```
 */
export function tensor<const T extends TensorData, E extends DType = DTypeOfData<T>>(data: T, options?: TensorOptions<E>): Tensor<NoInfer<E>> {
  return fromData('tensor', data, checkOptions('tensor', options, [...CREATION, 'shape'])) as Tensor<E>
}

function fromData(op: string, data: unknown, o: Record<string, unknown>): Tensor {
  const own = dtypeOfArray(data)
  if (own === null && (isBuffer(data) || ArrayBuffer.isView(data))) {
    throw new ArgumentError(`${op}: ${shown(data)} has no dtype; use fromTypedArray(data, shape, { dtype })`)
  }
  if (isTensor(data)) throw new ArgumentError(`${op}: the data are a tensor already; use asarray(x), x.astype(dtype) or x.copy()`)
  const wanted = o['dtype'] === undefined ? undefined : dtypeOption(op, o['dtype'], 'float32')
  if (own !== null) {
    const x = place(op, DTYPE[own], o['shape'], o['device'], data as TypedArray)
    return wanted === undefined || wanted === own ? x : x.astype(wanted)
  }
  const flat = flatten(op, data, wanted)
  const x = place(op, DTYPE[flat.dtype], orElse(o['shape'], flat.shape), o['device'], flat.data)
  return wanted === undefined || wanted === flat.dtype ? x : x.astype(wanted)
}

/**
 * A tensor from the elements of a typed array, or from the raw little-endian bytes of an ArrayBuffer, SharedArrayBuffer or
 * DataView, copied at the call. The dtype is that of the array, never widened; `dtype` names another one with the same storage
 * (Uint16Array: float16, bfloat16; Uint8Array: bool; Float32Array: complex64; Float64Array: complex128), and is required for
 * buffers.
 *
 * @param data The elements.
 * @param shape Axis sizes; one axis of all elements by default.
 * @throws {TensorError} `ERR_SHAPE` where shape and data differ in size, `ERR_DTYPE` where the array does not hold elements of
 * the dtype, `ERR_ARGUMENT` for a detached buffer.
 * @example
 * ```ts
 * ft.fromTypedArray(new Float64Array([1, 2, 3, 4]), [2, 2]) // [[1, 2], [3, 4]]
 * ```
 */
export function fromTypedArray<T extends TypedArray, E extends DType = DTypeOfArray<T>>(data: T, shape?: readonly number[], options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function fromTypedArray<E extends DType>(data: ArrayBufferLike | DataView, shape: readonly number[] | undefined, options: CreationOptions<E> & { readonly dtype: E }): Tensor<NoInfer<E>>
export function fromTypedArray(data: TypedArray | ArrayBufferLike | DataView, shape?: readonly number[], options?: CreationOptions): Tensor {
  const op = 'fromTypedArray'
  const o = checkOptions(op, options, CREATION)
  const own = dtypeOfArray(data)
  if (own === null && !isBuffer(data) && !ArrayBuffer.isView(data)) {
    throw new ArgumentError(`${op}: 'data' must be a typed array or a buffer, got ${shown(data)}`)
  }
  if (own === null && o.dtype === undefined) throw new ArgumentError(`${op}: ${shown(data)} has no dtype; name one`)
  const row = DTYPE[dtypeOption(op, o.dtype, own as DType)]
  if (own !== null && own !== row.name && DTYPE[own].storage !== row.storage) {
    throw new DTypeError(`${op}: a ${data[Symbol.toStringTag]} does not hold elements of ${row.name}; convert with astype('${row.name}')`)
  }
  return place(op, row, shape, o.device, data)
}

/**
 * `data` as a tensor: a tensor is returned as it is, or converted to the dtype and device asked for; anything else as by
 * `ft.tensor`.
 *
 * @example
 * ```ts
 * ft.asarray([1, 2]) // [1, 2]
 * ```
 */
export function asarray<D extends DType, E extends DType = D>(data: Tensor<D>, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function asarray<const T extends TensorData, E extends DType = DTypeOfData<T>>(data: T, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function asarray(data: Tensor | TensorData, options?: CreationOptions): Tensor {
  const o = checkOptions('asarray', options, CREATION)
  if (!isTensor(data)) return fromData('asarray', data, o)
  const moved = o.device === undefined ? data : data.to(o.device as Device)
  const dtype = dtypeOption('asarray', o.dtype, moved.dtype)
  return dtype === moved.dtype ? moved : moved.astype(dtype)
}

/** As `ft.tensor`, in the name of an operation that takes a tensor. */
export function fromList(op: string, data: unknown, options: CreationOptions): Tensor {
  return fromData(op, data, { ...options })
}
