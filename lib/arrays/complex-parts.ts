// Complex numbers as pairs of real ones along a last axis, and back.

import { within } from '../arguments/within.js'
import { arrayGiven } from '../calls/operands.js'
import { DTypeError, ShapeError } from '../errors.js'
import type { ComplexOf, DType, RealOf } from '../generated/dtypes.js'
import { complex, stack } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'

/**
 * Complex numbers as pairs of real and imaginary parts along a new last axis.
 *
 * PyTorch `view_as_real`, which is a view; here it is a copy.
 *
 * @throws {TensorError} `ERR_DTYPE` for a real tensor, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.viewAsReal(ft.tensor([{ re: 1, im: 2 }])) // [[1, 2]]
 * ```
 */
export function viewAsReal<D extends DType>(x: Tensor<D>): Tensor<RealOf<D>> {
  const op = 'viewAsReal'
  return within(op, () => {
    const given = arrayGiven(op, 'x', x)
    if (given.type.row.kind !== 'complex') throw new DTypeError(`${op}: takes a complex dtype, got ${given.dtype}`)
    return stack([given.real() as Tensor, given.imag() as Tensor], { axis: -1 })
  }) as Tensor<RealOf<D>>
}

/**
 * Complex numbers of pairs of real and imaginary parts along the last axis, which the result does not have.
 *
 * PyTorch `view_as_complex`, which is a view; here it is a copy.
 *
 * @throws {TensorError} `ERR_SHAPE` for a last axis that is not of size 2, `ERR_DTYPE` for anything but floats, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.viewAsComplex(ft.tensor([[1, 2]])) // [{ re: 1, im: 2 }]
 * ```
 */
export function viewAsComplex<D extends DType>(x: Tensor<D>): Tensor<ComplexOf<D>> {
  const op = 'viewAsComplex'
  return within(op, () => {
    const given = arrayGiven(op, 'x', x)
    if (given.type.row.kind !== 'float') throw new DTypeError(`${op}: takes a floating dtype, got ${given.dtype}`)
    if (given.shape.at(-1) !== 2) throw new ShapeError(`${op}: the last axis must be of size 2, a real and an imaginary part, got shape [${given.shape.join(', ')}]`)
    return complex(given.at('...', 0) as Tensor<'float32'>, given.at('...', 1) as Tensor<'float32'>) as Tensor
  }) as Tensor<ComplexOf<D>>
}
