// The methods of quantiles: NumPy's answers (2.4, `numpy.quantile(x, q, method=...)`) for few elements and more, at both ends, on exact steps
// and between them.
// runs on: node, vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

const DATA = [[3], [7, -1], [5, 1, 4, 2, 9], [3, 1, 4, 1, 5, 9, 2, 6, 5, 3.5]]
const Q = [0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 0.75, 0.9, 0.95, 1]
/** By method, for each of DATA: the answers for Q. */
const ANSWERS = {
  inverted_cdf: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -1, -1, 7, 7, 7, 7, 7],
    [1, 1, 1, 2, 2, 4, 5, 5, 9, 9, 9],
    [1, 1, 1, 2, 2, 3.5, 5, 5, 6, 9, 9]
  ],
  averaged_inverted_cdf: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -1, 3, 7, 7, 7, 7, 7],
    [1, 1, 1.5, 2, 2, 4, 5, 5, 9, 9, 9],
    [1, 1, 1.5, 2, 2.5, 3.75, 5, 5, 7.5, 9, 9]
  ],
  closest_observation: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -1, -1, -1, 7, 7, 7, 7],
    [1, 1, 1, 1, 2, 2, 5, 5, 5, 9, 9],
    [1, 1, 1, 1, 2, 3.5, 5, 5, 6, 9, 9]
  ],
  interpolated_inverted_cdf: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -1, -1, 2.2, 3, 5.4, 6.2, 7],
    [1, 1, 1, 1.25, 1.5, 3, 4.5, 4.75, 7, 8, 9],
    [1, 1, 1, 1.5, 2, 3.5, 5, 5, 6, 7.5, 9]
  ],
  hazen: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -0.2, 3, 6.2, 7, 7, 7, 7],
    [1, 1, 1.5, 1.75, 2, 4, 5, 6, 9, 9, 9],
    [1, 1, 1.5, 2, 2.5, 3.75, 5, 5, 7.5, 9, 9]
  ],
  weibull: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -1, 3, 7, 7, 7, 7, 7],
    [1, 1, 1.2, 1.5, 1.8, 4, 5.8, 7, 9, 9, 9],
    [1, 1, 1.2, 1.75, 2.3, 3.75, 5, 5.25, 8.7, 9, 9]
  ],
  median_unbiased: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -0.733333333333, 3, 6.733333333333, 7, 7, 7, 7],
    [1, 1, 1.4, 1.666666666667, 1.933333333333, 4, 5.266666666667, 6.333333333333, 9, 9, 9],
    [1, 1, 1.4, 1.916666666667, 2.433333333333, 3.75, 5, 5.083333333333, 7.9, 9, 9]
  ],
  normal_unbiased: [
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [-1, -1, -1, -1, -0.6, 3, 6.6, 7, 7, 7, 7],
    [1, 1, 1.425, 1.6875, 1.95, 4, 5.2, 6.25, 9, 9, 9],
    [1, 1, 1.425, 1.9375, 2.45, 3.75, 5, 5.0625, 7.8, 9, 9]
  ]
} as const
type Method = keyof typeof ANSWERS
const METHODS = Object.keys(ANSWERS) as Method[]

const float64 = (data: readonly number[]): ft.Tensor<'float64'> => ft.tensor(data, { dtype: 'float64' }) as ft.Tensor<'float64'>

test('each method is NumPy\'s, of all four functions', (t) => {
  for (const method of METHODS) {
    DATA.forEach((data, i) => {
      const wanted = ANSWERS[method][i] as readonly number[]
      const [x, gaps] = [float64(data), float64([NaN, ...data, NaN])]
      const [q, percent] = [float64(Q), float64(Q.map((fraction) => Math.round(fraction * 100)))]
      const found = [
        x.quantile(q, { method }), gaps.nanquantile(q, { method }), x.percentile(percent, { method }), gaps.nanpercentile(percent, { method })
      ]
      for (const y of found) {
        const numbers = y.toArray() as number[]
        numbers.forEach((n, at) => t.true(Math.abs(n - (wanted[at] as number)) < 1e-11, `${method} of ${data} at ${Q[at]}: ${n}, not ${wanted[at]}`))
      }
      // A number for q.
      Q.forEach((fraction, at) => t.true(Math.abs((x.quantile(fraction, { method }).itemSync() as number) - (wanted[at] as number)) < 1e-11))
    })
  }
})

test('float32, integers, axes and several lines', (t) => {
  const x = ft.tensor([[5, 1, 4, 2], [8, 6, 7, 3]])
  for (const dtype of ['float32', 'int32'] as const) {
    const own = x.astype(dtype)
    t.deepEqual(own.quantile(0.5, { axis: 1, method: 'inverted_cdf' }).toArray(), [2, 6])
    t.deepEqual(own.quantile(0.5, { axis: 1, method: 'averaged_inverted_cdf' }).toArray(), [3, 6.5])
    t.deepEqual(own.quantile(0.5, { axis: 0, method: 'hazen' }).toArray(), [6.5, 3.5, 5.5, 2.5])
    t.deepEqual(own.quantile(ft.tensor([0, 1]), { axis: 1, method: 'weibull', keepdims: true }).toArray(), [[[1], [3]], [[5], [8]]])
  }
})

test('NaN, infinities and no elements', (t) => {
  for (const method of METHODS) {
    t.deepEqual(ft.tensor([1, NaN]).quantile(0.5, { method }).toArray(), NaN, method)
    t.deepEqual(ft.tensor([NaN, NaN]).nanquantile(0.5, { method }).toArray(), NaN, method)
    t.deepEqual(ft.zeros([0]).quantile(0.5, { method }).toArray(), NaN, method)
    // Both ends are elements, whatever lies between.
    t.deepEqual(ft.tensor([-Infinity, 1, Infinity]).quantile(ft.tensor([0, 1]), { method }).toArray(), [-Infinity, Infinity], method)
    throws(t, 'ERR_INDEX', /quantile/, () => ft.ones([2]).quantile(1.5, { method }))
    throws(t, 'ERR_INDEX', /quantile/, () => ft.ones([2]).quantile(ft.tensor([-0.5]), { method }).toArray())
  }
  throws(t, 'ERR_ARGUMENT', /'method' must be one of 'linear'.*'normal_unbiased'/, () => ft.ones([2]).quantile(0.5, { method: 'median' as never }))
})

test('gradients go to the elements that a quantile is made of', (t) => {
  const slope = (method: Method, q: number): unknown => ft.grad((x: ft.Tensor<'float64'>) => x.quantile(q, { method }))(float64([5, 1, 4, 2])).toArray()
  t.deepEqual(slope('inverted_cdf', 0.5), [0, 0, 0, 1])
  t.deepEqual(slope('averaged_inverted_cdf', 0.5), [0, 0, 0.5, 0.5])
  t.deepEqual(slope('hazen', 0.5), [0, 0, 0.5, 0.5])
  t.deepEqual(slope('closest_observation', 0.9), [1, 0, 0, 0])
})
