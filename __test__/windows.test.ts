// Convolution and pooling as users call them: the forms of their options, their types, and the counter of rewritten kernels.
// runs on: vulkan

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
  const x = ft.ones([1, 1, 9, 9]).to('cpu')
  ft.evaluateSync(x)
  ft.resetStats()
  // Of 81 places; up to 64 the CPU has a kernel.
  ft.nn.maxPool(x, 9).toArray()
  const { rewritten, fallbacks } = ft.stats()
  t.deepEqual(rewritten, [{ device: 'cpu', op: 'nn.maxPool', kernel: 'window', dtype: 'float32', count: 1 }])
  t.deepEqual(fallbacks, [])
})

test('a transposed convolution is the gradient of a convolution by its data', (t) => {
  const [x, w] = [ft.arange(18).reshape([1, 2, 3, 3]), ft.arange(24).reshape([3, 2, 2, 2])]
  const cases = [[{}], [{ stride: 2, padding: 1 }, { outputPadding: 1 }], [{ dilation: 2, padding: [2, 1] }], [{ stride: [1, 2], padding: [[1, 0], [0, 1]] }]] as const
  for (const [options, more] of cases) {
    const y = ft.nn.conv(x, w, options)
    const g = ft.arange(y.size).reshape(y.shape)
    const back = ft.nn.convTranspose(g, w, { ...options, ...more })
    t.deepEqual(back.shape, x.shape)
    // <conv(x), g> = <x, convTranspose(g)>
    t.is(y.multiply(g).sum().toArray(), x.multiply(back).sum().toArray(), JSON.stringify(options))
  }
})

test('windows over all axes are those of pooling over spatial ones', (t) => {
  const x = ft.random.normal(ft.random.key(3), [2, 3, 6, 5])
  for (const options of [{}, { stride: 2 }, { padding: 'same', stride: [2, 3] }, { dilation: [2, 1] }] as const) {
    const pool = { stride: 1, ...options }
    const all = Object.fromEntries(Object.entries(options).map(([name, v]) => [name, Array.isArray(v) ? [1, 1, ...(v as number[])] : typeof v === 'number' ? [1, 1, v, v] : v]))
    t.deepEqual(x.windowMax([1, 1, 2, 3], all).toArray(), ft.nn.maxPool(x, [2, 3], pool).toArray())
    t.deepEqual(x.windowSum([1, 1, 2, 3], all).divide(6).toArray(), ft.nn.avgPool(x, [2, 3], pool).toArray())
  }
  t.deepEqual(x.windowMax(1).toArray(), x.toArray())
  t.is(ft.tensor(5).windowSum(3).toArray(), 5)
  t.is(ft.tensor(5).windowSum([]).toArray(), 5)
  // A window of one place may skip elements and lie outside.
  t.deepEqual(ft.tensor([5, 6, 7]).windowMax(1, { padding: 1, stride: 2 }).toArray(), [-Infinity, 6, -Infinity])
  t.deepEqual(ft.zeros([0, 3]).windowSum([1, 2]).shape, [0, 2])
  // Sixteen axes with windows make thirty-two.
  const ones = (n: number, size: number) => ft.ones(new Array<number>(n).fill(size))
  t.is(ones(16, 2).windowScatterMax(ones(16, 1), 2).sum().toArray(), 1)
  t.throws(() => ones(17, 2).windowSum(2), { code: 'ERR_SHAPE', message: /^windowSum: .*34 axes with their places, more than 32/ })
})

test('an update stands where the largest element is, in the dtype of the data', (t) => {
  const x = ft.tensor([16777216, 16777217], { dtype: 'int32' })
  t.deepEqual(x.windowScatterMax(ft.tensor([1]), 2).toArray(), [0, 1])
  t.deepEqual(ft.tensor([-Infinity, -Infinity]).windowScatterMax(ft.tensor([1, 2, 4]), 2, { padding: 1 }).toArray(), [3, 4])
  t.deepEqual(ft.tensor([Infinity, NaN, 1]).windowScatterMin(ft.tensor([1, 2, 4]), 2, { padding: [[1, 0]] }).toArray(), [1, 6, 0])
  t.throws(() => ft.ones([3]).windowScatterMax(ft.ones([1, 1]), 2), { code: 'ERR_SHAPE', message: /source of shape/ })
  t.throws(() => ft.ones([0]).windowScatterMax(ft.ones([1]), 2, { padding: 1 }), { code: 'ERR_SHAPE', message: /without data/ })
})

