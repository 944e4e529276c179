// Rounding to a number of decimals, before the point or behind it.

import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { stopGradient } from '../autodiff/grad.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { DTypeError } from '../errors.js'
import { DTYPE, type DType, type Takes } from '../generated/dtypes.js'
import { complex, isfinite, round as roundWhole, where } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `round`. */
export interface RoundOptions {
  /** Digits that stay behind the point; negative ones become zeros before it. 0 by default. */
  readonly decimals?: number | undefined
}

/** The largest power of ten that an integer dtype holds, by dtype; of the others, which are computed in int64, that of int64. */
const POWERS: Readonly<Record<string, number>> = { uint64: 19 }
const MOST_OF_INTEGERS = 18

/** Powers of ten up to here are exact in float64: as many decimals are computed as NumPy computes them. */
const EXACT_POWERS = 22
/** The largest power of ten in float64. */
const MOST_OF_FLOATS = 308
/** From 324 decimals on every float stays: the smallest one is 4.9e-324. */
const MOST_DECIMALS = 324
/** From here on, float64 has whole numbers alone. */
const WHOLE = 2 ** 53

/** Integers to a multiple of 10^digits: quotients rounded down, and up where what is left is more than half, or half and the quotient odd. */
function integersTo(x: Tensor, digits: number): Tensor {
  const wide = (x.dtype === 'uint64' ? x : x.astype('int64')) as Tensor<'int64'>
  const most = POWERS[x.dtype] ?? MOST_OF_INTEGERS
  if (digits > most && wide.dtype === x.dtype) throw new DTypeError(`round: 'decimals' must be at least -${most}: ${x.dtype} does not hold the next power of 10`)
  // No narrower integer is as large as half of 10^18.
  const step = 10n ** BigInt(Math.min(digits, most))
  const quotient = wide.floorDivide(step) as Tensor<'int64'>
  const rest = wide.subtract(quotient.multiply(step)) as Tensor<'int64'>
  const isOdd = quotient.bitwiseAnd(1).equal(1)
  const isUp = rest.greater(step / 2n).logicalOr(rest.equal(step / 2n).logicalAnd(isOdd))
  return quotient.add(isUp.astype(wide.dtype)).multiply(step).astype(x.dtype) as Tensor
}

/** Factors whose product is a power of ten, the first exact where one alone would be infinite. `10 ** n` is another number than `1e<n>` for 36 exponents. */
function powersOfTen(n: number): readonly number[] {
  return (n > MOST_OF_FLOATS ? [EXACT_POWERS, n - EXACT_POWERS] : [n]).map((digits) => Number(`1e${digits}`))
}

/** Floats by a power of ten there and back. */
function floatsTo(x: Tensor, decimals: number): Tensor {
  const isFew = Math.abs(decimals) <= EXACT_POWERS
  // Powers that float32 does not hold.
  if (!isFew && x.dtype !== 'float64') return floatsTo(x.astype('float64') as Tensor, decimals).astype(x.dtype) as Tensor
  const wide = (x.dtype === 'float64' ? x : x.astype('float32')) as Tensor<'float32'>
  const factors = powersOfTen(Math.min(Math.abs(decimals), MOST_DECIMALS))
  const up = (from: Tensor<'float32'>): Tensor<'float32'> => factors.reduce((v, power) => v.multiply(power), from)
  const down = (from: Tensor<'float32'>): Tensor<'float32'> => factors.reduceRight((v, power) => v.divide(power), from)
  if (decimals < 0) return up(roundWhole(down(wide)) as Tensor<'float32'>).astype(x.dtype) as Tensor
  const moved = up(wide)
  const back = down(roundWhole(moved) as Tensor<'float32'>)
  // What is infinite on the way is whole as well. Comparisons are false of NaN.
  const hasDigits = isFew ? isfinite(moved) : moved.abs().less(WHOLE)
  return where(hasDigits, back, stopGradient(wide)).astype(x.dtype) as Tensor
}

/**
 * Each element rounded to a number of decimals, ties to even, of both parts of complex numbers. Without decimals it is the nearest integral value.
 *
 * `round(x 10^decimals) / 10^decimals`
 *
 * NumPy `round`, PyTorch `round`. Floats are multiplied by the power of ten, rounded and divided by it, each step rounded to their dtype (float32 for
 * narrower ones), as there. A number that would overflow on the way stays as it is. With more than 22 decimals, powers of ten are rounded themselves:
 * then every float is computed in float64, a number that has no digits there stays as it is, and those that have some are rounded to them, where
 * NumPy's power may overflow and leave NaN. Integers are rounded exactly; what their dtype does not hold wraps.
 *
 * @param options The number of decimals, or an object of options.
 * @throws {TensorError} `ERR_DTYPE` for bool, and for a power of ten that int64 or uint64 does not hold, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.round(ft.tensor([1.25, -3.149]), 1) // [1.2, -3.1]
 * ```
 */
export function round<A extends DType = 'float32'>(x: (Tensor<A> & Takes<'numeric', A>) | Listed, options?: number | RoundOptions): Tensor<A> {
  const op = 'round'
  if (arguments.length > 2) return Reflect.apply(roundWhole, undefined, arguments) as Tensor<A>
  if (options === undefined) return roundWhole(x as Listed) as Tensor as Tensor<A>
  return within(op, () => {
    const given = typeof options === 'number' ? options : checkOptions(op, options, ['decimals'])['decimals']
    const decimals = integer(op, 'decimals', given ?? 0)
    const before = arrayGiven(op, 'x', x)
    const { kind } = DTYPE[before.dtype]
    if (decimals === 0 || kind === 'bool') return roundWhole(before as Tensor<'float32'>) as Tensor
    if (kind === 'complex') return complex(floatsTo(before.real() as Tensor, decimals) as Tensor<'float32'>, floatsTo(before.imag() as Tensor, decimals) as Tensor<'float32'>) as Tensor
    if (kind === 'float') return floatsTo(before, decimals)
    return decimals > 0 ? roundWhole(before as Tensor<'float32'>) as Tensor : integersTo(before, -decimals)
  }) as Tensor<A>
}
