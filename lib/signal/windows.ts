// Windows: weights that fade towards both ends. The formulas are those of `scipy.signal.windows`. They are computed in float64 from how far a
// place is from the nearer end, which makes them exactly symmetric.

import { checkOptions } from '../arguments/options.js'
import { dtypeOption, integer, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arange } from '../arrays/ranges.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type FloatDType } from '../generated/dtypes.js'
import { ones, where, zeros } from '../generated/functions.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { scaledI0 } from './bessel.js'

/** Options of windows. */
export interface WindowOptions<E extends FloatDType = FloatDType> {
  /** Whether the window is one period of a periodic one, as spectra want it, in place of a symmetric one; false by default. */
  readonly periodic?: boolean | undefined
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** The device; `ft.setDefaultDevice` sets the default. */
  readonly device?: Device | undefined
}

/** A window by its weights at these distances from the nearer end, in float64, of which `last` is that from one end to the other. */
type Weights = (distance: Tensor, last: number) => Tensor

function window<E extends FloatDType>(name: string, n: unknown, options: unknown, weights: Weights): Tensor<E> {
  const op = `signal.${name}`
  return within(op, () => {
    const { periodic = false, dtype: given, device } = checkOptions(op, options, ['periodic', 'dtype', 'device'])
    if (typeof periodic !== 'boolean') throw new ArgumentError(`${op}: 'periodic' must be a boolean, got ${shown(periodic)}`)
    const dtype = dtypeOption(op, given, 'float32')
    if (DTYPE[dtype].kind !== 'float') throw new DTypeError(`${op}: takes a floating dtype, got ${dtype}`)
    const size = integer(op, 'n', n)
    if (size < 0) throw new ShapeError(`${op}: ${size} places are negative`)
    // Whatever the default device is, the result goes to the one that holds it.
    const placed = zeros([], { dtype, device: device as Device | undefined })
    if (size < 2) return ones([size], { dtype, device: placed.device })
    const last = periodic ? size : size - 1
    // Any processor has the float64 that devices may lack.
    const places = arange(size, { dtype: 'float64', device: 'cpu' })
    return weights(places.minimum(places.sub(last).abs()), last).astype(dtype).to(placed.device)
  }) as Tensor as Tensor<E>
}

/** A sum of cosines: a_0 - a_1 cos(2 pi d / last) + a_2 cos(4 pi d / last). */
const cosines = (...a: readonly number[]): Weights => (distance, last) => {
  const terms = a.map((factor, k) => distance.mul((2 * Math.PI * k) / last).cos().mul(k % 2 === 0 ? factor : -factor))
  return terms.reduce((sum, term) => sum.add(term))
}

/**
 * Hann's window of `n` places.
 *
 * `w_i = 0.5 - 0.5 cos(2 pi i / (n - 1)), with periodic over n`
 *
 * SciPy `signal.windows.hann`, PyTorch `hann_window` (which is periodic by default).
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not an integer, `ERR_SHAPE` for a negative one, `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.signal.hann(5) // [0, 0.5, 1, 0.5, 0]
 * ```
 * ```ts
 * ft.signal.hann(4, { periodic: true }) // [0, 0.5, 1, 0.5]
 * ```
 */
export function hann<E extends FloatDType = 'float32'>(n: number, options?: WindowOptions<E>): Tensor<NoInfer<E>> {
  return window('hann', n, options, cosines(0.5, 0.5))
}

/**
 * Hamming's window of `n` places.
 *
 * `w_i = 0.54 - 0.46 cos(2 pi i / (n - 1)), with periodic over n`
 *
 * SciPy `signal.windows.hamming`, PyTorch `hamming_window` (which is periodic by default).
 *
 * @throws {TensorError} as {@link hann}.
 * @example
 * ```ts
 * ft.signal.hamming(3) // [0.08, 1, 0.08]
 * ```
 */
export function hamming<E extends FloatDType = 'float32'>(n: number, options?: WindowOptions<E>): Tensor<NoInfer<E>> {
  return window('hamming', n, options, cosines(0.54, 0.46))
}

/**
 * Blackman's window of `n` places.
 *
 * `w_i = 0.42 - 0.5 cos(2 pi i / (n - 1)) + 0.08 cos(4 pi i / (n - 1)), with periodic over n`
 *
 * SciPy `signal.windows.blackman`, PyTorch `blackman_window` (which is periodic by default).
 *
 * @throws {TensorError} as {@link hann}.
 * @example
 * ```ts
 * ft.signal.blackman(5) // [0, 0.34, 1, 0.34, 0]
 * ```
 */
export function blackman<E extends FloatDType = 'float32'>(n: number, options?: WindowOptions<E>): Tensor<NoInfer<E>> {
  return window('blackman', n, options, cosines(0.42, 0.5, 0.08))
}

