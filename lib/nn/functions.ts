// Functions of neural networks that are made of rows of other families.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, flag, integer, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating } from '../arrays/dtypes.js'
import { isListed, positionsOf } from '../calls/arrays.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type FloatDType, type FloatOf, type Takes } from '../generated/dtypes.js'
import { oneHot, sigmoid, softmax, where } from '../generated/functions.js'
import { split } from '../indexing/split.js'
import { constant } from '../program/markers.js'
import { bernoulli, gumbel } from '../random/distributions.js'
import { keyGiven, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `nn.embedding`. */
export interface EmbedOptions {
  /** An index whose vectors have no gradient; negative ones count from the end. */
  readonly paddingIndex?: number | undefined
}

/**
 * Rows of weights [entries, features] that integers pick: a vector of features in the place of each index.
 *
 * `y[i..., :] = weights[indices[i...], :]`
 *
 * PyTorch `nn.functional.embedding`. Negative indices count from the end.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a tensor and a `paddingIndex` that is not an entry, `ERR_DTYPE` for indices that are not integers or are uint64, `ERR_SHAPE` for
 * weights that are not matrix; `ERR_INDEX` when a result is read whose index is out of range.
 * @example
 * ```ts
 * ft.nn.embedding(ft.tensor([1, 0, 1], { dtype: 'int32' }), ft.tensor([[1, 2], [3, 4]])) // [[3, 4], [1, 2], [3, 4]]
 * ```
 */
export function embedding<A extends DType, B extends DType>(indices: Tensor<A> & Takes<'index', A>, weights: Tensor<B>, options?: EmbedOptions): Tensor<B> {
  const op = 'nn.embedding'
  return within(op, () => {
    const { paddingIndex } = checkOptions(op, options, ['paddingIndex'])
    const rows = tensorGiven(op, 'weights', weights)
    const places = isListed(indices) ? positionsOf(op, indices, rows) : tensorGiven(op, 'indices', indices)
    if (rows.ndim !== 2) throw new ShapeError(`${op}: 'weights' must be a matrix [entries, features], got shape [${rows.shape.join(', ')}]`)
    if (!/^u?int/.test(places.dtype)) throw new DTypeError(`${op}: 'indices' must be integers, got ${places.dtype}; convert with astype('int32')`)
    const vectors = rows.take(places as Tensor<'int32'>, { axis: 0 }) as Tensor<B>
    return paddingIndex === undefined ? vectors : padded(op, places, vectors, paddingIndex, rows.shape[0] as number)
  })
}

/** The same vectors, but no gradient for those of one index. */
function padded<B extends DType>(op: string, places: Tensor, vectors: Tensor<B>, paddingIndex: unknown, entries: number): Tensor<B> {
  const index = integer(op, 'paddingIndex', paddingIndex)
  if (index < -entries || index >= entries) throw new ArgumentError(`${op}: 'paddingIndex' must be an index of ${entries} entries, got ${index}`)
  const { min, max } = places.type.row
  const at = places.expandDims(-1)
  // Counted from either end, as far as the indices' dtype reaches.
  const same = [index, index < 0 ? index + entries : index - entries].filter((n) => n >= Number(min) && n <= Number(max))
  return same.reduce<Tensor>((rest, n) => where(at.equal(n), constant(vectors), rest) as Tensor, vectors) as Tensor<B>
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
 * @throws {TensorError} `ERR_ARGUMENT` for arguments that are not a key or a tensor, and for a probability outside [0, 1].
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
    const values = tensorGiven(op, 'x', x)
    return dropped(op, key, values, values.shape, options) as Tensor<FloatOf<D>>
  })
}

