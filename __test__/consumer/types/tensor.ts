// The tensor itself: what is read from it, dtypes as values and as bounds of generic code.

import * as ft from 'ferrotensor'
import { dtype, is } from '../expectations.js'
import { bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, c64, c128, wide, square } from '../operands.js'

/** Generic code compiles where its bound is within the class that an operation takes. */
function tripled<D extends ft.NumericDType>(x: ft.Tensor<D>): ft.Tensor<ft.Promote<D, D>> {
  return x.add(x.multiply(2)).subtract(0)
}

function positive<D extends ft.IntegerOrFloatDType>(x: ft.Tensor<D>): ft.Tensor<D> {
  return ft.clip(x.maximum(0), 0)
}

function ordered<D extends ft.RealDType>(x: ft.Tensor<D>): { values: ft.Tensor<D>; indices: ft.Tensor<'int32'> } {
  return x.sort().topk(1)
}

function normalised<D extends ft.FloatDType>(x: ft.Tensor<D>): ft.Tensor<ft.FloatOf<D>> {
  return x.exp()
}

function divisor<D extends ft.IntegerDType>(x: ft.Tensor<D>): ft.Tensor<ft.Promote<D, D>> {
  return ft.gcd(x, x)
}

function joined<D extends ft.DType>(x: ft.Tensor<D>, asked: D): ft.Tensor<D> {
  return x.at(0).reshape([1]).astype(asked).flip()
}

function totalled<D extends ft.DType>(x: ft.Tensor<D>): ft.Tensor<ft.SumOf<D>> {
  return x.sum()
}

export async function results(): Promise<void> {
  // Properties, and generic functions over them.
  dtype('float32', tripled(f32))
  dtype('complex64', tripled(c64))
  dtype('int8', positive(i8))
  dtype({ values: 'bool', indices: 'int32' }, ordered(bool))
  dtype('float16', normalised(f16))
  dtype('uint8', divisor(u8))
  dtype('bfloat16', joined(bf16, 'bfloat16'))
  dtype('uint32', totalled(u16))
  // A tensor is one of each dtype that its own is among.
  const both: ft.Tensor<'float32' | 'int8'> = f32
  dtype('float32' as 'float32' | 'int8', both)
  dtype('float32' as ft.DType, wide)
  dtype('float32' as 'float32' | 'int8', both.at(0))
  dtype('float32', f32.to('cpu'))
  dtype('float64', ft.fromShared(f64.share()))
  dtype('int8', ft.scope(() => i8))
  dtype({ a: 'int8', b: 'float32' }, ft.scope(() => ({ a: i8, b: f32 })))
  dtype('uint8', await ft.scopeAsync(async ({ track }) => track(u8.copy())))
  for (const row of square(i16)) dtype('int16', row)
  ft.evaluateSync(f32)
  await ft.evaluate(f32, i8)
}

