// Functions of one tensor, element by element.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, c64, c128, wide } from '../operands.js'

export function results(): void {
  // The same dtype, bool refused.
  dtype('int8', ft.negative(i8))
  dtype('float32', f32.negative())
  dtype('complex64', ft.neg(c64))
  dtype('int64', i64.neg())
  dtype('float64', ft.positive(f64))
  dtype('complex128', c128.positive())
  dtype('uint32', ft.sign(u32))
  dtype('bfloat16', bf16.sign())
  dtype('int8', ft.square(i8))
  dtype('float16', f16.square())
  dtype('complex64', ft.round(c64))
  dtype('float32', f32.round())
  // Of complex numbers the parts.
  dtype('float32', ft.abs(c64))
  dtype('float64', c128.abs())
  dtype('uint8', ft.abs(u8))
  dtype('float16', f16.abs())
  // Integers and floats as they are.
  dtype('int16', ft.relu(i16))
  dtype('float64', f64.relu())
  dtype('float32', ft.floor(f32))
  dtype('int32', i32.floor())
  dtype('uint64', ft.ceil(u64))
  dtype('bfloat16', bf16.ceil())
  dtype('int16', ft.trunc(i16))
  dtype('uint8', u8.trunc())
  // Floats and complex numbers; integers and bool become float32.
  dtype('float32', ft.sqrt(i32))
  dtype('float32', f32.sqrt())
  dtype('complex64', ft.rsqrt(c64))
  dtype('float32', u8.rsqrt())
  dtype('float32', ft.reciprocal(bool))
  dtype('complex128', c128.reciprocal())
  dtype('float64', ft.exp(f64))
  dtype('bfloat16', bf16.exp())
  dtype('float16', ft.expm1(f16))
  dtype('float32', i64.expm1())
  dtype('float32', ft.log(i32))
  dtype('float32', f32.log())
  dtype('complex64', ft.log1p(c64))
  dtype('float32', u8.log1p())
  dtype('float32', ft.log2(bool))
  dtype('complex128', c128.log2())
  dtype('float64', ft.log10(f64))
  dtype('bfloat16', bf16.log10())
  dtype('float16', ft.sin(f16))
  dtype('float32', i64.sin())
  dtype('float32', ft.cos(i32))
  dtype('float32', f32.cos())
  dtype('complex64', ft.tan(c64))
  dtype('float32', u8.tan())
  dtype('float32', ft.asin(bool))
  dtype('complex128', c128.asin())
  dtype('float64', ft.acos(f64))
  dtype('bfloat16', bf16.acos())
  dtype('float16', ft.atan(f16))
  dtype('float32', i64.atan())
  dtype('float32', ft.sinh(i32))
  dtype('float32', f32.sinh())
  dtype('complex64', ft.cosh(c64))
  dtype('float32', u8.cosh())
  dtype('float32', ft.tanh(bool))
  dtype('complex128', c128.tanh())
  dtype('float64', ft.asinh(f64))
  dtype('bfloat16', bf16.asinh())
  dtype('float16', ft.acosh(f16))
  dtype('float32', i64.acosh())
  dtype('float32', ft.atanh(i32))
  dtype('float32', f32.atanh())
  // Floats; integers and bool become float32, complex numbers are refused.
  dtype('float32', ft.exp2(i8))
  dtype('float32', f32.exp2())
  dtype('float64', ft.deg2rad(f64))
  dtype('float32', u16.deg2rad())
  dtype('float32', ft.rad2deg(bool))
  dtype('float16', f16.rad2deg())
  dtype('bfloat16', ft.sinc(bf16))
  dtype('float32', i64.sinc())
  dtype('float32', ft.logit(i8))
  dtype('float64', f64.logit())
  dtype('float64', ft.sigmoid(f64))
  dtype('float32', f32.sigmoid())
  dtype('float32', ft.cbrt(bool))
  dtype('float32', u16.cbrt())
  dtype('bfloat16', ft.erf(bf16))
  dtype('float16', f16.erf())
  dtype('float32', ft.frac(i8))
  dtype('float64', f64.frac())
  dtype('float32', ft.entr(bool))
  dtype('float16', f16.entr())
  dtype('float64', ft.ndtr(f64))
  dtype('bfloat16', bf16.ndtr())
  dtype('float32', ft.erfc(i8))
  dtype('float32', i64.erfc())
  dtype('float64', ft.erfinv(f64))
  dtype('float32', f32.erfinv())
  dtype('float32', ft.lgamma(bool))
  dtype('float32', u16.lgamma())
  dtype('bfloat16', ft.digamma(bf16))
  dtype('float16', f16.digamma())
  dtype('float32', ft.gamma(i32))
  dtype('float64', f64.gamma())
  dtype('float32', ft.i0(bool))
  dtype('float16', f16.i0())
  dtype('bfloat16', ft.i0e(bf16))
  dtype('float32', u8.i0e())
  dtype('float64', ft.i1(f64))
  dtype('float32', i64.i1())
  dtype('float32', ft.i1e(f32))
  dtype('float16', f16.i1e())
  dtype('float32', ft.erfcx(i8))
  dtype('float64', f64.erfcx())
  dtype('bfloat16', ft.logNdtr(bf16))
  dtype('float32', bool.logNdtr())
  dtype('float64', ft.ndtri(f64))
  dtype('float32', f32.ndtri())
  // Tests of elements.
  dtype('bool', ft.isnan(c64))
  dtype('bool', f32.isnan())
  dtype('bool', ft.isfinite(i8))
  dtype('bool', bool.isfinite())
  dtype('bool', ft.isinf(f16))
  dtype('bool', c128.isinf())
  dtype('bool', ft.logicalNot(c64))
  dtype('bool', u64.logicalNot())
  dtype('bool', ft.signbit(i32))
  dtype('bool', f64.signbit())
  // Complex numbers and their parts.
  dtype('float32', ft.real(c64))
  dtype('float32', f32.real())
  dtype('float64', ft.imag(c128))
  dtype('int8', i8.imag())
  dtype('complex64', ft.conj(c64))
  dtype('float16', f16.conj())
  dtype('float64', ft.angle(c128))
  dtype('float32', i32.angle())
  dtype('complex64', ft.complex(f32, i8))
  dtype('complex128', ft.complex(1, f64))
  dtype('complex64', ft.complex(f16, bf16))
  dtype('complex128', ft.polar(f64, 0))
  dtype('complex64', ft.polar(i8, u8))
  // Bits.
  dtype('bool', ft.bitwiseInvert(bool))
  dtype('uint8', u8.bitwiseInvert())
  dtype('int16', ft.populationCount(i16))
  dtype('uint64', u64.populationCount())
  dtype('uint8', ft.bitwiseCount(i64))
  dtype('uint8', u32.bitwiseCount())
  dtype('int8', ft.countLeadingZeros(i8))
  dtype('uint16', u16.countLeadingZeros())
  dtype('int32', ft.bitcast(f32, 'int32'))
  dtype('bfloat16', u16.bitcast('bfloat16'))
  // Conversions.
  dtype('int8', ft.astype(c64, 'int8'))
  dtype('complex128', f32.astype('complex128'))
  dtype('bfloat16', ft.copy(bf16))
  dtype('uint8', u8.copy())
  dtype('float32', ft.oneHot(i32, 3))
  dtype('bool', u8.oneHot(3, { dtype: 'bool' }))
  dtype('float32', ft.nanToNum(f32))
  dtype('float64', ft.nanToNum(f32, 0, f64))
  dtype('float16', f16.nanToNum(undefined, 1))
  dtype('int8', i8.nanToNum(0, 1, 2))
}

