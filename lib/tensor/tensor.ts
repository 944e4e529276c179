// The tensor: a recorded expression or the handle of a value, and the methods that the op table does not make.

import { deviceName } from '../devices/devices.js'
import { ArgumentError } from '../errors.js'
import type { DataOf, DType, ItemOf } from '../generated/dtypes.js'
import { AliasMethods } from '../generated/names/methods.js'
import { release } from '../program/lifetime.js'
import { setTensorClass } from '../program/node.js'
import { data, dataSync, item, itemSync, toArray, toBytes, type ArrayOfRank, type NestedArray } from '../values/read.js'
import { share, type SharedTensor } from '../values/share.js'
import { copyTo } from '../values/to-device.js'
import { addAliases } from './aliases.js'
import { refuseBrackets } from './brackets.js'
import type { Device } from './operand.js'

/**
 * An immutable multi-dimensional array. Operations return new tensors; they are recorded, and run when a value is needed.
 * Memory is freed automatically; `dispose()`, `using` and `scope()` free it earlier.
 */
export class Tensor<D extends DType = DType> extends AliasMethods<D> {
  /** Sizes of the axes. */
  get shape(): readonly number[] {
    return this.type.shape
  }

  /** Element type. */
  get dtype(): D {
    return this.type.row.name as D
  }

  /** Number of axes. */
  get ndim(): number {
    return this.type.shape.length
  }

  /** Number of elements. */
  get size(): number {
    return this.type.size
  }

  /** The device that holds it: `cpu`, `vulkan:0`, ... */
  get device(): Device {
    return deviceName(this.type.device)
  }

  /**
   * The elements in row-major order, as a fresh typed array. float16 and bfloat16 come as Float32Array, bool as Uint8Array,
   * 64-bit integers as BigInt arrays, complex numbers interleaved. The event loop stays free while they are computed.
   *
   * @throws {TensorError} `ERR_DISPOSED`, `ERR_OUT_OF_MEMORY`, or the error the values turned out to be.
   */
  data(): Promise<DataOf<D>> {
    return data(this as unknown as Tensor) as Promise<DataOf<D>>
  }

  /** As {@link Tensor.data}, blocking until the values are there. */
  dataSync(): DataOf<D> {
    return dataSync(this as unknown as Tensor) as DataOf<D>
  }

  /**
   * The only element: a number, bigint, boolean or `{ re, im }`.
   *
   * @throws {TensorError} `ERR_SHAPE` when there is not exactly one, else as {@link Tensor.data}.
   */
  item(): Promise<ItemOf<D>> {
    return item(this as unknown as Tensor) as Promise<ItemOf<D>>
  }

  /** As {@link Tensor.item}, blocking. */
  itemSync(): ItemOf<D> {
    return itemSync(this as unknown as Tensor) as ItemOf<D>
  }

  /**
   * The elements as nested arrays, one level for each axis; a bare element for rank 0. Blocks. With the number of axes, `x.toArray(2)`, the type of
   * the result has as many levels.
   *
   * @throws {TensorError} `ERR_SHAPE` for a tensor of another rank than the one given, else as {@link Tensor.data}.
   * @example
   * ```ts
   * ft.tensor([[1, 2], [3, 4]]).toArray(2).map((row) => row.length) // [2, 2]
   * ```
   */
  toArray<const R extends number>(rank: R): ArrayOfRank<ItemOf<D>, R>
  toArray(): NestedArray<ItemOf<D>>
  toArray(rank?: number): NestedArray<ItemOf<D>> {
    return toArray(this as unknown as Tensor, rank) as NestedArray<ItemOf<D>>
  }

  /** The elements' raw little-endian bytes in row-major order. Blocks. */
  toBytes(): Uint8Array {
    return toBytes(this as unknown as Tensor)
  }

  /**
   * The tensor on another device; itself if it is there already.
   *
   * @throws {TensorError} `ERR_DEVICE`, `ERR_BACKEND_UNAVAILABLE`.
   */
  to(device: Device): Tensor<D> {
    return copyTo(this as unknown as Tensor, device) as Tensor<D>
  }

  /**
   * A token that may be posted to another worker, where `fromShared(token)` takes the same storage without a copy. The token
   * does not keep the tensor alive.
   */
  share(): SharedTensor<D> {
    return share(this as unknown as Tensor) as SharedTensor<D>
  }

  /**
   * Gives the tensor up: it cannot be used any more, and its memory is freed as soon as no recorded expression needs it.
   * Disposing twice does nothing.
   */
  dispose(): void {
    if (this.disposed) return
    this.disposed = true
    if (this.uses === 0) release(this as unknown as Tensor)
  }

  /** `using x = ...` disposes at the end of the block. */
  [Symbol.dispose](): void {
    this.dispose()
  }

  /** Text in templates; everything else is an arithmetic operator, which JavaScript cannot give a tensor. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === 'string') return this.toString()
    throw new ArgumentError('operators: none works on tensors; use a.add(b), a.sub(b), a.mul(b), a.div(b), a.less(b), a.equal(b)')
  }
}

setTensorClass(Tensor)
addAliases(Tensor.prototype)
refuseBrackets(Tensor.prototype)
