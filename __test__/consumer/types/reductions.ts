// Reductions, statistics and running sums: axes, widening, quantiles.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, u8, i16, u16, i32, i64, u64, f16, bf16, f32, f64, c64, c128, wide, square } from '../operands.js'

export function results(): void {
  // Arrays of numbers stand for tensors.
  dtype('float64', f64.quantile([0.5, 1]))
  dtype('float32', i8.percentile([50]))
  // Sums and products: bool and smaller integers widen to 32 bits, unless another dtype is asked for.
  dtype('int32', ft.sum(bool))
  dtype('int32', i8.sum(0))
  dtype('uint32', u8.sum({ axis: [0], keepdims: true }))
  dtype('float64', f16.sum({ dtype: 'float64' }))
  dtype('int64', i64.sum([0]))
  dtype('uint32', ft.prod(u16, { axis: -1 }))
  dtype('complex64', f32.prod({ axis: 0, dtype: 'complex64' }))
  dtype('float64', ft.nansum(f64))
  dtype('bool', bool.nansum({ dtype: 'bool' }))
  dtype('int32', ft.nanprod(i16, 0))
  dtype('bfloat16', bf16.nanprod())
  dtype('uint32', ft.cumulativeSum(u8))
  dtype('float64', f32.cumulativeSum({ axis: 0, dtype: 'float64', includeInitial: true }))
  dtype('int32', ft.cumulativeProd(bool, 0))
  dtype('complex128', c128.cumulativeProd())
  dtype('int32', ft.nancumulativeSum(bool))
  dtype('float64', f32.nancumulativeSum({ axis: 0, dtype: 'float64', includeInitial: true }))
  dtype('uint32', ft.nancumulativeProd(u8, 0))
  dtype('complex64', c64.nancumulativeProd())
  // Extremes with their positions.
  dtype({ values: 'int8', indices: 'int32' }, ft.maxWithIndices(i8))
  dtype({ values: 'float16', indices: 'int32' }, ft.minWithIndices(f16, { axis: 0, keepdims: true }))
  // Combinations by functions keep dtypes and trees.
  dtype('float32', ft.associativeScan((a, b) => a.mul(b), f32))
  dtype('int8', ft.associativeScan(ft.add, i8, -1))
  dtype({ a: 'float32', b: 'complex64' }, ft.associativeScan((p, q) => ({ a: p.a.add(q.a), b: [p.b[0]!.add(q.b[0]!)] }), { a: f32, b: [c64] }, { axis: 0, reverse: true }))
  dtype('int16', ft.reduce(i16, 0, (a, b) => a.add(b)))
  dtype('bool', ft.reduce(bool, true, ft.logicalAnd, 0))
  dtype('complex64', ft.reduce(c64, ft.tensor(1, { dtype: 'complex64' }), (a, b) => a.mul(b), { axis: [0], keepdims: true }))
  dtype('float32' as ft.DType, ft.reduce(wide, 0, (a, b) => ft.where(a.isnan(), a, b)))
  dtype('float64', ft.windowReduce(f64, -Infinity, ft.maximum, { window: 2 }))
  dtype('uint8', ft.windowReduce(u8, 0n, (a, b) => a.bitwiseXor(b), { window: [3], stride: 2, padding: 'same', dilation: [1] }))
  dtype('int32', ft.trace(square(i8)))
  dtype('float64', square(f32).trace({ offset: 1, dtype: 'float64' }))
  // Means: integers and bool become float32.
  dtype('float32', ft.mean(i64))
  dtype('complex64', c64.mean({ axis: 0 }))
  dtype('float32', ft.median(u8))
  dtype('float16', f16.median({ keepdims: true }))
  dtype('float32', ft.nanmean(bool))
  dtype('float64', f64.nanmean([0]))
  dtype('float32', ft.nanmedian(i8))
  dtype('float16', f16.nanmedian({ axis: 0, keepdims: true }))
  dtype('float32', ft.logsumexp(i8))
  dtype('bfloat16', bf16.logsumexp(0))
  dtype('float32', ft.nanvar(i32, { correction: 1 }))
  dtype('float32', f32.nanvar())
  dtype('float16', ft.nanstd(f16))
  dtype('float32', u8.nanstd({ axis: 0 }))
  dtype('float32', ft.cov(i8))
  dtype('complex64', c64.cov({ rowvar: false, correction: 0 }))
  dtype('float64', ft.corrcoef(f64))
  dtype('complex128', c128.corrcoef({ rowvar: true }))
  // Spreads: of complex numbers the dtype of the parts.
  dtype('float64', ft.var(c128, { correction: 1 }))
  dtype('float32', i8.var())
  dtype('float32', ft.std(c64))
  dtype('float16', f16.std(0))
  // Extremes: the same dtype, and places as int32.
  dtype('bool', ft.max(bool))
  dtype('uint64', u64.max({ axis: 0, keepdims: true }))
  dtype('float16', ft.min(f16))
  dtype('int8', i8.min(0))
  dtype('float32', ft.nanmax(f32))
  dtype('uint8', u8.nanmax([0]))
  dtype('bool', ft.nanmin(bool))
  dtype('bfloat16', bf16.nanmin())
  dtype('int16', ft.ptp(i16))
  dtype('float64', f64.ptp())
  dtype('bool', ft.cumulativeMax(bool))
  dtype('int32', i32.cumulativeMax(0))
  dtype('float16', ft.cumulativeMin(f16, { axis: 0 }))
  dtype('uint8', u8.cumulativeMin())
  dtype('int32', ft.argmax(bool))
  dtype('int32', f32.argmax({ axis: 0, keepdims: true }))
  dtype('int32', ft.argmin(u64))
  dtype('int32', i8.argmin(0))
  // Tests and counts.
  dtype('bool', ft.all(c64))
  dtype('bool', f32.all({ axis: 0 }))
  dtype('bool', ft.any(bool))
  dtype('bool', i8.any([0]))
  dtype('int32', ft.countNonzero(c128))
  dtype('int32', u8.countNonzero(0))
  // Quantiles, by the dtype of both.
  dtype('float32', ft.quantile(i8, 0.5))
  dtype('float64', f32.quantile(f64, { axis: 0, method: 'nearest' }))
  dtype('float16', ft.percentile(f16, 50, 0))
  dtype('float32', u8.percentile(i8))
  dtype('float64', ft.nanquantile(f32, f64))
  dtype('float32', i8.nanquantile(0.5, { method: 'lower' }))
  dtype('float16', ft.nanpercentile(f16, 50, 0))
  dtype('float32', bool.nanpercentile(i8))
  // Differences and integrals; what is left out promotes nothing.
  dtype('uint8', ft.diff(u8))
  dtype('int16', i8.diff(u8, undefined, { n: 2 }))
  dtype('complex128', c64.diff(undefined, f64, 0))
  dtype('float32', ft.gradient(i32))
  dtype('float32', f16.gradient(f32))
  dtype('float64', f64.gradient(undefined, { spacing: 2, edgeOrder: 2 }))
  dtype('bfloat16', ft.trapezoid(bf16))
  dtype('float64', i8.trapezoid(f64, { axis: -1 }))
  dtype('float32', f32.trapezoid(undefined, { dx: 2 }))
  dtype('float32', ft.interp(f32, i8, u8))
  dtype('float16', i8.interp(u8, f16))
  dtype('float64', f32.interp(f32, f32, 0, f64.at(0)))
}

