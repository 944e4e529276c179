// What console.log, String and JSON.stringify show.
// runs on: node

import { inspect } from 'node:util'
import test from 'ava'
import * as ft from 'ferrotensor'

const shown = (x: ft.Tensor) => inspect(x).replace(x.device, 'DEVICE')

test('small tensors print whole, with a header', (t) => {
  t.is(shown(ft.tensor([[1, 2], [3, 4]])), 'Tensor<float32>[2, 2] DEVICE\n[[1, 2],\n [3, 4]]')
  t.is(shown(ft.tensor(3)), 'Tensor<float32>[] DEVICE 3')
  t.is(shown(ft.tensor([])), 'Tensor<float32>[0] DEVICE []')
  t.is(shown(ft.zeros([2, 0])), 'Tensor<float32>[2, 0] DEVICE\n[[],\n []]')
  t.is(String(ft.tensor([1, 2])), '[1, 2]')
  t.is(`${ft.tensor([1, 2])}`, '[1, 2]')
})

test('numbers have the fewest digits that name them', (t) => {
  for (const [value, dtype, text] of [
    [0.1, 'float32', '0.1'], [0.1, 'float64', '0.1'], [0.1, 'float16', '0.1'], [0.1, 'bfloat16', '0.1'], [1 / 3, 'float32', '0.33333334'],
    [1 / 3, 'float64', '0.33333333'], [1 / 3, 'float16', '0.3333'], [16777216, 'float32', '16777216'], [-0, 'float32', '-0'],
    [NaN, 'float32', 'nan'], [Infinity, 'float32', 'inf'], [-Infinity, 'float64', '-inf'], [1e-9, 'float32', '1e-09'], [1.5e10, 'float64', '1.5e+10'],
    [0.1 + 0.2, 'float64', '0.3'], [1e-9 * (1 + 2 ** -50), 'float64', '1e-09'], [65504, 'float16', '65504'], [5.9604644775390625e-8, 'float16', '6e-08'], [2 ** -149, 'float32', '1e-45'], [1 - 2 ** -24, 'float32', '0.99999994'], [10.0099745, 'float32', '10.0099745']
  ] as const) {
    t.is(String(ft.tensor(value, { dtype })), text, `${value} ${dtype}`)
  }
})

test('every kind of element', (t) => {
  t.is(String(ft.tensor([true, false])), '[true, false]')
  t.is(String(ft.tensor([1n, -9223372036854775808n])), '[1, -9223372036854775808]')
  t.is(String(ft.tensor([{ re: 1, im: -2 }, { re: 0.5, im: 3 }])), '[1-2i, 0.5+3i]')
})

test('columns are aligned', (t) => {
  t.is(String(ft.tensor([[0.5, 22.25], [3, -4.125]])), '[[ 0.5  , 22.25 ],\n [ 3    , -4.125]]')
  t.is(String(ft.tensor([[1, 10], [100, 1000]])), '[[   1,   10],\n [ 100, 1000]]')
  t.is(String(ft.tensor([[1e-9, 1.25], [2, 3]])), '[[1.00e-09, 1.25e+00],\n [2.00e+00, 3.00e+00]]')
  // NaN and infinities have no point, and stand at the right edge.
  t.is(String(ft.tensor([[NaN, 22.25], [3, -4.125]])), '[[   nan, 22.25 ],\n [ 3    , -4.125]]')
  t.is(String(ft.tensor([[-Infinity, 1.5e-9], [2, NaN]])), '[[   -inf, 1.5e-09],\n [2.0e+00,     nan]]')
  t.is(String(ft.tensor([[-Infinity, 5], [2, 0.5]])), '[[-inf,  5  ],\n [ 2  ,  0.5]]')
})

test('ranks above two are separated by empty lines, long rows are broken', (t) => {
  t.is(String(ft.arange(8).reshape([2, 2, 2])), '[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]]')
  const lines = String(ft.arange(100)).split('\n')
  t.true(lines.length > 1 && lines.every((line) => line.length <= 81), lines.join('\n'))
})

