// Layers: fresh parameters, what they refuse, what is random, how they are composed, saved and trained.
// runs on: vulkan, blas

import test from 'ava'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { throws } from '../expect.js'

const key = (seed: number) => ft.random.key(seed)
const number = (x: Tensor): number => x.itemSync() as number

/** Mean and standard deviation. */
const moments = (x: Tensor): [number, number] => [number(x.mean()), number(x.std())]

test('initialisers have the variances they are named for', (t) => {
  const shape = [120, 40, 3, 2]
  const [fanIn, fanOut] = [240, 720]
  const { init } = ft.nn
  const expected: [Tensor, number][] = [
    [init.glorotUniform(key(1), shape), Math.sqrt(2 / (fanIn + fanOut))],
    [init.glorotNormal(key(2), shape, { gain: 2 }), 2 * Math.sqrt(2 / (fanIn + fanOut))],
    [init.heUniform(key(3), shape), Math.sqrt(2 / fanIn)],
    [init.heNormal(key(4), shape, { mode: 'fanOut' }), Math.sqrt(2 / fanOut)],
    [init.lecunNormal(key(5), shape), Math.sqrt(1 / fanIn)],
    [init.fanInUniform(key(6), shape), Math.sqrt(1 / fanIn / 3)],
    [init.standardNormal(key(7), shape), 1],
    // Cut at two standard deviations, a normal distribution keeps 0.8796 of its own.
    [init.truncatedNormal(key(8), shape, { std: 0.5 }), 0.5 * 0.87962566]
  ]
  for (const [x, std] of expected) {
    const [mean, found] = moments(x)
    // 28,800 numbers: five standard errors.
    t.true(Math.abs(mean) < (5 * std) / Math.sqrt(28800), `mean ${mean} of ${std}`)
    t.true(Math.abs(found / std - 1) < 0.03, `${found} for ${std}`)
  }
  const bound = Math.sqrt(6 / (fanIn + fanOut))
  t.true(number(init.glorotUniform(key(1), shape).abs().max()) <= bound)
  t.deepEqual(init.ones(key(1), [2], { dtype: 'float64' }).toArray(), [1, 1])
  t.deepEqual(init.zeros(key(1), [2]).toArray(), [0, 0])
  t.is(init.heNormal(key(1), [2, 2], { dtype: 'float64' }).dtype, 'float64')
  t.deepEqual(init.heNormal(key(1), [2, 2]).toArray(), init.heNormal(key(1), [2, 2]).toArray())
})

test('orthogonal rows, or columns', (t) => {
  for (const shape of [[3, 5], [5, 3], [4, 4], [2, 3, 2]]) {
    const w = ft.nn.init.orthogonal(key(3), shape, { dtype: 'float64', gain: 2 })
    t.deepEqual(w.shape, shape)
    const matrix = w.reshape([shape[0] as number, -1])
    const wide = matrix.shape[0]! <= matrix.shape[1]!
    const product = wide ? matrix.matmul(matrix.matrixTranspose()) : matrix.matrixTranspose().matmul(matrix)
    t.true(number(product.sub(ft.eye(product.shape[0] as number, { dtype: 'float64' }).mul(4)).abs().max()) < 1e-12)
  }
})

test('initialisers refuse', (t) => {
  throws(t, 'ERR_SHAPE', /\[outputs, inputs, window\.\.\.\]/, () => ft.nn.init.heNormal(key(1), [3]))
  throws(t, 'ERR_ARGUMENT', /first argument must be a key/, () => ft.nn.init.glorotNormal([3, 4] as never, [3, 4]))
  throws(t, 'ERR_ARGUMENT', /'mode' must be/, () => ft.nn.init.heNormal(key(1), [3, 4], { mode: 'fan_in' as never }))
  throws(t, 'ERR_ARGUMENT', /'gain' must be a finite number/, () => ft.nn.init.orthogonal(key(1), [3, 4], { gain: NaN }))
  throws(t, 'ERR_SHAPE', /negative/, () => ft.nn.init.zeros(key(1), [-1]))
})

