// Diagonals of matrices that are made of vectors.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, integer, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, IndexError, ShapeError } from '../errors.js'
import type { DType } from '../generated/dtypes.js'
import { eye, where } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'
import { zerosLike } from './create-like.js'

/** Options of `diagEmbed`. */
export interface DiagEmbedOptions {
  /** Which diagonal: above the main one, or with a negative number below; 0 by default. */
  readonly offset?: number | undefined
  /** The axes of the result that are rows and columns; the last two by default. */
  readonly axes?: readonly [rows: number, columns: number] | undefined
}

/** Larger offsets are a mistake: 2^20 squared elements are more than there is memory for. */
const FURTHEST = 2 ** 20

/**
 * Matrices whose diagonals are the vectors along the last axis, zeros elsewhere.
 *
 * `y_(..., i, i + offset) = x_(..., i), with a negative offset y_(..., i - offset, i)`
 *
 * PyTorch `diag_embed`. Of a vector it is `diag`; `ft.diagonal` is the way back.
 *
 * @throws {TensorError} `ERR_SHAPE` for a tensor of rank 0 and an offset beyond 2^20, `ERR_INDEX` for axes out of range or twice the same,
 * `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.diagEmbed(ft.tensor([[1, 2], [3, 4]])) // [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
 * ```
 */
export function diagEmbed<D extends DType>(x: Tensor<D>, options?: DiagEmbedOptions): Tensor<D> {
  const op = 'diagEmbed'
  return within(op, () => {
    const vectors = tensorGiven(op, 'x', x)
    const { offset = 0, axes = [-2, -1] } = checkOptions(op, options, ['offset', 'axes'])
    const shift = integer(op, 'offset', offset)
    if (vectors.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 is no diagonal`)
    if (Math.abs(shift) > FURTHEST) throw new ShapeError(`${op}: the offset ${shift} is beyond ${FURTHEST}`)
    const places = axesGiven(op, axes, vectors.ndim + 1)
    const n = (vectors.shape.at(-1) as number) + Math.abs(shift)
    const none = vectors.shape.slice(1).map((): [number, number] => [0, 0])
    // Row i holds element i where the diagonal is above, column i where it is below.
    const lines = vectors.pad([...none, [0, Math.abs(shift)]]).expandDims(shift < 0 ? -2 : -1)
    const matrices = lines.broadcastTo([...vectors.shape.slice(0, -1), n, n])
    return where(eye(n, { dtype: 'bool', k: shift, device: x.device }), matrices, zerosLike(matrices)).moveaxis([-2, -1], places) as Tensor<D>
  })
}

/** The axes of rows and columns, not negative. */
function axesGiven(op: string, value: unknown, rank: number): [number, number] {
  const axes = integers(op, 'axes', value).map((axis) => axisGiven(op, axis, rank))
  const [rows, columns] = axes
  if (rows === undefined || columns === undefined || axes.length !== 2) throw new ArgumentError(`${op}: 'axes' must be two axes, got ${axes.length}`)
  if (rows === columns) throw new IndexError(`${op}: axis ${rows} is named twice`)
  return [rows, columns]
}
