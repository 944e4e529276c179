// Layers that normalise: over a tensor's last axes, over groups of channels, over batches.

import { flag, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { finfo } from '../arrays/dtypes.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { FloatDType } from '../generated/dtypes.js'
import { full } from '../generated/functions.js'
import { batchNorm, groupNorm, layerNorm } from '../generated/nn.js'
import { constant } from '../program/markers.js'
import { keyGiven, split, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import { rmsNorm } from './complex.js'
import type { OfDType } from './dtypes.js'
import * as init from './init.js'
import { Module, type InitOptions, type Run, type StateOptions } from './module.js'
import { given, layerOptions, ranged, shaped, size } from './options.js'

/** Parameters of norms: both of the shape that is normalised, or of its channels; null for a norm without. */
export interface NormParams {
  readonly weight: Tensor
  readonly bias?: Tensor
}

/** Options of norms. */
export interface NormOptions {
  /** Added to the variance; 1e-5 by default. */
  readonly eps?: number | undefined
  /** Whether there are a weight and a bias; true by default. */
  readonly affine?: boolean | undefined
}

/** Options of `nn.LayerNorm`. */
export interface LayerNormLayerOptions extends NormOptions {
  /** Whether there is a bias beside the weight; true by default. */
  readonly bias?: boolean | undefined
}

/** Options of `nn.RMSNorm`. */
export interface RMSNormOptions {
  /** Added to the mean square; the smallest step of x's dtype above 1 by default. */
  readonly eps?: number | undefined
  /** Whether there is a weight; true by default. */
  readonly affine?: boolean | undefined
}

/** The options of a norm, checked. */
function normOptions<O extends NormOptions>(op: string, options: unknown, more: readonly (keyof O & string)[] = []): { options: O; eps: number; affine: boolean } {
  const o = layerOptions<O>(op, options, ['eps', 'affine', ...more])
  return { options: o, eps: ranged(op, 'eps', o.eps, 1e-5, 0, Infinity), affine: flag(op, 'affine', o.affine, true) }
}

/** Ones and zeros. */
function fresh(op: string, key: Key, shape: readonly number[], o: InitOptions | undefined): Required<NormParams> {
  const [first, second] = split(keyGiven(op, key) as Key)
  return { weight: init.ones(first, shape, o), bias: init.zeros(second, shape, o) }
}

/** The sizes of the last axes. */
function shapeOf(op: string, shape: unknown): readonly number[] {
  const sizes = typeof shape === 'number' ? [shape] : integers(op, 'shape', shape)
  if (sizes.length === 0) throw new ArgumentError(`${op}: 'shape' must have an axis`)
  return sizes.map((n) => size(op, 'shape', n))
}

/** The last axes of a tensor, which must have these sizes. */
function lastAxes(op: string, shape: readonly number[], x: Tensor): number[] {
  if (x.ndim < shape.length || shape.some((n, i) => x.shape[x.ndim - shape.length + i] !== n)) {
    throw new ShapeError(`${op}: x must have shape [..., ${shape.join(', ')}], got [${x.shape.join(', ')}]`)
  }
  return shape.map((_, i) => i - shape.length)
}

/**
 * Elements less their mean over the last axes, divided by the root of their variance, times a weight, plus a bias (Ba et al., 2016). PyTorch
 * `nn.LayerNorm`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.LayerNorm(2)
 * layer.apply(layer.init(ft.random.key(1)), ft.tensor([-2, 2])) // [-0.99999875, 0.99999875]
 * ```
 */
export class LayerNorm extends Module<NormParams | null, null, 'promoted'> {
  readonly shape: readonly number[]
  readonly #eps: number
  readonly #affine: boolean
  readonly #bias: boolean

  constructor(shape: number | readonly number[], options?: LayerNormLayerOptions) {
    super()
    const op = this.name
    this.shape = shapeOf(op, shape)
    const { eps, affine, options: o } = normOptions<LayerNormLayerOptions>(op, options, ['bias'])
    this.#eps = eps
    this.#affine = affine
    this.#bias = flag(op, 'bias', o.bias, true)
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<NormParams | null, E> {
    if (!this.#affine) return null
    const { weight, bias } = fresh(this.name, key, this.shape, options)
    return (this.#bias ? { weight, bias } : { weight }) as OfDType<NormParams, E>
  }

  protected run(params: NormParams | null, x: Tensor): readonly [Tensor, null] {
    const { weight, bias } = this.#affine ? given<NormParams>(this.name, params as NormParams, this.#bias ? ['weight', 'bias'] : ['weight']) : {}
    const axis = lastAxes(this.name, this.shape, x)
    return [within(this.name, () => layerNorm(x, weight, bias, { axis, eps: this.#eps })) as Tensor, null]
  }
}

/**
 * Elements divided by the root of the mean of their squares over the last axes, times a weight (Zhang and Sennrich, 2019). PyTorch `nn.RMSNorm`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.RMSNorm(2)
 * layer.apply(layer.init(ft.random.key(1)), ft.tensor([-2, 2])) // [-1, 1]
 * ```
 */
export class RMSNorm extends Module<{ readonly weight: Tensor } | null, null, 'promoted'> {
  readonly shape: readonly number[]
  readonly #eps: number | undefined
  readonly #affine: boolean

  constructor(shape: number | readonly number[], options?: RMSNormOptions) {
    super()
    const op = this.name
    this.shape = shapeOf(op, shape)
    const { eps, affine } = normOptions<RMSNormOptions>(op, options)
    this.#eps = options?.eps === undefined ? undefined : eps
    this.#affine = affine
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<{ readonly weight: Tensor } | null, E> {
    return (this.#affine ? { weight: init.ones(key, this.shape, options) } : null) as OfDType<{ readonly weight: Tensor } | null, E>
  }

  protected run(params: { readonly weight: Tensor } | null, x: Tensor): readonly [Tensor, null] {
    const { weight } = this.#affine ? given(this.name, params as { weight: Tensor }, ['weight']) : {}
    const axis = lastAxes(this.name, this.shape, x)
    const eps = this.#eps ?? (x.type.row.float === null ? undefined : finfo(x.dtype as FloatDType).eps)
    return [within(this.name, () => rmsNorm(x, weight, { axis, eps })) as Tensor, null]
  }
}

/** That a tensor has channels, so many of them. */
function checkChannels(op: string, x: Tensor, channels: number): void {
  if (x.ndim < 2 || x.shape[1] !== channels) throw new ShapeError(`${op}: x must have shape [batch, ${channels}, ...], got [${x.shape.join(', ')}]`)
}

/**
 * x [batch, channels, ...] normalised over groups of channels and all that is behind them (Wu and He, 2018). PyTorch `nn.GroupNorm`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.GroupNorm(1, 2)
 * layer.apply(layer.init(ft.random.key(1)), ft.tensor([[-2, 2]])) // [[-0.99999875, 0.99999875]]
 * ```
 */
export class GroupNorm extends Module<Required<NormParams> | null, null, 'promoted'> {
  readonly groups: number
  readonly channels: number
  readonly #eps: number
  readonly #affine: boolean

  constructor(groups: number, channels: number, options?: NormOptions) {
    super()
    const op = this.name
    this.groups = size(op, 'groups', groups)
    this.channels = size(op, 'channels', channels)
    if (channels % groups !== 0) throw new ArgumentError(`${op}: ${channels} channels cannot be divided into ${groups} groups`)
    const { eps, affine } = normOptions(op, options)
    this.#eps = eps
    this.#affine = affine
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<Required<NormParams> | null, E> {
    return (this.#affine ? fresh(this.name, key, [this.channels], options) : null) as OfDType<Required<NormParams> | null, E>
  }

  protected run(params: Required<NormParams> | null, x: Tensor): readonly [Tensor, null] {
    checkChannels(this.name, x, this.channels)
    const { weight, bias } = this.#affine ? given(this.name, params as Required<NormParams>, ['weight', 'bias']) : {}
    return [within(this.name, () => groupNorm(x, this.groups, weight, bias, { eps: this.#eps })) as Tensor, null]
  }
}

/** Options of `nn.BatchNorm`. */
export interface BatchNormLayerOptions extends NormOptions {
  /** How much of a batch's mean and variance goes into the running ones; null for the mean of all batches. 0.1 by default. */
  readonly momentum?: number | null | undefined
  /** Whether there are running averages to go by when it is not trained; true by default. */
  readonly trackRunningStats?: boolean | undefined
}

/** What `nn.BatchNorm` keeps apart from its parameters. */
export interface BatchNormState {
  /** [channels] */
  readonly runningMean: Tensor
  /** [channels], of the unbiased variance. */
  readonly runningVar: Tensor
  /** A scalar, int64. */
  readonly numBatchesTracked: Tensor
}

/**
 * x [batch, channels, ...] normalised over everything but the channels (Ioffe and Szegedy, 2015): trained, by the batch's own mean and
 * variance; applied, by running averages, which are its state. PyTorch `nn.BatchNorm1d`, `BatchNorm2d` and `BatchNorm3d`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.BatchNorm(1)
 * layer.train(layer.init(ft.random.key(1)), ft.tensor([[1], [3]]), { state: layer.initState() })[1]?.runningMean // [0.2]
 * ```
 */
export class BatchNorm extends Module<Required<NormParams> | null, BatchNormState | null, 'promoted'> {
  readonly channels: number
  readonly #eps: number
  readonly #affine: boolean
  readonly #momentum: number | null
  readonly #tracks: boolean

  constructor(channels: number, options?: BatchNormLayerOptions) {
    super()
    const op = this.name
    this.channels = size(op, 'channels', channels)
    const { eps, affine, options: o } = normOptions<BatchNormLayerOptions>(op, options, ['momentum', 'trackRunningStats'])
    this.#eps = eps
    this.#affine = affine
    this.#momentum = o.momentum === null ? null : ranged(op, 'momentum', o.momentum, 0.1, 0, 1)
    this.#tracks = flag(op, 'trackRunningStats', o.trackRunningStats, true)
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<Required<NormParams> | null, E> {
    return (this.#affine ? fresh(this.name, key, [this.channels], options) : null) as OfDType<Required<NormParams> | null, E>
  }

  override initState(options?: StateOptions): BatchNormState | null {
    if (!this.#tracks) return null
    const { dtype, device } = layerOptions<StateOptions>(this.name, options, ['dtype', 'device'])
    const of = (value: number): Tensor => full([this.channels], value, { dtype: dtype ?? 'float32', device })
    return { runningMean: of(0), runningVar: of(1), numBatchesTracked: full([], 0, { dtype: 'int64', device }) }
  }

  protected run(params: Required<NormParams> | null, x: Tensor, { training, state }: Run<BatchNormState | null>): readonly [Tensor, BatchNormState | null] {
    const op = this.name
    checkChannels(op, x, this.channels)
    const { weight, bias } = this.#affine ? given(op, params as Required<NormParams>, ['weight', 'bias']) : {}
    const before = this.#tracks ? this.#stateGiven(state) : null
    if (!training && before !== null) {
      return [within(op, () => batchNorm(x, before.runningMean, before.runningVar, weight, bias, { eps: this.#eps })) as Tensor, before]
    }
    const each = x.size / this.channels
    if (training && each < 2) throw new ShapeError(`${op}: a batch of one value a channel has no variance to be trained with, got shape [${x.shape.join(', ')}]`)
    return within(op, () => {
      const y = batchNorm(x, undefined, undefined, weight, bias, { eps: this.#eps }) as Tensor
      return [y, before === null || !training ? before : this.#next(before, constant(x))]
    })
  }

  #stateGiven(state: unknown): BatchNormState {
    if (state === undefined || state === null) throw new ArgumentError(`${this.name}: the state is missing; pass { state }, which initState makes and train returns`)
    const { runningMean, runningVar, numBatchesTracked } = state as Partial<BatchNormState>
    if (runningMean === undefined || runningVar === undefined || numBatchesTracked === undefined) {
      throw new ArgumentError(`${this.name}: the state must be { runningMean, runningVar, numBatchesTracked } as initState makes it, got ${shown(state)}`)
    }
    const each = [this.channels]
    return shaped(`${this.name}: the state`, state as BatchNormState, { runningMean: each, runningVar: each, numBatchesTracked: [] })
  }

  /** The running averages after a batch. */
  #next({ runningMean, runningVar, numBatchesTracked }: BatchNormState, x: Tensor): BatchNormState {
    const axis = x.shape.map((_, i) => i).filter((i) => i !== 1)
    const count = numBatchesTracked.add(1)
    const share = this.#momentum ?? count.astype(runningMean.dtype as 'float32').reciprocal()
    const moved = (from: Tensor, to: Tensor): Tensor => from.add(to.astype(from.dtype).sub(from).mul(share as Tensor))
    return {
      runningMean: moved(runningMean, x.mean({ axis })),
      runningVar: moved(runningVar, x.var({ axis, correction: 1 })),
      numBatchesTracked: count
    }
  }
}