test('fresh parameters: shapes, dtypes, keys', (t) => {
  const layer = new ft.nn.Linear(3, 2, { weightInit: ft.nn.init.orthogonal, biasInit: ft.nn.init.zeros })
  const params = layer.init(key(1), { dtype: 'float64' })
  t.deepEqual([params.weight.dtype, params.weight.shape, params.bias!.toArray()], ['float64', [2, 3], [0, 0]])
  t.deepEqual(Object.keys(new ft.nn.Linear(3, 2, { bias: false }).init(key(1))), ['weight'])
  const model = new ft.nn.Sequential(new ft.nn.Linear(3, 3), new ft.nn.Linear(3, 3))
  const [a, b] = model.init(key(1))
  t.notDeepEqual(a.weight.toArray(), b.weight.toArray())
  t.deepEqual(model.init(key(1))[1].weight.toArray(), b.weight.toArray())
  t.true(number(new ft.nn.Linear(4, 1000).init(key(2)).bias!.abs().max()) <= 0.5)
})

test('layers refuse what does not fit, and say which', (t) => {
  const linear = new ft.nn.Linear(3, 2)
  const params = linear.init(key(1))
  throws(t, 'ERR_SHAPE', /^nn\.Linear: x has shape \[2, 4\]/, () => linear.apply(params, ft.zeros([2, 4])))
  throws(t, 'ERR_ARGUMENT', /^nn\.Linear: the parameters must be \{ weight, bias \}/, () => linear.apply(undefined as never, ft.zeros([2, 3])))
  throws(t, 'ERR_ARGUMENT', /^nn\.Linear: 'x' must be a tensor/, () => linear.apply(params, [1, 2, 3] as never))
  throws(t, 'ERR_ARGUMENT', /^nn\.Linear: 'inputs' must be positive/, () => new ft.nn.Linear(0, 2))
  throws(t, 'ERR_ARGUMENT', /unknown option 'biases'/, () => new ft.nn.Linear(1, 2, { biases: false } as never))
  throws(t, 'ERR_ARGUMENT', /'weightInit' must be a function/, () => new ft.nn.Linear(1, 2, { weightInit: 'he' as never }))
  throws(t, 'ERR_ARGUMENT', /must be a key/, () => linear.init(3 as never))
  throws(t, 'ERR_ARGUMENT', /3 channels cannot be divided into 2 groups/, () => new ft.nn.Conv2d(3, 4, 3, { groups: 2 }))
  throws(t, 'ERR_ARGUMENT', /'kernel' must be a positive size or 2/, () => new ft.nn.Conv2d(3, 4, [3]))
  throws(t, 'ERR_SHAPE', /^nn\.Conv1d: x must have shape \[batch, 3, width\]/, () => new ft.nn.Conv1d(3, 4, 3).apply(new ft.nn.Conv1d(3, 4, 3).init(key(1)), ft.zeros([1, 2, 5])))
  throws(t, 'ERR_ARGUMENT', /5 features cannot be divided among 2 heads/, () => new ft.nn.MultiHeadAttention(5, 2))
  throws(t, 'ERR_SHAPE', /^nn\.LayerNorm: x must have shape \[\.\.\., 3, 4\]/, () => new ft.nn.LayerNorm([3, 4]).apply(new ft.nn.LayerNorm([3, 4]).init(key(1)), ft.zeros([4, 3])))
  throws(t, 'ERR_ARGUMENT', /'p' must be a number from 0 to 1, got 1\.5/, () => new ft.nn.Dropout({ p: 1.5 }))
  throws(t, 'ERR_ARGUMENT', /'paddingIndex' must be an index of 3 entries/, () => new ft.nn.Embedding(3, 2, { paddingIndex: 3 }))
  throws(t, 'ERR_SHAPE', /at least one step/, () => new ft.nn.GRU(2, 2).apply(new ft.nn.GRU(2, 2).init(key(1)), ft.zeros([1, 0, 2])))
  throws(t, 'ERR_SHAPE', /initial state must have shape \[1, 1, 2\]/, () => new ft.nn.GRU(2, 2).forward(new ft.nn.GRU(2, 2).init(key(1)), ft.zeros([1, 1, 2]), ft.zeros([1, 2])))
})

