// Functions of neural networks that are made of others, beside PyTorch's: values, gradients, traced, and what they refuse
// (functional.py made the file).
// runs on: host

import { readFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

type D = ft.Tensor<'float64'>

interface Case {
  readonly name: string
  readonly title: string
  readonly inputs: readonly ft.TensorData[]
  readonly rest: readonly unknown[]
  readonly options: object
  readonly value: ft.TensorData
  readonly indices?: ft.TensorData
  readonly cotangent: ft.TensorData
  readonly gradients: readonly ft.TensorData[]
}

// This file runs as dist/__test__/nn/functional.test.js.
const golden = JSON.parse(readFileSync(new URL('../../../__test__/nn/functional.json', import.meta.url), 'utf8')) as { cases: Case[] }
const f64 = (data: ft.TensorData): D => ft.tensor(data as number[], { dtype: 'float64' })

/** An argument behind the tensors, or an option: `{ int32: ... }` is a tensor, null stands for what is left out. */
function argument(value: unknown): unknown {
  if (value === null) return undefined
  const [dtype, data] = typeof value === 'object' && !Array.isArray(value) ? (Object.entries(value)[0] as [ft.DType, number[]]) : []
  return dtype === undefined ? value : ft.tensor(data as number[], { dtype })
}

/** The function of a case, from its inputs to its result. */
function called({ name, rest, options }: Case): (xs: D[]) => ft.Tensor {
  const f = (ft.nn as unknown as Record<string, (...args: unknown[]) => ft.Tensor>)[name] as (...args: unknown[]) => ft.Tensor
  const read = Object.fromEntries(Object.entries(options).map(([option, value]) => [option, argument(value)]))
  return (xs) => {
    // Log-probabilities are what a loss of sequences takes.
    const inputs: unknown[] = name === 'ctcLoss' ? xs.map((x) => ft.logSoftmax(x)) : [...xs]
    // A bias that is left out stands before the options.
    if (name === 'instanceNorm') while (inputs.length < 3) inputs.push(undefined)
    const found = f(...inputs, ...rest.map(argument), ...(Object.keys(options).length > 0 ? [read] : []))
    return 'returnIndices' in options ? (found as unknown as ft.nn.MaxPoolIndices).values : found
  }
}

/** Both are float64, with sums in another order. */
function near(t: { true: (value: boolean, message?: string) => unknown; deepEqual: (a: unknown, b: unknown, message?: string) => unknown }, what: string, found: ft.Tensor, wanted: ft.TensorData): void {
  const expected = f64(wanted)
  t.deepEqual(found.shape, expected.shape, what)
  const apart = ft.isclose(found, expected, { rtol: 1e-10, atol: 1e-11, equalNan: true }).logicalNot().countNonzero().itemSync()
  t.true(apart === 0, `${what}: ${String(found)} beside ${String(expected)}`)
}

golden.cases.forEach((it, n) => {
  test(`as PyTorch: ${it.name} ${it.title}${JSON.stringify(it.options)} (${n})`, (t) => {
    const [f, xs] = [called(it), it.inputs.map(f64)]
    near(t, 'value', f(xs), it.value)
    near(t, 'traced', ft.jit(f)(xs), it.value)
    if (it.indices !== undefined) {
      const { indices } = ft.nn.maxPool(xs[0] as D, it.rest[0] as number, it.options as ft.nn.MaxPoolOptions & { returnIndices: true })
      t.is(indices.dtype, 'int32')
      t.deepEqual(indices.toArray(), it.indices as never)
    }
    const cotangent = f64(it.cotangent)
    const slopes = ft.grad((list: D[]) => ft.where(cotangent.equal(0), 0, f(list).mul(cotangent)).sum() as D)(xs)
    it.gradients.forEach((wanted, i) => near(t, `gradient ${i}`, slopes[i] as D, wanted))
  })
})

test('every function of the file is tried', (t) => {
  t.is(golden.cases.length, 101)
})

const key = ft.random.key(7)

test('poolings: NaN wins and has a place, padding never does, integers', (t) => {
  const x = ft.tensor([[[NaN, 1, -Infinity, -Infinity, 2]]])
  const flat = ({ values, indices }: ft.nn.MaxPoolIndices) => [values, indices].map((y) => y.flatten().toArray())
  t.deepEqual(flat(ft.nn.maxPool(x, 2, { ceilMode: true, padding: 1, returnIndices: true })), [[NaN, 1, 2], [0, 1, 4]])
  // The places of the padding are none, where all elements are as small.
  t.deepEqual(flat(ft.nn.maxPool(ft.tensor([[[-Infinity, -Infinity]]]), 3, { padding: 1, returnIndices: true })), [[-Infinity], [0]])
  const i8 = ft.tensor([[[-128, -128, 5]]], { dtype: 'int8' })
  const pooled = ft.nn.maxPool(i8, 2, { ceilMode: true, returnIndices: true })
  t.deepEqual([pooled.values.dtype, ...flat(pooled)], ['int8', [-128, 5], [0, 2]] as never)
  const [values, indices] = pooled
  t.deepEqual([values, indices], [pooled.values, pooled.indices])
  t.deepEqual(ft.nn.maxUnpool(pooled.values, pooled.indices, 2, { outputSize: [3] }).flatten().toArray(), [-128, 0, 5])
  t.deepEqual(ft.nn.avgPool(i8, 2, { ceilMode: true }).flatten().toArray(), [-128, 5])
  t.is(ft.nn.avgPool(ft.ones([1, 1, 3], { dtype: 'float16' }), 2, { divisor: 4 }).dtype, 'float16')
  // Without the new options it is the row itself.
  t.deepEqual(ft.nn.maxPool(i8, 2, { ceilMode: false }).toArray(), [[[-128]]])
  throws(t, 'ERR_ARGUMENT', /^nn\.avgPool: 'divisor' must be a finite number other than 0, got 0/, () => ft.nn.avgPool(x, 2, { divisor: 0 }))
  throws(t, 'ERR_ARGUMENT', /^nn\.maxPool: 'ceilMode' must be a boolean/, () => ft.nn.maxPool(x, 2, { ceilMode: 1 as never }))
  throws(t, 'ERR_SHAPE', /^nn\.maxPool: a window of 9 places does not fit an axis of 5/, () => ft.nn.maxPool(x, 9, { ceilMode: true }))
  throws(t, 'ERR_SHAPE', /^nn\.maxUnpool: x and indices differ in shape/, () => ft.nn.maxUnpool(x, ft.ones([1], { dtype: 'int32' }), 2))
  throws(t, 'ERR_INDEX', /out of range/, () => ft.nn.maxUnpool(ft.ones([1, 1, 1]), ft.full([1, 1, 1], 2, { dtype: 'int32' }), 2).toArray())
})

test('sizes: by a factor alone, by both or none, and modes that do not fit', (t) => {
  const { interpolate } = ft.nn
  const x = ft.ones([1, 1, 3, 4])
  t.deepEqual(interpolate(x, { scaleFactor: 2 }).shape, [1, 1, 6, 8])
  t.deepEqual(interpolate(x, { scaleFactor: [1, 0.5], mode: 'bicubic' }).shape, [1, 1, 3, 2])
  t.deepEqual(interpolate(x, 2, { mode: 'bilinear' }).toArray(), interpolate(x, 2, { mode: 'linear' }).toArray())
  t.is(interpolate(ft.ones([1, 1, 2, 2], { dtype: 'float16' }), 5, { mode: 'bicubic' }).dtype, 'float16')
  t.is(interpolate(ft.ones([1, 1, 2], { dtype: 'int8' }), { scaleFactor: 1.3 }).dtype, 'float32')
  throws(t, 'ERR_ARGUMENT', /give a size, or \{ scaleFactor \}, and not both/, () => interpolate(x, 2, { scaleFactor: 2 }))
  throws(t, 'ERR_ARGUMENT', /give a size, or \{ scaleFactor \}, and not both/, () => interpolate(x, {}))
  throws(t, 'ERR_ARGUMENT', /'scaleFactor' 0\.1 leaves nothing of 3 x 4 elements/, () => interpolate(x, { scaleFactor: 0.1 }))
  throws(t, 'ERR_SHAPE', /mode 'bicubic' is of 2 spatial axes/, () => interpolate(ft.ones([1, 1, 3]), 2, { mode: 'bicubic' }))
  throws(t, 'ERR_ARGUMENT', /'antialias' is of lines and cubic polynomials/, () => interpolate(x, 2, { antialias: true }))
  throws(t, 'ERR_ARGUMENT', /'alignCorners' is of lines/, () => interpolate(x, 2, { mode: 'area', alignCorners: true }))
  throws(t, 'ERR_ARGUMENT', /'mode' must be one of 'nearest'/, () => interpolate(x, 2, { mode: 'lanczos' as never }))
  throws(t, 'ERR_SHAPE', /are too many for an axis of 3/, () => interpolate(x, [2 ** 30, 1], { mode: 'bicubic' }))
})

test('losses of sequences that cannot have their labels, and of impossible steps', (t) => {
  const x = ft.logSoftmax(ft.zeros([2, 2, 3]))
  const target = ft.tensor([[1, 1], [1, 2]], { dtype: 'int32' })
  t.deepEqual(ft.nn.ctcLoss(x, target, [2, 1], [2, 2], { reduction: 'none' }).toArray(), [Infinity, Infinity])
  t.deepEqual(ft.nn.ctcLoss(x, target, [2, 1], [2, 2], { reduction: 'none', zeroInfinity: true }).toArray(), [0, 0])
  t.is(ft.nn.ctcLoss(x, target, [2, 2], [2, 2]).itemSync(), Infinity)
  // A class of probability 0 is no NaN on the way back.
  const loss = (p: ft.Tensor<'float32'>) => ft.nn.ctcLoss(ft.logSoftmax(ft.where(ft.tensor([true, true, false]), p, -Infinity)), ft.tensor([[1]], { dtype: 'int32' }), [2], [1])
  const slope = ft.grad(loss)(ft.zeros([2, 1, 3]))
  t.true(slope.isfinite().all().itemSync(), String(slope))
  for (const dtype of ['float16', 'bfloat16'] as const) t.is(ft.nn.ctcLoss(x.astype(dtype), target, [2, 2], [1, 2]).dtype, dtype)
  throws(t, 'ERR_INDEX', /nn\.ctcLoss|out of range/, () => ft.nn.ctcLoss(x, ft.tensor([[5, 1], [1, 2]], { dtype: 'int32' }), [2, 2], [1, 2]).toArray())
})

test('places that are NaN or beyond all numbers read nothing, or the border', (t) => {
  const x = ft.tensor([[[[1, 2], [3, 4]]]])
  const grid = ft.tensor([[[[NaN, 0], [Infinity, 0], [-1e30, 1e30], [0, 0]]]])
  for (const mode of ['bilinear', 'nearest'] as const) {
    const zeros = ft.nn.gridSample(x, grid, { mode }).flatten().toArray() as number[]
    t.deepEqual(zeros.slice(0, 3), [0, 0, 0], mode)
    const border = ft.nn.gridSample(x, grid, { mode, paddingMode: 'border' }).flatten().toArray() as number[]
    t.is(border[2], 3)
    t.true((ft.nn.gridSample(x, grid, { mode, paddingMode: 'reflection' }).flatten().toArray() as number[]).every((v) => v >= 0 && v <= 4))
  }
})

test('gumbelSoftmax: shares of the right classes, and one of them with their gradient', (t) => {
  const p = [0.5, 0.2, 0.3]
  const logits = ft.tensor(p).log().add(3).broadcastTo([20_000, 3])
  const hard = ft.nn.gumbelSoftmax(key, logits, { tau: 0.5, hard: true })
  t.deepEqual(hard.sum(1).equal(1).all().toArray(), true)
  t.deepEqual(hard.equal(0).logicalOr(hard.equal(1)).all().toArray(), true)
  // Four standard errors.
  ;(hard.mean(0).toArray() as number[]).forEach((share, i) => t.true(Math.abs(share - (p[i] as number)) < 4 * Math.sqrt(0.25 / 20_000)))
  const soft = ft.nn.gumbelSoftmax(key, logits, { tau: 0.5 })
  t.deepEqual(soft.argmax({ axis: 1 }).equal(hard.argmax({ axis: 1 })).all().toArray(), true)
  const few = ft.tensor([[0, 1, 2]])
  const slope = (options: object) => ft.grad((x: typeof few) => ft.nn.gumbelSoftmax(key, x, options).mul(ft.tensor([1, 2, 4])).sum())(few).toArray()
  t.deepEqual(slope({ hard: true }), slope({}))
  t.deepEqual(ft.nn.gumbelSoftmax(key, ft.zeros([3, 2]), { axis: 0, hard: true }).sum(0).toArray(), [1, 1])
})

test('whole channels are dropped', (t) => {
  const y = ft.nn.channelDropout(key, ft.ones([50, 40, 2, 3]), { p: 0.25 })
  const channels = y.max([2, 3])
  t.deepEqual(channels.equal(y.min([2, 3])).all().toArray(), true)
  t.true(Math.abs((channels.greater(0).mean().itemSync() as number) - 0.75) < 4 * Math.sqrt(0.1875 / 2000))
  t.true(Math.abs((y.max().itemSync() as number) - 4 / 3) < 1e-6)
})

test('dtypes: integers where nothing is divided, halves where it is', (t) => {
  const i = ft.arange(8, { dtype: 'int16' })
  t.deepEqual(ft.nn.pixelShuffle(i.reshape([4, 1, 2]), 2).dtype, 'int16')
  t.deepEqual(ft.nn.fold(ft.nn.unfold(i.reshape([1, 2, 4]), 2, { stride: 2 }), [2, 4], 2, { stride: 2 }).toArray(), i.reshape([1, 2, 4]).toArray())
  t.deepEqual(ft.nn.threshold(i, 3, -1).toArray(), [-1, -1, -1, -1, 4, 5, 6, 7])
  t.deepEqual(ft.nn.threshold(ft.tensor([NaN, 1]), 3, -1).toArray(), [NaN, -1])
  t.is(ft.nn.normalize(i.reshape([2, 4])).dtype, 'float32')
  // The squares of these are beyond float16.
  t.true(ft.nn.normalize(ft.tensor([[3e4, 4e4]], { dtype: 'float16' })).sub(ft.tensor([0.6, 0.8])).abs().max().itemSync() < 1e-3)
  t.is(ft.nn.gridSample(i.reshape([1, 1, 2, 4]), ft.zeros([1, 1, 1, 2], { dtype: 'float16' })).dtype, 'float32')
})

test('an entry that pads has no gradient, from either end', (t) => {
  const weights = ft.tensor([[1, 2], [3, 4], [5, 6]])
  const indices = ft.tensor([0, -1, 2, 1], { dtype: 'int32' })
  for (const paddingIndex of [2, -1]) {
    const f = (w: typeof weights) => ft.nn.embedding(indices, w, { paddingIndex })
    t.deepEqual(f(weights).toArray(), [[1, 2], [5, 6], [5, 6], [3, 4]])
    t.deepEqual(ft.grad((w: typeof weights) => f(w).sum())(weights).toArray(), [[1, 1], [1, 1], [0, 0]])
  }
  throws(t, 'ERR_ARGUMENT', /'paddingIndex' must be an index of 3 entries, got 3/, () => ft.nn.embedding(indices, weights, { paddingIndex: 3 }))
})

test('what does not fit is refused where it is wrong', (t) => {
  const { nn } = ft
  const x = ft.ones([1, 4, 3, 3])
  const list = (value: unknown): never => value as never
  throws(t, 'ERR_INDEX', /^nn\.normalize: axis 1 is out of range for rank 1/, () => nn.normalize(ft.ones([3])))
  throws(t, 'ERR_ARGUMENT', /^nn\.normalize: 'p' must be above 0/, () => nn.normalize(x, { p: 0 }))
  throws(t, 'ERR_ARGUMENT', /^nn\.normalize: 'eps' must be a number from 0/, () => nn.normalize(x, { eps: -1 }))
  throws(t, 'ERR_SHAPE', /^nn\.cosineSimilarity: /, () => nn.cosineSimilarity(ft.ones([2, 3]), ft.ones([2, 4])))
  throws(t, 'ERR_DTYPE', /^nn\.pairwiseDistance: 'x2' must be real/, () => nn.pairwiseDistance(ft.ones([2]), list(ft.ones([2], { dtype: 'complex64' }))))
  throws(t, 'ERR_SHAPE', /^nn\.pixelShuffle: 4 channels are no multiple of the factor's square, 9/, () => nn.pixelShuffle(x, 3))
  throws(t, 'ERR_SHAPE', /^nn\.pixelUnshuffle: height 3 and width 3 must be multiples of the factor 2/, () => nn.pixelUnshuffle(x, 2))
  throws(t, 'ERR_ARGUMENT', /^nn\.pixelShuffle: 'factor' must be positive/, () => nn.pixelShuffle(x, 0))
  throws(t, 'ERR_SHAPE', /^nn\.unfold: windows of 4 x 4 places do not fit a picture of 3 x 3/, () => nn.unfold(x, 4))
  throws(t, 'ERR_ARGUMENT', /^nn\.unfold: 'stride' must be one size from 1/, () => nn.unfold(x, 2, { stride: 0 }))
  throws(t, 'ERR_SHAPE', /^nn\.unfold: a picture of .* has more places than int32 counts/, () => nn.unfold(x, 1, { padding: 2 ** 20 }))
  throws(t, 'ERR_SHAPE', /^nn\.fold: x must have shape \[batch, channels \* 4, 4\]/, () => nn.fold(ft.ones([4, 3]), 3, 2))
  throws(t, 'ERR_SHAPE', /^nn\.bilinear: 'x2' must have shape \[\.\.\., 3\]/, () => nn.bilinear(ft.ones([2]), ft.ones([2]), ft.ones([4, 2, 3])))
  throws(t, 'ERR_SHAPE', /^nn\.instanceNorm: x must have shape/, () => nn.instanceNorm(ft.ones([2, 2])))
  throws(t, 'ERR_SHAPE', /^nn\.gridSample: x \[batch, channels, spatial/, () => nn.gridSample(x, ft.ones([2, 1, 1, 2])))
  throws(t, 'ERR_ARGUMENT', /^nn\.gridSample: 'mode' must be one of 'bilinear', 'nearest', got 'bicubic'/, () => nn.gridSample(x, ft.ones([1, 1, 1, 2]), { mode: list('bicubic') }))
  throws(t, 'ERR_DTYPE', /^nn\.gridSample: 'grid' must be floating/, () => nn.gridSample(x, list(ft.ones([1, 1, 1, 2], { dtype: 'int32' }))))
  throws(t, 'ERR_SHAPE', /^nn\.affineGrid: a size/, () => nn.affineGrid(ft.ones([1, 2, 2]), [1, 1, 2, 2]))
  throws(t, 'ERR_ARGUMENT', /^nn\.gumbelSoftmax: 'tau' must be/, () => nn.gumbelSoftmax(key, x, { tau: 0 }))
  throws(t, 'ERR_ARGUMENT', /the key comes before the logits/, () => nn.gumbelSoftmax(list(x), list({})))
  throws(t, 'ERR_SHAPE', /^nn\.channelDropout: x must have shape/, () => nn.channelDropout(key, ft.ones([2, 2])))
  throws(t, 'ERR_ARGUMENT', /^nn\.channelDropout: 'p' must be a number from 0 to 1/, () => nn.channelDropout(key, x, { p: 2 }))
  const labels = ft.ones([1, 2], { dtype: 'int32' })
  throws(t, 'ERR_SHAPE', /^nn\.ctcLoss: 'inputLengths' must have shape \[1\]/, () => nn.ctcLoss(ft.ones([3, 1, 2]), labels, [3, 3], [2]))
  throws(t, 'ERR_ARGUMENT', /^nn\.ctcLoss: 'blank' must be one of 2 classes, got 2/, () => nn.ctcLoss(ft.ones([3, 1, 2]), labels, [3], [2], { blank: 2 }))
  throws(t, 'ERR_SHAPE', /^nn\.ctcLoss: x must have shape \[time, batch, classes\]/, () => nn.ctcLoss(ft.ones([0, 1, 2]), labels, [3], [2]))
})
