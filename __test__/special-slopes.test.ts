// Slopes of Bessel functions and of erfcx far out and near 0, in float32 and halves, by mpmath to 50 digits.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'

type Named = 'i0e' | 'i1' | 'i1e' | 'erfcx'

const slopes = (name: Named, at: readonly number[], dtype: 'float16' | 'bfloat16' | 'float32' | 'float64'): number[] =>
  ft.grad((x: ft.Tensor) => ft[name](x as ft.Tensor<'float32'>).sum() as ft.Tensor)(ft.tensor(at, { dtype })).astype('float64').toArray() as number[]

const FAR = [4.75, 11, 13, 100, 1000]
const WANTED: Record<Exclude<Named, 'i1'>, readonly number[]> = {
  i0e: [-0.0212705153, -0.00567241, -0.00438843457, -0.000200226274, -6.31019896e-6],
  i1e: [-0.0139653101, -0.00487829529, -0.00387098076, -0.000197215256, -6.30073129e-6],
  erfcx: [-0.0235034486, -0.00460608242, -0.00330919862, -5.64104976e-5, -5.64188737e-7]
}

for (const [name, wanted] of Object.entries(WANTED) as [keyof typeof WANTED, readonly number[]][]) {
  test(`${name} far out`, (t) => {
    const far = (dtype: 'float32' | 'float64', bound: number) => {
      slopes(name, FAR, dtype).forEach((slope, n) => t.true(Math.abs(slope / (wanted[n] as number) - 1) < bound, `${name}'(${FAR[n]}) = ${slope} in ${dtype}`))
    }
    // Below where the series begins as many digits are lost as x has, twice.
    far('float32', 1e-5)
    far('float64', 1e-8)
  })
}

test('slopes of i1 are finite where it is, infinite where it is not, and 1/2 at 0', (t) => {
  for (const dtype of ['float32', 'bfloat16'] as const) {
    const [a, b, c] = slopes('i1', [80, 200, -200], dtype) as [number, number, number]
    t.true(Math.abs(a / 2.44443266e33 - 1) < (dtype === 'float32' ? 1e-5 : 0.01))
    t.deepEqual([b, c], [Infinity, Infinity])
  }
  t.deepEqual(slopes('i1', [20], 'float16'), [Infinity])
  t.deepEqual(slopes('i1', [0, 1e-45, 1e-30], 'float32'), [0.5, 0.5, 0.5])
  t.deepEqual(slopes('i1', [Infinity, NaN], 'float32'), [Infinity, NaN])
})

// I1' = 1/2 + 3 x^2 / 16 + 5 x^4 / 384 + ..., and I1e' is that by e^-|x| less I1e: 1/2 - |x| + 15 x^2 / 16 - 7 |x|^3 / 12 + ...
test('slopes of i1 and i1e near 0', (t) => {
  const at = [1e-8, 3e-8, 1e-7, 1e-6, 1e-4, 1e-3].flatMap((x) => [x, -x])
  const wanted: Record<'i1' | 'i1e', (x: number) => number> = {
    i1: (x) => 1 / 2 + (3 * x ** 2) / 16,
    i1e: (x) => 1 / 2 - Math.abs(x) + (15 * x ** 2) / 16 - (7 * Math.abs(x) ** 3) / 12
  }
  for (const name of ['i1', 'i1e'] as const) {
    for (const [dtype, bound] of [['float32', 1e-6], ['float64', 1e-11]] as const) {
      slopes(name, at, dtype).forEach((slope, n) => t.true(Math.abs(slope / wanted[name](at[n] as number) - 1) < bound, `${name}'(${at[n]}) = ${slope} in ${dtype}`))
    }
  }
})

test('slopes at infinity are 0, of NaN NaN', (t) => {
  for (const name of ['i0e', 'i1e'] as const) t.deepEqual(slopes(name, [Infinity, -Infinity, NaN], 'float32').map(Math.abs), [0, 0, NaN])
  t.deepEqual(slopes('erfcx', [Infinity, -Infinity, NaN], 'float32').map((v) => v + 0), [0, -Infinity, NaN])
})
