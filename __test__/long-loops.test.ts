// Plain loops of any length do their work once: operations, those computed again, programs planned, and bytes are counted; never the clock.
// runs on: node

import test from 'ava'
import * as ft from 'ferrotensor'
import { evaluateScript, run } from './child.js'

type F = ft.Tensor<'float32'>

/** How many operations run, are computed again, and programs planned while a function is called. */
function counted(fn: () => void): { ops: number; recomputes: number; schedules: number; programs: number } {
  ft.resetStats()
  fn()
  return ft.stats()
}

/** Calls a function with expressions run whole, however long. */
function whole<T>(fn: () => T): T {
  const { limit } = ft.config()
  ft.config({ limit: 1 << 20 })
  try {
    return fn()
  } finally {
    ft.config({ limit })
  }
}

/** Calls a function with expressions cut into the smallest parts: gradients of 8 operations and more. */
function inParts<T>(fn: () => T): T {
  const { limit } = ft.config()
  ft.config({ limit: 3 })
  try {
    return fn()
  } finally {
    ft.config({ limit })
  }
}

const eager = !['', '0', undefined].includes(process.env['FERROTENSOR_EAGER'])
/** Of what is planned and kept where operations do not run at once. */
const lazily = eager ? test.skip : test

const x = ft.tensor([1, 0.5])
/** The loop of the issue: one state, of whose elements each step makes the next. */
const spiral = (steps: number) => (x: F): F => {
  let y = x
  for (let i = 0; i < steps; i++) y = ft.stack([y.at(0).mul(0.99), y.at(1).mul(y.at(0)).add(0.1)]) as F
  return y.sum()
}

lazily('a gradient of any number of steps computes nothing twice, and plans few programs', (t) => {
  const perStep: number[] = []
  for (const steps of [100, 1500, 5000]) {
    const { ops, recomputes, schedules } = counted(() => void ft.grad(spiral(steps))(x).dataSync())
    perStep.push(ops / steps)
    t.is(recomputes, 0, `${steps} steps`)
    t.true(schedules <= 10, `${steps} steps: ${schedules} planned`)
  }
  t.true(Math.max(...perStep) <= 1.05 * Math.min(...perStep), `${perStep}`)
})

test('a gradient that is run in parts has the bits of one that is run whole', (t) => {
  const gradients = () => ft.valueAndGrad(spiral(1000))(x).map((part) => part.dataSync())
  t.deepEqual(gradients(), whole(gradients))
})

test('second derivatives of long loops compute nothing twice', (t) => {
  const bend = (steps: number) => (x: F): F => {
    let y = x
    for (let i = 0; i < steps; i++) y = y.mul(0.99).add(y.mul(x).sin().mul(0.01))
    return y.sum()
  }
  const second = (steps: number) => ft.grad((x: F) => ft.grad(bend(steps))(x).square().sum())
  const perStep = [50, 2000].map((steps) => {
    const { ops, recomputes } = counted(() => void second(steps)(x).dataSync())
    t.is(recomputes, 0)
    return ops / steps
  }) as [number, number]
  t.true(perStep[1] <= 1.05 * perStep[0], `${perStep}`)
  const both = () => second(300)(x).dataSync()
  t.deepEqual(both(), whole(both))
})

test('forward mode, and a way back that is gone twice, compute nothing twice', (t) => {
  const loop = spiral(2000)
  t.is(counted(() => ft.evaluateSync(...ft.jvp(loop, [x], [ft.ones([2])]))).recomputes, 0)
  t.is(
    counted(() => {
      const [y, back] = ft.vjp(loop, x)
      y.dataSync()
      for (const g of [1, 2]) back(ft.tensor(g) as F)[0].dataSync()
    }).recomputes,
    0
  )
})

