// The common shape of several tensors.

import { within } from '../arguments/within.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { zeros } from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import { recordCall } from '../program/record.js'
import type { Tensor } from '../tensor/tensor.js'

/** The first tensor in the shape that both have in common. */
function widened(x: Tensor, y: Tensor): Tensor {
  return recordCall(OP.broadcastShapes, [x, y], null, null)
}

/**
 * The shape to which shapes broadcast: aligned at their ends, axes of size 1 stretch.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not fit, or invalid sizes.
 * @example
 * ```ts
 * ft.broadcastShapes([3, 1], [4]) // [3, 4]
 * ```
 */
export function broadcastShapes(...shapes: readonly (readonly number[])[]): readonly number[] {
  const op = 'broadcastShapes'
  return within(op, () => {
    // Values that are never computed stand for the shapes.
    return shapes.map((shape): Tensor => zeros(shape, { dtype: 'bool' })).reduce(widened, zeros([], { dtype: 'bool' }) as Tensor).shape
  })
}

/**
 * Tensors in the shape they have in common. Views.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not fit, `ERR_ARGUMENT` for anything but tensors.
 * @example
 * ```ts
 * ft.broadcastArrays(ft.tensor([1, 2]), ft.tensor([[3], [4]]))[0] // [[1, 2], [1, 2]]
 * ```
 */
export function broadcastArrays<const T extends readonly Tensor[]>(...arrays: T): { -readonly [K in keyof T]: T[K] }
export function broadcastArrays(...arrays: readonly unknown[]): Tensor[] {
  const op = 'broadcastArrays'
  return within(op, () => {
    const tensors = arrays.map((x, i) => {
      if (!isTensor(x)) throw new ArgumentError(`${op}: argument ${i + 1} must be a tensor, got ${shown(x)}`)
      return x
    })
    const [first, ...rest] = tensors
    if (first === undefined) return []
    const all = rest.reduce(widened, first)
    return tensors.map((x) => widened(x, all))
  })
}
