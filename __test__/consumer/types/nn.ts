// Neural networks: `ft.nn`.

import * as ft from 'ferrotensor'
import { dtype, is } from '../expectations.js'
import { bool, i8, u8, i32, u32, i64, u64, f16, bf16, f32, f64, c64, wide, square, image } from '../operands.js'

const key = ft.random.key(0)

/** Exported, they need names that declarations of a consumer can use. */
export const perceptron = new ft.nn.Sequential(new ft.nn.Linear(2, 3), new ft.nn.BatchNorm(3), (x) => x.relu())
export const optimizer = ft.optim.adamw()

export function results(): void {
  // Losses and gates made of rows.
  dtype('float32', ft.nn.binaryCrossEntropy(f32, bool))
  dtype('float64', ft.nn.binaryCrossEntropy(f32, f16, { weight: f64, reduction: 'none' }))
  dtype('float64', ft.nn.smoothL1Loss(f64, i8, { beta: 0.5 }))
  dtype('float32', ft.nn.hingeLoss(f32, i8, { margin: 2 }))
  dtype('float64', ft.nn.poissonNllLoss(f32, f64, { full: true }))
  dtype('float64', ft.nn.gaussianNllLoss(f32, i8, f64, { eps: 1e-3 }))
  dtype('float16', ft.nn.marginRankingLoss(f16, f16, i8, { margin: 1 }))
  dtype('float32', ft.nn.softMarginLoss(f32, i8))
  dtype('int8', ft.nn.channelShuffle(image(i8).expandDims(0), 1))
  dtype('float16', new ft.nn.ChannelShuffle(1).apply(null, image(f16)))
  dtype('float16', ft.nn.hingeEmbeddingLoss(f16, i8))
  dtype('float32', ft.nn.cosineEmbeddingLoss(square(i8), square(i8), i8.at(':2')))
  dtype('float64', ft.nn.tripletMarginLoss(square(f32), square(f64), square(i8), { swap: true }))
  dtype('float32', ft.nn.glu(i8))
  dtype('float16', ft.nn.glu(f16, 0))
  dtype('float64', ft.nn.groupedQueryAttention(image(f32), image(f64), image(f16), undefined, { causal: true }))
  dtype('float32', ft.nn.normalize(square(i8)))
  dtype('complex64', ft.nn.normalize(square(c64)))
  dtype('float64', ft.nn.cosineSimilarity(square(f32), square(f64)))
  dtype('float16', ft.nn.pairwiseDistance(i8, f16, { keepdims: true }))
  dtype('float16', ft.nn.softmin(f16, 0))
  dtype('float32', ft.nn.softmin(bool))
  dtype('float64', ft.nn.gumbelSoftmax(key, f64, { hard: true }))
  dtype('int8', ft.nn.threshold(i8, 1, 0))
  dtype('float64', ft.nn.instanceNorm(image(f32), undefined, f64.at(':1')))
  dtype('int32', ft.nn.bilinear(i8, i8, ft.ones([2, 4, 4], { dtype: 'int8' })))
  dtype('float64', ft.nn.bilinear(f32, f64, ft.ones([2, 4, 4])))
  dtype('int8', ft.nn.pixelShuffle(ft.ones([4, 1, 1], { dtype: 'int8' }), 2))
  dtype('bool', ft.nn.pixelUnshuffle(ft.ones([1, 2, 2], { dtype: 'bool' }), 2))
  dtype('bfloat16', ft.nn.unfold(ft.ones([1, 2, 2], { dtype: 'bfloat16' }), 2))
  dtype('int16', ft.nn.fold(ft.ones([4, 1], { dtype: 'int16' }), 2, 2))
  dtype('float32', ft.nn.gridSample(ft.ones([1, 1, 2, 2], { dtype: 'int8' }), ft.zeros([1, 1, 1, 2], { dtype: 'float64' })))
  dtype('float64', ft.nn.affineGrid(ft.ones([1, 2, 3], { dtype: 'float64' }), [1, 1, 2, 2]))
  dtype('float16', ft.nn.channelDropout(key, ft.ones([1, 2, 2], { dtype: 'float16' })))
  dtype('float64', ft.nn.ctcLoss(ft.zeros([2, 1, 2], { dtype: 'float64' }), ft.ones([1, 1], { dtype: 'int32' }), [2], [1]))
  dtype({ values: 'int8', indices: 'int32' }, ft.nn.maxPool(image(i8), 2, { returnIndices: true }))
  dtype('float16', ft.nn.maxPool(image(f16), 3, { ceilMode: true }))
  dtype('float32', ft.nn.avgPool(image(i8), 3, { divisor: 2 }))
  dtype('int16', ft.nn.maxUnpool(ft.ones([1, 1, 1], { dtype: 'int16' }), ft.zeros([1, 1, 1], { dtype: 'int32' }), 2))
  dtype('float32', ft.nn.interpolate(image(i8), { scaleFactor: 1.5 }))
  dtype('float64', ft.nn.interpolate(image(f64), 3, { mode: 'area' }))
  dtype('float64', ft.nn.softplus(f64, { threshold: 20 }))
  dtype('float64', ft.nn.binaryCrossEntropyWithLogits(f32, bool, undefined, { weight: f64 }))
  dtype('float64', ft.nn.scaledDotProductAttention(image(f32), image(f64), image(f16), undefined, { enableGqa: true }))
  // Layers of one function: the dtype that it gives.
  dtype('int8', new ft.nn.ReLU().apply(null, i8))
  dtype('float32', new ft.nn.Sigmoid().apply(null, i8))
  dtype('bool', new ft.nn.Flatten(0).apply(null, bool))
  dtype('int8', new ft.nn.MaxPool2d(1).apply(null, square(i8).reshape([1, 1, 2, 2])))
  dtype('float32', new ft.nn.AvgPool(2, 1).apply(null, image(i8)))
  dtype('float16', new ft.nn.Upsample({ scaleFactor: 2 }).apply(null, image(f16)))
  dtype('int8', new ft.nn.ZeroPad2d([1, 0, 2, 0]).apply(null, image(i8)))
  dtype('float32', new ft.nn.ConstantPad1d(1, 0.5).apply(null, image(f32)))
  dtype('float16', new ft.nn.ReflectionPad3d(1).apply(null, image(f16)))
  dtype('float64', new ft.nn.ReplicationPad2d(1).apply(null, image(f64)))
  dtype('complex64', new ft.nn.CircularPad1d(1).apply(null, image(c64)))
  dtype('complex64', ft.nn.pad(c64, [1, -1], { mode: 'replicate' }))
  dtype('float32', ft.nn.pad([1, 2], [1, 1], { value: 3 }))
  const activated = new ft.nn.Sequential(new ft.nn.Linear(2, 3), new ft.nn.ReLU(), new ft.nn.Dropout(0.1), new ft.nn.Flatten())
  dtype('float32', activated.apply(activated.init(key), square(f32)))
  const encoder = new ft.nn.TransformerEncoder(new ft.nn.TransformerEncoderLayer(4, 2, { hidden: 3 }), 1)
  dtype('float64', encoder.apply(encoder.init(key, { dtype: 'float64' }), image(f32)))
  dtype('float32', encoder.encode(encoder.init(key), image(f16), { causal: true }))
  const plain = new ft.nn.RNN(4, 2)
  dtype('float32', plain.forward(plain.init(key), image(f32)).output)
  dtype('float64', new ft.nn.InstanceNorm1d(1).apply(null, image(f64)))
  dtype('float32', ft.nn.embedding(ft.ones([2], { dtype: 'int32' }), square(f32), { paddingIndex: 0 }))
  // Activations: integers and bool become float32.
  dtype('float32', ft.nn.relu6(f32))
  dtype('float32', ft.nn.selu(i8))
  dtype('float16', ft.nn.silu(f16))
  dtype('float32', ft.nn.mish(bool))
  dtype('float64', ft.nn.logSigmoid(f64))
  dtype('bfloat16', ft.nn.softsign(bf16))
  dtype('float32', ft.nn.tanhshrink(f32))
  dtype('float32', ft.nn.hardsigmoid(i8))
  dtype('float16', ft.nn.hardswish(f16))
  dtype('float32', ft.nn.leakyRelu(bool))
  dtype('float64', ft.nn.elu(f64))
  dtype('bfloat16', ft.nn.celu(bf16))
  dtype('float32', ft.nn.gelu(f32))
  dtype('float32', ft.nn.softplus(i8))
  dtype('float16', ft.nn.hardtanh(f16))
  dtype('float32', ft.nn.hardshrink(bool))
  dtype('float64', ft.nn.softshrink(f64))
  dtype('float16', ft.nn.leakyRelu(f16, { negativeSlope: 0.1 }))
  dtype('float32', ft.nn.elu(i8, { alpha: 2 }))
  dtype('float64', ft.nn.celu(f64, { alpha: 2 }))
  dtype('bfloat16', ft.nn.gelu(bf16, { approximate: 'tanh' }))
  dtype('float32', ft.nn.softplus(f32, { beta: 2 }))
  dtype('float32', ft.nn.hardtanh(u8, { min: 0, max: 1 }))
  dtype('float64', ft.nn.hardshrink(f64, { lambda: 1 }))
  dtype('float32', ft.nn.softshrink(i8, { lambda: 1 }))
  dtype('float64', ft.nn.prelu(f32, f64))
  dtype('float32', ft.nn.prelu(i8, 0.1))
  dtype('float16', ft.nn.prelu(1, f16))
  // Of the root.
  dtype('float32', ft.softmax(f32, -1))
  dtype('float64', f64.softmax({ axis: 0 }))
  dtype('float32', ft.logSoftmax(i8))
  dtype('float16', f16.logSoftmax(0))
  // Normalisation; what is left out promotes nothing.
  dtype('float16', ft.nn.layerNorm(f16))
  dtype('float64', ft.nn.layerNorm(f32, f64))
  dtype('float16', ft.nn.layerNorm(i8, undefined, f16, { axis: -1, eps: 1e-3 }))
  dtype('bfloat16', ft.nn.rmsNorm(bf16))
  dtype('float64', ft.nn.rmsNorm(f32, f64, 0))
  dtype('float16', ft.nn.groupNorm(image(f16), 1))
  dtype('float64', ft.nn.groupNorm(image(f32), 1, f64.at('0:1'), undefined, { eps: 1e-3 }))
  dtype('float32', ft.nn.batchNorm(image(i8)))
  dtype('float16', ft.nn.batchNorm(image(f16), f16.at('0:1'), f16.at('0:1')))
  dtype('float64', ft.nn.batchNorm(image(f32), undefined, undefined, f64.at('0:1'), undefined, { eps: 1e-3 }))
  dtype('float32', ft.nn.batchNorm(image(i8), u8.at('0:1'), i8.at('0:1'), f16.at('0:1'), bf16.at('0:1')))
  // Attention, embedding, dropout.
  dtype('float64', ft.nn.scaledDotProductAttention(square(f32), square(f64), square(f16)))
  dtype('float32', ft.nn.scaledDotProductAttention(square(i8), square(u8), square(bool), square(bool), { scale: 1 }))
  dtype('complex64', ft.nn.embedding(i64, square(c64)))
  dtype('int8', ft.nn.embedding(u8, square(i8)))
  dtype('float32', ft.nn.dropout(key, i8, { p: 0.1 }))
  dtype('float64', ft.nn.dropout(key, f64))
  // Losses.
  dtype('float64', ft.nn.mseLoss(f32, f64, { reduction: 'sum' }))
  dtype('float32', ft.nn.mseLoss(i8, u8))
  dtype('float16', ft.nn.l1Loss(f16, f16))
  dtype('float32', ft.nn.huberLoss(f32, bf16, { delta: 2, reduction: 'none' }))
  dtype('float16', ft.nn.binaryCrossEntropyWithLogits(f16, bool))
  dtype('float64', ft.nn.binaryCrossEntropyWithLogits(f32, i8, f64, { reduction: 'mean' }))
  dtype('float64', ft.nn.klDiv(f64, f32, { reduction: 'batchmean', logTarget: true }))
  dtype('float32', ft.nn.klDiv(i8, i8))
  dtype('float64', ft.nn.nllLoss(square(f64), i32.at('0:2')))
  dtype('float16', ft.nn.nllLoss(square(f16), u8.at('0:2'), f64.at('0:2'), { ignoreIndex: -1 }))
  dtype('float32', ft.nn.crossEntropy(square(f32), i64.at('0:2'), undefined, { labelSmoothing: 0.1 }))
  dtype('float16', ft.nn.crossEntropy(square(f16), square(f64)))
  // Convolution and pooling.
  dtype('float64', ft.nn.conv(image(f32), image(f64), { padding: 'same', paddingMode: 'reflect' }))
  dtype('int32', ft.nn.conv(image(i8), image(u8), { stride: [1], groups: 1, dilation: 1, inputDilation: 1 }))
  dtype('complex64', ft.nn.convTranspose(image(f16), image(c64)))
  dtype('int32', ft.nn.convTranspose(image(u8), image(i8), { stride: 2, outputPadding: 1 }))
  dtype('int8', ft.nn.maxPool(image(i8), 2))
  dtype('float16', ft.nn.maxPool(image(f16), [2], { stride: 1, padding: 'valid' }))
  dtype('float32', ft.nn.avgPool(image(i8), 2))
  dtype('bfloat16', ft.nn.avgPool(image(bf16), 2, { padding: [[1, 1]] }))
  dtype('float32', ft.nn.adaptiveAvgPool(image(u8), 2))
  dtype('float64', ft.nn.adaptiveAvgPool(image(f64), [1]))
  dtype('uint8', ft.nn.adaptiveMaxPool(image(u8), 2))
  dtype('float16', ft.nn.adaptiveMaxPool(image(f16), 1))
  dtype('float32', ft.nn.interpolate(image(i8), 8))
  dtype('float64', ft.nn.interpolate(image(f64), [8], { mode: 'linear', alignCorners: true }))
  dtypesOfLayers()
}

