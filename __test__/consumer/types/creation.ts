// Tensors from data, by a rule, and like others.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, u64, f16, bf16, f32, c64, wide } from '../operands.js'

export function results(): void {
  dtype('float32', ft.full([2], [1, 2]))
  // By the data: numbers, bigints, booleans, complex numbers, typed arrays.
  dtype('float32', ft.tensor(3))
  dtype('float32', ft.tensor([]))
  dtype('float32', ft.tensor([[1, 2], [3, 4]]))
  dtype('int64', ft.tensor([1n, 2n]))
  dtype('bool', ft.tensor(true))
  dtype('bool', ft.tensor([[true], [false]]))
  dtype('complex64', ft.tensor([{ re: 1, im: 2 }]))
  dtype('int8', ft.tensor(new Int8Array(3)))
  dtype('uint8', ft.tensor(new Uint8Array(3)))
  dtype('uint8', ft.tensor(new Uint8ClampedArray(3)))
  dtype('int16', ft.tensor(new Int16Array(3)))
  dtype('uint16', ft.tensor(new Uint16Array(3)))
  dtype('int32', ft.tensor(new Int32Array(3)))
  dtype('uint32', ft.tensor(new Uint32Array(3)))
  dtype('int64', ft.tensor(new BigInt64Array(3)))
  dtype('uint64', ft.tensor(new BigUint64Array(3)))
  dtype('float32', ft.tensor(new Float32Array(3)))
  dtype('float64', ft.tensor(new Float64Array(3)))
  // Unless another dtype is named.
  dtype('int8', ft.tensor([1], { dtype: 'int8' }))
  dtype('bool', ft.tensor(new Float64Array(4), { dtype: 'bool', shape: [2, 2] }))
  dtype('uint8', ft.fromTypedArray(new Uint8Array(3), [3]))
  dtype('bfloat16', ft.fromTypedArray(new Uint16Array(3), undefined, { dtype: 'bfloat16' }))
  dtype('complex64', ft.fromTypedArray(new ArrayBuffer(8), [1], { dtype: 'complex64' }))
  dtype('int64', ft.fromTypedArray(new DataView(new ArrayBuffer(8)), [1], { dtype: 'int64', device: 'cpu' }))
  dtype('int8', ft.asarray(i8))
  dtype('float16', ft.asarray(i8, { dtype: 'float16' }))
  dtype('int64', ft.asarray([1n]))
  dtype('uint8', ft.asarray([1, 2], { dtype: 'uint8' }))
  // float32 unless told otherwise.
  dtype('float32', ft.zeros([2]))
  dtype('complex128', ft.zeros([2], { dtype: 'complex128', device: 'cpu' }))
  dtype('float32', ft.ones([2]))
  dtype('bool', ft.ones([2], { dtype: 'bool' }))
  dtype('float32', ft.empty([2]))
  dtype('uint64', ft.empty([2], { dtype: 'uint64' }))
  dtype('float32', ft.eye(2))
  dtype('int16', ft.eye(2, { dtype: 'int16', cols: 3, k: 1 }))
  dtype('float32', ft.arange(3))
  dtype('int32', ft.arange(0, 3, { dtype: 'int32' }))
  dtype('bfloat16', ft.arange(0, 3, 1, { dtype: 'bfloat16' }))
  dtype('int64', ft.arange(3n))
  dtype('uint8', ft.arange(0n, 3n, 1n, { dtype: 'uint8' }))
  dtype('float32', ft.linspace(0, 1, 3))
  dtype('float16', ft.linspace(0, 1, 3, { endpoint: false, dtype: 'float16' }))
  dtype('float32', ft.logspace(0, 1, 2))
  dtype('float64', ft.logspace(0, 1, 2, { base: 2, dtype: 'float64' }))
  // By the value.
  dtype('float32', ft.full([2], 1))
  dtype('int64', ft.full([2], 1n))
  dtype('bool', ft.full([2], true))
  dtype('float16', ft.full([2], f16.at(0)))
  dtype('int8', ft.full([2], 1, { dtype: 'int8' }))
  dtype('bool', ft.full([2], true, { dtype: 'bool' }))
  // As another tensor.
  dtype('bfloat16', ft.zerosLike(bf16))
  dtype('float64', ft.zerosLike(f32, { dtype: 'float64' }))
  dtype('bool', ft.onesLike(bool))
  dtype('int8', ft.onesLike(c64, { dtype: 'int8' }))
  dtype('uint64', ft.emptyLike(u64))
  dtype('float32', ft.emptyLike(f32, { device: 'cpu' }))
  dtype('int8', ft.fullLike(i8, 3))
  dtype('bool', ft.fullLike(bool, true))
  dtype('float16', ft.fullLike(bool, 1, { dtype: 'float16' }))
}

