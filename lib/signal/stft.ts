// Short-time Fourier transforms with PyTorch's conventions, the inverse by overlapping sums (Griffin and Lim, "Signal estimation from modified
// short-time Fourier transform", 1984), and spectrograms.

import { checkOptions } from '../arguments/options.js'
import { integer, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arange } from '../arrays/ranges.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type ComplexOf, type DType, type Promote, type RealOf, type Takes } from '../generated/dtypes.js'
import { fft, ifft, irfft, rfft } from '../generated/fft.js'
import { ones, zeros } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'

/** How a signal is cut into frames. */
interface Frames<W extends DType> {
  /** Samples from one frame to the next; a quarter of the frame by default. */
  readonly hopLength?: number | undefined
  /** Weights of a frame's samples, a vector of at most `nFft`, which stands in the middle; ones by default. */
  readonly window?: (Tensor<W> & Takes<'real', W>) | undefined
  /** Whether frame t has its middle at sample t * hopLength, the signal being continued at both ends; true by default. */
  readonly center?: boolean | undefined
  /** Whether spectra are divided by the root of `nFft`; false by default. */
  readonly normalized?: boolean | undefined
}

/** Options of `stft`. */
export interface StftOptions<W extends DType = DType> extends Frames<W> {
  /** How a signal is continued where frames are centred, as in `ft.pad`; 'reflect' by default. */
  readonly padMode?: 'constant' | 'edge' | 'reflect' | 'symmetric' | 'wrap' | undefined
  /** Whether frequencies above half of the rate are left out, which those of a real signal repeat; true by default for real signals. */
  readonly onesided?: boolean | undefined
}

/** Options of `istft`. */
export interface IstftOptions<W extends DType = DType, O extends boolean = true> extends Frames<W> {
  /** Whether the spectra are those of a real signal, without the frequencies above half of the rate; true by default. */
  readonly onesided?: O | undefined
  /** How many samples come out, with those of the last frame's second half and zeros where there are no others; by default all but that half. */
  readonly length?: number | undefined
}

/** Options of `spectrogram`. */
export interface SpectrogramOptions<W extends DType = DType> extends StftOptions<W> {
  /** 1 for magnitudes, 2 for powers; 2 by default. */
  readonly power?: number | undefined
}

const SHARED = ['hopLength', 'window', 'center', 'normalized'] as const

function flag(op: string, name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new ArgumentError(`${op}: '${name}' must be a boolean, got ${shown(value)}`)
  return value
}

function atLeast(op: string, name: string, value: unknown, least: number): number {
  const n = integer(op, name, value)
  if (n < least) throw new ArgumentError(`${op}: '${name}' must be at least ${least}, got ${n}`)
  return n
}

/** The frames of a call. */
function framesGiven(op: string, nFft: unknown, o: Record<string, unknown>, like: Tensor): { size: number; hop: number; window: Tensor | undefined; center: boolean; normalized: boolean } {
  const size = atLeast(op, 'nFft', nFft, 1)
  const hop = atLeast(op, 'hopLength', o['hopLength'] ?? Math.max(1, Math.floor(size / 4)), 1)
  const { center = true, normalized = false } = o
  const frames = { size, hop, center: flag(op, 'center', center), normalized: flag(op, 'normalized', normalized) }
  if (o['window'] === undefined) return { ...frames, window: undefined }
  const window = tensorGiven(op, 'window', o['window'])
  if (window.ndim !== 1 || window.size > size) throw new ShapeError(`${op}: 'window' must be a vector of at most ${size} weights, got shape [${window.shape.join(', ')}]`)
  if (window.device !== like.device) throw new ArgumentError(`${op}: 'window' is on ${window.device}, the tensor on ${like.device}`)
  const before = Math.floor((size - window.size) / 2)
  return { ...frames, window: window.pad([[before, size - window.size - before]]) }
}

/** Pads the last axis alone. */
function padded(x: Tensor, before: number, after: number, options?: { readonly mode?: 'reflect' }): Tensor {
  return x.pad([...x.shape.slice(1).map((): [number, number] => [0, 0]), [before, after]], options)
}

