// Functions and losses of complex numbers where rows take real ones alone.

import { axisGiven, integers, number, wrong } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isComplexTensor, sigmoid } from '../arrays/complex.js'
import type { Listed } from '../calls/arrays.js'
import { tensorGiven } from '../calls/operands.js'
import { readOptions } from '../calls/record-call.js'
import { DTypeError, IndexError, ShapeError } from '../errors.js'
import type { DType, FloatOf, Promote, RealOf, Takes } from '../generated/dtypes.js'
import { zeros } from '../generated/functions.js'
import {
  l1Loss as l1LossReal, rmsNorm as rmsNormReal, silu as siluReal, softsign as softsignReal, tanhshrink as tanhshrinkReal, type L1LossOptions, type RmsNormOptions
} from '../generated/nn.js'
import { OP } from '../generated/table.js'
import { TracedNumber } from '../program/placeholder.js'
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
    const [given, wanted] = [tensorGiven(op, 'x', x), tensorGiven(op, 'target', target)]
    if (given.shape.join() !== wanted.shape.join()) throw new ShapeError(`${op}: 'x' and 'target' differ in shape: [${given.shape.join(', ')}] and [${wanted.shape.join(', ')}]`)
    const errors = (given.subtract(wanted) as Tensor).abs() as Tensor
    return l1LossReal(errors as Tensor<'float32'>, zeros(errors.shape, { dtype: errors.dtype, device: errors.device }) as Tensor as Tensor<'float32'>, options)
  }) as Tensor as Tensor<RealOf<FloatOf<Promote<A, B>>>>
}

/** The axes that are normalised, in ascending order. */
function axesGiven(op: string, axis: unknown, rank: number): readonly number[] {
  const axes = (typeof axis === 'number' ? [axis] : integers(op, 'axis', axis)).map((n) => axisGiven(op, n, rank)).sort((a, b) => a - b)
  const twice = axes.find((n, i) => n === axes[i + 1])
  if (twice !== undefined) throw new IndexError(`${op}: axis ${twice} is named twice`)
  return axes
}

/** What is added below the root; a number that is traced is checked in each call. */
function epsGiven(op: string, eps: unknown): number {
  const check = (value: unknown): void => {
    if (!(number(op, 'eps', value) >= 0)) throw wrong(op, 'eps', 'a number of at least 0', value)
  }
  if (eps instanceof TracedNumber) eps.check(check)
  else check(eps)
  return eps as number
}

/**
 * Elements divided by the root of the mean of their squares over axes (the last by default) plus eps, times a weight of the axes' sizes; of complex
 * elements the squares of their magnitudes.
 *
 * `x / sqrt(mean |x|^2 + eps) weight`
 *
 * Takes any dtype; gives the promoted dtype, float32 for integers and bool.
 * PyTorch `nn.functional.rms_norm`.
 *
 * @param x A tensor.
 * @param weight A tensor of a real dtype: factors, of the shape of the normalised axes; 1 by default.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE` for a weight of another shape, `ERR_INDEX` for an axis out of range, `ERR_DTYPE` for a complex weight, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.rmsNorm(ft.tensor([{ re: 3, im: 4 }, { re: 0, im: 5 }]), undefined, { eps: 0 }) // [{ re: 0.6, im: 0.8 }, { re: 0, im: 1 }]
 * ```
 */
export function rmsNorm<A extends DType, B extends DType = 'bool'>(x: Tensor<A>, weight?: Tensor<B> & Takes<'real', B>, options?: number | readonly number[] | RmsNormOptions): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.rmsNorm'
  if (!isComplexTensor(x)) return Reflect.apply(rmsNormReal, undefined, arguments) as Tensor<FloatOf<Promote<A, B>>>
  return within(op, () => {
    const { axis = -1, eps = 1e-5 } = readOptions(OP[op], options, ['axis', 'eps'], arguments.length - 3, 'axis')
    const given = tensorGiven(op, 'x', x)
    const axes = axesGiven(op, axis, given.ndim)
    const squares = (given.real().square() as Tensor).add(given.imag().square() as Tensor) as Tensor<'float32'>
    const size = squares.mean({ axis: axes, keepdims: true }).add(epsGiven(op, eps)).sqrt() as Tensor
    const y = given.divide(size) as Tensor
    if (weight === undefined) return y
    const factors = tensorGiven(op, 'weight', weight)
    if (factors.type.row.kind === 'complex') throw new DTypeError(`${op}: 'weight' must be real, got ${factors.dtype}`)
    const sizes = axes.map((n) => given.shape[n] as number)
    if (factors.shape.join() !== sizes.join()) throw new ShapeError(`${op}: 'weight' must have shape [${sizes.join(', ')}], got [${factors.shape.join(', ')}]`)
    return y.multiply(factors.reshape(given.shape.map((n, i) => (axes.includes(i) ? n : 1))) as Tensor) as Tensor
  }) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}
