// Argument lists that work, for the parts of the surface without an example in the declarations. Each call makes its own;
// methods get their receiver first.

import { fileURLToPath } from 'node:url'
import * as ft from 'ferrotensor'
import { LAYER_SEEDS } from './layers.mjs'
import { NAME_SEEDS } from './names.mjs'
import { SYSTOLIC_SEEDS } from './systolic.mjs'

const pending = (...shape) => ft.ones(shape).add(1)

/** Tokens are weak: what the last one names. */
let shared
const token = () => (shared = pending(3)).share()

/** A file that NumPy wrote. */
const golden = (name) => fileURLToPath(new URL(`../../crates/io/golden/${name}`, import.meta.url))

/** Tensors by name. */
const tensors = () => ({ a: pending(2, 3), b: ft.tensor([1n, 2n]) })

/** Argument lists of each way to write: to a path in the working folder, and to bytes. */
const written = (name, argument) => ({
  [`io.save${name}`]: [() => ['x', argument()]],
  [`io.save${name}Sync`]: [() => ['x', argument()]],
  [`io.encode${name}`]: [() => [argument()]],
  [`io.encode${name}Sync`]: [() => [argument()]]
})

/** Argument lists of each way to read: a file, and bytes. */
const readers = (names, file, bytes) => Object.fromEntries(names.flatMap((name) => [name, `${name}Sync`]).map((name) => [`io.${name}`, [() => [golden(file)], () => [bytes()]]]))

const receiver = [() => [pending(2, 3)]]

/** A class of its own, whose instances may stand in trees, with how they are taken apart. */
const treeClass = () => {
  class Pair {
    constructor(a, b) {
      Object.assign(this, { a, b })
    }
  }
  return [Pair, { flatten: ({ a, b }) => [a, b], unflatten: ([a, b]) => new Pair(a, b) }]
}

/** An instance of such a class. */
const instance = () => {
  const [Pair, how] = treeClass()
  ft.tree.register(Pair, how)
  return new Pair(pending(3), { w: pending(2) })
}

/** Optimisers. */
const optimisers = Object.fromEntries(['sgd', 'rmsprop', 'adam', 'adamw', 'lion', 'adafactor', 'adagrad', 'adadelta', 'adamax', 'nadam', 'radam'].map((name) => [`optim.${name}`, [() => [], () => [{ learningRate: 0.1, weightDecay: 0.01 }]]]))

/** Index items in every form. */
const ITEMS = [
  () => [1, '::-1'],
  () => ['..., 0:2', null],
  () => [[1, 0], [[0], [2]]],
  () => [new Int8Array([1, -1]), ft.slice(0, 2)],
  () => [ft.tensor([0, 1, 1], { dtype: 'int32' })],
  () => [pending(2, 3).greater(0)],
  () => [[true, false], 1],
  () => [true]
]
const indexed = ITEMS.map((items) => () => [pending(2, 3), ...items()])
const changed = [...ITEMS.map((items) => () => [pending(2, 3), items(), 7]), () => [pending(2, 3), '1:', ft.ones([3])]]

/** A place beside a cache of sixteen. */
function extended() {
  const layer = new ft.nn.MultiHeadAttention(8, 2)
  return [layer, layer.init(ft.random.key(1)), ft.ones([1, 1, 8]), layer.cache(1, 16), 0]
}

