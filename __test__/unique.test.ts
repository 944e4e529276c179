// Distinct slices along an axis and distinct complex numbers beside NumPy, and matrices of diagonals beside PyTorch.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

const read = <D extends ft.DType>(u: ft.Unique<D>): unknown[] => [u.values.toArray(), u.indices.toArray(), u.inverseIndices.toArray(), u.counts.toArray()]
const ROWS = [[3, 1, 2], [1, 5, 0], [3, 1, 2], [1, 4, 9], [1, 5, 0]]
const complex = (...parts: readonly (readonly [number, number])[]): unknown[] => parts.map(([re, im]) => ({ re, im }))

test('distinct slices', (t) => {
  // np.unique(a, axis=..., return_index=True, return_inverse=True, return_counts=True)
  for (const dtype of ['int8', 'int64', 'float16', 'float64'] as const) {
    const a = ft.tensor(ROWS).astype(dtype)
    const cast = (x: unknown): unknown => (dtype === 'int64' ? (x as number[][]).map((row) => row.map(BigInt)) : x)
    t.deepEqual(read(ft.uniqueAll(a, 0)), [cast([[1, 4, 9], [1, 5, 0], [3, 1, 2]]), [3, 1, 0], [2, 1, 2, 0, 1], [1, 2, 2]], dtype)
    t.deepEqual(read(ft.uniqueAll(a, { axis: -1 })), [cast([[1, 2, 3], [5, 0, 1], [1, 2, 3], [4, 9, 1], [5, 0, 1]]), [1, 2, 0], [2, 0, 1], [1, 1, 1]], dtype)
  }
  t.deepEqual(read(ft.uniqueAll(ft.arange(8).remainder(3).reshape([2, 2, 2]), 1)), [[[[0, 1], [2, 0]], [[1, 2], [0, 1]]], [0, 1], [0, 1], [1, 1]])
  t.deepEqual(ft.uniqueValues(ft.tensor([3, 1, 3]), 0).toArray(), [1, 3])
  t.deepEqual(ft.uniqueCounts(ft.tensor([[true, false], [true, false]]), 0).counts.toArray(), [2])
  t.deepEqual(ft.uniqueInverse(ft.tensor(ROWS), 0).inverseIndices.toArray(), [2, 1, 2, 0, 1])
})

test('slices without elements, none of them, and NaN', (t) => {
  t.deepEqual(ft.uniqueAll(ft.zeros([4, 0]), 0).counts.toArray(), [4])
  t.deepEqual(ft.uniqueAll(ft.zeros([0, 4]), 0).values.shape, [0, 4])
  t.deepEqual(ft.uniqueAll(ft.zeros([0, 0]), 1).values.shape, [0, 0])
  t.deepEqual(ft.uniqueValues(ft.tensor([[NaN, 1], [0, 1], [NaN, 1]]), 0).toArray(), [[0, 1], [NaN, 1], [NaN, 1]])
})

test('many rows and columns are those of a comparison in JavaScript', (t) => {
  for (const [rows, columns, values] of [[40_000, 5, 9], [300, 33, 2], [7, 64, 2]] as const) {
    const x = ft.random.randint(ft.random.key(rows), 0, values, [rows, columns])
    const list = x.toArray() as number[][]
    const sorted = [...new Map(list.map((row) => [row.join(), row])).values()].sort((a, b) => {
      const at = a.findIndex((value, i) => value !== b[i])
      return (a[at] as number) - (b[at] as number)
    })
    const { values: found, inverseIndices, indices, counts } = ft.uniqueAll(x, 0)
    t.deepEqual(found.toArray(), sorted)
    t.deepEqual(found.take(inverseIndices, { axis: 0 }).toArray(), list)
    const firsts = new Map<string, number>()
    list.forEach((row, i) => firsts.has(row.join()) || firsts.set(row.join(), i))
    t.deepEqual(indices.toArray(), sorted.map((row) => firsts.get(row.join())))
    t.is(counts.sum().itemSync(), rows)
  }
})

