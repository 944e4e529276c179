// Trees of tensors as values, and classes whose instances stand in them: what is registered is gone into by everything that takes a tree.
// runs on: host; trees are walked before anything is computed

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

type F = ft.Tensor<'float32'>

/** A layer with settings beside its tensors, which no tree knows of. */
class Linear {
  made = 1
  constructor(readonly w: F, readonly b: F, readonly activation: 'none' | 'tanh' = 'none') {}

  call(x: F): F {
    const y = x.matmul(this.w).add(this.b)
    return this.activation === 'tanh' ? y.tanh() : y
  }
}
ft.tree.register(Linear, { flatten: ({ w, b }) => ({ w, b }), unflatten: ({ w, b }, { activation }) => new Linear(w, b, activation) })

/** A network of layers: an array of instances, and a scale that nobody sees from outside. */
class Net {
  readonly #scale: F
  constructor(readonly layers: readonly Linear[], scale: F) {
    this.#scale = scale
  }

  static parts(net: Net): [readonly Linear[], F] {
    return [net.layers, net.#scale]
  }

  call(x: F): F {
    return this.layers.reduce((y, layer) => layer.call(y), x).mul(this.#scale)
  }
}
ft.tree.register(Net, { flatten: Net.parts, unflatten: (parts) => new Net(...parts) })

const linear = (activation: 'none' | 'tanh' = 'none'): Linear => new Linear(ft.tensor([[1, 2], [3, 4]]), ft.tensor([5, 6]), activation)
const net = (): Net => new Net([linear('tanh'), linear()], ft.tensor(2))
const x = ft.tensor([[1, -1], [0.5, 2]])
const loss = (model: { call(x: F): F }, x: F): F => model.call(x).square().mean()

const arrays = (tree: unknown): unknown[] => ft.tree.leaves(tree).map((t) => t.toArray())

test('a gradient is an instance of the class of the argument, settings and all', (t) => {
  const g = ft.grad(loss as (model: Net, x: F) => F)(net(), x)
  t.true(g instanceof Net)
  t.deepEqual(g.layers.map((layer) => [layer.constructor, layer.activation]), [[Linear, 'tanh'], [Linear, 'none']])
  // The same network without classes.
  type Plain = { layers: { w: F; b: F }[]; scale: F }
  const plain: Plain = { layers: net().layers.map(({ w, b }) => ({ w, b })), scale: ft.tensor(2) }
  const same = ft.grad((p: Plain, x: F) => loss(new Net(p.layers.map(({ w, b }, i) => new Linear(w, b, i === 0 ? 'tanh' : 'none')), p.scale), x))(plain, x)
  t.deepEqual(arrays(g), arrays(same))
})

test('vjp and jvp take instances, and give them', (t) => {
  const f = (layer: Linear): Linear => new Linear(layer.w.mul(2), layer.b.mul(3))
  const [result, back] = ft.vjp(f, linear())
  t.true(result instanceof Linear)
  const [g] = back(new Linear(ft.ones([2, 2]), ft.ones([2])))
  t.true(g instanceof Linear)
  t.deepEqual(arrays(g), [[[2, 2], [2, 2]], [3, 3]])
  const [, tangent] = ft.jvp(f, [linear()], [new Linear(ft.zeros([2, 2]), ft.ones([2]))])
  t.true(tangent instanceof Linear)
  t.deepEqual(arrays(tangent), [[[0, 0], [0, 0]], [3, 3]])
})

test('an optimiser trains a model that is an instance, with slots like it', (t) => {
  const optimizer = ft.optim.adam({ learningRate: 0.1 })
  let model = net()
  let state = optimizer.init(model)
  t.deepEqual(Object.values(state.slots).map((slot) => slot instanceof Net), [true, true])
  const losses: number[] = []
  for (let i = 0; i < 20; i++) {
    const [value, g] = ft.valueAndGrad(loss as (model: Net, x: F) => F)(model, x)
    const [clipped] = ft.optim.clipByGlobalNorm(g, 1)
    t.true(clipped instanceof Net)
    ;[model, state] = optimizer.step(model, clipped, state)
    losses.push(value.itemSync())
  }
  t.true(model instanceof Net && losses.at(-1)! < losses[0]! / 2, losses.join(' '))
})

test('gradients of one\'s own, checkpoints, data and scopes go into instances', async (t) => {
  const rounded = ft.customGradient((layer: Linear): [F, (g: F) => [Linear | null]] => [layer.w.round(), (g) => [new Linear(g.mul(7), ft.zeros([2]))]])
  t.deepEqual(arrays(ft.grad((layer: Linear) => rounded(layer).sum())(linear())), [[[7, 7], [7, 7]], [0, 0]])
  const again = ft.checkpoint((layer: Linear, x: F) => layer.call(x).exp())
  const direct = ft.grad((layer: Linear) => layer.call(x).exp().sum())(linear())
  t.deepEqual(arrays(ft.grad((layer: Linear) => again(layer, x).sum())(linear())), arrays(direct))

  const pair = new Linear(ft.arange(8).reshape([4, 2]) as F, ft.arange(4) as F)
  const batches = [...ft.data.batches(pair, { size: 3 })]
  t.deepEqual(batches.map((batch) => [batch instanceof Linear, batch.b.toArray()]), [[true, [0, 1, 2]], [true, [3]]])

  const { kept } = ft.scope(() => ({ kept: new Net([linear()], ft.tensor(2).mul(3)) }))
  t.deepEqual(arrays(kept)[2], 6)
  const tracked = await ft.scopeAsync(async (s) => new Linear(s.track(ft.ones([1, 1])), s.track(ft.ones([1]))))
  t.deepEqual(arrays(tracked), [[[1]], [1]])
})

test('a registered class goes before what it is derived from; a subclass is a class of its own', (t) => {
  class Stack extends Array<F> {}
  ft.tree.register(Stack, { flatten: (stack) => [...stack], unflatten: (items) => Stack.from(items) as Stack })
  const stack = Stack.of(ft.ones([2]), ft.ones([1])) as Stack
  const g = ft.grad((s: Stack) => s[0]!.mul(2).sum())(stack)
  t.true(g instanceof Stack)
  t.deepEqual(arrays(g), [[2, 2], [0]])
  class Wide extends Linear {}
  const wide = new Wide(ft.ones([1, 1]), ft.ones([1]))
  throws(t, 'ERR_ARGUMENT', /^grad: argument 0\.wide is a Wide with tensors in it; .*ft\.tree\.register/, () => ft.grad((p: { wide: Wide }) => p.wide.w.sum())({ wide }))
  ft.tree.register(Wide, { flatten: ({ w, b }) => [w, b], unflatten: ([w, b]) => new Wide(w as F, b as F) })
  t.true(ft.grad((p: { wide: Wide }) => p.wide.w.sum())({ wide }).wide instanceof Wide)
})

test('errors say where in an instance something is wrong', (t) => {
  const gone = linear()
  gone.b.dispose()
  throws(t, 'ERR_DISPOSED', /^grad: the tensor was disposed/, () => ft.grad((p: Linear) => p.w.sum())(gone))
  const whole = new Net([linear(), new Linear(ft.tensor([[1]], { dtype: 'int32' }) as never, ft.ones([1]))], ft.tensor(1))
  throws(t, 'ERR_DTYPE', /^grad: argument 0\.net\[0\]\[1\]\.w is int32/, () => ft.grad((p: { net: Net }) => p.net.call(x).sum())({ net: whole }))
  const [, back] = ft.vjp((layer: Linear) => ({ layer }), linear())
  throws(t, 'ERR_ARGUMENT', /^vjp: the cotangents\.layer must be an instance of Linear, got an Object/, () => back({ layer: { w: x, b: x } } as never))
  throws(t, 'ERR_SHAPE', /^vjp: the cotangents\.layer\.b must have shape \[2\], got \[3\]/, () => back({ layer: new Linear(x, ft.ones([3])) }))
  class Opaque {
    constructor(readonly inner: unknown) {}
  }
  throws(t, 'ERR_ARGUMENT', /^tree\.leaves: the tree\.o is an Opaque with tensors in it; trees are made of plain objects, arrays, and classes that ft\.tree\.register knows/, () => ft.tree.leaves({ o: new Opaque(x) }))
  throws(t, 'ERR_ARGUMENT', /^tree\.leaves: the tree is an Opaque with a Linear in it/, () => ft.tree.leaves(new Opaque(linear())))
  t.deepEqual(ft.tree.leaves({ o: new Opaque(3) }), [])
})

test('wrong registrations are refused: at the call, or where an instance is first met', (t) => {
  const how = { flatten: () => [], unflatten: (_: unknown[], x: object) => x }
  throws(t, 'ERR_ARGUMENT', /^tree\.register: expected a class, got 3/, () => ft.tree.register(3 as never, how))
  throws(t, 'ERR_ARGUMENT', /^tree\.register: expected a class, got a function/, () => ft.tree.register((() => {}) as never, how))
  throws(t, 'ERR_ARGUMENT', /^tree\.register: expected a class, got a function/, () => ft.tree.register(function* () {} as never, how))
  throws(t, 'ERR_ARGUMENT', /^tree\.register: expected a class, got a Linear/, () => ft.tree.register(linear() as never, how))
  for (const Class of [Object, Array, ft.Tensor]) throws(t, 'ERR_ARGUMENT', /^tree\.register: \w+ is what trees are made of already/, () => ft.tree.register(Class as never, how))
  throws(t, 'ERR_ARGUMENT', /^tree\.register: Linear is registered already/, () => ft.tree.register(Linear, how as never))
  throws(t, 'ERR_ARGUMENT', /^tree\.register: Half needs \{ flatten, unflatten \}, two functions, got an Object/, () => ft.tree.register(class Half {}, { flatten: how.flatten } as never))
  throws(t, 'ERR_ARGUMENT', /^tree\.register: the class needs .*, got undefined/, () => ft.tree.register(class {}, undefined as never))
  throws(t, 'ERR_ARGUMENT', /^tree\.register: Odd needs .*, got null/, () => ft.tree.register(class Odd {}, null as never))

  class Flat {
    x = x
  }
  ft.tree.register(Flat, { flatten: ({ x }) => x, unflatten: () => new Flat() })
  throws(t, 'ERR_ARGUMENT', /^grad: argument 0\.flat: 'flatten' of Flat must return a plain object or an array of its parts, got a Tensor/, () => ft.grad((p: { flat: Flat }) => p.flat.x.sum())({ flat: new Flat() }))
  class Other {
    x = x
  }
  ft.tree.register(Other, { flatten: ({ x }) => [x], unflatten: (() => new Flat()) as never })
  throws(t, 'ERR_ARGUMENT', /^grad: argument 0: 'unflatten' of Other must return an instance of that class, got a Flat/, () => ft.grad((p: Other) => p.x.sum())(new Other()))
  class Endless {
    next = this
  }
  ft.tree.register(Endless, { flatten: ({ next }) => [next], unflatten: () => new Endless() })
  for (const walk of [ft.tree.leaves, ft.scope]) throws(t, 'ERR_ARGUMENT', /may contain itself/, () => (walk === ft.scope ? ft.scope(() => new Endless()) : walk(new Endless() as never)))
  const thrown = new Error('mine')
  class Thrower {}
  ft.tree.register(Thrower, { flatten: () => { throw thrown }, unflatten: () => new Thrower() })
  t.is(t.throws(() => ft.tree.leaves(new Thrower())), thrown)
})

test('map goes over trees of one structure, and keeps what is no tensor', (t) => {
  const params = { w: ft.tensor([1, 2]), layers: [linear()], name: 'net' }
  const next = ft.tree.map((p, g) => p.sub(g.mul(0.5)), params, ft.tree.map((p) => p, params))
  t.deepEqual(arrays(next), [[0.5, 1], [[0.5, 1], [1.5, 2]], [2.5, 3]])
  t.is(next.name, 'net')
  t.true(next.layers[0] instanceof Linear)
  t.deepEqual(ft.tree.map((x) => x.shape, { a: ft.ones([2, 3]), b: [ft.ones([])] }), { a: [2, 3], b: [[]] })
  t.is(ft.tree.map((x) => x.astype('float64'), params).w.dtype, 'float64')
  t.deepEqual(ft.tree.map((a, b, c) => a.add(b).add(c), ft.tensor(1), ft.tensor(2), ft.tensor(3)).itemSync(), 6)
  throws(t, 'ERR_ARGUMENT', /^tree\.map: expected a function, got undefined/, () => ft.tree.map(undefined as never, params))
  throws(t, 'ERR_ARGUMENT', /^tree\.map: tree 1\.layers must be an array of 1, got \[\]/, () => ft.tree.map((x) => x, params, { ...params, layers: [] }))
  throws(t, 'ERR_ARGUMENT', /^tree\.map: tree 2\.w must be a tensor, got undefined/, () => ft.tree.map((x) => x, params, params, { layers: params.layers } as never))
  const gone = ft.ones([1])
  gone.dispose()
  throws(t, 'ERR_DISPOSED', /^tree\.map: tree 1\.x: the tensor was disposed/, () => ft.tree.map((x) => x, { x }, { x: gone }))
  throws(t, 'ERR_DISPOSED', /^tree\.map: the tensor was disposed/, () => ft.tree.map((x) => x, { x: gone }))
})

test('flatten gives the tensors and a way back', (t) => {
  const tree = { b: [linear('tanh')], a: ft.ones([1]), n: 3 }
  const [found, rebuild] = ft.tree.flatten(tree)
  t.deepEqual(found.map((x) => x.shape), [[2, 2], [2], [1]])
  const made = rebuild(found.map((x) => x.mul(0)))
  t.deepEqual([arrays(made), made.n, made.b[0]!.activation], [[[[0, 0], [0, 0]], [0, 0], [0]], 3, 'tanh'])
  throws(t, 'ERR_ARGUMENT', /^tree\.flatten: the tree is made of an array of 3 tensors, got an array of 0|got \[\]/, () => rebuild([]))
  throws(t, 'ERR_ARGUMENT', /^tree\.flatten: the tree is made of tensors, got 1/, () => rebuild([x, x, 1 as never]))
  // A tree that has changed would be filled with nothing, or not with all.
  const changed: Record<string, ft.Tensor> = { a: x, b: x }
  const [, back] = ft.tree.flatten(changed)
  delete changed['b']
  throws(t, 'ERR_ARGUMENT', /^tree\.flatten: the tree had 2 tensors, and has 1 now/, () => back([x, x]))
})
