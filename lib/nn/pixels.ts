// Channels laid out as pixels, and back, and in another order.

import { integer } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import type { DType } from '../generated/dtypes.js'
import type { Tensor } from '../tensor/tensor.js'

/** A factor of at least one, and a tensor of pictures. */
function pictures(op: string, x: unknown, factor: unknown): [x: Tensor, factor: number, before: readonly number[], channels: number, height: number, width: number] {
  const values = tensorGiven(op, 'x', x)
  const r = integer(op, 'factor', factor)
  if (r < 1) throw new ArgumentError(`${op}: 'factor' must be positive, got ${r}`)
  if (values.ndim < 3) throw new ShapeError(`${op}: x must have shape [..., channels, height, width], got [${values.shape.join(', ')}]`)
  const [channels, height, width] = values.shape.slice(-3) as [number, number, number]
  return [values, r, values.shape.slice(0, -3), channels, height, width]
}

/** The axes of [..., a, b, c, d, e], the last five in another order. */
function reordered(x: Tensor, order: readonly number[]): Tensor {
  const before = x.ndim - order.length
  return x.permuteDims([...Array.from({ length: before }, (_, i) => i), ...order.map((i) => before + i)])
}

/**
 * Channels rearranged into a picture of higher resolution: x [..., channels factor^2, height, width] becomes
 * [..., channels, height factor, width factor].
 *
 * `y[c, h r + i, w r + j] = x[c r^2 + i r + j, h, w]`
 *
 * PyTorch `nn.functional.pixel_shuffle`. Shi and others, "Real-time single image and video super-resolution", 2016.
 *
 * @throws {TensorError} `ERR_SHAPE` for fewer than three axes and channels that the factor's square does not divide, `ERR_ARGUMENT` for a factor
 * that is not positive.
 * @example
 * ```ts
 * ft.nn.pixelShuffle(ft.tensor([[[1]], [[2]], [[3]], [[4]]]), 2) // [[[1, 2], [3, 4]]]
 * ```
 */
export function pixelShuffle<D extends DType>(x: Tensor<D>, factor: number): Tensor<D> {
  const op = 'nn.pixelShuffle'
  return within(op, () => {
    const [values, r, before, channels, height, width] = pictures(op, x, factor)
    if (channels % (r * r) !== 0) throw new ShapeError(`${op}: ${channels} channels are no multiple of the factor's square, ${r * r}`)
    const outputs = channels / (r * r)
    return reordered(values.reshape([...before, outputs, r, r, height, width]), [0, 3, 1, 4, 2]).reshape([...before, outputs, height * r, width * r]) as Tensor<D>
  })
}

/**
 * Pixels as channels, the reverse of {@link pixelShuffle}: x [..., channels, height factor, width factor] becomes
 * [..., channels factor^2, height, width].
 *
 * `y[c r^2 + i r + j, h, w] = x[c, h r + i, w r + j]`
 *
 * PyTorch `nn.functional.pixel_unshuffle`.
 *
 * @throws {TensorError} `ERR_SHAPE` for fewer than three axes and sizes that the factor does not divide, `ERR_ARGUMENT` for a factor that is not
 * positive.
 * @example
 * ```ts
 * ft.nn.pixelUnshuffle(ft.tensor([[[1, 2], [3, 4]]]), 2) // [[[1]], [[2]], [[3]], [[4]]]
 * ```
 */
export function pixelUnshuffle<D extends DType>(x: Tensor<D>, factor: number): Tensor<D> {
  const op = 'nn.pixelUnshuffle'
  return within(op, () => {
    const [values, r, before, channels, height, width] = pictures(op, x, factor)
    if (height % r !== 0 || width % r !== 0) throw new ShapeError(`${op}: height ${height} and width ${width} must be multiples of the factor ${r}`)
    return reordered(values.reshape([...before, channels, height / r, r, width / r, r]), [0, 2, 4, 1, 3]).reshape([...before, channels * r * r, height / r, width / r]) as Tensor<D>
  })
}

/**
 * Channels of groups in turn: x [batch, channels, ...], whose channels are groups of equal size one behind the other, with the first channel of
 * each group, then the second of each, and so on.
 *
 * `y[n, c groups + g] = x[n, g channels / groups + c]`
 *
 * PyTorch `nn.functional.channel_shuffle`. Zhang and others, "ShuffleNet", 2018.
 *
 * @throws {TensorError} `ERR_SHAPE` for fewer than three axes and channels that the groups do not divide, `ERR_ARGUMENT` for a number of groups that is
 * not positive.
 * @example
 * ```ts
 * ft.nn.channelShuffle(ft.tensor([[[1], [2], [3], [4]]]), 2) // [[[1], [3], [2], [4]]]
 * ```
 */
export function channelShuffle<D extends DType>(x: Tensor<D>, groups: number): Tensor<D> {
  const op = 'nn.channelShuffle'
  return within(op, () => {
    const values = tensorGiven(op, 'x', x)
    const count = integer(op, 'groups', groups)
    if (count < 1) throw new ArgumentError(`${op}: 'groups' must be positive, got ${count}`)
    if (values.ndim < 3) throw new ShapeError(`${op}: x must have shape [batch, channels, ...], got [${values.shape.join(', ')}]`)
    const [batch, channels, ...rest] = values.shape as [number, number, ...number[]]
    if (channels % count !== 0) throw new ShapeError(`${op}: ${channels} channels are not ${count} equal groups`)
    return values.reshape([batch, count, channels / count, ...rest]).swapaxes(1, 2).reshape(values.shape) as Tensor<D>
  })
}
