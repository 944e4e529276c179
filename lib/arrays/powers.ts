// Powers that have a dtype of their own, and powers of 2 that have none: a product with one is rounded once.

import { within } from '../arguments/within.js'
import { operandGiven } from '../calls/operands.js'
import { DTYPE, type DType, type FloatOf, type Promote } from '../generated/dtypes.js'
import { add, clip, full, pow } from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { Common, DTypeOf, Fits, Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'

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
    const given = [operandGiven(op, 'a', a), operandGiven(op, 'b', b)]
    const wide = given.map((x, i) => {
      if (isTensor(x)) return x.astype(x.type.row.kind === 'complex' ? 'complex128' : 'float64')
      // Two numbers alone have no dtype of their own.
      return i === 0 && !(isTensor(given[1])) ? full([], x, { dtype: 'float64' }) : Number(x)
    })
    return pow(wide[0] as Tensor<'float64'>, wide[1] as Tensor<'float64'>) as Tensor
  }) as Tensor<Promote<'float64', FloatOf<Common<A, B>>>>
}

/** Of each float the exponents of its smallest and its largest normal power of 2, and the one beyond which every number is infinite or 0. */
const EXPONENTS: Partial<Record<DType, readonly [low: number, high: number, end: number]>> = { float16: [-14, 15, 45], float64: [-1022, 1023, 2100] }

/**
 * Each element times a power of 2, rounded once also where the power itself would be infinite or 0.
 *
 * `a 2^b`
 *
 * Takes real operands; gives the promoted float, float32 for integers.
 * NumPy `ldexp`, PyTorch `ldexp`, where exponents may have a fraction. In three factors, each a normal power, the smallest last: what the
 * others round off below the normal numbers is lost anyway.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast, `ERR_DTYPE` for complex operands, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.ldexp(ft.tensor([0.75, -1]), ft.tensor([4, -1], { dtype: 'int32' })) // [12, -0.5]
 * ```
 */
export function ldexp<A extends Operand, B extends Operand>(a: A & Fits<'real', A, DTypeOf<B>, 'any'>, b: B & Fits<'real', B, DTypeOf<A>, 'any'>): Tensor<FloatOf<Common<A, B>>> {
  const op = 'ldexp'
  return within(op, () => {
    const given = [operandGiven(op, 'a', a), operandGiven(op, 'b', b)]
    // Recorded for its dtype and its errors; nothing computes it.
    const { dtype: common, device } = add(given[0] as Tensor<'float32'>, given[1] as Tensor<'float32'>) as Tensor
    const dtype = (DTYPE[common].float === null ? 'float32' : common) as 'float32'
    const [x, n] = given.map((v) => (isTensor(v) ? v.astype(dtype) : full([], Number(v), { dtype, device }))) as [Tensor<'float32'>, Tensor<'float32'>]
    const [low, high, end] = EXPONENTS[dtype] ?? [-126, 127, 280]
    const last = clip(clip(n, -end, end), low, high) as Tensor<'float32'>
    const rest = clip(n, -end, end).subtract(last) as Tensor<'float32'>
    const first = clip(rest, low, high) as Tensor<'float32'>
    return x.multiply(first.exp2()).multiply(rest.subtract(first).exp2()).multiply(last.exp2()) as Tensor
  }) as Tensor<FloatOf<Common<A, B>>>
}
