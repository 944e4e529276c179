// Indexing, gathering, scattering, order, sets and histograms.

import * as ft from 'ferrotensor'
import { dtype, is } from '../expectations.js'
import { bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, c64, c128, wide } from '../operands.js'

export async function results(): Promise<void> {
  // Arrays of numbers stand for tensors.
  dtype('float64', f64.withAt([[0, 1]], [1, 2]))
  dtype('int32', f64.searchsorted([1, 2]))
  dtype('bool', ft.isin(f32, [1, 2]))
  // Index items keep the dtype.
  dtype('float32', f32.at(0))
  dtype('int8', i8.at('1:', null))
  dtype('complex64', c64.at(ft.slice(1, 3), '...'))
  dtype('bool', bool.at([0, 1]))
  dtype('uint16', u16.at(i8))
  dtype('float64', f64.at(bool))
  dtype('bfloat16', bf16.at([true, false, true, false]))
  dtype('float16', f16.at(new Int32Array([1])))
  dtype('int64', await i64.atAsync(f32.greater(0)))
  dtype('uint8', u8.withAt([0], 1))
  dtype('float32', f32.withAt('1:', f64.at(0)))
  dtype('bool', bool.withAt([i32], true))
  dtype('complex128', await c128.withAtAsync([null, 0], 1n))
  // Positions are integers up to int64.
  dtype('float16', ft.take(f16, i32))
  dtype('complex64', c64.take(u8, { axis: 0 }))
  dtype('bool', ft.takeAlongAxis(bool, i64))
  dtype('int8', i8.takeAlongAxis(u16, 0))
  dtype('uint8', ft.putAlongAxis(u8, i8, f64))
  dtype('float32', f32.putAlongAxis(i32, 1, { update: 'maximum' }))
  dtype('bool', bool.putAlongAxis(i32, true))
  dtype('bool', ft.scatter(bool, i32, f32))
  dtype('complex64', c64.scatter(u8, i8, { axis: 0 }))
  dtype('int8', ft.scatterAdd(i8, i32, f32))
  dtype('float64', f64.scatterAdd(u8, i8, { axis: 0 }))
  dtype('complex128', ft.scatterMul(c128, i32, f32))
  dtype('uint8', u8.scatterMul(u8, i8, { axis: 0 }))
  dtype('float16', ft.scatterMin(f16, i32, f32))
  dtype('bool', bool.scatterMin(u8, i8, { axis: 0 }))
  dtype('uint64', ft.scatterMax(u64, i32, f32))
  dtype('float32', f32.scatterMax(u8, i8, { axis: 0 }))
  dtype('int8', ft.segmentSum(i8, i32, 2))
  dtype('complex64', c64.segmentSum(u8, 2))
  dtype('float16', ft.segmentProd(f16, i32, 2))
  dtype('uint8', u8.segmentProd(u8, 2))
  dtype('bool', ft.segmentMin(bool, i32, 2))
  dtype('int32', i32.segmentMin(u8, 2))
  dtype('bfloat16', ft.segmentMax(bf16, i32, 2))
  dtype('uint16', u16.segmentMax(u8, 2))
  dtype('float32', ft.segmentMean(i8, i32, 2))
  dtype('complex128', c128.segmentMean(u8, 2))
  // Order.
  dtype('bool', ft.sort(bool))
  dtype('float16', f16.sort({ descending: true }))
  dtype('int32', ft.argsort(u64))
  dtype('int32', i8.argsort(0))
  dtype({ values: 'float32', indices: 'int32' }, ft.topk(f32, 2))
  dtype({ values: 'bool', indices: 'int32' }, bool.topk(1, { largest: false }))
  dtype({ values: 'int16', indices: 'int32' }, ft.kthvalue(i16, 1))
  dtype({ values: 'bfloat16', indices: 'int32' }, bf16.kthvalue(2, { keepdims: true }))
  dtype('int32', ft.searchsorted(f32, i8))
  dtype('int32', u8.searchsorted(3, i32, { side: 'right' }))
  dtype('int32', bool.searchsorted(true))
  // Sets.
  dtype({ values: 'int8', indices: 'int32', inverseIndices: 'int32', counts: 'int32' }, ft.uniqueAll(i8))
  dtype({ values: 'float32', counts: 'int32' }, ft.uniqueCounts(f32))
  dtype({ values: 'bool', inverseIndices: 'int32' }, ft.uniqueInverse(bool))
  dtype('uint64', ft.uniqueValues(u64))
  dtype('complex64', ft.uniqueValues(c64))
  dtype({ values: 'complex64', counts: 'int32' }, ft.uniqueCounts(c64, { axis: 0 }))
  dtype('int8', await ft.uniqueValuesAsync(i8, 0))
  dtype({ values: 'float16', indices: 'int32', inverseIndices: 'int32', counts: 'int32' }, await ft.uniqueAllAsync(f16))
  dtype({ values: 'int64', counts: 'int32' }, await ft.uniqueCountsAsync(i64))
  dtype({ values: 'bfloat16', inverseIndices: 'int32' }, await ft.uniqueInverseAsync(bf16))
  dtype('float64', await ft.uniqueValuesAsync(f64))
  dtype('int16', ft.union1d(i8, u8))
  dtype('float32', await ft.union1dAsync(f16, bf16))
  dtype('int8', ft.intersect1d(i8, f32))
  dtype('uint8', await ft.intersect1dAsync(u8, i8))
  dtype('float64', ft.setdiff1d(f64, i8))
  dtype('bool', await ft.setdiff1dAsync(bool, u8))
  dtype('int64', ft.setxor1d(i32, u32))
  dtype('float64', await ft.setxor1dAsync(f32, f64))
  dtype('bool', ft.isin(i8, f32, { invert: true }))
  dtype('bool', ft.isin(1, u8))
  dtype('bool', ft.isin(bool, true))
  // Places of what is not zero: int64 of more than int32 counts.
  dtype('int32' as ft.PositionDType, ft.nonzero(c64))
  dtype('int32' as ft.PositionDType, await ft.nonzeroAsync(bool))
  dtype('int32' as ft.PositionDType, ft.argwhere(f32))
  dtype('int32' as ft.PositionDType, await ft.argwhereAsync(i8))
  // Counts: int32, or the dtype of the weights; a density is floating.
  dtype('int32', ft.digitize(f32, i8))
  dtype('int32', ft.digitize(1, f64, { right: true }))
  dtype('int32', ft.bincount(u8))
  dtype('float16', ft.bincount(i64, { weights: f16, minlength: 9 }))
  dtype('int32', await ft.bincountAsync(i32))
  dtype('int8', await ft.bincountAsync(u16, { weights: i8 }))
  dtype({ hist: 'int32', binEdges: 'float32' }, ft.histogram(i8))
  dtype({ hist: 'int32', binEdges: 'float64' }, ft.histogram(f64, { bins: 3, range: [0, 1] }))
  dtype({ hist: 'complex64', binEdges: 'float16' }, ft.histogram(f16, { weights: c64 }))
  dtype({ hist: 'float32', binEdges: 'float32' }, ft.histogram(f32, { density: true }))
  dtype({ hist: 'float32', binEdges: 'float16' }, ft.histogram(f16, { density: true, weights: u8 }))
  dtype({ hist: 'float64', binEdges: 'float64' }, ft.histogram(f16, { bins: f64, density: true, weights: f32 }))
  dtype({ hist: 'int32', binEdges: 'uint8' }, ft.histogram(i8, { bins: u8 }))
  dtype('float16', ft.histogramBinEdges(f16))
  dtype('float64', ft.histogramBinEdges(i64))
  dtype('float32', ft.histogramBinEdges(i8, { bins: 4, range: [0, 1] }))
  dtype('float64', ft.histogramBinEdges(f16, { bins: f64 }))
}