test('beyond 1000 elements the edges are shown', (t) => {
  t.is(String(ft.arange(1001)), '[   0,    1,    2, ...,  998,  999, 1000]')
  const lines = String(ft.arange(6000).reshape([20, 300])).split('\n')
  t.is(lines.length, 7)
  t.is(lines[0], '[[   0,    1,    2, ...,  297,  298,  299],')
  t.is(lines[3], ' ...,')
  t.is(lines[6], ' [5700, 5701, 5702, ..., 5997, 5998, 5999]]')
  t.regex(String(ft.zeros([1000, 2])), /^\[\[0, 0\],\n \[0, 0\],\n \[0, 0\],\n \.\.\.,\n/)
})

test('a large tensor is read at its edges only', (t) => {
  const { prototype } = ft.Tensor
  const { toArray } = prototype
  const sizes: number[] = []
  prototype.toArray = function (this: ft.Tensor) {
    sizes.push(this.size)
    return toArray.call(this)
  } as typeof toArray
  try {
    inspect(ft.zeros([100, 2, 100]))
  } finally {
    prototype.toArray = toArray
  }
  t.deepEqual(sizes, [18, 18, 18, 18])
})

test('inspect keeps the depth and the indentation of the object around', (t) => {
  t.is(inspect({ a: { b: { c: { d: ft.tensor([1]) } } } }), '{ a: { b: { c: [Object] } } }')
  t.regex(inspect({ x: ft.tensor([[1], [2]]) }), /^\{\n  x: Tensor<float32>\[2, 1\] \S+\n  \[\[1\],\n   \[2\]\]\n\}$/)
  t.is(inspect([[[ft.tensor([1])]]], { depth: 1 }).includes('Tensor'), false)
})

test('JSON holds shape, dtype and flat data', (t) => {
  t.deepEqual(JSON.parse(JSON.stringify(ft.tensor([[1, 2], [3, 4]]))), { shape: [2, 2], dtype: 'float32', data: [1, 2, 3, 4] })
  t.deepEqual(ft.tensor([NaN, Infinity, 1]).toJSON().data, ['NaN', 'Infinity', 1])
  t.deepEqual(ft.tensor([9007199254740993n]).toJSON().data, ['9007199254740993'])
})

test('a disposed tensor prints its state', (t) => {
  const x = ft.tensor([1, 2])
  x.dispose()
  t.is(shown(x), 'Tensor<float32>[2] DEVICE (disposed)')
  t.is(String(x).replace(x.device, 'DEVICE'), 'Tensor<float32>[2] DEVICE (disposed)')
})

test('a failed tensor prints its state', (t) => {
  const x = ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2]))
  t.regex(shown(x), /^Tensor<float32>\[2\] DEVICE \(failed: .*singular/i)
  t.notThrows(() => `${x}`)
})

test('array2string and toString take options of NumPy', (t) => {
  const x = ft.tensor([1 / 3, 200, -2])
  t.is(ft.array2string(x), String(x))
  t.is(ft.array2string(x, { precision: 2 }), '[0.33, 200, -2]')
  t.is(x.toString({ precision: 0 }), '[0, 200, -2]')
  t.is(ft.array2string([1, 2, 3], { separator: ' ' }), '[1 2 3]')
  t.is(ft.array2string(ft.tensor([[1, 2], [3, 4]]), { separator: '; ' }), '[[1; 2];\n [3; 4]]')
  t.is(ft.array2string([1e-9, 1]), '[1e-09, 1e+00]')
  t.is(ft.array2string([1e-9, 1], { suppressSmall: true }), '[0, 1]')
  t.is(ft.array2string([1e-9, 1], { suppressSmall: true, precision: 9 }), '[0.000000001, 1]')
  t.is(ft.array2string(ft.tensor([{ re: 1 / 3, im: -2 / 3 }]), { precision: 1 }), '[0.3-0.7i]')
  t.is(ft.array2string([1.25e10], { precision: 1 }), '[1.3e+10]')
  t.is(ft.tensor([1n, 2n]).toString({ separator: ',' }), '[1,2]')
})

