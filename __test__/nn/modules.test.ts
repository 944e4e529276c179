// Layers of one function, plain recurrent layers and encoders: what they do in a Sequential, while they are trained, and what they refuse. Their
// values beside PyTorch's are in pytorch.test.ts.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from '../expect.js'

const { nn } = ft
const key = (n: number): ft.random.Key => ft.random.key(n)

test('layers of one function are those functions', (t) => {
  const x = ft.random.normal(key(1), [2, 4], { std: 3 })
  const pairs: readonly [ft.nn.Module<null, null>, ft.Tensor][] = [
    [new nn.ReLU(), ft.relu(x)], [new nn.ReLU6(), nn.relu6(x)], [new nn.LeakyReLU(0.2), nn.leakyRelu(x, { negativeSlope: 0.2 })], [new nn.LeakyReLU(), nn.leakyRelu(x)],
    [new nn.ELU(2), nn.elu(x, { alpha: 2 })], [new nn.CELU(2), nn.celu(x, { alpha: 2 })], [new nn.SELU(), nn.selu(x)], [new nn.Sigmoid(), ft.sigmoid(x)],
    [new nn.LogSigmoid(), nn.logSigmoid(x)], [new nn.Tanh(), ft.tanh(x)], [new nn.SiLU(), nn.silu(x)], [new nn.Mish(), nn.mish(x)],
    [new nn.GELU(), nn.gelu(x)], [new nn.GELU({ approximate: 'tanh' }), nn.gelu(x, { approximate: 'tanh' })], [new nn.Softplus(2, 3), nn.softplus(x, { beta: 2, threshold: 3 })],
    [new nn.Softsign(), nn.softsign(x)], [new nn.Tanhshrink(), nn.tanhshrink(x)], [new nn.Hardtanh(0, 2), nn.hardtanh(x, { min: 0, max: 2 })], [new nn.Hardsigmoid(), nn.hardsigmoid(x)],
    [new nn.Hardswish(), nn.hardswish(x)], [new nn.Hardshrink(1), nn.hardshrink(x, { lambda: 1 })], [new nn.Softshrink(1), nn.softshrink(x, { lambda: 1 })],
    [new nn.Softmax(0), ft.softmax(x, 0)], [new nn.Softmax(), ft.softmax(x, -1)], [new nn.LogSoftmax(), ft.logSoftmax(x, -1)], [new nn.Softmin(), nn.softmin(x)]
  ]
  for (const [layer, y] of pairs) {
    t.is(layer.init(key(1)), null)
    t.deepEqual(layer.apply(null, x).toArray(), y.toArray(), layer.name)
    t.deepEqual(layer.train(null, x)[0].toArray(), y.toArray(), layer.name)
  }
})

test("PyTorch's usual network, word for word", (t) => {
  const model = new nn.Sequential(
    new nn.Conv2d(1, 4, 3, { padding: 1 }), new nn.InstanceNorm2d(4, { affine: true }), new nn.ReLU(), new nn.MaxPool2d(2, 2), new nn.Dropout2d(0.25),
    new nn.Upsample({ scaleFactor: 2, mode: 'bilinear' }), new nn.AvgPool2d(2), new nn.AdaptiveAvgPool2d([2, 2]), new nn.Flatten(), new nn.Linear(16, 8), new nn.PReLU(8), new nn.Identity(), new nn.Softmax(1)
  )
  const params = model.init(key(1))
  const x = ft.random.normal(key(2), [3, 1, 8, 8])
  const y = model.apply(params, x)
  t.deepEqual(y.shape, [3, 8])
  t.true(close(y.sum(1).toArray(), [1, 1, 1]))
  const [trained, state] = model.train(params, x, { key: key(3) })
  t.notDeepEqual(trained.toArray(), y.toArray())
  t.is(state.length, 13)
  const [gradient] = ft.grad((p: typeof params) => model.train(p, x, { key: key(3) })[0].at(':', 0).sum() as ft.Tensor<'float32'>)(params)
  t.true((gradient!.weight.abs().sum().itemSync() as number) > 0)
  // Functions and layers count alike: numbers in the names of a state dict are PyTorch's.
  t.deepEqual(Object.keys(nn.stateDict(params)), ['0.weight', '0.bias', '1.weight', '1.bias', '9.weight', '9.bias', '10.weight'])
  throws(t, 'ERR_ARGUMENT', /^nn\.Sequential: layer 4: nn\.ChannelDropout: what is dropped goes by a key/, () => model.train(params, x))
})

