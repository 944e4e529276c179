// What is recorded: a node of an expression, or the handle of its value. The public class `Tensor` (lib/tensor/tensor.ts) adds its methods; everything below
// that class sees nodes alone, and makes tensors by `createTensor`.

import { ArgumentError, DisposedError } from '../errors.js'
import { IDENTITY } from '../errors/describe-value.js'
import type { Tensor } from '../tensor/tensor.js'
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

/** A recorded operation, or a value. */
export abstract class Node {
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
  /** @internal The highest level of the variables it depends on; 0: none (lib/autodiff/backward.ts). */
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
  /** @internal The program that computed it first without keeping it, or {@link NOTHING}. */
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
}

/** As `seen`: of what stands for an operand that nobody reads, and is never computed. */
export const NOTHING = -1

/** The class of all nodes, which is above this file. */
type TensorClass = new (...parts: ConstructorParameters<typeof Node>) => Tensor
let Made: TensorClass

/** Says which class nodes are of. */
export function setTensorClass(made: TensorClass): void {
  Made = made
}

/** A new node. */
export const createTensor = (...[type, signature, a, b, list, params]: ConstructorParameters<TensorClass>): Tensor => new Made(type, signature, a, b, list, params)

/** Whether a value is a tensor. */
export function isTensor(value: unknown): value is Tensor {
  // Not of `Node`, which is six prototypes further: chains of additions of 4 elements took a seventh longer.
  return value instanceof Made
}

/** The older of two before the younger. */
export const byAge = (a: Tensor, b: Tensor): number => a.seq - b.seq

/** Whether a tensor is recorded, and has no value yet. */
export const isPending = (t: Tensor): boolean => t.handle === null && t.signature !== null

/**
 * Throws if the user gave the tensor up, himself or by leaving its scope.
 *
 * @throws {DisposedError} naming the operation that wanted it.
 */
export function checkAlive(op: string, x: Tensor): void {
  if (x.disposed) throw new DisposedError(`${op}: the tensor was disposed`)
  if (x.owner.closed) throw new DisposedError(`${op}: the tensor belongs to a scope that has ended; return it from the scope to keep it`)
}
