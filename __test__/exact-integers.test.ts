// Sums and products of integers are right, or an error of the read that says which dtype holds them: nothing wraps in silence.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

type Integer = 'int8' | 'uint8' | 'int16' | 'uint16' | 'int32' | 'uint32' | 'int64' | 'uint64'

const BITS: Record<Integer, [number, boolean]> = {
  int8: [8, true], uint8: [8, false], int16: [16, true], uint16: [16, false], int32: [32, true], uint32: [32, false], int64: [64, true], uint64: [64, false]
}
const INTEGERS = Object.keys(BITS) as Integer[]

/** The least and the greatest number of a dtype. */
function range(dtype: Integer): [bigint, bigint] {
  const [bits, signed] = BITS[dtype]
  return signed ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n] : [0n, (1n << BigInt(bits)) - 1n]
}

const holds = (dtype: Integer, value: bigint): boolean => value >= range(dtype)[0] && value <= range(dtype)[1]
const read = (x: ft.Tensor): bigint[] => (x.reshape([-1]).toArray() as (number | bigint)[]).map(BigInt)
const tensor = (values: bigint[], dtype: Integer): ft.Tensor => ft.tensor(values, { dtype }) as ft.Tensor

/** Numbers of a dtype whose sums and products are at its limits, beyond them, and back within. */
function rows(dtype: Integer): bigint[][] {
  const [low, high] = range(dtype)
  return [[high], [low], [high, 1n], [low, low], [high, high], [high, low], [low, 1n], [high, 0n, 2n], [1n, 2n, 3n], [high, 1n, low], [high / 2n, 2n], [high / 2n + 1n, 2n], [], [0n, high, high, high, high]]
}

/** What a call must give: the numbers, or an error of the read that names the next dtype. */
function check(t: Parameters<typeof throws>[0], call: () => ft.Tensor, expected: bigint[], what: string): void {
  const dtype = call().dtype as Integer
  if (expected.every((value) => holds(dtype, value))) t.deepEqual(read(call()), expected, what)
  else throws(t, 'ERR_DTYPE', new RegExp(`a result is beyond the range of (${dtype}: int64, or beyond that float64,|u?int64: float64) holds it`), () => read(call()), what)
}

const total = (values: bigint[]): bigint => values.reduce((sum, x) => sum + x, 0n)
const product = (values: bigint[]): bigint => values.reduce((y, x) => y * x, 1n)
const running = (values: bigint[], f: (values: bigint[]) => bigint): bigint[] => values.map((_, i) => f(values.slice(0, i + 1)))

test('sums and products of every dtype, in every dtype that can be asked for', (t) => {
  for (const from of INTEGERS) {
    for (const values of rows(from)) {
      const x = tensor(values, from)
      for (const dtype of [undefined, ...INTEGERS]) {
        const options = dtype === undefined ? {} : { dtype }
        const about = `${from} [${values}] as ${dtype}`
        check(t, () => x.sum(options), [total(values)], `sum of ${about}`)
        check(t, () => x.nansum(options), [total(values)], `nansum of ${about}`)
        check(t, () => x.prod(options), [product(values)], `prod of ${about}`)
        check(t, () => x.cumulativeSum(options), running(values, total), `cumulativeSum of ${about}`)
        check(t, () => x.cumulativeProd(options), running(values, product), `cumulativeProd of ${about}`)
        check(t, () => x.diag().trace(options), [total(values)], `trace of ${about}`)
      }
    }
  }
})

test('segments and windows', (t) => {
  for (const dtype of INTEGERS) {
    for (const values of rows(dtype).filter((row) => row.length > 1)) {
      const [x, one] = [tensor(values, dtype), ft.zeros([values.length], { dtype: 'int32' })]
      check(t, () => x.segmentSum(one, 1), [total(values)], `segmentSum of ${dtype} [${values}]`)
      check(t, () => x.segmentProd(one, 1), [product(values)], `segmentProd of ${dtype} [${values}]`)
      check(t, () => x.windowSum(values.length), [total(values)], `windowSum of ${dtype} [${values}]`)
      check(t, () => x.windowProd(values.length), [product(values)], `windowProd of ${dtype} [${values}]`)
    }
  }
  throws(t, 'ERR_INDEX', /out of range/, () => ft.full([2], 127, { dtype: 'int8' }).segmentSum(ft.tensor([0, 2], { dtype: 'int32' }), 2).toArray())
})

