// What is written is read again, to the bit: every dtype and layout, each format, blocking and not, files and bytes.
// runs on: node, musl, vulkan

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'
import { folder, golden } from './folder.js'
import { NAMES, layouts, same, sample } from './values.js'

const at = folder()
const { io } = ft
const inNumpy: readonly ft.DType[] = NAMES.filter((dtype) => dtype !== 'bfloat16')
const inSafetensors: readonly ft.DType[] = NAMES.filter((dtype) => dtype !== 'complex128')

for (const dtype of NAMES) {
  test(`${dtype}: every layout comes back`, async (t) => {
    for (const [about, x] of Object.entries(layouts(sample(dtype)))) {
      if (inNumpy.includes(dtype)) {
        same(t, io.loadNpySync(io.encodeNpySync(x)), x, about)
        same(t, await io.loadNpy(await io.encodeNpy(x)), x, about)
        for (const compressed of [false, true]) same(t, io.loadNpzSync(io.encodeNpzSync({ x }, { compressed }))['x'], x, about)
      }
      if (inSafetensors.includes(dtype)) {
        same(t, io.loadSafetensorsSync(io.encodeSafetensorsSync({ x }))['x'], x, about)
        same(t, await (await io.openSafetensors(await io.encodeSafetensors({ x }))).load('x'), x, about)
      }
    }
  })
}

test('files, mapped and read, blocking and not', async (t) => {
  // Few, because each save is synced to the disk.
  const tensors = Object.fromEntries((['bool', 'int64', 'float16', 'complex64'] as const).map((dtype) => [dtype, sample(dtype)]))
  for (const mapped of [true, false]) {
    for (const [dtype, x] of Object.entries(tensors)) {
      await io.saveNpy(at('x.npy'), x)
      same(t, await io.loadNpy(at('x.npy'), { mapped }), x, dtype)
      io.saveNpySync(pathToFileURL(at('y.npy')), x)
      same(t, io.loadNpySync(pathToFileURL(at('y.npy')), { mapped, device: 'cpu' }), x, dtype)
    }
    for (const compressed of [true, false]) {
      await io.saveNpz(at('x.npz'), tensors, { compressed })
      const read = await io.loadNpz(at('x.npz'), { mapped })
      t.deepEqual(Object.keys(read), Object.keys(tensors))
      for (const [name, x] of Object.entries(read)) same(t, x, tensors[name] as ft.Tensor, name)
      io.saveNpzSync(at('y.npz'), tensors, { compressed })
      t.deepEqual(readFileSync(at('y.npz')), readFileSync(at('x.npz')), 'equal tensors are equal bytes')
    }
    await io.saveSafetensors(at('x.safetensors'), tensors, { metadata: { format: 'pt' } })
    const read = io.loadSafetensorsSync(at('x.safetensors'), { mapped })
    for (const [name, x] of Object.entries(tensors)) same(t, read[name], x, name)
    io.saveSafetensorsSync(at('y.safetensors'), tensors, { metadata: { format: 'pt' } })
    t.deepEqual(readFileSync(at('y.safetensors')), readFileSync(at('x.safetensors')))
  }
})

test('large arrays, in several chunks and from other threads', async (t) => {
  const x = ft.arange(1.5e6, { dtype: 'int32' }).reshape([3, 5e5])
  const many = { x, transposed: x.permuteDims([1, 0]), other: x.add(1).astype('float64') }
  await io.saveNpz(at('large.npz'), many, { compressed: true })
  const [one, two] = await Promise.all([io.loadNpz(at('large.npz')), io.loadNpz(at('large.npz'), { names: ['other'] })])
  for (const [name, y] of Object.entries(one)) t.true(ft.arrayEqual(y, many[name as 'x'] as ft.Tensor).itemSync(), name)
  t.deepEqual(Object.keys(two), ['other'])
})

test('what NumPy wrote is read: versions, orders, both byte orders, names', (t) => {
  t.deepEqual(io.loadNpySync(golden('fortran.npy')).toArray(), ft.arange(24).reshape([2, 3, 4]).toArray())
  t.deepEqual(io.loadNpySync(golden('fortran-big.npy')).toArray(), [[0, 1, 2], [3, 4, 5]])
  t.deepEqual(io.loadNpySync(golden('scalar.npy')).toArray(), 7)
  t.deepEqual(io.loadNpySync(golden('empty.npy')).shape, [0, 3])
  for (const n of [1, 2, 3]) t.deepEqual(io.loadNpySync(golden(`version-${n}.npy`)).toArray(), [0, 1, 2])
  for (const dtype of inNumpy.filter((d) => !['bool', 'int8', 'uint8'].includes(d))) {
    same(t, io.loadNpySync(golden(`${dtype}-big.npy`)), io.loadNpySync(golden(`${dtype}.npy`)), dtype)
  }
  for (const name of ['stored.npz', 'deflated.npz']) {
    const read = io.loadNpzSync(golden(name))
    t.deepEqual(Object.keys(read), ['a', 'layer/0:w', 'é', 'zeros'])
    t.deepEqual(read['layer/0:w']?.toArray(), [[0, 1, 2], [3, 4, 5]])
    t.is(read['é']?.itemSync(), true)
  }
})

