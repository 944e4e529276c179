// Layers that leave elements as they are, in the same shape or another one.

import { integer, integers } from '../arguments/validate.js'
import { unflatten } from '../arrays/shapes.js'
import { ArgumentError } from '../errors.js'
import type { Tensor } from '../tensor/tensor.js'
import { size } from './options.js'
import { channelShuffle, pixelShuffle, pixelUnshuffle } from './pixels.js'
import { Stateless } from './stateless.js'

/**
 * The tensor itself. PyTorch `nn.Identity`, which takes arguments and leaves them unread.
 *
 * @example
 * ```ts
 * new ft.nn.Identity().apply(null, ft.tensor([1, 2])) // [1, 2]
 * ```
 */
export class Identity extends Stateless<'kept'> {
  protected of(x: Tensor): Tensor {
    return x
  }
}

/**
 * Axes from the first to the last of some as one: of x [batch, ...] all but the batch by default. PyTorch `nn.Flatten`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for axes that are not integers; `ERR_INDEX` at the call for those out of range.
 * @example
 * ```ts
 * new ft.nn.Flatten().apply(null, ft.ones([2, 3, 4])).shape // [2, 12]
 * ```
 */
export class Flatten extends Stateless<'kept'> {
  readonly startAxis: number
  readonly endAxis: number

  constructor(startAxis: number = 1, endAxis: number = -1) {
    super()
    this.startAxis = integer(this.name, 'startAxis', startAxis)
    this.endAxis = integer(this.name, 'endAxis', endAxis)
  }

  protected of(x: Tensor): Tensor {
    return x.flatten({ startAxis: this.startAxis, endAxis: this.endAxis })
  }
}

/**
 * One axis as several, of these sizes, one of which may be -1: what {@link Flatten} did, reversed. PyTorch `nn.Unflatten`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an axis that is not an integer and sizes that are not integers; `ERR_INDEX` and `ERR_SHAPE` at the call, where they do not fit `x`.
 * @example
 * ```ts
 * new ft.nn.Unflatten(1, [3, -1]).apply(null, ft.ones([2, 12])).shape // [2, 3, 4]
 * ```
 */
export class Unflatten extends Stateless<'kept'> {
  readonly axis: number
  readonly sizes: readonly number[]

  constructor(axis: number, sizes: readonly number[]) {
    super()
    this.axis = integer(this.name, 'axis', axis)
    this.sizes = integers(this.name, 'sizes', sizes)
    if (this.sizes.length === 0) throw new ArgumentError(`${this.name}: 'sizes' must have a size`)
  }

  protected of(x: Tensor): Tensor {
    return unflatten(x, this.axis, this.sizes)
  }
}

/**
 * Channels rearranged into a picture of higher resolution: `nn.pixelShuffle` as a layer. PyTorch `nn.PixelShuffle`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a factor that is not positive.
 * @example
 * ```ts
 * new ft.nn.PixelShuffle(2).apply(null, ft.ones([1, 4, 1, 1])).shape // [1, 1, 2, 2]
 * ```
 */
export class PixelShuffle extends Stateless<'kept'> {
  readonly factor: number

  constructor(factor: number) {
    super()
    this.factor = size(this.name, 'factor', factor)
  }

  protected of(x: Tensor): Tensor {
    return pixelShuffle(x, this.factor)
  }
}

/**
 * Channels of groups in turn: `nn.channelShuffle` as a layer. PyTorch `nn.ChannelShuffle`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number of groups that is not positive.
 * @example
 * ```ts
 * new ft.nn.ChannelShuffle(2).apply(null, ft.tensor([[[1], [2], [3], [4]]])) // [[[1], [3], [2], [4]]]
 * ```
 */
export class ChannelShuffle extends Stateless<'kept'> {
  readonly groups: number

  constructor(groups: number) {
    super()
    this.groups = size(this.name, 'groups', groups)
  }

  protected of(x: Tensor): Tensor {
    return channelShuffle(x, this.groups)
  }
}

/**
 * Pixels as channels: `nn.pixelUnshuffle` as a layer. PyTorch `nn.PixelUnshuffle`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a factor that is not positive.
 * @example
 * ```ts
 * new ft.nn.PixelUnshuffle(2).apply(null, ft.ones([1, 1, 2, 2])).shape // [1, 4, 1, 1]
 * ```
 */
export class PixelUnshuffle extends Stateless<'kept'> {
  readonly factor: number

  constructor(factor: number) {
    super()
    this.factor = size(this.name, 'factor', factor)
  }

  protected of(x: Tensor): Tensor {
    return pixelUnshuffle(x, this.factor)
  }
}