test('plain recurrent layers: long sequences have the bits of short ones, whatever ends a step', (t) => {
  const x = ft.random.normal(key(4), [2, 100, 3])
  for (const nonlinearity of ['tanh', 'relu', 'tanh'] as const) {
    const layer = new nn.RNN(3, 4, { nonlinearity, bidirectional: true })
    const params = layer.init(key(5))
    const { output, state } = layer.forward(params, x)
    t.deepEqual(output.at(':', -1, ':4').toArray(), state.at(0).toArray())
    t.deepEqual(output.at(':', 0, '4:').toArray(), state.at(1).toArray())
    // One step after the other, each from what the last one left.
    const forwards = new nn.RNN(3, 4, { nonlinearity })
    const own = Object.fromEntries(Object.entries(params).filter(([name]) => !name.endsWith('Reverse')))
    let h: ft.Tensor | undefined
    for (let i = 0; i < 100; i++) h = forwards.forward(own, x.at(':', `${i}:${i + 1}`), h as ft.Tensor<'float32'>).state
    t.true(close(h!.at(0).toArray(), state.at(0).toArray()))
    const slope = ft.grad((p: typeof params) => layer.apply(p, x).sum() as ft.Tensor<'float32'>)(params)
    const traced = ft.jit(ft.grad((p: typeof params) => layer.apply(p, x).sum() as ft.Tensor<'float32'>))(params)
    t.true(close(slope['weightHhL0']!.toArray(), traced['weightHhL0']!.toArray()))
  }
  throws(t, 'ERR_ARGUMENT', /^nn\.RNN: 'nonlinearity' must be 'tanh' or 'relu', got 'sigmoid'/, () => new nn.RNN(3, 4, { nonlinearity: 'sigmoid' as never }))
  throws(t, 'ERR_ARGUMENT', /^nn\.GRU: unknown option 'nonlinearity'/, () => new nn.GRU(3, 4, { nonlinearity: 'relu' } as never))
})

test('encoders: dropped while they are trained, by keys; causal; pre-norm with a norm behind', (t) => {
  const layer = new nn.TransformerEncoderLayer(8, 2, { hidden: 16, dropout: 0.5, activation: 'gelu', normFirst: true })
  const encoder = new nn.TransformerEncoder(layer, 2, { norm: new nn.LayerNorm(8) })
  const params = encoder.init(key(1))
  const x = ft.random.normal(key(2), [2, 5, 8])
  const [first] = encoder.train(params, x, { key: key(3) })
  t.deepEqual(encoder.train(params, x, { key: key(3) })[0].toArray(), first.toArray())
  t.notDeepEqual(encoder.train(params, x, { key: key(4) })[0].toArray(), first.toArray())
  t.deepEqual(encoder.apply(params, x).toArray(), encoder.encode(params, x).toArray())
  throws(t, 'ERR_ARGUMENT', /what is dropped goes by a key/, () => encoder.train(params, x))
  // A place that sees those before it alone does not change with those behind it.
  const seen = encoder.encode(params, x, { causal: true }).at(':', ':3')
  const changed = ft.concat([x.at(':', ':3'), x.at(':', '3:').mul(7)], { axis: 1 })
  t.deepEqual(encoder.encode(params, changed, { causal: true }).at(':', ':3').toArray(), seen.toArray())
  const masked = encoder.encode(params, x, { mask: ft.tril(ft.ones([5, 5], { dtype: 'bool' })) })
  t.true(close(masked.toArray(), encoder.encode(params, x, { causal: true }).toArray()))
  const always = new nn.TransformerEncoderLayer(8, 2, { hidden: 16, dropout: 0, causal: true, activation: (y) => nn.silu(y) })
  t.deepEqual(always.train(always.init(key(1)), x)[0].at(':', ':3').toArray(), always.apply(always.init(key(1)), changed).at(':', ':3').toArray())
  t.deepEqual(Object.keys(nn.stateDict(params)).filter((name) => name.startsWith('layers.1.self_attn')).sort(), ['layers.1.self_attn.in_proj_bias', 'layers.1.self_attn.in_proj_weight', 'layers.1.self_attn.out_proj.bias', 'layers.1.self_attn.out_proj.weight'])
  throws(t, 'ERR_ARGUMENT', /9 features cannot be divided among 2 heads/, () => new nn.TransformerEncoderLayer(9, 2))
  throws(t, 'ERR_ARGUMENT', /^nn\.TransformerEncoderLayer: 'activation' must be 'relu', 'gelu' or a function/, () => new nn.TransformerEncoderLayer(8, 2, { activation: 'silu' as never }))
  throws(t, 'ERR_ARGUMENT', /^nn\.TransformerEncoderLayer: unknown option 'dimFeedforward'; did you mean 'hidden'/, () => new nn.TransformerEncoderLayer(8, 2, { dimFeedforward: 3 } as never))
  throws(t, 'ERR_ARGUMENT', /^nn\.TransformerEncoder: 'layer' must be/, () => new nn.TransformerEncoder(new nn.Linear(2, 2) as never, 2))
  throws(t, 'ERR_ARGUMENT', /^nn\.TransformerEncoder: the parameters must have an array of 2 layers/, () => encoder.apply({ ...params, layers: [] } as never, x))
  throws(t, 'ERR_SHAPE', /must have shape \[batch, places, 8\]/, () => layer.apply(layer.init(key(1)), ft.ones([2, 8])))
})

