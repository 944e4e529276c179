// Tensors of every dtype, for the tests of types: vectors of four ones, which are also matrices and images, positions and masks.

import * as ft from 'ferrotensor'

const ones = <D extends ft.DType>(dtype: D): ft.Tensor<D> => ft.ones([4], { dtype })

export const bool = ones('bool')
export const i8 = ones('int8')
export const u8 = ones('uint8')
export const i16 = ones('int16')
export const u16 = ones('uint16')
export const i32 = ones('int32')
export const u32 = ones('uint32')
export const i64 = ones('int64')
export const u64 = ones('uint64')
export const f16 = ones('float16')
export const bf16 = ones('bfloat16')
export const f32 = ones('float32')
export const f64 = ones('float64')
export const c64 = ones('complex64')
export const c128 = ones('complex128')

/** A tensor of which only a run knows the dtype. */
export const wide: ft.Tensor = f32

/** A vector as a matrix. */
export const square = <D extends ft.DType>(x: ft.Tensor<D>): ft.Tensor<D> => x.reshape([2, 2])

/** A vector as one image of one channel. */
export const image = <D extends ft.DType>(x: ft.Tensor<D>): ft.Tensor<D> => x.reshape([1, 1, 4])
