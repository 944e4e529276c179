// Bigints where numbers of elements, bounds and values stand: exact to the ends of int64 and uint64.
// runs on: node, vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

const key = ft.random.key(5)
const [LEAST, GREATEST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n]
type Loose = (...args: unknown[]) => unknown

test('randint reaches all of int64 and uint64', (t) => {
  const all = ft.random.randint(key, LEAST, GREATEST + 1n, [4000])
  t.is(all.dtype, 'int64')
  const values = all.toArray() as bigint[]
  t.is(new Set(values).size, 4000)
  // Five standard deviations of a binomial with n = 4000, p = 1/2.
  for (const part of [(v: bigint) => v < 0n, (v: bigint) => (v & 1n) === 1n, (v: bigint) => ((v >> 32n) & 1n) === 1n]) {
    t.true(Math.abs(values.filter(part).length - 2000) < 5 * Math.sqrt(1000))
  }
  const unsigned = ft.random.randint(key, 0n, MOST + 1n, [1000], { dtype: 'uint64' }).toArray() as bigint[]
  t.true(unsigned.some((v) => v > GREATEST) && unsigned.every((v) => v >= 0n && v <= MOST))
  for (const [low, high, dtype] of [[LEAST, LEAST + 3n, 'int64'], [GREATEST - 2n, GREATEST + 1n, 'int64'], [MOST - 2n, MOST + 1n, 'uint64'], [2n ** 53n + 1n, 2n ** 53n + 4n, 'int64'], [-1n, 2n, 'int64']] as const) {
    const seen = new Set(ft.random.randint(key, low, high, [300], { dtype }).toArray() as bigint[])
    t.deepEqual([...seen].sort((a, b) => (a < b ? -1 : 1)), [low, low + 1n, low + 2n])
  }
})

test('numbers and bigints draw the same, and either bound may be one', (t) => {
  t.deepEqual(ft.random.randint(key, -5, 9, [50], { dtype: 'int64' }).toArray(), ft.random.randint(key, -5n, 9n, [50]).toArray())
  t.is(ft.random.randint(key, 0, 9n, [2]).dtype, 'int64')
  t.is(ft.random.randint(key, 0n, 9n, [2], { dtype: 'uint8' }).dtype, 'uint8')
  t.is(ft.random.randint(key, 0, 9, [2]).dtype, 'int32')
  t.is(ft.random.generator(1).randint(0n, 2n ** 60n, [2]).dtype, 'int64')
})

test('empty ranges and those that the dtype does not hold are refused at the call', (t) => {
  const randint = ft.random.randint as Loose
  throws(t, 'ERR_ARGUMENT', /the range from 4 to 4 \(excluded\) is empty/, () => randint(key, 4n, 4n, [1]))
  throws(t, 'ERR_ARGUMENT', /the range from 9223372036854775807 to -9223372036854775808 \(excluded\) is empty/, () => randint(key, GREATEST, LEAST, [1]))
  throws(t, 'ERR_DTYPE', /int64 does not hold the range from 0 to 9223372036854775809/, () => randint(key, 0n, GREATEST + 2n, [1]))
  throws(t, 'ERR_DTYPE', /uint64 does not hold the range from -1 to 2/, () => randint(key, -1n, 2n, [1], { dtype: 'uint64' }))
  throws(t, 'ERR_DTYPE', /int32 does not hold the range/, () => randint(key, 0, 2 ** 31 + 1, [1]))
  throws(t, 'ERR_ARGUMENT', /'high' 18446744073709552000 is beyond 2\^53 - 1; write it as a bigint/, () => randint(key, 0, 2 ** 64, [1]))
  for (const wrong of ['1', null, true, 0.5, NaN]) throws(t, 'ERR_ARGUMENT', /'high' must be an integer/, () => randint(key, 0, wrong, [1]))
})

test('arange counts bigints exactly', (t) => {
  t.deepEqual(ft.arange(3n).toArray(), [0n, 1n, 2n])
  t.is(ft.arange(3n).dtype, 'int64')
  t.deepEqual(ft.arange(2n ** 53n, 2n ** 53n + 3n).toArray(), [2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n])
  t.deepEqual(ft.arange(GREATEST - 1n, GREATEST + 1n).toArray(), [GREATEST - 1n, GREATEST])
  t.deepEqual(ft.arange(LEAST, GREATEST, 2n ** 62n).toArray(), [LEAST, -(2n ** 62n), 0n, 2n ** 62n])
  t.deepEqual(ft.arange(MOST, MOST - 5n, -2n, { dtype: 'uint64' }).toArray(), [MOST, MOST - 2n, MOST - 4n])
  t.deepEqual(ft.arange(0n, MOST, 2n ** 63n, { dtype: 'uint64' }).toArray(), [0n, 2n ** 63n])
  t.deepEqual(ft.arange(5n, 0n).toArray(), [])
  t.deepEqual(ft.arange(5n, 0n, -2n, { dtype: 'int32' }).toArray(), [5, 3, 1])
  t.deepEqual(ft.arange(1n, 3n, { dtype: 'float64' }).toArray(), [1, 2])
  const arange = ft.arange as Loose
  throws(t, 'ERR_DTYPE', /int64 does not hold 9223372036854775808/, () => arange(GREATEST, GREATEST + 2n))
  throws(t, 'ERR_DTYPE', /uint64 does not hold -1/, () => arange(-1n, 1n, { dtype: 'uint64' }))
  throws(t, 'ERR_DTYPE', /int8 does not hold 128/, () => arange(0n, 129n, { dtype: 'int8' }))
  throws(t, 'ERR_ARGUMENT', /step must not be 0/, () => arange(0n, 1n, 0n))
  throws(t, 'ERR_ARGUMENT', /takes bigints alone/, () => arange(0n, 5))
  throws(t, 'ERR_ARGUMENT', /takes bigints alone/, () => arange(0, 5n))
  throws(t, 'ERR_SHAPE', /too many/, () => arange(0n, 2n ** 60n))
})

test('full and where keep all digits of a bigint', (t) => {
  t.deepEqual(ft.full([1], GREATEST).toArray(), [GREATEST])
  t.deepEqual(ft.full([1], MOST, { dtype: 'uint64' }).toArray(), [MOST])
  t.deepEqual(ft.fullLike(ft.zeros([1], { dtype: 'int64' }), LEAST).toArray(), [LEAST])
  const x = ft.tensor([1n, 2n])
  t.deepEqual(ft.where(ft.tensor([true, false]), x, 2n ** 53n + 1n).toArray(), [1n, 2n ** 53n + 1n])
  t.deepEqual(x.add(2n ** 53n).toArray(), [2n ** 53n + 1n, 2n ** 53n + 2n])
  throws(t, 'ERR_DTYPE', /is out of range for int64/, () => ft.full([1], MOST))
  for (const call of [() => (ft.random.permutation as Loose)(key, 3n), () => (ft.random.choice as Loose)(key, 3n, [1]), () => (ft.linspace as Loose)(0n, 1n, 2)]) {
    t.throws(call as () => unknown, { instanceOf: ft.ArgumentError })
  }
})
