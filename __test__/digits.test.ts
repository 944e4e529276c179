// No digit of an integer is lost in silence: what the default dtype does not hold is refused at the call, with a dtype that does.
// runs on: node

import test from 'ava'
import * as ft from 'ferrotensor'
import { EXACT } from '../lib/program/exact.js'
import { OP_TABLE } from '../lib/generated/table.js'
import { throws } from './expect.js'

const refused = (t: Parameters<typeof throws>[0], call: () => unknown, pattern = /is not exact in float32, the default.*'float64'/) => throws(t, 'ERR_DTYPE', pattern, call)

test('integers that float32 does not hold are refused in data without a dtype', (t) => {
  for (const n of [16777217, 123456789, 2 ** 31 - 1, 2 ** 53 - 1, 1732768378123, 100000000001, 33554434 + 1]) {
    for (const data of [n, -n, [n], [[0, 1], [2, n]], [0.5, n]]) refused(t, () => ft.tensor(data as ft.TensorData))
    refused(t, () => ft.asarray([n]))
    refused(t, () => ft.full([2], n))
    t.deepEqual(ft.tensor([n, -n], { dtype: 'float64' }).toArray(), [n, -n])
    t.deepEqual(ft.tensor([n], { dtype: 'int64' }).toArray(), [BigInt(n)])
    t.deepEqual(ft.tensor([n], { dtype: 'float32' }).toArray(), [Math.fround(n)], 'a dtype that was named rounds')
    t.deepEqual(ft.full([1], n, { dtype: 'float32' }).toArray(), [Math.fround(n)])
  }
  throws(t, 'ERR_DTYPE', /^tensor: element \[1, 1\] is 123456789, which is not exact in float32, the default; name a dtype: 'float64' or 'int32', or 'float32' to round$/, () => ft.tensor([[1, 2], [3, 123456789]]))
  throws(t, 'ERR_DTYPE', /'float64' or 'int64'/, () => ft.tensor([2 ** 40 + 1]))
  for (const part of [{ re: 0, im: 16777217 }, { re: 16777217, im: 0 }]) {
    throws(t, 'ERR_DTYPE', /not exact in float32, the default; name a dtype: 'complex128', or 'complex64'/, () => ft.tensor([part]))
  }
})

test('an integer of no more digits than the dtype is sure of is a magnitude, wherever it stands', (t) => {
  for (const n of [1e12, 1e15, 1e16, 100000000000, -123456e6, 299792e3]) {
    const held = Math.fround(n)
    t.deepEqual(ft.tensor([n]).toArray(), [held])
    t.deepEqual(ft.full([1], n).toArray(), [held])
    t.deepEqual(ft.zeros([1]).add(n).toArray(), [held])
    t.is(ft.linspace(0, n, 5).at(-1).itemSync(), held)
    t.is(ft.arange(n, 2 * n, n).itemSync(), held)
  }
  t.is(ft.arange(0, 1e12, 1e8).size, 10000)
  for (const n of [123456789, 1234567e6, 16777217]) {
    refused(t, () => ft.tensor([n]))
    refused(t, () => ft.full([1], n))
    refused(t, () => ft.linspace(0, n, 5))
    throws(t, 'ERR_DTYPE', /is not exact in float32/, () => ft.zeros([1]).add(n))
  }
})

test('what float32 holds, fractions and magnitudes are as ever', (t) => {
  const held = [2 ** 24, 2 ** 25, 2 ** 24 + 2, -(2 ** 53), 3 * 2 ** 40, 0, -0, NaN, Infinity, -Infinity]
  t.deepEqual(ft.tensor(held).toArray(), held)
  t.deepEqual(ft.tensor([0.1, 1e20, 2 ** 53 + 2, 16777216.5]).toArray(), [0.1, 1e20, 2 ** 53 + 2, 16777216.5].map(Math.fround))
  t.is(ft.full([], 2 ** 25).itemSync(), 2 ** 25)
})

test('finite numbers do not become infinite in the default dtype', (t) => {
  for (const n of [1e39, -Number.MAX_VALUE, 3.4028236e38]) {
    throws(t, 'ERR_DTYPE', /is beyond float32.*'float64'/, () => ft.tensor([n]))
    throws(t, 'ERR_DTYPE', /is beyond float32/, () => ft.full([1], n))
  }
  t.deepEqual(ft.tensor([3.4028235e38]).toArray(), [Math.fround(3.4028235e38)])
})

test('ranges hold each of their integers or are refused', (t) => {
  for (const args of [[16777216, 16777218], [16777217, 16777218], [-16777217, -16777216], [0, 123456789, 123456788], [-16777217, 1, 16777217]] as [number, number, number?][]) {
    refused(t, () => (args[2] === undefined ? ft.arange(args[0], args[1]) : ft.arange(args[0], args[1], args[2])))
  }
  refused(t, () => ft.arange(16777218))
  // Integers among fractions: of halves, eighths, and of thirds of which none is met.
  for (const args of [[16777216, 16777218.5, 0.5], [16777215.875, 16777217.5, 0.125], [-16777217.5, -16777216, 0.5], [16777216.25, 16777217.5, 0.75]] as [number, number, number][]) {
    refused(t, () => ft.arange(...args))
    t.notThrows(() => ft.arange(...args, { dtype: 'float64' }))
  }
  t.notThrows(() => [ft.arange(16777216.5, 16777220), ft.arange(16777216, 16777217, 0.5), ft.arange(0.25, 2 ** 25, 2 ** 20)])
  // Magnitudes at the ends, and none between them: 67108900 is one, 67108892 not.
  refused(t, () => ft.arange(67108888, 67108905, 4))
  // Ends that are beyond what JavaScript counts by ones.
  refused(t, () => ft.arange(0, 2e16, 12345678901))
  t.is(ft.arange(16777216, 16777226, 2).at(-1).itemSync(), 16777224)
  t.is(ft.arange(0, 2 ** 26, 2 ** 24).at(-1).itemSync(), 3 * 2 ** 24)
  t.is(ft.arange(16777216, 16777218, { dtype: 'int32' }).at(-1).itemSync(), 16777217)
  refused(t, () => ft.linspace(0, 16777217, 3))
  t.is(ft.linspace(0, 16777217, 3, { dtype: 'float64' }).at(-1).itemSync(), 16777217)
})