/** A tensor without what is dropped, by decisions of a shape that broadcasts to it. */
function dropped(op: string, key: Key, values: Tensor, shape: readonly number[], options: unknown): Tensor {
  const { p = 0.5 } = checkOptions(op, options, ['p'])
  if (typeof p !== 'number' || !(p >= 0 && p <= 1)) throw new ArgumentError(`${op}: 'p' must be a number from 0 to 1, got ${shown(p)}`)
  const kept = bernoulli(key, shape, { p: 1 - p })
  // What is dropped is zero, whatever it was; with p = 1 nothing is divided by zero.
  return where(kept, values.divide(p === 1 ? 1 : 1 - p), 0) as Tensor
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
 * @param options Options, or the value of `axis` alone.
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

/** Options of `nn.softmin`. */
export interface SoftminOptions {
  /** The axis along which shares add up to 1; negative ones count from the last; the last by default. */
  readonly axis?: number | undefined
}

/**
 * Softmin along an axis: the softmax of the negated tensor, largest for the smallest elements.
 *
 * `y_i = e^(-x_i) / sum_j e^(-x_j)`
 *
 * PyTorch `nn.functional.softmin`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_DTYPE` for a complex tensor.
 * @example
 * ```ts
 * ft.nn.softmin(ft.tensor([0, 0])) // [0.5, 0.5]
 * ```
 */
export function softmin<D extends DType>(x: Tensor<D> & Takes<'real', D>, options?: number | SoftminOptions): Tensor<FloatOf<D>> {
  const op = 'nn.softmin'
  return within(op, () => {
    const values = floating(tensorGiven(op, 'x', x)) as Tensor<'float32'>
    const { axis = -1 } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis'])
    return softmax(values.negative(), { axis: axisGiven(op, axis, values.ndim) }) as Tensor as Tensor<FloatOf<D>>
  })
}

/**
 * Elements above a limit as they are, others replaced by a value. NaN stays NaN.
 *
 * `y = x where x > limit, else value`
 *
 * PyTorch `nn.functional.threshold`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a number, `ERR_DTYPE` for complex tensors and bool, and a fraction beside integers.
 * @example
 * ```ts
 * ft.nn.threshold(ft.tensor([1, 2, 3]), 1.5, 0) // [0, 2, 3]
 * ```
 */
export function threshold<D extends DType>(x: Tensor<D> & Takes<'integerOrFloat', D>, limit: number, value: number): Tensor<D> {
  const op = 'nn.threshold'
  return within(op, () => {
    const values = tensorGiven(op, 'x', x) as Tensor
    if (['complex', 'bool'].includes(DTYPE[values.dtype].kind)) throw new DTypeError(`${op}: 'x' must be integers or floating, got ${values.dtype}`)
    return where(values.lessEqual(number(op, 'limit', limit)), number(op, 'value', value), values) as Tensor<D>
  })
}

/** Options of `nn.gumbelSoftmax`. */
export interface GumbelSoftmaxOptions {
  /** The temperature, above 0: the smaller, the nearer to one class alone; 1 by default. */
  readonly tau?: number | undefined
  /** Whether the result is 1 for one class and 0 for the others, with the gradient of the shares; false by default. */
  readonly hard?: boolean | undefined
  /** The axis of the classes; negative ones count from the last; the last by default. */
  readonly axis?: number | undefined
}

/**
 * Shares of classes drawn by their log-probabilities, which need not add up to 1, in a way that has a gradient.
 *
 * `y = softmax((logits + g) / tau) for Gumbel numbers g`
 *
 * PyTorch `nn.functional.gumbel_softmax`. Jang and others, "Categorical reparameterization with Gumbel-softmax", 2017.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for arguments that are not a key or a tensor, and for a temperature that is not above 0, `ERR_INDEX` for an axis out of
 * range, `ERR_DTYPE` for complex logits.
 * @example
 * ```ts
 * ft.nn.gumbelSoftmax(ft.random.key(1), ft.tensor([[0, -Infinity], [-Infinity, 0]]), { hard: true }) // [[1, 0], [0, 1]]
 * ```
 */
export function gumbelSoftmax<D extends DType>(key: Key, logits: Tensor<D> & Takes<'real', D>, options?: GumbelSoftmaxOptions): Tensor<FloatOf<D>> {
  const op = 'nn.gumbelSoftmax'
  return within(op, () => {
    keyGiven(op, key, '; the key comes before the logits: nn.gumbelSoftmax(key, logits)')
    const { tau = 1, hard, axis = -1 } = checkOptions(op, options, ['tau', 'hard', 'axis'])
    const temperature = number(op, 'tau', tau)
    if (!(temperature > 0 && temperature < Infinity)) throw new ArgumentError(`${op}: 'tau' must be a finite number above 0, got ${temperature}`)
    const values = floating(tensorGiven(op, 'logits', logits))
    const along = axisGiven(op, axis, values.ndim)
    const noise = gumbel(key, values.shape, { dtype: values.dtype as FloatDType })
    const shares = softmax(values.add(noise as Tensor).divide(temperature) as Tensor<'float32'>, { axis: along }) as Tensor
    if (!flag(op, 'hard', hard, false)) return shares as Tensor<FloatOf<D>>
    const classes = values.shape[along] as number
    const chosen = oneHot(shares.argmax({ axis: along }), classes, { dtype: shares.dtype }).moveaxis(-1, along) as Tensor
    // The value of one class, and the gradient of the shares; their difference is exactly 0 or 1.
    return shares.subtract(constant(shares)).add(chosen) as Tensor<FloatOf<D>>
  })
}

/**
 * Dropout of whole channels: each channel of each example in `x` [batch, channels, spatial...] is 0 with probability `p`, and is
 * multiplied by 1 / (1 - p) otherwise.
 *
 * `out[b, c, ...] = keep[b, c] x[b, c, ...] / (1 - p)`, with `keep[b, c]` 0 with probability `p`, else 1
 *
 * PyTorch `nn.functional.dropout1d`, `dropout2d` and `dropout3d`. Tompson and others, "Efficient object localization using convolutional
 * networks", 2015. The same key drops the same channels.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for arguments that are not a key or a tensor, and for a probability outside [0, 1], `ERR_SHAPE` for fewer than three axes.
 * @example
 * ```ts
 * ft.nn.channelDropout(ft.random.key(1), ft.ones([1, 1, 2, 1]), { p: 0 }) // [[[[1], [1]]]]
 * ```
 */
export function channelDropout<D extends DType>(key: Key, x: Tensor<D>, options?: DropoutOptions): Tensor<FloatOf<D>> {
  const op = 'nn.channelDropout'
  return within(op, () => {
    keyGiven(op, key, '; the key comes before the tensor: nn.channelDropout(key, x)')
    const values = tensorGiven(op, 'x', x)
    if (values.ndim < 3) throw new ShapeError(`${op}: x must have shape [batch, channels, spatial...], got [${values.shape.join(', ')}]`)
    return dropped(op, key, values, values.shape.map((size, i) => (i < 2 ? size : 1)), options) as Tensor<FloatOf<D>>
  })
}
