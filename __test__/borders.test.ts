// Infinity and NaN at the border of definitions: values and gradients where formulas meet infinity minus infinity or zero times it.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close } from './expect.js'

const { Infinity: inf } = globalThis
const FLOATS = ['float16', 'bfloat16', 'float32', 'float64'] as const

/** Float32 and what tests say of other dtypes too. */
type F = ft.Tensor<'float32'>

test('a query to which its mask shows no key is answered by zeros, and its gradients are', (t) => {
  for (const dtype of ['float32', 'float64'] as const) {
    for (const [m, n, d] of [[2, 3, 4], [40, 70, 8]] as const) {
      const draw = (i: number, rows: number, columns: number): F => ft.random.normal(ft.random.key(i), [3, rows, columns], { dtype }) as unknown as F
      const [q, k, v] = [draw(0, m, d), draw(1, n, d), draw(2, n, 2)]
      const rows = (blind: boolean): ft.Tensor<'bool'> => ft.tensor(Array.from({ length: m }, (_, i) => Array.from({ length: n }, (_, j) => (i !== 1 || !blind) && j % 3 !== 1))) as ft.Tensor<'bool'>
      const [seen, added] = [rows(true), ft.where(rows(true), 0, -inf).astype(dtype) as unknown as F]
      const others = ft.nn.scaledDotProductAttention(q, k, v, rows(false))
      for (const mask of [seen, added]) {
        const y = ft.nn.scaledDotProductAttention(q, k, v, mask)
        t.true(y.at(':', 1).equal(0).all().itemSync())
        t.true(y.at(':', 0).equal(others.at(':', 0)).all().itemSync(), 'the bits of the others are those of a softmax')
        const loss = (q: F, k: F, v: F): F => ft.nn.scaledDotProductAttention(q, k, v, mask).square().sum()
        const slopes = ft.grad(loss, { argnums: [0, 1, 2] })(q, k, v) as F[]
        t.true(slopes.every((g) => g.isfinite().all().itemSync()))
        t.true((slopes[0] as F).at(':', 1).equal(0).all().itemSync())
      }
    }
  }
})

test('what a mask of bools shows to no query takes no part, NaN or not', (t) => {
  const [q, k, v] = [ft.tensor([[1, 2], [3, 4]]), ft.tensor([[1, 0], [NaN, inf], [0, 1]]), ft.tensor([[1, 2], [inf, NaN], [3, 4]])]
  const [known, values] = [ft.tensor([[1, 0], [0, 1]]), ft.tensor([[1, 2], [3, 4]])]
  const expected = ft.nn.scaledDotProductAttention(q, known, values)
  for (const mask of [ft.tensor([true, false, true]), ft.tensor([[true, false, true]]), ft.tensor([[true, false, true], [true, false, true]])]) {
    t.deepEqual(ft.nn.scaledDotProductAttention(q, k, v, mask).toArray(), expected.toArray())
    const slopes = ft.grad((q: F, k: F, v: F) => ft.nn.scaledDotProductAttention(q, k, v, mask).square().sum(), { argnums: [0, 1, 2] })(q, k, v) as F[]
    t.true(slopes.every((g) => g.isfinite().all().itemSync()))
    t.deepEqual((slopes[1] as F).at(1).toArray(), [0, 0])
  }
})

test('gradients of sums of exponentials of nothing', (t) => {
  for (const dtype of FLOATS) {
    const x = (values: number[]): F => ft.tensor(values, { dtype }) as unknown as F
    t.deepEqual(ft.grad((x) => x.logsumexp())(x([-inf, -inf])).toArray(), [0, 0])
    t.deepEqual(ft.grad((x) => x.logsumexp())(x([-inf])).toArray(), [0])
    t.deepEqual(ft.grad((x) => x.logsumexp())(x([-inf, 1])).toArray(), [0, 1])
    t.deepEqual(ft.grad((x) => x.reshape([2, 2]).logsumexp(1).at(1))(x([-inf, -inf, -inf, 3])).toArray(), [0, 0, 0, 1])
    for (const [a, b, slopes] of [[-inf, -inf, [0, 0]], [-inf, 1, [0, 1]], [1, -inf, [1, 0]], [inf, 1, [1, 0]], [inf, -inf, [1, 0]]] as const) {
      const found = ft.grad((a: F, b: F) => ft.logaddexp(a, b).sum(), { argnums: [0, 1] })(x([a]), x([b])) as F[]
      t.deepEqual(found.map((g) => g.toArray()), slopes.map((slope) => [slope]), `${dtype} ${a} ${b}`)
    }
  }
})

test('gradients of smooth rectifiers at infinities are their limits', (t) => {
  const functions: Record<string, (x: F) => ft.Tensor> = {
    silu: ft.nn.silu, mish: ft.nn.mish, gelu: ft.nn.gelu, 'gelu with tanh': (x) => ft.nn.gelu(x, { approximate: 'tanh' }), softplus: ft.nn.softplus, elu: ft.nn.elu, hardswish: ft.nn.hardswish
  }
  for (const dtype of FLOATS) {
    for (const [name, f] of Object.entries(functions)) {
      const slope = (x: number): unknown => ft.grad((x: F) => f(x).sum())(ft.tensor([x], { dtype }) as unknown as F).toArray()
      t.true(close(slope(inf), [1]), `${name} ${dtype}: ${slope(inf)}`)
      t.true(close(slope(-inf), [0]), `${name} ${dtype}: ${slope(-inf)}`)
      t.true(close(slope(1e4), [1]) && close(slope(-1e4), [0]), `${name} ${dtype}`)
      t.deepEqual(slope(NaN), [NaN], `${name} ${dtype}`)
    }
  }
})
