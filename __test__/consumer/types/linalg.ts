// Linear algebra: `ft.linalg`.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, u8, i32, f16, bf16, f32, f64, c64, c128, wide, square } from '../operands.js'

export function results(): void {
  // Polynomials.
  dtype('float32', ft.polyfit(i8, f32, 1))
  dtype('float64', ft.polyfit(f32, f32, 2, { weights: f64 }))
  dtype('int32', ft.polyval(i8, i32))
  dtype('complex64', ft.polyval(f32, c64))
  dtype('int32', ft.polyval([2, 1], i32))
  dtype('float64', ft.polyval(f64, [2, 1]))
  dtype('float32', ft.polyval([2, 1], [3]))
  dtype('float16', ft.polyfit([0, 1], f16.at(':2'), 1))
  dtype('float32', ft.polyfit(i32.at(':2'), [1, 3], 1))
  dtype('float32', ft.polyfit([0, 1], [1, 3], 1))
  // Integers and bool become float32.
  dtype('float32', ft.linalg.inv(square(i8)))
  dtype('complex64', ft.linalg.cholesky(square(c64)))
  dtype('float64', ft.linalg.det(square(f64)))
  dtype({ p: 'float16', l: 'float16', u: 'float16' }, ft.linalg.lu(square(f16)))
  dtype('float32', ft.linalg.expm(square(bool)))
  dtype('complex128', ft.linalg.pinv(square(c128)))
  dtype({ q: 'float32', r: 'float32' }, ft.linalg.qr(square(f32)))
  dtype({ sign: 'bfloat16', logabsdet: 'bfloat16' }, ft.linalg.slogdet(square(bf16)))
  dtype({ eigenvalues: 'float32', eigenvectors: 'float32' }, ft.linalg.eigh(square(i8)))
  dtype('float32', ft.linalg.eigvalsh(square(c64)))
  dtype({ eigenvalues: 'complex128', eigenvectors: 'complex128' }, ft.linalg.eig(square(f64)))
  dtype('complex64', ft.linalg.eigvals(square(f16)))
  dtype({ u: 'float32', s: 'float32', vh: 'float32' }, ft.linalg.svd(square(bool)))
  dtype('float64', ft.linalg.svdvals(square(c128)))
  dtype('int32', ft.linalg.matrixRank(square(f32)))
  dtype('bfloat16', ft.linalg.matrixNorm(square(bf16)))
  dtype('float32', ft.linalg.cond(square(i8)))
  dtype({ q: 'complex64', r: 'complex64' }, ft.linalg.qr(square(c64), { mode: 'complete' }))
  dtype('float64', ft.linalg.cholesky(square(f64), { upper: true }))
  dtype({ eigenvalues: 'float32', eigenvectors: 'float32' }, ft.linalg.eigh(square(i8), { upper: true }))
  dtype('float64', ft.linalg.eigvalsh(square(c128), { upper: false }))
  dtype({ u: 'bfloat16', s: 'bfloat16', vh: 'bfloat16' }, ft.linalg.svd(square(bf16), { fullMatrices: false }))
  dtype('float32', ft.linalg.svdvals(square(i32)))
  dtype({ eigenvalues: 'complex128', eigenvectors: 'complex128' }, ft.linalg.eig(square(f64)))
  dtype({ sign: 'complex128', logabsdet: 'float64' }, ft.linalg.slogdet(square(c128)))
  dtype('int32', ft.linalg.matrixRank(square(c64), { rtol: 1e-3 }))
  dtype('complex64', ft.linalg.pinv(square(c64), { rtol: 1e-3 }))
  dtype('float32', ft.linalg.matrixNorm(square(c64), { ord: 'nuc', keepdims: true }))
  dtype('float16', ft.linalg.cond(square(f16), { ord: Infinity }))
  dtype('float32', ft.linalg.matrixPower(square(i8), 3))
  dtype('float64', ft.linalg.vectorNorm(c128))
  dtype('float32', ft.linalg.vectorNorm(i8, { ord: 3, axis: 0, keepdims: true }))
  dtype('float16', ft.linalg.vectorNorm(f16, 0))
  // Of two tensors, by the dtype of both.
  dtype('float64', ft.linalg.solve(square(i8), square(f64)))
  dtype('complex64', ft.linalg.solve(square(c64), square(i32)))
  dtype('float32', ft.linalg.solveTriangular(square(f16), square(bf16), { upper: true, unitDiagonal: true, transposed: true }))
  dtype({ solution: 'complex128', residuals: 'float64', rank: 'int32', singularValues: 'float64' }, ft.linalg.lstsq(square(c64), square(f64), { rtol: 1e-3 }))
  dtype({ solution: 'float32', residuals: 'float32', rank: 'int32', singularValues: 'float32' }, ft.linalg.lstsq(square(u8), square(i8)))
  // The same functions as in the root.
  dtype('float32', ft.linalg.matmul(f32, f32))
  dtype('float64', ft.linalg.trace(square(f64)))
}

