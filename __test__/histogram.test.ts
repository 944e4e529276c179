// Counts of integers and intervals, and sets of elements: against what NumPy gives, and what is refused.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'

const ints = (...values: number[]): ft.Tensor<'int32'> => ft.tensor(values, { dtype: 'int32' })

test('bincount counts, adds weights, and is as long as asked for', (t) => {
  t.deepEqual(ft.bincount(ints(1, 3, 1)).toArray(), [0, 2, 0, 1])
  t.deepEqual(ft.bincount(ints(1, 3, 1), { minlength: 6 }).toArray(), [0, 2, 0, 1, 0, 0])
  t.deepEqual(ft.bincount(ints(1, 3, 1), { weights: ft.tensor([0.5, 1, 2]) }).toArray(), [0, 2.5, 0, 1])
  const heavy = ft.tensor([2147483647, 1, 1], { dtype: 'int32' })
  t.deepEqual(ft.bincount(ints(1, 0, 0), { weights: heavy }).toArray(), [2, 2147483647])
  t.throws(() => ft.bincount(ints(1, 3, 1), { weights: heavy }).toArray(), { instanceOf: ft.DTypeError })
  t.throws(() => ft.histogram(ft.tensor([1, 1, 2]), { bins: 1, weights: heavy }).hist.toArray(), { instanceOf: ft.DTypeError })
  t.deepEqual(ft.bincount(ints(1, 3, 1), { weights: heavy.astype('int64') }).toArray(), [0n, 2147483648n, 0n, 1n])
  t.deepEqual(ft.bincount(ints(), { minlength: 2 }).toArray(), [0, 0])
  t.deepEqual(ft.bincount(ints()).shape, [0])
  t.deepEqual(ft.bincount(ft.tensor([2n, 0n])).toArray(), [1, 0, 1])
  t.deepEqual(ft.bincount(ft.tensor([[1, 0], [1, 1]], { dtype: 'uint8' })).toArray(), [1, 3])
  t.is(ft.bincount(ints(1)).dtype, 'int32')
})

test('bincount reads elements of int32 as they are: nothing as large as they are is written', (t) => {
  const x = ft.random.randint(ft.random.key(1), 0, 10, [1000])
  ft.evaluateSync(x)
  const { kernels } = ft.profile(() => ft.bincount(x))
  t.true(kernels.length > 0)
  for (const { name, written } of kernels) t.true(written < 1000, `${name}: ${written} bytes`)
})

test('bincount without blocking', async (t) => {
  t.deepEqual((await ft.bincountAsync(ints(2, 2))).toArray(), [0, 0, 2])
  await t.throwsAsync(ft.bincountAsync(ints(-1)), { instanceOf: ft.ArgumentError, message: 'bincountAsync: elements must not be negative, got -1' })
})

test('what cannot be counted is refused', (t) => {
  t.throws(() => ft.bincount(ints(3, -1)), { instanceOf: ft.ArgumentError })
  t.throws(() => ft.bincount(ft.tensor([0.5]) as never), { instanceOf: ft.ArgumentError, message: /integer dtype, got float32/ })
  t.throws(() => ft.bincount(ints(1), { weights: ft.ones([2]) }), { instanceOf: ft.ShapeError })
  t.throws(() => ft.bincount(ints(1), { minlength: -1 }), { instanceOf: ft.ArgumentError })
  t.throws(() => ft.bincount(ft.tensor([2n ** 40n])), { instanceOf: ft.ShapeError })
  t.throws(() => ft.histogram(ft.ones([2]), { bins: 0 }), { instanceOf: ft.ArgumentError })
  t.throws(() => ft.histogram(ft.ones([2]), { range: [1, 0] }), { instanceOf: ft.ArgumentError })
  t.throws(() => ft.histogram(ft.ones([2]), { range: [0, Infinity] }), { instanceOf: ft.ArgumentError })
  t.throws(() => ft.histogram(ft.ones([2]), { bins: ft.ones([1]) }), { instanceOf: ft.ShapeError })
  t.throws(() => ft.histogram(ft.ones([2]), { weights: ft.ones([3]) }), { instanceOf: ft.ShapeError })
  t.throws(() => ft.histogram(ft.ones([2]), { densities: true } as never), { instanceOf: ft.ArgumentError, message: /density/ })
})

