// The windows of pictures as columns of a matrix (im2col), and columns added up to pictures again.

import { checkOptions } from '../arguments/options.js'
import { integer, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arange } from '../arrays/ranges.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, Takes } from '../generated/dtypes.js'
import { pad, zeros } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `nn.unfold` and `nn.fold`. */
export interface BlockOptions {
  /** How far apart windows are: one number for both axes, or one for each; 1 by default. */
  readonly stride?: number | readonly number[] | undefined
  /** Zeros around the picture: one number for both axes, or one for each; 0 by default. */
  readonly padding?: number | readonly number[] | undefined
  /** How far apart the places of a window are: one number for both axes, or one for each; 1 by default. */
  readonly dilation?: number | readonly number[] | undefined
}

type Pair = readonly [number, number]

/** One number for both axes, or one for each. */
function pair(op: string, name: string, value: unknown, least: number): Pair {
  const both = typeof value === 'number' ? [integer(op, name, value), value] : Array.isArray(value) ? integers(op, name, value) : []
  if (both.length !== 2 || both.some((n) => n < least)) throw new ArgumentError(`${op}: '${name}' must be one size from ${least} or two of them, got ${shown(value)}`)
  return both as unknown as Pair
}

/** The windows of a picture. */
interface Blocks {
  readonly kernel: Pair
  readonly stride: Pair
  readonly padding: Pair
  readonly dilation: Pair
  /** The picture with its padding. */
  readonly padded: Pair
  /** How many windows fit along each axis. */
  readonly count: Pair
}

function blocksOf(op: string, size: Pair, kernel: unknown, options: unknown): Blocks {
  const o = checkOptions(op, options, ['stride', 'padding', 'dilation'])
  const [window, stride, dilation] = [pair(op, 'kernel', kernel, 1), pair(op, 'stride', o['stride'] ?? 1, 1), pair(op, 'dilation', o['dilation'] ?? 1, 1)]
  const padding = pair(op, 'padding', o['padding'] ?? 0, 0)
  const padded = [0, 1].map((i) => (size[i] as number) + 2 * (padding[i] as number)) as unknown as Pair
  // Places are numbered in int32.
  if (padded[0] * padded[1] >= 2 ** 31) throw new ShapeError(`${op}: a picture of ${padded.join(' x ')} has more places than int32 counts`)
  const span = [0, 1].map((i) => (dilation[i] as number) * ((window[i] as number) - 1) + 1)
  const count = [0, 1].map((i) => Math.floor(((padded[i] as number) - (span[i] as number)) / (stride[i] as number)) + 1) as unknown as Pair
  if (count.some((n) => n < 1)) throw new ShapeError(`${op}: windows of ${span.join(' x ')} places do not fit a picture of ${padded.join(' x ')}, padding included`)
  return { kernel: window, stride, padding, dilation, padded, count }
}

/** Which place of the padded picture, row by row, stands at each place of each window: [places of a window, windows], int32. */
function placesOf({ kernel, stride, dilation, padded, count }: Blocks, device: string): Tensor<'int32'> {
  const along = (axis: 0 | 1): Tensor => {
    const steps = (n: number, step: number): Tensor => arange(n, { dtype: 'int32', device }).multiply(step)
    return steps(kernel[axis], dilation[axis]).reshape([-1, 1]).add(steps(count[axis], stride[axis]))
  }
  // [window rows, 1, rows, 1] beside [window columns, 1, columns].
  const rows = along(0).multiply(padded[1]).expandDims(1).expandDims(-1)
  return rows.add(along(1).expandDims(1)).reshape([kernel[0] * kernel[1], count[0] * count[1]]) as Tensor<'int32'>
}

/**
 * The windows of pictures as columns: x [batch, channels, height, width] becomes [batch, channels kernel height kernel width, windows]; without
 * a batch x is [channels, height, width]. `x.unfold` gives the windows along one axis.
 *
 * PyTorch `nn.functional.unfold`.
 *
 * @param kernel The window's size: one number for both axes, or one for each.
 * @throws {TensorError} `ERR_SHAPE` for another rank and windows that do not fit, `ERR_ARGUMENT` for sizes out of range.
 * @example
 * ```ts
 * ft.nn.unfold(ft.tensor([[[1, 2, 3], [4, 5, 6]]]), 2) // [[1, 2], [2, 3], [4, 5], [5, 6]]
 * ```
 */
export function unfold<D extends DType>(x: Tensor<D>, kernel: number | readonly number[], options?: BlockOptions): Tensor<D> {
  const op = 'nn.unfold'
  return within(op, () => {
    const values = tensorGiven(op, 'x', x)
    if (values.ndim !== 3 && values.ndim !== 4) throw new ShapeError(`${op}: x must have shape [batch, channels, height, width], or [channels, height, width], got [${values.shape.join(', ')}]`)
    const [channels, height, width] = values.shape.slice(-3) as [number, number, number]
    const blocks = blocksOf(op, [height, width], kernel, options)
    const { kernel: window, padding, padded, count } = blocks
    const before = values.shape.slice(0, -3)
    const widths = [...before, 0].map(() => [0, 0] as [number, number]).concat(padding.map((n) => [n, n] as [number, number]))
    const flat = pad(values, widths).reshape([...before, channels, padded[0] * padded[1]])
    const columns = flat.take(placesOf(blocks, values.device), { axis: -1 })
    return columns.reshape([...before, channels * window[0] * window[1], count[0] * count[1]]) as Tensor<D>
  })
}

/**
 * Columns added up to pictures, each window's places where they come from: x [batch, channels kernel height kernel width, windows] becomes
 * [batch, channels, height, width], without a batch likewise. It is the transpose of {@link unfold}.
 *
 * PyTorch `nn.functional.fold`.
 *
 * @param size The picture's height and width: one number for both, or one for each.
 * @param kernel The window's size: one number for both axes, or one for each.
 * @throws {TensorError} `ERR_SHAPE` for columns that are not those of such windows, `ERR_ARGUMENT` for sizes out of range.
 * @example
 * ```ts
 * ft.nn.fold(ft.ones([4, 2]), [2, 3], 2) // [[[1, 2, 1], [1, 2, 1]]]
 * ```
 */
export function fold<D extends DType>(x: Tensor<D> & Takes<'numeric', D>, size: number | readonly number[], kernel: number | readonly number[], options?: BlockOptions): Tensor<D> {
  const op = 'nn.fold'
  return within(op, () => {
    const values = tensorGiven(op, 'x', x)
    const picture = pair(op, 'size', size, 1)
    const blocks = blocksOf(op, picture, kernel, options)
    const { kernel: window, padding, padded, count } = blocks
    const [places, windows] = [window[0] * window[1], count[0] * count[1]]
    const [rows, columns] = values.shape.slice(-2)
    if ((values.ndim !== 2 && values.ndim !== 3) || (rows as number) % places !== 0 || columns !== windows) {
      throw new ShapeError(`${op}: x must have shape [batch, channels * ${places}, ${windows}], or that without a batch, got [${values.shape.join(', ')}]`)
    }
    const before = [...values.shape.slice(0, -2), (rows as number) / places]
    const updates = values.reshape([...before, places * windows])
    const start = zeros([...before, padded[0] * padded[1]], { dtype: values.dtype, device: values.device }) as Tensor<'float32'>
    const sums = start.scatterAdd(placesOf(blocks, values.device).flatten(), updates, { axis: -1 })
    const whole = sums.reshape([...before, ...padded])
    return whole.at('...', `${padding[0]}:${padding[0] + picture[0]}`, `${padding[1]}:${padding[1] + picture[1]}`) as Tensor as Tensor<D>
  })
}
