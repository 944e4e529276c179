// Every backend that is here on the same cases: products, sums and elementwise results beside loops in float64, and asynchronous forms
// beside blocking ones. Says which backends ran.
// runs on: blas; each backend is named, a Vulkan device too

import test from 'ava'
import * as ft from 'ferrotensor'
import { absent, arrayOf, difference, numbers, present, PRECISIONS, product, tooFar, UNIT, type FloatArray, type Precision } from './cases.js'

type Backend = ft.backends.Backend

/** Results whose elements the compiler need not know the precision of. */
interface Loose extends Omit<Backend, 'matmul' | 'matmulAsync' | 'add' | 'addAsync' | 'dot' | 'dotAsync'> {
  matmul(a: FloatArray, b: FloatArray, m: number, n: number, k: number, options?: object): FloatArray
  matmulAsync(a: FloatArray, b: FloatArray, m: number, n: number, k: number, options?: object): Promise<FloatArray>
  add(a: FloatArray, b: FloatArray, options?: object): FloatArray
  addAsync(a: FloatArray, b: FloatArray, options?: object): Promise<FloatArray>
  dot(a: FloatArray, b: FloatArray): number
  dotAsync(a: FloatArray, b: FloatArray): Promise<number>
}

/** m, n, k: with sizes of 0 and 1, and such that no tile is full. */
const SHAPES = [
  [0, 0, 0], [0, 3, 2], [3, 0, 2], [3, 2, 0], [1, 1, 0], [1, 1, 1], [1, 1, 7], [1, 5, 1], [5, 1, 1], [1, 300, 3], [300, 1, 3], [2, 2, 2],
  [3, 7, 5], [8, 8, 8], [9, 4, 1100], [17, 65, 33], [64, 64, 64], [66, 130, 67], [129, 257, 1], [5, 5, 2100]
] as const

const LENGTHS = [0, 1, 2, 3, 7, 8, 31, 64, 255, 1000, 1025, 65537]
const NAN_AND_INFINITIES = [NaN, Infinity, -Infinity, 0, -0, 1, -1]

const total = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0)

function each(title: string, body: (t: import('ava').ExecutionContext, backend: Loose, dtype: Precision) => Promise<void> | void): void {
  for (const backend of present) for (const dtype of PRECISIONS) test(`${backend.name}, ${dtype}: ${title}`, (t) => body(t, backend as unknown as Loose, dtype))
}

test('arrays that differ in class, length or a bit are told apart', (t) => {
  const one = Float32Array.of(1, 0, NaN)
  t.is(difference(Float32Array.of(1, 0, NaN), one), null)
  t.is(difference(Float64Array.of(1, 0, NaN), one), 'a Float64Array, not a Float32Array')
  t.is(difference(Float32Array.of(1, 0), one), '2 elements, not 3')
  t.is(difference(Float32Array.of(1, -0, NaN), one), 'element 1 is -0, not 0')
  t.is(difference(Float32Array.of(1, 0, 2), one), 'element 2 is 2, not NaN')
})

test('pure is always here', (t) => {
  t.log(`ran: ${present.map(({ name }) => name).join(', ')}`)
  for (const backend of absent) t.log(`not run: ${backend.name}: ${backend.info().reason}`)
  t.is(present[0]?.name, 'pure')
})

each('products of all shapes are as near as k roundings', (t, backend, dtype) => {
  for (const [m, n, k] of SHAPES) {
    const [a, b] = [numbers(dtype, m * k, 1), numbers(dtype, k * n, 2)]
    const about = `${m} x ${k} by ${k} x ${n}`
    const result = backend.matmul(a, b, m, n, k)
    t.is(Object.getPrototypeOf(result), Object.getPrototypeOf(a), about)
    t.is(tooFar(result, product(a, b, m, n, k), dtype, k), 0, about)
  }
})

