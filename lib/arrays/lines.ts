// A function of yours along an axis, line by line.

import { axisGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType } from '../generated/dtypes.js'
import { stack } from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'

/** More lines than this are a mistake: the function is called for each, and what it does is recorded. */
const MOST = 2 ** 16

/**
 * What a function makes of each line of an axis, a vector: its results stand along that axis. It is called for each line, and what it does is
 * recorded; operations with `{ axis }` do the same in one step.
 *
 * NumPy `apply_along_axis`.
 *
 * @param fn Gives a tensor for a vector, of one shape for all.
 * @param axis The axis; negative ones count from the last.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for no lines or more than 65,536 and results of different shapes, `ERR_ARGUMENT` for
 * a `fn` that is not a function or does not return a tensor.
 * @example
 * ```ts
 * ft.applyAlongAxis((line) => line.sort(), 0, ft.tensor([[3, 1], [2, 5]])) // [[2, 1], [3, 5]]
 * ```
 */
export function applyAlongAxis<D extends DType, E extends DType>(fn: (line: Tensor<D>) => Tensor<E>, axis: number, x: Tensor<D>): Tensor<E> {
  const op = 'applyAlongAxis'
  if (typeof fn !== 'function') throw new ArgumentError(`${op}: 'fn' must be a function of a line, got ${shown(fn)}`)
  const [values, at] = within(op, () => {
    const given = arrayGiven(op, 'x', x) as Tensor<D>
    return [given, axisGiven(op, axis, given.ndim)] as const
  })
  const lead = values.shape.filter((_, i) => i !== at)
  const count = lead.reduce((n, size) => n * size, 1)
  if (count === 0 || count > MOST) throw new ShapeError(`${op}: ${count} lines, of 1 to ${MOST} that there may be`)
  const lines = within(op, () => values.moveaxis(at, -1).reshape([count, values.shape[at] as number]))
  // The function is the caller's: its errors are none of this call.
  const results = Array.from({ length: count }, (_, i) => fn(lines.at(i) as Tensor<D>) as unknown)
  return within(op, () => {
    const wrong = results.find((result) => !isTensor(result))
    if (results.some((result) => !isTensor(result))) throw new ArgumentError(`${op}: 'fn' must give a tensor, gave ${shown(wrong)}`)
    const all = stack(results as Tensor[]) as Tensor
    const rest = all.shape.slice(1)
    // Axes of the results stand where the line's axis stood.
    const order = [...lead.slice(0, at).map((_, i) => i), ...rest.map((_, i) => lead.length + i), ...lead.slice(at).map((_, i) => at + i)]
    return all.reshape([...lead, ...rest]).permuteDims(order)
  }) as Tensor<E>
}