/** Compiled, never called. */
export function compiled(): void {
  // A dtype that only a run knows.
  dtype('float32' as ft.DType, wide.negative())
  dtype('float32' as ft.DType, ft.floor(wide))
  dtype('bool', wide.isnan())
  dtype('float32' as ft.FloatOrComplexDType, ft.exp(wide))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: bool is no numeric dtype
  bool.negative()
  // @ts-expect-error: bool is no numeric dtype
  ft.positive(bool)
  // @ts-expect-error: bool is no numeric dtype
  bool.abs()
  // @ts-expect-error: bool is no numeric dtype
  ft.square(bool)
  // @ts-expect-error: bool is no numeric dtype
  bool.sign()
  // @ts-expect-error: bool is no numeric dtype
  bool.round()
  // @ts-expect-error: complex numbers have no order
  c64.floor()
  // @ts-expect-error: complex numbers have no order
  ft.ceil(c128)
  // @ts-expect-error: complex numbers have no order
  c64.trunc()
  // @ts-expect-error: complex numbers have no order
  ft.relu(c64)
  // @ts-expect-error: bool is no numeric dtype
  bool.relu()
  // @ts-expect-error: not of complex numbers
  c64.deg2rad()
  // @ts-expect-error: not of complex numbers
  c128.rad2deg()
  // @ts-expect-error: not of complex numbers
  c64.logit()
  // @ts-expect-error: not of complex numbers
  ft.cbrt(c128)
  // @ts-expect-error: not of complex numbers
  c64.erf()
  // @ts-expect-error: not of complex numbers
  ft.erfc(c64)
  // @ts-expect-error: not of complex numbers
  c64.erfinv()
  // @ts-expect-error: not of complex numbers
  ft.lgamma(c64)
  // @ts-expect-error: not of complex numbers
  c128.digamma()
  // @ts-expect-error: not of complex numbers
  c64.gamma()
  // @ts-expect-error: not of complex numbers
  ft.i0(c64)
  // @ts-expect-error: not of complex numbers
  c64.i0e()
  // @ts-expect-error: not of complex numbers
  ft.i1(c128)
  // @ts-expect-error: not of complex numbers
  c128.i1e()
  // @ts-expect-error: not of complex numbers
  ft.erfcx(c64)
  // @ts-expect-error: not of complex numbers
  c64.logNdtr()
  // @ts-expect-error: not of complex numbers
  ft.ndtri(c64)
  // @ts-expect-error: not of complex numbers
  ft.signbit(c64)
  // @ts-expect-error: parts are real
  ft.complex(c64, 1)
  // @ts-expect-error: parts are real
  ft.polar(1, c64)
  // @ts-expect-error: no tensor among the operands
  ft.complex(1, 2)
  // @ts-expect-error: a function only
  f32.complex(f32)
  // @ts-expect-error: bits of floats
  f32.bitwiseInvert()
  // @ts-expect-error: bits of complex numbers
  ft.bitwiseInvert(c64)
  // @ts-expect-error: bits of floats
  f32.populationCount()
  // @ts-expect-error: bits of bool
  ft.bitwiseCount(bool)
  // @ts-expect-error: bits of floats
  f64.countLeadingZeros()
  // @ts-expect-error: the dtype is missing
  f32.bitcast()
  // @ts-expect-error: no such dtype
  f32.bitcast('int')
  // @ts-expect-error: no such dtype
  f32.astype('float')
  // @ts-expect-error: the dtype is missing
  f32.astype()
  // @ts-expect-error: a dtype stands alone
  f32.astype({ dtype: 'int8' })
  // @ts-expect-error: one argument too many
  f32.astype('int8', 'float32')
  // @ts-expect-error: classes are integers
  ft.oneHot(f32, 3)
  // @ts-expect-error: the number of classes is missing
  i32.oneHot()
  // @ts-expect-error: a text for a number
  i32.oneHot('3')
  // @ts-expect-error: no such dtype
  i32.oneHot(3, { dtype: 'one' })
  // @ts-expect-error: no such option
  i32.oneHot(3, { axis: 0 })
  // @ts-expect-error: a text for a number
  f32.nanToNum('0')
  // @ts-expect-error: a number beside a bool tensor
  bool.nanToNum(0)
  // @ts-expect-error: a number for a tensor
  ft.sqrt(2)
  // @ts-expect-error: a text for a tensor
  ft.exp('1')
  // @ts-expect-error: text for a tensor
  ft.sin('x')
  // @ts-expect-error: the tensor is missing
  ft.cos()
  // @ts-expect-error: null for a tensor
  ft.tan(null)
  // @ts-expect-error: one argument too many
  f32.sqrt(f32)
  // @ts-expect-error: no options
  f32.exp({ out: f32 })
  // @ts-expect-error: undefined for a tensor
  ft.abs(undefined)
  // @ts-expect-error: a typed array for a tensor
  ft.sin(new Float32Array(2))
  // @ts-expect-error: no such method
  f32.squareRoot()
  // @ts-expect-error: no such function
  ft.Exp(f32)
  // @ts-expect-error: the result is float32
  f32.sqrt() satisfies ft.Tensor<'float64'>
  // @ts-expect-error: the result is float32
  i8.exp() satisfies ft.Tensor<'int8'>
  // @ts-expect-error: the result is float32
  c64.abs() satisfies ft.Tensor<'complex64'>
  // @ts-expect-error: the result is bool
  f32.isnan() satisfies ft.Tensor<'uint8'>
}
