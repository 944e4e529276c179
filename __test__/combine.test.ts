// Combinations by the caller's functions: values beside loops of JavaScript and beside the rows that combine the same, the order that all
// three share, and gradients beside differences.
// runs on: vulkan

import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { close } from './expect.js'
import { settled } from './settled.js'

type F = ft.Tensor<'float32'>
type D = ft.Tensor<'float64'>
type I = ft.Tensor<'int32'>

const float64 = { dtype: 'float64' } as const
const add = <T extends ft.Tensor>(a: T, b: T): T => ft.add(a as ft.Tensor, b as ft.Tensor) as ft.Tensor as T
const maximum = <T extends ft.Tensor>(a: T, b: T): T => ft.maximum(a as ft.Tensor, b as ft.Tensor) as ft.Tensor as T
/** Associative, and not commutative: the last element that is not zero. */
const latest = (a: I, b: I): I => ft.where(b.equal(0), a, b)
const integers = (shape: readonly number[], seed = 1): I => ft.random.randint(ft.random.key(seed), -9, 10, shape)
const same = (t: ExecutionContext, actual: ft.Tensor, expected: ft.Tensor, about = ''): void => {
  t.deepEqual([actual.dtype, actual.device, actual.shape], [expected.dtype, expected.device, expected.shape], about)
  t.deepEqual(actual.toBytes(), expected.toBytes(), about)
}

const SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 100, 127, 1000]

test('prefixes are those of the running rows, along any axis and from either end', (t) => {
  for (const n of SIZES) {
    for (const [shape, axis] of [[[n], 0], [[n, 3], 0], [[2, n], -1], [[2, n, 3], 1]] as const) {
      const x = integers(shape, n + 1)
      const about = `[${shape.join()}] axis ${axis}`
      same(t, ft.associativeScan(add, x, axis), x.cumulativeSum(axis), about)
      same(t, ft.associativeScan(maximum, x, { axis }), x.cumulativeMax(axis), about)
      same(t, ft.associativeScan(add, x, { axis, reverse: true }), x.flip(axis).cumulativeSum(axis).flip(axis), about)
    }
  }
  same(t, ft.associativeScan(ft.add, ft.ones([5])), ft.arange(1, 6))
})

test('the earlier elements come first, or from the end the later ones', (t) => {
  const x = ft.tensor([0, 3, 0, 0, 5, 0, 7, 0, 0], { dtype: 'int32' })
  t.deepEqual(ft.associativeScan(latest, x).toArray(), [0, 3, 3, 3, 5, 5, 7, 7, 7])
  t.deepEqual(ft.associativeScan(latest, x, { reverse: true }).toArray(), [3, 3, 5, 5, 5, 7, 7, 0, 0])
  t.deepEqual(ft.associativeScan((a) => a, x).toArray(), new Array(9).fill(0))
  t.deepEqual(ft.associativeScan((_, b) => b, x).toArray(), x.toArray())
  t.is(ft.reduce(x, 1, latest).toArray(), 7)
  t.is(ft.reduce(x, 1, (a) => a).toArray(), 1)
  t.is(ft.reduce(x.at(':3'), 1, (_, b) => b).toArray(), 0)
})

test('a recurrence by a tree of its coefficients', (t) => {
  // h_t = a_t h_(t-1) + b_t.
  for (const n of [1, 2, 3, 10, 64, 77]) {
    const [a, b] = [ft.random.uniform(ft.random.key(n), [n, 2], { ...float64, low: -1, high: 1 }), ft.random.normal(ft.random.key(n + 1), [n, 2], float64)]
    const x = { a, b, note: 'handed through' }
    const { b: h, note } = ft.associativeScan((p, q) => ({ a: p.a.mul(q.a), b: q.a.mul(p.b).add(q.b), note: '' }), x)
    const [as, bs] = [a.toArray() as number[][], b.toArray() as number[][]]
    const state = [0, 0]
    const expected = as.map((row, i) => row.map((factor, j) => (state[j] = factor * state[j]! + bs[i]![j]!)))
    t.true(close(h.toArray(), expected), `${n}`)
    t.is(note, 'handed through')
  }
})

