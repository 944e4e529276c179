// The methods of a tensor that no row of the table makes: indexing, iteration, printing.

import { inspect, type InspectOptions } from 'node:util'
import { ShapeError } from '../errors.js'
import type { DType } from '../generated/dtypes.js'
import { at, atAsync, withAt, withAtAsync, type IndexItem, type Indices } from '../indexing/at.js'
import { Node } from '../program/node.js'
import type { Fits, Operand } from './operand.js'
import { inspectText, JEST_COPIES, jestCopies, json, plainText, type TensorJSON, type TextOptions } from './print.js'
import type { Tensor } from './tensor.js'
import { layoutGiven } from './text-options.js'

/** Hand-written methods; the generated ones extend them. */
export abstract class Methods<D extends DType> extends Node {
  /**
   * Part of the tensor: a number picks a position and removes the axis, `'1:3'` or `ft.slice(1, 3)` takes a range, null adds
   * an axis of size 1, `'...'` stands for all axes not named. Items may be one text: `x.at('1:3, ..., ::-1')`. Bounds have
   * Python's meaning: negative ones count from the end, those outside are clamped. With these items alone, a view.
   *
   * An array, typed array or tensor of integers gathers along its axis; several broadcast against each other. One of booleans
   * is a mask over as many axes as it has, and selects where it is true; a mask that is a tensor is read at the call (see
   * {@link Tensor.atAsync}). What they select stands where they stand, or first if something stands between them, as in
   * NumPy.
   *
   * @throws {TensorError} `ERR_INDEX` for a position out of range or too many items (for positions in a tensor: when the
   * result is read), `ERR_SHAPE` for index arrays that do not broadcast and masks of another shape than their axes,
   * `ERR_DTYPE` for arrays of anything but integers and booleans, `ERR_ARGUMENT` for anything else.
   * @example
   * ```ts
   * ft.tensor([[1, 2, 3], [4, 5, 6]]).at(1, '::-1') // [6, 5, 4]
   * ```
   * ```ts
   * ft.tensor([[1, 2, 3], [4, 5, 6]]).at('...', [2, 0]) // [[3, 1], [6, 4]]
   * ```
   */
  at<const T extends readonly IndexItem[]>(...items: T & Indices<T>): Tensor<D> {
    return at(this as unknown as Tensor, items) as Tensor<D>
  }

  /** As `at`; masks that are tensors are read without blocking. */
  atAsync<const T extends readonly IndexItem[]>(...items: T & Indices<T>): Promise<Tensor<D>> {
    return atAsync(this as unknown as Tensor, items) as Promise<Tensor<D>>
  }

  /**
   * A copy in which the part that `at(...items)` names is replaced by `value`, broadcast to it and converted to this dtype.
   * Where an index array names a position twice, the later value stays. A mask that is a tensor is read at the call, unless it
   * is the only index and the value a single one.
   *
   * @throws {TensorError} As `at`, and `ERR_SHAPE` where the value does not broadcast.
   * @example
   * ```ts
   * ft.tensor([1, 2, 3]).withAt('1:', 0) // [1, 0, 0]
   * ```
   * ```ts
   * ft.tensor([1, 2, 3]).withAt([[true, false, true]], 0) // [0, 2, 0]
   * ```
   */
  withAt<const T extends string | readonly IndexItem[], V extends Operand>(items: T & Indices<T>, value: V & Fits<'any', V, D>): Tensor<D> {
    return withAt(this as unknown as Tensor, items, value) as Tensor<D>
  }

  /** As `withAt`; masks that are tensors are read without blocking. */
  withAtAsync<const T extends string | readonly IndexItem[], V extends Operand>(items: T & Indices<T>, value: V & Fits<'any', V, D>): Promise<Tensor<D>> {
    return withAtAsync(this as unknown as Tensor, items, value) as Promise<Tensor<D>>
  }

  /**
   * A matrix with its axes exchanged. A view.
   *
   * @throws {TensorError} `ERR_SHAPE` for a tensor that does not have two axes; see `mT` and `permuteDims`.
   * @example
   * ```ts
   * ft.tensor([[1, 2], [3, 4]]).T // [[1, 3], [2, 4]]
   * ```
   */
  get T(): Tensor<D> {
    const x = this as unknown as Tensor<D>
    if (x.ndim !== 2) throw new ShapeError(`T: a tensor of rank ${x.ndim} is no matrix; mT exchanges the last two axes, permuteDims any`)
    return x.matrixTranspose()
  }

  /**
   * The last two axes exchanged, as `matrixTranspose()`. A view.
   *
   * @throws {TensorError} `ERR_SHAPE` for a tensor of fewer than two axes.
   */
  get mT(): Tensor<D> {
    return (this as unknown as Tensor<D>).matrixTranspose()
  }

  /** Walks the first axis: `for (const row of x)`. */
  *[Symbol.iterator](): IterableIterator<Tensor<D>> {
    const { shape } = this as unknown as Tensor
    if (shape.length === 0) throw new ShapeError('iteration: a tensor of rank 0 has no axis to walk; use item() or itemSync() (where an assertion of a test framework walked here: ferrotensor/testing compares tensors)')
    for (let i = 0; i < (shape[0] as number); i++) yield this.at(i)
  }

  /**
   * The elements as text, in NumPy's layout; beyond 1000 elements the edges only. A tensor without values shows its state.
   *
   * @param options As those of `ft.array2string`.
   * @throws {TensorError} `ERR_ARGUMENT` for options that are none, or out of range.
   * @example
   * ```ts
   * ft.tensor([1 / 3, 2]).toString({ precision: 2 }) // '[0.33, 2]'
   * ```
   */
  override toString(options?: TextOptions): string {
    return plainText(this as unknown as Tensor, options === undefined ? undefined : layoutGiven('toString', options))
  }

  /** Shape, dtype and elements in row-major order, for `JSON.stringify`. */
  toJSON(): TensorJSON<D> {
    return json(this as unknown as Tensor) as TensorJSON<D>
  }

  /** @internal What Jest copies of a tensor before it shows how two differ. */
  get [JEST_COPIES](): readonly string[] {
    return jestCopies(this as unknown as Tensor)
  }

  /**
   * What `console.log` shows: dtype, shape, device and elements. Never throws.
   * @internal So that the declarations do not need those of Node.
   */
  [inspect.custom](depth: number, _options: InspectOptions): string {
    const x = this as unknown as Tensor
    return typeof depth === 'number' && depth < 0 ? `[Tensor<${x.dtype}>[${x.shape.join(', ')}]]` : inspectText(x)
  }
}