for (const kind of ['GRU', 'LSTM'] as const) {
  const layer = new ft.nn[kind](3, 4)
  const params = layer.init(ft.random.key(1))
  type Params = typeof params
  const sequence = (steps: number) => ft.random.normal(ft.random.key(2), [2, steps, 3])
  const values = (parts: readonly ft.Tensor[]) => parts.map((part) => part.dataSync())

  lazily(`nn.${kind}: gradients over hundreds of steps compute next to nothing twice, and plan few programs`, (t) => {
    const x = sequence(350)
    const { ops, recomputes, schedules } = counted(() => {
      const [value, found] = ft.valueAndGrad((p: Params) => layer.apply(p, x).square().mean())(params)
      ft.evaluateSync(value, ...Object.values(found))
    })
    t.true(recomputes <= 0.01 * ops && schedules <= 16, `${recomputes} of ${ops} computed again, ${schedules} planned`)
  })

  test(`nn.${kind}: what runs at once has the bits of what is traced`, (t) => {
    for (const options of [{}, { bidirectional: true, layers: 2 }, { bias: false }]) {
      const layer = new ft.nn[kind](3, 4, options)
      const params = layer.init(ft.random.key(4))
      const gradients = (p: Params, x: F) => {
        const [value, [first, second]] = ft.valueAndGrad((p: Params, x: F) => layer.apply(p, x).square().mean(), { argnums: [0, 1] })(p, x)
        return [value, ...Object.values(first), second]
      }
      for (const steps of [9, 33, 64, 75]) {
        const x = sequence(steps)
        t.deepEqual(layer.apply(params, x).dataSync(), ft.jit((p: Params) => layer.apply(p, x))(params).dataSync())
        t.deepEqual(values(gradients(params, x)), values(ft.jit(gradients)(params, x)), `${JSON.stringify(options)}, ${steps} steps`)
      }
    }
  })

  test(`nn.${kind}: forward mode, second derivatives, ways back in other levels and what was given up meanwhile`, (t) => {
    const loss = (p: Params, x: F) => layer.apply(p, x).square().sum() as F
    const x = sequence(70)
    const expected = ft.jit(ft.grad(loss))(params, x)
    const close = (a: ft.Tensor, b: ft.Tensor, what: string) => t.true(Number(a.sub(b).abs().max().itemSync()) <= 1e-4 * (1 + Number(b.abs().max().itemSync())), what)
    const directions = Object.fromEntries(Object.entries(params).map(([name, w]) => [name, w.mul(0).add(1)])) as Params
    const slope = Object.values(expected).reduce((sum, g) => sum.add(g.sum()), ft.tensor(0))
    close(ft.jvp((p: Params) => loss(p, x), [params], [directions])[1], slope, 'forward mode')
    const squares = (gradient: Params) => Object.values(gradient).reduce((sum, g) => sum.add(g.square().sum()), ft.tensor(0))
    const second = (p: Params) => ft.grad((p: Params) => squares(ft.grad((p: Params) => loss(p, x))(p)))(p)
    const twice = ft.jit(second)(params)
    Object.entries(second(params)).forEach(([name, g]) => close(g, twice[name] as F, `second derivative of ${name}`))
    const [, back] = ft.vjp((p: Params) => loss(p, x), params)
    for (const factor of [1, 2]) {
      const [found] = back(ft.tensor(factor) as F)
      Object.entries(found).forEach(([name, g]) => close(g, (expected[name] as F).mul(factor), `way back, ${name}`))
    }
    close(ft.grad((factor: F) => squares(back(factor)[0]))(ft.tensor(1) as F), squares(expected).mul(2), 'a way back in another level')
    const checkpointed = ft.grad((p: Params) => ft.checkpoint(loss)(p, x))(params)
    Object.entries(checkpointed).forEach(([name, g]) => t.deepEqual(g.dataSync(), (expected[name] as F).dataSync(), `checkpoint, ${name}`))
    const given = ft.grad((p: Params) => {
      const own = x.mul(1)
      const y = ft.scope(() => layer.apply(p, own).square())
      own.dispose()
      return y.sum()
    })(params)
    Object.entries(given).forEach(([name, g]) => t.deepEqual(g.dataSync(), (expected[name] as F).dataSync(), `given up, ${name}`))
    t.deepEqual(values(Object.values(ft.detectNaN(() => ft.grad(loss)(params, x)))), values(Object.values(expected)))
  })
}

test('what gradients read outlives the scope it was made in, be it tracked or not', (t) => {
  const masked = (x: F): F => {
    const y = ft.scope(() => {
      const mask = ft.where(ft.tensor([3, 4]).greater(3), 2, 5)
      return x.mul(mask).exp()
    })
    // Others take what memory there is.
    ft.evaluateSync(...Array.from({ length: 20 }, (_, i) => ft.full([2], i)))
    return y.sum() as F
  }
  t.deepEqual(ft.grad(masked)(x).toArray(), x.mul(ft.tensor([5, 2])).exp().mul(ft.tensor([5, 2])).toArray())
})

