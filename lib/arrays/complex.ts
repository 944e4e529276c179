// Complex numbers where rows take real ones alone: what the functions of the same names are for them, of other operations.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, flag, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import type { DType, FloatOf, Promote, Takes } from '../generated/dtypes.js'
import {
  complex, exp2 as exp2Real, gradient as gradientReal, logaddexp as logaddexpReal, logsumexp as logsumexpReal, sigmoid as sigmoidReal, sinc as sincReal,
  subtract, where, type GradientOptions, type LogsumexpOptions
} from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { Common, DTypeOf, Fits, Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { zerosLike } from './create-like.js'

/** Whether a value is a tensor of complex numbers. */
export const isComplexTensor = (x: unknown): x is Tensor => isTensor(x) && x.type.row.kind === 'complex'

/** 1 in the place of zeros, beside what stands there in their place: no division by 0 reaches a gradient. */
const nonzero = (x: Tensor): Tensor => where(x.equal(0), 1, x) as Tensor

/**
 * 2 to the power of each element.
 *
 * `2^x`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * NumPy `exp2`, PyTorch `exp2`.
 *
 * @param x A tensor.
 * @example
 * ```ts
 * ft.exp2(ft.tensor([{ re: 3, im: 0 }])) // [{ re: 8, im: 0 }]
 * ```
 */
export function exp2<A extends DType = 'float32'>(x: Tensor<A> | Listed): Tensor<FloatOf<A>> {
  if (arguments.length > 1) return Reflect.apply(exp2Real, undefined, arguments) as Tensor<FloatOf<A>>
  if (!isComplexTensor(x)) return exp2Real(x as Listed) as Tensor as Tensor<FloatOf<A>>
  return within('exp2', () => (x as Tensor).multiply(Math.LN2).exp()) as Tensor as Tensor<FloatOf<A>>
}

/**
 * The sine of pi times each element over pi times it, 1 at 0.
 *
 * `sin(pi x) / (pi x)`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * NumPy `sinc`, PyTorch `sinc`.
 *
 * @param x A tensor.
 * @example
 * ```ts
 * ft.sinc(ft.tensor([{ re: 0, im: 0 }, { re: 1, im: 0 }])) // [{ re: 1, im: 0 }, { re: 0, im: 0 }]
 * ```
 */
export function sinc<A extends DType = 'float32'>(x: Tensor<A> | Listed): Tensor<FloatOf<A>> {
  if (arguments.length > 1) return Reflect.apply(sincReal, undefined, arguments) as Tensor<FloatOf<A>>
  if (!isComplexTensor(x)) return sincReal(x as Listed) as Tensor as Tensor<FloatOf<A>>
  return within('sinc', () => {
    const angles = nonzero(x).multiply(Math.PI)
    return where(x.equal(0), 1, angles.sin().divide(angles))
  }) as Tensor as Tensor<FloatOf<A>>
}

/**
 * The logistic function of each element. Of complex numbers no power that is computed is larger than 1.
 *
 * `1 / (1 + e^-x)`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * PyTorch `sigmoid`.
 *
 * @param x A tensor.
 * @example
 * ```ts
 * ft.sigmoid(ft.tensor([{ re: 0, im: 0 }])) // [{ re: 0.5, im: 0 }]
 * ```
 */
export function sigmoid<A extends DType = 'float32'>(x: Tensor<A> | Listed): Tensor<FloatOf<A>> {
  if (arguments.length > 1) return Reflect.apply(sigmoidReal, undefined, arguments) as Tensor<FloatOf<A>>
  if (!isComplexTensor(x)) return sigmoidReal(x as Listed) as Tensor as Tensor<FloatOf<A>>
  return within('sigmoid', () => {
    const isLeft = x.real().less(0)
    const power = (where(isLeft, x, (x as Tensor).negative()) as Tensor).exp() as Tensor
    return where(isLeft, power, 1).divide(power.add(1))
  }) as Tensor as Tensor<FloatOf<A>>
}

/**
 * The logarithm of the sum of the exponentials of both, without computing these: of the number with the larger real part and what the other adds.
 *
 * `log(e^x_1 + e^x_2)`
 *
 * Takes any dtype; gives the promoted dtype, float32 for integers and bool.
 * NumPy `logaddexp`, PyTorch `logaddexp`.
 *
 * @param x1 A tensor or a JavaScript scalar.
 * @param x2 A tensor or a JavaScript scalar.
 * @example
 * ```ts
 * ft.logaddexp(ft.tensor([{ re: 0, im: 0 }]), 0) // [{ re: 0.6931472, im: 0 }]
 * ```
 */
export function logaddexp<A extends Operand, B extends Operand>(x1: A & Fits<'any', A, DTypeOf<B>, 'any'>, x2: B & Fits<'any', B, DTypeOf<A>, 'any'>): Tensor<FloatOf<Common<A, B>>> {
  if ((!isComplexTensor(x1) && !isComplexTensor(x2)) || arguments.length > 2) return Reflect.apply(logaddexpReal, undefined, arguments) as Tensor<FloatOf<Common<A, B>>>
  return within('logaddexp', () => {
    // Both in the dtype and shape of their difference.
    const none = zerosLike(subtract(x1 as Tensor, x2 as Tensor)) as Tensor
    const [a, b] = [none.add(x1 as Tensor), none.add(x2 as Tensor)] as [Tensor, Tensor]
    const isFirst = a.real().greaterEqual(b.real() as Tensor)
    const [more, less] = [where(isFirst, a, b), where(isFirst, b, a)] as [Tensor, Tensor]
    // Of equal infinities the difference is none.
    const isSame = more.real().equal(less.real() as Tensor).logicalAnd(more.real().isinf())
    return more.add(where(isSame, none, less.subtract(more)).exp().log1p() as Tensor)
  }) as Tensor as Tensor<FloatOf<Common<A, B>>>
}

/**
 * The logarithm of the sum of exponentials over axes, without computing these: those of differences from the largest (of complex numbers from that of
 * the largest real part) are summed.
 *
 * `log(sum e^x)`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * PyTorch `logsumexp`.
 *
 * @param x A tensor.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX`, as for `ft.zeros([2]).logsumexp(1)`.
 * @example
 * ```ts
 * ft.logsumexp(ft.tensor([{ re: 0, im: 0 }, { re: 0, im: 0 }])) // { re: 0.6931472, im: 0 }
 * ```
 */
export function logsumexp<A extends DType = 'float32'>(x: Tensor<A> | Listed, options?: number | readonly number[] | LogsumexpOptions): Tensor<FloatOf<A>> {
  const op = 'logsumexp'
  if (!isComplexTensor(x) || arguments.length > 2) return Reflect.apply(logsumexpReal, undefined, arguments) as Tensor<FloatOf<A>>
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const bare = typeof options === 'number' || Array.isArray(options)
    const o = (bare ? { axis: options } : checkOptions(op, options, ['axis', 'keepdims'])) as LogsumexpOptions
    const isKept = flag(op, 'keepdims', o.keepdims, false)
    const given = o.axis === undefined ? values.shape.map((_, i) => i) : o.axis
    const axes = (typeof given === 'number' ? [given] : integers(op, 'axis', given)).map((axis) => axisGiven(op, axis, values.ndim))
    const real = values.real() as Tensor
    const peak = real.max({ axis: axes, keepdims: true })
    // Beside infinite ones nothing is subtracted.
    const most = where(peak.isfinite(), peak, 0) as Tensor
    const sums = values.subtract(most).exp().sum({ axis: axes, keepdims: true }).log().add(most) as Tensor
    return isKept ? sums : sums.squeeze(axes)
  }) as Tensor as Tensor<FloatOf<A>>
}

