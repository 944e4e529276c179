// Polynomials: NumPy's fits and values, gradients beside differences, errors.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from './expect.js'

type D = ft.Tensor<'float64'>

const f64 = (data: ft.TensorData): D => ft.tensor(data as number[], { dtype: 'float64' })
const X = f64([0, 1, 2, 3, 4])
const Y = f64([1, 2, 0, 5, 3])

test('fits', (t) => {
  // np.polyfit(x, y, 2); np.polyfit(x, y, 3, w=[1, 2, 1, 0.5, 1]); of two points a cubic, the shortest one of all; two sets at once.
  t.true(close(ft.polyfit(X, Y, 2).toArray(), [0.07142857142857133, 0.4142857142857144, 0.942857142857142]))
  t.true(close(ft.polyfit(X, Y, 3, { weights: f64([1, 2, 1, 0.5, 1]) }).toArray(), [0.23270440251572275, -1.1792452830188662, 1.4937106918239, 1.2264150943396213]))
  t.true(close(ft.polyfit(f64([1, 2]), f64([1, 3]), 3).toArray(), [0.1340726804634122, 0.23863748886028324, 0.3455787701752648, 0.2817110605010392]))
  t.true(close(ft.polyfit(f64([0, 1, 2]), f64([[1, 2], [0, 5], [3, 1]]), 1).toArray(), [[1, -0.5], [1 / 3, 19 / 6]]))
  t.true(close(ft.polyfit(X, Y, 0).toArray(), [2.2]))
  t.true(close(ft.jit((x: D, y: D) => ft.polyfit(x, y, 2))(X, Y).toArray(), ft.polyfit(X, Y, 2).toArray()))
  t.is(ft.polyfit(X.astype('int32'), Y.astype('bool'), 1).dtype, 'float32')
})

test('values', (t) => {
  // np.polyval([2, -1, 0.5], x)
  t.deepEqual(ft.polyval(f64([2, -1, 0.5]), f64([[0, 1.5], [-2, 3]])).toArray(), [[0.5, 3.5], [10.5, 15.5]])
  t.deepEqual(ft.polyval(ft.zeros([0]), X).toArray(), [0, 0, 0, 0, 0])
  t.deepEqual(ft.polyval(ft.tensor([3]), ft.tensor([Infinity, NaN])).toArray(), [3, 3])
  t.deepEqual(ft.polyval(ft.tensor([1, 2], { dtype: 'int32' }), ft.tensor([3, 4], { dtype: 'int8' })).toArray(), [5, 6])
  t.is(ft.polyval(ft.tensor([1, 2], { dtype: 'int32' }), X).dtype, 'float64')
  t.deepEqual(ft.jit((p: D, x: D) => ft.polyval(p, x))(f64([1, 0]), X).toArray(), X.toArray())
})

test('arrays stand for coefficients and points, in the dtype of what is beside them', (t) => {
  t.deepEqual(ft.polyval([2, 1], ft.tensor([0, 1, 2])).toArray(), [1, 3, 5])
  t.deepEqual(ft.polyval([2, 1], [0, 1]).toArray(), [1, 3])
  const tenth: D = ft.polyval([0.1, 0], X)
  t.is(tenth.at(1).itemSync(), 0.1)
  const whole: ft.Tensor<'int32'> = ft.polyval([2, 1], ft.tensor([3], { dtype: 'int32' }))
  t.is(whole.dtype, 'int32')
  throws(t, 'ERR_DTYPE', /^polyval: element \[0\] is 0\.5, which int32 cannot hold/, () => ft.polyval([0.5], ft.tensor([3], { dtype: 'int32' })))
  const line: ft.Tensor<'float32'> = ft.polyfit([0, 1, 2], [1, 3, 5], 1)
  t.true(close(line.toArray(), [2, 1]))
  const wide: D = ft.polyfit([0, 0.1, 0.2, 0.3, 0.4], Y, 0)
  t.true(close(wide.toArray(), [2.2]))
  t.is(ft.polyfit([0, 1], ft.tensor([1, 3], { dtype: 'int32' }), 1).dtype, 'float32')
})

test('gradients', (t) => {
  const step = 1e-6
  const beside = (f: (x: D) => D, x: D): void => {
    const differences = Array.from({ length: x.size }, (_, i) => {
      const shift = ft.zeros([x.size], { dtype: 'float64' }).withAt([i], step) as D
      return ((f(x.add(shift) as D).itemSync() as number) - (f(x.sub(shift) as D).itemSync() as number)) / (2 * step)
    })
    t.true(close(ft.grad(f)(x).toArray(), differences), `${String(ft.grad(f)(x))} beside ${differences.join()}`)
  }
  const weights = f64([1, -2, 3])
  beside((y) => ft.polyfit(X, y, 2).mul(weights).sum() as D, Y)
  // One of the positions is 0, whose powers have slopes too.
  beside((x) => ft.polyfit(x, Y, 2).mul(weights).sum() as D, X)
  beside((w) => ft.polyfit(X, Y, 2, { weights: w }).mul(weights).sum() as D, f64([1, 2, 1, 0.5, 1]))
  beside((p) => ft.polyval(p, X).square().sum() as D, weights)
  beside((x) => ft.polyval(weights, x).square().sum() as D, X)
})

test('errors', (t) => {
  const { polyfit, polyval } = ft as unknown as Record<'polyfit' | 'polyval', (...args: unknown[]) => unknown>
  const cases: readonly (readonly [code: string, message: RegExp, call: () => unknown])[] = [
    ['ERR_ARGUMENT', /^polyfit: 'degree' must be an integer, got 1.5/, () => polyfit(X, Y, 1.5)],
    ['ERR_ARGUMENT', /^polyfit: 'degree' must be at least 0, got -1/, () => polyfit(X, Y, -1)],
    ['ERR_SHAPE', /^polyfit: 1000001 coefficients are more than 65536/, () => polyfit(X, Y, 1e6)],
    ['ERR_SHAPE', /^polyfit: 'x' must be a vector of at least one position, got shape \[0\]/, () => polyfit(ft.zeros([0]), ft.zeros([0]), 1)],
    ['ERR_SHAPE', /^polyfit: 'y' must have 5 values or be \[5, sets\], got shape \[4\]/, () => polyfit(X, Y.at('1:'), 1)],
    ['ERR_SHAPE', /^polyfit: 'weights' must be 5 numbers, got shape \[5, 1\]/, () => polyfit(X, Y, 1, { weights: Y.expandDims(1) })],
    ['ERR_ARGUMENT', /^polyfit: unknown option 'w'/, () => polyfit(X, Y, 1, { w: Y })],
    ['ERR_SHAPE', /^polyval: 'p' must be a vector, got shape \[\]/, () => polyval(ft.tensor(1), X)],
    ['ERR_SHAPE', /^polyval: 100000 coefficients are more than 65536/, () => polyval(ft.zeros([100_000]), X)],
    ['ERR_ARGUMENT', /^polyval: 'x' must be a tensor, got 1/, () => polyval(X, 1)]
  ]
  for (const [code, message, call] of cases) throws(t, code, message, call)
})