test('parts of a tree may have axes of their own: products of matrices with a count', (t) => {
  const n = 13
  const x = [{ m: integers([n, 2, 2], 5) }, ft.ones([n], { dtype: 'int32' })] as const
  const [{ m }, counts] = ft.associativeScan(([p, i], [q, j]) => [{ m: p.m.matmul(q.m) }, i.add(j)] as const, x)
  t.deepEqual(counts.toArray(), Array.from({ length: n }, (_, i) => i + 1))
  let product = x[0].m.at(0)
  for (let i = 0; i < n; i++) {
    if (i > 0) product = product.matmul(x[0].m.at(i))
    same(t, m.at(i), product, `product ${i}`)
  }
  // Counted from the last axis of each.
  const pair = ft.associativeScan((a, b) => ({ u: a.u.add(b.u), v: a.v.add(b.v) }), { u: integers([3, 4]), v: integers([4]) }, -1)
  same(t, pair.u, integers([3, 4]).cumulativeSum(-1))
  same(t, pair.v, integers([4]).cumulativeSum())
})

test('a scan is about 2 log n calls over 2n elements, a reduction of n elements combines n', (t) => {
  for (const n of SIZES.filter((n) => n > 1)) {
    let [calls, positions] = [0, 0]
    const counting = (a: I, b: I): I => {
      calls++
      positions += a.size
      return a.add(b)
    }
    ft.associativeScan(counting, integers([n]))
    t.true(calls <= 2 * Math.log2(n) && positions < 2 * n, `${n}: ${calls} calls, ${positions} positions`)
    calls = positions = 0
    ft.reduce(integers([n]), 0, counting)
    t.true(calls <= 2 * Math.log2(n) + 1 && positions === n, `${n}: ${calls} calls, ${positions} positions`)
    calls = 0
    ft.windowReduce(integers([2 * n]), 0, counting, { window: n })
    t.true(calls <= 2 * Math.log2(n) + 1, `${n}: ${calls} calls`)
  }
})

test('a prefix, a reduction and a window over the same elements have the same bits', (t) => {
  const x = ft.random.normal(ft.random.key(3), [70])
  const scan = ft.associativeScan(add, x)
  for (let n = 1; n <= 70; n++) {
    const sum = ft.reduce(x.at(`:${n}`), 0, add)
    same(t, scan.at(n - 1), sum, `${n}`)
    const windows = ft.windowReduce(x, 0, add, { window: n })
    same(t, windows.at(0), sum, `${n}`)
    // Far apart they are cut out, else they are made by doubling.
    for (const stride of [2, 7, 40]) same(t, ft.windowReduce(x, 0, add, { window: n, stride }), windows.at(`::${stride}`), `${n} stride ${stride}`)
  }
  // With float32 another order has other bits.
  t.notDeepEqual(scan.toArray(), x.cumulativeSum().toArray())
})

test('reductions are those of the rows, over any axes', (t) => {
  const x = integers([3, 4, 5], 2)
  for (const axis of [undefined, 0, 1, 2, -1, [0], [0, 1], [1, 2], [2, 0], [0, -1], [0, 1, 2], []] as const) {
    for (const keepdims of [false, true]) {
      const options = { axis, keepdims }
      const about = JSON.stringify(options)
      same(t, ft.reduce(x, 0, add, options), x.sum(options), about)
      same(t, ft.reduce(x, -100, maximum, options), x.max(options), about)
    }
  }
  same(t, ft.reduce(x, 0, add, 1), x.sum(1))
  same(t, ft.reduce(x, 0, add, [0, 2]), x.sum([0, 2]))
  for (const n of SIZES) same(t, ft.reduce(integers([n, 2], n), 0, ft.add, 0), integers([n, 2], n).sum(0), `${n}`)
  // Several axes count in row-major order, whichever is named first.
  const last = ft.reduce(x, 0, (_, b) => b, { axis: [2, 0] })
  same(t, last, x.at(-1, ':', -1))
  const flags = x.greater(0)
  same(t, ft.reduce(flags, true, ft.logicalAnd, 0), flags.all(0))
  t.is(ft.reduce(ft.tensor([1n, 2n, 2n ** 60n]), 5n, add).toArray(), 2n ** 60n + 8n)
  t.deepEqual(ft.reduce(ft.tensor([{ re: 1, im: 1 }, { re: 0, im: 2 }]), 1, (a, b) => a.mul(b)).toArray(), { re: -2, im: 2 })
  t.is(ft.reduce(ft.tensor([3, 4], { dtype: 'float16' }), 0.5, add).toArray(), 7.5)
})