/** Compiled, never called. */
export function compiled(): void {
  dtype('float32' as ft.FloatOrComplexDType, ft.linalg.inv(wide))
  dtype('complex64' as 'complex64' | 'complex128', ft.linalg.eigvals(wide))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: the matrix is missing
  ft.linalg.inv()
  // @ts-expect-error: text for a tensor
  ft.linalg.inv('x')
  // @ts-expect-error: a number for a tensor
  ft.linalg.det(2)
  // @ts-expect-error: the right side is missing
  ft.linalg.solve(f32)
  // @ts-expect-error: a number for a tensor
  ft.linalg.solve(f32, 1)
  // @ts-expect-error: one argument too many
  ft.linalg.inv(f32, f32)
  // @ts-expect-error: no such function, and its type says what to write
  ft.linalg.schur(f32)
  // @ts-expect-error: a function only
  f32.inv()
  // @ts-expect-error: no such mode
  ft.linalg.qr(f32, { mode: 'full' })
  // @ts-expect-error: options are an object
  ft.linalg.qr(f32, 'reduced')
  // @ts-expect-error: no such result
  ft.linalg.qr(f32).Q
  // @ts-expect-error: a record, no list
  ft.linalg.qr(f32)[0]
  // @ts-expect-error: no such option
  ft.linalg.cholesky(f32, { lower: true })
  // @ts-expect-error: a number for a boolean
  ft.linalg.cholesky(f32, { upper: 1 })
  // @ts-expect-error: no such option
  ft.linalg.svd(f32, { full_matrices: true })
  // @ts-expect-error: options are an object
  ft.linalg.svd(f32, false)
  // @ts-expect-error: no such result
  ft.linalg.svd(f32).v
  // @ts-expect-error: no options
  ft.linalg.svdvals(f32, { fullMatrices: true })
  // @ts-expect-error: no such option
  ft.linalg.eigh(f32, { UPLO: 'L' })
  // @ts-expect-error: no options
  ft.linalg.eig(f32, { upper: true })
  // @ts-expect-error: no such result
  ft.linalg.slogdet(f32).logdet
  // @ts-expect-error: a text for a number
  ft.linalg.matrixPower(f32, '2')
  // @ts-expect-error: the exponent is missing
  ft.linalg.matrixPower(f32)
  // @ts-expect-error: options are an object
  ft.linalg.pinv(f32, 1e-3)
  // @ts-expect-error: a text for a number
  ft.linalg.matrixRank(f32, { rtol: '1' })
  // @ts-expect-error: no such option
  ft.linalg.lstsq(f32, f32, { rcond: 1 })
  // @ts-expect-error: no such option
  ft.linalg.solveTriangular(f32, f32, { lower: true })
  // @ts-expect-error: no norm of vectors
  ft.linalg.vectorNorm(f32, { ord: 'fro' })
  // @ts-expect-error: a number for a boolean
  ft.linalg.vectorNorm(f32, { keepdims: 1 })
  // @ts-expect-error: no such norm
  ft.linalg.matrixNorm(f32, { ord: 'max' })
  // @ts-expect-error: no such option
  ft.linalg.matrixNorm(f32, { axis: [0, 1] })
  // @ts-expect-error: no such option
  ft.linalg.cond(f32, { p: 2 })
  // @ts-expect-error: the result is float32
  ft.linalg.svdvals(c64) satisfies ft.Tensor<'complex64'>
  // @ts-expect-error: the result is complex64
  ft.linalg.eigvals(f32) satisfies ft.Tensor<'float32'>
  // @ts-expect-error: the result is float32
  ft.linalg.inv(i32) satisfies ft.Tensor<'int32'>
  // @ts-expect-error: the result is float64
  ft.linalg.eigh(c128).eigenvalues satisfies ft.Tensor<'complex128'>
}
