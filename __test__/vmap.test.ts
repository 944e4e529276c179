// `ft.vmap`: functions of one example for all of them, nested with itself, gradients, jit and checkpoint. That each row of the table is mapped
// right is tried by crates/conformance/src/vmap.rs.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from './expect.js'

type F = ft.Tensor<'float32'>

const x = ft.tensor([[1, 2, 3], [4, 5, 6]])
const w = ft.random.normal(ft.random.key(1), [3, 4])

/** What a loop over the first axis gives. */
const looped = (f: (row: F) => F, x: F): unknown => ft.stack(Array.from({ length: x.shape[0] as number }, (_, i) => f(x.at(i))), 0).toArray()

test('a function of one example takes a batch', (t) => {
  const f = (row: F): F => row.sub(row.mean()).div(row.std()).matmul(w).tanh()
  t.deepEqual(ft.vmap(f)(x).toArray(), looped(f, x))
  t.deepEqual(ft.vmap(f)(x).shape, [2, 4])
  t.deepEqual(ft.vmap((row: F) => row)(x).toArray(), x.toArray())
  t.is(ft.vmap(f).name, 'f')
})

test('axes of arguments and results are chosen, for all or one by one', (t) => {
  const columns = ft.vmap((column: F) => column.sum(), { inAxes: 1 })
  t.deepEqual(columns(x).toArray(), [5, 7, 9])
  t.deepEqual(ft.vmap((column: F) => column.sum(), { inAxes: -1 })(x).toArray(), [5, 7, 9])
  const scaled = (row: F, scale: F): F => row.mul(scale)
  t.deepEqual(ft.vmap(scaled, { inAxes: [0, null] })(x, ft.tensor([1, 0, 2])).toArray(), [[1, 0, 6], [4, 0, 12]])
  t.deepEqual(ft.vmap(scaled, { inAxes: [null, 0] })(x, ft.tensor([1, 2])).shape, [2, 2, 3])
  t.deepEqual(ft.vmap((row: F) => row.mul(2), { outAxes: 1 })(x).toArray(), [[2, 8], [4, 10], [6, 12]])
  t.deepEqual(ft.vmap((row: F) => row.mul(2), { outAxes: -1 })(x).shape, [3, 2])
  const outer = ft.vmap((a: F) => ft.vmap((b: F) => a.mul(b))(ft.tensor([1, 10])))(ft.tensor([1, 2, 3]))
  t.deepEqual(outer.toArray(), [[1, 10], [2, 20], [3, 30]])
})

test('arguments and results are trees, whose parts may have axes of their own', (t) => {
  const f = ({ a, b }: { a: F; b: F }, k: number): { sum: F; parts: [F, F]; k: number } => ({ sum: a.add(b).sum().mul(k), parts: [a, b], k })
  const b = ft.tensor([[1, 1], [1, 1], [1, 1]])
  const found = ft.vmap(f, { inAxes: [{ a: 0, b: 1 }, null], outAxes: { sum: 0, parts: [1, 0], k: null } })({ a: x, b }, 2)
  t.deepEqual(found.sum.toArray(), [18, 36])
  t.deepEqual(found.parts[0].toArray(), [[1, 4], [2, 5], [3, 6]])
  t.deepEqual(found.parts[1].toArray(), [[1, 1, 1], [1, 1, 1]])
  t.is(found.k, 2)
})

test('what is the same at all positions is computed once, and shown at each', (t) => {
  const c = ft.tensor([1, 2])
  t.deepEqual(ft.vmap((_: F) => c.mul(2))(x).toArray(), [[2, 4], [2, 4]])
  const alone = ft.vmap((row: F) => [row.sum(), c] as const, { outAxes: [0, null] })(x)
  t.deepEqual(alone[1].toArray(), [1, 2])
  t.not(alone[1], c)
  t.deepEqual(ft.vmap((row: F) => ft.zerosLike(row))(x).shape, [2, 3])
  t.deepEqual(ft.vmap((row: F) => row.add(1))(ft.zeros([0, 3])).shape, [0, 3])
})