/**
 * Derivatives of samples along an axis (the last by default), by central differences inside and one-sided ones at the ends; of complex samples those of
 * their parts.
 *
 * `(y_(i + 1) - y_(i - 1)) / (x_(i + 1) - x_(i - 1))` where the distances are equal
 *
 * Takes any dtype; gives the promoted dtype, float32 for integers and bool.
 * NumPy `gradient`, PyTorch `gradient`.
 *
 * @param y A tensor.
 * @param coordinates Where the samples are, a vector; `spacing` apart by default.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE`, as for `ft.zeros([1]).gradient()`, `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.gradient(ft.tensor([{ re: 1, im: 0 }, { re: 2, im: 4 }])) // [{ re: 1, im: 4 }, { re: 1, im: 4 }]
 * ```
 */
export function gradient<A extends DType, B extends DType = 'bool'>(y: Tensor<A>, coordinates?: Tensor<B> & Takes<'real', B>, options?: number | GradientOptions): Tensor<FloatOf<Promote<A, B>>> {
  if (!isComplexTensor(y) || arguments.length > 3) return Reflect.apply(gradientReal, undefined, arguments) as Tensor<FloatOf<Promote<A, B>>>
  return within('gradient', () => {
    const along = (part: Tensor): Tensor => gradientReal(part as Tensor<'float32'>, coordinates as Tensor as Tensor<'float32'>, options) as Tensor
    return complex(along(y.real() as Tensor), along(y.imag() as Tensor))
  }) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}
