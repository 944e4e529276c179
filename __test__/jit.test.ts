// `ft.jit`: the same bits as without, traced once for each kind of arguments; what has no value says so.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { throws } from './expect.js'

type F = Tensor<'float32'>

/** How often functions were traced in a call. */
function tracesIn(f: () => void): number {
  const before = ft.stats().traces
  f()
  return ft.stats().traces - before
}

const random = (seed: number, shape: number[]): F => ft.random.normal(ft.random.key(seed), shape)

test('the same bits as without, and one trace', (t) => {
  const fn = (x: F, y: F, n: number): Tensor => x.matmul(y).mul(n).exp().add(ft.ones([3])).sum(0).div(x.max())
  const jitted = ft.jit(fn)
  const made = tracesIn(() => {
    for (let i = 0; i < 5; i++) {
      const [x, y] = [random(i, [4, 5]), random(i + 10, [5, 3])]
      t.deepEqual(jitted(x, y, i / 10).toBytes(), fn(x, y, i / 10).toBytes())
    }
  })
  t.is(made, 1)
})

test('a training step: gradients, an optimiser with its count and schedule, dropout by a key and the step', (t) => {
  const model = new ft.nn.Sequential(new ft.nn.Linear(6, 16), new ft.nn.BatchNorm(16), (h) => h.relu(), new ft.nn.Dropout({ p: 0.2 }), new ft.nn.Linear(16, 3))
  const key = ft.random.key(7)
  for (const optimizer of [ft.optim.adamw({ learningRate: ft.optim.cosine(0.05, 20) }), ft.optim.sgd({ momentum: 0.9, nesterov: true }), ft.optim.rmsprop(), ft.optim.lion(), ft.optim.adafactor()]) {
    const fresh = () => {
      const params = model.init(key)
      return { params, state: model.initState(), moments: optimizer.init(params), step: 0 }
    }
    type Training = ReturnType<typeof fresh>
    const step = (training: Training, x: F, y: Tensor<'int32'>): [Training, Tensor] => {
      const loss = (params: Training['params']): [Tensor, Training['state']] => {
        const [logits, state] = model.train(params, x, { state: training.state, key: ft.random.fold(key, training.step) })
        return [ft.nn.crossEntropy(logits as F, y), state]
      }
      const [[value, state], gradients] = ft.valueAndGrad(loss, { hasAux: true })(training.params)
      const [params, moments] = optimizer.step(training.params, gradients, training.moments)
      return [{ params, state, moments, step: moments.count }, value]
    }
    const [x, y] = [random(1, [12, 6]), ft.random.randint(key, 0, 3, [12])]
    const run = (f: typeof step): [number[], Training] => {
      let training = fresh()
      const losses: number[] = []
      for (let i = 0; i < 6; i++) {
        const [next, loss] = f(training, x, y)
        training = next
        losses.push(loss.itemSync() as number)
      }
      return [losses, training]
    }
    const [plain, last] = run(step)
    const jitted = ft.jit(step)
    const made = tracesIn(() => {
      const [losses, training] = run(jitted)
      t.deepEqual(losses, plain)
      t.is(training.step, 6)
      t.is(training.moments.count, 6)
      t.deepEqual(training.params[0].weight.toBytes(), last.params[0].weight.toBytes())
    })
    t.is(made, 1)
  }
})