test('an integer beside a float tensor is exact where its digits matter', (t) => {
  const x = ft.tensor([16777216, 1])
  const some = ft.tensor([true, false])
  const kept: [string, (n: number) => unknown][] = [
    ['equal', (n) => x.equal(n)], ['less', (n) => ft.less(n, x)], ['greaterEqual', (n) => x.greaterEqual(n)], ['where', (n) => ft.where(some, x, n)],
    ['withAt', (n) => x.withAt([0], n)], ['pad', (n) => x.pad([[1, 1]], { value: n })],
    ['putAlongAxis', (n) => x.putAlongAxis(ft.tensor([0], { dtype: 'int32' }), n, { axis: 0 })], ['add', (n) => ft.add(n, x)], ['subtract', (n) => x.sub(n)], ['remainder', (n) => x.remainder(n)], ['fullLike', (n) => ft.fullLike(x, n)],
    ['complex', (n) => ft.complex(x, n)], ['isclose', (n) => x.isclose(n)], ['lerp', (n) => x.lerp(n, 0.5)], ['heaviside', (n) => x.heaviside(n)]
  ]
  for (const [name, call] of kept) {
    throws(t, 'ERR_DTYPE', /16777217 is not exact in float32/, () => void call(16777217))
    t.notThrows(() => call(2 ** 25), name)
    // A magnitude: no more digits than float32 has.
    t.notThrows(() => call(-1e12), name)
  }
  // Nobody expects digits of half floats.
  t.deepEqual(ft.ones([1], { dtype: 'float16' }).equal(2049).toArray(), [false])
  t.deepEqual(ft.ones([1], { dtype: 'bfloat16' }).less(1023).toArray(), [true])
  t.deepEqual(ft.where(some, ft.zeros([2], { dtype: 'bfloat16' }), -65504).toArray(), [0, -65536])
  t.deepEqual(ft.fullLike(ft.ones([1], { dtype: 'bfloat16' }), 257).toArray(), [256])
  // Bounds are magnitudes.
  t.deepEqual(ft.full([1], 1e12).clip(0, 16777217).toArray(), [16777216])
  for (const name of ['minimum', 'maximum', 'fmin', 'fmax'] as const) t.notThrows(() => x[name](16777217), name)
  t.deepEqual(ft.tensor([16777217], { dtype: 'float64' }).equal(16777217).toArray(), [true])
  t.deepEqual(ft.tensor([16777217], { dtype: 'int32' }).equal(16777216).toArray(), [false])
  // Counts may be any.
  t.deepEqual(x.div(16777217).toArray(), [1, Math.fround(1 / 16777216)])
})

test('a bigint is exact in the tensor\'s dtype or refused', (t) => {
  const x = ft.ones([1])
  for (const call of [() => x.add(16777217n), () => x.equal(16777217n), () => ft.full([1], 16777217n, { dtype: 'float32' })]) {
    throws(t, 'ERR_DTYPE', /16777217n is not exact in float32/, call)
  }
  t.deepEqual(x.add(16777216n).toArray(), [16777216])
  t.deepEqual(ft.ones([1], { dtype: 'float64' }).add(16777217n).toArray(), [16777218])
})

test('a traced number is checked in each call', (t) => {
  const same = ft.jit((x: ft.Tensor<'float32'>, n: number) => x.equal(n))
  const filled = ft.jit((n: number) => ft.full([1], n))
  t.deepEqual(same(ft.tensor([3]), 3).toArray(), [true])
  throws(t, 'ERR_DTYPE', /16777217 is not exact/, () => same(ft.tensor([3]), 16777217))
  t.deepEqual(filled(3).toArray(), [3])
  throws(t, 'ERR_DTYPE', /16777217, which is not exact/, () => filled(16777217))
})

test('each row that takes numbers says what becomes of their digits', (t) => {
  // Factors, divisors, powers, bounds, angles, places among elements, bits and booleans; and full, whose dtype is looked at first.
  const rounded = [
    'multiply', 'divide', 'pow', 'atan2', 'hypot', 'logaddexp', 'logaddexp2', 'xlogy', 'xlog1py', 'bitwiseAnd', 'bitwiseOr', 'bitwiseXor',
    'bitwiseLeftShift', 'bitwiseRightShift', 'polar', 'copysign', 'logicalAnd', 'logicalXor', 'logicalOr',
    'clip', 'minimum', 'maximum', 'fmin', 'fmax', 'resultType', 'quantile', 'percentile', 'nanquantile', 'nanpercentile', 'nn.prelu', 'full'
  ]
  const exact = OP_TABLE.filter(({ weak }, i) => weak.length > 0 && EXACT.has(i + 1)).map(({ name }) => name)
  const all = OP_TABLE.filter(({ weak }) => weak.length > 0).map(({ name }) => name)
  t.deepEqual([...exact, ...rounded].sort(), all.sort())
})
