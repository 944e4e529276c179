// Shapes, lists, pieces, windows and products of tensors.

import * as ft from 'ferrotensor'
import { dtype, is } from '../expectations.js'
import { bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, c64, c128, wide, square, image } from '../operands.js'

export function results(): void {
  dtype('bool', ft.diagEmbed(bool))
  dtype('complex64', ft.diagEmbed(c64, { offset: -1, axes: [0, 1] }))
  // Views keep the dtype.
  dtype('bfloat16', ft.reshape(bf16, [2, -1]))
  dtype('uint8', u8.reshape([2, 2]))
  dtype('complex64', ft.permuteDims(square(c64), [1, 0]))
  dtype('int8', i8.permuteDims([0]))
  dtype('bool', ft.matrixTranspose(square(bool)))
  dtype('float16', square(f16).matrixTranspose())
  dtype('float32', ft.expandDims(f32))
  dtype('int64', i64.expandDims(-1))
  dtype('uint16', ft.squeeze(image(u16)))
  dtype('float64', image(f64).squeeze([0, 1]))
  dtype('complex128', ft.flip(c128))
  dtype('int16', i16.flip({ axis: 0 }))
  dtype('float32', ft.fliplr(square(f32)))
  dtype('bool', square(bool).fliplr())
  dtype('complex64', ft.flipud(c64))
  dtype('uint8', u8.flipud())
  dtype('int8', ft.atleast1d(i8))
  dtype('float16', f16.atleast1d())
  dtype('int64', ft.atleast2d(i64))
  dtype('complex128', c128.atleast2d())
  dtype('bfloat16', ft.atleast3d(bf16))
  dtype('uint32', u32.atleast3d())
  dtype('float64', ft.unfold(f64, 0, 2))
  dtype('int32', i32.unfold(0, 2, { step: 2 }))
  dtype('bool', ft.broadcastTo(bool, [3, 4]))
  dtype('float32', f32.broadcastTo([2, 4]))
  dtype('int32', ft.moveaxis(square(i32), 0, 1))
  dtype('uint32', square(u32).moveaxis([0, 1], [1, 0]))
  dtype('float64', ft.swapaxes(square(f64), 0, 1))
  dtype('bfloat16', square(bf16).swapaxes(0, -1))
  dtype('complex64', ft.rot90(square(c64)))
  dtype('uint8', square(u8).rot90({ k: 2, axes: [0, 1] }))
  dtype('int8', ft.flatten(square(i8)))
  dtype('bool', square(bool).flatten({ startAxis: 0, endAxis: 1 }))
  dtype('float16', ft.diagonal(square(f16)))
  dtype('int64', square(i64).diagonal({ offset: 1 }))
  dtype('float32', square(f32).T)
  dtype('complex128', square(c128).mT)
  // Copies keep it too.
  dtype('uint64', ft.roll(u64, 1))
  dtype('float32', f32.roll([1], { axis: 0 }))
  dtype('bool', ft.tile(bool, [2]))
  dtype('complex64', c64.tile([2, 1]))
  dtype('int8', ft.repeat(i8, 2))
  dtype('bfloat16', bf16.repeat(3, 0))
  dtype('uint16', ft.pad(u16, 1))
  dtype('float64', f64.pad([[1, 2]], { mode: 'edge' }))
  dtype('int32', i32.pad(1, { mode: 'constant', value: 7 }))
  dtype('float16', ft.diag(f16))
  dtype('uint8', square(u8).diag({ k: 1 }))
  dtype('bool', ft.tril(square(bool), { k: -1 }))
  dtype('int8', square(i8).tril())
  dtype('complex64', ft.triu(square(c64)))
  dtype('float32', square(f32).triu({ k: 1 }))
  // Lists of tensors: promoted one after the other.
  dtype('int16', ft.concat([i8, u8]))
  dtype('float32', ft.concat([bool, f16, bf16], { axis: 0 }))
  dtype('complex64', ft.concat([c64]))
  dtype('int32', ft.stack([u8, u16, i8]))
  dtype('float64', ft.stack([f32, f64], 0))
  dtype('int16', ft.hstack([i8, u8]))
  dtype('float32', ft.vstack([f16, bf16]))
  dtype('complex128', ft.dstack([c64, f64]))
  dtype('int64', ft.columnStack([i32, u32]))
  dtype('int32', ft.einsum('i,i->', i8, u8))
  dtype('complex64', ft.einsum('i->i', c64))
  dtype('float32', ft.einsum('i,j,k', f16, f32, i64))
  // Pieces; several tensors keep a dtype each.
  dtype(['int8', 'int8'], ft.split(i8, 2))
  dtype(['float32', 'float32', 'float32'], ft.split(f32, [1, 3], { axis: 0 }))
  dtype(['complex64', 'complex64', 'complex64'], ft.arraySplit(c64, 3))
  dtype('bool', ft.chunk(bool, 2, 0))
  dtype('uint16', ft.unstack(u16))
  dtype(['float32', 'uint8'], ft.meshgrid(f32, u8, { indexing: 'ij' }))
  dtype(['complex64', 'bool', 'int8'], ft.meshgrid(c64, bool, i8))
  dtype(['float32', 'int8'], ft.meshgrid([1, 2], i8))
  dtype(['float32', 'float32'], ft.meshgrid([1, 2], [3], { indexing: 'ij' }))
  dtype(['int8', 'float16'], ft.broadcastArrays(i8, f16))
  // Windows.
  dtype('int8', ft.windowSum(i8, 2))
  dtype('complex64', c64.windowSum([2], { stride: 2, padding: 'same' }))
  dtype('uint8', ft.windowProd(u8, 2))
  dtype('float16', f16.windowProd(2, { dilation: [2] }))
  dtype('bfloat16', ft.windowMin(bf16, 2))
  dtype('int32', i32.windowMin(2, { padding: [[1, 0]] }))
  dtype('float64', ft.windowMax(f64, 2))
  dtype('uint16', u16.windowMax(2))
  dtype('int16', ft.windowScatterMax(i8, u8.at('1:'), 2))
  dtype('float64', f32.windowScatterMax(f64.at('1:'), 2, { initial: 1 }))
  dtype('float16', ft.windowScatterMin(f16, f16.at('1:'), 2))
  dtype('int16', u8.windowScatterMin(i8, 2, { padding: 'same' }))
  // Products.
  dtype('int32', ft.matmul(square(i8), square(u8)))
  dtype('complex64', f32.matmul(c64))
  dtype('float32', ft.tensordot(f16, bf16, { axes: 1 }))
  dtype('float64', square(i8).tensordot(square(f64), { axes: [[0], [1]] }))
  dtype('complex128', ft.vecdot(c64, f64))
  dtype('uint32', u8.vecdot(u16, 0))
  dtype('float32', ft.cross(f32.at('1:'), i8.at('1:')))
  dtype('uint8', u8.at('1:').cross(u8.at('1:'), { axis: 0 }))
  dtype('int16', ft.outer(i8, i16))
  dtype('float64', f64.outer(u8))
  dtype('bfloat16', ft.inner(bf16, bf16))
  dtype('complex128', c128.inner(f32))
  dtype('float16', ft.kron(i64, f16))
  dtype('int64', u32.kron(i8))
  dtype('float64', ft.convolve(f32, f64, { mode: 'same' }))
  dtype('int32', u8.convolve(i8))
  dtype('complex64', ft.correlate(c64, f32, { mode: 'full' }))
  dtype('int32', i16.correlate(i16))
  // Lists of unknown length.
  const list: ft.Tensor<'int8'>[] = [i8, i8]
  const mixed: (ft.Tensor<'int8'> | ft.Tensor<'uint8'>)[] = [i8, u8]
  dtype('int8', ft.concat(list))
  dtype('int8', ft.stack([i8, ...list]))
  dtype('int32', ft.einsum('i,i', ...list))
  dtype('int16' as 'int8' | 'uint8' | 'int16', ft.concat(mixed))
  dtype('float32' as ft.DType, ft.stack([wide, wide]))
}