test('what is traced anew, and why', (t) => {
  ft.resetStats()
  const f = ft.jit(function scaled(tree: { x: Tensor; list: unknown[] }, mode: string, n: number) {
    return tree.x.mul(mode === 'twice' ? 2 : 1).add(n)
  })
  const x = ft.ones([2])
  f({ x, list: [] }, 'once', 1)
  f({ x, list: [] }, 'once', 2)
  f({ x: ft.ones([3]), list: [] }, 'once', 2)
  f({ x: ft.ones([3], { dtype: 'float64' }), list: [] }, 'once', 2)
  f({ x: ft.ones([3], { dtype: 'float64' }), list: [1] }, 'once', 2)
  f({ x: ft.ones([3], { dtype: 'float64' }), list: [2] }, 'once', 2)
  f({ x: ft.ones([3], { dtype: 'float64' }), list: [2] }, 'twice', 2)
  // Known again.
  t.deepEqual(f({ x, list: [] }, 'once', 5).toArray(), [6, 6])
  const { traces, retraces } = ft.stats()
  t.is(traces, 5)
  t.deepEqual(retraces, [
    { name: 'scaled', reason: 'argument 0.x was float32 [2], and is float32 [3]', count: 1 },
    { name: 'scaled', reason: 'argument 0.x was float32 [3], and is float64 [3]', count: 1 },
    { name: 'scaled', reason: 'argument 0.list was an array of 0, and is an array of 1', count: 1 },
    { name: 'scaled', reason: "argument 1 was 'once', and is 'twice'", count: 1 }
  ])
  ft.resetStats()
  t.deepEqual([ft.stats().traces, ft.stats().retraces], [0, []])
})

test('static arguments: shapes and choices', (t) => {
  const f = ft.jit((x: Tensor, n: number) => (n > 1 ? ft.stack(Array.from({ length: n }, () => x)) : x), { static: 1 })
  const made = tracesIn(() => {
    t.deepEqual(f(ft.ones([1]), 2).shape, [2, 1])
    t.deepEqual(f(ft.ones([1]), 3).shape, [3, 1])
    t.deepEqual(f(ft.ones([1]), 2).shape, [2, 1])
    t.deepEqual(f(ft.ones([1]), 1).shape, [1])
  })
  t.is(made, 3)
})

test('static arguments are compared by what is in them, which the caller may change', (t) => {
  const f = ft.jit((x: Tensor, o: { shape: number[]; fn?: (y: Tensor) => Tensor }) => (o.fn ?? ft.neg)(x).reshape(o.shape), { static: 1 })
  const x = ft.ones([4])
  const made = tracesIn(() => {
    t.deepEqual(f(x, { shape: [2, 2] }).shape, [2, 2])
    t.deepEqual(f(ft.zeros([4]), { shape: [2, 2] }).shape, [2, 2])
    const options = { shape: [2, 2] }
    f(x, options)
    options.shape[0] = 4
    options.shape[1] = 1
    t.deepEqual(f(x, options).shape, [4, 1])
    t.deepEqual(f(x, { shape: [4], fn: ft.abs }).toArray(), [1, 1, 1, 1])
  })
  t.is(made, 3)
  const loop: unknown[] = []
  loop.push(loop)
  throws(t, 'ERR_ARGUMENT', /jit: a static argument is nested deeper/, () => ft.jit((_: unknown[]) => 1, { static: 0 })(loop))
})

