// Optimisers, schedules and clipping beside PyTorch's, and what they refuse.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { tested } from '../device.js'
import { close, throws } from '../expect.js'
import { goldenOf, loss, near, numbers, start } from './problem.js'

interface Golden {
  readonly runs: readonly { name: string; options: object; after: readonly { step: number; w: number[][]; b: number[] }[] }[]
  readonly clipped: readonly { most: number; ord: number | null; norm: number; w: number[][]; b: number[] }[]
  readonly schedules: Readonly<Record<string, readonly number[]>>
  readonly plateaus: readonly { options: object; metrics: number[]; rates: number[] }[]
}

const golden = goldenOf<Golden>()

/** Optimisers that other devices run as well: the rest are compositions of the same operations, and a hundred steps take seconds there. */
const EVERYWHERE = ['sgd', 'adam', 'adafactor']

for (const { name, options, after } of golden.runs) {
  if (tested !== 'cpu' && !EVERYWHERE.includes(name.split(' ')[0] as string)) continue
  test(`${name} goes PyTorch's way for 100 steps`, (t) => {
    const [kind] = name.split(' ') as ['sgd' | 'rmsprop' | 'adam' | 'adamw' | 'adagrad' | 'adadelta' | 'adamax' | 'nadam' | 'radam' | 'adafactor']
    const optimizer = ft.optim[kind](options)
    let params = start()
    let state = optimizer.init(params)
    const gradient = ft.grad(loss)
    for (let step = 1; step <= 100; step++) {
      ;[params, state] = optimizer.step(params, gradient(params), state)
      const wanted = after.find((a) => a.step === step)
      if (wanted === undefined) continue
      t.true(near(params.w.toArray(), wanted.w) && near(params.b.toArray(), wanted.b), `after ${step} steps`)
    }
    t.is(state.count, 100)
  })
}

test('a rate is reduced where a metric does not improve, as PyTorch reduces it', (t) => {
  for (const { options, metrics, rates } of golden.plateaus) {
    const plateau = ft.optim.reduceOnPlateau(0.5, options)
    let state = plateau.init()
    const found = metrics.map((metric) => (state = plateau.step(state, metric)).rate)
    t.true(near(found, rates), `${found} beside ${rates}`)
    t.deepEqual(JSON.parse(JSON.stringify(state)), state)
  }
  // An optimiser reads the rate of the state that there is.
  const plateau = ft.optim.reduceOnPlateau(1, { patience: 0, factor: 0.5 })
  let state = plateau.init()
  const optimizer = ft.optim.sgd({ learningRate: () => state.rate })
  const p = ft.tensor([0])
  let [params, averages] = optimizer.step(p, ft.ones([1]), optimizer.init(p))
  state = plateau.step(plateau.step(state, 1), 1)
  ;[params, averages] = optimizer.step(params, ft.ones([1]), averages)
  t.deepEqual(params.toArray(), [-1.5])
  t.is(ft.optim.reduceOnPlateau(1).step(plateau.init(), NaN).bad, 1)
  throws(t, 'ERR_ARGUMENT', /^optim\.reduceOnPlateau: 'factor' must be above 0 and below 1/, () => ft.optim.reduceOnPlateau(1, { factor: 1 }))
  throws(t, 'ERR_ARGUMENT', /^optim\.reduceOnPlateau: the metric must be a number/, () => plateau.step(state, ft.ones([]) as never))
  throws(t, 'ERR_ARGUMENT', /^optim\.reduceOnPlateau: the state must come from init/, () => plateau.step(null as never, 1))
})

test('adaptive optimisers are traced: their rates are those of each call', (t) => {
  for (const make of [ft.optim.adagrad, ft.optim.adadelta, ft.optim.adamax, ft.optim.nadam, ft.optim.radam]) {
    const optimizer = make()
    const step = ft.jit((p: ft.Tensor<'float64'>, s: ft.optim.OptimizerState<ft.Tensor<'float64'>>) => optimizer.step(p, p.mul(2), s))
    let [a, b] = [numbers([3], 1), numbers([3], 1)]
    let [sa, sb] = [optimizer.init(a), optimizer.init(b)]
    for (let i = 0; i < 8; i++) {
      ;[a, sa] = step(a, sa)
      ;[b, sb] = optimizer.step(b, b.mul(2), sb)
    }
    t.true(near(a.toArray(), b.toArray()), make.name)
    // A state of an earlier step, after later ones.
    const [again] = optimizer.step(numbers([3], 1), numbers([3], 1).mul(2), optimizer.init(numbers([3], 1)))
    const [first] = make().step(numbers([3], 1), numbers([3], 1).mul(2), optimizer.init(numbers([3], 1)))
    t.deepEqual(again.toArray(), first.toArray())
  }
})

