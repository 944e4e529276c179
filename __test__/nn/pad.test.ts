// Padding in PyTorch's order: pairs from the last axis, four modes, negative numbers, and the layers.
// runs on: host; moves elements

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

const { nn } = ft
const x = ft.tensor([[1, 2, 3], [4, 5, 6]])

test('pairs run from the last axis', (t) => {
  t.deepEqual(nn.pad(x, [1, 2]).toArray(), [[0, 1, 2, 3, 0, 0], [0, 4, 5, 6, 0, 0]])
  t.deepEqual(nn.pad(x, [0, 1, 1, 0]).toArray(), [[0, 0, 0, 0], [1, 2, 3, 0], [4, 5, 6, 0]])
  t.deepEqual(nn.pad(x, []).toArray(), x.toArray())
  t.deepEqual(nn.pad(ft.tensor(5), []).toArray(), 5)
  t.deepEqual(nn.pad(ft.ones([3, 3, 4, 2]), [0, 1, 2, 1, 3, 3]).shape, [3, 9, 7, 3])
  t.deepEqual(nn.pad([1, 2], [1, 0], { value: 7 }).toArray(), [7, 1, 2])
  // The same as NumPy's, whose pairs run from the first axis.
  t.deepEqual(nn.pad(x, [2, 1, 1, 3], { value: -1 }).toArray(), ft.pad(x, [[1, 3], [2, 1]], { value: -1 }).toArray())
})

test('modes', (t) => {
  const row = ft.tensor([[1, 2, 3, 4]])
  const of = (mode: 'reflect' | 'replicate' | 'circular', pad: readonly number[]): unknown => nn.pad(row, pad, { mode }).toArray()
  t.deepEqual(of('reflect', [2, 1]), [[3, 2, 1, 2, 3, 4, 3]])
  t.deepEqual(of('replicate', [2, 1]), [[1, 1, 1, 2, 3, 4, 4]])
  t.deepEqual(of('circular', [2, 1]), [[3, 4, 1, 2, 3, 4, 1]])
  t.deepEqual(nn.pad(x, [1, 1, 1, 0], { mode: 'reflect' }).toArray(), [[5, 4, 5, 6, 5], [2, 1, 2, 3, 2], [5, 4, 5, 6, 5]])
  t.deepEqual(nn.pad(x, [1, 0, 0, 1], { mode: 'circular' }).toArray(), [[3, 1, 2, 3], [6, 4, 5, 6], [3, 1, 2, 3]])
})

test('a side has as many new places as the data fill once, as in PyTorch', (t) => {
  const row = ft.tensor([1, 2, 3])
  t.deepEqual(nn.pad(row, [2, 2], { mode: 'reflect' }).toArray(), [3, 2, 1, 2, 3, 2, 1])
  t.deepEqual(nn.pad(row, [3, 0], { mode: 'circular' }).toArray(), [1, 2, 3, 1, 2, 3])
  t.deepEqual(nn.pad(row, [4, 0], { mode: 'replicate' }).toArray(), [1, 1, 1, 1, 1, 2, 3])
  throws(t, 'ERR_SHAPE', /^nn\.pad: mode 'reflect' has at most 2 places beside the 3 elements of axis 0, got 3; ft\.pad\(x, pairs, \{ mode: 'reflect' \}\) goes on$/, () => nn.pad(row, [0, 3], { mode: 'reflect' }))
  throws(t, 'ERR_SHAPE', /^nn\.pad: mode 'circular' has at most 3 places beside the 3 elements of axis 0, got 4; ft\.pad\(x, pairs, \{ mode: 'wrap' \}\) goes on$/, () => nn.pad(row, [4, 0], { mode: 'circular' }))
  throws(t, 'ERR_SHAPE', /^nn\.pad: mode 'reflect' has at most 0 places beside the 1 elements of axis 1, got 1/, () => nn.pad(ft.ones([2, 1]), [1, 0], { mode: 'reflect' }))
  throws(t, 'ERR_SHAPE', /at most 2 places beside the 2 elements of axis 0, got 3/, () => nn.pad(row, [-1, 3], { mode: 'circular' }))
  throws(t, 'ERR_SHAPE', /at most 1 places/, () => new nn.ReflectionPad2d(2).apply(null, ft.ones([1, 1, 2, 3])))
  t.deepEqual(nn.pad(x, [0, 0, 1, 0], { mode: 'reflect' }).toArray(), [[4, 5, 6], [1, 2, 3], [4, 5, 6]])
})

test('negative numbers take places away first', (t) => {
  t.deepEqual(nn.pad(x, [-1, 0]).toArray(), [[2, 3], [5, 6]])
  t.deepEqual(nn.pad(x, [-1, 2, 0, -1]).toArray(), [[2, 3, 0, 0]])
  t.deepEqual(nn.pad(x, [-2, -1]).shape, [2, 0])
  t.deepEqual(nn.pad(x, [1, -1], { mode: 'circular' }).toArray(), [[2, 1, 2], [5, 4, 5]])
  t.deepEqual(nn.pad(x, [-1, 1], { mode: 'replicate' }).toArray(), [[2, 3, 3], [5, 6, 6]])
  // All elements are mirrored, as in PyTorch.
  t.deepEqual(nn.pad(x, [-1, 2], { mode: 'reflect' }).toArray(), [[2, 3, 2, 1], [5, 6, 5, 4]])
  t.deepEqual(nn.pad(x, [-2, 2, 1, -1], { mode: 'reflect' }).toArray(), [[6, 5, 4], [3, 2, 1]])
  throws(t, 'ERR_SHAPE', /^nn\.pad: axis 1 has 3 elements, and -2 and -2 takes more away/, () => nn.pad(x, [-2, -2]))
})

