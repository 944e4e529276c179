// Layers of products: Linear, and Embedding, which picks rows of weights.

import { flag, integer } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arange } from '../arrays/ranges.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import type { DType, FloatDType, Promote, SumOf, Takes } from '../generated/dtypes.js'
import { einsum, where } from '../generated/functions.js'
import { keyGiven, split, uniform, type Key } from '../random/draw.js'
import type { AsDType } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import type { OfDType } from './dtypes.js'
import { fans } from './fans.js'
import { embedding } from './functions.js'
import * as init from './init.js'
import { Module, type InitOptions } from './module.js'
import { initializer, layerOptions, shaped, size } from './options.js'

/** Parameters of `nn.Linear`. */
export interface LinearParams {
  /** [outputs, inputs] */
  readonly weight: Tensor
  /** [outputs] */
  readonly bias?: Tensor
}

/**
 * A linear layer: x [..., inputs] times the transposed weight [outputs, inputs], plus a bias [outputs], gives [..., outputs].
 *
 * `y = x @ weight^T + bias`
 *
 * PyTorch `nn.functional.linear`.
 *
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit, `ERR_ARGUMENT` for an argument that is not a tensor.
 * @example
 * ```ts
 * ft.nn.linear(ft.tensor([1, 2]), ft.tensor([[3, 4], [5, 6], [7, 8]]), ft.tensor([0, 0, 1])) // [11, 17, 24]
 * ```
 */
export function linear<A extends DType, B extends DType, C extends DType = B>(
  x: Tensor<A> & Takes<'numeric', A>,
  weight: Tensor<B> & Takes<'numeric', B>,
  bias?: Tensor<C> & Takes<'numeric', C>
): Tensor<Promote<SumOf<Promote<A, B>>, C>> {
  const op = 'nn.linear'
  return within(op, () => {
    const [values, rows] = [tensorGiven(op, 'x', x), tensorGiven(op, 'weight', weight)]
    if (rows.ndim !== 2) throw new ShapeError(`${op}: 'weight' must be a matrix [outputs, inputs], got shape [${rows.shape.join(', ')}]`)
    if (values.ndim === 0 || values.shape[values.ndim - 1] !== rows.shape[1]) {
      throw new ShapeError(`${op}: x has shape [${values.shape.join(', ')}], and a weight of shape [${rows.shape.join(', ')}] takes [..., ${rows.shape[1]}]`)
    }
    const product = values.matmul(rows.matrixTranspose())
    if (bias === undefined) return product as Tensor<Promote<SumOf<Promote<A, B>>, C>>
    const shift = tensorGiven(op, 'bias', bias)
    if (shift.ndim !== 1 || shift.shape[0] !== rows.shape[0]) throw new ShapeError(`${op}: 'bias' must have shape [${rows.shape[0]}], got [${shift.shape.join(', ')}]`)
    return product.add(shift) as Tensor<Promote<SumOf<Promote<A, B>>, C>>
  })
}

/**
 * Products of two vectors through a weight [outputs, first, second], plus a bias [outputs]: x1 [..., first] and x2 [..., second] become
 * [..., outputs]; their other axes broadcast.
 *
 * `y_k = sum_ij x1_i weight_kij x2_j + bias_k`
 *
 * PyTorch `nn.functional.bilinear`.
 *
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit, `ERR_ARGUMENT` for an argument that is not a tensor.
 * @example
 * ```ts
 * ft.nn.bilinear(ft.tensor([1, 2]), ft.tensor([3, 4]), ft.ones([1, 2, 2])) // [21]
 * ```
 */
export function bilinear<A extends DType, B extends DType, C extends DType, D extends DType = C>(
  x1: Tensor<A> & Takes<'numeric', A>,
  x2: Tensor<B> & Takes<'numeric', B>,
  weight: Tensor<C> & Takes<'numeric', C>,
  bias?: Tensor<D> & Takes<'numeric', D>
): Tensor<Promote<SumOf<AsDType<Promote<AsDType<Promote<A, B>>, C>>>, D>> {
  const op = 'nn.bilinear'
  return within(op, () => {
    const [a, b, w] = [tensorGiven(op, 'x1', x1), tensorGiven(op, 'x2', x2), tensorGiven(op, 'weight', weight)] as [Tensor, Tensor, Tensor]
    const [outputs, first, second] = w.shape
    if (w.ndim !== 3) throw new ShapeError(`${op}: 'weight' must have shape [outputs, first, second], got [${w.shape.join(', ')}]`)
    for (const [name, x, size] of [['x1', a, first], ['x2', b, second]] as const) {
      if (x.ndim === 0 || x.shape.at(-1) !== size) throw new ShapeError(`${op}: '${name}' must have shape [..., ${size}], got [${x.shape.join(', ')}]`)
    }
    const product = einsum('...i,kij,...j->...k', ...([a, w, b] as Tensor<'float32'>[])) as Tensor
    if (bias === undefined) return product
    const shift = tensorGiven(op, 'bias', bias)
    if (shift.ndim !== 1 || shift.shape[0] !== outputs) throw new ShapeError(`${op}: 'bias' must have shape [${outputs}], got [${shift.shape.join(', ')}]`)
    return product.add(shift)
  }) as Tensor as never
}

