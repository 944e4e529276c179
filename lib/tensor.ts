// The tensor: a recorded expression or the handle of a value, and the methods that the op table does not make.

import { addAliases } from './aliases.js'
import { refuseBrackets } from './brackets.js'
import { deviceName } from './devices.js'
import { ArgumentError, DisposedError } from './errors.js'
import type { DataOf, DType, ItemOf } from './generated/dtypes.js'
import { AliasMethods } from './generated/names/methods.js'
import type { Device } from './operand.js'
import { data, dataSync, item, itemSync, toArray, toBytes, type ArrayOfRank, type NestedArray } from './reading.js'
import { release } from './record.js'
import { copyTo } from './upload.js'
import { share, type SharedTensor } from './share.js'
import type { Signature, Type } from './types.js'

/**
 * Where tensors are made: `scope()` ends what was made in it.
 * @internal
 */
export interface Owner {
  /** Number in programs; 0 outside of any scope. */
  readonly id: number
  closed: boolean
}

/** @internal Of what is made outside of any scope. */
export const OUTSIDE: Owner = { id: 0, closed: false }

/** The scope that owns tensors made now. */
export let owner: Owner = OUTSIDE

/** Changes the scope that owns tensors made from now on; returns the one before. */
export function enter(next: Owner): Owner {
  const before = owner
  owner = next
  return before
}

/**
 * The only own property of a tensor that `Object.keys` does not list and `assert.deepStrictEqual` compares: no two tensors have the same
 * number, so that two of them are never deeply equal by chance, and its text is what the failed assertion shows. That compares fields, not values.
 * Private fields would hide the others, and make chains of additions of 4 elements a quarter slower (350 ns each instead of 285).
 * @internal
 */
export const IDENTITY = Symbol('number of this tensor; to compare values: assertEqual of ferrotensor/testing')

let made = 0

/**
 * The outputs of one operation that has several: `node` is recorded once, outputs are its projections.
 * @internal
 */
export interface Group {
  readonly node: Tensor
  readonly outputs: Tensor[]
}

/**
 * One of the pieces that a tensor was cut into, all of them together being the whole.
 * @internal
 */
export interface Piece {
  /** The same object for all pieces: makes the whole of them, or of what belongs to each; at least one is there. */
  readonly join: (parts: readonly (Tensor | undefined)[]) => Tensor
  readonly at: number
}

/**
 * How the gradients of a value that was computed at once go (`fused.ts`).
 * @internal
 */
export interface Step {
  /** Cotangents of the operands for its own, added to those that are known so far. */
  readonly pull: (cotangent: Tensor, before: ReadonlyMap<Tensor, Tensor | undefined>) => readonly (Tensor | undefined)[]
  /** Records it. */
  readonly again: () => Tensor
}

/**
 * An immutable multi-dimensional array. Operations return new tensors; they are recorded, and run when a value is needed.
 * Memory is freed automatically; `dispose()`, `using` and `scope()` free it earlier.
 */
export class Tensor<D extends DType = DType> extends AliasMethods<D> {
  /** @internal First, so that structured cloning meets its symbol at once. */
  declare type: Type
  /** @internal The user gave it up; expressions that were recorded on it still use it. */
  declare disposed: boolean
  /** @internal The native handle of its value (an error too is one, thrown by each read); null before, and after it was freed. */
  declare handle: number | null
  /** @internal The operation; null once there is a value. */
  declare signature: Signature | null
  /** @internal Operands of operations with one or two. */
  declare a: unknown
  /** @internal */
  declare b: unknown
  /** @internal Operands of all other operations. */
  declare list: readonly unknown[] | null
  /** @internal Run-time numbers of the operation. */
  declare params: readonly (number | bigint)[] | null
  /** @internal For a projection: where it comes from. */
  declare group: Group | null
  /** @internal For an operation with several outputs: its projections. */
  declare outputs: readonly Tensor[] | null
  /** @internal What is computed and kept in the program that computes it. */
  declare beside: readonly Tensor[] | null
  /** @internal The same, in a program in which its value is asked for. */
  declare company: readonly Tensor[] | null
  /** @internal Cotangents of its operands but the first, for its own: where the caller made them (`customGradient`). */
  declare pull: ((cotangent: Tensor) => readonly (Tensor | undefined)[]) | null
  /** @internal Where it is a piece of its second operand: which of how many. */
  declare piece: Piece | null
  /** @internal Computes it again (`checkpoint`). */
  declare again: (() => Tensor) | null
  /** @internal Where it was computed at once: the way back. */
  declare step: Step | null
  /** @internal The highest level of the variables it depends on; 0: none (tape.ts). */
  declare level: number
  /** @internal The scope that made it. */
  declare owner: Owner
  /** @internal Creation number. */
  declare seq: number
  /** @internal Smallest `seq` among the pending nodes below, its own included. */
  declare low: number
  /** @internal Levels and (an upper bound of) nodes of the recorded expression. */
  declare depth: number
  /** @internal */
  declare nodes: number
  /** @internal KiB of values the expression keeps alive (upper bound), and the largest of them. */
  declare pins: number
  /** @internal */
  declare leaf: number
  /** @internal Recorded expressions that use it. */
  declare uses: number
  /** @internal The walk that met it last, and its slot in that walk's program. */
  declare mark: number
  /** @internal */
  declare slot: number
  /** @internal The flush that computed it first without keeping it. */
  declare seen: number
  /** @internal How many values that one had computed before it. */
  declare place: number
  /** @internal Which of all tensors it is. */
  declare [IDENTITY]: number

  /** @internal Use `tensor()`, `zeros()`, ... */
  constructor(
    type: Type,
    signature: Signature | null,
    a: unknown,
    b: unknown,
    list: readonly unknown[] | null,
    params: readonly (number | bigint)[] | null
  ) {
    super()
    // Our own calls give null or numbers.
    if (params === undefined) throw new ArgumentError('Tensor: not made with new; use ft.tensor(data), ft.zeros(shape), ft.fromTypedArray(array, shape), ...')
    this.type = type
    this.disposed = false
    this.handle = null
    this.signature = signature
    this.a = a
    this.b = b
    this.list = list
    this.params = params
    this.group = null
    this.outputs = null
    this.beside = null
    this.company = null
    this.pull = null
    this.piece = null
    this.again = null
    this.step = null
    this.level = 0
    this.owner = owner
    this.seq = 0
    this.low = 0
    this.depth = 0
    this.nodes = 0
    this.pins = 0
    this.leaf = 0
    this.uses = 0
    this.mark = 0
    this.slot = 0
    this.seen = 0
    this.place = 0
    this[IDENTITY] = ++made
  }

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

addAliases(Tensor.prototype)
refuseBrackets(Tensor.prototype)

/**
 * Throws if the user gave the tensor up, himself or by leaving its scope.
 *
 * @throws {DisposedError} naming the operation that wanted it.
 */
export function checkAlive(op: string, x: Tensor): void {
  if (x.disposed) throw new DisposedError(`${op}: the tensor was disposed`)
  if (x.owner.closed) throw new DisposedError(`${op}: the tensor belongs to a scope that has ended; return it from the scope to keep it`)
}