test('what has no value says so, and nothing is kept of a trace that failed', (t) => {
  const needs = /has no value while the function is traced/
  const x = ft.ones([3])
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((y: Tensor) => y.itemSync())(ft.ones([])))
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((y: Tensor) => y.add(1).dataSync())(x))
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((y: Tensor) => ft.nonzero(y)[0]!)(x))
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((y: Tensor) => (ft.evaluateSync(y), y))(x))
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((y: Tensor, n: number) => y.mul(1 - n))(x, 2))
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((y: Tensor, n: number) => (n > 1 ? y : x))(x, 2))
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((n: number) => ft.full([2], 1).mul(n).toArray())(2))
  throws(t, 'ERR_ARGUMENT', needs, () => ft.jit((n: number) => [JSON.stringify({ n }), x])(2))
  throws(t, 'ERR_ARGUMENT', /'options' must be an object.*a number that jit traces/, () => ft.jit((n: number) => ft.nn.leakyRelu(x, n as never))(2))
  throws(t, 'ERR_ARGUMENT', /'shape\[0\]' must be an integer, got a number that jit traces.*'static'/, () => ft.jit((n: number) => ft.zeros([n]))(2))
  throws(t, 'ERR_ARGUMENT', /the function returned a promise/, () => ft.jit(async (y: Tensor) => y)(x))
  throws(t, 'ERR_ARGUMENT', /Generator: jit would draw the same numbers/, () => ft.jit((y: Tensor) => ft.random.generator(1).normal([3]).add(y))(x))
  throws(t, 'ERR_SHAPE', /add/, () => ft.jit((y: Tensor) => y.add(ft.ones([2])))(x))
  const { limit } = ft.config()
  let calls = 0
  const f = ft.jit((y: Tensor) => {
    if (++calls === 1) throw new RangeError('mine')
    return y.add(1)
  })
  t.throws(() => f(x), { instanceOf: RangeError })
  t.deepEqual(f(x).toArray(), [2, 2, 2])
  // Recording goes on as before.
  t.is(ft.config().limit, limit)
  t.deepEqual(x.add(1).toArray(), [2, 2, 2])
})

test('a value that escapes from a trace says that it has none', (t) => {
  let leaked: Tensor = ft.ones([])
  ft.jit((y: Tensor) => (leaked = y.add(1)))(ft.ones([2]))
  throws(t, 'ERR_ARGUMENT', /no value while the function is traced/, () => leaked.toArray())
  t.regex(String(leaked), /traced/)
})

test('what escapes from a trace is no value in another one, nor outside', (t) => {
  let [tensor, number, sum]: [Tensor, number, Tensor] = [ft.ones([2]), 0, ft.ones([2])]
  const x = ft.ones([2])
  ft.jit((y: Tensor, n: number) => ((tensor = y), (number = n), (sum = y.mul(n))))(x, 3)
  const escaped = /jit: a (tensor|number) escaped from the function/
  throws(t, 'ERR_ARGUMENT', escaped, () => x.mul(number))
  throws(t, 'ERR_ARGUMENT', escaped, () => ft.full([2], number))
  throws(t, 'ERR_ARGUMENT', escaped, () => ft.jit((y: Tensor) => y.mul(number))(x))
  throws(t, 'ERR_ARGUMENT', escaped, () => ft.jit((y: Tensor) => [y, number])(x))
  throws(t, 'ERR_ARGUMENT', escaped, () => ft.jit((y: Tensor, n: number) => y.mul(n))(x, number))
  throws(t, 'ERR_ARGUMENT', escaped, () => ft.jit((y: Tensor) => y.add(tensor))(x))
  throws(t, 'ERR_ARGUMENT', escaped, () => ft.jit((_: Tensor) => tensor)(x))
  throws(t, 'ERR_ARGUMENT', /no value/, () => ft.jit((y: Tensor) => y.add(sum))(x))
  throws(t, 'ERR_ARGUMENT', /no value/, () => ft.jit((y: Tensor) => y.add(1))(tensor))
  // A way back is a function, which can be called later.
  let back: (g: Tensor) => Tensor[] = () => []
  ft.jit((y: F, n: number) => ((back = ft.vjp((z: F) => z.mul(n), y)[1] as typeof back), y))(x, 3)
  throws(t, 'ERR_ARGUMENT', /no value/, () => back(x)[0]?.toArray())
  throws(t, 'ERR_ARGUMENT', /no value/, () => ft.jit(() => back(x))())
})