/** Options of layers with a weight and a bias. */
export interface WeightOptions {
  /** Whether there is a bias; true by default. */
  readonly bias?: boolean | undefined
  /** What the weight starts from; uniform by the number of inputs by default, as in PyTorch. */
  readonly weightInit?: init.Initializer | undefined
  /** What the bias starts from; uniform by the number of inputs by default, as in PyTorch. */
  readonly biasInit?: init.Initializer | undefined
}

/** The options of a layer with a weight and a bias, checked; `more` are those of its own. */
export function weightOptions<T extends WeightOptions>(op: string, options: unknown, more: readonly (keyof T & string)[] = []): T {
  const o = layerOptions<T>(op, options, ['bias', 'weightInit', 'biasInit', ...more])
  flag(op, 'bias', o.bias, true)
  initializer(op, 'weightInit', o.weightInit, init.zeros)
  initializer(op, 'biasInit', o.biasInit, init.zeros)
  return o
}

/** A fresh weight of a shape [outputs, inputs, window...], and a bias [biases], which has no inputs of its own and goes by the weight's. */
export function weightAndBias(op: string, key: Key, shape: readonly number[], biases: number, options: WeightOptions, o: InitOptions | undefined): LinearParams {
  const bound = 1 / Math.sqrt(fans(op, shape).fanIn)
  const { bias = true, weightInit = init.fanInUniform, biasInit = (k, sizes, d) => uniform(k, sizes, { ...d, low: -bound, high: bound }) } = options
  const [ofWeight, ofBias] = split(keyGiven(op, key) as Key)
  const weight = weightInit(ofWeight, shape, o)
  return bias ? { weight, bias: biasInit(ofBias, [biases], o) } : { weight }
}

/**
 * A fully connected layer: x [..., inputs] becomes [..., outputs]. PyTorch `nn.Linear`.
 *
 * `y = x @ weight^T + bias`
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.Linear(3, 2)
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([5, 3])).shape // [5, 2]
 * ```
 */
export class Linear extends Module<LinearParams, null, 'promoted'> {
  readonly inputs: number
  readonly outputs: number
  readonly #options: WeightOptions

  constructor(inputs: number, outputs: number, options?: WeightOptions) {
    super()
    this.inputs = size(this.name, 'inputs', inputs)
    this.outputs = size(this.name, 'outputs', outputs)
    this.#options = weightOptions(this.name, options)
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<LinearParams, E> {
    return weightAndBias(this.name, key, [this.outputs, this.inputs], this.outputs, this.#options, options) as OfDType<LinearParams, E>
  }

  protected run(params: LinearParams, x: Tensor): readonly [Tensor, null] {
    const { outputs, inputs, name } = this
    const { weight, bias } = shaped(name, params, { weight: [outputs, inputs], bias: this.#options.bias === false ? undefined : [outputs] })
    return [within(name, () => linear(x, weight, bias)), null]
  }
}

/** Parameters of `nn.Embedding`. */
export interface EmbeddingParams {
  /** [entries, features] */
  readonly weight: Tensor
}

/** Options of `nn.Embedding`. */
export interface EmbeddingOptions {
  /** An index whose vector starts as zeros and is not trained. */
  readonly paddingIndex?: number | undefined
  /** What the weight starts from; standard normal by default. */
  readonly weightInit?: init.Initializer | undefined
}

/**
 * A vector of features for each integer: indices [...] become [..., features]. PyTorch `nn.Embedding`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.Embedding(10, 4, { paddingIndex: 0 })
 * layer.apply(layer.init(ft.random.key(1)), ft.tensor([0], { dtype: 'int32' })) // [[0, 0, 0, 0]]
 * ```
 */
export class Embedding extends Module<EmbeddingParams, null, 'picked'> {
  readonly entries: number
  readonly features: number
  readonly #options: EmbeddingOptions
  readonly #padding: number | undefined

  constructor(entries: number, features: number, options?: EmbeddingOptions) {
    super()
    const op = this.name
    this.entries = size(op, 'entries', entries)
    this.features = size(op, 'features', features)
    this.#options = layerOptions<EmbeddingOptions>(op, options, ['paddingIndex', 'weightInit'])
    initializer(op, 'weightInit', this.#options.weightInit, init.standardNormal)
    const { paddingIndex } = this.#options
    if (paddingIndex !== undefined) {
      const index = integer(op, 'paddingIndex', paddingIndex)
      if (index < -entries || index >= entries) throw new ArgumentError(`${op}: 'paddingIndex' must be an index of ${entries} entries, got ${index}`)
      this.#padding = index < 0 ? index + entries : index
    }
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<EmbeddingParams, E> {
    const drawn = (this.#options.weightInit ?? init.standardNormal)(keyGiven(this.name, key) as Key, [this.entries, this.features], options)
    if (this.#padding === undefined) return { weight: drawn as Tensor<E> }
    const rows = arange(this.entries, { dtype: 'int32', device: drawn.device }).reshape([this.entries, 1])
    return { weight: where(rows.equal(this.#padding), 0, drawn) as Tensor<E> }
  }

  protected run(params: EmbeddingParams, x: Tensor): readonly [Tensor, null] {
    const { weight } = shaped(this.name, params, { weight: [this.entries, this.features] })
    return [within(this.name, () => embedding(x as Tensor<'int32'>, weight, { paddingIndex: this.#padding })), null]
  }
}
