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

/** A number rounded to decimals, exactly: whole numbers all the way, and one rounding at the end. */
function toDecimals(x: number, decimals: number): number {
  if (x === 0 || !Number.isFinite(x)) return x
  // |x| = m 2^-1074
  let m = 0n
  for (let rest = Math.abs(x), power = 1023; power >= -1074; power--) {
    m *= 2n
    if (rest >= 2 ** power) {
      rest -= 2 ** power
      m += 1n
    }
  }
  const top = m * 10n ** BigInt(Math.max(0, decimals))
  const bottom = 2n ** 1074n * 10n ** BigInt(Math.max(0, -decimals))
  const [quotient, rest] = [top / bottom, top % bottom]
  const isUp = 2n * rest > bottom || (2n * rest === bottom && quotient % 2n === 1n)
  return Math.sign(x) * Number(`${quotient + (isUp ? 1n : 0n)}e${-decimals}`)
}

/** What NumPy computes of float64. */
function byPower(x: number, decimals: number): number {
  const power = Number(`1e${Math.abs(decimals)}`)
  const moved = decimals < 0 ? x / power : x * power
  const down = Math.floor(moved)
  const whole = moved - down === 0.5 ? 2 * Math.round(down / 2 + (down % 2 === 0 ? 0 : 0.5)) : Math.round(moved)
  return decimals < 0 ? whole * power : whole / power
}

/** Numbers whose digits are about the given decimal, some of them ties. */
function about(decimals: number, seed: number): number[] {
  const draws = ft.random.uniform(ft.random.key(seed), [24], { low: -1, high: 1, dtype: 'float64' }).toArray() as number[]
  return draws.map((v, i) => (i % 6 === 0 ? Number(`${Math.round(v * 1000)}5e${-decimals - 1}`) : Number(`${v * 10 ** (i % 6)}e${-decimals}`)))
}

test('up to 22 decimals are computed as NumPy computes them', (t) => {
  for (let decimals = -22; decimals <= 22; decimals++) {
    const x = about(decimals, 100 + decimals)
    t.deepEqual(ft.round(ft.tensor(x, { dtype: 'float64' }), decimals).toArray(), x.map((v) => byPower(v, decimals)), String(decimals))
  }
})

test('each power of ten is the nearest float64', (t) => {
  for (let n = 23; n <= 308; n++) {
    // 10^n itself is its power once, and the power of n decimals is the reciprocal of one of them.
    const [up, down] = [ft.tensor(Number(`1e${n}`), { dtype: 'float64' }), ft.tensor(Number(`8e-${n}`), { dtype: 'float64' })]
    t.is(ft.round(up, -n).itemSync(), Number(`1e${n}`))
    t.is(ft.round(down, n).itemSync(), 8 / Number(`1e${n}`))
  }
})

test('digits that are there are rounded, however many decimals that takes', (t) => {
  const round = (x: number, decimals: number, dtype: 'float64' | 'float32' = 'float64'): unknown => ft.round(ft.tensor(x, { dtype }), decimals).itemSync()
  t.deepEqual([320, 321, 322, 323, 324, 400].map((decimals) => round(5.37e-320, decimals)), [5e-320, 5.4e-320, 5.37e-320, 5.37e-320, 5.37e-320, 5.37e-320])
  t.deepEqual([309, 310, 320].map((decimals) => round(5e-310, decimals)), [0, 5e-310, 5e-310])
  t.is(round(1.25e-309, 310), 1.2e-309)
  t.is(round(-4e-311, 310), -0)
  t.deepEqual([40, 41, 42, 43, 45, 60].map((decimals) => round(1.2344e-40, decimals, 'float32')), [1e-40, 1.2e-40, 1.23e-40, 1.234e-40, 1.2344e-40, 1.2344e-40].map(Math.fround))
  t.deepEqual(ft.tensor([{ re: 5.37e-320, im: -1.25e-309 }], { dtype: 'complex128' }).round(310).toArray(), [{ re: 0, im: -1.2e-309 }])
  t.is(ft.tensor([{ re: 1e-41, im: 3e-45 }]).round(41).real().itemSync(), Math.fround(1e-41))
  // What has no digits there is left alone.
  for (const x of [0.1, 1 / 3, 1.1e20, 1e-290]) t.deepEqual([25, 100, 308, 309, 330].map((decimals) => (x > 1e-200 || decimals > 305 ? round(x, decimals) : x)), [x, x, x, x, x])
  for (const x of [0.1, 1 / 3, 1e-20]) t.deepEqual([30, 38, 39, 60].map((decimals) => round(x, decimals, 'float32')), Array(4).fill(Math.fround(x)))
})