/** Compiled, never called. */
export function compiled(): void {
  // What is read.
  is<'float32'>()(f32.dtype)
  is<ft.DType>()(wide.dtype)
  is<readonly number[]>()(f32.shape)
  is<number>()(f32.ndim)
  is<number>()(f32.size)
  is<string>()(f32.device)
  is<Promise<Float32Array>>()(f16.data())
  is<Float64Array>()(c128.dataSync())
  is<Uint8Array>()(bool.dataSync())
  is<BigUint64Array>()(u64.dataSync())
  is<Promise<number>>()(u32.item())
  is<ft.Complex>()(c64.itemSync())
  is<bigint>()(i64.itemSync())
  is<boolean>()(bool.itemSync())
  is<ft.NestedArray<number>>()(i32.toArray())
  is<number[]>()(i32.toArray(1))
  is<number[][]>()(ft.ones([2, 2]).toArray(2))
  is<Uint8Array>()(f32.toBytes())
  is<string>()(f32.toString())
  is<string>()(f32.toString({ precision: 3 }))
  is<void>()(ft.setPrintOptions(ft.getPrintOptions()))
  is<string>()(ft.array2string([1, 2], { threshold: 10, edgeitems: 2, linewidth: 60, separator: ' ', suppressSmall: true } satisfies ft.TextOptions))
  is<ft.TensorJSON<'float32'>>()(f32.toJSON())
  is<ft.SharedTensor<'float32'>>()(f32.share())
  is<void>()(f32.dispose())
  is<Promise<void>>()(ft.evaluate(f32))
  is<void>()(ft.evaluateSync())
  // Dtypes as values.
  is<ft.FInfo<'float16'>>()(ft.finfo('float16'))
  is<ft.FInfo<'float64'>>()(ft.finfo(c128))
  is<number>()(ft.iinfo('int8').max)
  is<bigint>()(ft.iinfo(u64).min)
  is<boolean>()(ft.isdtype('int8', ['integral', 'bool']))
  is<boolean>()(ft.issubdtype('int8', 'signedinteger' satisfies ft.ScalarKind))
  is<boolean>()(ft.issubdtype(f32, 'real floating'))
  is<boolean>()(ft.canCast(f32, 'float64'))
  is<'int16'>()(ft.resultType('int8', 'uint8', 2))
  is<'float64'>()(ft.resultType(f64, 'int8', true))
  is<'int64'>()(ft.resultType(1n, false))
  is<ft.DType>()(ft.resultType(...([f32] as ft.Tensor[])))
  is<ft.ArrayNamespaceInfo>()(ft.arrayNamespaceInfo())
  // The package.
  is<(ft.PresentDevice | ft.AbsentDevice)[]>()(ft.devices())
  is<void>()(ft.setDefaultDevice('cpu'))
  is<void>()(ft.setThreads(1))
  is<ft.MemoryInfo>()(ft.memory())
  is<void>()(ft.setMemoryLimit(2 ** 30))
  is<void>()(ft.trim())
  is<Required<ft.Config>>()(ft.config({ fusion: true }))
  is<void>()(ft.strict('warn'))
  is<ft.Stats>()(ft.stats())
  is<void>()(ft.resetStats())
  is<number>()(ft.pi)
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: read only
  f32.dtype = 0 as never
  // @ts-expect-error: read only
  f32.shape[0] = 1
  // @ts-expect-error: the dtype is float32
  f32.dtype satisfies 'float64'
  // @ts-expect-error: a number
  i8.itemSync() satisfies bigint
  // @ts-expect-error: a bigint
  i64.itemSync() satisfies number
  // @ts-expect-error: a complex number
  c64.itemSync() satisfies number
  // @ts-expect-error: a boolean
  bool.itemSync() satisfies number
  // @ts-expect-error: float64 elements
  f64.dataSync() satisfies Float32Array
  // @ts-expect-error: int64 elements
  i64.dataSync() satisfies BigUint64Array
  // @ts-expect-error: float16 is read as float32
  f16.dataSync() satisfies Uint16Array
  // @ts-expect-error: a promise
  f32.data() satisfies Float32Array
  // @ts-expect-error: a promise
  f32.item().toFixed()
  // @ts-expect-error: the dtype is float32
  f32.toJSON().dtype satisfies 'int8'
  // @ts-expect-error: devices have names
  f32.to(0)
  // @ts-expect-error: the device is missing
  f32.to()
  // @ts-expect-error: the dtype is float32
  f32.share().dtype satisfies 'int8'
  // @ts-expect-error: a tensor is no token
  ft.fromShared(f32)
  // @ts-expect-error: no operators
  f32 + 1
  // @ts-expect-error: no operators
  f32 * f32
  // @ts-expect-error: no operators
  -f32 satisfies ft.Tensor
  // @ts-expect-error: an array
  [...f32].length satisfies string
  // @ts-expect-error: another dtype
  f32 satisfies ft.Tensor<'int8'>
  // @ts-expect-error: only a run knows the dtype
  wide satisfies ft.Tensor<'float32'>
  // @ts-expect-error: none of these dtypes
  f32 satisfies ft.Tensor<'float64' | 'int8'>
  // @ts-expect-error: no floating dtype
  ft.finfo('int8')
  // @ts-expect-error: no floating dtype
  ft.finfo(bool)
  // @ts-expect-error: no integer dtype
  ft.iinfo('float32')
  // @ts-expect-error: no integer dtype
  ft.iinfo(c64)
  // @ts-expect-error: no such dtype
  ft.finfo('float')
  // @ts-expect-error: a number
  ft.iinfo('int8').max satisfies bigint
  // @ts-expect-error: no such kind
  ft.isdtype('int8', 'integer')
  // @ts-expect-error: no such kind
  ft.issubdtype('int8', 'whole')
  // @ts-expect-error: no such option
  ft.array2string(f32, { digits: 3 })
  // @ts-expect-error: a number for options
  f32.toString(3)
  // @ts-expect-error: a tensor for a dtype
  ft.isdtype(f32, 'real floating')
  // @ts-expect-error: a tensor for a dtype
  ft.canCast('int8', f32)
  // @ts-expect-error: the other dtype is missing
  ft.canCast('int8')
  // @ts-expect-error: no such dtype
  ft.resultType('int8', 'number')
  // @ts-expect-error: the result is float64
  ft.resultType(f32, f64) satisfies 'float32'
  // @ts-expect-error: an array for a tensor
  ft.resultType([f32])
  // @ts-expect-error: tensors are not one array
  ft.evaluate([f32])
  // @ts-expect-error: a number for a tensor
  ft.evaluateSync(1)
  // @ts-expect-error: a tensor for a function
  ft.scope(f32)
  // @ts-expect-error: no promise
  ft.scopeAsync(() => f32)
  // @ts-expect-error: the function gives float32
  ft.scope(() => f32) satisfies ft.Tensor<'int8'>
  // @ts-expect-error: no such word
  ft.strict('error')
  // @ts-expect-error: a boolean for a word
  ft.strict(true)
  // @ts-expect-error: no such setting
  ft.config({ fuse: true })
  // @ts-expect-error: a text for a number
  ft.config({ limit: '1' })
  // @ts-expect-error: devices have names
  ft.setDefaultDevice(0)
  // @ts-expect-error: a text for a number
  ft.setThreads('4')
  // @ts-expect-error: the limit is missing
  ft.setMemoryLimit()
  // @ts-expect-error: a text for a number
  ft.setMemoryLimit('1GB')
  // @ts-expect-error: no arguments
  ft.memory(true)
  // @ts-expect-error: read only
  ft.stats().programs = 0
  // @ts-expect-error: only of a device that is there
  ft.devices()[0]!.memory
  // @ts-expect-error: read only
  ft.pi = 3
}