test('init is combined once, and is what remains of nothing', (t) => {
  const x = integers([7, 3])
  same(t, ft.reduce(x, 10, add, 0), x.sum(0).add(10))
  same(t, ft.reduce(x, ft.tensor(10, { dtype: 'int32' }), add, { axis: 0, keepdims: true }), x.sum({ axis: 0, keepdims: true }).add(10))
  t.deepEqual(ft.reduce(ft.zeros([0, 2]), 4, add, 0).toArray(), [4, 4])
  t.is(ft.reduce(ft.zeros([0, 2]), 4, add).toArray(), 4)
  t.deepEqual(ft.reduce(ft.zeros([0, 2]), 4, add, 1).shape, [0])
  t.is(ft.reduce(ft.tensor(3), 4, add).toArray(), 7)
  t.is(ft.associativeScan(add, ft.zeros([0])).size, 0)
  t.deepEqual(ft.windowReduce(ft.ones([3]), 10, add, { window: 2 }).toArray(), [12, 12])
  t.deepEqual(ft.windowReduce(ft.ones([2]), 10, add, { window: 2, padding: 1 }).toArray(), [21, 12, 21])
  t.is(ft.windowReduce(ft.tensor(3), 4, add, { window: 5 }).toArray(), 7)
  t.deepEqual(ft.windowReduce(ft.ones([2]), 10, (_, b) => b, { window: 1 }).toArray(), [1, 1])
})

/** Windows one after the other, their places in row-major order. */
function looped(x: I, init: number, fn: (a: number, b: number) => number, windows: { size: number; stride: number; dilation: number; before: number }[], counts: readonly number[]): number[] {
  const data = x.dataSync()
  const found: number[] = []
  const each = (sizes: readonly number[], visit: (place: number[]) => void, place: number[] = []): void => {
    if (place.length === sizes.length) visit(place)
    else for (let i = 0; i < sizes[place.length]!; i++) each(sizes, visit, [...place, i])
  }
  each(counts, (p) => {
    let value = init
    each(windows.map(({ size }) => size), (k) => {
      const at = windows.map(({ stride, dilation, before }, axis) => p[axis]! * stride + k[axis]! * dilation - before)
      const inside = at.every((i, axis) => i >= 0 && i < x.shape[axis]!)
      value = fn(value, inside ? data[at.reduce((sum, i, axis) => sum * x.shape[axis]! + i, 0)]! : init)
    })
    found.push(value)
  })
  return found
}