/**
 * Spectra of the frames of signals [..., samples], windowed: [..., frequencies, frames], complex.
 *
 * `X_(f, t) = sum_k w_k x_(t hop + k) e^(-2 pi i f k / nFft), with center x shifted by nFft / 2`
 *
 * PyTorch `stft`. Of a real signal there are `nFft / 2 + 1` frequencies, the multiples of 1 / nFft of the rate.
 *
 * @param nFft Samples of a frame.
 * @throws {TensorError} `ERR_ARGUMENT` for sizes below 1 and one-sided spectra of a complex signal, `ERR_SHAPE` for a signal that is shorter than a
 * frame, a window that is longer than one and a tensor of rank 0.
 * @example
 * ```ts
 * ft.signal.stft(ft.ones([8]), 4, { hopLength: 4, center: false }).abs() // [[4, 4], [0, 0], [0, 0]]
 * ```
 * ```ts
 * ft.signal.stft(ft.ones([2, 16000]), 512, { window: ft.signal.hann(512, { periodic: true }) }).shape // [2, 257, 126]
 * ```
 */
export function stft<D extends DType, W extends DType = 'bool'>(x: Tensor<D>, nFft: number, options?: StftOptions<W>): Tensor<ComplexOf<Promote<D, W>>> {
  const op = 'signal.stft'
  return within(op, () => spectra(op, x, nFft, checkOptions(op, options, [...SHARED, 'padMode', 'onesided']))) as Tensor<ComplexOf<Promote<D, W>>>
}

function spectra(op: string, value: unknown, nFft: unknown, o: Record<string, unknown>): Tensor {
  const x = tensorGiven(op, 'x', value)
  const { size, hop, window, center, normalized } = framesGiven(op, nFft, o, x)
  const complex = DTYPE[x.dtype].kind === 'complex'
  const onesided = flag(op, 'onesided', o['onesided'] ?? !complex)
  if (onesided && complex) throw new ArgumentError(`${op}: the spectra of a complex signal are not one-sided; leave 'onesided' out`)
  if (x.ndim === 0) throw new ShapeError(`${op}: a signal has at least one axis, got a tensor of rank 0`)
  const mode = (o['padMode'] ?? 'reflect') as 'reflect'
  const half = Math.floor(size / 2)
  const signal = center ? padded(x, half, half, { mode }) : x
  const samples = signal.shape.at(-1) as number
  if (samples < size) throw new ShapeError(`${op}: ${samples} samples are fewer than a frame of ${size}; shape [${x.shape.join(', ')}]`)
  const frames = signal.unfold(signal.ndim - 1, size, { step: hop })
  const weighed = window === undefined ? frames : frames.multiply(window)
  const norm = normalized ? 'ortho' : 'backward'
  return (onesided ? rfft(weighed, { norm }) : fft(weighed, { norm })).swapaxes(-1, -2)
}

/** Blocks of a frame up to which shifted sums are faster than scattered ones: 7 times with 4 blocks, and with 64 there are 128 operations. */
const MOST_BLOCKS = 64

/** Frames [..., frames, size] added up where they lie, `hop` places apart. */
function overlapped(frames: Tensor, hop: number): Tensor {
  const [count, size] = frames.shape.slice(-2) as [number, number]
  const lead = frames.shape.slice(0, -2)
  const length = (count - 1) * hop + size
  const blocks = Math.ceil(size / hop)
  if (blocks > MOST_BLOCKS) {
    const [starts, places] = [arange(count, { dtype: 'int32', device: frames.device }).multiply(hop), arange(size, { dtype: 'int32', device: frames.device })]
    return zeros([...lead, length], { dtype: frames.dtype, device: frames.device }).scatterAdd(starts.expandDims(-1).add(places).flatten() as Tensor<'int32'>, frames.flatten({ startAxis: -2 }), { axis: -1 })
  }
  // Block k of frame t belongs to block t + k of the result.
  const cut = padded(frames, 0, blocks * hop - size).reshape([...lead, count, blocks, hop])
  const none = lead.map((): [number, number] => [0, 0])
  const shifted = Array.from({ length: blocks }, (_, k) => cut.at('...', k, ':').pad([...none, [k, blocks - 1 - k], [0, 0]]))
  return shifted.reduce((sum, part) => sum.add(part)).flatten({ startAxis: -2 }).at('...', `:${length}`)
}

/**
 * Signals [..., samples] from the spectra of their frames [..., frequencies, frames]: the inverse of {@link stft} of the same options, and of
 * other spectra the signal whose own are nearest (least squares).
 *
 * `x_n = sum_t w_(n - t hop) y_(t, n - t hop) / sum_t w_(n - t hop)^2 for the frames y_t`
 *
 * PyTorch `istft`. Where the squares of all windows over a sample are 0 it is NaN. Without `length` the samples that no frame reached are not
 * there.
 *
 * @param nFft Samples of a frame.
 * @throws {TensorError} `ERR_ARGUMENT` for sizes below 1, `ERR_SHAPE` for spectra of other than `nFft / 2 + 1` frequencies (`nFft` where they are not
 * one-sided), without frames, and for a window that is longer than a frame.
 * @example
 * ```ts
 * ft.signal.istft(ft.signal.stft(ft.arange(8), 4), 4) // [0, 1, 2, 3, 4, 5, 6, 7]
 * ```
 */
