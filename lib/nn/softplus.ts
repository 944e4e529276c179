// Softplus with PyTorch's threshold, beyond which it is a line.

import { checkOptions } from '../arguments/options.js'
import { number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating } from '../arrays/dtypes.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import type { DType, FloatOf, Takes } from '../generated/dtypes.js'
import { where } from '../generated/functions.js'
import { softplus as smooth } from '../generated/nn.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `nn.softplus`. */
export interface SoftplusOptions {
  /** How sharp the bend is; 1 by default. */
  readonly beta?: number | undefined
  /** Where `beta x` is above it, the result is x itself; without one the function is smooth everywhere. */
  readonly threshold?: number | undefined
}

/**
 * Smooth rectified linear unit, without overflow.
 *
 * `ln(1 + e^(beta x)) / beta`
 *
 * Takes a real dtype; gives the same dtype, float32 for integers and bool. PyTorch `nn.functional.softplus`, whose threshold is 20 by default: there
 * both differ by less than 3e-9.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a number, `ERR_DTYPE` for a complex tensor.
 * @example
 * ```ts
 * ft.nn.softplus(ft.tensor([0, 100])) // [0.6931472, 100]
 * ```
 */
export function softplus<A extends DType = 'float32'>(x: (Tensor<A> & Takes<'real', A>) | Listed, options?: SoftplusOptions): Tensor<FloatOf<A>> {
  const op = 'nn.softplus'
  return within(op, () => {
    const { beta = 1, threshold } = checkOptions(op, options, ['beta', 'threshold']) as SoftplusOptions
    const values = floating(arrayGiven(op, 'x', x)) as Tensor<'float32'>
    const bent = smooth(values, { beta }) as Tensor
    if (threshold === undefined) return bent as Tensor<FloatOf<A>>
    return where(values.multiply(beta).greater(number(op, 'threshold', threshold)), values, bent) as Tensor<FloatOf<A>>
  })
}
