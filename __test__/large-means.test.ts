// Spreads of numbers beside a mean that is far larger: the digits that float32 has of them, for results and slopes, along any axes.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'

/** Whole numbers that float32 holds beside any of these means. */
const MEANS = [0, 4096, 100_000, 2 ** 20 + 0.5, 2 ** 22]
const SHAPE = [6, 5, 70]

type Wide = ft.Tensor<'float64'>

function numbers(mean: number): { narrow: ft.Tensor<'float32'>; wide: Wide } {
  const values = Float64Array.from({ length: 6 * 5 * 70 }, (_, i) => mean + Math.round(8 * Math.sin(i * i)))
  return { narrow: ft.tensor(Float32Array.from(values)).reshape(SHAPE), wide: ft.tensor(values).reshape(SHAPE) }
}

/** The largest difference of two results, beside the largest number among them. */
function error(ours: ft.Tensor, wanted: ft.Tensor): number {
  const [x, y] = [ours, wanted].map((t) => ft.astype(t, 'float64').dataSync())
  let [most, off] = [0, 0]
  for (let i = 0; i < y!.length; i++) {
    most = Math.max(most, Math.abs(y![i]!))
    off = Math.max(off, Number.isNaN(x![i]!) ? Infinity : Math.abs(x![i]! - y![i]!))
  }
  return off / Math.max(most, 1e-30)
}

const FUNCTIONS: Record<string, (x: ft.Tensor) => ft.Tensor> = {
  'var of all': (x) => ft.var(x as Wide),
  'var of rows': (x) => ft.var(x as Wide, 2),
  'var of columns': (x) => ft.var(x as Wide, 0),
  'std of a middle axis': (x) => ft.std(x as Wide, 1),
  'nanvar': (x) => ft.nanvar(x as Wide, [0, 2]),
  'nanstd': (x) => ft.nanstd(x as Wide, 0),
  'batchNorm': (x) => ft.nn.batchNorm(x as Wide),
  'layerNorm': (x) => ft.nn.layerNorm(x as Wide),
  'cov': (x) => ft.cov(x.reshape([30, 70]) as Wide),
  'corrcoef': (x) => ft.corrcoef(x.reshape([30, 70]) as Wide),
}

for (const [name, fn] of Object.entries(FUNCTIONS)) {
  test(`${name} keeps its digits beside a large mean`, (t) => {
    for (const mean of MEANS) {
      const { narrow, wide } = numbers(mean)
      t.true(error(fn(narrow), fn(wide)) < 3e-6, `${name} about ${mean}`)
    }
  })

  test(`the slope of ${name} keeps its digits beside a large mean`, (t) => {
    const slope = (x: ft.Tensor): ft.Tensor =>
      ft.grad((v: Wide) => {
        const y = fn(v)
        return ft.sum(ft.multiply(y, ft.sin(ft.arange(y.size, { dtype: v.dtype }).reshape(y.shape)))) as Wide
      })(x as Wide)
    for (const mean of MEANS) {
      const { narrow, wide } = numbers(mean)
      t.true(error(slope(narrow), slope(wide)) < 2e-5, `${name} about ${mean}`)
    }
  })
}

test('no spread of equal numbers is NaN or negative', (t) => {
  for (const value of [0.1, 1e-15, 13696510, 1e15, -7.7]) {
    for (let n = 1; n < 10_000; n += n < 40 ? 1 : 331) {
      const x = ft.full([n], value)
      const [std, variance] = [ft.std(x).itemSync(), ft.var(x).itemSync()]
      t.true(std >= 0 && variance >= 0 && std <= Math.abs(value) * 1e-6, `${n} times ${value}: ${std}, ${variance}`)
    }
  }
})

test('batch norm of numbers of which all but one are equal is that of float64', (t) => {
  for (const n of [1000, 300_007]) {
    for (const value of [1.1, 46_284_001_280]) {
      const numbers = new Float32Array(n).fill(value)
      numbers[0] = Math.fround(value * (1 + 2 ** -23))
      const [narrow, wide] = [ft.tensor(numbers), ft.tensor(Float64Array.from(numbers))].map((x) => ft.nn.batchNorm(x.reshape([n, 1]) as Wide))
      t.true(error(narrow!, wide!) < 2e-3, `${n} numbers, ${value}`)
    }
  }
})
