// Multi-head attention (Vaswani et al., 2017).

import { checkOptions } from '../arguments/options.js'
import { flag } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arange } from '../arrays/ranges.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, IndexError, ShapeError } from '../errors.js'
import type { DType, FloatDType, Promote } from '../generated/dtypes.js'
import { ones, tril, where, zeros } from '../generated/functions.js'
import { scaledDotProductAttention } from '../generated/nn.js'
import { keyGiven, split, type Key } from '../random/draw.js'
import type { AsDType, Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import type { AppliedDType, OfDType } from './dtypes.js'
import { dropout } from './functions.js'
import * as init from './init.js'
import { linear, type LinearParams } from './linear.js'
import { Module, type InitOptions, type Run } from './module.js'
import { given, layerOptions, ranged, shaped, size } from './options.js'

/** Parameters of `nn.MultiHeadAttention`, as PyTorch has them. */
export interface AttentionParams {
  /** [3 features, features]: of queries, keys and values. */
  readonly inProjWeight: Tensor
  /** [3 features] */
  readonly inProjBias?: Tensor
  /** Of the result. */
  readonly outProj: LinearParams
}

/** Options of `nn.MultiHeadAttention`. */
export interface AttentionOptions {
  /** Whether projections have a bias; true by default. */
  readonly bias?: boolean | undefined
  /** How likely a weight of attention is to be dropped while training; 0 by default. */
  readonly dropout?: number | undefined
  /** Whether `apply` and `train` let a place see only those up to it; false by default. */
  readonly causal?: boolean | undefined
}

/** Keys and values of places that were seen, each [batch, heads, places, features / heads]. */
export interface AttentionCache {
  readonly keys: Tensor
  readonly values: Tensor
}

/** Options of `cache`. */
export interface CacheOptions {
  /** float32 by default. */
  readonly dtype?: FloatDType | undefined
  /** The device; `ft.setDefaultDevice` sets the default. */
  readonly device?: Device | undefined
}

/** Options of `attend`. */
export interface AttendOptions {
  /**
   * What takes part: bool, true where a key is seen, or numbers that are added to the scores; broadcast to [batch, heads, queries, keys]. For
   * the padding of keys [batch, keys], expand it to [batch, 1, 1, keys].
   */
  readonly mask?: Tensor | undefined
  /** Whether the i-th query sees the first i + 1 keys only; the layer's by default. */
  readonly causal?: boolean | undefined
  /** For dropout: with a key the layer is trained, without one it is not. */
  readonly key?: Key | undefined
}

/**
 * Attention of several heads: each projects queries, keys and values [batch, places, features] to features / heads, and takes means of the
 * values weighed by softmax(query key^T / sqrt(features / heads)); their results are projected once more. The batch comes first, always;
 * a bool mask is true where a key takes part. PyTorch `nn.MultiheadAttention` with `batch_first`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.MultiHeadAttention(8, 2, { causal: true })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([1, 5, 8])).shape // [1, 5, 8]
 * ```
 */
export class MultiHeadAttention extends Module<AttentionParams, null, 'promoted'> {
  readonly features: number
  readonly heads: number
  readonly #bias: boolean
  readonly #dropout: number
  readonly #causal: boolean

  constructor(features: number, heads: number, options?: AttentionOptions) {
    super()
    const op = this.name
    this.features = size(op, 'features', features)
    this.heads = size(op, 'heads', heads)
    if (features % heads !== 0) throw new ArgumentError(`${op}: ${features} features cannot be divided among ${heads} heads`)
    const o = layerOptions<AttentionOptions>(op, options, ['bias', 'dropout', 'causal'])
    this.#bias = flag(op, 'bias', o.bias, true)
    this.#dropout = ranged(op, 'dropout', o.dropout, 0, 0, 1)
    this.#causal = flag(op, 'causal', o.causal, false)
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<AttentionParams, E> {
    const [first, second] = split(keyGiven(this.name, key) as Key)
    const { features } = this
    const weights = {
      inProjWeight: init.glorotUniform(first, [3 * features, features], options),
      outProj: { weight: init.fanInUniform(second, [features, features], options) }
    }
    if (!this.#bias) return weights as OfDType<AttentionParams, E>
    return { ...weights, inProjBias: init.zeros(first, [3 * features], options), outProj: { ...weights.outProj, bias: init.zeros(second, [features], options) } } as OfDType<AttentionParams, E>
  }

  protected run(params: AttentionParams, x: Tensor, { training, key }: Run<null>): readonly [Tensor, null] {
    if (training && this.#dropout > 0 && key === undefined) throw new ArgumentError(`${this.name}: what is dropped goes by a key; pass { key }`)
    return [this.attend(params, x, x, x, training ? { key } : {}), null]
  }

  /**
   * The attention of queries [batch, m, features] to keys [batch, n, features] and values [batch, n, features]: [batch, m, features].
   *
   * @throws {TensorError} `ERR_SHAPE`, `ERR_DTYPE`, `ERR_ARGUMENT` for what does not fit.
   */
  attend<Q extends AttentionParams, A extends DType, B extends DType, C extends DType>(
    params: Q,
    queries: Tensor<A>,
    keys: Tensor<B>,
    values: Tensor<C>,
    options?: AttendOptions
  ): Tensor<AppliedDType<'promoted', Q, AsDType<Promote<AsDType<Promote<A, B>>, C>>>> {
    const op = this.name
    const { mask, causal, key } = this.#options(options)
    const { outProj } = given(op, params, ['outProj'])
    const { features } = this
    const { weight, bias } = shaped(`${op}: outProj`, outProj, { weight: [features, features], bias: this.#bias ? [features] : undefined })
    const inputs = { queries, keys, values } as unknown as Record<string, Tensor>
    const [q, k, v] = this.#projected(params, inputs) as [Tensor, Tensor, Tensor]
    return within(op, () => {
      const heads =
        key !== undefined && this.#dropout > 0
          ? dropout(key, this.#weights(q, k, mask, causal), { p: this.#dropout }).matmul(v)
          : scaledDotProductAttention(q, k, v, mask, { causal })
      const joined = heads.permuteDims([0, 2, 1, 3]).reshape([queries.shape[0] as number, queries.shape[1] as number, this.features])
      return linear(joined, weight, bias) as never
    })
  }

  /**
   * An empty cache for so many places, of which {@link MultiHeadAttention.extend} fills some at each call: zeros.
   *
   * @throws {TensorError} `ERR_ARGUMENT` for sizes out of range, `ERR_DTYPE`.
   */
  cache(batch: number, places: number, options?: CacheOptions): AttentionCache {
    const op = this.name
    const { dtype, device } = checkOptions(op, options, ['dtype', 'device']) as CacheOptions
    const shape = [size(op, 'batch', batch), this.heads, size(op, 'places', places), this.features / this.heads]
    return within(op, () => ({ keys: zeros(shape, { dtype, device }), values: zeros(shape, { dtype, device }) }))
  }

  /**
   * The causal attention of new places x [batch, m, features], whose first one is number `at`, to themselves and all that the cache holds before
   * them: [batch, m, features], and the cache with them. A sequence that grows is so computed place by place, in programs of one shape. Its
   * result is that of `apply` of a causal layer on all places, to rounding. Where `at` is a tensor or a number that `jit` traces, nobody checks
   * that the places are there.
   *
   * @throws {TensorError} `ERR_SHAPE`, `ERR_DTYPE`, `ERR_ARGUMENT` for what does not fit, `ERR_INDEX` for places beyond the cache.
   * @example
   * ```ts
   * const layer = new ft.nn.MultiHeadAttention(8, 2)
   * const params = layer.init(ft.random.key(1))
   * layer.extend(params, ft.ones([1, 1, 8]), layer.cache(1, 16), 0)[0].shape // [1, 1, 8]
   * ```
   */
  extend<Q extends AttentionParams, D extends DType>(
    params: Q,
    x: Tensor<D>,
    cache: AttentionCache,
    at: number | Tensor
  ): [result: Tensor<AppliedDType<'promoted', Q, D>>, cache: AttentionCache] {
    const op = this.name
    const { outProj } = given(op, params, ['outProj'])
    const { features } = this
    const { weight, bias } = shaped(`${op}: outProj`, outProj, { weight: [features, features], bias: this.#bias ? [features] : undefined })
    const [q, k, v] = this.#projected(params, { queries: x, keys: x, values: x }) as [Tensor, Tensor, Tensor]
    const [batch, m] = x.shape as [number, number]
    const { shape } = tensorGiven(op, 'cache.keys', given(op, cache, ['keys', 'values']).keys)
    const places = shape[2] ?? 0
    shaped(op, cache, { keys: [batch, this.heads, places, features / this.heads], values: [batch, this.heads, places, features / this.heads] })
    if (typeof at === 'number' && !(Number.isInteger(at) && at >= 0 && at + m <= places)) throw new IndexError(`${op}: places ${at} to ${at + m - 1} are not among the ${places} of the cache`)
    return within(op, () => {
      const all = arange(places, { dtype: 'int32', device: x.device })
      const behind = all.sub(at as number)
      const row = (rows: Tensor): Tensor => (m === 1 ? rows : (rows.take(behind.clip(0, m - 1) as Tensor<'int32'>, { axis: 2 }) as Tensor))
      const isNew = behind.greaterEqual(0).logicalAnd(behind.less(m)).reshape([places, 1])
      const next = { keys: where(isNew, row(k), cache.keys) as Tensor, values: where(isNew, row(v), cache.values) as Tensor }
      const seen = behind.lessEqual(arange(m, { dtype: 'int32', device: x.device }).reshape([m, 1]))
      const heads = scaledDotProductAttention(q, next.keys, next.values, seen as Tensor<'bool'>)
      const joined = heads.permuteDims([0, 2, 1, 3]).reshape([batch, m, features])
      return [linear(joined, weight, bias) as unknown as Tensor<AppliedDType<'promoted', Q, D>>, next]
    })
  }

  /**
   * How much each query [batch, m, features] sees of each key [batch, n, features]: [batch, heads, m, n], rows that add up to 1.
   *
   * @throws {TensorError} as {@link MultiHeadAttention.attend}.
   */
  weights(params: AttentionParams, queries: Tensor, keys: Tensor, options?: Omit<AttendOptions, 'key'>): Tensor {
    const { mask, causal } = this.#options(options)
    const [q, k] = this.#projected(params, { queries, keys }) as [Tensor, Tensor]
    return within(this.name, () => this.#weights(q, k, mask, causal))
  }

  #options(options: unknown): { mask: Tensor | undefined; causal: boolean; key: Key | undefined } {
    const op = this.name
    const { mask, causal, key } = checkOptions(op, options, ['mask', 'causal', 'key']) as AttendOptions
    if (mask !== undefined) tensorGiven(op, 'mask', mask)
    if (key !== undefined) keyGiven(op, key)
    return { mask, causal: flag(op, 'causal', causal, this.#causal), key }
  }

  /** Queries, keys and values (or some of them, in this order) of each head: [batch, heads, places, features / heads]. */
  #projected(params: AttentionParams, inputs: { readonly [name: string]: Tensor }): Tensor[] {
    const { features, heads, name: op } = this
    const { inProjWeight: weight, inProjBias: bias } = shaped(op, params, { inProjWeight: [3 * features, features], inProjBias: this.#bias ? [3 * features] : undefined })
    for (const [name, x] of Object.entries(inputs)) {
      const { shape } = tensorGiven(op, name, x)
      if (shape.length !== 3 || shape[2] !== features) throw new ShapeError(`${op}: '${name}' must have shape [batch, places, ${features}], got [${shape.join(', ')}]`)
    }
    const apart = (y: Tensor, part: number): Tensor => {
      const [batch = 0, places = 0, width = 0] = y.shape
      return y.reshape([batch, places, width / features, heads, features / heads]).at(':', ':', part).permuteDims([0, 2, 1, 3])
    }
    const list = Object.values(inputs)
    return within(op, () => {
      // One product where all are projections of one tensor.
      if (list.length === 3 && list.every((x) => x === list[0])) {
        const y = linear(list[0] as Tensor, weight, bias) as Tensor
        return list.map((_, n) => apart(y, n))
      }
      return list.map((x, n) => {
        const rows = `${n * features}:${(n + 1) * features}`
        return apart(linear(x, weight.at(rows), bias?.at(rows)) as Tensor, 0)
      })
    })
  }

  /** The weights of the row `scaledDotProductAttention`. */
  #weights(q: Tensor, k: Tensor, mask: Tensor | undefined, causal: boolean): Tensor {
    let scores: Tensor = q.matmul(k.matrixTranspose()).div(Math.sqrt(this.features / this.heads))
    if (causal) scores = where(tril(ones(scores.shape.slice(-2), { dtype: 'bool', device: q.device })), scores, -Infinity) as Tensor
    if (mask?.dtype === 'bool') scores = where(mask.broadcastTo(scores.shape) as Tensor<'bool'>, scores, -Infinity) as Tensor
    else if (mask !== undefined) {
      if (mask.type.row.kind !== 'float') throw new DTypeError(`${this.name}: 'mask' must be bool or floating, got ${mask.dtype}; convert with astype('bool')`)
      scores = scores.add(mask.broadcastTo(scores.shape).astype(scores.dtype as 'float32'))
    }
    return scores.softmax(-1)
  }
}