test('what constructors refuse', (t) => {
  throws(t, 'ERR_ARGUMENT', /^nn\.LeakyReLU: 'negativeSlope' must be a finite number/, () => new nn.LeakyReLU(NaN))
  throws(t, 'ERR_ARGUMENT', /^nn\.GELU: 'approximate' must be 'none' or 'tanh'/, () => new nn.GELU({ approximate: 'erf' as never }))
  throws(t, 'ERR_ARGUMENT', /^nn\.Softmax: 'axis' must be an integer/, () => new nn.Softmax(0.5))
  throws(t, 'ERR_ARGUMENT', /^nn\.MaxPool: 'window' must be one positive size/, () => new nn.MaxPool2d(0))
  throws(t, 'ERR_ARGUMENT', /^nn\.MaxPool: 'stride' must be one positive size/, () => new nn.MaxPool2d(2, 0))
  throws(t, 'ERR_ARGUMENT', /^nn\.AvgPool: unknown option 'returnIndices'/, () => new nn.AvgPool2d(2, { returnIndices: true } as never))
  throws(t, 'ERR_ARGUMENT', /^nn\.Upsample: give \{ size \} or \{ scaleFactor \}/, () => new nn.Upsample({}))
  throws(t, 'ERR_ARGUMENT', /^nn\.ChannelDropout: 'p' must be a number from 0 to 1/, () => new nn.Dropout2d(2))
  throws(t, 'ERR_ARGUMENT', /^nn\.Unflatten: 'sizes' must have a size/, () => new nn.Unflatten(1, []))
  throws(t, 'ERR_INDEX', /^nn\.Unflatten: axis 3 is out of range for rank 2/, () => new nn.Unflatten(3, [1]).apply(null, ft.ones([2, 2])))
  throws(t, 'ERR_SHAPE', /^nn\.Unflatten: /, () => new nn.Unflatten(1, [3]).apply(null, ft.ones([2, 2])))
  throws(t, 'ERR_SHAPE', /^nn\.InstanceNorm: x must have shape \[batch, 3, spatial/, () => new nn.InstanceNorm1d(3).apply(null, ft.ones([2, 2, 2])))
  throws(t, 'ERR_SHAPE', /^nn\.PReLU: x must have shape \[batch, 3/, () => new nn.PReLU(3).apply(new nn.PReLU(3).init(key(1)), ft.ones([2, 2])))
})

test('channels of groups in turn', (t) => {
  const x = ft.arange(12).reshape([2, 6, 1])
  t.deepEqual(nn.channelShuffle(x, 3).at(0, ':', 0).toArray(), [0, 2, 4, 1, 3, 5])
  t.deepEqual(new nn.ChannelShuffle(2).apply(null, x).at(1, ':', 0).toArray(), [6, 9, 7, 10, 8, 11])
  t.deepEqual(nn.channelShuffle(nn.channelShuffle(x, 2), 3).toArray(), x.toArray())
  throws(t, 'ERR_SHAPE', /^nn\.channelShuffle: 6 channels are not 4 equal groups/, () => nn.channelShuffle(x, 4))
  throws(t, 'ERR_SHAPE', /^nn\.channelShuffle: x must have shape \[batch, channels, \.\.\.\]/, () => nn.channelShuffle(ft.ones([2, 2]), 1))
  throws(t, 'ERR_ARGUMENT', /^nn\.channelShuffle: 'groups' must be positive, got 0/, () => nn.channelShuffle(x, 0))
  throws(t, 'ERR_ARGUMENT', /^nn\.ChannelShuffle: 'groups'/, () => new nn.ChannelShuffle(0))
})