test('parameters and states that are not the layer\'s', (t) => {
  const { nn } = ft
  const apply = (layer: ft.nn.Module, params: unknown, shape: number[]): unknown => layer.apply(params, ft.zeros(shape))
  const linear = new nn.Linear(3, 2)
  const weight = ft.ones([2, 3])
  throws(t, 'ERR_SHAPE', /^nn\.Linear: 'weight' must have shape \[2, 3\], got \[5, 3\]/, () => apply(linear, { weight: ft.ones([5, 3]), bias: ft.ones([5]) }, [1, 3]))
  throws(t, 'ERR_ARGUMENT', /^nn\.Linear: the parameters must be \{ weight, bias \}/, () => apply(linear, { weight }, [1, 3]))
  throws(t, 'ERR_ARGUMENT', /^nn\.Linear: there is a 'bias' in the parameters, and the layer was made without/, () => apply(new nn.Linear(3, 2, { bias: false }), { weight, bias: ft.ones([2]) }, [1, 3]))
  const conv = new nn.Conv2d(2, 4, 3, { groups: 2 })
  throws(t, 'ERR_SHAPE', /^nn\.Conv2d: 'weight' must have shape \[4, 1, 3, 3\], got \[4, 1, 1, 1\]/, () => apply(conv, { weight: ft.ones([4, 1, 1, 1]), bias: ft.ones([4]) }, [1, 2, 4, 4]))
  for (const bias of [null, 3]) throws(t, 'ERR_ARGUMENT', /^nn\.Conv2d: 'bias' must be a tensor/, () => apply(conv, { ...conv.init(key(1)), bias }, [1, 2, 4, 4]))
  throws(t, 'ERR_SHAPE', /^nn\.Embedding: 'weight' must have shape \[3, 2\]/, () => new nn.Embedding(3, 2).apply({ weight: ft.ones([4, 2]) }, ft.tensor([1], { dtype: 'int32' })))
  for (const Layer of [nn.LSTM, nn.GRU]) {
    const layer = new Layer(3, 2)
    const params = layer.init(key(1))
    throws(t, 'ERR_SHAPE', /'weightHhL0' must have shape/, () => apply(layer, { ...params, weightHhL0: ft.ones([1, 2]) }, [1, 2, 3]))
    throws(t, 'ERR_ARGUMENT', /'biasIhL0' in the parameters, and the layer was made without/, () => apply(new Layer(3, 2, { bias: false }), params, [1, 2, 3]))
    throws(t, 'ERR_ARGUMENT', /'initial' must be/, () => layer.forward(params, ft.zeros([1, 2, 3]), null as never))
  }
  const attention = new nn.MultiHeadAttention(4, 2)
  const own = attention.init(key(1))
  throws(t, 'ERR_SHAPE', /'inProjWeight' must have shape \[12, 4\]/, () => apply(attention, { ...own, inProjWeight: ft.ones([24, 4]) }, [1, 2, 4]))
  throws(t, 'ERR_SHAPE', /outProj: 'weight' must have shape \[4, 4\]/, () => apply(attention, { ...own, outProj: { weight: ft.ones([7, 4]), bias: ft.ones([4]) } }, [1, 2, 4]))
  throws(t, 'ERR_ARGUMENT', /'inProjWeight' must be a tensor/, () => attention.weights({ ...own, inProjWeight: 3 as never }, ft.zeros([1, 2, 4]), ft.zeros([1, 3, 4])))
  const norm = new nn.BatchNorm(3)
  const state = norm.initState() as ft.nn.BatchNormState
  const train = (changed: object): unknown => norm.train(norm.init(key(1)), ft.zeros([4, 3]), { state: { ...state, ...changed } })
  throws(t, 'ERR_SHAPE', /^nn\.BatchNorm: the state: 'runningMean' must have shape \[3\], got \[2, 3\]/, () => train({ runningMean: ft.zeros([2, 3]) }))
  throws(t, 'ERR_ARGUMENT', /the state: 'numBatchesTracked' must be a tensor, got 0/, () => train({ numBatchesTracked: 0 }))
})

test('options of windows are checked where a layer is made', (t) => {
  const make = (o: object) => () => new ft.nn.Conv2d(2, 4, 3, o)
  throws(t, 'ERR_ARGUMENT', /^nn\.Conv2d: 'stride' must be a positive size or 2 of them, got 0/, make({ stride: 0 }))
  throws(t, 'ERR_ARGUMENT', /^nn\.Conv2d: 'dilation' must be a positive size or 2 of them/, make({ dilation: [1, 2, 3] }))
  throws(t, 'ERR_ARGUMENT', /^nn\.Conv2d: 'padding' must be/, make({ padding: 'sam' }))
  throws(t, 'ERR_ARGUMENT', /^nn\.Conv2d: 'padding' must be one number or 2/, make({ padding: [1, 2, 3] }))
  throws(t, 'ERR_ARGUMENT', /^nn\.ConvTranspose1d: 'outputPadding' must be a size from 0/, () => new ft.nn.ConvTranspose1d(2, 4, 3, { outputPadding: -1 }))
  for (const padding of ['same', 'valid', 1, [1, 2], [[1, 2], [0, 1]]] as const) t.is(new ft.nn.Conv2d(2, 4, 3, { padding } as object).outputs, 4)
  throws(t, 'ERR_ARGUMENT', /'p' must be a number from 0 to 1, got null/, () => new ft.nn.Dropout({ p: null as never }))
  throws(t, 'ERR_DTYPE', /nn\.init\.orthogonal: takes a floating dtype, got int32/, () => ft.nn.init.orthogonal(key(1), [2, 2], { dtype: 'int32' as never }))
})