test('windows are those of the rows and of loops, however they lie', (t) => {
  const x = integers([11, 13], 7)
  let tried = 0
  for (const window of [1, 2, 3, [4, 5], [7, 1], [1, 11], 6] as const) {
    for (const stride of [1, 2, [3, 5]] as const) {
      for (const dilation of [1, [1, 2]] as const) {
        for (const padding of ['valid', 'same', 1, [[0, 2], [3, 0]]] as const) {
          const options = { stride, dilation, padding }
          const about = JSON.stringify([window, options])
          const pair = (value: number | readonly number[]): readonly number[] => (typeof value === 'number' ? [value, value] : value)
          if (pair(window)[1]! * pair(dilation)[1]! > 13) continue
          tried++
          const sum = x.windowSum(window, options)
          same(t, ft.windowReduce(x, 0, add, { window, ...options }), sum, about)
          same(t, ft.windowReduce(x, -(2 ** 31), maximum, { window, ...options }), x.windowMax(window, options), about)
          const [sizes, strides, dilations] = [pair(window), pair(stride), pair(dilation)]
          const windows = x.shape.map((length, axis) => {
            const [size, stride, dilation] = [sizes[axis]!, strides[axis]!, dilations[axis]!]
            const missing = Math.max(0, (sum.shape[axis]! - 1) * stride + (size - 1) * dilation + 1 - length)
            const before = typeof padding === 'number' ? padding : padding === 'valid' ? 0 : padding === 'same' ? Math.floor(missing / 2) : padding[axis]![0]!
            return { size, stride, dilation, before }
          })
          const last = looped(x, 4, (a, b) => (b === 0 ? a : b), windows, sum.shape)
          t.deepEqual([...ft.windowReduce(x, 4, latest, { window, ...options }).dataSync()], last, about)
        }
      }
    }
  }
  t.true(tried > 100, String(tried))
  const image = ft.random.randint(ft.random.key(8), 0, 100, [2, 3, 8, 6]).astype('float32')
  same(t, ft.windowReduce(image, -Infinity, ft.maximum, { window: [1, 1, 2, 2], stride: [1, 1, 2, 2] }), ft.nn.maxPool(image, 2))
  same(t, ft.windowReduce(image, -Infinity, ft.maximum, { window: [1, 1, 3, 3], padding: 'same' }), ft.nn.maxPool(image, 3, { stride: 1, padding: 'same' }))
  t.deepEqual(ft.windowReduce(ft.zeros([0, 3]), 1, add, { window: [1, 2] }).shape, [0, 2])
  t.deepEqual(ft.windowReduce(ft.zeros([0]), 1, add, { window: 3, padding: 'same' }).shape, [0])
  t.deepEqual(ft.windowReduce(ft.tensor([5, 6, 7]), 0, add, { window: 1, padding: 1, stride: 2 }).toArray(), [0, 6, 0])
  const flags = x.greater(0)
  const any = ft.windowReduce(flags, false, ft.logicalOr, { window: 2 })
  same(t, any, x.windowMax(2).greater(0))
})

/** The gradient of a function of a float64 tensor, by central differences. */
function differences(f: (x: D) => D, x: D): number[] {
  const data = x.dataSync()
  const step = 1e-5
  return Array.from(data, (_, i) => {
    const [high, low] = [1, -1].map((sign) => f(ft.fromTypedArray(data.map((v, j) => (i === j ? v + sign * step : v)), x.shape)).itemSync())
    return (high! - low!) / (2 * step)
  })
}

test('gradients are those of differences', (t) => {
  const x = ft.random.uniform(ft.random.key(4), [7, 3], { ...float64, low: 0.5, high: 1.5 })
  const weights = (y: D): D => y.mul(ft.random.normal(ft.random.key(9), y.shape, float64)).sum()
  const smooth = (a: D, b: D): D => a.add(b).add(a.mul(b))
  const recurrence = (x: D): D => ft.associativeScan((p, q) => ({ a: p.a.mul(q.a), b: q.a.mul(p.b).add(q.b) }), { a: x.sin(), b: x.mul(x) }).b
  const functions: Record<string, (x: D) => D> = {
    product: (x) => ft.reduce(x, 1, (a, b) => a.mul(b), 0),
    'product of all': (x) => ft.reduce(x, 2, (a, b) => a.mul(b)),
    'smooth, two axes': (x) => ft.reduce(x, 0.5, smooth, { axis: [1, 0], keepdims: true }),
    'init': (x) => ft.reduce(x, x.mean(), smooth, 1),
    'log of a sum': (x) => ft.reduce(x, -1, (a, b) => a.logaddexp(b), 0),
    recurrence,
    'recurrence from the end': (x) => ft.associativeScan(smooth, x, { axis: 1, reverse: true }),
    'scan of all lengths': (x) => ft.associativeScan(smooth, x.reshape([21])),
    windows: (x) => ft.windowReduce(x, 1, (a, b) => a.mul(b), { window: [3, 2] }),
    'windows far apart': (x) => ft.windowReduce(x, 0.5, smooth, { window: [3, 2], stride: [3, 1], padding: 'same' }),
    'windows and init': (x) => ft.windowReduce(x, x.sum(), smooth, { window: 2, padding: 1, dilation: [2, 1] })
  }
  for (const [name, f] of Object.entries(functions)) {
    const loss = (x: D): D => weights(f(x))
    const found = ft.grad(loss)(x)
    const expected = differences(loss, x)
    const worst = Math.max(...Array.from(found.dataSync(), (g, i) => Math.abs(g - expected[i]!) / Math.max(1, Math.abs(expected[i]!))))
    t.true(worst < 1e-7, `${name}: off by ${worst}`)
    const [, tangent] = ft.jvp(loss, [x], [ft.ones(x.shape, float64)])
    t.true(close(tangent.itemSync(), found.sum().itemSync()), name)
  }
  // The gradient of a product, where a factor is zero too, and the second derivative.
  t.deepEqual(ft.grad((x: F) => ft.reduce(x, 1, (a, b) => a.mul(b)))(ft.tensor([2, 0, 3])).toArray(), [0, 6, 0])
  t.deepEqual(ft.hessian((x: F) => ft.reduce(x, 1, (a, b) => a.mul(b)))(ft.tensor([2, 3, 5])).toArray(), [[0, 5, 3], [5, 0, 2], [3, 2, 0]])
  const back = ft.grad((x: F) => ft.associativeScan(add, x).mul(ft.tensor([1, 10, 100])).sum())(ft.ones([3]))
  t.deepEqual(back.toArray(), [111, 110, 100])
})

