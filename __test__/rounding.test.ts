// Rounding to decimals, powers in float64, and running logarithms of sums: NumPy's and PyTorch's answers, and the ends of each dtype.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from './expect.js'

test('floats are rounded as numpy.round does', (t) => {
  const x = ft.tensor([1.25, -3.149, 2.675, Infinity, -Infinity, NaN, -0.04], { dtype: 'float64' })
  t.deepEqual(ft.round(x, 1).toArray(), [1.2, -3.1, 2.7, Infinity, -Infinity, NaN, -0])
  t.deepEqual(ft.tensor([15, 25, -149, 5], { dtype: 'float64' }).round({ decimals: -1 }).toArray(), [20, 20, -150, 0])
  t.true(close(ft.round(ft.tensor([0.125, 2.345, 1e-3]), 2).toArray(), [0.12, 2.34, 0]))
  t.true(close(ft.round(ft.tensor([0.1251, 2.345], { dtype: 'float16' }), 2).toArray(), ft.tensor([0.13, 2.35], { dtype: 'float16' }).toArray()))
  t.is(ft.round(ft.tensor([0.1251], { dtype: 'bfloat16' }), 2).dtype, 'bfloat16')
  t.deepEqual(ft.tensor([{ re: 1.255, im: -2.345 }], { dtype: 'complex128' }).round(2).toArray(), [{ re: 1.25, im: -2.35 }])
  t.deepEqual(ft.round(ft.tensor([0.5, 1.5, -2.4]), { decimals: 0 }).toArray(), [0, 2, -2])
})

test('what has no digits there stays, or is nothing', (t) => {
  const x = ft.tensor([1e300, -1.5, 0], { dtype: 'float64' })
  t.deepEqual(ft.round(x, 10).toArray(), [1e300, -1.5, 0])
  t.deepEqual(ft.round(x, 400).toArray(), [1e300, -1.5, 0])
  t.deepEqual(ft.round(ft.tensor([1e300, -1.5, Infinity, NaN], { dtype: 'float64' }), -400).toArray(), [0, -0, Infinity, NaN])
  t.deepEqual(ft.round(ft.tensor([3e38, 1]), -39).toArray(), [0, 0])
})

test('integers are rounded exactly, ties to even', (t) => {
  const rounded = (list: readonly (number | bigint)[], dtype: ft.DType, decimals: number): unknown => ft.round(ft.tensor(list as number[], { dtype }) as ft.Tensor<'int32'>, decimals).toArray()
  t.deepEqual(rounded([1250, 1350, -149, -150, -250, 50, 51], 'int32', -2), [1200, 1400, -100, -200, -200, 0, 100])
  t.deepEqual(rounded([127, -128, 50, 51, 49], 'int8', -2), [100, -100, 0, 100, 0])
  t.deepEqual(rounded([2147483647, -2147483648], 'int32', -3), [-2147483296, -2147484000 + 2 ** 32])
  t.deepEqual(rounded([9223372036854775807n, -4500000000000000000n], 'int64', -18), [9000000000000000000n, -4000000000000000000n])
  t.deepEqual(rounded([14000000000000000000n, 5000000000000000000n], 'uint64', -19), [10000000000000000000n, 0n])
  t.deepEqual(rounded([7, -7], 'int16', 2), [7, -7])
  t.deepEqual(rounded([32767], 'int16', -40), [0])
  throws(t, 'ERR_DTYPE', /^round: 'decimals' must be at least -18: int64/, () => rounded([1n], 'int64', -19))
  throws(t, 'ERR_DTYPE', /^round: 'decimals' must be at least -19: uint64/, () => rounded([1n], 'uint64', -20))
})

test('rounding refuses what it cannot mean, and has no slope', (t) => {
  throws(t, 'ERR_ARGUMENT', /^round: 'decimals' must be an integer, got 0.5/, () => ft.round([1], 0.5))
  throws(t, 'ERR_ARGUMENT', /^round: unknown option 'digits'/, () => ft.round([1], { digits: 1 } as never))
  throws(t, 'ERR_DTYPE', /^round: /, () => ft.round(ft.tensor([true]) as never, 1))
  t.deepEqual(ft.grad((x: ft.Tensor<'float32'>) => ft.round(x, 1).sum())(ft.tensor([1.25, 3e38])).toArray(), [0, 0])
  t.is(ft.rint as unknown, ft.round as unknown)
})

test('powers in float64', (t) => {
  const x = ft.floatPower(ft.tensor([2, -3], { dtype: 'int32' }), -1)
  t.is(x.dtype, 'float64')
  t.true(close(x.toArray(), [0.5, -1 / 3]))
  t.is(ft.floatPower(ft.tensor([1 / 3]), ft.tensor([2])).dtype, 'float64')
  t.is(ft.floatPower(2, 10).itemSync(), 1024)
  t.is(ft.floatPower(2, ft.tensor([3])).dtype, 'float64')
  t.is(ft.tensor([{ re: 0, im: 1 }]).floatPower(2).dtype, 'complex128')
  t.is(ft.floatPower(ft.tensor([2]), ft.tensor([{ re: 0, im: 1 }])).dtype, 'complex128')
  throws(t, 'ERR_SHAPE', /^floatPower: /, () => ft.floatPower(ft.ones([2]), ft.ones([3])))
  throws(t, 'ERR_ARGUMENT', /^floatPower: 'b' must be a tensor or a number/, () => ft.floatPower(1, 'x' as never))
})