test('what is wrong with a call', (t) => {
  throws(t, 'ERR_ARGUMENT', /jit: expected a function, got 3/, () => ft.jit(3 as never))
  throws(t, 'ERR_ARGUMENT', /unknown option 'statics'/, () => ft.jit(() => 1, { statics: 1 } as never))
  throws(t, 'ERR_ARGUMENT', /'static' must be the number of an argument/, () => ft.jit(() => 1, { static: -1 }))
  throws(t, 'ERR_ARGUMENT', /argument 0 is named in 'static' and in 'donate'/, () => ft.jit(() => 1, { static: [0], donate: 0 }))
  const loop: unknown[] = []
  loop.push(loop)
  throws(t, 'ERR_ARGUMENT', /jit: argument 0 is nested deeper/, () => ft.jit((y: unknown[]) => y)(loop))
  throws(t, 'ERR_ARGUMENT', /jit: the result is nested deeper/, () => ft.jit((_: Tensor) => loop)(ft.ones([])))
  throws(t, 'ERR_ARGUMENT', /Map with tensors in it/, () => ft.jit((y: Map<string, Tensor>) => y)(new Map([['x', ft.ones([])]])))
  const gone = ft.ones([2])
  gone.dispose()
  throws(t, 'ERR_DISPOSED', /jit/, () => ft.jit((y: Tensor) => y)(gone))
})

test('numbers are checked in each call, as beside a tensor', (t) => {
  const f = ft.jit((x: Tensor, n: number) => x.add(n))
  const integers = ft.ones([2], { dtype: 'int32' })
  t.deepEqual(f(integers, 3).toArray(), [4, 4])
  throws(t, 'ERR_DTYPE', /0\.5 is not an integer/, () => f(integers, 0.5))
  t.deepEqual(f(integers, 4).toArray(), [5, 5])
  const g = ft.jit((k: ft.random.Key, n: number) => ft.random.fold(k, n))
  t.deepEqual(g(ft.random.key(1), 3).toArray(), ft.random.fold(ft.random.key(1), 3).toArray())
  throws(t, 'ERR_ARGUMENT', /must be an integer/, () => g(ft.random.key(1), 0.5))
  const padded = ft.jit((x: Tensor, value: number) => x.pad(1, { value }))
  t.deepEqual(padded(ft.tensor([true]), 0).toArray(), [false, true, false])
  throws(t, 'ERR_DTYPE', /neither 0 nor 1/, () => padded(ft.tensor([true]), 2))
})

test('arguments that change while they are looked at', (t) => {
  let n = 0
  const odd = { get x() { return ft.full([++n], 1) } }
  throws(t, 'ERR_ARGUMENT', /jit: argument 0 is another each time/, () => ft.jit((o: { x: Tensor }) => o.x.add(1))(odd))
  // By the function itself: the call has what it was called with.
  const own = { x: ft.ones([2]) as Tensor }
  const f = ft.jit((o: { x: Tensor }) => {
    own.x = ft.zeros([3])
    return o.x.add(1)
  })
  t.deepEqual(f(own).toArray(), [2, 2])
})

test('captured tensors are constants', (t) => {
  const table = ft.arange(4)
  const pending = table.mul(2)
  const f = ft.jit((x: Tensor) => x.add(pending).add(table))
  t.deepEqual(f(ft.ones([4])).toArray(), [1, 4, 7, 10])
  t.deepEqual(f(ft.zeros([4])).toArray(), [0, 3, 6, 9])
  table.dispose()
  throws(t, 'ERR_DISPOSED', /jit: a captured tensor/, () => f(ft.ones([4])))
})

test('results: trees, the same tensor twice, arguments handed on, nothing at all', (t) => {
  const f = ft.jit((x: Tensor, n: number) => {
    const y = x.add(1)
    return { y, pair: [y, x], n, text: 'as it is', none: null, ['__proto__' as string]: 1 }
  })
  const x = ft.ones([2])
  for (let i = 0; i < 2; i++) {
    const found = f(x, i)
    t.is(found.pair[0], found.y)
    t.not(found.pair[1], x)
    found.pair[1]!.dispose()
    t.deepEqual([found.n, found.text, found.none, x.toArray()], [i, 'as it is', null, [1, 1]])
  }
  t.deepEqual(ft.jit(() => ({ a: 1 }))(), { a: 1 })
  t.deepEqual(ft.jit((y: Tensor) => [y.max(), y.argmax()])(ft.tensor([3, 5])).map((y) => y.itemSync()), [5, 1])
  const { q } = ft.jit((y: F) => ft.linalg.qr(y))(random(1, [3, 3]))
  t.deepEqual(q.toBytes(), ft.linalg.qr(random(1, [3, 3])).q.toBytes())
})