test('an entry that pads, by indices of every integer dtype', (t) => {
  for (const [paddingIndex, zeros] of [[-1, 299], [200, 200], [1, 1]] as const) {
    const layer = new ft.nn.Embedding(300, 2, { paddingIndex })
    const params = layer.init(key(1))
    for (const dtype of ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64'] as const) {
      const [most = 0] = [{ int8: 127, uint8: 255 }[dtype as 'int8'] ?? 299]
      const indices = ft.tensor([0, 1, most, Math.min(zeros, most)], { dtype })
      const [y, g] = [layer.apply(params, indices), ft.grad((p: typeof params) => layer.apply(p, indices).sum())(params).weight]
      t.deepEqual(y.toArray(), params.weight.take(indices.astype('int64'), { axis: 0 }).toArray())
      t.deepEqual(g.at(zeros).toArray(), [0, 0], dtype)
      t.is(g.at(0).at(0).itemSync(), 1)
    }
  }
})

test('masks of attention', (t) => {
  const layer = new ft.nn.MultiHeadAttention(4, 2, { dropout: 2 ** -53 })
  const params = layer.init(key(1))
  const [x, y] = [ft.random.normal(key(2), [2, 3, 4]), ft.random.normal(key(3), [2, 5, 4])]
  const wide = { mask: ft.ones([7, 2, 2, 3, 5], { dtype: 'bool' }) }
  throws(t, 'ERR_SHAPE', /does not broadcast/, () => layer.weights(params, x, y, wide))
  throws(t, 'ERR_SHAPE', /does not broadcast/, () => layer.attend(params, x, y, y, wide))
  throws(t, 'ERR_SHAPE', /does not broadcast/, () => layer.attend(params, x, y, y, { ...wide, key: key(1) }))
  const double = { mask: ft.random.normal(key(4), [3, 5], { dtype: 'float64' }) }
  t.is(layer.weights(params, x, y, double).dtype, 'float32')
  const apart = layer.attend(params, x, y, y, double).sub(layer.attend(params, x, y, y, { ...double, key: key(1) }))
  t.is(apart.dtype, 'float32')
  t.true(number(apart.abs().max()) < 1e-6)
})

test('a sequence says which layer failed, and takes functions', (t) => {
  const model = new ft.nn.Sequential(new ft.nn.Linear(3, 4), (x) => x.relu(), new ft.nn.Linear(5, 2))
  const params = model.init(key(1))
  t.is(params[1], null)
  throws(t, 'ERR_SHAPE', /^nn\.Sequential: layer 2: nn\.Linear: x has shape \[2, 4\]/, () => model.apply(params, ft.zeros([2, 3])))
  throws(t, 'ERR_ARGUMENT', /the parameters must be an array of 3/, () => model.apply([params[0]] as never, ft.zeros([2, 3])))
  throws(t, 'ERR_ARGUMENT', /layer 1 must be a layer or a function of a tensor, got 'relu'/, () => new ft.nn.Sequential(new ft.nn.Linear(3, 4), 'relu' as never))
  throws(t, 'ERR_ARGUMENT', /layer 0: .*the function must return a tensor, got undefined/, () => new ft.nn.Sequential((() => {}) as unknown as (x: Tensor) => Tensor).apply([null], ft.zeros([1])))
  const error = t.throws(() => new ft.nn.Sequential(() => { throw new RangeError('mine') }).apply([null], ft.zeros([1])))
  t.true(error instanceof RangeError)
  // In one another, and with nothing in them.
  const nested = new ft.nn.Sequential(new ft.nn.Sequential(), new ft.nn.Sequential(new ft.nn.Linear(3, 4)))
  t.deepEqual(nested.apply(nested.init(key(1)), ft.zeros([2, 3])).shape, [2, 4])
})