/** Compiled, never called. */
export function compiled(): void {
  is<ft.Slice>()(ft.slice(1, null, 2))
  dtype('float32' as ft.DType, wide.at(wide))
  dtype('float32', f32.at(...([0, '1:'] as ft.IndexItem[])))
  dtype('float32', f32.take(wide))
  dtype('float32' as ft.DType, wide.sort())
  dtype('int8' as 'int8' | 'float32', ft.histogram(f32, { weights: i8, density: true as boolean }).hist)
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: positions are integers
  f32.at(f32)
  // @ts-expect-error: positions are at most int64
  f32.at(u64)
  // @ts-expect-error: positions are integers
  f32.at(0, c64)
  // @ts-expect-error: positions are integers
  f32.at(new Float32Array(1))
  // @ts-expect-error: positions are at most int64
  f32.at(new BigUint64Array(1))
  // @ts-expect-error: no index item
  f32.at({ start: 1 })
  // @ts-expect-error: no index item
  f32.at(undefined)
  // @ts-expect-error: positions and a mask
  f32.at([1, true])
  // @ts-expect-error: texts for positions
  f32.at(['0'])
  // @ts-expect-error: no index item
  f32.at(/a/)
  // @ts-expect-error: positions are integers
  f32.atAsync(f64)
  // @ts-expect-error: items are an array
  f32.withAt(0, 1)
  // @ts-expect-error: the value is missing
  f32.withAt([0])
  // @ts-expect-error: a text for a value
  f32.withAt([0], '1')
  // @ts-expect-error: texts for a value
  f32.withAt([0], ['1'])
  // @ts-expect-error: a number beside a bool tensor
  bool.withAt([0], 1)
  // @ts-expect-error: positions are integers
  f32.withAt([f64], 1)
  // @ts-expect-error: null for a value
  f32.withAtAsync('0', null)
  // @ts-expect-error: a text for a bound
  ft.slice('1', 2)
  // @ts-expect-error: no elements by brackets
  f32[0]
  // @ts-expect-error: positions are integers
  f32.take(f32)
  // @ts-expect-error: positions are integers
  f32.take(bool)
  // @ts-expect-error: text for a tensor
  f32.take('x')
  // @ts-expect-error: a number for a tensor
  f32.take(0)
  // @ts-expect-error: positions are at most int64
  f32.take(u64)
  // @ts-expect-error: no such option
  f32.take(i32, { dim: 0 })
  // @ts-expect-error: the positions are missing
  f32.take()
  // @ts-expect-error: positions are integers
  f32.takeAlongAxis(f32)
  // @ts-expect-error: one axis alone
  f32.takeAlongAxis(i32, [0])
  // @ts-expect-error: positions are integers
  f32.putAlongAxis(f32, 1)
  // @ts-expect-error: the values are missing
  f32.putAlongAxis(i32)
  // @ts-expect-error: no such update
  f32.putAlongAxis(i32, 1, { update: 'sum' })
  // @ts-expect-error: a number beside a bool tensor
  bool.putAlongAxis(i32, 1)
  // @ts-expect-error: a number for a tensor
  f32.scatter(i32, 1)
  // @ts-expect-error: positions are integers
  f32.scatter(f32, f32)
  // @ts-expect-error: bool is no numeric dtype
  bool.scatterAdd(i32, i32)
  // @ts-expect-error: bool is no numeric dtype
  ft.scatterMul(bool, i32, i32)
  // @ts-expect-error: complex numbers have no order
  c64.scatterMin(i32, f32)
  // @ts-expect-error: complex numbers have no order
  ft.scatterMax(c64, i32, f32)
  // @ts-expect-error: positions are at most int64
  f32.scatterAdd(u64, f32)
  // @ts-expect-error: no such option
  f32.scatterMax(i32, f32, { reduce: 1 })
  // @ts-expect-error: the number of segments is missing
  f32.segmentSum(i32)
  // @ts-expect-error: segments are integers
  f32.segmentSum(f32, 2)
  // @ts-expect-error: a text for a number
  f32.segmentSum(i32, '2')
  // @ts-expect-error: bool is no numeric dtype
  bool.segmentProd(i32, 2)
  // @ts-expect-error: complex numbers have no order
  c64.segmentMin(i32, 2)
  // @ts-expect-error: complex numbers have no order
  ft.segmentMax(c64, i32, 2)
  // @ts-expect-error: segments are integers
  f32.segmentMean(bool, 2)
  // @ts-expect-error: complex numbers have no order
  c64.sort()
  // @ts-expect-error: no such option
  f32.sort({ order: 1 })
  // @ts-expect-error: a text for an axis
  f32.sort('descending')
  // @ts-expect-error: complex numbers have no order
  ft.argsort(c64)
  // @ts-expect-error: a number for a boolean
  f32.argsort({ descending: 1 })
  // @ts-expect-error: the number is missing
  f32.topk()
  // @ts-expect-error: a text for a number
  f32.topk('1')
  // @ts-expect-error: no such option
  f32.topk(1, { smallest: true })
  // @ts-expect-error: complex numbers have no order
  c64.topk(1)
  // @ts-expect-error: two tensors
  f32.topk(1).dtype
  // @ts-expect-error: the number is missing
  f32.kthvalue()
  // @ts-expect-error: complex numbers have no order
  c64.kthvalue(1)
  // @ts-expect-error: no such side
  f32.searchsorted(1, undefined, { side: 'Right' })
  // @ts-expect-error: options for a tensor
  f32.searchsorted(1, { side: 'right' })
  // @ts-expect-error: positions are integers
  f32.searchsorted(1, f32)
  // @ts-expect-error: complex numbers have no order
  c64.searchsorted(1)
  // @ts-expect-error: texts for a tensor
  f32.searchsorted(['1'])
  // @ts-expect-error: an array for a tensor
  ft.uniqueAll([1, 2])
  // @ts-expect-error: one axis
  ft.uniqueCounts(c64, [0, 1])
  // @ts-expect-error: values and counts only
  ft.uniqueCounts(f32).indices
  // @ts-expect-error: one argument too many
  ft.uniqueInverse(f32, true)
  // @ts-expect-error: complex numbers have no order
  ft.union1d(f32, c64)
  // @ts-expect-error: the other set is missing
  ft.union1d(f32)
  // @ts-expect-error: a number for a tensor
  ft.intersect1d(f32, 1)
  // @ts-expect-error: complex numbers have no order
  ft.setdiff1d(c64, f32)
  // @ts-expect-error: complex numbers have no order
  ft.setxor1d(c64, c64)
  // @ts-expect-error: complex numbers have no order
  ft.isin(c64, f32)
  // @ts-expect-error: a number beside a bool tensor
  ft.isin(bool, 1)
  // @ts-expect-error: no tensor among the operands
  ft.isin(1, 2)
  // @ts-expect-error: texts for a tensor
  ft.isin(f32, ['1', '2'])
  // @ts-expect-error: a text for a boolean
  ft.isin(f32, f32, { invert: 'yes' })
  // @ts-expect-error: a number for a tensor
  ft.nonzero(1)
  // @ts-expect-error: an array for a tensor
  ft.argwhere([0, 1])
  // @ts-expect-error: a function only
  f32.nonzero()
  // @ts-expect-error: an array for a tensor
  ft.digitize(f32, [0, 1])
  // @ts-expect-error: complex numbers have no order
  ft.digitize(c64, f32)
  // @ts-expect-error: no such option
  ft.digitize(f32, f32, { side: 'right' })
  // @ts-expect-error: floats are not counted
  ft.bincount(f32)
  // @ts-expect-error: bool is no integer dtype
  ft.bincount(bool)
  // @ts-expect-error: an array for a tensor
  ft.bincount(u8, { weights: [1] })
  // @ts-expect-error: bool is no numeric dtype
  ft.bincount(u8, { weights: bool })
  // @ts-expect-error: no such option
  ft.bincount(u8, { minLength: 3 })
  // @ts-expect-error: complex numbers have no order
  ft.histogram(c64)
  // @ts-expect-error: options are an object
  ft.histogram(f32, 10)
  // @ts-expect-error: no such bins
  ft.histogram(f32, { bins: 'auto' })
  // @ts-expect-error: complex numbers have no order
  ft.histogram(f32, { bins: c64 })
  // @ts-expect-error: a range is a pair
  ft.histogram(f32, { range: [0, 1, 2] })
  // @ts-expect-error: a text for a boolean
  ft.histogram(f32, { density: 'true' })
  // @ts-expect-error: no such option
  ft.histogramBinEdges(f32, { weights: f32 })
  // @ts-expect-error: the weights are float64
  ft.histogram(f32, { weights: f64 }).hist satisfies ft.Tensor<'int32'>
}
