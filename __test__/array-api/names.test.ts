// Every name of the array API standard (names.json, read off the package array-api-strict by names.py) is here, spelled as
// TypeScript spells it; what is not is listed with its reason, and the list fails where it is longer than it must be.
// runs on: vulkan

import { readFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'

interface Names {
  readonly root: readonly string[]
  readonly linalg: readonly string[]
  readonly fft: readonly string[]
  readonly array: readonly string[]
  readonly info: readonly string[]
}

const names = JSON.parse(readFileSync(new URL('../../../__test__/array-api/names.json', import.meta.url), 'utf8')) as Names

const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Names that mean something else in JavaScript, and what stands for them. */
const OTHERWISE: Readonly<Record<string, string>> = {
  Device: 'devices are text: the type ft.Device',
  from_dlpack: 'Node has no DLPack; fromTypedArray takes memory, fromShared tensors of other threads'
}
/** Attributes and methods of an array under another name. */
const RENAMED: Readonly<Record<string, string>> = { to_device: 'to' }
/** Not yet here. */
const PENDING: readonly string[] = []

const dtypes = new Set<string>(ft.arrayNamespaceInfo().dtypes())

function missing(space: object, prefix: string, wanted: readonly string[]): string[] {
  return wanted.filter((name) => !(camel(name) in space)).map((name) => prefix + name)
}

test('every name of the array API is here', (t) => {
  const x = ft.tensor([[1]])
  const found = [
    ...missing(ft, '', names.root.filter((name) => !dtypes.has(name) && !(name in OTHERWISE))),
    ...missing(ft.linalg, 'linalg.', names.linalg),
    ...missing(ft.fft, 'fft.', names.fft),
    ...missing(x, 'array.', names.array.map((name) => RENAMED[name] ?? name)),
    ...missing(ft.arrayNamespaceInfo(), 'info.', names.info)
  ]
  t.deepEqual(found, PENDING)
  t.true(names.root.length > 150 && names.linalg.length > 20 && names.fft.length > 12)
})

test('transposed views', (t) => {
  const x = ft.arange(6).reshape([1, 2, 3])
  t.deepEqual([x.mT.shape, x.at(0).T.toArray()], [[1, 3, 2], [[0, 3], [1, 4], [2, 5]]])
  t.throws(() => x.T, { code: 'ERR_SHAPE', message: /permuteDims/ })
  t.throws(() => ft.tensor(1).mT, { code: 'ERR_SHAPE' })
})

test('dtype functions', (t) => {
  t.deepEqual(ft.finfo('float32'), { bits: 32, eps: 2 ** -23, max: 3.4028234663852886e38, min: -3.4028234663852886e38, smallestNormal: 2 ** -126, dtype: 'float32' })
  t.deepEqual(ft.finfo(ft.zeros([1], { dtype: 'complex128' })), { bits: 64, eps: Number.EPSILON, max: Number.MAX_VALUE, min: -Number.MAX_VALUE, smallestNormal: 2 ** -1022, dtype: 'float64' })
  t.is(ft.finfo('bfloat16').eps, 2 ** -7)
  // @ts-expect-error no floating dtype
  t.throws(() => ft.finfo('int8'), { code: 'ERR_DTYPE', message: /iinfo/ })
  t.deepEqual(ft.iinfo('uint64'), { bits: 64, max: 2n ** 64n - 1n, min: 0n, dtype: 'uint64' })
  // @ts-expect-error no integer dtype
  t.throws(() => ft.iinfo('float32'), { code: 'ERR_DTYPE', message: /finfo/ })
  t.throws(() => ft.iinfo('int' as never), { code: 'ERR_DTYPE', message: /did you mean/ })
  t.true(ft.isdtype('uint8', 'integral') && ft.isdtype('bfloat16', ['bool', 'numeric']) && !ft.isdtype('bool', 'numeric') && ft.isdtype('int8', 'int8'))
  t.throws(() => ft.isdtype('int8', 'integer' as never), { code: 'ERR_ARGUMENT' })
  t.is(ft.resultType('int8', ft.zeros([3], { dtype: 'float16' }), 2), 'float16')
  t.is(ft.resultType('bool'), 'bool')
  t.is(ft.resultType(1n, true), 'int64')
  t.is(ft.resultType(true, 1n, 1.5), 'float32')
  t.throws(() => ft.resultType('uint64', 'int8'), { code: 'ERR_DTYPE', message: /resultType/ })
  t.is(ft.resultType('bool', 1), 'float32')
  t.throws(() => ft.resultType(), { code: 'ERR_ARGUMENT' })
  t.throws(() => ft.resultType(null as never), { code: 'ERR_ARGUMENT' })
  t.true(ft.canCast('int8', 'float64') && !ft.canCast('float64', 'float32') && !ft.canCast('uint64', 'int64'))
  t.deepEqual(ft.arrayNamespaceInfo().dtypes('real floating'), ['float16', 'bfloat16', 'float32', 'float64'])
  t.true(ft.arrayNamespaceInfo().devices().includes(ft.arrayNamespaceInfo().defaultDevice()))
  t.deepEqual([ft.e, ft.pi, ft.inf, ft.nan, ft.newaxis], [Math.E, Math.PI, Infinity, NaN, null])
})

test('broadcasting', (t) => {
  t.deepEqual(ft.broadcastShapes(), [])
  t.deepEqual(ft.broadcastShapes([5, 1], [1, 3], []), [5, 3])
  t.deepEqual(ft.broadcastShapes([2 ** 40, 1], [0]), [2 ** 40, 0])
  t.throws(() => ft.broadcastShapes([2], [3]), { code: 'ERR_SHAPE', message: /broadcastShapes/ })
  const [a, b] = ft.broadcastArrays(ft.tensor([1, 2]), ft.tensor([[true], [false]]))
  t.deepEqual([a.toArray(), b.toArray()], [[[1, 2], [1, 2]], [[true, true], [false, false]]])
  t.deepEqual([a.dtype, b.dtype], ['float32', 'bool'])
  t.throws(() => ft.broadcastArrays(1 as never), { code: 'ERR_ARGUMENT' })
})

test('pieces', (t) => {
  const x = ft.arange(10).reshape([2, 5])
  t.deepEqual(ft.unstack(x).map((row) => row.toArray()), [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]])
  t.deepEqual(ft.unstack(x, -1).length, 5)
  t.deepEqual(ft.unstack(ft.zeros([0, 2])), [])
  t.throws(() => ft.unstack(ft.tensor(1)), { code: 'ERR_INDEX' })
  const shapes = (pieces: readonly ft.Tensor[]) => pieces.map(({ shape }) => shape[1])
  t.deepEqual(shapes(ft.split(x, 5, { axis: 1 })), [1, 1, 1, 1, 1])
  t.throws(() => ft.split(x, 2, { axis: 1 }), { code: 'ERR_SHAPE', message: /arraySplit/ })
  t.deepEqual(shapes(ft.split(x, [1, 1, 9, -1], 1)), [1, 0, 4, 0, 1])
  t.deepEqual(shapes(ft.arraySplit(x, 3, 1)), [2, 2, 1])
  t.deepEqual(shapes(ft.arraySplit(x, 7, 1)), [1, 1, 1, 1, 1, 0, 0])
  t.deepEqual(shapes(ft.chunk(x, 4, 1)), [2, 2, 1])
  t.deepEqual(shapes(ft.chunk(ft.zeros([1, 0]), 4, 1)), [0])
  t.throws(() => ft.unstack(ft.zeros([1]).broadcastTo([2 ** 40])), { code: 'ERR_SHAPE' })
  t.throws(() => ft.arraySplit(x, 2 ** 40), { code: 'ERR_SHAPE' })
  t.throws(() => ft.chunk(x, 0), { code: 'ERR_ARGUMENT' })
  t.throws(() => ft.split(x, 1.5), { code: 'ERR_ARGUMENT' })
  t.throws(() => ft.split('x' as never, 1), { code: 'ERR_ARGUMENT' })
})