test('products of vectors, matrices and windows', (t) => {
  for (const [a, b] of INTEGERS.flatMap((a) => INTEGERS.map((b) => [a, b] as const))) {
    if ([a, b].includes('uint64') && [a, b].some((d) => d.startsWith('int'))) continue
    for (const values of rows(a).filter((row) => row.length > 1)) {
      for (const others of rows(b).filter((row) => row.length === values.length)) {
        const [x, y] = [tensor(values, a), tensor(others, b)]
        // Larger ones may cancel to what a dtype holds, and are refused all the same: float64 does not tell.
        if (others.some((y, i) => BigInt.asIntN(113, y * (values[i] as bigint)) !== y * (values[i] as bigint))) continue
        const [dot, about] = [total(values.map((v, i) => v * (others[i] as bigint))), `${a} [${values}] and ${b} [${others}]`]
        check(t, () => x.matmul(y), [dot], `matmul of ${about}`)
        check(t, () => x.tensordot(y, { axes: 1 }), [dot], `tensordot of ${about}`)
        check(t, () => x.inner(y), [dot], `inner of ${about}`)
        check(t, () => x.vecdot(y), [dot], `vecdot of ${about}`)
        check(t, () => ft.einsum('i,i->', x, y), [dot], `einsum of ${about}`)
        check(t, () => x.correlate(y), [dot], `correlate of ${about}`)
        check(t, () => x.convolve(y.flip(0), { mode: 'valid' }), [dot], `convolve of ${about}`)
        check(t, () => ft.nn.conv(x.reshape([1, 1, -1]), y.reshape([1, 1, -1])), [dot], `conv of ${about}`)
        check(t, () => ft.nn.convTranspose(x.reshape([1, -1, 1]), y.reshape([-1, 1, 1])), [dot], `convTranspose of ${about}`)
      }
    }
  }
})

test('one result of many is enough to refuse them, and the others of the program are there', (t) => {
  const x = ft.tensor([[1, 2], [2147483647, 1]], { dtype: 'int32' })
  const [bad, good] = [x.sum(1), x.max(1)]
  throws(t, 'ERR_DTYPE', /^sum: a result is beyond the range of int32: int64, or beyond that float64, holds it, with the option dtype$/, () => bad.add(1).toArray())
  t.deepEqual(good.toArray(), [2, 2147483647])
  t.deepEqual(x.sum({ axis: 1, dtype: 'int64' }).toArray(), [3n, 2147483648n])
  throws(t, 'ERR_DTYPE', /^matmul: a result is beyond the range of int32: int64, or beyond that float64, holds it, by astype of the operands$/, () => x.matmul(x).toArray())
  t.deepEqual((x.astype('int64').matmul(x.astype('int64')).toArray() as bigint[][])[1]?.[0], 2147483647n + 2147483647n)
  throws(t, 'ERR_DTYPE', /int64: float64 holds it, rounded/, () => ft.full([2], 2n ** 62n, { dtype: 'int64' }).sum().toArray())
})

test('what was converted from a narrower dtype is no larger than that was', (t) => {
  const [a, b] = [ft.full([3, 40], -128, { dtype: 'int8' }), ft.full([40, 5], -128, { dtype: 'int8' })]
  const plan = ft.plan(() => a.astype('int32').matmul(b.astype('int32')))()
  t.true(plan.kernels.some(({ name }) => name.includes('contract')) && !plan.kernels.some(({ name }) => /gather|float64/.test(name)), String(plan))
  t.deepEqual(read(a.astype('int32').matmul(b.astype('int32'))), Array<bigint>(15).fill(16384n * 40n))
  t.is(ft.full([9], 255, { dtype: 'uint8' }).astype('int32').sum().itemSync(), 2295)
  // Wrapped on the way to a narrower one.
  throws(t, 'ERR_DTYPE', /beyond the range of int8/, () => ft.full([2], 300, { dtype: 'int16' }).astype('int32').sum({ dtype: 'int8' }).toArray())
})

test('an image of white bytes', (t) => {
  const image = ft.full([2160, 3840, 3], 255, { dtype: 'uint8' })
  throws(t, 'ERR_DTYPE', /^sum: a result is beyond the range of uint32/, () => image.sum().toArray())
  t.is(image.sum({ dtype: 'int64' }).itemSync(), 6345216000n)
  t.is(image.sum({ dtype: 'float64' }).itemSync(), 6345216000)
  t.deepEqual(image.sum([0, 1]).toArray(), [2115072000, 2115072000, 2115072000])
})

test('long sums of each dtype', (t) => {
  for (const dtype of INTEGERS) {
    const high = range(dtype)[1]
    for (const n of [1000, 70_000]) {
      const x = ft.full([n, 3], high, { dtype }) as ft.Tensor
      check(t, () => x.sum(0), [0, 0, 0].map(() => high * BigInt(n)), `${dtype} ${n}`)
      check(t, () => x.matrixTranspose().sum(1), [0, 0, 0].map(() => high * BigInt(n)), `${dtype} ${n}`)
    }
  }
})