/** Compiled, never called. */
export function compiled(): void {
  // What only a run knows.
  dtype('float32' as 'float32' | 'bool', ft.full([2], 1 as number | boolean))
  dtype('int8' as ft.DType, ft.zeros([2], { dtype: 'int8' as ft.DType }))
  dtype('float32' as ft.DType, ft.zerosLike(wide))
  dtype('int8' as ft.DType, ft.tensor([1, 2], { dtype: undefined }))
  dtype('float32' as 'float32' | 'int64', ft.tensor([] as readonly number[] | readonly bigint[]))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: a text for data
  ft.tensor('1')
  // @ts-expect-error: the data are missing
  ft.tensor()
  // @ts-expect-error: numbers and bigints
  ft.tensor([1, 2n])
  // @ts-expect-error: numbers and booleans
  ft.tensor([1, true])
  // @ts-expect-error: texts for numbers
  ft.tensor(['1'])
  // @ts-expect-error: the imaginary part is missing
  ft.tensor([{ re: 1 }])
  // @ts-expect-error: null for data
  ft.tensor(null)
  // @ts-expect-error: an object for data
  ft.tensor({ length: 2 })
  // @ts-expect-error: bytes have no dtype
  ft.tensor(new DataView(new ArrayBuffer(8)))
  // @ts-expect-error: bytes have no dtype
  ft.tensor(new ArrayBuffer(8))
  // @ts-expect-error: options are an object
  ft.tensor([1], 'int8')
  // @ts-expect-error: no such dtype
  ft.tensor([1], { dtype: 'int' })
  // @ts-expect-error: no such option
  ft.tensor([1], { type: 'int8' })
  // @ts-expect-error: sizes are an array
  ft.tensor([1], { shape: 1 })
  // @ts-expect-error: devices have names
  ft.tensor([1], { device: 0 })
  // @ts-expect-error: not made with new
  new ft.Tensor([1, 2])
  // @ts-expect-error: an array for a typed one
  ft.fromTypedArray([1, 2])
  // @ts-expect-error: bytes need a dtype
  ft.fromTypedArray(new ArrayBuffer(8), [1])
  // @ts-expect-error: sizes are an array
  ft.fromTypedArray(new Uint8Array(3), 3)
  // @ts-expect-error: options are an object
  ft.fromTypedArray(new Uint8Array(3), [3], 'bool')
  // @ts-expect-error: bytes need a dtype
  ft.fromTypedArray(new ArrayBuffer(8), [1], { device: 'cpu' })
  // @ts-expect-error: a text for data
  ft.asarray('1')
  // @ts-expect-error: no such dtype
  ft.asarray(i8, { dtype: 'float' })
  // @ts-expect-error: no such option
  ft.asarray([1], { shape: [1] })
  // @ts-expect-error: sizes are an array
  ft.zeros(2)
  // @ts-expect-error: sizes are one array
  ft.zeros(2, 3)
  // @ts-expect-error: the shape is missing
  ft.zeros()
  // @ts-expect-error: a text for a size
  ft.zeros(['2'])
  // @ts-expect-error: no such dtype
  ft.zeros([2], { dtype: 'float' })
  // @ts-expect-error: options are an object
  ft.ones([2], 'float64')
  // @ts-expect-error: a bigint for a size
  ft.ones([2n])
  // @ts-expect-error: no such option
  ft.empty([2], { order: 1 })
  // @ts-expect-error: one number of rows
  ft.eye([2, 2])
  // @ts-expect-error: options are an object
  ft.eye(2, 3)
  // @ts-expect-error: no such option
  ft.eye(2, { M: 3 })
  // @ts-expect-error: the value is missing
  ft.full([2])
  // @ts-expect-error: a text for a value
  ft.full([2], '1')
  // @ts-expect-error: texts for a value
  ft.full([2], ['1', '2'])
  // @ts-expect-error: a number for bool
  ft.full([2], 1, { dtype: 'bool' })
  // @ts-expect-error: the shape stands first
  ft.full(1, [2])
  // @ts-expect-error: the end is missing
  ft.arange()
  // @ts-expect-error: a text for a number
  ft.arange('3')
  // @ts-expect-error: a number among bigints
  ft.arange(0n, 3)
  // @ts-expect-error: options are an object
  ft.arange(0, 3, 1, 'int32')
  // @ts-expect-error: no such option
  ft.arange(0, 3, { step: 1 })
  // @ts-expect-error: the number is missing
  ft.linspace(0, 1)
  // @ts-expect-error: the number is missing
  ft.linspace(0, 1, { num: 3 })
  // @ts-expect-error: no such option
  ft.linspace(0, 1, 3, { base: 2 })
  // @ts-expect-error: a text for a boolean
  ft.linspace(0, 1, 3, { endpoint: 'yes' })
  // @ts-expect-error: a tensor for a number
  ft.linspace(f32, 1, 3)
  // @ts-expect-error: a text for a number
  ft.logspace(0, 1, 2, { base: '2' })
  // @ts-expect-error: an array for a tensor
  ft.zerosLike([1, 2])
  // @ts-expect-error: the tensor is missing
  ft.onesLike()
  // @ts-expect-error: options are an object
  ft.emptyLike(f32, 'int8')
  // @ts-expect-error: the value is missing
  ft.fullLike(f32)
  // @ts-expect-error: a number for bool
  ft.fullLike(bool, 1)
  // @ts-expect-error: a tensor for a value
  ft.fullLike(f32, f32)
  // @ts-expect-error: a number for bool
  ft.fullLike(f32, 1, { dtype: 'bool' })
  // @ts-expect-error: the result is float32
  ft.zeros([2]) satisfies ft.Tensor<'float64'>
  // @ts-expect-error: the result is float32
  ft.tensor([1]) satisfies ft.Tensor<'int8'>
  // @ts-expect-error: the result is float32
  ft.arange(3) satisfies ft.Tensor<'int32'>
  // @ts-expect-error: the result is int8
  ft.zerosLike(i8) satisfies ft.Tensor<'float32'>
  // @ts-expect-error: the result is int64
  ft.full([2], 1n) satisfies ft.Tensor<'float32'>
  // @ts-expect-error: the result is int8
  ft.asarray(i8) satisfies ft.Tensor<'int32'>
}
