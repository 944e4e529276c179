// Arrays for products with vectors, convolutions, triangular systems, sorting, edit distances and shortest paths, beside the same computed plainly.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

const { systolic } = ft

const numbers = (seed: number, n: number, scale = 19): number[] => (ft.random.uniform(ft.random.key(seed), [n + 1], { dtype: 'float64' }).toArray() as number[]).slice(1).map((u) => Math.floor(u * scale) - Math.floor(scale / 2))
const matrix = (seed: number, rows: number, cols: number): number[][] => Array.from({ length: rows }, (_, i) => numbers(seed * 100 + i, cols))

test('products with vectors', (t) => {
  for (const [m, k] of [[1, 1], [1, 6], [5, 1], [4, 7], [9, 3]] as const) {
    const [a, x] = [matrix(m, m, k), numbers(k, k)]
    t.deepEqual(systolic.matvec(a, x), { values: a.map((row) => row.reduce((sum, value, j) => sum + value * (x[j] as number), 0)), ticks: k + m - 1 })
  }
  t.deepEqual(systolic.matvec([], [1]), { values: [], ticks: 0 })
  t.deepEqual(systolic.matvec([[], []], []), { values: [0, 0], ticks: 0 })
})

test('convolutions', (t) => {
  for (const [n, k] of [[1, 1], [6, 1], [1, 4], [8, 3], [3, 5], [20, 7]] as const) {
    const [x, w] = [numbers(n, n), numbers(k + 50, k)]
    const full = Array.from({ length: n + k - 1 }, (_, i) => w.reduce((sum, weight, j) => sum + weight * (x[i - j] ?? 0), 0))
    t.deepEqual(systolic.convolve(x, w).values.map((value) => value + 0), full.map((value) => value + 0), `${n} ${k}`)
    if (n >= k) t.deepEqual(systolic.convolve(x, w, { mode: 'valid' }).values.map((value) => value + 0), full.slice(k - 1, n).map((value) => value + 0), `${n} ${k} valid`)
  }
  t.is(systolic.convolve(numbers(1, 20), numbers(2, 7), { mode: 'valid' }).ticks, 26)
})

test('triangular systems', (t) => {
  for (const n of [1, 2, 3, 6, 11]) {
    const full = matrix(n, n, n).map((row, i) => row.map((value, j) => (i === j ? [1, 2, 4, -8][i % 4] as number : value)))
    const x = numbers(n + 7, n)
    for (const upper of [false, true]) {
      const b = full.map((row, i) => row.reduce((sum, value, j) => ((upper ? j >= i : j <= i) ? sum + value * (x[j] as number) : sum), 0))
      // Small integers over powers of two: exact.
      t.deepEqual(systolic.solveTriangular(full, b, { upper }).values.map((value) => value + 0), x.map((value) => value + 0), `${n} ${upper}`)
    }
    t.is(systolic.solveTriangular(full, x).ticks, 2 * n - 1)
  }
  t.deepEqual(systolic.solveTriangular([], []), { values: [], ticks: 0 })
})

test('sorting', (t) => {
  for (let n = 0; n < 24; n++) {
    const values = numbers(n, n, 9)
    t.deepEqual(systolic.sort(values), { values: values.toSorted((a, b) => a - b), ticks: n === 0 ? 0 : n + 1 })
    // The longest way: each has to go to the other end.
    t.deepEqual(systolic.sort(Array.from({ length: n }, (_, i) => n - i)).values, Array.from({ length: n }, (_, i) => i + 1))
  }
  t.deepEqual(systolic.sort([NaN, 3, -Infinity, NaN, Infinity, -1]).values, [-Infinity, -1, 3, Infinity, NaN, NaN])
  // Of every order of zeros and ones, which shows it for all numbers (the 0-1 principle).
  for (let bits = 0; bits < 256; bits++) {
    const zeros = Array.from({ length: 8 }, (_, i) => (bits >> i) & 1)
    t.deepEqual(systolic.sort(zeros).values, zeros.toSorted((a, b) => a - b))
  }
})

