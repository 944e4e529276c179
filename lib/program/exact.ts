// Integers that a float dtype does not hold: 123456789 has 27 bits, and float32 24. Where nobody chose the dtype they are refused, so
// that no digit is lost in silence; fractions are rounded everywhere, and so are magnitudes: integers that have no more significant digits
// than the dtype is sure of, as 1e12 (float32: six).

import { DTypeError } from '../errors.js'
import type { DType, DTypeRow, FloatLimits } from '../generated/dtypes.js'
import { OP } from '../generated/table.js'
import { isHalf } from './half.js'

/** Whether the elements of a dtype, or their parts, have all bits of an integer. */
export function holdsInteger({ float }: DTypeRow, value: number): boolean {
  const { eps, max } = float as FloatLimits
  // Below this, every integer.
  const whole = 2 / eps
  let rest = Math.abs(value)
  if (rest > max) return false
  while (rest > whole && rest % 2 === 0) rest /= 2
  return rest <= whole
}

/**
 * Whether a number is an integer with digits that this float dtype does not hold. Integers above 2^53 are magnitudes already, as they are in
 * JavaScript.
 */
function isLost(row: DTypeRow, value: number): boolean {
  return Number.isSafeInteger(value) && !holdsInteger(row, value) && !isMagnitude(row, value)
}

/** Whether an integer has no more significant decimal digits than the dtype keeps of every number. */
function isMagnitude({ float }: DTypeRow, value: number): boolean {
  const digits = Math.floor(Math.log10(1 / (float as FloatLimits).eps))
  return Number(value.toPrecision(digits)) === value
}

/** The narrowest of the usual dtypes that hold an integer. */
function integerDType(value: number): DType {
  return value === (value | 0) ? 'int32' : 'int64'
}

/**
 * Refuses what becomes of a number in the default dtype: an integer with other digits, or infinity. `what` gives the number's name.
 *
 * @throws {DTypeError} with the dtypes that hold it.
 */
export function checkDefault(op: string, row: DTypeRow, value: number, what: () => string): void {
  const { dtype } = row.float as FloatLimits
  const beyond = Number.isFinite(value) && !Number.isFinite(Math.fround(value))
  if (!beyond && !isLost(row, value)) return
  const wider = row.kind === 'complex' ? "'complex128'" : beyond ? "'float64'" : `'float64' or '${integerDType(value)}'`
  const why = beyond ? 'beyond' : 'not exact in'
  throw new DTypeError(`${op}: ${what()} is ${value}, which is ${why} ${dtype}, the default; name a dtype: ${wider}, or '${row.name}' to round`)
}

/**
 * Rows that take an integer as it is: it becomes an element, is compared with some, or is added, where what was rounded may be all that is
 * left; a remainder and a whole quotient change with each digit of the divisor. A factor and the divisor of `divide` are rounded once, as
 * the result is; counts, which may be any, are such divisors. Bounds (`clip`, `minimum`) are magnitudes.
 */
export const EXACT: ReadonlySet<number> = new Set<number>([
  OP.where, OP.withAt, OP.putAlongAxis, OP.pad, OP.nanToNum, OP.interp, OP.complex, OP.lerp, OP.heaviside, OP.nextafter, OP.searchsorted,
  OP.equal, OP.notEqual, OP.less, OP.lessEqual, OP.greater, OP.greaterEqual, OP.isclose, OP.allclose, OP.add, OP.subtract, OP.remainder,
  OP.fmod, OP.floorDivide, OP.truncDivide, OP.gcd, OP.lcm
])

/**
 * Refuses an integer that is to be an element of a float tensor, or to meet some, and has more digits than they. Beside half floats, of
 * which nobody expects digits, it is rounded.
 *
 * @throws {DTypeError} naming the dtype.
 */
export function checkElement(op: string, row: DTypeRow, value: number): void {
  if (row.float === null || isHalf(row.name) || !isLost(row, value)) return
  throw new DTypeError(`${op}: ${value} is not exact in ${row.float.dtype}, the tensor's dtype; convert the tensor first, astype('float64'), or round the number`)
}

/** Every integer up to here is exact in all float dtypes but the half floats. */
const HELD = 2 ** 24

/**
 * {@link checkElement} for the rows that take integers as they are.
 *
 * @throws {DTypeError} as there.
 */
export function checkBeside(op: number, name: string, row: DTypeRow, value: number): void {
  if (Math.abs(value) > HELD && EXACT.has(op)) checkElement(name, row, value)
}