test('histograms: the last interval holds its end, what is outside is not counted', (t) => {
  const x = ft.tensor([1, 2, 2, 4, 9, -3, NaN])
  const { hist, binEdges } = ft.histogram(x, { bins: 3, range: [1, 4] })
  t.deepEqual(hist.toArray(), [1, 2, 1])
  t.deepEqual(binEdges.toArray(), [1, 2, 3, 4])
  t.is(hist.dtype, 'int32')
  t.deepEqual(ft.histogram(x, { bins: ft.tensor([-5, 0, 2, 10]) }).hist.toArray(), [1, 1, 4])
  t.deepEqual(ft.histogram(ft.tensor([1, 2]), { bins: 2, weights: ft.tensor([0.5, 3]) }).hist.toArray(), [0.5, 3])
  t.deepEqual(ft.histogram(ft.tensor([0, 1, 1, 3]), { bins: ft.tensor([0, 1, 3]), density: true }).hist.toArray(), [0.25, 0.375])
})

test('edges of equal elements, of none, and of a range of one number', (t) => {
  t.deepEqual(ft.histogramBinEdges(ft.tensor([2, 2]), { bins: 2 }).toArray(), [1.5, 2, 2.5])
  t.deepEqual(ft.histogramBinEdges(ft.zeros([0]), { bins: 2 }).toArray(), [0, 0.5, 1])
  t.deepEqual(ft.histogramBinEdges(ints(5), { bins: 1, range: [3, 3] }).toArray(), [2.5, 3.5])
  t.is(ft.histogramBinEdges(ft.ones([3], { dtype: 'float64' })).dtype, 'float64')
  t.is(ft.histogramBinEdges(ints(1, 2)).size, 11)
})

test('edges are those of linspace, and elements are compared with them', (t) => {
  const { hist, binEdges } = ft.histogram(ft.tensor([-3, -2, -1, 0, 0.5, 3, 2.5]), { bins: 6 })
  t.deepEqual(binEdges.toArray(), [-3, -2, -1, 0, 1, 2, 3])
  t.deepEqual(hist.toArray(), [1, 1, 1, 2, 0, 2])
  for (const dtype of ['float16', 'bfloat16', 'float32', 'float64'] as const) {
    const edges = ft.histogramBinEdges(ft.tensor([0.1, 100.7], { dtype: 'float64' }).astype(dtype), { bins: 300, range: [0.1, 100.7] })
    t.deepEqual(edges.toArray(), ft.linspace(0.1, 100.7, 301, { dtype }).toArray())
  }
})

test('complex numbers have no intervals, and nothing is recorded for them', (t) => {
  const { histogram, histogramBinEdges } = ft as unknown as Record<string, (x: ft.Tensor) => unknown>
  const z = ft.ones([2], { dtype: 'complex64' })
  t.throws(() => histogram?.(z), { instanceOf: ft.DTypeError, message: /^histogram: complex numbers have no order, got complex64/ })
  t.throws(() => histogramBinEdges?.(z), { instanceOf: ft.DTypeError, message: /^histogramBinEdges: complex/ })
})

test('edges of a range that overflows are finite', (t) => {
  for (const [dtype, most] of [['float16', 65504], ['float32', 2 ** 127], ['float64', 2 ** 1023]] as const) {
    const { hist, binEdges } = ft.histogram(ft.tensor([-most, 0, most], { dtype }), { bins: 4 })
    t.deepEqual(binEdges.toArray(), [-most, -most / 2, 0, most / 2, most], dtype)
    t.deepEqual(hist.toArray(), [1, 0, 1, 1], dtype)
  }
})

