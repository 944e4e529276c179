// Functions of two operands and more, element by element: promotion, scalars, comparisons.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, c64, c128, wide } from '../operands.js'

export function results(): void {
  // Arrays of numbers are weak, as numbers are.
  dtype('float32', f32.add([1, 2, 3, 4]))
  dtype('int8', ft.multiply(i8, [1, 2, 3, 4]))
  dtype('float64', ft.subtract([[1], [2]], f64))
  dtype('bool', i8.less([1, 2, 3, 4]))
  dtype('float16', ft.where(bool, f16, [1, 2, 3, 4]))
  dtype('float32', i8.divide([1, 2, 3, 4]))
  // The promoted dtype.
  dtype('int16', ft.add(i8, u8))
  dtype('float64', f32.add(f64))
  dtype('float32', ft.subtract(f16, bf16))
  dtype('int32', i16.subtract(u16))
  dtype('complex64', ft.sub(f32, c64))
  dtype('complex128', c64.sub(f64))
  dtype('uint16', ft.multiply(u8, u16))
  dtype('float32', bf16.multiply(f16))
  dtype('float32', ft.mul(i64, f32))
  dtype('int64', u32.mul(i8))
  dtype('complex128', ft.pow(f64, c64))
  dtype('float32', i32.pow(f32))
  // A scalar never changes the dtype; of two scalars the wider one does.
  dtype('uint8', u8.add(1))
  dtype('float16', f16.add(2n))
  dtype('int8', i8.mul(true))
  dtype('int32', ft.add(1, i32))
  dtype('complex64', ft.add(1n, c64))
  dtype('float64', ft.add(true, f64))
  dtype('float32', ft.where(bool, 1, 2n))
  dtype('int64', ft.where(bool, 1n, true))
  // Bools are combined by and and or; a number beside them brings its own dtype.
  dtype('bool', bool.add(bool))
  dtype('bool', bool.mul(true))
  dtype('float32', bool.mul(f32))
  dtype('float32', bool.add(1))
  dtype('int64', bool.multiply(2n))
  dtype('float32', bool.maximum(2))
  dtype('bool', bool.less(1))
  dtype('bool', ft.equal(bool, 1n))
  dtype('bool', ft.logicalAnd(bool, 1))
  // Quotients: integers and bool become float32.
  dtype('float32', ft.divide(i32, i8))
  dtype('float32', bool.divide(bool))
  dtype('complex128', ft.div(c64, f64))
  dtype('float32', u8.div(2))
  dtype('float16', ft.atan2(i8, f16))
  dtype('float64', f64.atan2(1))
  dtype('float32', ft.hypot(bool, bool))
  dtype('float32', f32.hypot(u64))
  dtype('float16', ft.logaddexp(f16, i32))
  dtype('float32', i8.logaddexp(1n))
  dtype('float16', ft.logaddexp2(f16, i32))
  dtype('float32', i8.logaddexp2(1n))
  dtype('float64', ft.ldexp(f64, i32))
  dtype('float32', i16.ldexp(2))
  dtype('float32', ft.heaviside(bf16, f16))
  dtype('float32', i16.heaviside(0.5))
  dtype('float32', ft.xlogy(i8, i8))
  dtype('float64', f64.xlogy(f32))
  dtype('float32', ft.xlog1py(bool, 2))
  dtype('float32', f32.xlog1py(i64))
  dtype('float64', ft.copysign(u8, f64))
  dtype('float16', f16.copysign(-1))
  dtype('float64', ft.nextafter(f32, f64))
  dtype('float32', i32.nextafter(0))
  // Integers and floats.
  dtype('int16', ft.remainder(i8, u8))
  dtype('float32', f32.remainder(2))
  dtype('int32', ft.fmod(u16, i16))
  dtype('float32', bf16.fmod(f32))
  dtype('int64', ft.truncDivide(i32, u32))
  dtype('float64', f64.truncDivide(3))
  dtype('uint8', ft.floorDivide(7, u8))
  dtype('int64', i64.floorDivide(i8))
  // Everything with an order.
  dtype('bool', ft.minimum(bool, bool))
  dtype('float32', f32.minimum(0))
  dtype('int16', ft.maximum(u8, i8))
  dtype('bool', bool.maximum(true))
  dtype('float32', ft.fmin(f16, f32))
  dtype('int32', i32.fmin(2n))
  dtype('bfloat16', ft.fmax(1, bf16))
  dtype('int32', u16.fmax(i8))
  // Integers.
  dtype('int16', ft.gcd(i8, u8))
  dtype('uint32', u32.gcd(6))
  dtype('int64', ft.lcm(12n, i64))
  dtype('uint16', u16.lcm(u8))
  dtype('uint8', ft.bitwiseLeftShift(u8, 2))
  dtype('int32', i32.bitwiseLeftShift(i8))
  dtype('int16', ft.bitwiseRightShift(1, i16))
  dtype('uint64', u64.bitwiseRightShift(u8))
  // Integers and bool.
  dtype('bool', ft.bitwiseAnd(bool, bool))
  dtype('int16', i8.bitwiseAnd(u8))
  dtype('uint8', ft.bitwiseOr(u8, bool))
  dtype('bool', bool.bitwiseOr(true))
  dtype('int32', ft.bitwiseXor(7, i32))
  dtype('uint32', u16.bitwiseXor(u32))
  // Comparisons give bool.
  dtype('bool', ft.equal(c64, f32))
  dtype('bool', bool.equal(true))
  dtype('bool', ft.notEqual(i8, 1n))
  dtype('bool', f16.notEqual(c128))
  dtype('bool', ft.less(bool, bool))
  dtype('bool', i8.less(f64))
  dtype('bool', ft.lessEqual(1, u8))
  dtype('bool', bf16.lessEqual(2))
  dtype('bool', ft.greater(f32, f32))
  dtype('bool', u64.greater(3n))
  dtype('bool', ft.greaterEqual(i16, 0))
  dtype('bool', bool.greaterEqual(i8))
  dtype('bool', ft.logicalAnd(bool, i8))
  dtype('bool', c64.logicalAnd(f32))
  dtype('bool', ft.logicalOr(f32, 0))
  dtype('bool', i8.logicalOr(bool))
  dtype('bool', ft.logicalXor(bool, true))
  dtype('bool', u8.logicalXor(u8))
  dtype('bool', ft.isclose(f32, f64, { rtol: 1e-3, equalNan: true }))
  dtype('bool', c64.isclose(1))
  dtype('bool', ft.allclose(i8, 1, { atol: 1 }))
  dtype('bool', f16.allclose(f16))
  dtype('bool', ft.arrayEqual(u8, f32))
  dtype('bool', c64.arrayEqual(c64, { equalNan: true }))
  // Choices.
  dtype('int16', ft.where(bool, i8, u8))
  dtype('float32', ft.where(f32.greater(0), f32, 0))
  dtype('float32', ft.where(bool, 1, 2))
  dtype('bool', ft.where(bool, true, bool))
  dtype('complex64', ft.where(i8, 1n, c64))
  dtype('int8', ft.clip(i8, 0))
  dtype('float32', f32.clip(undefined, 3))
  dtype('int16', u8.clip(i8, 100n))
  dtype('float64', ft.clip(f32, 0, f64))
  dtype('float64', ft.lerp(f32, f64, 0.5))
  dtype('float32', i8.lerp(3, 0.5))
  dtype('complex128', ft.lerp(c64, 1, f64))
  dtype('float32', f16.lerp(bf16, 0))
}