/** Compiled, never called. */
export function compiled(): void {
  dtype('float32' as ft.FloatOrComplexDType, ft.nn.gelu(wide))
  dtype('float32' as ft.DType, ft.nn.maxPool(wide, 2))
  layers()
}

/** A layer of a user's, around another. */
class Residual<P, S> extends ft.nn.Module<P, S> {
  constructor(readonly layer: ft.nn.Module<P, S>) {
    super()
  }

  init(own: ft.random.Key, options?: ft.nn.InitOptions): P {
    return this.layer.init(own, options)
  }

  protected run(params: P, x: ft.Tensor, run: ft.nn.Run<S>): readonly [ft.Tensor, S] {
    const [y, state] = ft.nn.Module.run(this.layer, params, x, run)
    return [x.add(y), state]
  }
}

/** What a layer makes of a batch is what its type says, for parameters and operands of several dtypes. */
function dtypesOfLayers(): void {
  const linear = new ft.nn.Linear(2, 2)
  dtype('float32', linear.init(key).weight)
  dtype('float64', linear.init(key, { dtype: 'float64' }).weight)
  dtype('float32', linear.apply(linear.init(key), square(f32)))
  dtype('float64', linear.apply(linear.init(key), square(f64)))
  dtype('float64', linear.apply(linear.init(key, { dtype: 'float64' }), square(f32)))
  dtype('float16', linear.apply(linear.init(key, { dtype: 'float16' }), square(f16)))
  dtype('float32', linear.apply(linear.init(key, { dtype: 'float16' }), square(bf16)))
  dtype('float32', linear.apply(linear.init(key), square(i8)))
  dtype('complex64', linear.apply(linear.init(key), square(c64)))
  const conv = new ft.nn.Conv1d(1, 1, 1)
  dtype('float64', conv.apply(conv.init(key), image(f64)))
  dtype('float32', conv.apply(conv.init(key), image(u8)))
  const embedding = new ft.nn.Embedding(4, 2, { paddingIndex: 0 })
  dtype('bfloat16', embedding.apply(embedding.init(key, { dtype: 'bfloat16' }), i32.clip(0, 3)))
  for (const norm of [new ft.nn.LayerNorm(2), new ft.nn.LayerNorm(2, { affine: false })]) {
    dtype('float32', norm.apply(norm.init(key), square(f32)))
  }
  const rms = new ft.nn.RMSNorm(2)
  dtype('float64', rms.apply(rms.init(key), square(f64)))
  const batch = new ft.nn.BatchNorm(2)
  dtype('float32', batch.train(batch.init(key), square(f32), { state: batch.initState() })[0])
  dtype('float32', batch.apply(batch.init(key), square(f16), { state: batch.initState() }))
  const dropped = new ft.nn.Dropout()
  dtype('float16', dropped.train(null, f16, { key })[0])
  const lstm = new ft.nn.LSTM(2, 2)
  const steps = square(f32).reshape([1, 2, 2])
  dtype('float32', lstm.apply(lstm.init(key), steps))
  dtype('float32', lstm.forward(lstm.init(key), steps).state.c)
  const gru = new ft.nn.GRU(2, 2)
  dtype('float64', gru.apply(gru.init(key, { dtype: 'float64' }), steps))
  dtype('float64', gru.forward(gru.init(key), steps, ft.zeros([1, 1, 2], { dtype: 'float64' })).output)
  const attention = new ft.nn.MultiHeadAttention(2, 1)
  dtype('float32', attention.apply(attention.init(key), steps))
  dtype('float64', attention.attend(attention.init(key), steps, steps, steps.astype('float64')))
  const model = new ft.nn.Sequential(linear, (x) => x.relu(), ft.relu, ft.nn.gelu, new ft.nn.Dropout({ p: 0.5 }), linear)
  dtype('float32', model.apply(model.init(key), square(f32)))
  dtype('float64', model.apply(model.init(key, { dtype: 'float64' }), square(f32)))
  dtype('float64', new ft.nn.Sequential(linear, (x) => x.astype('float64'), (x) => x.tanh()).apply([linear.init(key), null, null], square(f32)))
  const tree = { one: linear, more: [embedding] }
  dtype('float16', ft.nn.initTree(tree, key, { dtype: 'float16' }).one.weight)
  // A step of training: the loss is a number.
  const loss = (p: ft.nn.ParamsOf<typeof model>, x: ft.Tensor<'float32'>) => ft.nn.mseLoss(model.apply(p, x), x)
  const [value, grads] = ft.valueAndGrad(loss)(model.init(key), square(f32))
  dtype('float32', value)
  is<number>()(value.itemSync())
  is<Float32Array>()(value.dataSync())
  dtype('float32', grads[0].weight)
}

