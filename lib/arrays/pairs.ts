// Functions with two results of one size: quotients and remainders, the parts of a float, moments, both extremes.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import { stopGradient } from '../autodiff/grad.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { several, type Several } from '../calls/several.js'
import { DTypeError } from '../errors.js'
import { DTYPE, type DType, type FloatLimits, type FloatOf, type RealOf, type Takes } from '../generated/dtypes.js'
import { copysign, floorDivide, fmod, remainder, where, type MeanOptions, type StdOptions, type VarOptions } from '../generated/functions.js'
import type { Common, DTypeOf, Fits, Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { floating } from './dtypes.js'

/**
 * Quotients rounded down, and what remains, with the signs of `x2`: {@link floorDivide} and {@link remainder}.
 *
 * `quotient = floor(x_1 / x_2), remainder = x_1 - quotient x_2`
 *
 * NumPy `divmod`.
 *
 * @throws {TensorError} `ERR_DTYPE` for bool and complex tensors, `ERR_SHAPE` for shapes that do not broadcast.
 * @example
 * ```ts
 * ft.divmod(ft.tensor([7, -7]), 3).quotient // [2, -3]
 * ```
 * ```ts
 * ft.divmod(ft.tensor([7, -7]), 3).remainder // [1, 2]
 * ```
 */
export function divmod<A extends Operand, B extends Operand>(
  x1: A & Fits<'integerOrFloat', A, DTypeOf<B>>,
  x2: B & Fits<'integerOrFloat', B, DTypeOf<A>>
): Several<{ quotient: Tensor<Common<A, B>>; remainder: Tensor<Common<A, B>> }> {
  return within('divmod', () => several({ quotient: floorDivide(x1, x2), remainder: remainder(x1, x2) }))
}

/**
 * The part of each element behind the point, and the integer before it, both with its sign: {@link fmod} by 1 and {@link trunc}.
 *
 * `fractional = x - trunc(x), integral = trunc(x)`
 *
 * NumPy `modf`. An infinite element is its own integer, and its fraction 0.
 *
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor.
 * @example
 * ```ts
 * ft.modf(ft.tensor([1.5, -2.25])).fractional // [0.5, -0.25]
 * ```
 */
export function modf<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed): Several<{ fractional: Tensor<FloatOf<D>>; integral: Tensor<FloatOf<D>> }> {
  return within('modf', () => {
    const values: Tensor = floating(arrayGiven('modf', 'x', x))
    const fractional = where(values.isinf(), copysign(0, values), fmod(values, 1))
    return several({ fractional: fractional as Tensor as Tensor<FloatOf<D>>, integral: values.trunc() as Tensor as Tensor<FloatOf<D>> })
  })
}

/** What dtype has the bits of a float of so many bytes. */
const BITS: Readonly<Record<number, DType>> = { 2: 'int16', 4: 'int32', 8: 'int64' }

/** The exponents of {@link frexp}, read from the bits of IEEE 754: exact, where a logarithm is rounded beside powers of 2. */
function exponents(x: Tensor): Tensor<'int32'> {
  const { bytes, float } = DTYPE[x.dtype]
  const { eps, smallestNormal } = float as FloatLimits
  const digits = -Math.log2(eps)
  const least = -Math.log2(smallestNormal)
  // Subnormal numbers are lifted to normal ones.
  const small = x.abs().less(smallestNormal)
  const lifted = where(small, x.multiply(2 ** digits), x) as Tensor
  const field = lifted.bitcast(BITS[bytes] as 'int32').bitwiseRightShift(digits).bitwiseAnd(2 ** (8 * bytes - 1 - digits) - 1).astype('int32')
  const plain = field.subtract(where(small, least + digits, least).astype('int32'))
  return where(x.isfinite().logicalAnd(x.notEqual(0)), plain, 0) as Tensor as Tensor<'int32'>
}