/** x 2^n by numbers that hold it all: a significand of whole numbers, and one rounding at the end. */
function exactly(x: number, n: number): number {
  if (x === 0 || !Number.isFinite(x)) return x
  const low = Math.max(-1074, Math.floor(Math.log2(Math.abs(x))) - 53)
  // |x| = whole 2^low
  const whole = BigInt(Math.abs(x) * 2 ** Math.min(1000, -low) * 2 ** Math.max(0, -low - 1000))
  const shift = low + n
  if (shift > 1024) return Math.sign(x) * Infinity
  if (shift >= -1074) return Math.sign(x) * Number(whole) * 2 ** Math.min(shift, 900) * 2 ** Math.max(0, shift - 900)
  const [cut, half] = [BigInt(-1074 - shift), BigInt(-1074 - shift - 1)]
  const [kept, rest] = [whole >> cut, whole & ((1n << cut) - 1n)]
  const up = rest > 1n << half || (rest === 1n << half && (kept & 1n) === 1n)
  return Math.sign(x) * Number(kept + (up ? 1n : 0n)) * 2 ** -1074
}

test('products with powers of 2 are rounded once', (t) => {
  const numbers = [0, -0, 1, -1.5, 1 + 2 ** -52, Number.MAX_VALUE, 2 ** -1022, -(2 ** -1074), 3 * 2 ** -1074, 0.1, Infinity, -Infinity]
  for (const n of [0, 1, -1, 10, 1023, 1024, 2097, 3000, -30, -1022, -1023, -1050, -1070, -1074, -1075, -2044, -2050, -2097, -2098, -2099, -9999]) {
    const found = ft.ldexp(ft.tensor(numbers, { dtype: 'float64' }), ft.tensor(n, { dtype: 'int32' })).toArray()
    t.deepEqual(found, numbers.map((x) => exactly(x, n)), String(n))
  }
  t.deepEqual(ft.ldexp(ft.tensor([1, 2 ** 127, 2 ** -149, 3e-45]), ft.tensor([-149, -276, 276, -1])).toArray(), [2 ** -149, 2 ** -149, 2 ** 127, 2 ** -149])
  t.deepEqual(ft.ldexp(ft.tensor([1, 65504, 2 ** -24], { dtype: 'float16' }), ft.tensor([-24, -40, 39], { dtype: 'int8' })).toArray(), [2 ** -24, 2 ** -24, 2 ** 15])
  const x = ft.tensor([3, -5, 7], { dtype: 'int32' }).ldexp(ft.tensor([2, -1, 100], { dtype: 'int32' }))
  t.is(x.dtype, 'float32')
  t.deepEqual(x.toArray(), [12, -2.5, 7 * 2 ** 100])
  throws(t, 'ERR_ARGUMENT', /^ldexp: /, () => ft.ldexp(3 as never, 2 as never))
  // PyTorch's exponents may have a fraction: 3 * 2^0.5, and its slopes.
  t.true(close(ft.grad((a: ft.Tensor<'float32'>, n: ft.Tensor<'float32'>) => ft.ldexp(a, n).sum(), { argnums: [0, 1] })(ft.tensor([3]), ft.tensor([0.5])).map((g) => (g as ft.Tensor).toArray()), [[2 ** 0.5], [3 * 2 ** 0.5 * Math.LN2]]))
  throws(t, 'ERR_DTYPE', /^ldexp: /, () => ft.ldexp(ft.tensor([{ re: 1, im: 0 }]) as never, 1 as never))
  throws(t, 'ERR_SHAPE', /^ldexp: /, () => ft.ldexp(ft.ones([2]), ft.ones([3])))
  throws(t, 'ERR_ARGUMENT', /^ldexp: 'b' must be a tensor or a number/, () => ft.ldexp(ft.ones([2]), {} as never))
})

test('running logarithms of sums', (t) => {
  t.true(close(ft.logcumsumexp(ft.tensor([1, 2, 3], { dtype: 'float64' })).toArray(), [1, 2.313261687518223, 3.4076059644443806]))
  t.true(close(ft.tensor([[1000, 1000], [-Infinity, 1000]]).logcumsumexp(1).toArray(), [[1000, 1000 + Math.LN2], [-Infinity, 1000]]))
  t.deepEqual(ft.logcumsumexp(ft.tensor([0, NaN, 0])).isnan().toArray(), [false, true, true])
  t.deepEqual(ft.logcumsumexp(ft.zeros([0])).toArray(), [])
  t.is(ft.logcumsumexp(ft.tensor([1], { dtype: 'int8' })).dtype, 'float32')
  // torch.logcumsumexp([0, 0, 0], 0).sum().backward()
  t.true(close(ft.grad((x: ft.Tensor<'float32'>) => ft.logcumsumexp(x).sum())(ft.zeros([3])).toArray(), [1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3]))
  throws(t, 'ERR_SHAPE', /^logcumsumexp: a tensor of rank 0/, () => ft.logcumsumexp(ft.tensor(1)))
  throws(t, 'ERR_INDEX', /^logcumsumexp: axis 2 is out of range/, () => ft.logcumsumexp(ft.ones([2]), 2))
})
