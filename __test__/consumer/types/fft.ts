// Fourier transforms: `ft.fft`.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, u8, i64, f16, bf16, f32, f64, c64, c128, wide } from '../operands.js'

export function results(): void {
  // Complex of the operand: complex128 of float64 and complex128, complex64 of all others.
  dtype('complex64', ft.fft.fft(f32))
  dtype('complex64', ft.fft.ifft(i8))
  dtype('complex128', ft.fft.fftn(c128))
  dtype('complex128', ft.fft.ifftn(f64))
  dtype('complex64', ft.fft.fft(bool, { n: 8, axis: 0, norm: 'ortho' }))
  dtype('complex128', ft.fft.ifft(f64, -1))
  dtype('complex64', ft.fft.fftn(bf16, { axes: [0], s: [8], norm: 'forward' }))
  dtype('complex128', ft.fft.ifftn(c128, { axes: 0 }))
  dtype('complex64', ft.fft.rfft(f32))
  dtype('float64', ft.fft.dct(f64))
  dtype('float32', ft.fft.idct(f32, { norm: 'ortho' }))
  dtype('complex128', ft.fft.rfft(f64, { n: 3 }))
  dtype('complex64', ft.fft.rfftn(i8))
  dtype('complex128', ft.fft.rfftn(f64, { norm: 'backward' }))
  dtype('complex64', ft.fft.ihfft(f16))
  dtype('complex128', ft.fft.ihfft(f64, 0))
  // Real of the operand.
  dtype('float32', ft.fft.irfft(c64))
  dtype('float64', ft.fft.irfft(f64, { n: 5 }))
  dtype('float64', ft.fft.irfftn(c128))
  dtype('float32', ft.fft.irfftn(i8, { axes: [0] }))
  dtype('float32', ft.fft.hfft(c64, 0))
  dtype('float64', ft.fft.hfft(c128))
  // The same dtype.
  dtype('uint8', ft.fft.fftshift(u8))
  dtype('complex64', ft.fft.fftshift(c64, { axes: [0] }))
  dtype('float16', ft.fft.ifftshift(f16))
  dtype('int64', ft.fft.ifftshift(i64, { axes: 0 }))
  // float32 unless told otherwise.
  dtype('float32', ft.fft.fftfreq(4))
  dtype('float64', ft.fft.fftfreq(4, { d: 0.5, dtype: 'float64' }))
  dtype('float32', ft.fft.rfftfreq(4))
  dtype('float16', ft.fft.rfftfreq(4, { dtype: 'float16', device: 'cpu' }))
}

/** Compiled, never called. */
export function compiled(): void {
  dtype('complex64' as 'complex64' | 'complex128', ft.fft.fft(wide))
  dtype('float32' as 'float32' | 'float64', ft.fft.irfft(wide))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: the tensor is missing
  ft.fft.fft()
  // @ts-expect-error: text for a tensor
  ft.fft.fft('x')
  // @ts-expect-error: no such norm
  ft.fft.fft(f32, { norm: 'unitary' })
  // @ts-expect-error: a text for an axis
  ft.fft.fft(f32, '0')
  // @ts-expect-error: one argument too many
  ft.fft.fft(f32, 8, 0)
  // @ts-expect-error: no such option
  ft.fft.ifft(f32, { axes: [0] })
  // @ts-expect-error: one number
  ft.fft.fft(f32, { n: [8] })
  // @ts-expect-error: no such option
  ft.fft.fftn(f32, { n: 8 })
  // @ts-expect-error: options are an object
  ft.fft.ifftn(f32, 0)
  // @ts-expect-error: a text for sizes
  ft.fft.fftn(f32, { s: '8' })
  // @ts-expect-error: of real numbers
  ft.fft.rfft(c64)
  // @ts-expect-error: of real numbers
  ft.fft.rfftn(c128)
  // @ts-expect-error: of real numbers
  ft.fft.ihfft(c64)
  // @ts-expect-error: a bigint for a number
  ft.fft.irfft(c64, { n: 4n })
  // @ts-expect-error: no such option
  ft.fft.irfftn(c64, { axis: 0 })
  // @ts-expect-error: one axis alone
  ft.fft.hfft(c64, [0])
  // @ts-expect-error: options are an object
  ft.fft.fftshift(f32, 0)
  // @ts-expect-error: no such option
  ft.fft.ifftshift(f32, { axis: 0 })
  // @ts-expect-error: a tensor for a number
  ft.fft.fftfreq(f32)
  // @ts-expect-error: the number is missing
  ft.fft.fftfreq()
  // @ts-expect-error: no such dtype
  ft.fft.fftfreq(4, { dtype: 'float' })
  // @ts-expect-error: options are an object
  ft.fft.rfftfreq(4, 0.5)
  // @ts-expect-error: a function only
  f32.fft()
  // @ts-expect-error: a namespace
  ft.fft(f32)
  // @ts-expect-error: the result is complex128
  ft.fft.fft(f64) satisfies ft.Tensor<'complex64'>
  // @ts-expect-error: the result is float32
  ft.fft.irfft(c64) satisfies ft.Tensor<'complex64'>
  // @ts-expect-error: the result is float32
  ft.fft.fftfreq(4) satisfies ft.Tensor<'float64'>
}