/** Compiled, never called. */
export function compiled(): void {
  // A dtype that only a run knows, and an option that may be left out.
  dtype('float32' as ft.DType, wide.sum({ dtype: 'float32' as ft.DType }))
  dtype('float32' as 'int32' | 'uint32' | 'int64' | 'uint64' | ft.FloatOrComplexDType, wide.sum())
  dtype('int32' as ft.DType, i8.sum({ dtype: undefined }))
  dtype('float32' as ft.FloatOrComplexDType, wide.mean())
  dtype('float32' as ft.DType, wide.max())
  dtype('int32', ft.argmax(wide))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: no such option
  f32.sum({ axes: 0 })
  // @ts-expect-error: a text for an axis
  f32.sum('0')
  // @ts-expect-error: a text for an axis
  f32.sum({ axis: '0' })
  // @ts-expect-error: one argument too many
  f32.sum(0, { keepdims: true })
  // @ts-expect-error: a number for a boolean
  f32.sum({ keepdims: 1 })
  // @ts-expect-error: no such dtype
  f32.sum({ dtype: 'float' })
  // @ts-expect-error: no such option
  f32.sum({ dtype: 'float32', where: bool })
  // @ts-expect-error: null for an axis
  f32.sum(null)
  // @ts-expect-error: a bigint for an axis
  f32.sum(0n)
  // @ts-expect-error: text for a tensor
  ft.sum('x')
  // @ts-expect-error: the tensor is missing
  ft.sum()
  // @ts-expect-error: a number for a tensor
  ft.prod(2)
  // @ts-expect-error: no such option
  f32.prod({ keepdim: true })
  // @ts-expect-error: no such option
  f32.mean({ dtype: 'float64' })
  // @ts-expect-error: a boolean for an axis
  f32.mean(true)
  // @ts-expect-error: null for an axis
  f32.mean({ axis: null })
  // @ts-expect-error: no such option
  f32.var({ ddof: 1 })
  // @ts-expect-error: a text for a number
  f32.std({ correction: '1' })
  // @ts-expect-error: complex numbers have no order
  ft.maxWithIndices(c64)
  // @ts-expect-error: one axis
  ft.minWithIndices(f32, [0, 1])
  // @ts-expect-error: complex numbers have no order
  c64.median()
  // @ts-expect-error: complex numbers have no order
  ft.nanmean(c64)
  // @ts-expect-error: complex numbers have no order
  c64.nanvar()
  // @ts-expect-error: complex numbers have no order
  ft.nanstd(c128)
  // @ts-expect-error: options are an object
  ft.cov(f32, 0)
  // @ts-expect-error: no such option
  f32.corrcoef({ correction: 1 })
  // @ts-expect-error: complex numbers have no order
  c64.max()
  // @ts-expect-error: complex numbers have no order
  ft.min(c64)
  // @ts-expect-error: complex numbers have no order
  c64.nanmax()
  // @ts-expect-error: complex numbers have no order
  ft.nanmin(c64)
  // @ts-expect-error: bool is no numeric dtype
  bool.ptp()
  // @ts-expect-error: complex numbers have no order
  ft.ptp(c64)
  // @ts-expect-error: complex numbers have no order
  c64.argmax()
  // @ts-expect-error: complex numbers have no order
  ft.argmin(c128)
  // @ts-expect-error: one axis alone
  f32.argmax([0])
  // @ts-expect-error: one axis alone
  f32.argmin({ axis: [0, 1] })
  // @ts-expect-error: a tensor for options
  f32.max(f32)
  // @ts-expect-error: no such option
  f32.max({ dtype: 'float64' })
  // @ts-expect-error: complex numbers have no order
  c64.cumulativeMax()
  // @ts-expect-error: complex numbers have no order
  ft.cumulativeMin(c64)
  // @ts-expect-error: no such option
  f32.all({ axis: 0, keepdims: undefined, dim: 1 })
  // @ts-expect-error: a text for an axis
  f32.any('all')
  // @ts-expect-error: a number for a boolean
  f32.countNonzero({ keepdims: 0 })
  // @ts-expect-error: one axis alone
  ft.associativeScan((a, b) => a.add(b), f32, [0])
  // @ts-expect-error: a number for a tensor
  ft.associativeScan((a, b) => a, 3)
  // @ts-expect-error: a scan's function is synchronous
  ft.associativeScan(async (a, b) => a, f32)
  // @ts-expect-error: another dtype
  ft.associativeScan((a, b) => a.equal(b), f32)
  // @ts-expect-error: a part of the tree is missing
  ft.associativeScan((p, q) => ({ a: p.a }), { a: f32, b: f32 })
  // @ts-expect-error: the function comes last
  ft.reduce(f32, (a, b) => a, 0)
  // @ts-expect-error: init of another dtype
  ft.reduce(f32, f64, (a, b) => a)
  // @ts-expect-error: another dtype
  ft.reduce(i8, 0, (a, b) => a.divide(b))
  // @ts-expect-error: no such option
  ft.reduce(f32, 0, (a, b) => a, { axes: 0 })
  // @ts-expect-error: the window is missing
  ft.windowReduce(f32, 0, (a, b) => a, { stride: 2 })
  // @ts-expect-error: no such option
  ft.windowReduce(f32, 0, (a, b) => a, { window: 2, strides: 2 })
  // @ts-expect-error: one axis alone
  f32.cumulativeSum([0])
  // @ts-expect-error: no such option
  f32.cumulativeSum({ initial: 0 })
  // @ts-expect-error: no such dtype
  f32.cumulativeProd({ dtype: 'int' })
  // @ts-expect-error: no such option
  f32.cumulativeMax({ includeInitial: true })
  // @ts-expect-error: one axis alone
  f32.nancumulativeSum([0])
  // @ts-expect-error: no such dtype
  f32.nancumulativeProd({ dtype: 'int' })
  // @ts-expect-error: the fraction is missing
  f32.quantile()
  // @ts-expect-error: a text for a number
  f32.quantile('0.5')
  // @ts-expect-error: texts for a tensor
  f32.quantile(['0.5'])
  // @ts-expect-error: no such method
  f32.quantile(0.5, { method: 'closest' })
  // @ts-expect-error: no such option
  f32.percentile(50, { interpolation: 'linear' })
  // @ts-expect-error: complex numbers have no order
  c64.quantile(0.5)
  // @ts-expect-error: complex numbers have no order
  f32.percentile(c64)
  // @ts-expect-error: complex numbers have no order
  c64.nanmedian()
  // @ts-expect-error: the fraction is missing
  ft.nanquantile(f32)
  // @ts-expect-error: no such method
  f32.nanquantile(0.5, { method: 'closest' })
  // @ts-expect-error: complex numbers have no order
  c128.nanpercentile(50)
  // @ts-expect-error: bool is no numeric dtype
  bool.diff()
  // @ts-expect-error: bool is no numeric dtype
  f32.diff(bool)
  // @ts-expect-error: a number for a tensor
  f32.diff(1)
  // @ts-expect-error: options for a tensor
  f32.diff({ n: 2 })
  // @ts-expect-error: a text for a number
  f32.diff(undefined, undefined, { n: '2' })
  // @ts-expect-error: no such order
  f32.gradient(undefined, { edgeOrder: 3 })
  // @ts-expect-error: complex numbers have no order
  f32.trapezoid(c64)
  // @ts-expect-error: no such option
  f32.trapezoid(undefined, { spacing: 1 })
  // @ts-expect-error: the values are missing
  f32.interp(f32)
  // @ts-expect-error: an array for a tensor
  f32.interp(f32, [1, 2])
  // @ts-expect-error: complex numbers have no order
  c64.interp(f32, f32)
  // @ts-expect-error: no such option
  f32.trace({ axis1: 0 })
  // @ts-expect-error: options are an object
  f32.trace(1)
  // @ts-expect-error: the result is int32
  i8.sum() satisfies ft.Tensor<'int8'>
  // @ts-expect-error: the result is int64
  i8.sum({ dtype: 'int64' }) satisfies ft.Tensor<'int32'>
  // @ts-expect-error: the result is float32
  i32.mean() satisfies ft.Tensor<'int32'>
  // @ts-expect-error: the result is float32
  c64.std() satisfies ft.Tensor<'complex64'>
  // @ts-expect-error: the result is int32
  f32.argmax() satisfies ft.Tensor<'int64'>
  // @ts-expect-error: a tensor, no boolean
  f32.all() satisfies boolean
  // @ts-expect-error: a tensor, no number
  f32.sum() satisfies number
}
