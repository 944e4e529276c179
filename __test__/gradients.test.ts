// Gradients of functions: what grad, valueAndGrad, vjp and jvp give and refuse. That each operation's rule is right is Rust's to
// show (crates/conformance/src/gradients.rs).
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from './expect.js'

type F = ft.Tensor<'float32'>
type D = ft.Tensor<'float64'>

const x = ft.tensor([1, 2, 3])
const float64 = { dtype: 'float64' } as const

test('a gradient has the structure of the argument', (t) => {
  const params = { layers: [{ w: ft.ones([3, 2]), b: ft.zeros([2]) }], scale: ft.tensor(2), name: 'net' }
  const [loss, grads] = ft.valueAndGrad((p: typeof params, x: F) => {
    const [layer] = p.layers
    return x.matmul(layer!.w).add(layer!.b).mul(p.scale).sum()
  })(params, ft.tensor([[1, 2, 3], [4, 5, 6]]))
  t.is(loss.itemSync(), 84)
  t.deepEqual(grads.layers[0]!.w.toArray(), [[10, 10], [14, 14], [18, 18]])
  t.deepEqual(grads.layers[0]!.b.toArray(), [4, 4])
  t.is(grads.scale.itemSync(), 42)
  t.is(grads.name, 'net')
})

test('argnums names arguments, one or several, from the end too', (t) => {
  const f = (a: F, b: F): F => a.mul(a).mul(b).sum()
  const b = ft.tensor([4, 5, 6])
  t.deepEqual(ft.grad(f, { argnums: 1 })(x, b).toArray(), [1, 4, 9])
  t.deepEqual(ft.grad(f, { argnums: [-1, 0] })(x, b).map((g) => g.toArray()), [[1, 4, 9], [8, 20, 36]])
})

test('with hasAux the rest of the result is handed through', (t) => {
  const f = (x: F): [F, { y: F; note: string }] => {
    const y = x.mul(3)
    return [y.sum(), { y, note: 'here' }]
  }
  const [g, { y, note }] = ft.grad(f, { hasAux: true })(x)
  t.deepEqual([g.toArray(), y.toArray(), note], [[3, 3, 3], [3, 6, 9], 'here'])
})

test('scalars, numbers and attributes of calls are those of the call', (t) => {
  const g = (f: (x: F) => F): unknown => ft.grad(f)(x).toArray()
  t.deepEqual(g((x) => ft.subtract(5, x.mul(2).add(1)).sum()), [-2, -2, -2])
  t.deepEqual(g((x) => x.clip(1.5, 2.5).sum()), [0, 1, 0])
  t.deepEqual(g((x) => x.reshape([3, 1]).mul(ft.tensor([1, 10])).sum({ axis: 1 }).at(1)), [0, 11, 0])
  t.true(close(g((x) => x.softmax().at(2)), [-0.059893, -0.162804, 0.222697]))
  const wide = ft.tensor([1, 2], float64)
  t.deepEqual(ft.grad((x: D) => x.astype('float32').mul(3n).sum())(wide).dtype, 'float64')
})

test('gradients nest, and do not confuse their variables', (t) => {
  t.deepEqual(ft.grad((x: F) => ft.grad((y: F) => y.pow(3).sum())(x).sum())(x).toArray(), [6, 12, 18])
  // d/dx x (d/dy (x + y)) = 1; who mixes up the two levels gets 2 (Siskind and Pearlmutter, 2005).
  const confused = ft.grad((x: F) => x.mul(ft.grad((y: F) => x.add(y))(ft.tensor(1))))
  t.is(confused(ft.tensor(3)).itemSync(), 1)
  const third = ft.grad((x: F) => ft.grad((x: F) => ft.grad((x: F) => x.pow(4))(x))(x))
  t.is(third(ft.tensor(2)).itemSync(), 48)
})

test('tangents and cotangents agree, through several results', (t) => {
  const f = (a: D): D[] => [...Object.values(ft.linalg.svd(a, { fullMatrices: false })), a.sin()]
  const a = ft.tensor([[1, 2], [3, 5], [-1, 4]], float64)
  const direction = ft.tensor([[1, -1], [2, 0.5], [0.25, 3]], float64)
  const [results, tangents] = ft.jvp(f, [a], [direction])
  const [again, back] = ft.vjp(f, a)
  t.true(close(results.map((r) => r.toArray()), again.map((r) => r.toArray())))
  const cotangents = results.map((r, i) => r.mul(0).add(ft.arange(r.size, { dtype: 'float64' }).reshape(r.shape).add(i + 1)))
  const [back0] = back(cotangents)
  const forwards = tangents.map((u, i) => u.mul(cotangents[i]!).sum().itemSync()).reduce((s, v) => s + v, 0)
  t.true(close(back0.mul(direction).sum().itemSync(), forwards))
})