test('gradients of each example, and of a mapped function', (t) => {
  const loss = (w: F, row: F, y: F): F => row.matmul(w).sub(y).square().sum()
  const y = ft.random.normal(ft.random.key(2), [2, 4])
  const each = ft.vmap(ft.grad(loss), { inAxes: [null, 0, 0] })(w, x, y)
  t.deepEqual(each.shape, [2, 3, 4])
  const should = [0, 1].map((i) => ft.grad(loss)(w, x.at(i), y.at(i)))
  t.true(close(each.toArray(), should.map((g) => g.toArray())))
  const total = ft.grad((w: F) => ft.vmap(loss, { inAxes: [null, 0, 0] })(w, x, y).sum())(w)
  t.true(close(total.toArray(), each.sum(0).toArray()))
  const values = ft.vmap(ft.valueAndGrad(loss), { inAxes: [null, 0, 0] })(w, x, y)
  t.true(close(values[0].toArray(), [0, 1].map((i) => loss(w, x.at(i), y.at(i)).itemSync())))
  t.true(close(values[1].toArray(), each.toArray()))
})

test('second derivatives, forward mode, and kinks as PyTorch has them', (t) => {
  const f = (row: F): F => row.sin().mul(row.at(0)).sum()
  const hessians = ft.vmap(ft.hessian(f))(x)
  t.true(close(hessians.toArray(), [0, 1].map((i) => ft.hessian(f)(x.at(i)).toArray())))
  const twice = ft.grad((x: F) => ft.grad((x: F) => ft.vmap(f)(x).sum())(x).square().sum())(x)
  const should = ft.grad((x: F) => ft.grad((x: F) => f(x.at(0)).add(f(x.at(1))))(x).square().sum())(x)
  t.true(close(twice.toArray(), should.toArray()))
  const direction = ft.ones([2, 3])
  const [, tangent] = ft.jvp((x: F) => ft.vmap(f)(x), [x], [direction])
  t.true(close(tangent.toArray(), [0, 1].map((i) => ft.jvp(f, [x.at(i) as F], [ft.ones([3])])[1].itemSync())))
  // The slope of relu at 0 is 0, that of abs too: rules of rows, not what their kernels say.
  t.deepEqual(ft.grad((x: F) => ft.vmap((v: F) => v.relu().add(v.abs()).sum())(x).sum())(ft.zeros([2, 2])).toArray(), [[0, 0], [0, 0]])
  t.deepEqual(ft.vmap(ft.grad((v: F) => v.relu().sum()))(ft.zeros([2, 2])).toArray(), [[0, 0], [0, 0]])
})

test('stopGradient, customGradient and checkpoint hold inside', (t) => {
  const stopped = (row: F): F => row.mul(ft.stopGradient(row)).sum()
  t.deepEqual(ft.grad((x: F) => ft.vmap(stopped)(x).sum())(x).toArray(), x.toArray())
  t.deepEqual(ft.vmap(ft.grad(stopped))(x).toArray(), x.toArray())
  const clipped = ft.customGradient((row: F, s: F): [F, (g: F) => F[]] => [row.mul(s), (g) => [g.mul(s).clip(-1, 1), g.mul(row).sum()]])
  const s = ft.tensor(5)
  const [gx, gs] = ft.grad((x: F, s: F) => ft.vmap((row: F) => clipped(row, s).sum())(x).sum(), { argnums: [0, 1] })(x, s)
  t.deepEqual(gx.toArray(), [[1, 1, 1], [1, 1, 1]])
  t.is(gs.itemSync(), 21)
  t.deepEqual(ft.vmap(ft.grad((row: F) => clipped(row, s).sum()))(x).toArray(), [[1, 1, 1], [1, 1, 1]])
  const block = (row: F): F => row.matmul(w).tanh().matmul(w.T).sum()
  const plain = ft.grad((x: F) => ft.vmap(block)(x).sum())(x)
  t.true(close(ft.grad((x: F) => ft.vmap(ft.checkpoint(block))(x).sum())(x).toArray(), plain.toArray()))
  t.true(close(ft.vmap(ft.grad((row: F) => ft.checkpoint(block)(row)))(x).toArray(), plain.toArray()))
})

