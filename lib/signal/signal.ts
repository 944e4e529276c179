// `ft.signal`: windows, short-time spectra, cosine transforms, recursive filters, peaks. All but peaks are made of rows of the table.

export { bartlett, blackman, gaussian, hamming, hann, kaiser, tukey, type WindowOptions } from './windows.js'
export { istft, spectrogram, stft, type IstftOptions, type SpectrogramOptions, type StftOptions } from './stft.js'
export { dct, idct, type DctOptions } from '../fft/cosine.js'
export { lfilter, sosfilt, type Coefficients, type FilterOptions } from './filters.js'
export { findPeaks, findPeaksAsync, type FindPeaksOptions, type Peaks } from './peaks.js'
