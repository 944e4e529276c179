// What the types of the surface promise: `is<T>()(value)` compiles only where the type of `value` is exactly `T`.

import * as ft from 'ferrotensor'
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function is<T>() { return <U>(value: U, ..._proof: Same<T, U> extends true ? [] : [expected: T]): void => void value }
const f32 = ft.tensor([[1, 2], [3, 4]])
is<ft.Tensor<'float32'>>()(f32)
is<ft.Tensor<'int64'>>()(ft.tensor([1n, 2n]))
is<ft.Tensor<'bool'>>()(ft.tensor([[true], [false]]))
is<ft.Tensor<'bool'>>()(ft.tensor(true))
is<ft.Tensor<'complex64'>>()(ft.tensor([{ re: 1, im: 2 }]))
is<ft.Tensor<'float32'>>()(ft.tensor([]))
is<ft.Tensor<'float32'>>()(ft.tensor(3))
is<ft.Tensor<'int8'>>()(ft.tensor([1], { dtype: 'int8' }))
is<ft.Tensor<'float64'>>()(ft.tensor(new Float64Array(3)))
is<ft.Tensor<'uint8'>>()(ft.fromTypedArray(new Uint8Array(3), [3]))
is<ft.Tensor<'bfloat16'>>()(ft.fromTypedArray(new Uint16Array(3), [3], { dtype: 'bfloat16' }))
is<ft.Tensor<'float32'>>()(f32.add(1))
is<ft.Tensor<'float32'>>()(f32.add(1n))
const i32 = ft.tensor([1], { dtype: 'int32' }), u8 = ft.tensor(new Uint8Array(1)), i8 = ft.tensor(new Int8Array(1))
is<ft.Tensor<'int32'>>()(i32.add(1))
is<ft.Tensor<'float32'>>()(i32.div(2))
is<ft.Tensor<'int16'>>()(u8.add(i8))
is<ft.Tensor<'float32'>>()(i32.add(f32))
is<ft.Tensor<'int32'>>()(ft.add(1, i32))
is<ft.Tensor<'int16'>>()(ft.add(u8, i8))
is<ft.Tensor<'int32'>>()(i8.sum())
is<ft.Tensor<'int32'>>()(i8.sum(0))
is<ft.Tensor<'int32'>>()(i8.sum({ axis: [0], keepdims: true }))
is<ft.Tensor<'float64'>>()(i8.sum({ dtype: 'float64' }))
is<ft.Tensor<'int8'>>()(f32.astype('int8'))
is<ft.Tensor<'bool'>>()(f32.equal(1))
is<ft.Tensor<'float32'>>()(f32.clip(0))
is<ft.Tensor<'float64'>>()(f32.clip(0, new Object() as ft.Tensor<'float64'>))
is<ft.Tensor<'float32'>>()(ft.where(f32.equal(1), 1, 2))
is<ft.Tensor<'int8'>>()(ft.where(f32.equal(1), i8, 2))
is<ft.Tensor<'float32'>>()(f32.clip(undefined, 3))
is<ft.Tensor<'int32'>>()(f32.topk(1).indices)
is<ft.Tensor<'float32'>>()(f32.topk(1).values)
is<ft.Tensor<'bool'>>()(ft.full([2], true))
is<ft.Tensor<'int64'>>()(ft.full([2], 1n))
is<ft.Tensor<'float32'>>()(ft.full([2], 1))
is<ft.Tensor<'int8'>>()(ft.full([2], 1, { dtype: 'int8' }))
is<ft.Tensor<'complex64'>>()(ft.fft.fft(f32))
is<ft.Tensor<'int32'>>()(ft.arange(3, { dtype: 'int32' }))
is<ft.Tensor<'float32'>>()(ft.arange(3))
is<ft.Tensor<'float64'>>()(ft.zerosLike(f32, { dtype: 'float64' }))
is<ft.Tensor<'float32'>>()(ft.zerosLike(f32))
is<ft.Tensor<'int16' | 'uint8' | 'int8'>>()(ft.concat([u8, i8]))
is<ft.Tensor<'float32'>>()(f32.at(0, ':', null, ft.slice(1)))
const anyT: ft.Tensor = f32
is<ft.Tensor>()(anyT.add(1))
const maybe = f32 as ft.Tensor<'float32'> | number
is<ft.Tensor<'int32'> | ft.Tensor<'float32'>>()(i32.add(maybe) as ft.Tensor<'int32'> | ft.Tensor<'float32'>)
function generic<D extends ft.DType>(x: ft.Tensor<D>): ft.Tensor<D> { return x.add(1) }
generic(f32)
for (const row of f32) is<ft.Tensor<'float32'>>()(row)
const u64 = ft.tensor([1n], { dtype: 'uint64' })
is<ft.Tensor<ft.NoCommonDType>>()(u64.add(i32))
// @ts-expect-error: no dtype holds both
const mixed: ft.Tensor<'int64'> = u64.add(i32)
// @ts-expect-error: no dtype holds both
const read: BigUint64Array = ft.where(f32.equal(1), i32, u64).dataSync()
// @ts-expect-error
ft.tensor([1, 2n])
// @ts-expect-error
f32.add('1')
// @ts-expect-error
f32.sum({ axes: 0 })
// @ts-expect-error
f32.astype('float')
// @ts-expect-error
const wrong: ft.Tensor<'int8'> = f32
// @ts-expect-error
f32.reshape()
const [gx, gy] = ft.meshgrid(f32, u8, { indexing: 'ij' })
is<ft.Tensor<'float32'>>()(gx)
is<ft.Tensor<'uint8'>>()(gy)
is<ft.Tensor<'float64'>>()(ft.logspace(0, 1, 2, { dtype: 'float64', base: 2 }))
is<ft.Tensor<'int32'>>()(ft.random.randint(ft.random.key(0), 0, 2, [1]))
is<ft.Tensor<'uint8'>>()(ft.random.generator(0).randint(0, 2, [1], { dtype: 'uint8' }))
is<ft.Tensor<'uint8'>>()(u8.tril({ k: 1 }))
is<Promise<ft.Tensor>>()(ft.io.loadNpy('x.npy', { mapped: false }))
is<Promise<Record<string, ft.Tensor>>>()(ft.io.loadNpz(new Uint8Array(1), { names: ['a'] }))
is<Promise<ft.Tensor<'float32'>>>()(ft.io.loadText('x.csv'))
is<ft.Tensor<'int8'>>()(ft.io.loadTextSync('x.csv', { dtype: 'int8', comments: null }))
is<Promise<void>>()(ft.io.saveNpz('x.npz', { f32, u8 }, { compressed: true }))
is<Uint8Array>()(ft.io.encodeSafetensorsSync({ f32 }, { metadata: { a: 'b' } }))
is<ft.DType | null>()(ft.io.openSafetensorsSync('x.safetensors').info('a').dtype)
// @ts-expect-error
ft.io.saveNpy('x.npy', [1, 2])
// @ts-expect-error
ft.io.saveNpz('x.npz', f32)
// @ts-expect-error
ft.io.loadNpy('x.npy', { names: ['a'] })
// @ts-expect-error
ft.random.randint(ft.random.key(0), 0, 2, [1], { dtype: 'float32' })
// @ts-expect-error
ft.meshgrid(f32, { indexing: 'yx' })
