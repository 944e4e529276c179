// Cosine transforms by a Fourier transform of the same length (Makhoul, "A fast cosine transform in one and two dimensions", 1980).

import { checkOptions } from '../arguments/options.js'
import { axisGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arange } from '../arrays/ranges.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type ComplexOf, type DType, type RealOf, type Takes } from '../generated/dtypes.js'
import { fft, ifft } from '../generated/fft.js'
import { complex, concat, where, zeros } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `dct` and `idct`. */
export interface DctOptions {
  /** 2 or 3, which are each other's inverse but for a factor; 2 by default. */
  readonly type?: 2 | 3 | undefined
  /** The axis; negative ones count from the last; the last by default. */
  readonly axis?: number | undefined
  /** Whose direction is divided by 2 n ('backward': that of `idct`), or 'ortho' for both by its root, which makes the transform orthogonal; 'backward' by default. */
  readonly norm?: 'backward' | 'ortho' | 'forward' | undefined
}

/** e^(sign pi i k / (2 n)) for k below n, rounded from float64. */
function turns(n: number, sign: number, like: Tensor): Tensor {
  // Any processor has the float64 that devices may lack.
  const angle = arange(n, { dtype: 'float64', device: 'cpu' }).multiply((sign * Math.PI) / (2 * n))
  return complex(angle.cos(), angle.sin()).astype(like.dtype as 'complex64').to(like.device)
}

/** Type 2 along the last axis, unscaled: 2 sum_j x_j cos(pi k (2 j + 1) / (2 n)). */
function second(x: Tensor): Tensor {
  // Even places upwards, odd ones downwards: one period of an even signal of twice the length.
  const spectrum = fft(concat([x.at('...', '::2'), x.at('...', '1::2').flip(-1)], { axis: -1 }) as Tensor)
  return spectrum.multiply(turns(x.shape.at(-1) as number, -1, spectrum)).real().multiply(2)
}

/** The inverse of {@link second}. */
function inverse(x: Tensor): Tensor {
  const n = x.shape.at(-1) as number
  const mirrored = concat([zeros([...x.shape.slice(0, -1), 1], { dtype: x.dtype, device: x.device }), x.at('...', '1:').flip(-1)], { axis: -1 })
  const spectrum = complex(x as Tensor<'float32'>, mirrored.negative() as Tensor<'float32'>)
  const y = ifft(spectrum.multiply(turns(n, 1, spectrum))).real().multiply(0.5)
  // Place i of the signal is i / 2 from the start where it is even, and (i + 1) / 2 from the end where it is odd.
  const places = arange(n, { dtype: 'int32', device: x.device })
  return y.take(where(places.remainder(2).equal(0), places, places.negative().add(2 * n - 1)).floorDivide(2) as Tensor<'int32'>, { axis: -1 }) as Tensor
}

/** Either transform: of type 3 one is the other direction of type 2. */
function transformed(op: string, value: unknown, options: unknown, backward: boolean): Tensor {
  return within(op, () => {
    const x = tensorGiven(op, 'x', value)
    const { type = 2, axis = -1, norm = 'backward' } = checkOptions(op, options, ['type', 'axis', 'norm'])
    if (type !== 2 && type !== 3) throw new ArgumentError(`${op}: 'type' must be 2 or 3, got ${shown(type)}`)
    if (norm !== 'backward' && norm !== 'ortho' && norm !== 'forward') throw new ArgumentError(`${op}: 'norm' must be 'backward', 'ortho' or 'forward', got ${shown(norm)}`)
    if (DTYPE[x.dtype].kind === 'complex') throw new DTypeError(`${op}: takes a real dtype, got ${x.dtype}; transform the parts`)
    const along = axisGiven(op, axis, x.ndim)
    const n = x.shape[along] as number
    if (n === 0) throw new ShapeError(`${op}: axis ${along} has no elements`)
    // Half floats and integers compute in float32, as in fft.
    const lines = x.astype(x.dtype === 'float64' ? 'float64' : 'float32').moveaxis(along, -1)
    // Orthogonal are the cosines of type 2 times sqrt(1 / (2 n)), the constant one times sqrt(1 / (4 n)).
    const scale = (y: Tensor, root: (k: number) => number): Tensor => y.multiply(root(1)).withAt(['...', 0], y.at('...', 0).multiply(root(0)))
    const root = (k: number): number => Math.sqrt((k === 0 ? 1 : 2) / (4 * n))
    const done = (type === 2) !== backward
    if (norm === 'ortho') return (done ? scale(second(lines), root) : inverse(scale(lines, (k) => 1 / root(k)))).moveaxis(-1, along)
    // The unscaled sum of the other direction is 2 n times the inverse.
    const divided = backward === (norm === 'backward')
    const factor = done ? (divided ? 1 / (2 * n) : 1) : divided ? 1 : 2 * n
    return (done ? second(lines) : inverse(lines)).multiply(factor).moveaxis(-1, along)
  })
}

/**
 * Cosine transform of a real tensor along an axis (the last by default), of type 2 or 3; float32, float64 for float64.
 *
 * `type 2: y_k = 2 sum_j x_j cos(pi k (2 j + 1) / (2 n)); type 3: y_k = x_0 + 2 sum_(j > 0) x_j cos(pi j (2 k + 1) / (2 n))`
 *
 * SciPy `fft.dct`. With 'ortho' it is orthogonal: type 3 is then the inverse and the transpose of type 2.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for another type or norm, `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE`
 * for one without elements.
 * @example
 * ```ts
 * ft.signal.dct(ft.tensor([1, 2])) // [6, -1.4142135]
 * ```
 */
export function dct<D extends DType>(x: Tensor<D> & Takes<'real', D>, options?: DctOptions): Tensor<RealOf<ComplexOf<D>>> {
  return transformed('signal.dct', x, options, false) as Tensor<RealOf<ComplexOf<D>>>
}

/**
 * The inverse of {@link dct} of the same options.
 *
 * `type 2: x_j = (y_0 + 2 sum_(k > 0) y_k cos(pi k (2 j + 1) / (2 n))) / (2 n)`
 *
 * SciPy `fft.idct`.
 *
 * @throws {TensorError} as {@link dct}.
 * @example
 * ```ts
 * ft.signal.idct(ft.signal.dct(ft.tensor([1, 2, 4]))) // [1, 2, 4]
 * ```
 */
export function idct<D extends DType>(x: Tensor<D> & Takes<'real', D>, options?: DctOptions): Tensor<RealOf<ComplexOf<D>>> {
  return transformed('signal.idct', x, options, true) as Tensor<RealOf<ComplexOf<D>>>
}