/** The table of distances, row by row. */
function distance(a: readonly unknown[], b: readonly unknown[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  a.forEach((item, i) => {
    const next = [i + 1]
    b.forEach((other, j) => next.push(Math.min((row[j] as number) + Number(item !== other), (row[j + 1] as number) + 1, (next[j] as number) + 1)))
    row = next
  })
  return row.at(-1) as number
}

test('edit distances', (t) => {
  t.deepEqual(systolic.editDistance('kitten', 'sitting'), { distance: 3, ticks: 12 })
  t.is(systolic.editDistance('', 'abc').distance, 3)
  t.is(systolic.editDistance('\u{1f600}a', '\u{1f601}a').distance, 1, 'characters, not halves of them')
  for (let seed = 0; seed < 40; seed++) {
    const [a, b] = [numbers(seed, 1 + (seed % 9), 4), numbers(seed + 99, 1 + (seed % 7), 4)]
    t.is(systolic.editDistance(a, b).distance, distance(a, b), `${a.join()} ${b.join()}`)
    t.is(systolic.editDistance(a, a).distance, 0)
  }
})

test('shortest paths', (t) => {
  for (let n = 0; n < 9; n++) {
    const lengths = Array.from({ length: n }, (_, i) => numbers(n * 10 + i, n, 20).map((value) => (value > 4 ? Infinity : value + 10)))
    const expected = lengths.map((row, i) => row.map((length, j) => (i === j ? 0 : length)))
    for (let k = 0; k < n; k++) for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) (expected[i] as number[])[j] = Math.min((expected[i] as number[])[j] as number, ((expected[i] as number[])[k] as number) + ((expected[k] as number[])[j] as number))
    t.deepEqual(systolic.shortestPaths(lengths).values, expected, String(n))
  }
  // A ring of n nodes whose length is negative by one step alone: all n edges are needed to see it.
  for (let n = 2; n < 10; n++) {
    const ring = (last: number): number[][] => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (j === (i + 1) % n ? (i === n - 1 ? last : 1) : Infinity)))
    t.is(systolic.shortestPaths(ring(1 - n)).values[0]?.[0], 0)
    throws(t, 'ERR_ARGUMENT', /a cycle of negative length through node 0/, () => systolic.shortestPaths(ring(-n)))
  }
})

test('partitioned runs give the same', (t) => {
  const where = { backend: 'partitioned', dispatch: 'pool', workers: 2 } as const
  const [a, x] = [matrix(3, 5, 4), numbers(4, 4)]
  t.deepEqual(systolic.matvec(a, x, { ...where, tileCols: 2 }), systolic.matvec(a, x))
  t.deepEqual(systolic.convolve(numbers(1, 9), x, where), systolic.convolve(numbers(1, 9), x))
  t.deepEqual(systolic.solveTriangular([[2, 0], [1, 4]], [6, 11], { ...where, tileCols: 1 }), { values: [3, 2], ticks: 3 })
  t.deepEqual(systolic.sort(x, { ...where, tileCols: 1 }), systolic.sort(x))
  t.deepEqual(systolic.editDistance('kitten', 'sitting', where), systolic.editDistance('kitten', 'sitting'))
  t.deepEqual(systolic.shortestPaths([[0, 3], [1, 0]], where).values, [[0, 3], [1, 0]])
})

const any = <T>(value: unknown): T => value as T
const long = new Array<number>(30_000).fill(1)