test('beyond 22 decimals no result is further from the exact one than a last place', (t) => {
  let exact = 0
  let all = 0
  for (let decimals = 23; decimals <= 330; decimals += 3) {
    const x = about(decimals, decimals)
    const found = ft.round(ft.tensor(x, { dtype: 'float64' }), decimals).toArray() as number[]
    found.forEach((v, i) => {
      const wanted = toDecimals(x[i] as number, decimals)
      const place = Math.max(Math.abs(wanted) * 2 ** -52, 2 ** -1074)
      // A tie of decimals is none in binary, and which way it goes hangs on the last bit.
      const isTie = i % 6 === 0
      t.true(Math.abs(v - wanted) <= (isTie ? 1.01 * Number(`1e-${decimals}`) : 0) + place, `${x[i]} at ${decimals}: ${v}, not ${wanted}`)
      exact += Object.is(v, wanted) ? 1 : 0
      all++
    })
  }
  t.true(exact > 0.6 * all, `${exact} of ${all}`)
  for (let decimals = 23; decimals <= 48; decimals++) {
    const x = about(decimals, decimals).map(Math.fround).filter((_, i) => i % 6 !== 0)
    t.deepEqual(ft.round(ft.tensor(x), decimals).toArray(), x.map((v) => Math.fround(toDecimals(v, decimals))), String(decimals))
  }
})