test('complex numbers', async (t) => {
  const c = ft.tensor([[{ re: 2, im: 1 }, { re: 1, im: -1 }], [{ re: 1, im: 3 }, { re: 2, im: 1 }], [{ re: 1, im: -1 }, { re: 1, im: 0 }]])
  t.deepEqual(read(ft.uniqueAll(c)), [complex([1, -1], [1, 0], [1, 3], [2, 1]), [1, 5, 2, 0], [[3, 0], [2, 3], [0, 1]], [2, 1, 1, 2]])
  t.deepEqual((await ft.uniqueValuesAsync(c)).toArray(), complex([1, -1], [1, 0], [1, 3], [2, 1]))
  const rows = ft.tensor([[{ re: 1, im: 1 }, { re: 2, im: 0 }], [{ re: 1, im: 0 }, { re: 2, im: 0 }], [{ re: 1, im: 1 }, { re: 2, im: 0 }], [{ re: 1, im: 0 }, { re: 2, im: -1 }]])
  t.deepEqual(read(ft.uniqueAll(rows, 0)), [[complex([1, 0], [2, -1]), complex([1, 0], [2, 0]), complex([1, 1], [2, 0])], [3, 1, 0], [2, 1, 2, 0], [1, 1, 2]])
  throws(t, 'ERR_DTYPE', /^union1d: 'x1' must be real, got complex64/, () => ft.union1d(c as unknown as ft.Tensor<'float32'>, ft.ones([2])))
  throws(t, 'ERR_INDEX', /^uniqueAll: axis 2 is out of range for rank 2/, () => ft.uniqueAll(c, 2))
  throws(t, 'ERR_ARGUMENT', /^uniqueValues: unknown option 'axes'/, () => ft.uniqueValues(c, { axes: 0 } as ft.UniqueOptions))
})

test('matrices of diagonals', (t) => {
  // torch.diag_embed(x, offset, dim1, dim2)
  const x = ft.tensor([[1, 2], [3, 4]])
  t.deepEqual(ft.diagEmbed(x).toArray(), [[[1, 0], [0, 2]], [[3, 0], [0, 4]]])
  t.deepEqual(ft.diagEmbed(x, { offset: 1 }).toArray(), [[[0, 1, 0], [0, 0, 2], [0, 0, 0]], [[0, 3, 0], [0, 0, 4], [0, 0, 0]]])
  t.deepEqual(ft.diagEmbed(x, { offset: -2 }).toArray(), [[[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 2, 0, 0]], [[0, 0, 0, 0], [0, 0, 0, 0], [3, 0, 0, 0], [0, 4, 0, 0]]])
  t.deepEqual(ft.diagEmbed(x, { offset: 1, axes: [0, 2] }).toArray(), [[[0, 1, 0], [0, 3, 0]], [[0, 0, 2], [0, 0, 4]], [[0, 0, 0], [0, 0, 0]]])
  t.deepEqual(ft.diagEmbed(x, { axes: [2, 0] }).toArray(), [[[1, 0], [3, 0]], [[0, 2], [0, 4]]])
  t.deepEqual(ft.diagEmbed(ft.tensor([NaN, Infinity])).toArray(), [[NaN, 0], [0, Infinity]])
  t.deepEqual(ft.diagEmbed(ft.tensor([true])).toArray(), [[true]])
  t.deepEqual(ft.diagEmbed(ft.zeros([2, 0]), { offset: 1 }).toArray(), [[[0]], [[0]]])
  t.deepEqual(ft.jit((v: ft.Tensor) => ft.diagEmbed(v))(x).toArray(), ft.diagEmbed(x).toArray())
  const weights = ft.arange(18).reshape([2, 3, 3])
  t.deepEqual(ft.grad((v: ft.Tensor<'float32'>) => ft.diagEmbed(v, { offset: -1 }).mul(weights).sum())(x).toArray(), [[3, 7], [12, 16]])
  throws(t, 'ERR_SHAPE', /^diagEmbed: a tensor of rank 0 is no diagonal/, () => ft.diagEmbed(ft.tensor(1)))
  throws(t, 'ERR_SHAPE', /^diagEmbed: the offset 1000000000 is beyond 1048576/, () => ft.diagEmbed(x, { offset: 1e9 }))
  throws(t, 'ERR_INDEX', /^diagEmbed: axis 1 is named twice/, () => ft.diagEmbed(x, { axes: [1, -2] }))
  throws(t, 'ERR_ARGUMENT', /^diagEmbed: 'axes' must be two axes, got 1/, () => ft.diagEmbed(x, { axes: [1] as unknown as [number, number] }))
})