test('what is read inside counts as a constant', (t) => {
  const f = (x: F): F => {
    const s = x.mul(x).sum()
    return s.mul(s.itemSync())
  }
  t.deepEqual(ft.grad(f)(x).toArray(), [28, 56, 84])
  const branching = (x: F): F => (x.sum().itemSync() > 5 ? x.mul(2).sum() : x.mul(3).sum())
  t.deepEqual(ft.grad(branching)(x).toArray(), [2, 2, 2])
})

test('integers, stopGradient and what is not used have gradient zero', (t) => {
  t.deepEqual(ft.grad((x: F) => ft.stopGradient(x).mul(x).sum())(x).toArray(), [1, 2, 3])
  t.deepEqual(ft.grad((x: F) => x.argmax().astype('float32').mul(2).add(x.round().sum()))(x).toArray(), [0, 0, 0])
  const g = ft.grad((p: { used: F; not: F }) => p.used.sum())({ used: x, not: ft.ones([2, 2]) })
  t.deepEqual([g.used.toArray(), g.not.toArray()], [[1, 1, 1], [[0, 0], [0, 0]]])
})

test('a loss and its gradients are one program, whichever is read first', (t) => {
  for (const first of [0, 1]) {
    const w = ft.random.normal(ft.random.key(2), [4, 4])
    const parts = ft.valueAndGrad((w: F) => w.matmul(w).exp().sum())(w)
    ft.evaluateSync(w)
    ft.resetStats()
    parts[first]!.dataSync()
    parts[1 - first]!.dataSync()
    const { programs, recomputes } = ft.stats()
    // Run eagerly, all is computed before it is read.
    t.true(programs <= 1 && recomputes === 0, `read first: ${first}, ${programs} programs, ${recomputes} computed again`)
  }
})

test('a network that is trained takes no more memory with every step', (t) => {
  const key = ft.random.key(3)
  const inputs = ft.random.normal(key, [64, 256])
  let params = { w1: ft.random.normal(key, [256, 256]).mul(0.05), w2: ft.random.normal(key, [256, 1]).mul(0.05) }
  const loss = (p: typeof params): F => inputs.matmul(p.w1).tanh().matmul(p.w2).square().mean()
  const step = ft.valueAndGrad(loss)
  const live: number[] = []
  const losses: number[] = []
  for (let i = 0; i < 60; i++) {
    const [value, g] = step(params)
    params = { w1: params.w1.sub(g.w1.mul(0.1)), w2: params.w2.sub(g.w2.mul(0.1)) }
    ft.evaluateSync(params.w1, params.w2)
    losses.push(value.itemSync())
    if (i >= 30) live.push(ft.memory().devices.reduce((sum, m) => sum + m.live, 0))
  }
  t.true(losses.at(-1)! < losses[0]! / 2)
  t.true(Math.max(...live) <= 64 * 2 ** 20, `${Math.max(...live)} bytes`)
})