for (const dtype of PRECISIONS) {
  test(`pure, ${dtype}: products add in the order of k, in float64, and are rounded once`, (t) => {
    for (const [m, n, k] of SHAPES) {
      const [a, b] = [numbers(dtype, m * k, 1), numbers(dtype, k * n, 2)]
      const sums = Array.from({ length: m * n }, (_, at) => {
        let sum = 0
        for (let p = 0; p < k; p++) sum += a[Math.floor(at / n) * k + p]! * b[p * n + (at % n)]!
        return sum
      })
      const result = (ft.backends.get('pure') as unknown as Loose).matmul(a, b, m, n, k)
      t.is(difference(result, arrayOf(dtype, sums)), null, `${m} x ${k} by ${k} x ${n}`)
    }
  })
}

each('a product that is wrong by more is noticed', (t, backend, dtype) => {
  const [m, n, k] = [17, 65, 33]
  const [a, b] = [numbers(dtype, m * k, 1), numbers(dtype, k * n, 2)]
  const result = backend.matmul(a, b, m, n, k)
  const expected = product(a, b, m, n, k)
  result[100] = result[100]! + 4 * k * UNIT[dtype] * expected.magnitudes[100]!
  t.is(tooFar(result, expected, dtype, k), 1)
})

each('published products', (t, backend, dtype) => {
  const x = (...values: number[]) => arrayOf(dtype, values)
  t.deepEqual([...backend.matmul(x(1, 0, 0, 1), x(5, 6, 7, 8), 2, 2, 2)], [5, 6, 7, 8])
  t.deepEqual([...backend.matmul(x(1, 2, 3, 4), x(5, 6, 7, 8), 2, 2, 2)], [19, 22, 43, 50])
  const twelve = x(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
  t.deepEqual([...backend.matmul(x(1, 2, 3, 4, 5, 6), twelve, 2, 4, 3)], [38, 44, 50, 56, 83, 98, 113, 128])
  // The residuals of two systems whose solutions viva_tensor and Ztorch print.
  t.deepEqual([...backend.matmul(x(3, 2, 1, 2), x(1, 2), 2, 1, 2)], [7, 5])
  t.deepEqual([...backend.matmul(x(2, 0, 6, 1), x(2, 6, 0, 1), 2, 2, 2)], [4, 12, 12, 37])
})

each('properties of products: identity, zero, distribution over sums', (t, backend, dtype) => {
  const n = 20
  const identity = arrayOf(dtype, Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)))
  const [a, b, c] = [numbers(dtype, n * n, 3), numbers(dtype, n * n, 4), numbers(dtype, n * n, 5)]
  t.deepEqual([...backend.matmul(a, identity, n, n, n)], [...a])
  t.true(backend.matmul(a, arrayOf(dtype, new Float64Array(n * n)), n, n, n).every((x) => x === 0))
  const [left, right] = [backend.matmul(a, backend.add(b, c), n, n, n), backend.add(backend.matmul(a, b, n, n, n), backend.matmul(a, c, n, n, n))]
  const { magnitudes } = product(a, backend.add(b, c), n, n, n)
  left.forEach((x, i) => t.true(Math.abs(x - right[i]!) <= 4 * (n + 2) * UNIT[dtype] * (magnitudes[i]! + n)))
})

each('additions and multiples are rounded once', (t, backend, dtype) => {
  const s = dtype === 'float32' ? Math.fround(-1 / 3) : -1 / 3
  for (const length of LENGTHS) {
    const [a, b] = [numbers(dtype, length, 6), numbers(dtype, length, 7)]
    t.is(difference(backend.add(a, b), arrayOf(dtype, Array.from(a, (x, i) => x + b[i]!))), null, `add of ${length}`)
    t.is(difference(backend.scale(a, -1 / 3) as FloatArray, arrayOf(dtype, Array.from(a, (x) => x * s))), null, `scale of ${length}`)
  }
})

