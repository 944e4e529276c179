// `ft.signal`: windows, short-time spectra, cosine transforms, recursive filters, peaks. All but peaks are made of rows of the table.

export { bartlett, blackman, gaussian, hamming, hann, kaiser, tukey, type WindowOptions } from './signal/windows.js'
export { istft, spectrogram, stft, type IstftOptions, type SpectrogramOptions, type StftOptions } from './signal/stft.js'
export { dct, idct, type DctOptions } from './signal/cosine.js'
export { lfilter, sosfilt, type Coefficients, type FilterOptions } from './signal/filters.js'
export { findPeaks, findPeaksAsync, type FindPeaksOptions, type Peaks } from './signal/peaks.js'
