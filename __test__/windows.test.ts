// Convolution and pooling as users call them: the forms of their options, their types, and the counter of rewritten kernels.

import test from 'ava'
import * as ft from 'ferrotensor'

const image = () => ft.arange(16).reshape([1, 1, 4, 4])

test('numbers, lists, pairs and words say the same', (t) => {
  const x = image()
  const kernel = ft.ones([1, 1, 3, 3])
  const plain = ft.nn.conv(x, kernel, { stride: 1, padding: 1 }).toArray()
  for (const padding of [[1, 1], [1], [[1, 1], [1, 1]], 'same'] as const) {
    t.deepEqual(ft.nn.conv(x, kernel, { stride: [1, 1], padding }).toArray(), plain)
  }
  t.deepEqual(ft.nn.conv(x, kernel, { padding: 'valid' }).toArray(), ft.nn.conv(x, kernel).toArray())
  t.deepEqual(ft.nn.maxPool(x, [2, 2], { stride: [2, 2] }).toArray(), ft.nn.maxPool(x, 2).toArray())
  t.deepEqual(ft.nn.maxPool(x, [1, 4]).shape, [1, 1, 4, 1])
  t.deepEqual(ft.nn.avgPool(x, 2, { padding: [[1, 0], [0, 1]], stride: 3 }).toArray(), [[[[0.25, 0.75], [10.5, 6.5]]]])
})

test('result types follow the operands', (t) => {
  const ints: ft.Tensor<'int8'> = ft.nn.maxPool(image().astype('int8'), 2)
  const mean: ft.Tensor<'float32'> = ft.nn.avgPool(ints, 2)
  const product: ft.Tensor<'float64'> = ft.nn.conv(image(), ft.ones([2, 1, 2, 2], { dtype: 'float64' }))
  t.deepEqual([ints.dtype, mean.dtype, product.dtype], ['int8', 'float32', 'float64'])
})

test('wrong options are named', (t) => {
  const x = image()
  const bad = (padding: unknown) => () => ft.nn.maxPool(x, 2, { padding: padding as number })
  t.throws(bad([[1, 2, 3], [0, 0]]), { instanceOf: ft.ArgumentError, message: /'padding\[0\]' must be two numbers, before and after/ })
  t.throws(bad([[1, 0], 0]), { instanceOf: ft.ArgumentError, message: /'padding\[1\]' must be an array of integers/ })
  t.throws(bad('full'), { instanceOf: ft.ArgumentError, message: /'same' or 'valid', got 'full'/ })
  t.throws(bad(null), { instanceOf: ft.ArgumentError, message: /got null/ })
  t.throws(bad([]), { instanceOf: ft.ArgumentError })
  t.throws(bad(-1), { instanceOf: ft.ArgumentError, message: /padding must not be negative/ })
  t.throws(() => ft.nn.conv(x, ft.ones([2, 3, 2, 2])), { instanceOf: ft.ShapeError, message: /1 channels of \[1, 1, 4, 4\].*\[2, 3, 2, 2\]/ })
  t.throws(() => ft.nn.maxPool(x, 5), { instanceOf: ft.ShapeError, message: /axis 2 of \[1, 1, 4, 4\]/ })
  // @ts-expect-error a pooling has no default window
  t.throws(() => ft.nn.maxPool(x), { instanceOf: ft.ArgumentError, message: /'window'/ })
})

test('what runs in other words is counted, and is no fallback', (t) => {
  ft.resetStats()
  ft.nn.maxPool(image(), 2).toArray()
  const { rewritten, fallbacks } = ft.stats()
  t.deepEqual(rewritten, [{ device: 'cpu', op: 'nn.maxPool', kernel: 'window', dtype: 'float32', count: 1 }])
  t.deepEqual(fallbacks, [])
})