export function istft<D extends DType, W extends DType = 'bool', O extends boolean = true>(
  x: Tensor<D>,
  nFft: number,
  options?: IstftOptions<W, O>
): Tensor<O extends true ? RealOf<ComplexOf<Promote<D, W>>> : ComplexOf<Promote<D, W>>> {
  const op = 'signal.istft'
  return within(op, () => {
    const o = checkOptions(op, options, [...SHARED, 'onesided', 'length'])
    const spectra = tensorGiven(op, 'x', x)
    const { size, hop, window, center, normalized } = framesGiven(op, nFft, o, spectra)
    const onesided = flag(op, 'onesided', o['onesided'] ?? true)
    const frequencies = onesided ? Math.floor(size / 2) + 1 : size
    const shape = `shape [${spectra.shape.join(', ')}]`
    if (spectra.ndim < 2 || spectra.shape.at(-2) !== frequencies) throw new ShapeError(`${op}: 'x' must be [..., ${frequencies}, frames], as of ${size} samples, got ${shape}`)
    const count = spectra.shape.at(-1) as number
    if (count === 0) throw new ShapeError(`${op}: there are no frames: ${shape}`)
    const length = o['length'] === undefined ? undefined : atLeast(op, 'length', o['length'], 0)
    const norm = normalized ? 'ortho' : 'backward'
    const lines = spectra.swapaxes(-1, -2)
    const frames: Tensor = onesided ? irfft(lines, { n: size, norm }) : ifft(lines, { norm })
    const weights = window ?? ones([size], { dtype: 'bool', device: spectra.device }).astype(onesided ? (frames.dtype as 'float32') : 'float32')
    const start = center ? Math.floor(size / 2) : 0
    const whole = (count - 1) * hop + size
    const stop = length === undefined ? whole - start : Math.min(start + length, whole)
    // Cut before anything is divided: at the ends the weights may be 0, whose quotients would have gradients of NaN.
    const trimmed = (sum: Tensor): Tensor => sum.at('...', `${start}:${Math.max(start, stop)}`)
    const signal = trimmed(overlapped(frames.multiply(weights), hop)).divide(trimmed(overlapped(weights.square().broadcastTo([count, size]), hop)))
    return length === undefined ? signal : padded(signal, 0, length - (signal.shape.at(-1) as number))
  }) as Tensor<O extends true ? RealOf<ComplexOf<Promote<D, W>>> : ComplexOf<Promote<D, W>>>
}

/**
 * Powers of the spectra of the frames of signals [..., samples]: [..., frequencies, frames], real.
 *
 * `S = |stft(x)|^power`
 *
 * torchaudio `Spectrogram`.
 *
 * @param nFft Samples of a frame.
 * @throws {TensorError} as {@link stft}; `ERR_ARGUMENT` for a power that is not above 0.
 * @example
 * ```ts
 * ft.signal.spectrogram(ft.ones([8]), 4, { hopLength: 4, center: false }) // [[16, 16], [0, 0], [0, 0]]
 * ```
 */
export function spectrogram<D extends DType, W extends DType = 'bool'>(x: Tensor<D>, nFft: number, options?: SpectrogramOptions<W>): Tensor<RealOf<ComplexOf<Promote<D, W>>>> {
  const op = 'signal.spectrogram'
  return within(op, () => {
    const { power = 2, ...o } = checkOptions(op, options, [...SHARED, 'padMode', 'onesided', 'power'])
    const exponent = number(op, 'power', power)
    if (!(exponent > 0 && exponent < Infinity)) throw new ArgumentError(`${op}: 'power' must be a finite number above 0, got ${exponent}`)
    const lines = spectra(op, x, nFft, o)
    // Squares of the parts have a gradient where the spectrum is 0; magnitudes have none there.
    if (exponent === 2) return lines.real().square().add(lines.imag().square())
    return exponent === 1 ? lines.abs() : lines.abs().pow(exponent)
  }) as Tensor as Tensor<RealOf<ComplexOf<Promote<D, W>>>>
}
