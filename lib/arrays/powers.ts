// Powers that have a dtype of their own, and powers of 2 that have none: a product with one is rounded once.

import { within } from '../arguments/within.js'
import { isListed, wideList } from '../calls/arrays.js'
import { operandGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type FloatOf, type Promote } from '../generated/dtypes.js'
import { clip, full, pow } from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { Scalar } from '../program/record.js'
import type { Common, DTypeOf, Fits, Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { resultType } from './dtypes.js'

/** A scalar where a float is wanted: booleans are 0 and 1. A number that is traced has no value to be looked at. */
function numeric(x: Scalar): number {
  return (typeof x === 'boolean' ? Number(x) : x) as number
}

/**
 * Power of two operands in float64, or in complex128 where one of them is complex, whatever their dtypes: integers to negative powers have a fraction.
 *
 * `a ^ b`
 *
 * NumPy `float_power`, PyTorch `float_power`.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.floatPower(ft.tensor([2, 4], { dtype: 'int32' }), -1) // [0.5, 0.25]
 * ```
 */
export function floatPower<A extends Operand, B extends Operand>(a: A, b: B): Tensor<Promote<'float64', FloatOf<Common<A, B>>>> {
  const op = 'floatPower'
  return within(op, () => {
    const given = [a, b].map((v, i) => (isListed(v) ? wideList(op, v, [a, b].find((x) => isTensor(x))) : operandGiven(op, i === 0 ? 'a' : 'b', v)))
    const wide = given.map((x, i) => {
      if (isTensor(x)) return x.astype(x.type.row.kind === 'complex' ? 'complex128' : 'float64')
      // Two numbers alone have no dtype of their own.
      return i === 0 && !isTensor(given[1]) ? full([], numeric(x), { dtype: 'float64' }) : numeric(x)
    })
    return pow(wide[0] as Tensor<'float64'>, wide[1] as Tensor<'float64'>) as Tensor
  }) as Tensor<Promote<'float64', FloatOf<Common<A, B>>>>
}

/** Of a float that is computed in, the exponents of its smallest and its largest normal power of 2, and the one beyond which every number is infinite or 0. */
const EXPONENTS = { float32: [-126, 127, 280], float64: [-1022, 1023, 2100] } as const

/**
 * Each element times a power of 2, rounded once also where the power itself would be infinite or 0.
 *
 * `a 2^b`
 *
 * Takes real operands; gives the promoted float, float32 for integers, beside which a number may have a fraction.
 * NumPy `ldexp`, PyTorch `ldexp`, where exponents may have a fraction. In three factors, each a normal power, the smallest last: what the
 * others round off below the normal numbers is lost anyway.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast, `ERR_DTYPE` for complex operands, `ERR_ARGUMENT` for two numbers.
 * @example
 * ```ts
 * ft.ldexp(ft.tensor([0.75, -1]), ft.tensor([4, -1], { dtype: 'int32' })) // [12, -0.5]
 * ```
 */
export function ldexp<A extends Operand, B extends Operand>(a: A & Fits<'real', A, DTypeOf<B>, 'any'>, b: B & Fits<'real', B, DTypeOf<A>, 'any'>): Tensor<FloatOf<Common<A, B>>> {
  const op = 'ldexp'
  return within(op, () => {
    const given = [operandGiven(op, 'a', a, b), operandGiven(op, 'b', b, a)]
    const tensors = given.filter((v) => isTensor(v)) as Tensor[]
    const [first] = tensors
    if (first === undefined) throw new ArgumentError(`${op}: at least one operand must be a tensor; use tensor(${shown(given[0])})`)
    const common = resultType(...tensors)
    const { kind } = DTYPE[common]
    if (kind === 'complex') throw new DTypeError(`${op}: takes real operands, got ${tensors.map((x) => x.dtype).join(' and ')}`)
    const dtype = (kind === 'float' ? common : 'float32') as 'float32'
    // bfloat16 does not hold odd exponents above 256; of half floats the products are exact in float32, and rounded once afterwards.
    const wide = dtype in EXPONENTS ? dtype : 'float32'
    const [x, n] = given.map((v) => (isTensor(v) ? v.astype(wide) : full([], numeric(v), { dtype: wide, device: first.device }))) as [Tensor<'float32'>, Tensor<'float32'>]
    const [low, high, end] = EXPONENTS[wide]
    const last = clip(clip(n, -end, end), low, high) as Tensor<'float32'>
    const rest = clip(n, -end, end).subtract(last) as Tensor<'float32'>
    const near = clip(rest, low, high) as Tensor<'float32'>
    return x.multiply(near.exp2()).multiply(rest.subtract(near).exp2()).multiply(last.exp2()).astype(dtype) as Tensor
  }) as Tensor<FloatOf<Common<A, B>>>
}