test('a read inside of a gradient keeps what the way back reads', (t) => {
  const loop = (x: F): F => {
    let y = x
    for (let i = 0; i < 200; i++) {
      y = y.mul(x).sin()
      if (i % 20 === 0) y.sum().itemSync()
    }
    return y.sum()
  }
  const again = [0, 1].map(() => counted(() => void ft.grad(loop)(x).dataSync()).recomputes) as [number, number]
  t.true(again[0] <= 40 && again[1] === 0, `${again}`)
})

test('what derivatives read is known of all kinds of operations: in parts and whole they have the same bits', (t) => {
  const key = ft.random.key(3)
  const matrix = ft.random.uniform(key, [4, 4], { low: 0.2, high: 1 }) as F
  const losses: Record<string, (x: F) => ft.Tensor> = {
    maps: (x) => x.exp().mul(x.log()).div(x.sqrt().add(1)).tanh().sum(),
    powers: (x) => x.pow(x).sub(x.atan2(x.add(1))).hypot(x).sum(),
    choices: (x) => ft.where(x.greater(0.5), x.square(), x.sin()).maximum(x.mul(0.9)).clip(0.1, 0.8).sum(),
    extremes: (x) => x.max({ axis: 0 }).mul(x.min({ axis: 1 })).sum().add(x.prod()),
    rows: (x) => x.softmax(-1).mul(x.logSoftmax(0)).sum().add(ft.nn.layerNorm(x).square().mul(x).sum()),
    moments: (x) => x.std({ axis: 0 }).mul(x.var({ axis: 1 })).sum().add(x.logsumexp()),
    products: (x) => x.matmul(x.matrixTranspose()).mul(ft.einsum('ij,kj->ik', x, x.exp())).sum(),
    scans: (x) => x.cumulativeSum({ axis: 0 }).mul(x.cumulativeProd({ axis: 1 })).sum(),
    places: (x) => x.sort({ axis: 1 }).mul(x.take(ft.tensor([2, 0, 2, 1], { dtype: 'int32' }), { axis: 0 })).sum().add(x.at(':', '1:3').square().sum()),
    joins: (x) => ft.concat([x, x.mul(2), x.exp()], { axis: 1 }).mul(3).sin().sum().add(ft.stack([x, x.square()]).cos().sum()),
    solving: (x) => ft.linalg.solve(x.add(ft.eye(4).mul(4)) as F, x.square()).sum().add(ft.linalg.det(x.add(ft.eye(4)) as F)),
    attention: (x) => ft.nn.scaledDotProductAttention(x.reshape([1, 1, 4, 4]), x.exp().reshape([1, 1, 4, 4]), x.mul(x).reshape([1, 1, 4, 4])).square().sum(),
    halves: (x) => x.astype('bfloat16').mul(x.astype('bfloat16').exp()).astype('float32').mul(x).sum()
  }
  for (const [name, loss] of Object.entries(losses)) {
    const first = () => ft.grad(loss as (x: F) => F)(matrix).dataSync()
    const second = () => ft.grad((x: F) => ft.grad(loss as (x: F) => F)(x).square().sum())(matrix).dataSync()
    t.deepEqual(inParts(first), first(), name)
    t.deepEqual(inParts(second), second(), `${name}, twice`)
    if (!eager) t.is(counted(() => void inParts(second)).recomputes, 0, name)
  }
})