/**
 * Bartlett's window of `n` places, a triangle that is zero at both ends.
 *
 * `w_i = 1 - |2 i / (n - 1) - 1|, with periodic over n`
 *
 * SciPy `signal.windows.bartlett`, PyTorch `bartlett_window` (which is periodic by default).
 *
 * @throws {TensorError} as {@link hann}.
 * @example
 * ```ts
 * ft.signal.bartlett(5) // [0, 0.5, 1, 0.5, 0]
 * ```
 */
export function bartlett<E extends FloatDType = 'float32'>(n: number, options?: WindowOptions<E>): Tensor<NoInfer<E>> {
  return window('bartlett', n, options, (distance, last) => distance.mul(2 / last))
}

/**
 * Kaiser's window of `n` places.
 *
 * `w_i = I0(beta sqrt(1 - (2 i / (n - 1) - 1)^2)) / I0(beta), with periodic over n`
 *
 * SciPy `signal.windows.kaiser`, PyTorch `kaiser_window` (which is periodic by default). I0 is the modified Bessel function of order 0.
 *
 * @param beta How narrow it is, from 0, where all weights are 1; 14 for side lobes below -100 dB.
 * @throws {TensorError} as {@link hann}; `ERR_ARGUMENT` for a beta that is negative or not finite.
 * @example
 * ```ts
 * ft.signal.kaiser(3, 2) // [0.43867627, 1, 0.43867627]
 * ```
 */
export function kaiser<E extends FloatDType = 'float32'>(n: number, beta: number, options?: WindowOptions<E>): Tensor<NoInfer<E>> {
  const op = 'signal.kaiser'
  const b = number(op, 'beta', beta)
  if (!(b >= 0 && b < Infinity)) throw new ArgumentError(`${op}: 'beta' must be a finite number of at least 0, got ${b}`)
  return window('kaiser', n, options, (distance, last) => {
    // 1 - (2 d / last - 1)^2, without its differences.
    const share = distance.mul(2 / last)
    const x = share.mul(share.negative().add(2)).sqrt().mul(b)
    return x.sub(b).exp().mul(scaledI0(x)).div(scaledI0(zeros([], { dtype: 'float64', device: 'cpu' }).add(b)))
  })
}

/**
 * The bell of a normal distribution over `n` places.
 *
 * `w_i = exp(-(i - (n - 1) / 2)^2 / (2 std^2)), with periodic n in the place of n - 1`
 *
 * SciPy `signal.windows.gaussian`.
 *
 * @param std The standard deviation in places, above 0.
 * @throws {TensorError} as {@link hann}; `ERR_ARGUMENT` for a standard deviation that is not finite or not above 0.
 * @example
 * ```ts
 * ft.signal.gaussian(3, 1) // [0.60653067, 1, 0.60653067]
 * ```
 */
export function gaussian<E extends FloatDType = 'float32'>(n: number, std: number, options?: WindowOptions<E>): Tensor<NoInfer<E>> {
  const op = 'signal.gaussian'
  const sigma = number(op, 'std', std)
  if (!(sigma > 0 && sigma < Infinity)) throw new ArgumentError(`${op}: 'std' must be a finite number above 0, got ${sigma}`)
  return window('gaussian', n, options, (distance, last) => distance.sub(last / 2).div(sigma).square().mul(-0.5).exp())
}

/**
 * Tukey's window of `n` places: ones between two halves of Hann's window, which have the share `alpha` of it.
 *
 * `w_i = 0.5 - 0.5 cos(2 pi i / (alpha (n - 1))) at the ends, with periodic over n, else 1`
 *
 * SciPy `signal.windows.tukey`.
 *
 * @param alpha The share of the halves: 0 and less for ones, 1 and more for Hann's window; 0.5 by default.
 * @throws {TensorError} as {@link hann}; `ERR_ARGUMENT` for an alpha that is NaN.
 * @example
 * ```ts
 * ft.signal.tukey(5, 0.5) // [0, 1, 1, 1, 0]
 * ```
 */
export function tukey<E extends FloatDType = 'float32'>(n: number, alpha: number = 0.5, options?: WindowOptions<E>): Tensor<NoInfer<E>> {
  const op = 'signal.tukey'
  const share = Math.min(number(op, 'alpha', alpha), 1)
  if (Number.isNaN(share)) throw new ArgumentError(`${op}: 'alpha' must be a number, got NaN`)
  return window('tukey', n, options, (distance, last) => {
    const half = (share * last) / 2
    // Where there are no halves nothing is divided by zero.
    if (!(half > 0)) return distance.mul(0).add(1)
    return where(distance.less(half), distance.mul(Math.PI / half).cos().mul(-0.5).add(0.5), 1) as Tensor
  })
}
