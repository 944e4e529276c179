// Functions of neural networks that are made of rows of other families.

import { axisGiven, checkOptions, shown, tensorGiven, within } from '../call.js'
import { bernoulli } from '../distributions.js'
import { keyGiven, type Key } from '../draws.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import type { DType, FloatOf, Takes } from '../generated/dtypes.js'
import { sigmoid, where } from '../generated/functions.js'
import { isListed, positionsOf } from '../listed.js'
import { split } from '../pieces.js'
import type { Tensor } from '../tensor.js'

/**
 * Rows of weights [entries, features] that integers pick: a vector of features in the place of each index.
 *
 * `y[i..., :] = weights[indices[i...], :]`
 *
 * PyTorch `nn.functional.embedding`. Negative indices count from the end.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for what is no tensor, `ERR_DTYPE` for indices that are no integers or are uint64, `ERR_SHAPE` for
 * weights that are no matrix; `ERR_INDEX` when a result is read whose index is out of range.
 * @example
 * ```ts
 * ft.nn.embedding(ft.tensor([1, 0, 1], { dtype: 'int32' }), ft.tensor([[1, 2], [3, 4]])) // [[3, 4], [1, 2], [3, 4]]
 * ```
 */
export function embedding<A extends DType, B extends DType>(indices: Tensor<A> & Takes<'index', A>, weights: Tensor<B>): Tensor<B> {
  const op = 'nn.embedding'
  return within(op, () => {
    const rows = tensorGiven(op, 'weights', weights)
    const places = isListed(indices) ? positionsOf(op, indices, rows) : tensorGiven(op, 'indices', indices)
    if (rows.ndim !== 2) throw new ShapeError(`${op}: 'weights' must be a matrix [entries, features], got shape [${rows.shape.join(', ')}]`)
    if (!/^u?int/.test(places.dtype)) throw new DTypeError(`${op}: 'indices' must be integers, got ${places.dtype}; convert with astype('int32')`)
    return rows.take(places, { axis: 0 }) as Tensor<B>
  })
}

/** Options of `nn.dropout`. */
export interface DropoutOptions {
  /** How likely an element is to be dropped, from 0 to 1; 0.5 by default. */
  readonly p?: number | undefined
}

/**
 * Elements set to zero with probability `p`, the others scaled by 1 / (1 - p), so that what is expected stays the same.
 *
 * `y_i = 0 with probability p, else x_i / (1 - p)`
 *
 * PyTorch `nn.functional.dropout`. The same key drops the same elements.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for what is no key or no tensor and for a probability outside [0, 1].
 * @example
 * ```ts
 * ft.nn.dropout(ft.random.key(1), ft.ones([3]), { p: 0 }) // [1, 1, 1]
 * ```
 */
export function dropout<D extends DType>(key: Key, x: Tensor<D>, options?: DropoutOptions): Tensor<FloatOf<D>> {
  const op = 'nn.dropout'
  return within(op, () => {
    // PyTorch's tensor comes first.
    keyGiven(op, key, '; the key comes before the tensor: nn.dropout(key, x)')
    const { p = 0.5 } = checkOptions(op, options, ['p'])
    if (typeof p !== 'number' || !(p >= 0 && p <= 1)) throw new ArgumentError(`${op}: 'p' must be a number from 0 to 1, got ${shown(p)}`)
    const values = tensorGiven(op, 'x', x)
    const kept = bernoulli(key, values.shape, { p: 1 - p })
    // What is dropped is zero, whatever it was; with p = 1 nothing is divided by zero.
    return where(kept, values.divide(p === 1 ? 1 : 1 - p), 0) as Tensor<FloatOf<D>>
  })
}

/** Options of `nn.glu`. */
export interface GluOptions {
  /** The axis that is halved; negative ones count from the last; the last by default. */
  readonly axis?: number | undefined
}

/**
 * The first half of a tensor along an axis, gated by the second: the gated linear unit.
 *
 * `y = a sigmoid(b) for the halves a and b of x`
 *
 * PyTorch `nn.functional.glu`. Dauphin and others, "Language modeling with gated convolutional networks", 2017.
 *
 * @param options The axis alone, or an object of options.
 * @throws {TensorError} `ERR_SHAPE` for an odd size, `ERR_INDEX` for an axis out of range, `ERR_DTYPE` for a complex tensor.
 * @example
 * ```ts
 * ft.nn.glu(ft.tensor([1, 2, 0, 0])) // [0.5, 1]
 * ```
 */
export function glu<D extends DType>(x: Tensor<D> & Takes<'real', D>, options?: number | GluOptions): Tensor<FloatOf<D>> {
  const op = 'nn.glu'
  return within(op, () => {
    const values = tensorGiven(op, 'x', x)
    const { axis = -1 } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis'])
    const along = axisGiven(op, axis, values.ndim)
    const size = values.shape[along] as number
    if (size % 2 !== 0) throw new ShapeError(`${op}: axis ${along} of size ${size} has no halves`)
    const [a, b] = split(values, 2, along) as [Tensor, Tensor]
    return a.multiply(sigmoid(b as Tensor<'float32'>)) as Tensor<FloatOf<D>>
  })
}
