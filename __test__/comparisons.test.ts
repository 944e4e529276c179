// Integers compared with numbers that are none, or that their dtype does not hold, as JavaScript compares them: exactly.
// runs on: vulkan

import test from 'ava'
import * as ft from '../index.js'

const COMPARISONS = {
  equal: (x: bigint, y: number | bigint) => x == y,
  notEqual: (x: bigint, y: number | bigint) => x != y,
  less: (x: bigint, y: number | bigint) => x < y,
  lessEqual: (x: bigint, y: number | bigint) => x <= y,
  greater: (x: bigint, y: number | bigint) => x > y,
  greaterEqual: (x: bigint, y: number | bigint) => x >= y
}
const RANGES = { int8: [-(2n ** 7n), 2n ** 7n - 1n], uint8: [0n, 2n ** 8n - 1n], int32: [-(2n ** 31n), 2n ** 31n - 1n], uint64: [0n, 2n ** 64n - 1n], int64: [-(2n ** 63n), 2n ** 63n - 1n] } as const
const NUMBERS = [0.5, -0.5, 1.5, -0, 0, 1, -1, 127.5, 128, -128.25, -129, 255.5, 256, 2 ** 31 - 0.5, 2 ** 31, -(2 ** 31) - 0.5, 2 ** 53 + 2, 2 ** 63, 2 ** 64, -(2 ** 63), -(2 ** 65), 1e300, 5e-324, Infinity, -Infinity, NaN, 2n ** 63n, 2n ** 64n, -(2n ** 63n) - 1n]

const MIRRORED: Record<string, string> = { less: 'greater', lessEqual: 'greaterEqual', greater: 'less', greaterEqual: 'lessEqual' }
const bools = (x: ft.Tensor<'bool'>): boolean[] => Array.from(x.dataSync(), Boolean)

for (const [dtype, [min, max]] of Object.entries(RANGES)) {
  test(`${dtype} compared with any number`, (t) => {
    const elements = [min, min + 1n, max - 1n, max, 0n, 1n].concat(min < 0n ? [-1n, -2n] : [2n])
    const wide = dtype.endsWith('64')
    const x = ft.tensor(wide ? elements : elements.map(Number), { dtype: dtype as 'int32' })
    for (const [name, compare] of Object.entries(COMPARISONS)) {
      for (const y of NUMBERS) {
        const said = `${name} ${String(y)}`
        t.deepEqual(bools(x[name as 'less'](y)), elements.map((e) => compare(e, y)), said)
        const turned = ft[name as 'less'](y, x)
        t.deepEqual(bools(turned), elements.map((e) => (name === 'equal' || name === 'notEqual' ? compare(e, y) : COMPARISONS[MIRRORED[name] as 'less'](e, y))), `${said}, in front`)
      }
    }
  })
}

test('shapes and devices stay, of nothing too', (t) => {
  t.deepEqual(ft.zeros([2, 0, 3], { dtype: 'int32' }).less(0.5).shape, [2, 0, 3])
  t.deepEqual(bools(ft.tensor(3, { dtype: 'int32' }).greater(1e12)), [false])
})

test('what is no comparison refuses fractions as before', (t) => {
  const x = ft.tensor([1, 2], { dtype: 'int32' })
  t.throws(() => x.add(0.5), { code: 'ERR_DTYPE', message: /0\.5 is not an integer/ })
  t.throws(() => x.minimum(2 ** 40), { code: 'ERR_DTYPE', message: /out of range/ })
})