test('loops of pieces inside keep their gradients', (t) => {
  const f = (row: F): F => ft.unstack(row).reduce((sum, v, i) => sum.add(v.mul(i + 1).sin()), ft.tensor(0))
  const should = [0, 1].map((i) => ft.grad(f)(x.at(i)).toArray())
  t.true(close(ft.vmap(ft.grad(f))(x).toArray(), should))
  t.true(close(ft.grad((x: F) => ft.vmap(f)(x).sum())(x).toArray(), should))
})

test('jit and vmap nest in either order, with numbers that change', (t) => {
  const f = (row: F, k: number): F => row.mul(k).sum()
  const inside = ft.jit((x: F, k: number) => ft.vmap(f, { inAxes: [0, null] })(x, k))
  t.deepEqual(inside(x, 2).toArray(), [12, 30])
  t.deepEqual(inside(x, 3).toArray(), [18, 45])
  const outside = ft.vmap(ft.jit((row: F) => row.square().sum()))
  t.deepEqual(outside(x).toArray(), [14, 77])
  const steps = ft.jit((w: F, x: F) => w.sub(ft.vmap(ft.grad((w: F, row: F) => row.matmul(w).square().sum()), { inAxes: [null, 0] })(w, x).mean(0).mul(0.01)))
  let plain = w
  let traced = w
  for (let i = 0; i < 3; i++) {
    plain = plain.sub(ft.vmap(ft.grad((w: F, row: F) => row.matmul(w).square().sum()), { inAxes: [null, 0] })(plain, x).mean(0).mul(0.01))
    traced = steps(traced, x)
  }
  t.true(close(traced.toArray(), plain.toArray()))
})

test('rows with several results, indices, draws and layers', (t) => {
  const square = ft.random.normal(ft.random.key(3), [2, 3, 3])
  const [values] = [ft.vmap((a: F) => ft.linalg.svd(a))(square)]
  t.deepEqual(values.s.toArray(), ft.linalg.svd(square).s.toArray())
  const top = ft.vmap((row: F) => ft.topk(row, 2))(x)
  t.deepEqual(top.values.toArray(), [[3, 2], [6, 5]])
  t.deepEqual(top.indices.toArray(), [[2, 1], [2, 1]])
  const picked = ft.vmap((row: F, i: ft.Tensor<'int32'>) => row.take(i))(x, ft.tensor([2, 0], { dtype: 'int32' }))
  t.deepEqual(picked.toArray(), [3, 4])
  const keys = ft.random.split(ft.random.key(0), 2)
  const draws = ft.vmap((key: ft.Tensor<'uint32'>) => ft.random.uniform(key, [3]))(ft.stack(keys, 0))
  t.deepEqual(draws.toArray(), keys.map((key) => ft.random.uniform(key, [3]).toArray()))
  const layer = new ft.nn.Linear(3, 4)
  const params = layer.init(ft.random.key(5))
  const { weight, bias } = params as { weight: F; bias: F }
  // An ensemble: parameters have the axis, data have not.
  const ensemble = ft.tree.map((p) => ft.stack([p, p.mul(2)], 0), params)
  const found = ft.vmap((p: typeof params, x: F) => layer.apply(p, x), { inAxes: [0, null] })(ensemble, x)
  t.deepEqual(found.shape, [2, 2, 4])
  t.true(close(found.at(1).toArray(), x.matmul(weight.T).add(bias).mul(2).toArray()))
})

test('thousands of calls leave no memory, and arguments may be disposed of', async (t) => {
  const f = ft.vmap((row: F, w: F) => row.matmul(w).relu().sum(), { inAxes: [0, null] })
  const before = ft.memory().live
  let sum = 0
  for (let i = 0; i < 3000; i++) {
    const big = ft.ones([3, 4096])
    const y = f(x, big)
    sum += y.at(0).itemSync()
    big.dispose()
  }
  t.is(sum, 3000 * 6 * 4096)
  t.true(ft.memory().live - before < 64 * 2 ** 20)
})