test('what has no gradient is refused with the reason', (t) => {
  throws(t, 'ERR_SHAPE', /^grad: the function must return a scalar, got shape \[3\]; sum\(\)/, () => ft.grad((x: F) => x)(x))
  throws(t, 'ERR_DTYPE', /^grad: the function must return a real floating tensor, got int32/, () => ft.grad((x: F) => x.argmax())(x))
  throws(t, 'ERR_DTYPE', /^grad: argument 0\.w\[1\] is int32/, () => ft.grad((_: { w: unknown }) => x.sum())({ w: [x, ft.tensor([1], { dtype: 'int32' })] }))
  throws(t, 'ERR_ARGUMENT', /^grad: the function returned a promise/, () => ft.grad((async (_: F) => x.sum()) as never)(x))
  throws(t, 'ERR_ARGUMENT', /^grad: the function must return a tensor, got 3/, () => ft.grad((_: F) => 3 as never)(x))
  throws(t, 'ERR_ARGUMENT', /^valueAndGrad: expected a function, got undefined/, () => ft.valueAndGrad(undefined as never))
  throws(t, 'ERR_ARGUMENT', /^grad: argument 2 was asked for, of 1/, () => ft.grad((x: F) => x.sum(), { argnums: 2 as never })(x))
  throws(t, 'ERR_ARGUMENT', /^grad: 'argnums' names an argument twice/, () => ft.grad((x: F) => x.sum(), { argnums: [0, -1] as never })(x))
  throws(t, 'ERR_ARGUMENT', /^grad: with hasAux the function must return \[loss, more\]/, () => ft.grad(((x: F) => x.sum()) as never, { hasAux: true })(x as never))
  throws(t, 'ERR_DISPOSED', /^grad: the tensor was disposed/, () => {
    const gone = ft.ones([2])
    gone.dispose()
    ft.grad((x: F) => x.sum())(gone)
  })
  const cycle: Record<string, unknown> = { x }
  cycle['self'] = cycle
  throws(t, 'ERR_ARGUMENT', /may contain itself/, () => ft.grad((_: Record<string, unknown>) => x.sum())(cycle))
  const [, back] = ft.vjp((x: F) => x.mul(2), x)
  throws(t, 'ERR_SHAPE', /^vjp: the cotangents must have shape \[3\], got \[2\]/, () => back(ft.ones([2])))
  throws(t, 'ERR_DTYPE', /^vjp: the cotangents must be float32, got float64/, () => back(ft.ones([3], float64) as never))
  throws(t, 'ERR_ARGUMENT', /^grad: there is no tensor in argument 0, got \[1, 2\]; wrap numbers with ft\.tensor/, () => ft.grad((_: number[]) => x.sum())([1, 2]))
  throws(t, 'ERR_ARGUMENT', /^grad: argument 0\.m is a Map with tensors in it/, () => ft.grad((_: { m: Map<string, F> }) => x.sum())({ m: new Map([['w', x]]) }))
  throws(t, 'ERR_DISPOSED', /^grad: the tensor was disposed/, () => ft.grad((x: F) => { using y = x.sum(); return y })(x))
  throws(t, 'ERR_ARGUMENT', /^vjp: the cotangents must be a tensor, got 1/, () => back(1 as never))
  throws(t, 'ERR_ARGUMENT', /^jvp: the tangents must be an array of 1, got \[\]/, () => ft.jvp((x: F) => x, [x], [] as never))
})

test('expressions beyond the limits of recording have gradients', (t) => {
  const deep = (x: F): F => {
    let y = x
    for (let i = 0; i < 3000; i++) y = y.mul(0.999)
    return y.sum()
  }
  t.true(close(ft.grad(deep)(x).toArray(), Array(3).fill(0.999 ** 3000)))
})

test('a tensor of another device is none that a gradient leads to', (t) => {
  const other = ft.devices().find((d) => d.available && d.name !== x.device)
  if (other === undefined) {
    t.pass()
    return
  }
  throws(t, 'ERR_UNSUPPORTED', /^to: a copy to another device has no gradient; copy before/, () => ft.grad((x: F) => x.to(other.name).sum())(x))
})

test('what vjp returns holds what it needs, and may be called again', (t) => {
  const [y, back] = ft.vjp((x: F) => {
    using h = x.mul(2)
    return h.exp()
  }, x)
  const wanted = [1, 2, 3].map((v) => 2 * Math.exp(2 * v))
  const once = back(ft.ones([3]))[0]
  y.dispose()
  t.true(close(once.toArray(), wanted))
  ft.trim()
  t.true(close(back(ft.ones([3]))[0].toArray(), wanted))
  t.true(close(back(ft.ones([3]))[0].toArray(), wanted))
  const [, both] = ft.vjp((a: F, b: F) => a.mul(2).add(b.mul(0)), x, x)
  t.deepEqual(both(ft.ones([3])).map((g) => g.toArray()), [[2, 2, 2], [0, 0, 0]])
})

test('what is returned is nobody else\'s tensor', (t) => {
  const given = ft.ones([3])
  const [, back] = ft.vjp((x: F) => x, x)
  const [g] = back(given)
  g.dispose()
  t.deepEqual(given.toArray(), [1, 1, 1])
})

