// What tests of backends share: the backends that are here, arrays to compute on, and results in float64 by loops of the tests' own.

import * as ft from 'ferrotensor'

export type FloatArray = ft.backends.FloatArray
export type Precision = ft.backends.Precision

/** The backends that can compute here. */
export const present = ft.backends.list().filter((backend) => backend.isAvailable())

/** Why the others cannot. */
export const absent = ft.backends.list().filter((backend) => !backend.isAvailable())

const ARRAY = { float32: Float32Array, float64: Float64Array }
export const PRECISIONS = Object.keys(ARRAY) as Precision[]

/** An array of these numbers. */
export const arrayOf = (dtype: Precision, values: Iterable<number>): FloatArray => ARRAY[dtype].from(values)

/** Numbers between -1 and 1 without a pattern that a tile could hide: a linear congruence (Numerical Recipes, ranqd1). */
export function numbers(dtype: Precision, length: number, seed: number): FloatArray {
  const out = new ARRAY[dtype](length)
  let state = seed >>> 0
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    out[i] = state / 2 ** 31 - 1
  }
  return out
}

/** A product in float64, and for each element the sum of the magnitudes of its terms. */
export function product(a: FloatArray, b: FloatArray, m: number, n: number, k: number): { values: Float64Array; magnitudes: Float64Array } {
  const [values, magnitudes] = [new Float64Array(m * n), new Float64Array(m * n)]
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      for (let p = 0; p < k; p++) {
        const term = a[i * k + p]! * b[p * n + j]!
        values[i * n + j] = values[i * n + j]! + term
        magnitudes[i * n + j] = magnitudes[i * n + j]! + Math.abs(term)
      }
    }
  }
  return { values, magnitudes }
}

/** Half a unit in the last place of 1. */
export const UNIT = { float32: 2 ** -24, float64: 2 ** -53 } as const

/** How many elements are farther from the expected ones than (k + 2) roundings of their magnitudes; NaN is far from everything but NaN. */
export function tooFar(actual: FloatArray, { values, magnitudes }: { values: Float64Array; magnitudes: Float64Array }, dtype: Precision, k: number): number {
  let count = 0
  values.forEach((value, i) => {
    const x = actual[i]!
    if (Object.is(x, value) || x === value) return
    if (!(Math.abs(x - value) <= (k + 2) * UNIT[dtype] * magnitudes[i]!)) count++
  })
  return count + Math.abs(actual.length - values.length)
}

/**
 * How an array is not another one: in class, length or a bit, all NaNs alike; null if it is the same. ava's deepEqual lists the keys of
 * typed arrays first, which took three quarters of the time of all these comparisons.
 */
export function difference(actual: FloatArray, expected: FloatArray): string | null {
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return `a ${actual.constructor.name}, not a ${expected.constructor.name}`
  if (actual.length !== expected.length) return `${actual.length} elements, not ${expected.length}`
  const at = expected.findIndex((value, i) => !Object.is(actual[i], value))
  return at < 0 ? null : `element ${at} is ${Object.is(actual[at], -0) ? '-0' : actual[at]}, not ${Object.is(expected[at], -0) ? '-0' : expected[at]}`
}