test('positions and sets', async (t) => {
  const x = ft.tensor([[0, 3, 0], [5, 0, 3]])
  t.deepEqual(ft.nonzero(x).map((p) => p.toArray()), [[0, 1, 1], [1, 0, 2]])
  t.deepEqual((await ft.nonzeroAsync(x)).map((p) => p.toArray()), [[0, 1, 1], [1, 0, 2]])
  t.deepEqual((await ft.argwhereAsync(x)).toArray(), [[0, 1], [1, 0], [1, 2]])
  t.deepEqual(ft.argwhere(ft.zeros([0, 3])).shape, [0, 2])
  t.throws(() => ft.nonzero(ft.tensor(1)), { code: 'ERR_SHAPE' })
  const all = ft.uniqueAll(x)
  t.deepEqual([all.values, all.indices, all.inverseIndices, all.counts].map((p) => p.toArray()), [[0, 3, 5], [0, 1, 3], [[0, 1, 0], [2, 0, 1]], [3, 2, 1]])
  t.deepEqual([all.values.dtype, all.indices.dtype, all.inverseIndices.dtype, all.counts.dtype], ['float32', 'int32', 'int32', 'int32'])
  t.deepEqual((await ft.uniqueAllAsync(x)).counts.toArray(), [3, 2, 1])
  t.deepEqual(ft.uniqueValues(ft.tensor([NaN, 1, NaN, -0, 0])).toArray(), [-0, 1, NaN, NaN])
  t.deepEqual(ft.uniqueCounts(ft.zeros([0])).counts.toArray(), [])
  t.deepEqual((await ft.uniqueInverseAsync(ft.tensor([true, false, true]))).inverseIndices.toArray(), [1, 0, 1])
  t.deepEqual((await ft.uniqueValuesAsync(ft.tensor([2n ** 60n, 1n, 2n ** 60n]))).toArray(), [1n, 2n ** 60n])
  t.deepEqual((await ft.uniqueCountsAsync(ft.tensor(7))).counts.toArray(), [1])
  t.deepEqual(ft.uniqueValues(ft.zeros([2], { dtype: 'complex64' })).toArray(), [{ re: 0, im: 0 }])
  t.throws(() => ft.uniqueValues('x' as never), { code: 'ERR_ARGUMENT' })
  t.deepEqual(ft.isin(x, ft.tensor([5, 0])).toArray(), [[true, false, true], [true, true, false]])
  t.deepEqual(ft.isin(x, ft.tensor([5, 0]), { invert: true }).toArray(), [[false, true, false], [false, false, true]])
  t.deepEqual(ft.isin(x, ft.zeros([0])).toArray(), [[false, false, false], [false, false, false]])
  t.deepEqual(ft.isin(ft.tensor([NaN]), ft.tensor([NaN])).toArray(), [false])
  t.is(ft.isin(3, x).itemSync(), true)
  t.is(ft.isin(3, ft.zeros([0])).itemSync(), false)
  t.deepEqual(ft.isin(x, 3).toArray(), [[false, true, false], [false, false, true]])
  t.throws(() => ft.isin(x, x, { invert: 1 as never }), { code: 'ERR_ARGUMENT' })
})