test('dropout is for training, and goes by its key', (t) => {
  const model = new ft.nn.Sequential(new ft.nn.Dropout({ p: 0.5 }), new ft.nn.Dropout({ p: 0.5 }))
  const params = model.init(key(1))
  const x = ft.ones([4000])
  t.deepEqual(model.apply(params, x).toArray(), x.toArray())
  const [y] = model.train(params, x, { key: key(2) })
  // Two that dropped the same elements would leave a half of 4.
  const left = number(y.greater(0).mean())
  t.true(Math.abs(left - 0.25) < 0.04, String(left))
  t.deepEqual(y.toArray(), model.train(params, x, { key: key(2) })[0].toArray())
  t.notDeepEqual(y.toArray(), model.train(params, x, { key: key(3) })[0].toArray())
  throws(t, 'ERR_ARGUMENT', /layer 0: nn\.Dropout: what is dropped goes by a key/, () => model.train(params, x))
  throws(t, 'ERR_ARGUMENT', /unknown option 'key'/, () => model.apply(params, x, { key: key(1) } as never))
  const attention = new ft.nn.MultiHeadAttention(4, 2, { dropout: 0.5, causal: true })
  const own = attention.init(key(1))
  const sequence = ft.random.normal(key(5), [2, 3, 4])
  throws(t, 'ERR_ARGUMENT', /goes by a key/, () => attention.train(own, sequence))
  t.notDeepEqual(attention.train(own, sequence, { key: key(1) })[0].toArray(), attention.apply(own, sequence).toArray())
  // What is not dropped is as the row has it: nothing with a probability of 2^-53.
  const rarely = new ft.nn.MultiHeadAttention(4, 2, { dropout: 2 ** -53, causal: true })
  t.true(number(rarely.train(own, sequence, { key: key(1) })[0].sub(attention.apply(own, sequence)).abs().max()) < 1e-6)
})