test('no step of rounding makes a NaN', (t) => {
  const x = ft.tensor([Infinity, -Infinity, NaN, 1e308, -0], { dtype: 'float64' })
  for (const decimals of [-400, -308, -1, 1, 23, 308, 400]) {
    t.deepEqual(ft.detectNaN(() => ft.round(x.at('0:2'), decimals)).toArray(), [Infinity, -Infinity], String(decimals))
    t.deepEqual(ft.round(x, decimals).toArray(), decimals === -308 ? [Infinity, -Infinity, NaN, 1e308, -0] : decimals < -308 ? [Infinity, -Infinity, NaN, 0, -0] : [Infinity, -Infinity, NaN, 1e308, -0], String(decimals))
  }
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

test('powers of numbers that jit traces, of bigints and booleans', (t) => {
  const power = ft.jit((x: ft.Tensor<'int32'>, n: number) => ft.floatPower(x, n))
  t.deepEqual([-1, 3].map((n) => power(ft.tensor([2], { dtype: 'int32' }), n).toArray()), [[0.5], [8]])
  const other = ft.jit((a: number, x: ft.Tensor<'int32'>) => ft.floatPower(a, x))
  t.deepEqual([2, 3].map((a) => other(a, ft.tensor([2], { dtype: 'int32' })).toArray()), [[4], [9]])
  const both = ft.jit((a: number, b: number) => ft.floatPower(a, b))
  t.deepEqual([both(2, 3).itemSync(), both(3, 4).itemSync()], [8, 81])
  t.deepEqual(ft.floatPower(ft.tensor([3], { dtype: 'int8' }), 40n).toArray(), [3 ** 40])
  t.deepEqual(ft.floatPower(ft.tensor([3, 0]), true).toArray(), [3, 0])
  throws(t, 'ERR_DTYPE', /^floatPower: 9007199254740993n is not exact in float64/, () => ft.floatPower(ft.ones([1]), 9007199254740993n))
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

test('ldexp takes a number beside any real tensor', (t) => {
  const int32 = ft.tensor([3, -2], { dtype: 'int32' })
  const found = [ft.ldexp(0.75, int32), ft.ldexp(ft.tensor([3], { dtype: 'uint8' }), -1), ft.ldexp(int32, 0.5), ft.ldexp(ft.tensor([true, false]), 3), ft.ldexp(ft.tensor([5n]), 2n)]
  t.deepEqual(found.map((x) => x.dtype), Array(5).fill('float32'))
  t.deepEqual([found[0], found[1], found[3], found[4]].map((x) => x?.toArray()), [[6, 0.1875], [1.5], [8, 0], [20]])
  t.true(close(found[2]?.toArray(), [3 * 2 ** 0.5, -2 * 2 ** 0.5]))
  t.deepEqual([ft.ldexp(ft.tensor([1], { dtype: 'float16' }), 3).dtype, ft.ldexp(2, ft.tensor([1], { dtype: 'float64' })).dtype], ['float16', 'float64'])
  t.deepEqual(ft.ldexp(ft.tensor([1, 1, 1, 1]), ft.tensor([NaN, Infinity, -Infinity, 1e9])).toArray(), [NaN, Infinity, 0, Infinity])
  throws(t, 'ERR_ARGUMENT', /^ldexp: at least one operand must be a tensor/, () => ft.ldexp(3 as never, 2 as never))
  throws(t, 'ERR_DTYPE', /^ldexp: takes real operands, got complex64/, () => ft.ldexp(1 as never, ft.tensor([{ re: 1, im: 0 }]) as never))
})

test('exponents that a half float does not hold', (t) => {
  const tiny = ft.tensor([2 ** -133], { dtype: 'bfloat16' })
  const [n, wide] = [ft.tensor([257], { dtype: 'int16' }), ft.tensor([-257], { dtype: 'int16' })]
  t.deepEqual([tiny.ldexp(n).toArray(), tiny.ldexp(n).dtype], [[2 ** 124], 'bfloat16'])
  t.deepEqual(tiny.ldexp(257).toArray(), [2 ** 124])
  t.deepEqual(ft.tensor([2 ** 127], { dtype: 'bfloat16' }).ldexp(wide).toArray(), [2 ** -130])
  // Half of the smallest number is a tie, and what is above it is none.
  t.deepEqual(ft.tensor([1, 1.5, 3], { dtype: 'float16' }).ldexp(-25).toArray(), [0, 2 ** -24, 2 ** -23])
})

test('ldexp under jit, vmap, gradients and detectNaN', (t) => {
  const traced = ft.jit((x: ft.Tensor<'float32'>, n: number) => ft.ldexp(x, n))
  t.deepEqual([2, -1].map((n) => traced(ft.tensor([3]), n).toArray()), [[12], [1.5]])
  const number = ft.jit((a: number, n: ft.Tensor<'int32'>) => ft.ldexp(a, n))
  t.deepEqual([0.75, 2].map((a) => number(a, ft.tensor([1, 2], { dtype: 'int32' })).toArray()), [[1.5, 3], [4, 8]])
  const rows = ft.vmap((x: ft.Tensor<'float32'>, n: ft.Tensor<'int32'>) => ft.ldexp(x, n))(ft.tensor([[1, 2], [3, 4]]), ft.tensor([1, -1], { dtype: 'int32' }))
  t.deepEqual(rows.toArray(), [[2, 4], [1.5, 2]])
  t.deepEqual(ft.detectNaN(() => ft.ldexp(ft.tensor([Infinity, 1]), ft.tensor([-Infinity, 1]))).toArray(), [Infinity, 2])
  t.deepEqual(ft.detectNaN(() => ft.ldexp(ft.tensor([Infinity]), -2)).toArray(), [Infinity])
  const slopes = ft.grad((x: ft.Tensor<'float64'>, n: ft.Tensor<'float64'>) => ft.ldexp(x, n).sum(), { argnums: [0, 1] })
  for (const n of [-1040, -300, 0, 7, 1040]) {
    const x = n > 0 ? 2 ** -600 : 2 ** 600
    const [dx, dn] = slopes(ft.tensor([x], { dtype: 'float64' }), ft.tensor([n], { dtype: 'float64' })).map((g) => (g.toArray() as number[])[0] as number)
    t.is(dx, exactly(1, n), String(n))
    t.true(Math.abs((dn as number) / (exactly(x, n) * Math.LN2) - 1) < 1e-12, String(n))
  }
  t.true(close(ft.grad((x: ft.Tensor<'float32'>) => ft.ldexp(x, ft.tensor([3, 4], { dtype: 'int32' })).sum())(ft.ones([2])).toArray(), [8, 16]))
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
