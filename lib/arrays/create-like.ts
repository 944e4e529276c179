// Tensors like another one, of one value or none in particular.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { empty, full, ones, zeros } from '../generated/functions.js'
import { checkElement } from '../program/exact.js'
import type { Scalar } from '../program/record.js'
import type { Fits } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { CREATION, orElse, type CreationOptions } from '../values/create.js'

function like(op: string, x: unknown, options: unknown, make: (shape: readonly number[], o: CreationOptions) => Tensor): Tensor {
  const like = tensorGiven(op, 'x', x)
  const o = checkOptions(op, options, CREATION)
  return within(op, () => make(like.shape, { dtype: orElse(o.dtype, like.dtype), device: orElse(o.device, like.device) }))
}

/** Zeros with the shape, dtype and device of a tensor, as far as the options name no others. */
export function zerosLike<D extends DType, E extends DType = D>(x: Tensor<D>, options?: CreationOptions<E>): Tensor<NoInfer<E>> {
  return like('zerosLike', x, options, zeros) as Tensor<E>
}

/** Ones with the shape, dtype and device of a tensor, as far as the options name no others. */
export function onesLike<D extends DType, E extends DType = D>(x: Tensor<D>, options?: CreationOptions<E>): Tensor<NoInfer<E>> {
  return like('onesLike', x, options, ones) as Tensor<E>
}

/** A tensor of another one's shape, dtype and device whose values do not matter. */
export function emptyLike<D extends DType, E extends DType = D>(x: Tensor<D>, options?: CreationOptions<E>): Tensor<NoInfer<E>> {
  return like('emptyLike', x, options, empty) as Tensor<E>
}

/** One value in every element, with the shape, dtype and device of a tensor, as far as the options name no others. */
export function fullLike<D extends DType, S extends Scalar, E extends DType = D>(x: Tensor<D>, fillValue: S & Fits<'any', S, E>, options?: CreationOptions<E>): Tensor<NoInfer<E>> {
  const make = (shape: readonly number[], o: CreationOptions): Tensor => {
    if (options?.dtype === undefined && typeof fillValue === 'number') checkElement('fullLike', DTYPE[x.dtype], fillValue)
    return full(shape, fillValue as Scalar, o)
  }
  return like('fullLike', x, options, make) as Tensor<E>
}
