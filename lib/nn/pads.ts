// Elements around a tensor as layers, with PyTorch's names and arguments.

import { integer, integers, number, wrong } from '../arguments/validate.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { Tensor } from '../tensor/tensor.js'
import { pad, type PadOptions } from './pad.js'
import { Stateless } from './stateless.js'

/** A layer of `nn.pad`. */
abstract class Padding extends Stateless<'kept'> {
  /** One number for every side of the spatial axes, or `[before, after]` of the last axis first. */
  readonly pad: number | readonly number[]
  readonly #options: PadOptions

  constructor(pad: number | readonly number[], options: PadOptions) {
    super()
    if (typeof pad !== 'number' && !Array.isArray(pad)) throw wrong(this.name, 'pad', 'an integer or an array of integers', pad)
    this.pad = typeof pad === 'number' ? integer(this.name, 'pad', pad) : integers(this.name, 'pad', pad)
    if (typeof pad !== 'number' && pad.length % 2 !== 0) throw new ArgumentError(`${this.name}: 'pad' must be one number, or two for each padded axis, got ${shown(pad)}`)
    this.#options = options
  }

  protected of(x: Tensor): Tensor {
    if (typeof this.pad !== 'number') return pad(x, this.pad, this.#options)
    if (x.ndim < 3) throw new ShapeError(`${this.name}: one number is of the spatial axes of x [batch, channels, ...], got shape [${x.shape.join(', ')}]`)
    return pad(x, Array<number>(2 * (x.ndim - 2)).fill(this.pad), this.#options)
  }
}

/**
 * A value around the spatial axes of x [batch, channels, spatial...]: `nn.pad` as a layer. PyTorch `nn.ConstantPad1d`, `ConstantPad2d` and
 * `ConstantPad3d`.
 *
 * @param pad One number for every side, or `[before, after]` of the last axis, then of the one before it, as many as are padded.
 * @param value What stands there.
 * @throws {TensorError} `ERR_ARGUMENT` for anything but integers and a number.
 * @example
 * ```ts
 * new ft.nn.ConstantPad2d([1, 0, 0, 0], 9).apply(null, ft.ones([1, 1, 2, 1])) // [[[[9, 1], [9, 1]]]]
 * ```
 */
export class ConstantPad extends Padding {
  constructor(pad: number | readonly number[], value: number) {
    super(pad, { value })
    number(this.name, 'value', value)
  }
}

/**
 * Zeros around the spatial axes of x [batch, channels, spatial...]: `nn.pad` as a layer. PyTorch `nn.ZeroPad1d`, `ZeroPad2d` and `ZeroPad3d`.
 *
 * @param pad As of `nn.ConstantPad`.
 * @throws {TensorError} `ERR_ARGUMENT` for anything but integers.
 * @example
 * ```ts
 * new ft.nn.ZeroPad2d(1).apply(null, ft.ones([1, 1, 2, 2])).shape // [1, 1, 4, 4]
 * ```
 */
export class ZeroPad extends Padding {
  constructor(pad: number | readonly number[]) {
    super(pad, {})
  }
}

/**
 * The spatial axes of x [batch, channels, spatial...] mirrored about their outermost elements: `nn.pad` as a layer. PyTorch `nn.ReflectionPad1d`,
 * `ReflectionPad2d` and `ReflectionPad3d`.
 *
 * @param pad As of `nn.ConstantPad`.
 * @throws {TensorError} `ERR_ARGUMENT` for anything but integers.
 * @example
 * ```ts
 * new ft.nn.ReflectionPad1d(2).apply(null, ft.tensor([[[1, 2, 3]]])) // [[[3, 2, 1, 2, 3, 2, 1]]]
 * ```
 */
export class ReflectionPad extends Padding {
  constructor(pad: number | readonly number[]) {
    super(pad, { mode: 'reflect' })
  }
}

/**
 * The outermost elements of the spatial axes of x [batch, channels, spatial...] around them: `nn.pad` as a layer. PyTorch `nn.ReplicationPad1d`,
 * `ReplicationPad2d` and `ReplicationPad3d`.
 *
 * @param pad As of `nn.ConstantPad`.
 * @throws {TensorError} `ERR_ARGUMENT` for anything but integers.
 * @example
 * ```ts
 * new ft.nn.ReplicationPad1d([2, 1]).apply(null, ft.tensor([[[1, 2, 3]]])) // [[[1, 1, 1, 2, 3, 3]]]
 * ```
 */
export class ReplicationPad extends Padding {
  constructor(pad: number | readonly number[]) {
    super(pad, { mode: 'replicate' })
  }
}

/**
 * The spatial axes of x [batch, channels, spatial...] with what stands at their other ends around them: `nn.pad` as a layer. PyTorch
 * `nn.CircularPad1d`, `CircularPad2d` and `CircularPad3d`.
 *
 * @param pad As of `nn.ConstantPad`.
 * @throws {TensorError} `ERR_ARGUMENT` for anything but integers.
 * @example
 * ```ts
 * new ft.nn.CircularPad1d([1, 2]).apply(null, ft.tensor([[[1, 2, 3]]])) // [[[3, 1, 2, 3, 1, 2]]]
 * ```
 */
export class CircularPad extends Padding {
  constructor(pad: number | readonly number[]) {
    super(pad, { mode: 'circular' })
  }
}
