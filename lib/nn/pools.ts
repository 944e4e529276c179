// Poolings and pictures of another size as layers, with PyTorch's names and arguments.

import { checkOptions } from '../arguments/options.js'
import { integer, integers } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { adaptiveAvgPool, adaptiveMaxPool } from '../generated/nn.js'
import type { Tensor } from '../tensor/tensor.js'
import { layerOptions } from './options.js'
import { avgPool, maxPool, type AvgPoolOptions, type MaxPoolOptions } from './pooling.js'
import { interpolate, type InterpolateOptions } from './resize.js'
import { Stateless } from './stateless.js'

type F = Tensor<'float32'>
type Sizes = number | readonly number[]

/** Options of `nn.MaxPool`. */
export type MaxPoolLayerOptions = Omit<MaxPoolOptions, 'returnIndices'>

/** Options of `nn.Upsample`. */
export interface UpsampleOptions extends InterpolateOptions {
  /** The spatial sizes of the result, in place of a `scaleFactor`: one number for all axes, or one for each. */
  readonly size?: number | readonly number[] | undefined
}

/** Sizes of one axis or more, each at least one. */
function sizesGiven(op: string, name: string, value: unknown): Sizes {
  const sizes = typeof value === 'number' ? [integer(op, name, value)] : integers(op, name, value)
  if (sizes.length === 0 || sizes.some((n) => n < 1)) throw new ArgumentError(`${op}: '${name}' must be one positive size or one for each axis, got ${shown(value)}`)
  return typeof value === 'number' ? value : sizes
}

/** The options of a pooling, of which the stride may stand alone. */
function poolOptions<O extends { readonly stride?: Sizes | undefined }>(op: string, options: unknown, names: readonly (keyof O & string)[]): O {
  const given = (typeof options === 'number' || Array.isArray(options) ? { stride: options } : layerOptions<O>(op, options, names)) as O
  if (given.stride !== undefined) sizesGiven(op, 'stride', given.stride)
  return given
}

/**
 * Largest elements of windows over the spatial axes of x [batch, channels, spatial...]: `nn.maxPool` as a layer. PyTorch `nn.MaxPool1d`,
 * `MaxPool2d` and `MaxPool3d`.
 *
 * @param window One number for all axes of a window, or one for each.
 * @param options The stride, or an object of options.
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * new ft.nn.MaxPool2d(2, 2).apply(null, ft.ones([1, 3, 8, 8])).shape // [1, 3, 4, 4]
 * ```
 */
export class MaxPool extends Stateless<'kept'> {
  readonly window: Sizes
  readonly #options: MaxPoolLayerOptions

  constructor(window: Sizes, options?: Sizes | MaxPoolLayerOptions) {
    super()
    this.window = sizesGiven(this.name, 'window', window)
    this.#options = poolOptions<MaxPoolLayerOptions>(this.name, options, ['stride', 'padding', 'dilation', 'ceilMode'])
  }

  protected of(x: Tensor): Tensor {
    return maxPool(x as F, this.window, this.#options)
  }
}

/**
 * Means of windows over the spatial axes of x [batch, channels, spatial...]: `nn.avgPool` as a layer. PyTorch `nn.AvgPool1d`, `AvgPool2d` and
 * `AvgPool3d`.
 *
 * @param window One number for all axes of a window, or one for each.
 * @param options The stride, or an object of options.
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * new ft.nn.AvgPool2d(2).apply(null, ft.ones([1, 3, 8, 8])).shape // [1, 3, 4, 4]
 * ```
 */
export class AvgPool extends Stateless<'promoted'> {
  readonly window: Sizes
  readonly #options: AvgPoolOptions

  constructor(window: Sizes, options?: Sizes | AvgPoolOptions) {
    super()
    this.window = sizesGiven(this.name, 'window', window)
    this.#options = poolOptions<AvgPoolOptions>(this.name, options, ['stride', 'padding', 'dilation', 'ceilMode', 'countIncludePad', 'divisor'])
  }

  protected of(x: Tensor): Tensor {
    return avgPool(x as F, this.window, this.#options)
  }
}

/**
 * Means of so many parts of x [batch, channels, spatial...] along each spatial axis: `nn.adaptiveAvgPool` as a layer. PyTorch
 * `nn.AdaptiveAvgPool1d`, `AdaptiveAvgPool2d` and `AdaptiveAvgPool3d`.
 *
 * @param size One number for all spatial axes, or one for each.
 * @throws {TensorError} `ERR_ARGUMENT` for sizes out of range.
 * @example
 * ```ts
 * new ft.nn.AdaptiveAvgPool2d(1).apply(null, ft.ones([1, 3, 8, 8])).shape // [1, 3, 1, 1]
 * ```
 */
export class AdaptiveAvgPool extends Stateless<'promoted'> {
  readonly size: Sizes

  constructor(size: Sizes) {
    super()
    this.size = sizesGiven(this.name, 'size', size)
  }

  protected of(x: Tensor): Tensor {
    return adaptiveAvgPool(x as F, this.size)
  }
}

/**
 * Largest elements of so many parts of x [batch, channels, spatial...] along each spatial axis: `nn.adaptiveMaxPool` as a layer. PyTorch
 * `nn.AdaptiveMaxPool1d`, `AdaptiveMaxPool2d` and `AdaptiveMaxPool3d`.
 *
 * @param size One number for all spatial axes, or one for each.
 * @throws {TensorError} `ERR_ARGUMENT` for sizes out of range.
 * @example
 * ```ts
 * new ft.nn.AdaptiveMaxPool2d(1).apply(null, ft.ones([1, 3, 8, 8])).shape // [1, 3, 1, 1]
 * ```
 */
export class AdaptiveMaxPool extends Stateless<'kept'> {
  readonly size: Sizes

  constructor(size: Sizes) {
    super()
    this.size = sizesGiven(this.name, 'size', size)
  }

  protected of(x: Tensor): Tensor {
    return adaptiveMaxPool(x as F, this.size)
  }
}

/**
 * x [batch, channels, spatial...] with spatial axes of another size: `nn.interpolate` as a layer. PyTorch `nn.Upsample`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for options out of range, and without a size and a `scaleFactor`.
 * @example
 * ```ts
 * new ft.nn.Upsample({ scaleFactor: 2, mode: 'bilinear' }).apply(null, ft.ones([1, 3, 4, 4])).shape // [1, 3, 8, 8]
 * ```
 */
export class Upsample extends Stateless<'promoted'> {
  readonly #size: Sizes | undefined
  readonly #options: InterpolateOptions

  constructor(options: UpsampleOptions) {
    super()
    const { size, ...rest } = checkOptions(this.name, options, ['size', 'scaleFactor', 'mode', 'alignCorners', 'antialias']) as UpsampleOptions
    if ((size === undefined) === (rest.scaleFactor === undefined)) throw new ArgumentError(`${this.name}: give { size } or { scaleFactor }, and not both`)
    this.#size = size === undefined ? undefined : sizesGiven(this.name, 'size', size)
    this.#options = rest
  }

  protected of(x: Tensor): Tensor {
    return interpolate(x as F, this.#size, this.#options)
  }
}