test('lion steps along signs', (t) => {
  const optimizer = ft.optim.lion({ learningRate: 0.5, weightDecay: 0.1 })
  const p = ft.tensor([1, -2, 4])
  const [next, state] = optimizer.step(p, ft.tensor([3, -1, 0]), optimizer.init(p))
  t.true(close(next.toArray(), [0.45, -1.4, 3.8]))
  t.true(close((state.slots['mean'] as ft.Tensor).toArray(), [0.03, -0.01, 0]))
})

test('schedules are PyTorch\'s, and count from 0', (t) => {
  const all = (schedule: (step: number) => number, wanted: readonly number[]): boolean => near(wanted.map((_, i) => schedule(i)), wanted)
  t.true(all(ft.optim.cosine(0.5, 20, 0.01), golden.schedules['cosine'] as number[]))
  // What is left of a run that ends with its start.
  t.is(ft.optim.warmup(3, ft.optim.cosine(0.5, 0, 0.01))(3), 0.01)
  t.is(ft.optim.warmup(0, 0.5)(0), 0.5)
  t.true(all(ft.optim.stepDecay(0.5, 4, 0.5), golden.schedules['stepDecay'] as number[]))
  t.true(all(ft.optim.oneCycle(0.5, 20), golden.schedules['oneCycle'] as number[]))
  t.true(all(ft.optim.multiStepDecay(0.5, [3, 5, 5, 9], 0.5), golden.schedules['multiStepDecay'] as number[]))
  t.true(all(ft.optim.exponentialDecay(0.5, 0.9), golden.schedules['exponentialDecay'] as number[]))
  t.true(all(ft.optim.linear(0.125, 0.375, 6), golden.schedules['linear'] as number[]))
  t.true(all(ft.optim.polynomial(0.5, 8, 2), golden.schedules['polynomial'] as number[]))
  t.true(all(ft.optim.cosineRestarts(0.5, 4, { least: 0.01 }), golden.schedules['cosineRestarts'] as number[]))
  t.true(all(ft.optim.cosineRestarts(0.5, 3, { factor: 2 }), golden.schedules['cosineRestarts longer'] as number[]))
  // At the first step of every period the rate is whole.
  t.true([0, 1, 4, 13, 40, 121, 364, 1093, 88573].every((step) => ft.optim.cosineRestarts(1, 1, { factor: 3 })(step) === 1))
  t.is(ft.optim.linear(1, 2, 0)(0), 2)
  throws(t, 'ERR_ARGUMENT', /^optim\.linear: 'from' must be a number from 0/, () => ft.optim.linear(-1, 1, 2))
  throws(t, 'ERR_ARGUMENT', /^optim\.multiStepDecay: 'milestones' must be an array/, () => ft.optim.multiStepDecay(1, 3 as never))
  throws(t, 'ERR_ARGUMENT', /^optim\.cosineRestarts: 'factor' must be a number from 1/, () => ft.optim.cosineRestarts(1, 2, { factor: 0.5 }))
  t.true(near([0, 1, 2, 3, 4, 5].map(ft.optim.warmup(4, ft.optim.stepDecay(1, 1, 0.5))), [0.25, 0.5, 0.75, 1, 1, 0.5]))
  const p = ft.tensor([0])
  const optimizer = ft.optim.sgd({ learningRate: (step) => step + 1 })
  let [params, state] = optimizer.step(p, ft.ones([1]), optimizer.init(p))
  ;[params, state] = optimizer.step(params, ft.ones([1]), state)
  t.deepEqual(params.toArray(), [-3])
})

