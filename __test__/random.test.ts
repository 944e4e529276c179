// Random tensors: reproducible, independent of shape, and distributed as they say.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

const key = ft.random.key(42)

test('a draw depends on the key alone', (t) => {
  t.deepEqual(ft.random.normal(key, [4, 5]).toArray(), ft.random.normal(ft.random.key(42), [4, 5]).toArray())
  t.deepEqual(ft.random.uniform(key, [20]).toArray(), ft.random.uniform(key, [4, 5]).reshape([20]).toArray())
  t.notDeepEqual(ft.random.uniform(key, [4]).toArray(), ft.random.uniform(ft.random.key(43), [4]).toArray())
  t.notDeepEqual(ft.random.bits(ft.random.key(2 ** 32), [4]).toArray(), ft.random.bits(ft.random.key(0), [4]).toArray())
  t.deepEqual(ft.random.key(7n).toArray(), ft.random.key(7).toArray())
})

test('keys split and fold into different keys', (t) => {
  const keys = [key, ...ft.random.split(key, 4), ...[0, 1, 2].map((i) => ft.random.fold(key, i))]
  t.is(new Set(keys.map((k) => String(k.toArray()))).size, 8)
  t.deepEqual(ft.random.split(key).map((k) => [k.shape, k.dtype]), [[[2], 'uint32'], [[2], 'uint32']])
})

test('uniform and normal have their moments', (t) => {
  const n = 100_000
  const u = ft.random.uniform(key, [n], { low: -1, high: 3 })
  const z = ft.random.normal(key, [n], { mean: 2, std: 3 })
  const [mean, std] = [(x: ft.Tensor) => Number(x.mean().itemSync()), (x: ft.Tensor) => Math.sqrt(Number(x.sub(x.mean()).square().mean().itemSync()))]
  // Five standard errors of the mean: 5 std / sqrt(n).
  t.true(Math.abs(mean(u) - 1) < 0.02, `${mean(u)}`)
  t.true(Math.abs(std(u) - 4 / Math.sqrt(12)) < 0.02, `${std(u)}`)
  t.true(Math.abs(mean(z) - 2) < 0.05, `${mean(z)}`)
  t.true(Math.abs(std(z) - 3) < 0.05, `${std(z)}`)
  t.true(Number(u.min().itemSync()) >= -1 && Number(u.max().itemSync()) < 3)
})

test('dtypes', (t) => {
  t.is(ft.random.bits(key, [2]).dtype, 'uint32')
  t.is(ft.random.bits(key, [2], { dtype: 'uint64' }).dtype, 'uint64')
  for (const dtype of ['float16', 'bfloat16', 'float32', 'float64'] as const) t.is(ft.random.normal(key, [2], { dtype }).dtype, dtype)
})

test('a permutation holds every number once', (t) => {
  const p = ft.random.permutation(key, 1000).toArray() as number[]
  t.deepEqual([...p].sort((a, b) => a - b), Array.from({ length: 1000 }, (_, i) => i))
  t.notDeepEqual(p, [...p].sort((a, b) => a - b))
})

test('a shuffle moves whole slices along one axis, in the order of the permutation', (t) => {
  const x = ft.arange(24, { dtype: 'int32' }).reshape([2, 3, 4])
  for (const axis of [0, 1, 2, -1]) {
    const order = ft.random.permutation(key, x.shape.at(axis) as number)
    t.deepEqual(ft.random.shuffle(key, x, { axis }).toArray(), x.take(order, { axis }).toArray(), `${axis}`)
    t.deepEqual(ft.random.shuffle(key, x, axis).sort({ axis }).toArray(), x.toArray(), `${axis}`)
  }
  t.deepEqual(ft.random.shuffle(key, ft.zeros([0, 2])).shape, [0, 2])
  t.notDeepEqual(ft.random.shuffle(key, ft.arange(100)).toArray(), ft.arange(100).toArray())
  t.deepEqual(ft.jit(ft.random.shuffle)(key, x).toArray(), ft.random.shuffle(key, x).toArray())
  const weights = ft.arange(5)
  // Each element of x meets the weight of its new place.
  const moved = ft.random.shuffle(key, ft.arange(5)).toArray() as number[]
  t.deepEqual(ft.grad((v: ft.Tensor<'float32'>) => ft.random.shuffle(key, v).mul(weights).sum())(ft.ones([5])).toArray(), [0, 1, 2, 3, 4].map((i) => moved.indexOf(i)))
  const rng = ft.random.generator(1)
  t.notDeepEqual(rng.shuffle(ft.arange(100)).toArray(), rng.shuffle(ft.arange(100)).toArray())
  const shuffle = ft.random.shuffle as (...args: unknown[]) => unknown
  throws(t, 'ERR_ARGUMENT', /^random.shuffle: the first argument must be a key/, () => shuffle(x, key))
  throws(t, 'ERR_ARGUMENT', /^random.shuffle: 'x' must be a tensor, got 5/, () => shuffle(key, 5))
  throws(t, 'ERR_INDEX', /^random.shuffle: axis 3 is out of range for rank 3/, () => shuffle(key, x, 3))
  throws(t, 'ERR_INDEX', /^random.shuffle: axis 0 is out of range for rank 0/, () => shuffle(key, ft.tensor(1)))
  throws(t, 'ERR_ARGUMENT', /^random.shuffle: unknown option 'dim'/, () => shuffle(key, x, { dim: 1 }))
})