test('results are the caller\'s own, and so are the function\'s arguments', (t) => {
  const [x, init] = [ft.tensor([1, 2, 3]), ft.tensor(5)]
  ft.reduce(x, init, (a) => a).dispose()
  ft.reduce(ft.zeros([0]), init, (a) => a).dispose()
  ft.reduce(init, 0, (_, b) => b).dispose()
  ft.windowReduce(init, init, (_, b) => b, { window: 1 }).dispose()
  ft.windowReduce(x, init, (_, b) => b, { window: 1 }).dispose()
  ft.associativeScan((a) => a, x.at(':1')).dispose()
  const one = ft.tensor([7])
  ft.associativeScan((a) => a, one).dispose()
  t.deepEqual([x.toArray(), init.toArray(), one.toArray()], [[1, 2, 3], 5, [7]])
  const consuming = (a: F, b: F): F => {
    const y = a.add(b)
    a.dispose()
    b.dispose()
    return y
  }
  t.deepEqual(ft.associativeScan(consuming, x).toArray(), [1, 3, 6])
  t.is(ft.reduce(x, init, consuming).toArray(), 11)
  t.deepEqual(ft.windowReduce(x, init, consuming, { window: 3, padding: 1 }).toArray(), [13, 11, 15])
  t.deepEqual(ft.scope(() => ft.associativeScan(add, x)).toArray(), [1, 3, 6])
})

test('nothing is held once the result is dropped', async (t) => {
  const x = ft.random.normal(ft.random.key(1), [1 << 16])
  ft.evaluateSync(x)
  const live = (): number => {
    for (let i = 0; i < 3; i++) ft.trim()
    return ft.memory().live
  }
  const round = (): void => {
    const results = [
      ft.associativeScan((p, q) => ({ a: p.a.mul(q.a), b: q.a.mul(p.b).add(q.b) }), { a: x, b: x }).b,
      ft.reduce(x, 0, add),
      ft.windowReduce(x, 0, add, { window: 100 }),
      ft.windowReduce(x, 0, add, { window: 100, stride: 90 }),
      ft.grad((y: F) => ft.reduce(ft.associativeScan(add, y), 0, maximum))(x)
    ]
    ft.evaluateSync(...results)
    for (const y of results) y.dispose()
  }
  round()
  const before = live()
  for (let i = 0; i < 20; i++) round()
  await settled(t, before)
  const after = live()
  // Held alone, a result holds its own elements.
  const sums = ft.associativeScan(add, x)
  ft.evaluateSync(sums)
  const held = live() - after
  t.true(held <= 4 * x.size + 4096, `${held} bytes for ${4 * x.size}`)
  sums.dispose()
})
