// Functions and losses of complex numbers where rows take real ones alone.

import { within } from '../arguments/within.js'
import { isComplexTensor, sigmoid } from '../arrays/complex.js'
import type { Listed } from '../calls/arrays.js'
import { tensorGiven } from '../calls/operands.js'
import type { DType, FloatOf, Promote, RealOf } from '../generated/dtypes.js'
import { zeros } from '../generated/functions.js'
import { l1Loss as l1LossReal, silu as siluReal, softsign as softsignReal, tanhshrink as tanhshrinkReal, type L1LossOptions } from '../generated/nn.js'
import type { Tensor } from '../tensor/tensor.js'

/**
 * Each element times its logistic function.
 *
 * `x / (1 + e^-x)`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * PyTorch `nn.functional.silu`.
 *
 * @param x A tensor.
 * @example
 * ```ts
 * ft.nn.silu(ft.tensor([{ re: 0, im: 0 }])) // [{ re: 0, im: 0 }]
 * ```
 */
export function silu<A extends DType = 'float32'>(x: Tensor<A> | Listed): Tensor<FloatOf<A>> {
  if (!isComplexTensor(x) || arguments.length > 1) return Reflect.apply(siluReal, undefined, arguments) as Tensor<FloatOf<A>>
  return within('nn.silu', () => (x as Tensor).multiply(sigmoid(x) as Tensor)) as Tensor as Tensor<FloatOf<A>>
}

/**
 * Each element over 1 more than its magnitude.
 *
 * `x / (1 + |x|)`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * PyTorch `nn.functional.softsign`.
 *
 * @param x A tensor.
 * @example
 * ```ts
 * ft.nn.softsign(ft.tensor([{ re: 3, im: 4 }])) // [{ re: 0.5, im: 0.6666667 }]
 * ```
 */
export function softsign<A extends DType = 'float32'>(x: Tensor<A> | Listed): Tensor<FloatOf<A>> {
  if (!isComplexTensor(x) || arguments.length > 1) return Reflect.apply(softsignReal, undefined, arguments) as Tensor<FloatOf<A>>
  return within('nn.softsign', () => (x as Tensor).divide((x as Tensor).abs().add(1) as Tensor)) as Tensor as Tensor<FloatOf<A>>
}

/**
 * What each element is above its hyperbolic tangent.
 *
 * `x - tanh(x)`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * PyTorch `nn.functional.tanhshrink`.
 *
 * @param x A tensor.
 * @example
 * ```ts
 * ft.nn.tanhshrink(ft.tensor([{ re: 0, im: 0 }])) // [{ re: 0, im: 0 }]
 * ```
 */
export function tanhshrink<A extends DType = 'float32'>(x: Tensor<A> | Listed): Tensor<FloatOf<A>> {
  if (!isComplexTensor(x) || arguments.length > 1) return Reflect.apply(tanhshrinkReal, undefined, arguments) as Tensor<FloatOf<A>>
  return within('nn.tanhshrink', () => (x as Tensor).subtract(x.tanh() as Tensor)) as Tensor as Tensor<FloatOf<A>>
}

/**
 * Absolute errors of predictions: the mean, or by the option `reduction` the sum or each loss; of complex predictions the magnitudes of their errors.
 *
 * `mean |x - target|`
 *
 * Takes any dtype; gives the promoted dtype, of complex numbers that of their parts, float32 for integers and bool.
 * PyTorch `nn.functional.l1_loss`.
 *
 * @param x Predictions.
 * @param target What was to be predicted.
 * @throws {TensorError} `ERR_SHAPE` for shapes that differ, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.l1Loss(ft.tensor([{ re: 3, im: 4 }]), ft.tensor([{ re: 0, im: 0 }])) // 5
 * ```
 */
export function l1Loss<A extends DType, B extends DType>(x: Tensor<A>, target: Tensor<B>, options?: L1LossOptions): Tensor<RealOf<FloatOf<Promote<A, B>>>> {
  const op = 'nn.l1Loss'
  if ((!isComplexTensor(x) && !isComplexTensor(target)) || arguments.length > 3) return Reflect.apply(l1LossReal, undefined, arguments) as Tensor<RealOf<FloatOf<Promote<A, B>>>>
  return within(op, () => {
    const errors = (tensorGiven(op, 'x', x).subtract(tensorGiven(op, 'target', target)) as Tensor).abs() as Tensor
    return l1LossReal(errors as Tensor<'float32'>, zeros(errors.shape, { dtype: errors.dtype, device: errors.device }) as Tensor as Tensor<'float32'>, options)
  }) as Tensor as Tensor<RealOf<FloatOf<Promote<A, B>>>>
}