test('what is wrong is an error of vmap', (t) => {
  throws(t, 'ERR_ARGUMENT', /^vmap: expected a function, got 1/, () => ft.vmap(1 as never))
  throws(t, 'ERR_ARGUMENT', /^vmap: 'inAxes' must be an integer, null, or a tree of these, got 0.5/, () => ft.vmap((x: F) => x, { inAxes: 0.5 }))
  throws(t, 'ERR_ARGUMENT', /^vmap: unknown option 'inDims'; .*'inAxes'/, () => ft.vmap((x: F) => x, { inDims: 0 } as never))
  throws(t, 'ERR_ARGUMENT', /^vmap: no argument has a tensor with an axis/, () => ft.vmap((x: F) => x, { inAxes: null })(x))
  throws(t, 'ERR_ARGUMENT', /^vmap: no argument/, () => ft.vmap(() => x)())
  throws(t, 'ERR_SHAPE', /^vmap: axis 0 of argument 1 has 3 positions, and that of argument 0 has 2/, () => ft.vmap((a: F, b: F) => a.add(b))(x, w))
  throws(t, 'ERR_INDEX', /^vmap: axis 2 is out of range for rank 2/, () => ft.vmap((a: F) => a, { inAxes: 2 })(x))
  throws(t, 'ERR_INDEX', /^vmap: axis 0 is out of range for rank 0/, () => ft.vmap((a: F) => a)(ft.tensor(1)))
  throws(t, 'ERR_ARGUMENT', /^vmap: the axes of the arguments are \[0, 0\], and it is \[/, () => ft.vmap((a: F) => a, { inAxes: [0, 0] })(x))
  const cyclic: unknown[] = []
  cyclic.push(cyclic, cyclic)
  throws(t, 'ERR_ARGUMENT', /^vmap: argument 0 is nested deeper/, () => ft.vmap((a: unknown[]) => a.length, { inAxes: cyclic as never })(cyclic))
  throws(t, 'ERR_ARGUMENT', /^vmap: the axes of the arguments are/, () => ft.vmap((a: F) => a, { inAxes: cyclic as never })(x))
  throws(t, 'ERR_ARGUMENT', /^vmap: 'inAxes' must be an integer, null, or a tree of these, got 'x'/, () => ft.vmap((a: F) => a, { inAxes: ['x'] as never })(x))
  throws(t, 'ERR_ARGUMENT', /^vmap: a result whose axis is null/, () => ft.vmap((a: F) => a, { outAxes: null })(x))
  throws(t, 'ERR_ARGUMENT', /^vmap: the function returned a promise/, () => ft.vmap(async (a: F) => a)(x))
  throws(t, 'ERR_ARGUMENT', /^vmap: a tensor .* has no value of its own .* ft\.where/, () => ft.vmap((a: F) => (a.sum().itemSync() > 0 ? a : a.negative()))(x))
  throws(t, 'ERR_SHAPE', /^add: shapes \[3\] and \[4\]/, () => ft.vmap((a: F) => a.add(ft.ones([4])))(x))
  let leaked: F | undefined
  ft.vmap((a: F) => (leaked = a.mul(2)))(x)
  throws(t, 'ERR_ARGUMENT', /no value/, () => leaked?.toArray())
  throws(t, 'ERR_ARGUMENT', /Generator: .*vmap/, () => {
    const g = ft.random.generator(1)
    ft.vmap((a: F) => a.add(g.normal([3])))(x)
  })
  t.regex(String(ft.vmap((a: F) => String(a))(x)), /^Tensor<float32>\[3\] [\w:]+ \(all positions of vmap, which has no values\)$/)
  // After an error everything works as before.
  t.deepEqual(ft.vmap((a: F) => a.sum())(x).toArray(), [6, 15])
})

test('detectNaN names the operation of a mapped call', (t) => {
  throws(t, 'ERR_NAN', /^sqrt: the result of a mapped call, float32 \[2, 3\], has NaN/, () => ft.detectNaN(() => ft.vmap((a: F) => a.negative().sqrt())(x)))
  t.deepEqual(ft.detectNaN(() => ft.vmap((a: F) => a.sqrt().sum())(ft.ones([2, 3]))).toArray(), [3, 3])
})
