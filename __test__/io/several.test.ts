// Files with more than one array, some of which cannot be read: NumPy's own files, and those that come from other programs.
// runs on: node, musl

import { readFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'
import { golden } from './folder.js'

const { io } = ft

test('loadNpy reads the first array of a file, as numpy.load, and loadNpyAll all of them', async (t) => {
  for (const source of [golden('several.npy'), readFileSync(golden('several.npy'))]) {
    t.deepEqual(io.loadNpySync(source).toArray(), [0, 1, 2])
    for (const all of [io.loadNpyAllSync(source), await io.loadNpyAll(source)]) {
      t.deepEqual(all.map((x) => [x.dtype, x.toArray()]), [['int8', [0, 1, 2]], ['float64', [[0, 1, 2], [3, 4, 5]]], ['bool', []], ['uint16', 7]])
      t.deepEqual(all[2]?.shape, [0, 2])
    }
  }
  t.deepEqual((await io.loadNpy(golden('several.npy'))).toArray(), [0, 1, 2])
  t.is(io.loadNpyAllSync(golden('int8.npy')).length, 1)
  // More than ten: their order is that of the file.
  const many = Buffer.concat(Array.from({ length: 12 }, (_, i) => io.encodeNpySync(ft.full([], i))))
  t.deepEqual(io.loadNpyAllSync(many).map((x) => x.itemSync()), Array.from({ length: 12 }, (_, i) => i))
})

test('a file that ends within a later array gives the first', (t) => {
  for (const file of ['cut.npy', 'several-and-more.npy']) {
    t.deepEqual(io.loadNpySync(golden(file)).toArray(), [0, 1, 2])
    throws(t, 'ERR_FORMAT', new RegExp(`^io.loadNpyAllSync: '.*${file}': array 3: the header declares 2 bytes of elements`), () => io.loadNpyAllSync(golden(file)))
  }
  const junk = Buffer.concat([io.encodeNpySync(ft.ones([1])), Buffer.from('x')])
  throws(t, 'ERR_FORMAT', /declares 4 bytes of elements, there are 5/, () => io.loadNpySync(junk))
})

test('maxBytes counts the arrays that are loaded', (t) => {
  const two = Buffer.concat([io.encodeNpySync(ft.ones([1])), io.encodeNpySync(ft.ones([100]))])
  t.deepEqual(io.loadNpySync(two, { maxBytes: 4 }).toArray(), [1])
  throws(t, 'ERR_FORMAT', /take 404 bytes, more than the 4/, () => io.loadNpyAllSync(two, { maxBytes: 4 }))
})

test('headers of Python 2 are read', (t) => {
  t.deepEqual(io.loadNpySync(golden('python-2.npy')).toArray(), [[0, 1, 2], [3, 4, 5]])
})

test('what cannot be read of an npz is an error only where it is asked for', async (t) => {
  for (const source of [golden('mixed.npz'), readFileSync(golden('mixed.npz'))]) {
    const { a, b } = io.loadNpzSync(source, { names: ['a', 'b'] })
    t.deepEqual([a?.toArray(), b?.toArray()], [[0, 1, 2], [0, 1, 2, 3]])
    t.deepEqual(Object.keys(await io.loadNpz(source, { names: ['b'] })), ['b'])
    for (const [name, why] of [['object', /member 'object.npy': an array of Python objects/], ['broken', /no npy file/], ['bzip2', /compression/]] as const) {
      throws(t, 'ERR_FORMAT', why, () => io.loadNpzSync(source, { names: ['a', name] }))
    }
    throws(t, 'ERR_FORMAT', /member 'broken.npy': it is no npy file.*; 'names' loads the others: 'a', 'b'$/, () => io.loadNpzSync(source))
    await t.throwsAsync(io.loadNpz(source), { instanceOf: ft.FormatError })
    // A note beside the arrays is none of them.
    throws(t, 'ERR_ARGUMENT', /there is no array 'note.txt'/, () => io.loadNpzSync(source, { names: ['note.txt'] }))
  }
})
