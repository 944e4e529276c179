// Encoders of transformers (Vaswani et al., 2017): attention and two products, each beside what it was given.

import { checkOptions } from '../arguments/options.js'
import { flag } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatDType } from '../generated/dtypes.js'
import { relu } from '../generated/functions.js'
import { gelu } from '../generated/nn.js'
import { fold, keyGiven, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import { MultiHeadAttention, type AttentionParams } from './attention.js'
import type { AppliedDType, FreshOf, OfDType } from './dtypes.js'
import { dropout as dropped } from './functions.js'
import { Linear, type LinearParams } from './linear.js'
import { Module, type InitOptions, type Run } from './module.js'
import { LayerNorm, type NormParams } from './norm.js'
import { given, layerOptions, ranged, size } from './options.js'

/** Parameters of `nn.TransformerEncoderLayer`, as PyTorch has them. */
export interface TransformerEncoderLayerParams {
  readonly selfAttn: AttentionParams
  /** [hidden, features] */
  readonly linear1: LinearParams
  /** [features, hidden] */
  readonly linear2: LinearParams
  readonly norm1: NormParams
  readonly norm2: NormParams
}

/** Options of `nn.TransformerEncoderLayer`. */
export interface TransformerEncoderLayerOptions {
  /** Features between the two products, PyTorch's `dim_feedforward`; 2048 by default. */
  readonly hidden?: number | undefined
  /** How likely an element is to be dropped while training, and a weight of attention; 0.1 by default. */
  readonly dropout?: number | undefined
  /** What stands between the two products; 'relu' by default. */
  readonly activation?: 'relu' | 'gelu' | ((x: Tensor<'float32'>) => Tensor) | undefined
  /** Added to variances; 1e-5 by default. */
  readonly eps?: number | undefined
  /** Whether norms come before attention and products (pre-norm), instead of behind what they give is added (post-norm); false by default. */
  readonly normFirst?: boolean | undefined
  /** Whether products and norms have a bias; true by default. */
  readonly bias?: boolean | undefined
  /** Whether `apply` and `train` let a place see only those up to it; false by default. */
  readonly causal?: boolean | undefined
}

/** Options of `encode`. */
export interface EncodeOptions {
  /**
   * What takes part: bool, true where a key is seen, or numbers that are added to the scores; broadcast to [batch, heads, queries, keys]. For
   * the padding of keys [batch, keys], expand it to [batch, 1, 1, keys].
   */
  readonly mask?: Tensor | undefined
  /** Whether a place sees only those up to it; the layer's by default. */
  readonly causal?: boolean | undefined
  /** For dropout: with a key the layer is trained, without one it is not. */
  readonly key?: Key | undefined
}

/** The options of `encode`, checked. */
function encodeOptions(op: string, options: unknown): EncodeOptions {
  const { mask, causal, key } = checkOptions(op, options, ['mask', 'causal', 'key']) as EncodeOptions
  if (mask !== undefined) tensorGiven(op, 'mask', mask)
  if (causal !== undefined) flag(op, 'causal', causal, true)
  if (key !== undefined) keyGiven(op, key)
  return { mask, causal, key }
}

/** What stands between the two products. */
function activationGiven(op: string, value: unknown = 'relu'): (x: Tensor<'float32'>) => Tensor {
  if (value === 'relu') return relu as (x: Tensor<'float32'>) => Tensor
  if (value === 'gelu') return (x) => gelu(x)
  if (typeof value === 'function') return value as (x: Tensor<'float32'>) => Tensor
  throw new ArgumentError(`${op}: 'activation' must be 'relu', 'gelu' or a function of a tensor, got ${shown(value)}`)
}

/**
 * Self-attention, and two products with a nonlinearity between them, over x [batch, places, features]: what each gives is added to what it was
 * given, and normalised, before (`normFirst`) or behind. The batch comes first, always. PyTorch `nn.TransformerEncoderLayer` with `batch_first`.
 *
 * `y = norm1(x + attention(x))`, `norm2(y + linear2(activation(linear1(y))))`
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.TransformerEncoderLayer(8, 2, { hidden: 16, normFirst: true })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([1, 5, 8])).shape // [1, 5, 8]
 * ```
 */
export class TransformerEncoderLayer extends Module<TransformerEncoderLayerParams, null, 'promoted'> {
  readonly features: number
  readonly heads: number
  readonly hidden: number
  readonly normFirst: boolean
  readonly #causal: boolean
  readonly #dropout: number
  readonly #activation: (x: Tensor<'float32'>) => Tensor
  readonly #layers: { readonly selfAttn: MultiHeadAttention; readonly linear1: Linear; readonly linear2: Linear; readonly norm1: LayerNorm; readonly norm2: LayerNorm }

  constructor(features: number, heads: number, options?: TransformerEncoderLayerOptions) {
    super()
    const op = this.name
    const o = layerOptions<TransformerEncoderLayerOptions>(op, options, ['hidden', 'dropout', 'activation', 'eps', 'normFirst', 'bias', 'causal'])
    this.features = size(op, 'features', features)
    this.heads = size(op, 'heads', heads)
    this.hidden = size(op, 'hidden', o.hidden ?? 2048)
    this.normFirst = flag(op, 'normFirst', o.normFirst, false)
    this.#causal = flag(op, 'causal', o.causal, false)
    this.#dropout = ranged(op, 'dropout', o.dropout, 0.1, 0, 1)
    this.#activation = activationGiven(op, o.activation)
    const [bias, eps] = [flag(op, 'bias', o.bias, true), ranged(op, 'eps', o.eps, 1e-5, 0, Infinity)]
    this.#layers = within(op, () => ({
      selfAttn: new MultiHeadAttention(features, heads, { bias, dropout: this.#dropout }),
      linear1: new Linear(features, this.hidden, { bias }),
      linear2: new Linear(this.hidden, features, { bias }),
      norm1: new LayerNorm(features, { eps, bias }),
      norm2: new LayerNorm(features, { eps, bias })
    }))
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<TransformerEncoderLayerParams, E> {
    keyGiven(this.name, key)
    const layers = Object.entries(this.#layers) as [string, Module][]
    return Object.fromEntries(layers.map(([name, layer], i) => [name, layer.init(fold(key, i), options)])) as unknown as OfDType<TransformerEncoderLayerParams, E>
  }

  protected run(params: TransformerEncoderLayerParams, x: Tensor, { training, key }: Run<null>): readonly [Tensor, null] {
    if (training && this.#dropout > 0 && key === undefined) throw new ArgumentError(`${this.name}: what is dropped goes by a key; pass { key }`)
    return [this.encode(params, x, training ? { key } : {}), null]
  }

  /**
   * What the layer makes of x [batch, places, features] where a mask says which places are seen.
   *
   * @throws {TensorError} `ERR_SHAPE`, `ERR_DTYPE`, `ERR_ARGUMENT` for what does not fit.
   */
  encode<Q extends TransformerEncoderLayerParams, D extends DType>(params: Q, x: Tensor<D>, options?: EncodeOptions): Tensor<AppliedDType<'promoted', Q, D>> {
    const op = this.name
    const { mask, causal = this.#causal, key } = encodeOptions(op, options)
    const { selfAttn, linear1, linear2, norm1, norm2 } = this.#layers
    const own = given(op, params as TransformerEncoderLayerParams, ['selfAttn', 'linear1', 'linear2', 'norm1', 'norm2'])
    const drops = key !== undefined && this.#dropout > 0
    const drop = (y: Tensor, i: number): Tensor => (drops ? dropped(fold(key, i), y, { p: this.#dropout }) : y)
    const attended = (y: Tensor): Tensor => drop(selfAttn.attend(own.selfAttn, y, y, y, { mask, causal, key: drops ? fold(key, 0) : undefined }), 1)
    const changed = (y: Tensor): Tensor => {
      const made: unknown = this.#activation(linear1.apply(own.linear1, y) as Tensor<'float32'>)
      return drop(linear2.apply(own.linear2, drop(tensorGiven(op, 'activation', made), 2)), 3)
    }
    return within(op, () => {
      const given = tensorGiven(op, 'x', x)
      if (this.normFirst) {
        const y = given.add(attended(norm1.apply(own.norm1, given))) as Tensor
        return y.add(changed(norm2.apply(own.norm2, y)))
      }
      const y = norm1.apply(own.norm1, given.add(attended(given)) as Tensor)
      return norm2.apply(own.norm2, y.add(changed(y)) as Tensor)
    }) as never
  }
}

/** Parameters of `nn.TransformerEncoder`, as PyTorch has them. */
export interface TransformerEncoderParams {
  readonly layers: readonly TransformerEncoderLayerParams[]
  readonly norm?: NormParams | null
}

/** Options of `nn.TransformerEncoder`. */
export interface TransformerEncoderOptions {
  /** A norm behind the last layer; none by default. */
  readonly norm?: LayerNorm | undefined
}

/**
 * So many layers of one kind after one another, each with parameters of its own, and a norm behind them. PyTorch `nn.TransformerEncoder`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a `layer` that is not such a layer, and for sizes and options out of range.
 * @example
 * ```ts
 * const encoder = new ft.nn.TransformerEncoder(new ft.nn.TransformerEncoderLayer(8, 2, { hidden: 16 }), 3, { norm: new ft.nn.LayerNorm(8) })
 * encoder.apply(encoder.init(ft.random.key(1)), ft.zeros([1, 5, 8])).shape // [1, 5, 8]
 * ```
 */
export class TransformerEncoder extends Module<TransformerEncoderParams, null, 'promoted'> {
  readonly layer: TransformerEncoderLayer
  readonly count: number
  readonly norm: LayerNorm | undefined

  constructor(layer: TransformerEncoderLayer, count: number, options?: TransformerEncoderOptions) {
    super()
    const op = this.name
    if (!(layer instanceof TransformerEncoderLayer)) throw new ArgumentError(`${op}: 'layer' must be an nn.TransformerEncoderLayer, got ${shown(layer)}`)
    this.layer = layer
    this.count = size(op, 'count', count)
    const { norm } = layerOptions<TransformerEncoderOptions>(op, options, ['norm'])
    if (norm !== undefined && !(norm instanceof LayerNorm)) throw new ArgumentError(`${op}: 'norm' must be an nn.LayerNorm, got ${shown(norm)}`)
    this.norm = norm
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): FreshOf<'promoted', TransformerEncoderParams, E> {
    keyGiven(this.name, key)
    const layers = Array.from({ length: this.count }, (_, i) => this.layer.init(fold(key, i), options))
    const norm = this.norm === undefined ? {} : { norm: this.norm.init(fold(key, this.count), options) }
    return { layers, ...norm } as unknown as FreshOf<'promoted', TransformerEncoderParams, E>
  }

  protected run(params: TransformerEncoderParams, x: Tensor, run: Run<null>): readonly [Tensor, null] {
    return [this.#through(params, x, (layer, own, y, i) => Module.run(layer, own, y, { ...run, key: run.key === undefined ? undefined : fold(run.key, i) })[0]), null]
  }

  /**
   * What the layers make of x [batch, places, features] where a mask says which places are seen.
   *
   * @throws {TensorError} `ERR_SHAPE`, `ERR_DTYPE`, `ERR_ARGUMENT` for what does not fit.
   */
  encode<Q extends TransformerEncoderParams, D extends DType>(params: Q, x: Tensor<D>, options?: EncodeOptions): Tensor<AppliedDType<'promoted', Q, D>> {
    const { key, ...rest } = encodeOptions(this.name, options)
    return this.#through(params, tensorGiven(this.name, 'x', x), (layer, own, y, i) => layer.encode(own, y, { ...rest, key: key === undefined ? undefined : fold(key, i) })) as never
  }

  #through(params: TransformerEncoderParams, x: Tensor, f: (layer: TransformerEncoderLayer, own: TransformerEncoderLayerParams, y: Tensor, i: number) => Tensor): Tensor {
    const op = this.name
    const { layers, norm } = given(op, params, this.norm === undefined ? ['layers'] : ['layers', 'norm'])
    if (!Array.isArray(layers) || layers.length !== this.count) throw new ArgumentError(`${op}: the parameters must have an array of ${this.count} layers, got ${shown(layers)}`)
    return within(op, () => {
      const y = (layers as TransformerEncoderLayerParams[]).reduce((y, own, i) => f(this.layer, own, y, i), x)
      return this.norm === undefined ? y : this.norm.apply(norm as NormParams, y)
    })
  }
}