test('half floats: no step is NaN, and states are float32', (t) => {
  for (const dtype of ['float16', 'bfloat16'] as const) {
    for (const make of [ft.optim.adam, ft.optim.adamw, ft.optim.rmsprop, ft.optim.sgd, ft.optim.lion, ft.optim.adafactor, ft.optim.adagrad, ft.optim.adadelta, ft.optim.adamax, ft.optim.nadam, ft.optim.radam]) {
      const optimizer = make({ learningRate: 0.25 })
      const p = ft.tensor([1, 1, 1], { dtype })
      // Squares of the second are 0 in float16.
      const g = ft.tensor([0, 1e-4, -2], { dtype })
      let [next, state] = optimizer.step(p, g, optimizer.init(p))
      ;[next, state] = optimizer.step(next, g, state)
      t.is(next.dtype, dtype)
      t.true(next.isfinite().all().itemSync(), `${make.name}, ${dtype}`)
      for (const slot of Object.values(state.slots)) t.is((slot as ft.Tensor).dtype, 'float32')
    }
    const optimizer = ft.optim.adam({ learningRate: 0.25 })
    const p = ft.tensor([1, 1, 1], { dtype })
    // A step of Adam's goes by the learning rate in the direction of the gradient, whatever its size.
    t.true(close(optimizer.step(p, ft.tensor([0, 1e-4, -2], { dtype }), optimizer.init(p))[0].toArray(), [1, 0.75, 1.25]))
  }
})

test('norms of gradients whose squares overflow', (t) => {
  const g = ft.tensor([300, -400], { dtype: 'float16' })
  t.is(ft.optim.globalNorm({ a: g, b: g.mul(0) }).itemSync(), 500)
  const [clipped, norm] = ft.optim.clipByGlobalNorm(g, 5)
  t.is(norm.dtype, 'float16')
  t.true(close(clipped.toArray(), [3, -4]))
  // Beyond float16 the norm itself is infinite, and the clipped gradient what it should be.
  const large = ft.optim.clipByGlobalNorm({ a: ft.full([4], 60000, { dtype: 'float16' }) }, 2)
  t.is(large[1].itemSync(), Infinity)
  t.true(close(large[0].a.toArray(), [1, 1, 1, 1]))
})

test('norms have the dtype that they need', (t) => {
  const half = ft.tensor([30000, 30000], { dtype: 'float16' })
  const cases: [tree: unknown, dtype: ft.DType, norm: number][] = [
    [ft.tensor([1, 2], { dtype: 'int32' }), 'float32', Math.sqrt(5)],
    [[half, ft.tensor([60000])], 'float32', Math.sqrt(54e8)],
    [[ft.tensor([60000]), half], 'float32', Math.sqrt(54e8)],
    [[half, ft.tensor([1], { dtype: 'bfloat16' })], 'float32', Math.sqrt(18e8)],
    [[ft.tensor([3]), ft.tensor([4], { dtype: 'float64' })], 'float64', 5],
    [ft.tensor([3, 4], { dtype: 'bfloat16' }), 'bfloat16', 5]
  ]
  for (const [tree, dtype, norm] of cases) {
    for (const found of [ft.optim.globalNorm(tree), ft.optim.clipByGlobalNorm(tree, 1)[1]]) {
      t.is(found.dtype, dtype)
      t.true(close(found.itemSync(), norm), `${found.itemSync()} is not ${norm}`)
    }
  }
})

test('clipping scales a tree as one vector', (t) => {
  for (const { most, ord, norm, w, b } of golden.clipped) {
    const tree = { w: numbers([4, 3], 5), b: numbers([3], 6) }
    const [g, found] = ft.optim.clipByGlobalNorm(tree, most, { ord: ord ?? Infinity })
    t.is(ft.optim.globalNorm(tree, { ord: ord ?? Infinity }).itemSync(), found.itemSync())
    t.true(near(found.itemSync(), norm) && near(g.w.toArray(), w) && near(g.b.toArray(), b), `to ${most}`)
  }
  throws(t, 'ERR_ARGUMENT', /^optim\.clipByGlobalNorm: the bound must be a positive number, got 0/, () => ft.optim.clipByGlobalNorm(start(), 0))
  throws(t, 'ERR_ARGUMENT', /^optim\.clipByGlobalNorm: 'ord' must be a number above 0, got 0/, () => ft.optim.clipByGlobalNorm(start(), 1, { ord: 0 }))
  // Beside an infinite or NaN norm nothing is left, unless it is to be an error.
  for (const [value, rest] of [[Infinity, 0], [NaN, NaN]] as const) {
    const g = ft.tensor([value, 1], { dtype: 'float64' })
    t.deepEqual(ft.optim.clipByGlobalNorm(g, 1)[0].toArray(), [NaN, rest])
    throws(t, 'ERR_ARGUMENT', new RegExp(`^optim\\.clipByGlobalNorm: the norm of the gradients is ${value}`), () => ft.optim.clipByGlobalNorm(g, 1, { errorIfNonfinite: true }))
  }
  t.is(ft.optim.clipByGlobalNorm(start(), 1, { errorIfNonfinite: true }).length, 2)
  t.deepEqual(ft.optim.clipByValue({ w: ft.tensor([-3, 0.5, Infinity, NaN]) }, 2).w.toArray(), [-2, 0.5, 2, NaN])
  throws(t, 'ERR_ARGUMENT', /^optim\.clipByValue: the bound must be a positive number, got -1/, () => ft.optim.clipByValue(start(), -1))
  throws(t, 'ERR_ARGUMENT', /^optim\.clipByValue: there is no tensor in the tree/, () => ft.optim.clipByValue({}, 1))
  throws(t, 'ERR_ARGUMENT', /^optim\.globalNorm: there is no tensor in the tree/, () => ft.optim.globalNorm({}))
})