test('instances of registered classes go in and come out', (t) => {
  class Pair {
    constructor(
      readonly a: Tensor,
      readonly name: string
    ) {}
  }
  ft.tree.register(Pair, { flatten: ({ a }) => [a], unflatten: ([a], { name }) => new Pair(a as Tensor, name) })
  const f = ft.jit((p: Pair) => new Pair(p.a.mul(2), 'made'))
  const made = tracesIn(() => {
    t.deepEqual(f(new Pair(ft.ones([2]), 'x')).a.toArray(), [2, 2])
    const again = f(new Pair(ft.zeros([2]), 'x'))
    t.true(again instanceof Pair)
    t.deepEqual([again.a.toArray(), again.name], [[0, 0], 'made'])
  })
  t.is(made, 1)
})

test('what an instance is beside its parts is as in each call', (t) => {
  class Scaled {
    constructor(
      readonly a: Tensor,
      readonly n: number,
      readonly scale: number,
      readonly fn: (x: Tensor) => Tensor
    ) {}
  }
  ft.tree.register(Scaled, { flatten: ({ a, n }) => [a, n] as const, unflatten: ([a, n], { scale, fn }) => new Scaled(a, n, scale, fn) })
  const f = ft.jit(function scaled(s: Scaled) {
    return s.fn(s.a).mul(s.scale).add(s.n)
  })
  const a = ft.tensor([-1, 2])
  ft.resetStats()
  const made = tracesIn(() => {
    t.deepEqual(f(new Scaled(a, 1, 2, ft.abs)).toArray(), [3, 5])
    t.deepEqual(f(new Scaled(a, 3, 2, ft.abs)).toArray(), [5, 7])
    t.deepEqual(f(new Scaled(a, 1, 10, ft.abs)).toArray(), [11, 21])
    t.deepEqual(f(new Scaled(a, 1, 10, ft.neg)).toArray(), [11, -19])
  })
  t.is(made, 3)
  t.deepEqual(ft.stats().retraces.map(({ reason }) => reason), ['argument 0.scale was 2, and is 10', 'argument 0.fn is another a function'])
})

test('inside of gradients, of another jit, of scopes and of the detector', (t) => {
  const f = ft.jit((x: Tensor) => x.mul(x).sum())
  t.deepEqual(ft.grad(f)(ft.tensor([1, 2])).toArray(), [2, 4])
  const captured = ft.tensor([1, 2])
  t.deepEqual(ft.grad((w: Tensor) => ft.jit((x: Tensor) => x.mul(w).sum())(captured))(ft.tensor([5, 6])).toArray(), [1, 2])
  t.deepEqual(ft.jit(ft.grad(ft.jit((x: Tensor) => f(x).mul(3))))(captured).toArray(), [6, 12])
  t.deepEqual(ft.jit(ft.hessian((x: Tensor) => x.mul(x).mul(x).sum()))(captured).toArray(), [[6, 0], [0, 12]])
  t.is(ft.jit((x: Tensor) => ft.scope(() => f(x).add(1)))(captured).itemSync(), 6)
  t.is(ft.scope(() => f(captured)).itemSync(), 5)
  throws(t, 'ERR_NAN', /log/, () => ft.detectNaN(() => ft.jit((x: Tensor) => x.log())(ft.tensor([-1]))))
  t.deepEqual(ft.jit(ft.checkpoint((x: Tensor) => x.exp()))(ft.zeros([2])).toArray(), [1, 1])
})