test('a join of many is taken apart once: gradients of it, of mixed dtypes, and second ones', (t) => {
  const parts = (n: number) => Array.from({ length: n }, (_, i) => ft.tensor([[i + 1, 2 * i + 1]], { dtype: 'float64' }))
  type P = ft.Tensor<'float64'>[]
  for (const n of [3, 20]) {
    for (const joined of [(p: P) => ft.concat(p, { axis: 0 }), (p: P) => ft.concat(p, { axis: -1 }), (p: P) => ft.stack(p, { axis: 1 })]) {
      const loss = (p: P) => joined(p).pow(3).sum()
      const p = parts(n)
      t.deepEqual(ft.grad(loss)(p).map((g) => g.toArray()), p.map((x) => x.square().mul(3).toArray()))
      const twice = ft.grad((p: P) => ft.grad(loss)(p).reduce((sum, g) => sum.add(g.sum()), ft.tensor(0, { dtype: 'float64' })))(p)
      t.deepEqual(twice.map((g) => g.toArray()), p.map((x) => x.mul(6).toArray()))
    }
  }
  const { ops } = counted(() => void ft.evaluateSync(...ft.grad((p: P) => ft.stack(p).square().sum())(parts(500))))
  t.true(ops < 4000, `${ops}`)
})

/** A loop of a language model's kind: a cache grows or is written to, and a token is read. */
const decode = (cached: (cache: F, row: F, at: number) => F, start: F, tokens: number): number[] => {
  const embedding = ft.random.normal(ft.random.key(5), [7, 4])
  const [wk, wq] = [6, 7].map((seed) => ft.random.normal(ft.random.key(seed), [4, 4])) as [F, F]
  ft.evaluateSync(embedding, wk, wq, start)
  let [cache, token] = [start, 1]
  return Array.from({ length: tokens }, (_, i) => {
    const x = embedding.at(token).add(i / 10)
    cache = cached(cache, x.matmul(wk).tanh() as F, i)
    const seen = cache.matmul(x.matmul(wq)).softmax(-1).matmul(cache)
    token = Number(embedding.matmul(seen).argmax().itemSync())
    return token
  })
}

const caches: Record<string, readonly [(cache: F, row: F, at: number) => F, () => F]> = {
  'that grows': [(cache, row) => ft.concat([cache, row.reshape([1, 4])], { axis: 0 }) as F, () => ft.zeros([0, 4])],
  'of fixed size': [(cache, row, at) => cache.withAt([at], row) as F, () => ft.zeros([64, 4])]
}
for (const [what, [cached, start]] of Object.entries(caches)) {
  test.serial(`a cache ${what}, of which only tokens are read, is computed once`, (t) => {
    const values: number[][] = []
    const early = counted(() => values.push(decode(cached, start(), 8)))
    const late = counted(() => values.push(decode(cached, start(), 60)))
    t.true(early.recomputes <= 60 && late.recomputes <= 10, `${early.recomputes} at first, ${late.recomputes} later`)
    t.deepEqual((values[1] as number[]).slice(0, 8), values[0])
  })
}

test.serial('MultiHeadAttention takes a cache: place by place as all at once, in plain code and traced, nothing twice', (t) => {
  const layer = new ft.nn.MultiHeadAttention(8, 2, { causal: true })
  const params = layer.init(ft.random.key(1))
  const x = ft.random.normal(ft.random.key(2), [2, 40, 8])
  const all = layer.apply(params, x)
  const near = (found: ft.Tensor, places: string, what: string) => t.true(Number(found.sub(all.at(':', places)).abs().max().itemSync()) < 1e-5, what)
  const step = (x: ft.Tensor, cache: ft.nn.AttentionCache, at: number) => layer.extend(params, x, cache, at)
  for (const [what, extend] of [['plain', step], ['traced', ft.jit(step)]] as const) {
    const { recomputes, schedules } = counted(() => {
      let [y, cache] = extend(x.at(':', ':8'), layer.cache(2, 40), 0)
      near(y, ':8', `${what}: eight places`)
      for (let i = 8; i < 40; i++) {
        ;[y, cache] = extend(x.at(':', `${i}:${i + 1}`), cache, i)
        near(y, `${i}:${i + 1}`, `${what}: place ${i}`)
      }
    })
    t.true(eager || (recomputes <= 150 && schedules <= 16), `${what}: ${recomputes} computed again, ${schedules} planned`)
  }
  t.throws(() => layer.extend(params, x, layer.cache(2, 39), 0), { code: 'ERR_INDEX' })
  t.throws(() => layer.extend(params, x.at(':', ':1'), layer.cache(1, 39), 0), { code: 'ERR_SHAPE' })
  t.throws(() => layer.extend(params, x.at(':', ':1'), layer.cache(2, 39), 0.5), { code: 'ERR_INDEX' })
})

