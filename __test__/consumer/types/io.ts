// Files: `ft.io`.

import * as ft from 'ferrotensor'
import { dtype, is } from '../expectations.js'
import { i8, u8, f32, f64, c64 } from '../operands.js'

export async function results(): Promise<void> {
  // Files carry dtypes that only a run knows.
  dtype('int8' as ft.DType, ft.io.loadNpySync(ft.io.encodeNpySync(i8)))
  dtype('float64' as ft.DType, await ft.io.loadNpy(await ft.io.encodeNpy(f64), { device: 'cpu', maxBytes: 1024 }))
  dtype('uint8' as ft.DType, await ft.io.openSafetensorsSync(ft.io.encodeSafetensorsSync({ u8 })).load('u8'))
  dtype('complex64' as ft.DType, ft.io.openSafetensorsSync(ft.io.encodeSafetensorsSync({ c64 })).loadSync('c64', { device: 'cpu' }))
  // Tables are float32 unless told otherwise.
  dtype('float32', ft.io.loadTextSync(ft.io.encodeTextSync(f64)))
  // Columns of tables are what `dtype` says, and a run knows the others.
  const table = ft.io.loadTableSync(ft.io.encodeTextSync(ft.ones([2, 3], { dtype: 'int8' }), { header: ['a', 'b', 'c'] }), { dtype: { a: 'int8', b: 'string' } })
  dtype('int8', table.a)
  dtype('float64', (await ft.io.loadTable(ft.io.encodeTextSync(f64, { header: ['a'] }), { dtype: 'float64', columns: ['a'] }))['a'] as ft.Tensor<'float64'>)
  dtype('int8', await ft.io.loadText(await ft.io.encodeText(i8), { dtype: 'int8', comments: null, skipRows: 0, header: false, delimiter: ',' }))
}