/** Compiled, never called. */
export function compiled(): void {
  // No dtype holds uint64 and a signed integer: the result is of no use as either.
  dtype('int64' as ft.NoCommonDType, u64.add(i32))
  // Operands of which only a run knows what they are.
  const maybe = f32 as ft.Tensor<'float32'> | number
  dtype('int32' as 'int32' | 'float32', i32.add(maybe))
  dtype('int32' as 'int32' | 'float32', ft.add(maybe, i32))
  dtype('float32' as ft.DType, wide.add(1))
  dtype('float32' as ft.DType, ft.gcd(wide, wide))
  dtype('bool', wide.less(wide))
  dtype('float32', f32.add(1 as number | bigint | boolean))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: a text for an operand
  f32.add('1')
  // @ts-expect-error: an array of numbers beside bool is as a number
  ft.add(bool, [1, 2, 3, 4])
  // @ts-expect-error: one of both is a tensor
  ft.add([1, 2], [3, 4])
  // @ts-expect-error: texts
  f32.add(['1', '2'])
  // @ts-expect-error: null for an operand
  f32.add(null)
  // @ts-expect-error: the operand is missing
  f32.add()
  // @ts-expect-error: the operand is missing
  ft.add(f32)
  // @ts-expect-error: one argument too many
  f32.add(1, 2)
  // @ts-expect-error: an object for an operand
  ft.multiply(f32, { re: 1, im: 2 })
  // @ts-expect-error: no tensor among the operands
  ft.add(1, 2)
  // @ts-expect-error: no tensor among the operands
  ft.divide(1, 2n)
  // @ts-expect-error: no tensor among the operands
  ft.equal(true, 1)
  // @ts-expect-error: no tensor among the operands
  ft.hypot(3, 4)
  // @ts-expect-error: a date for an operand
  f32.add(new Date())
  // @ts-expect-error: undefined for an operand
  f32.sub(undefined)
  // @ts-expect-error: bool is no numeric dtype
  ft.subtract(bool, 1)
  // @ts-expect-error: bool is no numeric dtype
  ft.pow(2, bool)
  // @ts-expect-error: complex numbers have no remainder
  c64.remainder(2)
  // @ts-expect-error: complex numbers have no remainder
  ft.fmod(f32, c64)
  // @ts-expect-error: bool is no numeric dtype
  bool.floorDivide(2)
  // @ts-expect-error: complex numbers have no integral quotient
  ft.truncDivide(c64, 1)
  // @ts-expect-error: not of complex numbers
  c64.atan2(1)
  // @ts-expect-error: not of complex numbers
  ft.hypot(f32, c64)
  // @ts-expect-error: not of complex numbers
  ft.heaviside(c64, 1)
  // @ts-expect-error: not of complex numbers
  c128.xlogy(1)
  // @ts-expect-error: not of complex numbers
  f32.xlog1py(c64)
  // @ts-expect-error: not of complex numbers
  c64.copysign(1)
  // @ts-expect-error: not of complex numbers
  f32.nextafter(c64)
  // @ts-expect-error: floats have no divisors
  f32.gcd(2)
  // @ts-expect-error: floats have no divisors
  ft.gcd(i8, f32)
  // @ts-expect-error: floats have no divisors
  ft.lcm(2, f64)
  // @ts-expect-error: bool is no integer dtype
  bool.gcd(bool)
  // @ts-expect-error: complex numbers have no divisors
  c64.lcm(2)
  // @ts-expect-error: bits of floats
  f32.bitwiseAnd(1)
  // @ts-expect-error: bits of floats
  ft.bitwiseOr(i8, f32)
  // @ts-expect-error: bits of complex numbers
  c64.bitwiseXor(c64)
  // @ts-expect-error: bits of floats
  f32.bitwiseLeftShift(1)
  // @ts-expect-error: bits of bool
  ft.bitwiseRightShift(bool, 1)
  // @ts-expect-error: a number beside a bool tensor
  bool.bitwiseAnd(1)
  // @ts-expect-error: complex numbers have no order
  c64.less(1)
  // @ts-expect-error: complex numbers have no order
  ft.lessEqual(1, c64)
  // @ts-expect-error: complex numbers have no order
  f32.greater(c64)
  // @ts-expect-error: complex numbers have no order
  ft.greaterEqual(c128, c128)
  // @ts-expect-error: complex numbers have no order
  c64.minimum(0)
  // @ts-expect-error: complex numbers have no order
  ft.maximum(f32, c64)
  // @ts-expect-error: complex numbers have no order
  c64.fmin(c64)
  // @ts-expect-error: complex numbers have no order
  ft.fmax(c128, 1)
  // @ts-expect-error: a text for an operand
  f32.equal('1')
  // @ts-expect-error: a text for an operand
  ft.less(f32, '1')
  // @ts-expect-error: no such option
  f32.isclose(f32, { tol: 1 })
  // @ts-expect-error: a text for a number
  f32.isclose(f32, { rtol: '1' })
  // @ts-expect-error: a number for a boolean
  f32.allclose(f32, { equalNan: 1 })
  // @ts-expect-error: a number for a tensor
  ft.arrayEqual(f32, 1)
  // @ts-expect-error: the tensor is missing
  f32.arrayEqual()
  // @ts-expect-error: options are an object
  f32.isclose(f32, 1e-3)
  // @ts-expect-error: a number beside a bool tensor
  ft.where(bool, bool, 1)
  // @ts-expect-error: the second choice is missing
  ft.where(bool, f32)
  // @ts-expect-error: an array for a tensor
  ft.where([true], 1, 2)
  // @ts-expect-error: texts for operands
  ft.where(bool, 'a', 'b')
  // @ts-expect-error: a function only
  bool.where(f32, 0)
  // @ts-expect-error: complex numbers have no order
  c64.clip(0)
  // @ts-expect-error: complex numbers have no order
  f32.clip(c64)
  // @ts-expect-error: bool is no numeric dtype
  bool.clip(0)
  // @ts-expect-error: a text for an operand
  f32.clip('0')
  // @ts-expect-error: one argument too many
  f32.clip(0, 1, 2)
  // @ts-expect-error: bounds are no options
  f32.clip({ min: 0 })
  // @ts-expect-error: the weight is missing
  f32.lerp(f64)
  // @ts-expect-error: no dtype holds both
  u64.add(i32) satisfies ft.Tensor<'int64'>
  // @ts-expect-error: no dtype holds both
  u64.add(i32) satisfies ft.Tensor<'uint64'>
  // @ts-expect-error: no dtype holds both
  ft.where(bool, i32, u64).dataSync() satisfies BigUint64Array
  // @ts-expect-error: the result is float64
  f32.add(f64) satisfies ft.Tensor<'float32'>
  // @ts-expect-error: the result is float32
  i32.div(2) satisfies ft.Tensor<'int32'>
  // @ts-expect-error: the result is bool
  f32.equal(1) satisfies ft.Tensor<'float32'>
  // @ts-expect-error: the result is int16
  i8.add(u8) satisfies ft.Tensor<'int8'>
}