test('every dtype keeps, and gradients, vmap and jit go through', (t) => {
  for (const dtype of ft.arrayNamespaceInfo().dtypes()) t.is((nn.pad(ft.ones([2], { dtype }), [1, 1]) as ft.Tensor).dtype, dtype)
  t.deepEqual(nn.pad(ft.tensor([true]), [1, 0], { value: 1 }).toArray(), [true, true])
  t.deepEqual(ft.grad((v: ft.Tensor<'float32'>) => nn.pad(v, [1, 2], { mode: 'circular' }).mul(ft.arange(6)).sum())(ft.ones([3])).toArray(), [1 + 4, 2 + 5, 3 + 0])
  t.deepEqual(ft.grad((v: ft.Tensor<'float32'>) => nn.pad(v, [-1, 1]).mul(ft.arange(3)).sum())(ft.ones([3])).toArray(), [0, 0, 1])
  t.deepEqual(ft.vmap((v: ft.Tensor<'float32'>) => nn.pad(v, [1, 0]))(x).toArray(), nn.pad(x, [1, 0]).toArray())
  const traced = ft.jit((v: ft.Tensor<'float32'>, value: number) => nn.pad(v, [1, 0], { value }))
  t.deepEqual([7, 8].map((value) => traced(ft.ones([1]), value).toArray()), [[7, 1], [8, 1]])
})

test('what is refused', (t) => {
  throws(t, 'ERR_SHAPE', /^nn\.pad: 'pad' must have two numbers for each padded axis, and the tensor has 2, got 3 numbers/, () => nn.pad(x, [1, 2, 3]))
  throws(t, 'ERR_SHAPE', /and the tensor has 2, got 6 numbers/, () => nn.pad(x, [1, 1, 1, 1, 1, 1]))
  throws(t, 'ERR_ARGUMENT', /^nn\.pad: 'pad' is one list/, () => nn.pad(x, [[1, 1], [0, 0]] as never))
  throws(t, 'ERR_ARGUMENT', /^nn\.pad: 'pad' must be an array, \[before, after\] of the last axis first, got 1/, () => nn.pad(x, 1 as never))
  throws(t, 'ERR_ARGUMENT', /^nn\.pad: 'pad\[0\]' must be an integer, got 0\.5/, () => nn.pad(x, [0.5, 1]))
  throws(t, 'ERR_ARGUMENT', /^nn\.pad: 'mode' must be one of 'constant', 'reflect', 'replicate', 'circular', got 'edge'/, () => nn.pad(x, [1, 1], { mode: 'edge' as never }))
  throws(t, 'ERR_ARGUMENT', /^nn\.pad: mode 'reflect' takes no value, got 1/, () => nn.pad(x, [1, 1], { mode: 'reflect', value: 1 }))
  throws(t, 'ERR_DTYPE', /^nn\.pad: 0\.5 is not an integer/, () => nn.pad(ft.tensor([1], { dtype: 'int8' }), [1, 1], { value: 0.5 }))
  throws(t, 'ERR_SHAPE', /^nn\.pad: /, () => nn.pad(ft.zeros([0]), [1, 1], { mode: 'replicate' }))
})

test('layers pad the spatial axes, or what a list says', (t) => {
  const picture = x.reshape([1, 1, 2, 3])
  t.deepEqual(new nn.ZeroPad2d(1).apply(null, picture).shape, [1, 1, 4, 5])
  t.deepEqual(new nn.ZeroPad1d(1).apply(null, ft.ones([2, 1, 1])).toArray(), [[[0, 1, 0]], [[0, 1, 0]]])
  t.deepEqual(new nn.ConstantPad2d([0, 1], 7).apply(null, picture).toArray(), [[[[1, 2, 3, 7], [4, 5, 6, 7]]]])
  t.deepEqual(new nn.ReflectionPad2d(1).apply(null, picture).toArray(), nn.pad(picture, [1, 1, 1, 1], { mode: 'reflect' }).toArray())
  t.deepEqual(new nn.ReplicationPad2d([1, 0, 0, 1]).apply(null, picture).toArray(), [[[[1, 1, 2, 3], [4, 4, 5, 6], [4, 4, 5, 6]]]])
  t.deepEqual(new nn.CircularPad2d(1).apply(null, picture).toArray(), nn.pad(picture, [1, 1, 1, 1], { mode: 'circular' }).toArray())
  const model = new nn.Sequential(new nn.ReflectionPad2d(1), new nn.Conv2d(1, 2, 3))
  t.deepEqual(model.apply(model.init(ft.random.key(1)), picture).shape, [1, 2, 2, 3])
  t.is(new nn.ZeroPad3d(1).name, 'nn.ZeroPad')
  throws(t, 'ERR_ARGUMENT', /^nn\.ZeroPad: 'pad' must be one number, or two for each padded axis/, () => new nn.ZeroPad2d([1]))
  throws(t, 'ERR_ARGUMENT', /^nn\.ZeroPad: 'pad' must be an integer or an array of integers, got undefined/, () => new nn.ZeroPad2d(undefined as never))
  throws(t, 'ERR_ARGUMENT', /^nn\.ZeroPad: 'pad' must be an integer, got 0\.5/, () => new nn.ZeroPad2d(0.5))
  throws(t, 'ERR_ARGUMENT', /^nn\.ConstantPad: 'value' must be a number, got undefined/, () => new nn.ConstantPad2d(1, undefined as never))
  throws(t, 'ERR_SHAPE', /^nn\.ZeroPad: one number is of the spatial axes/, () => new nn.ZeroPad1d(1).apply(null, x))
})
