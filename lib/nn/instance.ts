// Each channel of each example normalised on its own.

import { checkOptions } from '../arguments/options.js'
import { flag } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ShapeError } from '../errors.js'
import type { DType, FloatDType, FloatOf, Promote, Takes } from '../generated/dtypes.js'
import { groupNorm } from '../generated/nn.js'
import { keyGiven, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import type { OfDType } from './dtypes.js'
import * as init from './init.js'
import { Module, type InitOptions } from './module.js'
import type { NormParams } from './norm.js'
import { layerOptions, ranged, shaped, size } from './options.js'

/** Options of `nn.instanceNorm`. */
export interface InstanceNormOptions {
  /** Added to the variance; 1e-5 by default. */
  readonly eps?: number | undefined
}

/**
 * Elements of x [batch, channels, spatial...] less the mean of their channel in their example, divided by the root of its variance, times a weight
 * [channels], plus a bias [channels]. It is `groupNorm` with a group for each channel.
 *
 * `y = (x - mean) / sqrt(var + eps) weight + bias`
 *
 * PyTorch `nn.functional.instance_norm`. Ulyanov and others, "Instance normalization", 2016.
 *
 * @throws {TensorError} `ERR_SHAPE` for fewer than three axes and a weight or bias that does not fit, `ERR_DTYPE` for complex tensors.
 * @example
 * ```ts
 * ft.nn.instanceNorm(ft.tensor([[[-2, 2], [0, 2]]]), undefined, undefined, { eps: 0 }) // [[[-1, 1], [-1, 1]]]
 * ```
 */
export function instanceNorm<A extends DType, B extends DType = 'bool', C extends DType = 'bool'>(
  x: Tensor<A> & Takes<'real', A>,
  weight?: Tensor<B> & Takes<'real', B>,
  bias?: Tensor<C> & Takes<'real', C>,
  options?: InstanceNormOptions
): Tensor<FloatOf<Promote<Promote<A, B>, C>>> {
  const op = 'nn.instanceNorm'
  return within(op, () => {
    const { eps } = checkOptions(op, options, ['eps']) as InstanceNormOptions
    const values = tensorGiven(op, 'x', x) as Tensor<'float32'>
    if (values.ndim < 3) throw new ShapeError(`${op}: x must have shape [batch, channels, spatial...], got [${values.shape.join(', ')}]`)
    return groupNorm(values, values.shape[1] as number, weight as Tensor<'float32'> | undefined, bias as Tensor<'float32'> | undefined, { eps })
  }) as Tensor as never
}

/** Options of `nn.InstanceNorm`. */
export interface InstanceNormLayerOptions extends InstanceNormOptions {
  /** Whether there are a weight and a bias; false by default, as in PyTorch. */
  readonly affine?: boolean | undefined
}

/**
 * Each channel of each example of x [batch, channels, spatial...] normalised on its own: {@link instanceNorm} as a layer. Running averages are not
 * kept. PyTorch `nn.InstanceNorm1d`, `InstanceNorm2d` and `InstanceNorm3d`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * new ft.nn.InstanceNorm2d(1).apply(null, ft.tensor([[[[-2, 2]]]])) // [[[[-0.99999875, 0.99999875]]]]
 * ```
 */
export class InstanceNorm extends Module<Required<NormParams> | null, null, 'promoted'> {
  readonly channels: number
  readonly #eps: number
  readonly #affine: boolean

  constructor(channels: number, options?: InstanceNormLayerOptions) {
    super()
    const op = this.name
    this.channels = size(op, 'channels', channels)
    const { eps, affine } = layerOptions<InstanceNormLayerOptions>(op, options, ['eps', 'affine'])
    this.#eps = ranged(op, 'eps', eps, 1e-5, 0, Infinity)
    this.#affine = flag(op, 'affine', affine, false)
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<Required<NormParams> | null, E> {
    keyGiven(this.name, key)
    if (!this.#affine) return null as OfDType<Required<NormParams> | null, E>
    return { weight: init.ones(key, [this.channels], options), bias: init.zeros(key, [this.channels], options) } as unknown as OfDType<Required<NormParams> | null, E>
  }

  protected run(params: Required<NormParams> | null, x: Tensor): readonly [Tensor, null] {
    const { name, channels } = this
    if (x.ndim < 3 || x.shape[1] !== channels) throw new ShapeError(`${name}: x must have shape [batch, ${channels}, spatial...], got [${x.shape.join(', ')}]`)
    const each = this.#affine ? [channels] : undefined
    const { weight, bias } = this.#affine ? shaped(name, params as Required<NormParams>, { weight: each, bias: each }) : {}
    return [within(name, () => instanceNorm(x, weight, bias, { eps: this.#eps })) as Tensor, null]
  }
}
