// `ferrotensor/testing`: what is equal, what is close, and what a failure says; and what tensors show to frameworks that were told nothing.
// runs on: node

import { AssertionError } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import * as ft from 'ferrotensor'
import { assertClose, assertEqual, chaiPlugin, equalityTesters, matchers, type Expected, type Tolerance } from 'ferrotensor/testing'
import { failure } from './expect.js'

/** The message of a failed assertion; it must fail as one. */
function failed(t: import('ava').ExecutionContext, f: () => void): string {
  const error = t.throws(f) as Error
  t.true(error instanceof AssertionError, String(error))
  return error.message
}

const complex = (...parts: [number, number][]): ft.Tensor => ft.tensor(parts.map(([re, im]) => ({ re, im })), { dtype: 'complex128' })

const EQUAL: readonly [ft.Tensor, Expected][] = [
  [ft.tensor([1, 2]), ft.tensor([0, 1]).add(1)],
  [ft.tensor([1, 2]), [1, 2]],
  [ft.tensor([1, 2]), new Float64Array([1, 2])],
  [ft.tensor(3), 3],
  [ft.tensor([NaN, 0, Infinity]), [NaN, -0, Infinity]],
  [ft.tensor([0.1], { dtype: 'bfloat16' }), [0.1]],
  [ft.tensor([true, false]), [true, false]],
  [ft.tensor([2n ** 62n]), [2n ** 62n]],
  [complex([1, -2], [NaN, 0]), complex([1, -2], [NaN, 0])],
  [ft.zeros([0, 3]), ft.zeros([0, 3])],
  [ft.tensor([[1, 2], [3, 4]]).permuteDims([1, 0]), [[1, 3], [2, 4]]]
]

const UNEQUAL: readonly [ft.Tensor, Expected, string][] = [
  [ft.tensor([1, 2]), [1, 3], 'largest difference: 1 at [1]: actual 2, expected 3, 0.3333 of the expected element'],
  [ft.tensor([[1, 2], [3, 4]]), [[1, 0], [9, 4]], '2 of 4 elements differ\n  largest difference: 6 at [1, 0]: actual 3, expected 9'],
  [ft.tensor([1]), ft.tensor([1], { dtype: 'int32' }), 'dtypes differ\n  actual:   float32 [1] [1]\n  expected: int32 [1] [1]'],
  [ft.zeros([0, 3]), ft.zeros([0, 5]), 'shapes differ\n  actual:   float32 [0, 3]'],
  [ft.ones([1]), 1, 'shapes differ'],
  [ft.ones([2]), ft.ones([2, 1]), 'shapes differ'],
  [ft.tensor([2n ** 62n]), [2n ** 62n + 1n], 'largest difference: 1 at [0]: actual 4611686018427387904, expected 4611686018427387905'],
  [ft.tensor([1, NaN]), [1, 1], 'largest difference: Infinity at [1]: actual NaN, expected 1'],
  [ft.tensor([Infinity]), [-Infinity], 'actual Infinity, expected -Infinity'],
  [ft.tensor([1, 5e-324], { dtype: 'float64' }), [1, 0], 'actual 5e-324, expected 0'],
  [ft.tensor([true, false]), [true, true], 'actual false, expected true'],
  [complex([1, 2]), complex([1, -2]), 'largest difference: 4 at [0]: actual 1+2i, expected 1-2i'],
  [complex([NaN, 0]), complex([0, 0]), 'actual NaN+0i, expected 0+0i']
]

test('equal tensors are equal by each way of comparing', (t) => {
  for (const [actual, expected] of EQUAL) {
    t.notThrows(() => assertEqual(actual, expected))
    t.notThrows(() => assertClose(actual, expected, { rtol: 0, atol: 0 }))
    const { pass, message } = matchers.toEqualTensor(actual, expected)
    t.true(pass)
    t.regex(message(), /^tensors are equal\n  actual: /)
    if (expected instanceof ft.Tensor) t.true(equalityTesters[0]!(actual, expected))
  }
})

test('tensors that differ do by each, and it says how', (t) => {
  for (const [actual, expected, text] of UNEQUAL) {
    const message = failed(t, () => assertEqual(actual, expected))
    t.true(message.startsWith('assertEqual: ') && message.includes(text), message)
    const matched = matchers.toEqualTensor(actual, expected)
    t.false(matched.pass)
    t.true(matched.message().includes(text), matched.message())
    if (expected instanceof ft.Tensor) t.false(equalityTesters[0]!(actual, expected))
  }
})

test('closeness is that of allclose', (t) => {
  const cases: readonly [Expected, Tolerance | undefined, boolean][] = [
    [[1, 2.00001], undefined, true],
    [[1, 2.0001], undefined, false],
    [[1, 2.1], { rtol: 0.1 }, true],
    [[1.05, 2.05], { rtol: 0, atol: 0.051 }, true],
    [[1.05, 2.06], { rtol: 0, atol: 0.051 }, false],
    [[1, 2], { rtol: 0, atol: 0 }, true],
    [ft.tensor([1, 2], { dtype: 'int32' }), undefined, true],
    [ft.tensor([1n, 3n]), { atol: 1 }, true]
  ]
  const x = ft.tensor([1, 2])
  for (const [expected, tolerance, holds] of cases) {
    t.is(matchers.toBeCloseToTensor(x, expected, tolerance).pass, holds)
    if (holds) t.notThrows(() => assertClose(x, expected, tolerance))
    else t.regex(failed(t, () => assertClose(x, expected, tolerance)), /^assertClose: tensors are not close: \|actual - expected\| <= /)
    const { rtol, atol } = tolerance ?? {}
    const other = expected instanceof ft.Tensor ? expected.astype('float32') : ft.tensor(expected as number[])
    t.is(ft.allclose(x, other, { ...(rtol === undefined ? {} : { rtol }), ...(atol === undefined ? {} : { atol }) }).itemSync(), holds)
  }
  t.notThrows(() => assertClose(ft.tensor([NaN, Infinity]), [NaN, Infinity]))
  failed(t, () => assertClose(ft.tensor([NaN]), [NaN], { equalNan: false }))
  failed(t, () => assertClose(ft.tensor([Infinity]), [1], { rtol: 1 }))
  failed(t, () => assertClose(ft.tensor([1]), [Infinity], { rtol: 1 }))
})

