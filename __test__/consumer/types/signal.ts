// Signals: `ft.signal`.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, f16, f32, f64, c64, c128, wide } from '../operands.js'

export async function results(): Promise<void> {
  // Windows: float32 unless told otherwise.
  dtype('float32', ft.signal.hann(4))
  dtype('float16', ft.signal.hann(4, { dtype: 'float16', periodic: true }))
  dtype('float32', ft.signal.hamming(4))
  dtype('float64', ft.signal.blackman(4, { dtype: 'float64' }))
  dtype('bfloat16', ft.signal.bartlett(4, { dtype: 'bfloat16', device: 'cpu' }))
  dtype('float32', ft.signal.kaiser(4, 5))
  dtype('float64', ft.signal.gaussian(4, 1, { dtype: 'float64' }))
  dtype('float32', ft.signal.tukey(4))
  dtype('float16', ft.signal.tukey(4, 0.5, { dtype: 'float16' }))
  // Spectra: complex, promoted with the window.
  dtype('complex64', ft.signal.stft(i8, 4))
  dtype('complex64', ft.signal.stft(f16, 4, { window: f16, hopLength: 2 }))
  dtype('complex128', ft.signal.stft(f32, 4, { window: f64 }))
  dtype('complex128', ft.signal.stft(c128, 4, { padMode: 'constant' }))
  dtype('float32', ft.signal.istft(c64.reshape([1, 4]), 1))
  dtype('float64', ft.signal.istft(c64.reshape([1, 4]), 1, { window: f64.at(':1') }))
  dtype('complex64', ft.signal.istft(c64.reshape([1, 4]), 1, { onesided: false }))
  dtype('float32', ft.signal.spectrogram(bool, 4))
  dtype('float64', ft.signal.spectrogram(c64, 4, { window: f64, power: 1 }))
  dtype('float32', ft.signal.dct(i8))
  dtype('float64', ft.signal.dct(f64, { type: 3, norm: 'ortho' }))
  dtype('float32', ft.signal.idct(f16, { axis: 0 }))
  // Filters keep floating dtypes.
  dtype('float16', ft.signal.lfilter([1], [1, 0.5], f16))
  dtype('float32', ft.signal.lfilter(f64, [1], i8, 0))
  dtype('complex64', ft.signal.lfilter([1], f32, c64))
  dtype('float64', ft.signal.sosfilt([[1, 0, 0, 1, 0, 0]], f64))
  const peaks = { indices: 'int32', heights: 'float32', prominences: 'float32', leftBases: 'int32', rightBases: 'int32' } as const
  dtype(peaks, ft.signal.findPeaks(f32))
  dtype(peaks, await ft.signal.findPeaksAsync(f32, { height: 1, distance: 2, prominence: [1, 2] }))
}

/** Compiled, never called. */
export function compiled(): void {
  dtype('float32' as 'float32' | 'float64', ft.signal.dct(wide))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: of floats alone
  ft.signal.hann(4, { dtype: 'int32' })
  // @ts-expect-error: the number is missing
  ft.signal.kaiser(4)
  // @ts-expect-error: a frame has a size
  ft.signal.stft(f32)
  // @ts-expect-error: a window is real
  ft.signal.stft(f32, 4, { window: c64 })
  // @ts-expect-error: no such mode
  ft.signal.stft(f32, 4, { padMode: 'mirror' })
  // @ts-expect-error: no such option
  ft.signal.istft(c64, 4, { padMode: 'reflect' })
  // @ts-expect-error: not of complex numbers
  ft.signal.dct(c64)
  // @ts-expect-error: types 2 and 3 alone
  ft.signal.dct(f32, { type: 1 })
  // @ts-expect-error: the signal is missing
  ft.signal.lfilter([1], [1])
  // @ts-expect-error: sections are a matrix
  ft.signal.sosfilt([1, 0, 0, 1, 0, 0], f32)
  // @ts-expect-error: complex numbers have no order
  ft.signal.findPeaks(c64)
  // @ts-expect-error: bool has no peaks
  ft.signal.findPeaks(bool)
}