test('options of edges and lines', (t) => {
  const x = ft.arange(12)
  t.is(ft.array2string(x, { threshold: 5, edgeitems: 2 }), '[0, 1, ..., 10, 11]')
  t.is(ft.array2string(x, { threshold: 0, edgeitems: 6 }), String(x))
  t.is(ft.array2string(x.reshape([4, 3]), { threshold: 5, edgeitems: 1 }), '[[0, ...,  2],\n ...,\n [9, ..., 11]]'.replace('[0, ...,  2]', '[ 0, ...,  2]').replace('[9, ', '[ 9, '))
  t.is(ft.array2string(ft.arange(1001), { threshold: Infinity }).split(',').length, 1001)
  const lines = ft.array2string(x, { linewidth: 20 }).split('\n')
  t.true(lines.length > 2 && lines.every((line) => line.length <= 21), lines.join('\n'))
  t.is(ft.array2string(x, { linewidth: Infinity, threshold: Infinity }).includes('\n'), false)
  // A long separator counts.
  t.true(ft.array2string(x, { linewidth: 20, separator: ' | ' }).split('\n').every((line) => line.length <= 22))
})

test('text refuses options that are none, and shows errors of values where there is no state to show', (t) => {
  const x = ft.tensor([1, 2])
  for (const [options, message] of [
    [{ precision: -1 }, /'precision' must be from 0 to 100, got -1/], [{ precision: 101 }, /'precision' must be from 0 to 100/], [{ threshold: -1 }, /'threshold' must be at least 0/],
    [{ edgeitems: 0 }, /'edgeitems' must be at least 1/], [{ linewidth: 1.5 }, /'linewidth' must be an integer/], [{ separator: 3 }, /'separator' must be text, got 3/],
    [{ suppressSmall: 1 }, /'suppressSmall' must be a boolean/], [{ digits: 2 }, /unknown option 'digits'/], [2, /'options' must be an object/], [null, /'options' must be an object/]
  ] as const) {
    t.throws(() => ft.array2string(x, options as never), { code: 'ERR_ARGUMENT', message: new RegExp(`^array2string: ${message.source}`) })
    t.throws(() => x.toString(options as never), { code: 'ERR_ARGUMENT', message: new RegExp(`^toString: ${message.source}`) })
  }
  t.throws(() => ft.array2string('text' as never), { code: 'ERR_ARGUMENT', message: /^array2string: 'x' must be a tensor/ })
  const failed = ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2]))
  t.throws(() => ft.array2string(failed), { code: 'ERR_LINALG' })
  t.regex(failed.toString({ precision: 2 }), /failed/)
})

test.serial('setPrintOptions holds for all that is printed, until it is called without options', (t) => {
  const x = ft.tensor([1 / 3, 200])
  const defaults = ft.getPrintOptions()
  t.teardown(() => ft.setPrintOptions())
  ft.setPrintOptions({ precision: 2 })
  t.is(String(x), '[0.33, 200]')
  t.true(inspect(x).endsWith('[0.33, 200]'))
  t.is(x.toString({ separator: ' ' }), '[0.33 200]')
  ft.setPrintOptions({ threshold: 1, edgeitems: 1 })
  t.is(String(ft.tensor([1 / 3, 2, 200])), '[0.33, ..., 200]')
  t.throws(() => ft.setPrintOptions({ precision: 1, threshold: -1 }), { code: 'ERR_ARGUMENT', message: /^setPrintOptions: 'threshold'/ })
  t.is(ft.getPrintOptions().precision, 2)
  ft.setPrintOptions(defaults)
  t.is(String(x), '[0.33333334, 200]')
  ft.setPrintOptions({ precision: 0 })
  ft.setPrintOptions()
  t.deepEqual(ft.getPrintOptions(), defaults)
})