test('disposing and scopes inside a function leave its gradient alone', (t) => {
  const parts = (x: F): F => {
    const { values, indices } = x.topk(2)
    indices.dispose()
    return values.sum()
  }
  t.deepEqual(ft.grad(parts)(x).toArray(), [0, 1, 1])
  const scoped = (x: F): F => ft.scope(() => {
    const h = x.mul(2)
    ft.evaluateSync(h)
    t.is(h.max().itemSync(), 6)
    return h.mul(h).sum()
  })
  t.deepEqual(ft.grad(scoped)(x).toArray(), [8, 16, 24])
  const outside = ft.scope(() => ft.grad(scoped)(x))
  t.deepEqual(outside.toArray(), [8, 16, 24])
  const svd = (a: F): F => ft.scope(() => ft.linalg.svd(a).s as F).sum()
  t.true(close(ft.grad(svd)(ft.eye(2).mul(ft.tensor([2, 1]))).toArray(), [[1, 0], [0, 1]]))
})

test('what else a function returns is computed with the loss', (t) => {
  const f = (x: F): [F, F] => {
    const h = x.exp()
    return [h.sum(), h.mul(2)]
  }
  const [[value, more], g] = ft.valueAndGrad(f, { hasAux: true })(x)
  ft.resetStats()
  g.dataSync()
  more.dataSync()
  value.dataSync()
  t.true(ft.stats().programs <= 1 && ft.stats().recomputes === 0)
})

test('a function that throws closes its level', (t) => {
  t.throws(() => ft.grad((_: F): F => { throw new Error('mine') })(x), { message: 'mine' })
  t.deepEqual(ft.grad((x: F) => x.sum())(x).toArray(), [1, 1, 1])
})

test('pieces of a tensor: their cotangents are put together, whichever are used', (t) => {
  const x = ft.tensor([[1, 2, 3, 4], [5, 6, 7, 8]], { dtype: 'float64' })
  type X = ft.Tensor<'float64'>
  const weigh = (parts: X[]): X => parts.map((part, i) => part.mul(part).mul(i + 1).sum()).reduce((a, b) => a.add(b)) as X
  const cuts: [name: string, (x: X) => X[], factors: number[][]][] = [
    ['unstack', (v) => ft.unstack(v, 1), [[1, 2, 3, 4]]],
    ['split', (v) => ft.split(v, 2, { axis: -1 }), [[1, 1, 2, 2]]],
    ['chunk', (v) => ft.chunk(v, 3, { axis: 1 }), [[1, 1, 2, 2]]],
    ['at positions', (v) => ft.split(v, [1], { axis: 1 }), [[1, 2, 2, 2]]]
  ]
  for (const [name, cut, [factors]] of cuts) {
    const by = ft.tensor([factors as number[]], { dtype: 'float64' })
    t.deepEqual(ft.grad((v: X) => weigh(cut(v)))(x).toArray(), x.mul(2).mul(by).toArray(), name)
    // The way forwards, and twice back.
    const direction = ft.ones([2, 4], { dtype: 'float64' })
    t.is(ft.jvp((v: X) => weigh(cut(v)), [x], [direction])[1].itemSync(), x.mul(2).mul(by).sum().itemSync(), name)
    t.deepEqual(ft.grad((v: X) => ft.grad((u: X) => weigh(cut(u)))(v).sum())(x).toArray(), by.mul(2).broadcastTo([2, 4]).toArray(), name)
  }
  // One of them alone, one twice, and the whole beside.
  t.deepEqual(ft.grad((v: X) => ft.unstack(v, 1)[2]!.sum())(x).toArray(), [[0, 0, 1, 0], [0, 0, 1, 0]])
  const both = (v: X): X => {
    const [first] = ft.unstack(v) as [X]
    return first.sum().add(first.mul(3).sum()).add(v.sum()) as X
  }
  t.deepEqual(ft.grad(both)(x).toArray(), [[5, 5, 5, 5], [1, 1, 1, 1]])
  t.deepEqual(ft.grad((v: X) => both(v.mul(2) as X))(x).toArray(), [[10, 10, 10, 10], [2, 2, 2, 2]])
  const [, back] = ft.vjp((v: X) => ft.split(v, 2), x)
  t.deepEqual(back([ft.ones([1, 4], { dtype: 'float64' }), ft.zeros([1, 4], { dtype: 'float64' })])[0].toArray(), [[1, 1, 1, 1], [0, 0, 0, 0]])
  t.deepEqual(ft.grad(ft.checkpoint((v: X) => weigh(ft.unstack(v, 1))))(x).toArray(), x.mul(2).mul(ft.tensor([[1, 2, 3, 4]], { dtype: 'float64' })).toArray())
})