/** Layers: trees of parameters have the structure of their layers. */
function layers(): void {
  dtype('float32', ft.nn.linear(f32, square(f32), f32))
  dtype('float64', ft.nn.init.heNormal(key, [2, 3], { dtype: 'float64' }))
  dtype('float32', ft.nn.init.orthogonal(key, [2, 3]))
  const linear = new ft.nn.Linear(2, 3)
  is<ft.nn.OfDType<ft.nn.LinearParams, 'float32'>>()(linear.init(key))
  is<ft.Tensor<'float32'>>()(linear.apply(linear.init(key), square(f32)))
  const model = new ft.nn.Sequential(linear, (x) => x.relu(), new ft.nn.BatchNorm(3))
  const [first, none, norm] = model.init(key)
  is<ft.Tensor<'float32'>>()(first.weight)
  is<null>()(none)
  is<ft.Tensor<'float32'> | undefined>()(norm?.bias)
  is<ft.Tensor | undefined>()(model.initState()[2]?.runningMean)
  const [result, state] = model.train(model.init(key), square(f32), { state: model.initState() })
  is<ft.Tensor<'float32'>>()(result)
  is<ft.nn.BatchNormState | null>()(state[2])
  // Of layers of others nothing is known.
  const around = new ft.nn.Sequential(new Residual(new ft.nn.Linear(3, 3)))
  is<[ft.nn.LinearParams]>()(around.init(key))
  is<ft.Tensor>()(around.apply(around.init(key), ft.ones([2, 3])))
  const keeps = new ft.nn.Sequential((x: ft.Tensor) => x.relu())
  is<ft.Tensor>()(keeps.apply([null], f32))
  const tree = { norm: new ft.nn.LayerNorm(3), blocks: [new ft.nn.Embedding(2, 2)], act: (x: ft.Tensor) => x }
  is<{ norm: ft.nn.OfDType<ft.nn.NormParams, 'float32'> | null; blocks: ft.nn.OfDType<ft.nn.EmbeddingParams, 'float32'>[]; act: null }>()(ft.nn.initTree(tree, key))
  is<{ norm: null; blocks: null[]; act: null }>()(ft.nn.initStateTree(tree))
  is<Record<string, ft.Tensor>>()(ft.nn.stateDict(model.init(key), model.initState()))
  is<[{ w: ft.Tensor<'float32'> }]>()(ft.nn.loadStateDict({ w: f32 }, [{ w: f32 }]))
  const lstm = new ft.nn.LSTM(3, 2)
  is<ft.nn.LSTMState<'float32'>>()(lstm.forward(lstm.init(key), ft.ones([1, 2, 3])).state)
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: not of complex numbers
  ft.nn.relu6(c64)
  // @ts-expect-error: not of complex numbers
  ft.nn.selu(c64)
  // @ts-expect-error: not of complex numbers
  ft.nn.mish(c64)
  // @ts-expect-error: not of complex numbers
  ft.nn.hardsigmoid(c64)
  // @ts-expect-error: not of complex numbers
  ft.nn.hardswish(c64)
  // @ts-expect-error: not of complex numbers
  ft.nn.logSigmoid(c64)
  // @ts-expect-error: not of complex numbers
  ft.softmax(c64)
  // @ts-expect-error: not of complex numbers
  c64.logSoftmax()
  // @ts-expect-error: a function only
  f32.gelu()
  // @ts-expect-error: the tensor is missing
  ft.nn.relu6()
  // @ts-expect-error: options are an object
  ft.nn.leakyRelu(f32, 0.1)
  // @ts-expect-error: no such option
  ft.nn.leakyRelu(f32, { slope: 0.1 })
  // @ts-expect-error: a text for a number
  ft.nn.elu(f32, { alpha: '1' })
  // @ts-expect-error: no such approximation
  ft.nn.gelu(f32, { approximate: 'sigmoid' })
  // @ts-expect-error: a boolean for a word
  ft.nn.gelu(f32, { approximate: true })
  // @ts-expect-error: no such option
  ft.nn.softplus(f32, { limit: 20 })
  // @ts-expect-error: options are an object
  ft.nn.hardtanh(f32, -1, 1)
  // @ts-expect-error: no such option
  ft.nn.hardshrink(f32, { threshold: 1 })
  // @ts-expect-error: a tensor for options
  ft.nn.softshrink(f32, f32)
  // @ts-expect-error: no such option
  ft.nn.celu(f32, { beta: 1 })
  // @ts-expect-error: the weight is missing
  ft.nn.prelu(f32)
  // @ts-expect-error: no tensor among the operands
  ft.nn.prelu(1, 2)
  // @ts-expect-error: not of complex numbers
  ft.nn.prelu(f32, c64)
  // @ts-expect-error: one axis alone
  f32.softmax([0])
  // @ts-expect-error: a number for a tensor
  ft.nn.layerNorm(f32, 1)
  // @ts-expect-error: not of complex numbers
  ft.nn.layerNorm(c64)
  // @ts-expect-error: no such option
  ft.nn.layerNorm(f32, f32, f32, { epsilon: 1 })
  // @ts-expect-error: pairs are for ft.pad
  ft.nn.pad(f32, [[1, 1]])
  // @ts-expect-error: a mode of NumPy's
  ft.nn.pad(f32, [1, 1], { mode: 'edge' })
  // @ts-expect-error: the value is missing
  new ft.nn.ConstantPad2d(1)
  // @ts-expect-error: options for a tensor
  ft.nn.rmsNorm(f32, { eps: 1e-3 })
  // @ts-expect-error: the number of groups is missing
  ft.nn.groupNorm(f32)
  // @ts-expect-error: a tensor for a number
  ft.nn.groupNorm(f32, f32)
  // @ts-expect-error: not of complex numbers
  ft.nn.batchNorm(f32, c64)
  // @ts-expect-error: options are an object
  ft.nn.batchNorm(f32, f32, f32, f32, f32, 1e-3)
  // @ts-expect-error: the values are missing
  ft.nn.scaledDotProductAttention(f32, f32)
  // @ts-expect-error: not of complex numbers
  ft.nn.scaledDotProductAttention(f32, f32, c64)
  // @ts-expect-error: no such option
  ft.nn.scaledDotProductAttention(f32, f32, f32, undefined, { isCausal: true })
  // @ts-expect-error: positions are integers
  ft.nn.embedding(f32, f32)
  // @ts-expect-error: positions are at most int64
  ft.nn.embedding(u64, f32)
  // @ts-expect-error: an array for a tensor
  ft.nn.embedding([0, 1], f32)
  // @ts-expect-error: the key is missing
  ft.nn.dropout(f32, { p: 0.5 })
  // @ts-expect-error: a tensor of floats is no key
  ft.nn.dropout(f32, f32)
  // @ts-expect-error: options are an object
  ft.nn.dropout(u32, f32, 0.5)
  // @ts-expect-error: the target is missing
  ft.nn.mseLoss(f32)
  // @ts-expect-error: a number for a tensor
  ft.nn.mseLoss(f32, 1)
  // @ts-expect-error: no such reduction
  ft.nn.mseLoss(f32, f32, { reduction: 'average' })
  // @ts-expect-error: options are an object
  ft.nn.l1Loss(f32, f32, 'mean')
  // @ts-expect-error: a text for a number
  ft.nn.huberLoss(f32, f32, { delta: '1' })
  // @ts-expect-error: options for a tensor
  ft.nn.binaryCrossEntropyWithLogits(f32, f32, { posWeight: f32 })
  // @ts-expect-error: no such reduction
  ft.nn.klDiv(f32, f32, { reduction: 'batch' })
  // @ts-expect-error: of klDiv alone
  ft.nn.mseLoss(f32, f32, { reduction: 'batchmean' })
  // @ts-expect-error: not of complex numbers
  ft.nn.binaryCrossEntropy(c64, f32)
  // @ts-expect-error: no such option
  ft.nn.hingeLoss(f32, f32, { beta: 1 })
  // @ts-expect-error: the variance is missing
  ft.nn.gaussianNllLoss(f32, f32)
  // @ts-expect-error: no such option
  ft.nn.softMarginLoss(f32, f32, { margin: 1 })
  // @ts-expect-error: the target is missing
  ft.nn.cosineEmbeddingLoss(f32, f32)
  // @ts-expect-error: the values are missing
  ft.nn.groupedQueryAttention(f32, f32)
  // @ts-expect-error: classes are integers
  ft.nn.nllLoss(f32, f32)
  // @ts-expect-error: no such option
  ft.nn.nllLoss(f32, i32, f32, { labelSmoothing: 1 })
  // @ts-expect-error: not of complex numbers
  ft.nn.crossEntropy(c64, i32)
  // @ts-expect-error: an array for a tensor
  ft.nn.crossEntropy(f32, [0, 1])
  // @ts-expect-error: the weights are missing
  ft.nn.conv(f32)
  // @ts-expect-error: bool is no numeric dtype
  ft.nn.conv(bool, bool)
  // @ts-expect-error: no such padding
  ft.nn.conv(f32, f32, { padding: 'full' })
  // @ts-expect-error: no such mode
  ft.nn.conv(f32, f32, { paddingMode: 'zero' })
  // @ts-expect-error: one number
  ft.nn.conv(f32, f32, { groups: [1] })
  // @ts-expect-error: no such option
  ft.nn.conv(f32, f32, { strides: 1 })
  // @ts-expect-error: bool is no numeric dtype
  ft.nn.convTranspose(f32, bool)
  // @ts-expect-error: no such option
  ft.nn.convTranspose(f32, f32, { paddingMode: 1 })
  // @ts-expect-error: the window is missing
  ft.nn.maxPool(f32)
  // @ts-expect-error: complex numbers have no order
  ft.nn.maxPool(c64, 2)
  // @ts-expect-error: bool is no numeric dtype
  ft.nn.maxPool(bool, 2)
  // @ts-expect-error: a text for a number
  ft.nn.avgPool(f32, '2')
  // @ts-expect-error: not of complex numbers
  ft.nn.avgPool(c64, 2)
  // @ts-expect-error: no such option
  ft.nn.avgPool(f32, 2, { returnIndices: true })
  // @ts-expect-error: the size is missing
  ft.nn.adaptiveAvgPool(f32)
  // @ts-expect-error: complex numbers have no order
  ft.nn.adaptiveMaxPool(c64, 1)
  // @ts-expect-error: no such mode
  ft.nn.interpolate(f32, 8, { mode: 'cubic' })
  // @ts-expect-error: the size is missing
  ft.nn.interpolate(f32, { scale: 2 })
  // @ts-expect-error: not of complex numbers
  ft.nn.interpolate(c64, 8)
  // @ts-expect-error: the result is float32
  ft.nn.gelu(i32) satisfies ft.Tensor<'int32'>
  // @ts-expect-error: the result is float32
  ft.nn.layerNorm(f16, f32) satisfies ft.Tensor<'float16'>
  // @ts-expect-error a layer's parameters are those of its class
  new ft.nn.Linear(2, 3).apply({ kernel: f32 }, f32)
  // @ts-expect-error the state of what keeps none is null
  new ft.nn.Linear(2, 3).apply({ weight: square(f32) }, f32, { state: { runningMean: f32 } })
  // @ts-expect-error texts are no layers
  new ft.nn.Sequential('relu')
  // @ts-expect-error weights are floating
  ft.nn.init.heNormal(key, [2, 3], { dtype: 'int32' })
}
