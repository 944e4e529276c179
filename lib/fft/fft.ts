// `ft.fft`: the rows of Fourier transforms, those of the last two axes, and names of other libraries.

import { checkOptions } from '../arguments/options.js'
import type { ComplexOf, DType, RealOf, Takes } from '../generated/dtypes.js'
import { fftn, ifftn, irfftn, rfftn } from '../generated/fft.js'
import type { Tensor } from '../tensor/tensor.js'

export * from '../generated/fft.js'
export * from '../generated/names/fft.js'

/** Options of transforms of two axes. */
export interface Fft2Options {
  /** The two axes; the last two by default. */
  readonly axes?: readonly number[] | undefined
  /** Sizes along them, to which x is cut or filled up with zeros; its own by default. */
  readonly s?: readonly number[] | undefined
  /** 'backward' by default. */
  readonly norm?: 'backward' | 'ortho' | 'forward' | undefined
}

function both(op: string, options: unknown): Fft2Options {
  const o = checkOptions(op, options, ['axes', 's', 'norm'])
  return { ...o, axes: o['axes'] === undefined ? [-2, -1] : (o['axes'] as number[]) }
}

/** The discrete Fourier transform of the last two axes, as {@link fftn}. */
export function fft2<A extends DType>(x: Tensor<A>, options?: Fft2Options): Tensor<ComplexOf<A>> {
  return fftn(x, both('fft.fft2', options))
}

/** The inverse of {@link fft2}, as {@link ifftn}. */
export function ifft2<A extends DType>(x: Tensor<A>, options?: Fft2Options): Tensor<ComplexOf<A>> {
  return ifftn(x, both('fft.ifft2', options))
}

/** The transform of real numbers along the last two axes, as {@link rfftn}. */
export function rfft2<A extends DType>(x: Tensor<A> & Takes<'real', A>, options?: Fft2Options): Tensor<ComplexOf<A>> {
  return rfftn(x, both('fft.rfft2', options))
}

/** The inverse of {@link rfft2}, as {@link irfftn}. */
export function irfft2<A extends DType>(x: Tensor<A>, options?: Fft2Options): Tensor<RealOf<ComplexOf<A>>> {
  return irfftn(x, both('fft.irfft2', options))
}