test('safetensors: described without reading, loaded one by one, closed', async (t) => {
  using file = await io.openSafetensors(golden('all.safetensors'))
  t.true(file.names.includes('bfloat16') && file.names.length === 16)
  t.deepEqual({ ...file.metadata }, { b: '2', format: 'np' })
  t.deepEqual(file.info('complex64'), { name: 'complex64', dtype: 'complex64', code: 'C64', shape: [3, 2], bytes: 48 })
  same(t, await file.load('uint64'), file.loadSync('uint64', { device: 'cpu' }), 'uint64')
  t.is(file.loadSync('scalar').itemSync(), 2.5)
  throws(t, 'ERR_ARGUMENT', /^io.info: there is no tensor 'nothing'; there are .* and 8 more$/, () => file.info('nothing'))
  const loaded = file.loadSync('int8')
  file.close()
  file.close()
  throws(t, 'ERR_DISPOSED', /^io.loadSync: the file was closed/, () => file.loadSync('int8'))
  t.is(file.info('int8').bytes, 6)
  t.deepEqual(loaded.shape, [3, 2])
})

test('tables of text', async (t) => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  for (const dtype of NAMES.filter((d) => !d.startsWith('complex'))) {
    const x = sample(dtype)
    for (const delimiter of [',', ';', '\t', ' ', '|']) {
      await io.saveText(at('x.csv'), x, { delimiter, header: ['a', `b${delimiter}"`, '#c'] })
      const y = await io.loadText(at('x.csv'), { delimiter, header: true, dtype })
      t.deepEqual([y.dtype, y.shape], [dtype, [2, 3]])
      // A NaN comes back as one, of whatever bits.
      if (!/float/.test(dtype)) t.deepEqual(y.toBytes(), x.toBytes(), dtype)
      else t.true(ft.arrayEqual(x, y, { equalNan: true }).itemSync(), dtype)
    }
  }
  t.deepEqual(io.loadTextSync(bytes('# note\n\n1, 2\r\n"3",4e0\n')).toArray(), [[1, 2], [3, 4]])
  t.deepEqual(io.loadTextSync(bytes('a\nb\n1 2\n'), { skipRows: 2, delimiter: ' ', comments: null }).toArray(), [[1, 2]])
  t.deepEqual(io.loadTextSync(bytes('')).shape, [0, 0])
  t.deepEqual(io.loadTextSync(io.encodeTextSync(ft.tensor([1, 2, 3]))).toArray(), [[1], [2], [3]])
  t.deepEqual(io.loadTextSync(io.encodeTextSync(ft.tensor(7))).toArray(), [[7]])
  io.saveTextSync(at('y.csv'), ft.tensor([[1, 0.5]]))
  t.is(readFileSync(at('y.csv'), 'utf8'), '1.0,0.5\n')
})

test('sources may be any bytes, copied at the call', async (t) => {
  const encoded = io.encodeNpySync(ft.tensor([1, 2]))
  const shared = new Uint8Array(new SharedArrayBuffer(encoded.length))
  shared.set(encoded)
  for (const source of [encoded, encoded.buffer, Buffer.from(encoded), new DataView(encoded.buffer), shared, shared.buffer]) {
    t.deepEqual(io.loadNpySync(source as Uint8Array).toArray(), [1, 2])
  }
  const later = io.loadNpy(encoded)
  encoded.fill(0)
  t.deepEqual((await later).toArray(), [1, 2])
})

test('values as they are at the call are what is written', async (t) => {
  const x = ft.tensor([1, 2]).add(1)
  const saved = io.saveNpy(at('kept.npy'), x)
  x.dispose()
  await saved
  t.deepEqual(io.loadNpySync(at('kept.npy')).toArray(), [2, 3])
})

test('names mean nothing but themselves', (t) => {
  const names = ['__proto__', 'constructor', 'toString', '0', 'a b', 'é', 'a/b', 'x'.repeat(500)]
  const tensors = Object.create(null) as Record<string, ft.Tensor>
  names.forEach((name, i) => (tensors[name] = ft.tensor(i)))
  for (const read of [io.loadNpzSync(io.encodeNpzSync(tensors)), io.loadSafetensorsSync(io.encodeSafetensorsSync(tensors))]) {
    t.deepEqual(Object.keys(read).sort(), [...names].sort())
    names.forEach((name, i) => t.is(read[name]?.itemSync(), i, name))
  }
  t.deepEqual(Object.keys(io.loadNpzSync(io.encodeNpzSync({}))), [])
  t.deepEqual(Object.keys(io.loadSafetensorsSync(io.encodeSafetensorsSync({}))), [])
})