/**
 * Each element as a mantissa of magnitude 0.5 up to 1 and an int32 exponent of 2, exactly.
 *
 * `x = mantissa 2^exponent`
 *
 * NumPy and PyTorch `frexp`. 0, the infinities and NaN are their own mantissas, with exponent 0. The gradient of the mantissa is 2^-exponent.
 *
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor.
 * @example
 * ```ts
 * ft.frexp(ft.tensor([8, -0.75])).mantissa // [0.5, -0.75]
 * ```
 * ```ts
 * ft.frexp(ft.tensor([8, -0.75])).exponent // [4, 0]
 * ```
 */
export function frexp<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed): Several<{ mantissa: Tensor<FloatOf<D>>; exponent: Tensor<'int32'> }> {
  const op = 'frexp'
  return within(op, () => {
    const values: Tensor = floating(arrayGiven(op, 'x', x))
    if (DTYPE[values.dtype].kind === 'complex') throw new DTypeError(`${op}: takes a real dtype, got ${values.dtype}`)
    const exponent = exponents(stopGradient(values))
    // In halves: 2^148 is beyond float32.
    const half = exponent.floorDivide(2)
    const power = (e: Tensor): Tensor => e.negative().astype(values.dtype).exp2() as Tensor
    const mantissa = values.multiply(power(half)).multiply(power(exponent.subtract(half)))
    return several({ mantissa: mantissa as Tensor as Tensor<FloatOf<D>>, exponent })
  })
}

/** Options of both moments: an axis or several may stand alone. */
function moments(op: string, options: unknown, names: readonly string[] = ['axis', 'correction', 'keepdims']): { spread: VarOptions & StdOptions; mean: MeanOptions } {
  const bare = typeof options === 'number' || Array.isArray(options)
  const o = bare ? { axis: options } : checkOptions(op, options, names)
  const { axis, keepdims, correction } = o as VarOptions
  return { spread: { axis, keepdims, correction }, mean: { axis, keepdims } }
}

/**
 * Variances and means over axes: `ft.var` and {@link mean}, in one program.
 *
 * PyTorch `var_mean`. As `ft.var` it divides by the number of elements; PyTorch's default is `{ correction: 1 }`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.varMean(ft.tensor([2, 4, 6]), { correction: 1 }).var // 4
 * ```
 */
export function varMean<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: number | readonly number[] | VarOptions): Several<{ var: Tensor<RealOf<FloatOf<D>>>; mean: Tensor<FloatOf<D>> }> {
  const op = 'varMean'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x) as Tensor<D>
    const { spread, mean } = moments(op, options)
    return several({ var: values.var(spread), mean: values.mean(mean) })
  })
}

/**
 * Standard deviations and means over axes: `ft.std` and {@link mean}, in one program.
 *
 * PyTorch `std_mean`. As `ft.std` it divides by the number of elements; PyTorch's default is `{ correction: 1 }`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.stdMean(ft.tensor([2, 4, 6]), { correction: 1 }).std // 2
 * ```
 */
export function stdMean<D extends DType = 'float32'>(x: Tensor<D> | Listed, options?: number | readonly number[] | StdOptions): Several<{ std: Tensor<RealOf<FloatOf<D>>>; mean: Tensor<FloatOf<D>> }> {
  const op = 'stdMean'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x) as Tensor<D>
    const { spread, mean } = moments(op, options)
    return several({ std: values.std(spread), mean: values.mean(mean) })
  })
}

/**
 * The smallest and the largest elements over axes: {@link min} and {@link max}, in one program. NaN wins.
 *
 * PyTorch `aminmax`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` where there are no elements.
 * @example
 * ```ts
 * ft.aminmax(ft.tensor([[3, 1], [2, 5]]), 0).min // [2, 1]
 * ```
 */
export function aminmax<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, options?: number | readonly number[] | MeanOptions): Several<{ min: Tensor<D>; max: Tensor<D> }> {
  const op = 'aminmax'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const { mean: over } = moments(op, options, ['axis', 'keepdims'])
    return several({ min: values.min(over) as Tensor<D>, max: values.max(over) as Tensor<D> })
  })
}