/** @type {Record<string, (() => unknown[])[]>} */
export const SEEDS = {
  ...LAYER_SEEDS,
  ...NAME_SEEDS,
  ...SYSTOLIC_SEEDS,
  associativeScan: [
    // Of whatever tree they are called with: nothing but errors of the library's comes out.
    () => [(a, b) => ft.add(a, b), pending(4, 2), { axis: 1, reverse: true }],
    () => [(a, b) => ({ w: ft.multiply(a.w, b.w), n: [ft.maximum(a.n?.[0], b.n?.[0])] }), { w: pending(5, 2), n: [pending(5)] }]
  ],
  checkpoint: [() => [(x) => x.exp()]],
  'data.batches': [() => [{ x: pending(4, 2), y: pending(4) }, { size: 2, key: ft.random.key(1) }], () => [[pending(4)], { size: 3, onProgress: () => {}, signal: new AbortController().signal }]],
  'data.split': [() => [[pending(10, 2)], { share: 0.5, key: ft.random.key(1) }]],
  detectNaN: [() => [() => pending(3).sqrt()], () => [() => ft.grad((x) => x.log().sum())(pending(3))]],
  grad: [() => [(x) => x.sum()], () => [(x) => [x.sum(), x], { hasAux: true, argnums: [0] }]],
  hessian: [() => [(x) => x.sum()]],
  vmap: [() => [(x) => x.sum()], () => [(x, n) => [x, n], { inAxes: [0, null], outAxes: 0 }]],
  jit: [() => [(x) => x.mul(2)], () => [(x, n) => [x.add(n), n], { static: 1, donate: [0] }]],
  jacobian: [() => [(x) => x.mul(2)]],
  jvp: [() => [(...args) => args, [pending(3), { w: pending(3) }], [pending(3), { w: pending(3) }]]],
  profile: [() => [() => pending(3).sqrt()], () => [async () => ({ x: pending(2), y: [pending(3).sum()] })]],
  reduce: [() => [pending(5, 2), 0, (a, b) => a.add(b), { axis: [0], keepdims: true }], () => [pending(3), ft.tensor(1), (a, b) => a.maximum(b)]],
  stopGradient: receiver,
  noGrad: [() => [() => pending(3).sqrt()], () => [() => ft.grad((x) => ft.noGrad(() => x.exp()).mul(x).sum())(pending(3))]],
  valueAndGrad: [() => [(x) => x.sum()], () => [(x, y) => x.mul(y).sum(), { argnums: 1 }]],
  windowReduce: [
    () => [pending(5, 4), 0, (a, b) => a.add(b), { window: [3, 2], stride: 2, padding: 'same', dilation: 1 }],
    () => [pending(9), ft.tensor(1), (a, b) => a.mul(b), { window: 5, padding: [[1, 2]] }]
  ],
  vjp: [() => [(...args) => args, pending(3), { w: pending(3) }]],
  ...optimisers,
  'optim.lbfgs': [() => [], () => [{ lineSearch: 'strongWolfe', maxIterations: 3 }]],
  'optim.clipByGlobalNorm': [() => [{ w: pending(3), b: [pending(2)] }, 1, { ord: 3, errorIfNonfinite: true }]],
  'optim.clipByValue': [() => [{ w: pending(3), b: [pending(2)] }, 1]],
  'optim.globalNorm': [() => [{ w: pending(3), b: [pending(2)] }, { ord: Infinity }]],
  'optim.cosineRestarts': [() => [0.1, 100, { factor: 2, least: 0.01 }]],
  'optim.exponentialDecay': [() => [0.1, 0.99]],
  'optim.linear': [() => [0, 0.1, 100]],
  'optim.multiStepDecay': [() => [0.1, [10, 20], 0.5]],
  'optim.polynomial': [() => [0.1, 100, 2]],
  'optim.reduceOnPlateau': [() => [0.1, { patience: 2, mode: 'max', thresholdMode: 'absolute' }]],
  'optim.cosine': [() => [0.1, 100, 0.01]],
  'optim.oneCycle': [() => [0.1, 100, { up: 0.4 }]],
  'optim.stepDecay': [() => [0.1, 10, 0.5]],
  'optim.warmup': [() => [10, 0.1], () => [10, (step) => 1 / (step + 1)]],
  'tree.flatten': [() => [{ w: pending(3), b: [pending(2), 'text'] }], () => [instance()]],
  'tree.leaves': [() => [{ w: pending(3), b: [pending(2), 'text'] }], () => [instance()]],
  'tree.map': [() => [(x, y) => x.add(y), { w: pending(3) }, { w: pending(3) }], () => [(x) => x.mul(2), instance()]],
  'tree.register': [treeClass],
  config: [() => [{ fusion: true, limit: 64 }], () => [{ limit: 1 }], () => []],
  devices: [() => []],
  emptyLike: receiver,
  evaluate: [() => [pending(3), ft.ones([2])], () => []],
  evaluateSync: [() => [pending(3), ft.ones([2])], () => []],
  fromShared: [() => [token()]],
  'fft.dct': receiver,
  'fft.idct': receiver,
  fullLike: [() => [pending(2, 3), 7]],
  memory: [() => []],
  onesLike: receiver,
  resetStats: [() => []],
  scope: [() => [() => pending(2)], () => [() => ({ x: [pending(2)], text: 'kept' })]],
  bincountAsync: [() => [ft.tensor([1, 3, 1], { dtype: 'int32' }), { minlength: 2 }]],
  ...Object.fromEntries(['intersect1d', 'setdiff1d', 'setxor1d', 'union1d'].map((name) => [`${name}Async`, [() => [pending(3), ft.tensor([2, 5])]]])),
  ...Object.fromEntries(['argwhere', 'nonzero', 'uniqueAll', 'uniqueCounts', 'uniqueInverse', 'uniqueValues'].map((name) => [`${name}Async`, receiver])),
  scopeAsync: [() => [async (s) => s.track(pending(2))]],
  setDefaultDevice: [() => ['cpu']],
  setMemoryLimit: [() => [32 << 20]],
  getPrintOptions: [() => []],
  setPrintOptions: [() => [], () => [{ precision: 2, threshold: 10 }]],
  setThreads: [() => [1], () => [2]],
  stats: [() => []],
  strict: [() => ['allow'], () => ['warn'], () => ['throw']],
  trim: [() => []],
  zerosLike: receiver,
  ...readers(['loadNpy'], 'float64.npy', () => ft.io.encodeNpySync(pending(3))),
  ...readers(['loadNpyAll'], 'float64.npy', () => ft.io.encodeNpySync(pending(3))),
  ...readers(['loadNpz'], 'deflated.npz', () => ft.io.encodeNpzSync(tensors())),
  ...readers(['loadSafetensors', 'openSafetensors'], 'all.safetensors', () => ft.io.encodeSafetensorsSync(tensors())),
  ...readers(['loadText'], 'table.csv', () => ft.io.encodeTextSync(pending(2, 3))),
  ...readers(['loadTable'], 'table.csv', () => Buffer.from('a,b\n1,"x, y"\n16777217,z\n')),
  ...written('Npy', () => pending(2, 3)),
  ...written('Npz', tensors),
  ...written('Safetensors', tensors),
  ...written('Text', () => pending(2, 3)),
  'random.bits': [() => [ft.random.key(1), [3, 2]]],
  'random.fold': [() => [ft.random.key(1), 7]],
  'random.generator': [() => [42]],
  'random.key': [() => [42], () => [2n ** 60n]],
  'random.normal': [() => [ft.random.key(1), [3, 2], { mean: 1, std: 2 }]],
  'random.permutation': [() => [ft.random.key(1), 5]],
  'random.randint': [() => [ft.random.key(1), -3, 9, [3, 2]], () => [ft.random.key(1), -(2n ** 63n), 2n ** 63n, [4]]],
  'random.split': [() => [ft.random.key(1), 3]],
  'random.uniform': [() => [ft.random.key(1), [3, 2], { low: -1, high: 1 }]],
  'signal.findPeaksAsync': [() => [ft.tensor([0, 3, 1, 2, 0]), { height: 1, distance: 2, prominence: [0, 3] }]],
  'signal.stft': [() => [pending(2, 20), 8, { hopLength: 3, window: ft.signal.hann(8), center: false, normalized: true, onesided: false }]],
  'signal.istft': [() => [ft.signal.stft(pending(20), 8), 8, { length: 12, window: ft.signal.hamming(6) }]],
  'new Generator': [() => [ft.random.key(1)]],
  'Generator.standardExponential': [() => [ft.random.generator(1), [3, 2]]],
  'Generator.standardGamma': [() => [ft.random.generator(1), 2, [3, 2]]],
  'Generator.key': [() => [ft.random.generator(1)]],
  'new Slice': [() => [1, 5, 2], () => []],
  'MultiHeadAttention.cache': [() => [new ft.nn.MultiHeadAttention(8, 2), 1, 16]],
  'MultiHeadAttention.extend': [extended],
  'Plan.toString': [() => [ft.plan('exp', [pending(2)])]],
  'Plan[nodejs.util.inspect.custom]': [() => [ft.plan('exp', [pending(2)])]],
  'Profile.html': [() => [ft.profile(() => pending(2))]],
  'Profile.saveHtml': [() => [ft.profile(() => pending(2)), 'x']],
  'Profile.saveTrace': [() => [ft.profile(() => pending(2)), 'x']],
  'Profile.toString': [() => [ft.profile(() => pending(2))]],
  'Profile[nodejs.util.inspect.custom]': [() => [ft.profile(() => pending(2))]],
  'Profile.trace': [() => [ft.profile(() => pending(2))]],
  'Slice.toString': [() => [ft.slice(1, 5, 2)]],
  'Tensor.at': indexed,
  'Tensor.atAsync': indexed,
  'Tensor.withAt': changed,
  'Tensor.withAtAsync': changed,
  'Tensor.shape': receiver,
  'Tensor.dtype': receiver,
  'Tensor.ndim': receiver,
  'Tensor.size': receiver,
  'Tensor.device': receiver,
  'Tensor.T': receiver,
  'Tensor.mT': receiver,
  'Tensor.data': receiver,
  'Tensor.dataSync': receiver,
  'Tensor.dispose': receiver,
  'Tensor.item': [() => [pending(1)]],
  'Tensor.itemSync': [() => [pending(1)]],
  'Tensor.share': receiver,
  'Tensor.to': [() => [pending(2), 'cpu']],
  'Tensor.toArray': receiver,
  'Tensor.toBytes': receiver,
  'Tensor.toJSON': receiver,
  'Tensor.toString': [...receiver, () => [pending(2, 3), { precision: 2, threshold: 4, edgeitems: 1, linewidth: 20, separator: ' ', suppressSmall: true }]],
  'Tensor[Symbol.iterator]': receiver,
  'Tensor[@jest/serializableProperties]': receiver,
  'Tensor[nodejs.dispose]': receiver,
  'Tensor[Symbol.toPrimitive]': [() => [pending(2), 'string'], () => [pending(2), 'default']],
  'Tensor[nodejs.util.inspect.custom]': [() => [pending(2), 2, {}], () => [pending(2), -1, {}]]
}