test('running averages: state in, state out', (t) => {
  const norm = new ft.nn.BatchNorm(2, { momentum: null })
  const params = norm.init(key(1))
  const batches = [1, 2, 3].map((n) => ft.random.normal(key(n), [50, 2], { mean: 3, std: 2 }))
  let state = norm.initState()
  for (const batch of batches) [, state] = norm.train(params, batch, { state })
  const means = batches.map((batch) => batch.mean(0)).reduce((a, b) => a.add(b)).div(3)
  t.true(number(state!.runningMean.sub(means).abs().max()) < 1e-6, 'the mean of all batches')
  t.is(state!.numBatchesTracked.itemSync(), 3n)
  const [y] = [norm.apply(params, batches[0] as Tensor, { state })]
  t.true(Math.abs(number(y.mean())) < 0.5)
  throws(t, 'ERR_ARGUMENT', /the state is missing/, () => norm.apply(params, batches[0] as Tensor))
  throws(t, 'ERR_ARGUMENT', /the state must be \{ runningMean/, () => norm.apply(params, batches[0] as Tensor, { state: {} as never }))
  throws(t, 'ERR_SHAPE', /one value a channel/, () => norm.train(params, ft.zeros([1, 2]), { state }))
  // The averages are constants: gradients through the next state are zero.
  const g = ft.grad((x: Tensor) => (norm.train(params, x, { state })[1] as ft.nn.BatchNormState).runningMean.sum())(batches[0] as Tensor)
  t.is(number(g.abs().max()), 0)
})

test('names of PyTorch, both ways', (t) => {
  const model = new ft.nn.Sequential(new ft.nn.Linear(2, 2), new ft.nn.BatchNorm(2))
  const [params, state] = [model.init(key(1)), model.initState()]
  const dict = ft.nn.stateDict(params, state)
  t.deepEqual(Object.keys(dict), ['0.weight', '0.bias', '1.weight', '1.bias', '1.running_mean', '1.running_var', '1.num_batches_tracked'])
  t.deepEqual(Object.keys(ft.nn.stateDict({ rnn: new ft.nn.GRU(1, 1, { bidirectional: true, bias: false }).init(key(1)) })), ['rnn.weight_ih_l0', 'rnn.weight_hh_l0', 'rnn.weight_ih_l0_reverse', 'rnn.weight_hh_l0_reverse'])
  const [back, stats] = ft.nn.loadStateDict(dict, [model.init(key(2)), model.initState()])
  t.deepEqual(back[0].weight.toArray(), params[0].weight.toArray())
  t.deepEqual(stats[1]!.runningVar.toArray(), [1, 1])
  // Trees keep their dtype; kinds of numbers do not change.
  t.is(ft.nn.loadStateDict({ w: ft.ones([2]) }, [{ w: ft.zeros([2], { dtype: 'float64' }) }])[0].w.dtype, 'float64')
  throws(t, 'ERR_DTYPE', /'w' is int32, and the tree's is float32/, () => ft.nn.loadStateDict({ w: ft.ones([2], { dtype: 'int32' }) }, [{ w: ft.zeros([2]) }]))
  throws(t, 'ERR_SHAPE', /'w' has shape \[3\], and the tree's has \[2\]/, () => ft.nn.loadStateDict({ w: ft.ones([3]) }, [{ w: ft.zeros([2]) }]))
  throws(t, 'ERR_ARGUMENT', /missing: 'b'; unexpected: 'w'/, () => ft.nn.loadStateDict({ w: ft.ones([2]) }, [{ b: ft.zeros([2]) }]))
  t.is(ft.nn.loadStateDict({ w: ft.ones([2]) }, [{ b: ft.zeros([2]) }], { strict: false })[0].b.size, 2)
  throws(t, 'ERR_ARGUMENT', /two tensors would be 'a_b'/, () => ft.nn.stateDict({ aB: ft.zeros([1]), a_b: ft.zeros([1]) }))
  throws(t, 'ERR_ARGUMENT', /two tensors of the trees are 'weight'/, () => ft.nn.loadStateDict({ weight: ft.zeros([1]) }, [{ weight: ft.ones([1]) }, { weight: ft.ones([1]) }]))
  t.deepEqual(Object.keys(ft.nn.stateDict({ '': ft.zeros([1]), ['__proto__' as string]: ft.zeros([1]) })), ['', '__proto__'])
  throws(t, 'ERR_ARGUMENT', /a tensor alone has no name/, () => ft.nn.stateDict(ft.zeros([1])))
  throws(t, 'ERR_ARGUMENT', /the trees must be in an array/, () => ft.nn.loadStateDict(dict, params[0] as never))
})

test('trees of layers', (t) => {
  const layers = { embed: new ft.nn.Embedding(5, 4), blocks: [{ norm: new ft.nn.RMSNorm(4) }, { norm: new ft.nn.BatchNorm(4) }], act: (x: Tensor) => x.relu() }
  const params = ft.nn.initTree(layers, key(1), { dtype: 'float64' })
  t.is(params.embed.weight.dtype, 'float64')
  t.is(params.act, null)
  const state = ft.nn.initStateTree(layers)
  t.is(state.blocks[0]!.norm, null)
  throws(t, 'ERR_ARGUMENT', /layers\.a\[0\] must be a layer or a function, or an object or array of such, got 3/, () => ft.nn.initTree({ a: [3] }, key(1)))
  throws(t, 'ERR_ARGUMENT', /the key comes after the layers/, () => ft.nn.initTree(key(1) as never, layers as never))
  const loop: unknown[] = []
  loop.push(loop)
  throws(t, 'ERR_ARGUMENT', /may contain themselves/, () => ft.nn.initTree(loop, key(1)))
})

test('a network of layers learns what it is shown', (t) => {
  // The exclusive or, with everything that has a state or a key.
  const x = ft.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
  const y = ft.tensor([0, 1, 1, 0], { dtype: 'int32' })
  const model = new ft.nn.Sequential(new ft.nn.Linear(2, 16), new ft.nn.BatchNorm(16), (h) => h.tanh(), new ft.nn.Dropout({ p: 0.1 }), new ft.nn.Linear(16, 2))
  const optimizer = ft.optim.adam({ learningRate: 0.05 })
  let params = model.init(key(1))
  let state = model.initState()
  let moments = optimizer.init(params)
  const step = ft.valueAndGrad((p: typeof params, s: typeof state, k: ft.random.Key): [Tensor, typeof state] => {
    const [logits, next] = model.train(p, x, { state: s, key: k })
    return [ft.nn.crossEntropy(logits as Tensor<'float32'>, y), next]
  }, { hasAux: true })
  for (let i = 0; i < 60; i++) {
    const [[, next], gradients] = step(params, state, ft.random.fold(key(2), i))
    ;[params, moments] = optimizer.step(params, gradients, moments)
    state = next
  }
  t.deepEqual(model.apply(params, x, { state }).argmax(-1).toArray(), [0, 1, 1, 0])
})