test('dropped elements are zero, the others larger', (t) => {
  const key = ft.random.key(5)
  const x = ft.ones([10_000]).withAt([0], NaN).withAt([1], Infinity)
  const y = ft.nn.dropout(key, x, { p: 0.25 })
  const values = ft.uniqueValues(y.at('2:')).toArray() as number[]
  t.deepEqual(values, [0, Math.fround(1 / 0.75)])
  const kept = y.countNonzero().toArray() as number
  t.true(Math.abs(kept - 7500) < 6 * Math.sqrt(10_000 * 0.25 * 0.75), `${kept} kept`)
  t.deepEqual(ft.nn.dropout(key, x, { p: 0.25 }).toArray(), y.toArray())
  t.deepEqual(ft.uniqueValues(ft.nn.dropout(key, x, { p: 1 })).toArray(), [0])
  const half: ft.Tensor<'float16'> = ft.nn.dropout(key, ft.ones([4], { dtype: 'float16' }))
  t.is(half.dtype, 'float16')
  t.throws(() => ft.nn.dropout(key, x, { p: 1.5 }), { code: 'ERR_ARGUMENT', message: /'p' must be a number from 0 to 1/ })
  t.throws(() => ft.nn.dropout(x as unknown as ft.random.Key, x), { code: 'ERR_ARGUMENT', message: /must be a key/ })
  // PyTorch's order.
  t.throws(() => ft.nn.dropout(x as never, key as never), { message: /got a float32 tensor; the key comes before the tensor: nn\.dropout\(key, x\)$/ })
  t.throws(() => ft.nn.embedding(ft.zeros([2], { dtype: 'int32' }), ft.zeros([3])), { code: 'ERR_SHAPE' })
  // @ts-expect-error indices are integers
  t.throws(() => ft.nn.embedding(ft.zeros([2]), ft.zeros([3, 2])), { code: 'ERR_DTYPE' })
  t.throws(() => ft.nn.embedding(ft.tensor([3], { dtype: 'int32' }), ft.zeros([3, 2])).toArray(), { code: 'ERR_INDEX' })
})

test('what cannot be counted is refused at the call', (t) => {
  const far = 281479271743489
  const long = ft.ones([1]).broadcastTo([1, 1, 65536])
  const one = ft.ones([1, 1, 1])
  t.throws(() => ft.nn.conv(long, one, { inputDilation: far, padding: 1 }), { code: 'ERR_SHAPE', message: /beyond 2\^53/ })
  t.throws(() => ft.nn.convTranspose(long, one, { stride: far, outputPadding: 1 }), { code: 'ERR_SHAPE', message: /beyond 2\^53/ })
  const cut = { stride: 2 ** 30, padding: [[2 ** 30, 0], [2 ** 30, 0]] } as const
  t.throws(() => ft.nn.convTranspose(ft.ones([1, 1, 2, 2]), ft.ones([1, 1, 1, 1]), cut), { code: 'ERR_SHAPE' })
  t.throws(() => ft.nn.convTranspose(one, one, { padding: 'same', outputPadding: 1 }), { code: 'ERR_ARGUMENT', message: /no choice/ })
  // The axis that shrinks comes first.
  t.deepEqual(ft.nn.interpolate(ft.ones([1]).broadcastTo([1, 1, 1, 2 ** 40]), [2 ** 20, 1]).shape, [1, 1, 2 ** 20, 1])
  t.throws(() => ft.nn.dropout(1 as unknown as ft.random.Key, one), { code: 'ERR_ARGUMENT', message: /^nn\.dropout: the first argument must be a key/ })
  t.throws(() => ft.random.bernoulli([2] as unknown as ft.random.Key, [2]), { code: 'ERR_ARGUMENT', message: /^random\.bernoulli: the first/ })
})
