// Convolutional layers over one to three spatial axes: x [batch, channels, spatial...], weights as PyTorch lays them out.

import { integer, integers, padding } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { FloatDType } from '../generated/dtypes.js'
import { conv, convTranspose, type ConvOptions, type ConvTransposeOptions } from '../generated/nn.js'
import type { Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import type { OfDType } from './dtypes.js'
import { weightAndBias, weightOptions, type LinearParams, type WeightOptions } from './linear.js'
import { Module, type InitOptions } from './module.js'
import { shaped, size } from './options.js'

/** Options of convolutional layers: those of `nn.conv`, and of the weight and the bias. */
export interface ConvLayerOptions extends WeightOptions, Omit<ConvOptions, 'inputDilation'> {}

/** Options of transposed convolutional layers: those of `nn.convTranspose`, and of the weight and the bias. */
export interface ConvTransposeLayerOptions extends WeightOptions, ConvTransposeOptions {}

/** A number of each axis, or one of all. */
function eachAxis(op: string, name: string, value: unknown, axes: number, least: number): readonly number[] {
  const sizes = typeof value === 'number' ? Array<number>(axes).fill(integer(op, name, value)) : integers(op, name, value)
  if (sizes.length === axes && sizes.every((n) => n >= least)) return sizes
  throw new ArgumentError(`${op}: '${name}' must be a ${least > 0 ? 'positive size' : 'size from 0'} or ${axes} of them, got ${shown(value)}`)
}

/** That windows of so many axes can lie as the options of each call say. */
function checkLayout(op: string, o: { readonly [name: string]: unknown }, axes: number): void {
  for (const [name, least] of [['stride', 1], ['dilation', 1], ['outputPadding', 0]] as const) {
    if (o[name] !== undefined) eachAxis(op, name, o[name], axes, least)
  }
  if (o['padding'] === undefined) return
  for (const places of padding(op, 'padding', o['padding'])) {
    if (places.length !== 1 && places.length !== axes) throw new ArgumentError(`${op}: 'padding' must be one number or ${axes}, got ${shown(o['padding'])}`)
  }
}

/** What all convolutional layers have in common. */
abstract class Convolution<O extends WeightOptions & { readonly groups?: number | undefined }> extends Module<LinearParams, null, 'promoted'> {
  readonly inputs: number
  readonly outputs: number
  readonly kernel: readonly number[]
  /** The options of the weight and the bias. */
  readonly #fresh: WeightOptions
  /** The options of each call. */
  protected readonly call: Omit<O, keyof WeightOptions>
  protected readonly groups: number

  protected constructor(axes: number, inputs: unknown, outputs: unknown, kernel: unknown, options: unknown, more: readonly (keyof O & string)[]) {
    super()
    const op = this.name
    this.inputs = size(op, 'inputs', inputs)
    this.outputs = size(op, 'outputs', outputs)
    this.kernel = eachAxis(op, 'kernel', kernel, axes, 1)
    const { bias, weightInit, biasInit, ...call } = weightOptions<O>(op, options, more)
    this.#fresh = { bias, weightInit, biasInit }
    checkLayout(op, call as { readonly [name: string]: unknown }, axes)
    this.call = call
    this.groups = size(op, 'groups', call['groups' as keyof typeof call] ?? 1)
    for (const n of [this.inputs, this.outputs]) {
      if (n % this.groups !== 0) throw new ArgumentError(`${op}: ${n} channels cannot be divided into ${this.groups} groups`)
    }
  }

  /** Sizes of the weight, without its window's. */
  protected abstract get channels(): readonly [number, number]

  protected abstract weighed(x: Tensor, weight: Tensor): Tensor

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<LinearParams, E> {
    return weightAndBias(this.name, key, [...this.channels, ...this.kernel], this.outputs, this.#fresh, options) as OfDType<LinearParams, E>
  }

  protected run(params: LinearParams, x: Tensor): readonly [Tensor, null] {
    const { name, kernel } = this
    const { weight, bias } = shaped(name, params, { weight: [...this.channels, ...kernel], bias: this.#fresh.bias === false ? undefined : [this.outputs] })
    if (x.ndim !== kernel.length + 2 || x.shape[1] !== this.inputs) {
      const axes = ['batch', this.inputs, ...['depth', 'height', 'width'].slice(3 - kernel.length)]
      throw new ShapeError(`${name}: x must have shape [${axes.join(', ')}], got [${x.shape.join(', ')}]`)
    }
    return within(name, () => {
      const y = this.weighed(x, weight)
      return [bias === undefined ? y : y.add(bias.reshape([this.outputs, ...kernel.map(() => 1)])), null]
    })
  }
}

abstract class Forward extends Convolution<ConvLayerOptions> {
  protected constructor(axes: number, inputs: unknown, outputs: unknown, kernel: unknown, options: unknown) {
    super(axes, inputs, outputs, kernel, options, ['stride', 'padding', 'dilation', 'groups', 'paddingMode'])
  }

  protected get channels(): readonly [number, number] {
    return [this.outputs, this.inputs / this.groups]
  }

  protected weighed(x: Tensor, weight: Tensor): Tensor {
    return conv(x, weight, this.call)
  }
}

abstract class Transposed extends Convolution<ConvTransposeLayerOptions> {
  protected constructor(axes: number, inputs: unknown, outputs: unknown, kernel: unknown, options: unknown) {
    super(axes, inputs, outputs, kernel, options, ['stride', 'padding', 'outputPadding', 'dilation', 'groups'])
  }

  protected get channels(): readonly [number, number] {
    return [this.inputs, this.outputs / this.groups]
  }

  protected weighed(x: Tensor, weight: Tensor): Tensor {
    return convTranspose(x, weight, this.call)
  }
}

/**
 * Convolution of x [batch, inputs, width] with weights [outputs, inputs / groups, width]. PyTorch `nn.Conv1d`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.Conv1d(2, 4, 3, { padding: 1 })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([1, 2, 8])).shape // [1, 4, 8]
 * ```
 */
export class Conv1d extends Forward {
  constructor(inputs: number, outputs: number, kernel: number | readonly number[], options?: ConvLayerOptions) {
    super(1, inputs, outputs, kernel, options)
  }
}

/**
 * Convolution of x [batch, inputs, height, width] with weights [outputs, inputs / groups, height, width]. PyTorch `nn.Conv2d`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.Conv2d(1, 4, 3, { stride: 2 })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([1, 1, 9, 9])).shape // [1, 4, 4, 4]
 * ```
 */
export class Conv2d extends Forward {
  constructor(inputs: number, outputs: number, kernel: number | readonly number[], options?: ConvLayerOptions) {
    super(2, inputs, outputs, kernel, options)
  }
}

/**
 * Convolution of x [batch, inputs, depth, height, width]. PyTorch `nn.Conv3d`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.Conv3d(1, 2, [1, 3, 3])
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([1, 1, 2, 4, 4])).shape // [1, 2, 2, 2, 2]
 * ```
 */
export class Conv3d extends Forward {
  constructor(inputs: number, outputs: number, kernel: number | readonly number[], options?: ConvLayerOptions) {
    super(3, inputs, outputs, kernel, options)
  }
}

/**
 * The transposed convolution of x [batch, inputs, width] with weights [inputs, outputs / groups, width]. PyTorch `nn.ConvTranspose1d`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.ConvTranspose1d(2, 4, 2, { stride: 2 })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([1, 2, 3])).shape // [1, 4, 6]
 * ```
 */
export class ConvTranspose1d extends Transposed {
  constructor(inputs: number, outputs: number, kernel: number | readonly number[], options?: ConvTransposeLayerOptions) {
    super(1, inputs, outputs, kernel, options)
  }
}

/**
 * The transposed convolution of x [batch, inputs, height, width] with weights [inputs, outputs / groups, height, width]. PyTorch
 * `nn.ConvTranspose2d`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.ConvTranspose2d(2, 4, 2, { stride: 2 })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([1, 2, 3, 3])).shape // [1, 4, 6, 6]
 * ```
 */
export class ConvTranspose2d extends Transposed {
  constructor(inputs: number, outputs: number, kernel: number | readonly number[], options?: ConvTransposeLayerOptions) {
    super(2, inputs, outputs, kernel, options)
  }
}