/** Compiled, never called. */
export function compiled(): void {
  is<Promise<ft.Tensor>>()(ft.io.loadNpy('x.npy', { mapped: false }))
  is<Promise<ft.Tensor[]>>()(ft.io.loadNpyAll('x.npy'))
  is<ft.Tensor[]>()(ft.io.loadNpyAllSync('x.npy', { maxBytes: 8 }))
  is<Promise<void>>()(ft.io.saveNpy(new URL('file:///x.npy'), f32))
  is<void>()(ft.io.saveNpySync('x.npy', f32))
  is<Promise<Uint8Array>>()(ft.io.encodeNpy(f32))
  is<Uint8Array>()(ft.io.encodeNpySync(f32))
  is<Promise<Record<string, ft.Tensor>>>()(ft.io.loadNpz(new Uint8Array(1), { names: ['a'] }))
  is<Record<string, ft.Tensor>>()(ft.io.loadNpzSync(new ArrayBuffer(1)))
  is<Promise<void>>()(ft.io.saveNpz('x.npz', { f32, u8 }, { compressed: true }))
  is<void>()(ft.io.saveNpzSync('x.npz', { f32 }))
  is<Promise<Uint8Array>>()(ft.io.encodeNpz({ f32 }))
  is<Uint8Array>()(ft.io.encodeNpzSync({ f32 }, { compressed: false }))
  is<Promise<Record<string, ft.Tensor>>>()(ft.io.loadSafetensors('x.safetensors'))
  is<Record<string, ft.Tensor>>()(ft.io.loadSafetensorsSync('x.safetensors', { names: ['a'], maxBytes: 8 }))
  is<Promise<void>>()(ft.io.saveSafetensors('x.safetensors', { f32 }, { metadata: { a: 'b' } }))
  is<void>()(ft.io.saveSafetensorsSync('x.safetensors', { f32 }))
  is<Promise<Uint8Array>>()(ft.io.encodeSafetensors({ f32 }))
  is<Uint8Array>()(ft.io.encodeSafetensorsSync({ f32 }, { metadata: { a: 'b' } }))
  is<Promise<ft.io.SafetensorsFile>>()(ft.io.openSafetensors('x.safetensors', { mapped: true }))
  const file = ft.io.openSafetensorsSync('x.safetensors')
  is<ft.io.SafetensorsFile>()(file)
  is<ft.DType | null>()(file.info('a').dtype)
  is<readonly string[]>()(file.names)
  is<Promise<ft.Tensor>>()(file.load('a'))
  is<void>()(file.close())
  is<Promise<ft.Tensor<'float32'>>>()(ft.io.loadText('x.csv'))
  is<ft.Tensor<'int8'>>()(ft.io.loadTextSync('x.csv', { dtype: 'int8', comments: null }))
  is<ft.Tensor<'int64'>>()(ft.io.loadTextSync('x.csv', { dtype: 'int64', delimiter: null, fillingValue: -1n, missingValues: ['NA'] }))
  is<ft.Tensor<'float32'>>()(ft.io.loadTextSync('x.csv', { header: true, columns: ['a', 'b'] }))
  is<Promise<ft.Tensor<'float32'>>>()(ft.io.loadText('x.csv', { columns: [0, -1] }))
  is<Promise<Record<string, ft.Tensor | string[]>>>()(ft.io.loadTable('x.csv', { delimiter: ';', header: false, missingValues: ['NA'] }))
  is<Record<string, ft.Tensor | string[]>>()(ft.io.loadTableSync('x.csv', { columns: [0, -1], comments: '#', fillingValue: 0, skipRows: 1 }))
  is<Record<string, string[]>>()(ft.io.loadTableSync('x.csv', { dtype: 'string' }))
  is<Promise<Record<string, ft.Tensor<'int32'>>>>()(ft.io.loadTable('x.csv', { dtype: 'int32', maxBytes: 8, mapped: false, device: 'cpu' }))
  const columns = ft.io.loadTableSync('x.csv', { dtype: { a: 'float64', b: 'string' } })
  is<ft.Tensor<'float64'>>()(columns.a)
  is<string[]>()(columns.b)
  is<Promise<void>>()(ft.io.saveText('x.csv', f32, { delimiter: ';' }))
  is<void>()(ft.io.saveTextSync('x.csv', f32, { header: ['a', 'b'] }))
  is<Promise<Uint8Array>>()(ft.io.encodeText(f32))
  is<Uint8Array>()(ft.io.encodeTextSync(f32))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: the source is missing
  ft.io.loadNpy()
  // @ts-expect-error: a number for a source
  ft.io.loadNpy(7)
  // @ts-expect-error: a number for a source
  ft.io.loadNpyAllSync(7)
  // @ts-expect-error: a text for a number
  ft.io.loadTextSync('x.csv', { fillingValue: 'NaN' })
  // @ts-expect-error: no such option
  ft.io.loadNpy('x.npy', { names: ['a'] })
  // @ts-expect-error: no such option
  ft.io.loadNpySync('x.npy', { mmap: true })
  // @ts-expect-error: a number for a boolean
  ft.io.loadNpy('x.npy', { mapped: 1 })
  // @ts-expect-error: files carry their dtype
  ft.io.loadNpySync('x.npy', { dtype: 'int8' })
  // @ts-expect-error: an array for a tensor
  ft.io.saveNpy('x.npy', [1, 2])
  // @ts-expect-error: the tensor is missing
  ft.io.saveNpy('x.npy')
  // @ts-expect-error: the path stands first
  ft.io.saveNpySync(f32, 'x.npy')
  // @ts-expect-error: a record for a tensor
  ft.io.encodeNpySync({ f32 })
  // @ts-expect-error: no options
  ft.io.saveNpy('x.npy', f32, { version: 2 })
  // @ts-expect-error: a tensor for a record
  ft.io.saveNpz('x.npz', f32)
  // @ts-expect-error: an array for a tensor
  ft.io.saveNpz('x.npz', { a: [1] })
  // @ts-expect-error: no such option
  ft.io.saveNpz('x.npz', { f32 }, { compression: 9 })
  // @ts-expect-error: names are an array
  ft.io.loadNpz('x.npz', { names: 'a' })
  // @ts-expect-error: numbers for names
  ft.io.loadNpz('x.npz', { names: [0] })
  // @ts-expect-error: a tensor for a record
  ft.io.encodeNpzSync(f32)
  // @ts-expect-error: a record of tensors
  ft.io.loadNpzSync('x.npz') satisfies ft.Tensor
  // @ts-expect-error: texts for metadata
  ft.io.saveSafetensors('x', { f32 }, { metadata: { a: 1 } })
  // @ts-expect-error: a number for a tensor
  ft.io.saveSafetensors('x', { f32: 1 })
  // @ts-expect-error: a tensor for a record
  ft.io.encodeSafetensors(f32)
  // @ts-expect-error: no such option
  ft.io.openSafetensors('x', { names: ['a'] })
  // @ts-expect-error: the name is missing
  ft.io.openSafetensorsSync('x').info()
  // @ts-expect-error: a number for a name
  ft.io.openSafetensorsSync('x').loadSync(0)
  // @ts-expect-error: there may be no dtype
  ft.io.openSafetensorsSync('x').info('a').dtype.length
  // @ts-expect-error: no such option
  ft.io.openSafetensorsSync('x').loadSync('a', { mapped: true })
  // @ts-expect-error: no such option
  ft.io.loadSafetensors('x', { keys: ['a'] })
  // @ts-expect-error: no such dtype
  ft.io.loadText('x.csv', { dtype: 'number' })
  // @ts-expect-error: no such option
  ft.io.loadText('x.csv', { sep: ',' })
  // @ts-expect-error: a text for a number
  ft.io.loadTextSync('x.csv', { skipRows: '1' })
  // @ts-expect-error: names or places, not both
  ft.io.loadTextSync('x.csv', { columns: ['a', 1] })
  // @ts-expect-error: columns are an array
  ft.io.loadTable('x.csv', { columns: 'a' })
  // @ts-expect-error: no such dtype
  ft.io.loadTable('x.csv', { dtype: 'text' })
  // @ts-expect-error: no such dtype
  ft.io.loadTableSync('x.csv', { dtype: { a: 'text' } })
  // @ts-expect-error: a column without a dtype may be text
  ft.io.loadTableSync('x.csv')['a'].shape
  // @ts-expect-error: no such option
  ft.io.loadTableSync('x.csv', { names: ['a'] })
  // @ts-expect-error: a number for a boolean
  ft.io.loadTextSync('x.csv', { header: 1 })
  // @ts-expect-error: names are an array
  ft.io.saveText('x.csv', f32, { header: 'a,b' })
  // @ts-expect-error: a record for a tensor
  ft.io.saveTextSync('x.csv', { f32 })
  // @ts-expect-error: no such option
  ft.io.encodeTextSync(f32, { comments: '#' })
  // @ts-expect-error: the result is float32
  ft.io.loadTextSync('x.csv') satisfies ft.Tensor<'float64'>
  // @ts-expect-error: only a run knows the dtype
  ft.io.loadNpySync('x.npy') satisfies ft.Tensor<'float32'>
}