test('the place of the largest difference among many', (t) => {
  const x = ft.arange(6000).reshape([10, 20, 30])
  const message = failed(t, () => assertEqual(x.withAt([3, 4, 5], -1), x))
  t.true(message.includes('actual:   float32 [10, 20, 30]\n') && message.includes('1 of 6000 elements differ\n'), message)
  t.true(message.includes('at [3, 4, 5]: actual -1, expected 1925'), message)
})

test('what is no tensor, and no tolerance, is refused', (t) => {
  for (const actual of [5, [1, 2], undefined, null, Promise.resolve(ft.ones([2])), { ...ft.ones([2]) }]) {
    for (const f of [() => assertEqual(actual as never, [1]), () => matchers.toEqualTensor(actual, [1]), () => assertClose(actual as never, 1)]) {
      t.is(failure(t, f).name, 'ArgumentError')
    }
  }
  const x = ft.ones([2])
  for (const tolerance of [{ rtol: -1 }, { atol: NaN }, { rtol: '1' }, { tol: 1 }, { equalNan: 1 }, 0.1]) {
    t.is(failure(t, () => assertClose(x, x, tolerance as never)).name, 'ArgumentError', JSON.stringify(tolerance))
  }
  t.is(failure(t, () => assertEqual(ft.ones([2], { dtype: 'int32' }), [0.5, 1])).name, 'DTypeError')
  const gone = ft.ones([2])
  gone.dispose()
  t.is(failure(t, () => assertEqual(gone, x)).name, 'DisposedError')
  t.is(equalityTesters[0]!(x, [1, 1]), undefined, 'left to the framework')
})

test('equality of frameworks that were told nothing never answers for values', (t) => {
  const x = ft.tensor([1, 2])
  t.true(isDeepStrictEqual(x, x))
  t.false(isDeepStrictEqual(x, ft.tensor([1, 2])))
  // The outputs of one operation, which have everything else in common.
  const { l, u } = ft.linalg.lu(ft.eye(2))
  t.false(isDeepStrictEqual(l, u))
  // How Jest and Vitest compare what can be iterated.
  const walk = (value: Iterable<unknown>): void => { for (const item of value) walk(item as Iterable<unknown>) }
  t.regex(failure(t, () => walk(x)).message, /ferrotensor\/testing/)
})

test('a failed assertion of Node names what compares tensors', async (t) => {
  const { default: assert } = await import('node:assert')
  const error = t.throws(() => assert.deepStrictEqual(ft.tensor([1, 2]), ft.tensor([1, 2])))
  t.regex((error as Error).message, /assertEqual of ferrotensor\/testing/)
})

test('Jest copies of a tensor what its toJSON needs', (t) => {
  const copies = Symbol.for('@jest/serializableProperties')
  const x = ft.tensor([[1, 2], [3, 4]]).add(1)
  const fields = (x as unknown as Record<symbol, string[]>)[copies] as string[]
  const copy = Object.create(ft.Tensor.prototype, Object.fromEntries(fields.map((name) => [name, { value: (x as unknown as Record<string, unknown>)[name] }]))) as ft.Tensor
  t.deepEqual(copy.toJSON(), { shape: [2, 2], dtype: 'float32', data: [2, 3, 4, 5] })
  t.deepEqual((ft.Tensor.prototype as unknown as Record<symbol, unknown>)[copies], [])
})

test('a tensor refuses assignments by brackets, and shows no properties for it', (t) => {
  const x = ft.tensor([1, 2, 3]) as unknown as Record<number, unknown>
  for (const i of [-1, 0, 2, 31]) t.regex(failure(t, () => (x[i] = 5)).message, new RegExp(`x\\[${i}\\] = .*withAt\\(\\[${i}\\], value\\)`))
  t.is(x[0], undefined)
  t.false(Object.keys(x).some((key) => /\d/.test(key)))
  t.deepEqual(JSON.parse(JSON.stringify({ x })), { x: { shape: [3], dtype: 'float32', data: [1, 2, 3] } })
})

test('a spread tensor is refused by what it is', (t) => {
  const x = ft.tensor([1, 2])
  t.regex(failure(t, () => ft.add({ ...x } as never, x)).message, /tensors do not change, so use x itself/)
})

test('the plugin of Chai leaves a comparison that was set alone', (t) => {
  const methods: string[] = []
  const own = (): boolean => true
  const chai = { Assertion: { addMethod: (name: string) => void methods.push(name) }, config: { deepEqual: own } }
  chaiPlugin(chai, { eql: () => false })
  t.deepEqual(methods, ['equalTensor', 'closeToTensor'])
  t.is(chai.config.deepEqual, own)
})