test('integers of a range', (t) => {
  const x = ft.random.randint(key, -3, 4, [7000])
  t.is(x.dtype, 'int32')
  const counts = [-3, -2, -1, 0, 1, 2, 3].map((v) => ft.equal(x, v).astype('int32').sum().itemSync() as number)
  t.is(counts.reduce((a, b) => a + b), 7000, 'nothing outside of [low, high)')
  // Five standard deviations of a binomial with n = 7000, p = 1/7.
  for (const count of counts) t.true(Math.abs(count - 1000) < 5 * Math.sqrt(7000 * (1 / 7) * (6 / 7)), String(counts))
  t.deepEqual(ft.random.randint(key, -3, 4, [70, 100]).reshape([7000]).toArray(), x.toArray())
  t.deepEqual(ft.random.randint(key, 5, 6, [3], { dtype: 'uint8' }).toArray(), [5, 5, 5])
  t.deepEqual(ft.random.randint(key, 0, 256, [2], { dtype: 'uint8' }).dtype, 'uint8')
  t.is(typeof ft.random.randint(key, 0, 2 ** 53 - 1, [], { dtype: 'int64' }).itemSync(), 'bigint')
  const rng = ft.random.generator(3)
  t.notDeepEqual(rng.randint(0, 1000, [4]).toArray(), rng.randint(0, 1000, [4]).toArray())
  const randint = ft.random.randint as (...args: unknown[]) => unknown
  throws(t, 'ERR_ARGUMENT', /^random.randint: the range from 4 to 4 \(excluded\) is empty/, () => randint(key, 4, 4, [1]))
  throws(t, 'ERR_ARGUMENT', /^random.randint: 'high' must be an integer, got 0.5/, () => randint(key, 0, 0.5, [1]))
  throws(t, 'ERR_ARGUMENT', /^random.randint: the first argument must be a key .* got 0/, () => randint(0, 10, [3]))
  throws(t, 'ERR_ARGUMENT', /^random.randint: 'shape' must be an array/, () => randint(key, 0, 10, 3))
  throws(t, 'ERR_DTYPE', /^random.randint: uint8 does not hold the range from 0 to 257/, () => randint(key, 0, 257, [1], { dtype: 'uint8' }))
  throws(t, 'ERR_DTYPE', /^random.randint: takes an integer dtype, got float32/, () => randint(key, 0, 2, [1], { dtype: 'float32' }))
})

test('a generator never repeats a draw, and repeats itself', (t) => {
  const [a, b] = [ft.random.generator(1), ft.random.generator(1)]
  const first = a.normal([3]).toArray()
  t.deepEqual(b.normal([3]).toArray(), first)
  t.notDeepEqual(a.normal([3]).toArray(), first)
  t.is(a.permutation(4).dtype, 'int32')
})

test('a refused draw leaves its key to the next', (t) => {
  const [a, b] = [ft.random.generator(1), ft.random.generator(1)]
  t.throws(() => a.normal([-1]), { instanceOf: ft.ShapeError })
  t.throws(() => a.exponential([2], { scale: 0 }), { instanceOf: ft.ArgumentError })
  t.throws(() => a.choice(2, [3], { replace: false }), { instanceOf: ft.ShapeError })
  t.deepEqual(a.normal([3]).toArray(), b.normal([3]).toArray())
})

test('wrong seeds, keys and options', (t) => {
  const random = ft.random as unknown as Record<'key' | 'normal' | 'bits', (...args: unknown[]) => unknown>
  for (const seed of [-1, 0.5, NaN, 2 ** 53, -1n, 1n << 64n, '1', null, undefined]) throws(t, 'ERR_ARGUMENT', /^random\.key/, () => random.key(seed))
  throws(t, 'ERR_ARGUMENT', /^random\.normal: key must come from/, () => random.normal(ft.zeros([3], { dtype: 'uint32' }), [1]))
  throws(t, 'ERR_ARGUMENT', /^random.normal: the first argument must be a key from ft.random.key\(seed\), got a float32 tensor$/, () => random.normal(ft.zeros([2]), [1]))
  throws(t, 'ERR_ARGUMENT', /^random.normal: the first argument must be a key from ft.random.key\(seed\), got 42/, () => random.normal(42, [1]))
  throws(t, 'ERR_ARGUMENT', /^random.normal: the first argument must be a key .* got \[2, 3\]/, () => random.normal([2, 3]))
  throws(t, 'ERR_ARGUMENT', /'std' must not be negative, got -1/, () => random.normal(key, [1], { std: -1 }))
  throws(t, 'ERR_ARGUMENT', /'mean' must be a finite number, got NaN/, () => random.normal(key, [1], { mean: NaN }))
  throws(t, 'ERR_ARGUMENT', /low 2 is above high 1/, () => ft.random.uniform(key, [1], { low: 2 }))
  throws(t, 'ERR_ARGUMENT', /'count' must be an integer, got undefined/, () => (ft.random.permutation as (...args: unknown[]) => unknown)(key))
  throws(t, 'ERR_DTYPE', /floating/, () => random.normal(key, [1], { dtype: 'int32' }))
  throws(t, 'ERR_ARGUMENT', /unknown option 'scale'; did you mean 'std'\?/, () => random.normal(key, [1], { scale: 2 }))
  throws(t, 'ERR_DTYPE', /uint32 or uint64/, () => random.bits(key, [1], { dtype: 'int32' }))
})