test('a step and its gradients are one program, and nothing is computed twice', (t) => {
  if (ft.config().limit === 1) {
    t.pass()
    return
  }
  const optimizer = ft.optim.adam()
  let params = start()
  let state = optimizer.init(params)
  const step = ft.valueAndGrad(loss)
  const once = (): number => {
    const [value, g] = step(params)
    ;[params, state] = optimizer.step(params, g, state)
    return value.itemSync()
  }
  for (let i = 0; i < 5; i++) once()
  ft.resetStats()
  const losses = Array.from({ length: 50 }, once)
  const { programs, recomputes, schedules } = ft.stats()
  // A program reads the loss of one step and stores what the step before made.
  t.true(programs <= 51 && recomputes === 0 && schedules <= 1, `${programs} programs, ${recomputes} computed again, ${schedules} planned`)
  t.true((losses.at(-1) as number) < (losses[0] as number))
})

test('a step of a thousand tensors is one program', (t) => {
  const optimizer = ft.optim.adam()
  let params = Array.from({ length: 1000 }, (_, i) => ft.tensor([i, 1]))
  let state = optimizer.init(params)
  ;[params, state] = optimizer.step(params, params, state)
  ft.resetStats()
  params[0]!.dataSync()
  t.true(ft.stats().programs <= 2, `${ft.stats().programs} programs`)
  t.true(close((params[999] as ft.Tensor).toArray(), [998.999, 0.999]))
})

test('what does not belong together is refused', (t) => {
  const optimizer = ft.optim.adam({ learningRate: 0.1 })
  const p = start()
  const state = optimizer.init(p)
  throws(t, 'ERR_ARGUMENT', /^optim\.adam: 'beta1' must be a number from 0 to below 1, got 1/, () => ft.optim.adam({ beta1: 1 }))
  throws(t, 'ERR_ARGUMENT', /^optim\.sgd: 'learningRate' must be a number from 0 or a function of the step, got -1/, () => ft.optim.sgd({ learningRate: -1 }))
  throws(t, 'ERR_ARGUMENT', /^optim\.sgd: .*lr/, () => ft.optim.sgd({ lr: 1 } as never))
  throws(t, 'ERR_ARGUMENT', /^optim\.adam: the gradients\.b must be a tensor, got undefined/, () => optimizer.step(p, { w: p.w } as never, state))
  throws(t, 'ERR_SHAPE', /^optim\.adam: the gradients\.w must have shape \[4, 3\], got \[3\]/, () => optimizer.step(p, { w: p.b, b: p.b }, state))
  throws(t, 'ERR_DTYPE', /^optim\.adam: the gradients\.w must be float64, got float32/, () => optimizer.step(p, { w: p.w.astype('float32') as never, b: p.b }, state))
  throws(t, 'ERR_DTYPE', /^optim\.adam: parameters are floating tensors, got int32/, () => optimizer.init({ n: ft.zeros([2], { dtype: 'int32' }) }))
  throws(t, 'ERR_ARGUMENT', /^optim\.adam: the state must come from init or from the last step, got null/, () => optimizer.step(p, p, null as never))
  throws(t, 'ERR_ARGUMENT', /^optim\.adam: the state's mean must be an object, got undefined/, () => optimizer.step(p, p, { count: 0, slots: {} }))
  const bad = ft.optim.sgd({ learningRate: () => NaN })
  throws(t, 'ERR_ARGUMENT', /^optim\.sgd: the schedule gave NaN at step 0/, () => bad.step(p, p, bad.init(p)))
})