each('NaN, infinities and negative zeros are those of IEEE 754', (t, backend, dtype) => {
  const pairs = NAN_AND_INFINITIES.flatMap((x) => NAN_AND_INFINITIES.map((y) => [x, y] as const))
  const [a, b] = [arrayOf(dtype, pairs.map(([x]) => x)), arrayOf(dtype, pairs.map(([, y]) => y))]
  t.is(difference(backend.add(a, b), arrayOf(dtype, pairs.map(([x, y]) => x + y))), null)
  for (const s of NAN_AND_INFINITIES) t.is(difference(backend.scale(a, s) as FloatArray, arrayOf(dtype, pairs.map(([x]) => x * s))), null, `times ${s}`)
  for (const [x, y] of pairs) {
    const [one, other] = [arrayOf(dtype, [x, 1]), arrayOf(dtype, [y, 1])]
    t.is(backend.dot(one, other), x * y + 1 * 1, `dot of [${x}, 1] and [${y}, 1]`)
    t.is(backend.sum(one), x + 1, `sum of [${x}, 1]`)
  }
  // No zero is skipped, in no tile.
  for (const [m, n, k] of [[1, 1, 2], [3, 5, 9], [66, 130, 67]] as const) {
    const zeros = arrayOf(dtype, new Float64Array(m * k))
    t.true(backend.matmul(zeros, arrayOf(dtype, new Float64Array(k * n).fill(Infinity)), m, n, k).every(Number.isNaN), `0 times infinity, ${m} x ${n} x ${k}`)
    const b = new Float64Array(k * n)
    b[n - 1] = NaN
    const result = backend.matmul(zeros, arrayOf(dtype, b), m, n, k)
    t.deepEqual(Array.from(result, (x, i) => Number.isNaN(x) === (i % n === n - 1)).includes(false), false, `NaN stays in its column, ${m} x ${n} x ${k}`)
  }
})

each('sums and inner products are accurate, and those of nothing 0', (t, backend, dtype) => {
  const relative = dtype === 'float32' ? 1e-6 : 1e-13
  for (const length of LENGTHS) {
    const [a, b] = [numbers(dtype, length, 8), numbers(dtype, length, 9)]
    const terms = Array.from(a, (x, i) => x * b[i]!)
    t.true(Math.abs(backend.sum(a) - total([...a])) <= relative * total([...a].map(Math.abs)), `sum of ${length}`)
    t.true(Math.abs(backend.dot(a, b) - total(terms)) <= relative * total(terms.map(Math.abs)), `dot of ${length}`)
  }
  t.is(backend.sum(arrayOf(dtype, [])), 0)
  t.is(backend.dot(arrayOf(dtype, []), arrayOf(dtype, [])), 0)
})

each('ten million times 0.1 is a million', (t, backend, dtype) => {
  const x = (dtype === 'float32' ? new Float32Array(1e7) : new Float64Array(1e7)).fill(0.1)
  const [sum, dot] = [backend.sum(x), backend.dot(x, x)]
  // One addition after the other is 1.6e-10 off in float64.
  const relative = dtype === 'float32' ? 1e-6 : 1e-13
  t.true(Math.abs(sum - 1e6) <= relative * 1e6, String(sum))
  t.true(Math.abs(dot - 1e5) <= relative * 1e5, String(dot))
  if (dtype === 'float32') t.deepEqual([sum, dot], [Math.fround(sum), Math.fround(dot)])
})

each('asynchronous forms have the same bits', async (t, backend, dtype) => {
  for (const [m, n, k] of SHAPES) {
    const [a, b] = [numbers(dtype, m * k, 1), numbers(dtype, k * n, 2)]
    t.is(difference(await backend.matmulAsync(a, b, m, n, k), backend.matmul(a, b, m, n, k)), null, `${m} x ${n} x ${k}`)
  }
  for (const length of [...LENGTHS, (1 << 19) + 3]) {
    const [a, b] = [numbers(dtype, length, 6), numbers(dtype, length, 7)]
    t.is(difference(await backend.addAsync(a, b), backend.add(a, b)), null, `add of ${length}`)
    t.is(difference((await backend.scaleAsync(a, 0.3)) as FloatArray, backend.scale(a, 0.3) as FloatArray), null, `scale of ${length}`)
    t.is(await backend.sumAsync(a), backend.sum(a))
    t.is(await backend.dotAsync(a, b), backend.dot(a, b))
  }
})

each('repeated calls have the same bits', (t, backend, dtype) => {
  const [a, b] = [numbers(dtype, 66 * 67, 1), numbers(dtype, 67 * 130, 2)]
  const once = backend.matmul(a, b, 66, 130, 67).slice()
  for (let i = 0; i < 3; i++) t.is(difference(backend.matmul(a, b, 66, 130, 67), once), null)
})
