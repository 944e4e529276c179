// Argument lists that work for the layers of `ft.nn`: their constructors, and their methods on one of each.

import * as ft from 'ferrotensor'

const key = () => ft.random.key(1)
const normal = (...shape) => ft.random.normal(key(), shape)

/** Layers of one function of elements, each with arguments of its constructor. */
const ELEMENTWISE = {
  CELU: [2],
  ELU: [2],
  GELU: [{ approximate: 'tanh' }],
  Hardshrink: [0.25],
  Hardsigmoid: [],
  Hardswish: [],
  Hardtanh: [-2, 2],
  Identity: [],
  LeakyReLU: [0.2],
  LogSigmoid: [],
  LogSoftmax: [0],
  Mish: [],
  ReLU: [],
  ReLU6: [],
  SELU: [],
  SiLU: [],
  Sigmoid: [],
  Softmax: [0],
  Softmin: [0],
  Softplus: [2, 20],
  Softshrink: [0.25],
  Softsign: [],
  Tanh: [],
  Tanhshrink: []
}

/** Each class: arguments of its constructor, and a tensor that it takes. */
const LAYERS = {
  ...Object.fromEntries(Object.entries(ELEMENTWISE).map(([name, options]) => [name, [options, () => normal(3)]])),
  AdaptiveAvgPool: [[2], () => normal(1, 2, 4)],
  AdaptiveMaxPool: [[[1, 2]], () => normal(1, 2, 4, 4)],
  AvgPool: [[3, { stride: 2, padding: 1, ceilMode: true, countIncludePad: false }], () => normal(1, 2, 6)],
  BatchNorm: [[3, { momentum: 0.2 }], () => normal(4, 3, 2)],
  ChannelDropout: [[0.25], () => normal(1, 2, 3)],
  Conv1d: [[2, 3, 2, { padding: 1 }], () => normal(1, 2, 5)],
  Conv2d: [[2, 4, [2, 3], { groups: 2, bias: false }], () => normal(1, 2, 4, 4)],
  Conv3d: [[1, 2, 2], () => normal(1, 1, 3, 3, 3)],
  ConvTranspose1d: [[2, 3, 2, { stride: 2 }], () => normal(1, 2, 3)],
  ConvTranspose2d: [[1, 2, 2], () => normal(1, 1, 3, 3)],
  Dropout: [[{ p: 0.25 }], () => normal(3)],
  Embedding: [[4, 3, { paddingIndex: 0 }], () => ft.tensor([0, 3], { dtype: 'int32' })],
  Flatten: [[1, -1], () => normal(2, 3, 4)],
  GRU: [[2, 3, { layers: 2 }], () => normal(2, 3, 2)],
  GroupNorm: [[2, 4], () => normal(2, 4, 3)],
  InstanceNorm: [[2, { affine: true }], () => normal(1, 2, 3)],
  LSTM: [[2, 3, { bidirectional: true, dropout: 0.5 }], () => normal(2, 3, 2)],
  LayerNorm: [[[2, 3]], () => normal(4, 2, 3)],
  Linear: [[2, 3], () => normal(4, 2)],
  MaxPool: [[2, { stride: 1, padding: 1, dilation: 1, ceilMode: true }], () => normal(1, 2, 6)],
  MultiHeadAttention: [[4, 2, { causal: true, dropout: 0.5 }], () => normal(1, 3, 4)],
  PReLU: [[2, 0.5], () => normal(3, 2)],
  PixelShuffle: [[2], () => normal(4, 2, 2)],
  PixelUnshuffle: [[2], () => normal(1, 2, 4)],
  ChannelShuffle: [[2], () => normal(1, 4, 2)],
  CircularPad: [[[1, 2]], () => normal(1, 1, 3)],
  ConstantPad: [[[1, 0, 2, -1], 7], () => normal(1, 1, 2, 3)],
  ReflectionPad: [[1], () => normal(1, 1, 2, 3)],
  ReplicationPad: [[[2, 1]], () => normal(1, 1, 3)],
  ZeroPad: [[1], () => normal(1, 2, 2, 2, 2)],
  RMSNorm: [[3, { eps: 0.1 }], () => normal(2, 3)],
  RNN: [[2, 3, { nonlinearity: 'relu' }], () => normal(2, 3, 2)],
  Sequential: [[(x) => x.relu()], () => normal(3)],
  TransformerEncoderLayer: [[4, 2, { hidden: 3, dropout: 0.1, normFirst: true }], () => normal(1, 3, 4)],
  TransformerEncoder: [[new ft.nn.TransformerEncoderLayer(4, 2, { hidden: 3 }), 2, { norm: new ft.nn.LayerNorm(4) }], () => normal(1, 3, 4)],
  Unflatten: [[1, [2, -1]], () => normal(1, 4)],
  Upsample: [[{ scaleFactor: 1.5, mode: 'bilinear' }], () => normal(1, 1, 2, 3)]
}

/** Argument lists of one class's constructor and methods. */
function seedsOf(name, [options, input]) {
  const make = () => new ft.nn[name](...options)
  const used = (more) => () => {
    const layer = make()
    return [layer, layer.init(key()), ...more(layer)]
  }
  const state = (layer) => ({ state: layer.initState() })
  return {
    [`new ${name}`]: [() => [...options]],
    [`${name}.init`]: [() => [make(), key(), { dtype: 'float64' }]],
    [`${name}.initState`]: [() => [make()]],
    [`${name}.name`]: [() => [make()]],
    [`${name}.apply`]: [used((layer) => [input(), state(layer)])],
    [`${name}.train`]: [used((layer) => [input(), { ...state(layer), key: key() }])],
    [`${name}.forward`]: [used(() => [input()])],
    [`${name}.encode`]: [used(() => [input(), { causal: true, key: key() }])],
    [`${name}.attend`]: [used(() => [input(), input(), input(), { key: key() }])],
    [`${name}.weights`]: [used(() => [input(), input()])]
  }
}

const linear = seedsOf('Linear', LAYERS.Linear)

/** @type {Record<string, (() => unknown[])[]>} */
export const LAYER_SEEDS = {
  ...Object.assign({}, ...Object.entries(LAYERS).map(([name, layer]) => seedsOf(name, layer))),
  // The base class, on one of its subclasses.
  ...Object.fromEntries(['initState', 'name', 'apply', 'train'].map((name) => [`Module.${name}`, linear[`Linear.${name}`]])),
  'nn.init.orthogonal': [() => [key(), [2, 3], { gain: 2 }]],
  'nn.initTree': [() => [{ a: [new ft.nn.Linear(2, 3)], b: (x) => x }, key()]],
  'nn.initStateTree': [() => [[new ft.nn.BatchNorm(2)]]],
  'nn.stateDict': [() => [{ layers: [{ inProjWeight: normal(3) }] }]],
  'nn.loadStateDict': [() => [{ 'a.0': normal(3) }, [{ a: [normal(3)] }], { strict: true }]]
}