test('edges of integers that float32 does not hold are float64', (t) => {
  const { hist, binEdges } = ft.histogram(ft.tensor([2n ** 40n, 2n ** 40n + 2n, 2n ** 40n + 4n, 2n ** 40n + 3n]), { bins: 2 })
  t.is(binEdges.dtype, 'float64')
  t.deepEqual(binEdges.toArray(), [2 ** 40, 2 ** 40 + 2, 2 ** 40 + 4])
  t.deepEqual(hist.toArray(), [1, 3])
  t.is(ft.histogramBinEdges(ints(1, 2)).dtype, 'float64')
  t.is(ft.histogramBinEdges(ft.tensor([1, 2], { dtype: 'int16' })).dtype, 'float32')
})

test('edges that do not increase are refused by the read', (t) => {
  const message = 'histogram: edges must increase monotonically'
  for (const bins of [ft.tensor([2, 1, 0]), ft.tensor([0, 2, 1])]) {
    const { hist } = ft.histogram(ft.ones([2]), { bins })
    t.throws(() => hist.toArray(), { instanceOf: ft.ArgumentError, message })
  }
  t.deepEqual(ft.histogram(ft.ones([2]), { bins: ft.tensor([0, 1, 1, 2]) }).hist.toArray(), [0, 0, 2])
})

test('digitize: decreasing bins as NumPy, others are refused by the read', (t) => {
  const bins = ft.tensor([5, 3, 1])
  t.deepEqual(ft.digitize(ft.tensor([0.5, 1, 3, 9]), bins).toArray(), [3, 2, 1, 0])
  t.deepEqual(ft.digitize(ft.tensor([0.5, 1, 3, 9]), bins, { right: true }).toArray(), [3, 3, 2, 0])
  const unordered = ft.digitize(ft.tensor([0.5]), ft.tensor([1, 3, 2]))
  t.throws(() => unordered.toArray(), { instanceOf: ft.ArgumentError, message: 'digitize: bins must increase or decrease monotonically' })
  t.deepEqual(ft.digitize(2, ints(1, 1, 1)).toArray(), 3)
  t.deepEqual(ft.digitize(ft.tensor([0, 2]), ft.tensor([1])).toArray(), [0, 1])
})

test('digitize: both ends of intervals', (t) => {
  const bins = ft.tensor([0, 1, 2])
  t.deepEqual(ft.digitize(ft.tensor([-1, 0, 1, 2, 5]), bins).toArray(), [0, 1, 2, 3, 3])
  t.deepEqual(ft.digitize(ft.tensor([-1, 0, 1, 2, 5]), bins, { right: true }).toArray(), [0, 0, 1, 2, 3])
})

test('sets: distinct elements in ascending order', async (t) => {
  const [a, b] = [ft.tensor([3, 1, 3, 7]), ft.tensor([[2, 3], [7, 7]])]
  t.deepEqual(ft.union1d(a, b).toArray(), [1, 2, 3, 7])
  t.deepEqual(ft.intersect1d(a, b).toArray(), [3, 7])
  t.deepEqual(ft.setdiff1d(a, b).toArray(), [1])
  t.deepEqual(ft.setxor1d(a, b).toArray(), [1, 2])
  t.deepEqual((await ft.union1dAsync(a, b)).toArray(), [1, 2, 3, 7])
  t.deepEqual((await ft.intersect1dAsync(a, b)).toArray(), [3, 7])
  t.deepEqual((await ft.setdiff1dAsync(a, b)).toArray(), [1])
  t.deepEqual((await ft.setxor1dAsync(a, b)).toArray(), [1, 2])
  t.deepEqual(ft.intersect1d(a, ft.zeros([0])).toArray(), [])
  t.deepEqual(ft.setdiff1d(ft.zeros([0]), b).toArray(), [])
  t.deepEqual(ft.union1d(ft.tensor([1n, 5n]), ft.tensor([5n])).toArray(), [1n, 5n])
  // @ts-expect-error complex numbers have no order
  t.throws(() => ft.union1d(a, ft.ones([1], { dtype: 'complex64' })), { instanceOf: ft.DTypeError })
  t.throws(() => ft.intersect1d(a, 'x' as never), { instanceOf: ft.ArgumentError })
})
