// Ticks of axes: nice numbers inside of the range, told apart by their labels, whatever the range.
// runs on: host

import test from 'ava'
import { scale, scaleOf, ticksOf } from '../../lib/plot/scale.js'
import { labels, linearTicks, logTicks } from '../../lib/plot/ticks.js'

test('linear ticks are 1, 2 or 5 times a power of ten apart', (t) => {
  t.deepEqual(linearTicks(0, 1, 6), [0, 0.2, 0.4, 0.6, 0.8, 1])
  t.deepEqual(linearTicks(-3.3, 7.1, 6), [-2, 0, 2, 4, 6])
  t.deepEqual(linearTicks(0, 39, 5), [0, 10, 20, 30])
  // Without the rounding of 3 * 0.1.
  t.deepEqual(linearTicks(0.1, 0.5, 5), [0.1, 0.2, 0.3, 0.4, 0.5])
  t.deepEqual(linearTicks(123_456, 123_457, 5), [123_456, 123_456.5, 123_457])
})

test('logarithmic ticks are powers of ten, and parts of them where there is room', (t) => {
  t.deepEqual(logTicks(0.05, 2, 4), [0.1, 1])
  t.deepEqual(logTicks(0.05, 2, 8), [0.05, 0.1, 0.2, 0.5, 1, 2])
  t.deepEqual(logTicks(1, 1e9, 5), [1, 100, 1e4, 1e6, 1e8])
  t.deepEqual(logTicks(3, 4, 5), [3, 4])
})

test('labels have the digits that tell neighbours apart', (t) => {
  t.deepEqual(labels([0, 0.5, 1]), ['0.0', '0.5', '1.0'])
  t.deepEqual(labels([1e6, 2e6]), ['1e6', '2e6'])
  t.deepEqual(labels([1.5e-5, 2e-5]), ['1.5e-5', '2e-5'])
  t.deepEqual(labels([-1.7e308, 1.7e308]), ['-1.7e308', '1.7e308'])
  t.deepEqual(labels([0, 0]), ['0', '0'])
})

/** Numbers whose signs and sizes are of all kinds, the same in every run (Marsaglia's xorshift). */
function* wild(count: number): Generator<number> {
  let bits = 2_463_534_242
  const next = (): number => {
    bits ^= bits << 13
    bits ^= bits >>> 17
    bits ^= bits << 5
    return (bits >>> 0) / 2 ** 32
  }
  for (let i = 0; i < count; i++) yield (next() < 0.5 ? -1 : 1) * (1 + next()) * 10 ** (600 * next() - 300)
}

test('of any range there are from two ticks to as many as were asked for, inside, in order, with different labels', (t) => {
  const numbers = [...wild(4000)]
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const most = 2 + (i % 9)
    for (const log of [false, true]) {
      const ends = [numbers[i] as number, numbers[i + 1] as number].map((n) => (log ? Math.abs(n) : n))
      const axis = scale(log, Math.min(...ends), Math.max(...ends))
      const ticks = ticksOf(axis, most)
      const what = `${axis.low} to ${axis.high}, log ${log}: ${JSON.stringify(ticks)}`
      t.true(ticks.length >= 1 && ticks.length <= Math.max(2, most), what)
      t.true(ticks.every(({ at }, n) => at >= 0 && at <= 1 && (n === 0 || at > (ticks[n - 1] as (typeof ticks)[0]).at)), what)
      t.is(new Set(ticks.map(({ label }) => label)).size, ticks.length, what)
    }
  }
})

test('a scale has a place for each value that it can show, and none for others', (t) => {
  const axis = scaleOf(false, [3, NaN, 1, Infinity])
  t.deepEqual([axis.low, axis.high, axis.at(1), axis.at(2), axis.at(3)], [1, 3, 0, 0.5, 1])
  t.deepEqual([axis.at(NaN), axis.at(-Infinity)], [NaN, NaN])
  const log = scaleOf(true, [0.01, -5, 0, 100])
  t.deepEqual([log.low, log.high, log.at(0), log.at(-5)], [0.01, 100, NaN, NaN])
  t.true(Math.abs(log.at(1) - 0.5) < 1e-12)
  // Beyond the largest difference there is one.
  const widest = scaleOf(false, [-Number.MAX_VALUE, Number.MAX_VALUE])
  t.deepEqual([widest.at(-Number.MAX_VALUE), widest.at(0), widest.at(Number.MAX_VALUE)], [0, 0.5, 1])
  for (const log of [false, true]) {
    for (const values of [[], [NaN], [7], [Number.MIN_VALUE], [Number.MAX_VALUE]]) {
      const { low, high, at } = scaleOf(log, values)
      t.true(low < high && at(low) === 0 && at(high) === 1, `${values} ${log}`)
    }
  }
})