test('wrong input is a typed error at the call', (t) => {
  throws(t, 'ERR_SHAPE', /^systolic\.matvec: 'a' is \[1, 2\] and 'x' has 1 numbers/, () => systolic.matvec([[1, 2]], [1]))
  throws(t, 'ERR_ARGUMENT', /^systolic\.matvec: 'x' must be an array/, () => systolic.matvec([[1]], any(1)))
  throws(t, 'ERR_ARGUMENT', /^systolic\.convolve: 'weights' is empty/, () => systolic.convolve([1], []))
  throws(t, 'ERR_ARGUMENT', /^systolic\.convolve: 'x' is empty/, () => systolic.convolve([], [1]))
  throws(t, 'ERR_ARGUMENT', /2 weights are more than 1 values/, () => systolic.convolve([1], [1, 2], { mode: 'valid' }))
  throws(t, 'ERR_ARGUMENT', /unknown option 'tileRows'/, () => systolic.convolve([1], [1], any({ tileRows: 1 })))
  throws(t, 'ERR_LINALG', /singular: element \[1, 1\] is 0/, () => systolic.solveTriangular([[1, 0], [1, 0]], [1, 1]))
  throws(t, 'ERR_SHAPE', /a square matrix and as many numbers/, () => systolic.solveTriangular([[1, 0]], [1]))
  throws(t, 'ERR_ARGUMENT', /^systolic\.sort: 'values\[0\]' must be a number/, () => systolic.sort(any(['b'])))
  throws(t, 'ERR_ARGUMENT', /^systolic\.editDistance: 'a' must be a text or an array/, () => systolic.editDistance(any(7), 'b'))
  throws(t, 'ERR_ARGUMENT', /^systolic\.editDistance: 'b\[0\]' must be an item/, () => systolic.editDistance('a', [undefined]))
  throws(t, 'ERR_SHAPE', /'lengths' must be square/, () => systolic.shortestPaths([[1, 2]]))
  throws(t, 'ERR_ARGUMENT', /'lengths\[0\]\[1\]' must be a number or Infinity, got NaN/, () => systolic.shortestPaths([[0, NaN], [0, 0]]))
})

test('what would take long is refused at once', (t) => {
  const before = performance.now()
  for (const call of [() => systolic.editDistance(long, long), () => systolic.sort(long), () => systolic.convolve(long, long), () => systolic.solveTriangular(any(new Array(2000).fill(new Array(2000).fill(1))), long), () => systolic.matvec(any(new Array(60_000).fill([1])), [1])]) {
    t.true(t.throws(call, { any: true }) instanceof ft.TensorError)
  }
  t.true(performance.now() - before < 20_000)
})

test('what a ring of the caller throws is the cause of the error', (t) => {
  const thrown = new RangeError('no product')
  const error = t.throws(() => systolic.gemm([[1]], [[1]], { ring: { zero: 0, add: (a, b) => a + b, multiply: () => { throw thrown } } }), { any: true })
  t.true(error instanceof ft.ArgumentError)
  t.is((error as Error).cause, thrown)
  t.regex((error as Error).message, /^systolic\.gemm: /)
  throws(t, 'ERR_ARGUMENT', /^systolic\.shortestPaths: .*unknown backend/, () => systolic.shortestPaths([[0, 1], [1, 0]], { backend: any('nothing') }))
})

test('more values of one tick than a call has arguments', (t) => {
  const made = systolic.array(400, 400).fill({ init: () => 0, step: (state) => [state, { east: 1 }] }).output('east', systolic.array(400, 400).places.map(({ coord }) => coord))
  t.is(systolic.run(made, { ticks: 1, backend: 'partitioned' }).outputs.length, 160_000)
})

test('options of calls that run nothing are checked all the same', (t) => {
  const calls: readonly ((options: any) => unknown)[] = [
    (o) => systolic.sort([], o), (o) => systolic.gemm([], [], o), (o) => systolic.gemm([[]], [], o), (o) => systolic.matvec([], [1], o), (o) => systolic.matvec([[], []], [], o),
    (o) => systolic.solveTriangular([], [], o), (o) => systolic.editDistance('', 'abc', o), (o) => systolic.shortestPaths([], o), (o) => systolic.shortestPaths([[0]], o)
  ]
  for (const call of calls) {
    const about = String(call)
    throws(t, 'ERR_ARGUMENT', /^systolic\.\w+: unknown backend 'x'/, () => call({ backend: 'x' }), about)
    throws(t, 'ERR_ARGUMENT', /'dispatch' must be 'tasks' or 'pool'/, () => call({ backend: 'partitioned', dispatch: 'threads' }), about)
    throws(t, 'ERR_ARGUMENT', /'workers' must be at least 1, got 0/, () => call({ backend: 'partitioned', workers: 0 }), about)
    throws(t, 'ERR_ARGUMENT', /'timeout' is an option of the backend 'partitioned' alone/, () => call({ timeout: 5 }), about)
    t.notThrows(() => call({ backend: 'partitioned', workers: 2, timeout: 5 }), about)
  }
})
