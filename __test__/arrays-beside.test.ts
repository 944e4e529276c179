// An array beside a float64 tensor has the digits of that tensor: 0.1 is 0.1, and not the nearest float32.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'

type F = (...args: unknown[]) => unknown
type Functions = Readonly<Record<string, F>>

const { linalg, ...all } = ft as unknown as Functions & { readonly linalg: Functions }
const f64 = (data: unknown): ft.Tensor<'float64'> => ft.tensor(data as number[], { dtype: 'float64' })

const V = [0.1, 0.2, 0.7]
const W = [0.3, 0.2, 0.6]
const M = [[1.1, 0.2, 0.3], [0.2, 1.3, 0.1], [0.3, 0.1, 1.7]]

/** Functions of two operands or more, and what they are called with: arrays, each of which is a tensor once. */
const CALLS: readonly (readonly [name: string, operands: readonly unknown[]])[] = [
  ['isin', [V, W]], ['in1d', [V, W]], ['intersect1d', [V, W]], ['setdiff1d', [V, W]], ['setxor1d', [V, W]], ['union1d', [V, W]],
  ['digitize', [V, W.toSorted()]], ['dot', [V, W]], ['vdot', [V, W]], ['dist', [V, W]], ['cdist', [M, [V]]], ['addcmul', [V, W, V]], ['addcdiv', [V, W, V]],
  ['addmm', [M, M, M]], ['addmv', [V, M, W]], ['addr', [M, V, W]], ['addbmm', [M, [M], [M]]], ['blockDiag', [M, V]], ['cartesianProd', [V, W]],
  ['chainMatmul', [M, M]], ['floatPower', [V, W]], ['histogram2d', [V, W]], ['arrayEquiv', [V, V]], ['trapezoid', [V, W]],
  ['cumulativeTrapezoid', [V, W]], ['polyval', [V, W]], ['maskedFill', [V, [true, false, true], W]], ['select', [[[true, false, true], [true, true, false]], [V, W]]]
]

/** What came out, tensors as their dtype and elements. */
function plain(value: unknown): unknown {
  if (value instanceof ft.Tensor) return [value.dtype, value.toArray()]
  return Array.isArray(value) ? value.map(plain) : typeof value === 'object' && value !== null ? Object.values(value).map(plain) : value
}

/** Operands of which the one at `wide` is a tensor, or all are; lists of operands are looked into. */
const given = (operands: readonly unknown[], wide: number | 'all'): unknown[] =>
  operands.map((value, i) => (typeof ([value].flat(3) as unknown[])[0] === 'boolean' || (wide !== 'all' && wide !== i) ? value : f64(value)))

for (const [name, f, operands] of [...CALLS.map(([name, operands]) => [name, all[name] as F, operands] as const), ['linalg.tensorsolve', linalg['tensorsolve'] as F, [M, V]] as const, ['linalg.choleskySolve', linalg['choleskySolve'] as F, [V, M]] as const]) {
  test(`${name}: arrays have the digits of a float64 tensor beside them`, (t) => {
    if (name === 'select') {
      const [conditions, choices] = operands as [unknown[], unknown[]]
      const masks = conditions.map((mask) => ft.tensor(mask as boolean[]))
      t.deepEqual(plain(f(masks, [f64(choices[0]), choices[1]])), plain(f(masks, choices.map(f64))))
      t.deepEqual(plain(f(masks, [choices[0], f64(choices[1])])), plain(f(masks, choices.map(f64))))
      return
    }
    const expected = plain(f(...given(operands, 'all')))
    operands.forEach((value, i) => {
      if (typeof ([value].flat(3) as unknown[])[0] !== 'boolean') t.deepEqual(plain(f(...given(operands, i))), expected, `a tensor at ${i}`)
    })
  })
}

test('wherever the tensor stands', (t) => {
  for (const name of ['concat', 'stack', 'vstack'] as const) {
    const f = all[name] as F
    const expected = plain(f([f64(V), f64(W)]))
    t.deepEqual(plain(f([V, f64(W)])), expected, name)
    t.deepEqual(plain(f([f64(V), W])), expected, name)
    t.deepEqual((plain(f([ft.ones([3], { dtype: 'float16' }), V, f64(W)])) as [string, unknown[]])[1].flat().includes(0.1), true, name)
  }
  const einsum = all['einsum'] as F
  t.deepEqual(plain(einsum('i,i', V, f64(W))), plain(einsum('i,i', f64(V), f64(W))))
  const piecewise = all['piecewise'] as F
  t.deepEqual(plain(piecewise(f64(V), [ft.tensor([true, false, true])], [W, 0.5])), ['float64', [0.3, 0.5, 0.6]])
})

test('an array where a number may stand takes the dtype that the number would, as its type says', (t) => {
  const half = ft.tensor([1, 2], { dtype: 'float16' })
  const powers: ft.Tensor<'float16'> = ft.ldexp(half, [1, 2])
  const filled: ft.Tensor<'float16'> = ft.maskedFill(half, ft.tensor([true, false]), [7, 8])
  const whole: ft.Tensor<'int32'> = ft.maskedFill(ft.tensor([1, 2], { dtype: 'int32' }), ft.tensor([true, false]), [7, 8])
  t.deepEqual([powers, filled, whole].map(plain), [['float16', [2, 8]], ['float16', [7, 2]], ['int32', [7, 2]]])
  t.is(ft.ldexp(ft.tensor([1, 2], { dtype: 'int8' }), [1, 2]).dtype, 'float32')
})

test('weights of cov have the digits of the observations', (t) => {
  const cov = all['cov'] as F
  t.deepEqual(plain(cov(f64(M), { aweights: V })), plain(cov(f64(M), { aweights: f64(V) })))
})

test('beside narrower tensors an array is float32, and what is typed stays as it is', (t) => {
  t.is((all['union1d']!(ft.tensor([0.5], { dtype: 'float16' }), [0.25]) as ft.Tensor).dtype, 'float32')
  t.is((all['union1d']!(ft.tensor([1], { dtype: 'int32' }), [2]) as ft.Tensor).dtype, 'float32')
  const product = all['vdot']!(ft.tensor([{ re: 1, im: 0 }], { dtype: 'complex128' }), [0.1]) as ft.Tensor<'complex128'>
  t.deepEqual(product.itemSync(), { re: 0.1, im: 0 })
  t.deepEqual((all['isin']!(f64([0.1]), new Float32Array([0.1])) as ft.Tensor).toArray(), [false])
  t.is((all['dist']!(f64([1n]), [1n]) as ft.Tensor).itemSync(), 0)
})

test('lists are read no further than to what is wrong, and once', (t) => {
  // Four thousand million holes took a minute.
  for (const name of ['concat', 'stack', 'dstack', 'vstack']) {
    t.throws(() => all[name]!(new Array(2 ** 32 - 1)), { code: 'ERR_ARGUMENT', message: /\[0\]' must be a tensor, got undefined/ }, name)
  }
  // Each of many choices looked at all of them.
  const many = Array.from({ length: 4_000 }, () => ft.tensor(1))
  t.is((all['choose']!([3], many) as ft.Tensor).itemSync(), 1)
})