lazily('what is read as a history is not kept by the next loop', async (t) => {
  // Each state is asked for after all were passed through.
  const live = await evaluateScript<number[]>(`
    const live = []
    for (let round = 0; round < 4; round++) {
      let h = ft.ones([1 << 16]); ft.evaluateSync(h)
      const before = ft.memory().live, states = []
      for (let i = 0; i < 100; i++) states.push(h = h.mul(0.99).add(0.01))
      h.sum().itemSync()
      ft.trim()
      live.push((ft.memory().live - before) / (4 << 16))
      for (const s of states) s.sum().itemSync()
    }
    console.log(JSON.stringify(live))`)
  t.true(live.every((values) => values <= 20), `${live} values live`)
})

lazily('reading backwards what was passed through is computed again, and said once', async (t) => {
  const { stderr, code } = await run(`
    let h = ft.ones([4]); const all = []
    for (let i = 0; i < 250; i++) all.push((h = h.mul(0.99)))
    h.dataSync()
    for (const x of all.reverse()) x.add(1).dataSync()
    for (const x of all) x.add(1).dataSync()`)
  t.is(code, 0)
  t.is(stderr.match(/RecomputeWarning/g)?.length, 1, stderr)
  t.regex(stderr, /Long loops/)
})

test.serial('memory of a gradient is that of its steps, whatever their number', async (t) => {
  const bytes = (steps: number) =>
    evaluateScript<number>(`
      const w = ft.random.normal(ft.random.key(1), [64, 64], { std: 0.1 }), x = ft.ones([16, 64])
      ft.evaluateSync(w, x)
      const before = ft.memory().peak
      ft.grad((w) => { let h = x; for (let i = 0; i < ${steps}; i++) h = h.matmul(w).tanh().add(x); return h.sum() })(w).dataSync()
      console.log((ft.memory().peak - before) / ${steps})`)
  const perStep = [await bytes(500), await bytes(5000)] as const
  t.log(`${perStep.map((n) => (n / 4096).toFixed(2))} values a step`)
  t.true(perStep[1] <= 1.3 * perStep[0], `${perStep}`)
})

test.serial('a loop of large values settles at once: a few turns of them, and what makes a collection worth it', async (t) => {
  const peaks = await evaluateScript<number[]>(`
    const x = ft.ones([1 << 20]); ft.evaluateSync(x)
    const before = ft.memory().live
    const peaks = []
    for (let stretch = 0; stretch < 4; stretch++) {
      let peak = 0
      const run = (t) => { ft.evaluateSync(t); peak = Math.max(peak, ft.memory().live - before); return t }
      for (let i = 0; i < 20; i++) run(run(run(x.mul(i)).add(1)).sin())
      peaks.push(peak / 2 ** 20)
    }
    console.log(JSON.stringify(peaks))`)
  t.log(`${peaks.map((n) => n.toFixed(0)).join(', ')} MiB`)
  // 12 MiB a turn, two of them or three, as objects of the last are reached by what is marked or not (68 MiB in all turns on Node 22), and 32 of
  // results before a collection.
  const most = 3 * 12 + 32 + 4
  // While V8 marks its old objects a step at a time, which it begins when it likes, what is young outlives a collection or two.
  t.true(Math.min(...peaks) <= most, `${peaks} MiB`)
  t.true(Math.max(...peaks) <= 2 * most, `${peaks} MiB`)
})

test('what a layer or a filter that runs at once was given is computed once', (t) => {
  const layer = new ft.nn.GRU(8, 8)
  const params = layer.init(ft.random.key(1))
  ft.evaluateSync(...ft.tree.leaves(params))
  for (const time of [7, 20, 70]) {
    const { recomputes } = counted(() => {
      const x = ft.ones([4, time, 8]).sin().exp()
      const [y] = [layer.apply(params, x)].flat() as ft.Tensor[]
      ft.evaluateSync(y!, x.sum())
    })
    t.is(recomputes, 0, `${time} steps`)
  }
  const { recomputes } = counted(() => {
    const x = ft.ones([300]).sin().exp()
    const y = ft.signal.lfilter([1], [1, -0.9], x)
    ft.evaluateSync(y, x.sum())
  })
  t.is(recomputes, 0)
})