/** Compiled, never called. */
export function compiled(): void {
  is<readonly number[]>()(ft.broadcastShapes([2, 1], [3]))
  is<[ft.Tensor<'float32'>, ft.Tensor<'uint8'>]>()(ft.meshgrid(f32, u8))
  is<[ft.Tensor<'int8'>, ft.Tensor<'int8'>]>()(ft.split(i8, 2))
  is<[ft.Tensor<'int8'>, ft.Tensor<'int8'>, ft.Tensor<'int8'>]>()(ft.split(i8, [1, 3]))
  is<[ft.Tensor<'float32'>]>()(ft.arraySplit(f32, 1))
  is<ft.Tensor<'int8'>[]>()(ft.split(i8, i8.size))
  is<ft.Tensor<'int8'>[]>()(ft.arraySplit(i8, 17))
  is<[ft.random.Key, ft.random.Key]>()(ft.random.split(ft.random.key(0)))
  is<[ft.random.Key, ft.random.Key, ft.random.Key]>()(ft.random.split(ft.random.key(0), 3))
  is<ft.random.Key[]>()(ft.random.split(ft.random.key(0), i8.size))
  dtype('int64' as ft.NoCommonDType, ft.concat([u64, i8]))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: the shape is missing
  f32.reshape()
  // @ts-expect-error: sizes of a function are one array
  ft.reshape(f32, 2, 2)
  // @ts-expect-error: texts for sizes
  f32.reshape(['2', '2'])
  // @ts-expect-error: text for a tensor
  ft.reshape('x', [2])
  // @ts-expect-error: bigints for sizes
  f32.reshape([2n, 2n])
  // @ts-expect-error: the axes are missing
  f32.permuteDims()
  // @ts-expect-error: a text for axes
  f32.permuteDims('reverse')
  // @ts-expect-error: the axes are missing
  f32.moveaxis()
  // @ts-expect-error: the destination is missing
  f32.moveaxis(0)
  // @ts-expect-error: the other axis is missing
  f32.swapaxes(0)
  // @ts-expect-error: texts for axes
  f32.swapaxes('0', '1')
  // @ts-expect-error: texts for axes
  f32.expandDims(['0', '1'])
  // @ts-expect-error: no options
  f32.squeeze({ axis: '0' })
  // @ts-expect-error: no such option
  f32.flip({ axes: 0 })
  // @ts-expect-error: no options
  f32.fliplr({ axis: 0 })
  // @ts-expect-error: the tensor is missing
  ft.flipud()
  // @ts-expect-error: text for a tensor
  ft.atleast1d('x')
  // @ts-expect-error: a number for a tensor
  ft.atleast2d(1)
  // @ts-expect-error: one tensor alone
  ft.atleast3d(f32, f32)
  // @ts-expect-error: the size is missing
  f32.unfold(0)
  // @ts-expect-error: options are an object
  f32.unfold(0, 2, 1)
  // @ts-expect-error: options are an object
  f32.rot90(1)
  // @ts-expect-error: no such option
  f32.rot90({ times: 2 })
  // @ts-expect-error: sizes are an array
  f32.broadcastTo(4)
  // @ts-expect-error: the shape is missing
  f32.broadcastTo()
  // @ts-expect-error: no such option
  f32.flatten({ start: 0 })
  // @ts-expect-error: options are an object
  f32.diagonal(1)
  // @ts-expect-error: no such method, and its type says what to write
  f32.split(2)
  // @ts-expect-error: the dtype stays
  f32.T satisfies ft.Tensor<'float64'>
  // @ts-expect-error: a property
  f32.mT()
  // @ts-expect-error: the shift is missing
  f32.roll()
  // @ts-expect-error: repetitions are one array
  f32.tile(2, 3)
  // @ts-expect-error: the repetitions are missing
  f32.tile()
  // @ts-expect-error: a text for a number
  f32.repeat('2')
  // @ts-expect-error: texts for counts
  f32.repeat(['1', '2'])
  // @ts-expect-error: the width is missing
  f32.pad()
  // @ts-expect-error: no such mode
  f32.pad(1, { mode: 'same' })
  // @ts-expect-error: widths are pairs
  f32.pad([1, 1])
  // @ts-expect-error: widths are pairs
  f32.pad([[1, 1, 1]])
  // @ts-expect-error: no such option
  f32.pad(1, { constant: 0 })
  // @ts-expect-error: options are an object
  f32.pad(1, 'edge')
  // @ts-expect-error: no such option
  f32.diag({ offset: 1 })
  // @ts-expect-error: options are an object
  f32.tril(1)
  // @ts-expect-error: a text for a number
  f32.triu({ k: '1' })
  // @ts-expect-error: tensors are one array
  ft.concat(f32, f32)
  // @ts-expect-error: the tensors are missing
  ft.concat()
  // @ts-expect-error: an array for a tensor
  ft.concat([f32, [1]])
  // @ts-expect-error: a text for an axis
  ft.concat([f32], { axis: '0' })
  // @ts-expect-error: a number for a tensor
  ft.stack([f32, 1])
  // @ts-expect-error: tensors are one array
  ft.hstack(f32, f32)
  // @ts-expect-error: no options
  ft.vstack([f32], { axis: 0 })
  // @ts-expect-error: an array for a tensor
  ft.dstack([f32, [1]])
  // @ts-expect-error: the tensors are missing
  ft.columnStack()
  // @ts-expect-error: a record for a list
  ft.stack({ a: f32 })
  // @ts-expect-error: a function only
  f32.concat(f32)
  // @ts-expect-error: the result is float64
  ft.concat([i8, f64]) satisfies ft.Tensor<'int8'>
  // @ts-expect-error: tensors are not one array
  ft.einsum('ij,jk', [f32, f32])
  // @ts-expect-error: the equation stands first
  ft.einsum(f32, 'i')
  // @ts-expect-error: bool is no numeric dtype
  ft.einsum('i,i', f32, bool)
  // @ts-expect-error: a number for a tensor
  ft.einsum('i', 1)
  // @ts-expect-error: the equation is missing
  ft.einsum()
  // @ts-expect-error: the sections are missing
  ft.split(f32)
  // @ts-expect-error: a text for a number
  ft.split(f32, '2')
  // @ts-expect-error: no such option
  ft.split(f32, 2, { dim: 0 })
  // @ts-expect-error: one axis alone
  ft.arraySplit(f32, [0.5], [0])
  // @ts-expect-error: one number of pieces
  ft.chunk(f32, [1, 2])
  // @ts-expect-error: one axis alone
  ft.unstack(f32, { axis: [0] })
  // @ts-expect-error: an array for a tensor
  ft.unstack([f32])
  // @ts-expect-error: no such indexing
  ft.meshgrid(f32, { indexing: 'yx' })
  // @ts-expect-error: tensors are not one array
  ft.meshgrid([f32, f32])
  // @ts-expect-error: no such option
  ft.meshgrid(f32, { sparse: true })
  // @ts-expect-error: a number for a tensor
  ft.broadcastArrays(f32, 1)
  // @ts-expect-error: shapes are arrays
  ft.broadcastShapes([2], 2)
  // @ts-expect-error: the window is missing
  f32.windowSum()
  // @ts-expect-error: bool is no numeric dtype
  bool.windowSum(2)
  // @ts-expect-error: no such option
  f32.windowSum(2, { strides: 2 })
  // @ts-expect-error: no such padding
  f32.windowSum(2, { padding: 'full' })
  // @ts-expect-error: a text for a number
  f32.windowProd('2')
  // @ts-expect-error: complex numbers have no order
  c64.windowMax(2)
  // @ts-expect-error: bool is no numeric dtype
  bool.windowMin(2)
  // @ts-expect-error: paddings are pairs
  f32.windowMax(2, { padding: [[1]] })
  // @ts-expect-error: the source is missing
  f32.windowScatterMax(2)
  // @ts-expect-error: complex numbers have no order
  c64.windowScatterMin(c64, 2)
  // @ts-expect-error: no such option
  f32.windowScatterMax(f32, 2, { dilation: 2 })
  // @ts-expect-error: a number for a tensor
  f32.matmul(2)
  // @ts-expect-error: the other matrix is missing
  f32.matmul()
  // @ts-expect-error: bool is no numeric dtype
  f32.matmul(bool)
  // @ts-expect-error: bool is no numeric dtype
  bool.matmul(f32)
  // @ts-expect-error: options are an object
  f32.tensordot(f32, 1)
  // @ts-expect-error: axes are two lists
  f32.tensordot(f32, { axes: [0, 1] })
  // @ts-expect-error: an array for a tensor
  f32.vecdot([1, 2])
  // @ts-expect-error: bool is no numeric dtype
  bool.cross(bool)
  // @ts-expect-error: a number for a tensor
  f32.outer(1)
  // @ts-expect-error: bool is no numeric dtype
  ft.inner(f32, bool)
  // @ts-expect-error: the other tensor is missing
  ft.kron(f32)
  // @ts-expect-error: no such mode
  f32.convolve(f32, { mode: 'reflect' })
  // @ts-expect-error: options are an object
  f32.convolve(f32, 1)
  // @ts-expect-error: bool is no numeric dtype
  bool.correlate(f32)
  // @ts-expect-error: options are an object
  f32.correlate(f32, 'full')
  // @ts-expect-error: no such method, and its type says what to write
  f32.indexReduce(1)
}
