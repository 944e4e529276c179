// Normalisations of numbers whose mean is large beside their spread: the rounded mean is not all that is subtracted.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'

/** Rows of numbers about a mean with a spread of 1, as float32 has them. */
function numbers(rows: number, extent: number, mean: number): number[] {
  const x = new Float32Array(rows * extent)
  let state = 12345
  for (let i = 0; i < x.length; i++) {
    state = (Math.imul(state, 747796405) + 2891336453) >>> 0
    x[i] = mean + (state / 2 ** 32 - 0.5) * Math.sqrt(12)
  }
  return [...x]
}

/** Each row less its mean, by the root of its variance: in float64, where these numbers and their sums lose next to nothing. */
function standardised(x: readonly number[], extent: number, eps = 1e-5): number[] {
  return x.flatMap((_, at) => {
    if (at % extent > 0) return []
    const row = x.slice(at, at + extent)
    const first = row[0] as number
    const mean = row.reduce((sum, v) => sum + (v - first), 0) / extent
    const left = row.map((v) => v - first - mean)
    const variance = left.reduce((sum, v) => sum + v * v, 0) / extent
    return left.map((v) => v / Math.sqrt(variance + eps))
  })
}

const furthest = (x: ft.Tensor, wanted: readonly number[]): number => [...(x.astype('float64').reshape([-1]).dataSync() as Float64Array)].reduce((most, v, i) => Math.max(most, Math.abs(v - (wanted[i] as number))), 0)

for (const mean of [0, 10, -1e3, 1e5, 1e6]) {
  for (const extent of [7, 100, 768, 3000]) {
    test(`rows of ${extent} about ${mean}`, (t) => {
      const rows = 6
      const x = numbers(rows, extent, mean)
      const wanted = standardised(x, extent)
      // Of so many numbers the largest are about 2, and an element is off by some roundings of that.
      const bound = 2e-6
      const dense = ft.tensor(x).reshape([rows, extent])
      t.true(furthest(ft.nn.layerNorm(dense), wanted) < bound)
      t.true(furthest(ft.nn.groupNorm(dense.reshape([rows / 2, 2, extent]), 2), wanted) < bound)
      t.true(furthest(ft.nn.instanceNorm(dense.reshape([1, rows, extent])), wanted) < bound)
    })
  }
}

test('gradients are those of the same numbers in float64', (t) => {
  const extent = 100
  const x = numbers(3, extent, 1e4)
  const weights = numbers(3, extent, 0)
  const slope = (dtype: 'float32' | 'float64') =>
    ft.grad((y: ft.Tensor) => ft.nn.layerNorm(y).mul(ft.tensor(weights, { dtype }).reshape([3, extent])).sum() as ft.Tensor)(ft.tensor(x, { dtype }).reshape([3, extent]))
  const wanted = [...(slope('float64').reshape([-1]).dataSync() as Float64Array)]
  t.true(furthest(slope('float32') as ft.Tensor, wanted) < 1e-5)
})

// Whole numbers that float64 has beside 2^53, and whose mean it has not: the results are those of the numbers alone.
test('float64 beside 2^53', (t) => {
  const x = ft.tensor([0, 2, 6, 12], { dtype: 'float64' }).add(2 ** 53)
  t.true(furthest(ft.nn.layerNorm(x), standardised([0, 2, 6, 12], 4)) < 1e-15)
})
