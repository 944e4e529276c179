// Losses, gates and grouped attention that are made of rows: values and gradients of PyTorch, errors.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from '../expect.js'

type D = ft.Tensor<'float64'>

const f64 = (data: ft.TensorData): D => ft.tensor(data as number[], { dtype: 'float64' })
const X = [[-1.5, 0.2, 3], [0.7, -0.4, 1.1]]
const T = [[-1, 2, 2.5], [0, -0.4, 5]]
const N = [[0, 1, 2], [0.5, -0.5, 4]]
const SIDES = f64([[1, -1, 1], [-1, 1, -1]])
const P = [0, 1, 0.25, 0.9]
const Q = f64([1, 1, 0, 0.3])

/** A loss, its arguments, and PyTorch's: `y = f(*xs)`, `torch.autograd.grad(y.sum(), xs)`, with float64 as the default dtype. */
const LOSSES: Readonly<Record<string, readonly [f: (...xs: D[]) => ft.Tensor, xs: readonly ft.TensorData[], value: unknown, gradients: readonly unknown[]]>> = {
  // F.binary_cross_entropy(p, q, reduction=...). Its gradient is 0 at p = 1 = q, where the loss falls by 1 / p.
  'binaryCrossEntropy, mean': [(p) => ft.nn.binaryCrossEntropy(p, Q), [P], 25.48277494806124, [[-250000000000, -0.25, 0.3333333333333333, 1.6666666666666672]]],
  'binaryCrossEntropy, sum': [(p) => ft.nn.binaryCrossEntropy(p, Q, { reduction: 'sum' }), [P], 101.93109979224496, [[-1000000000000, -1, 1.3333333333333333, 6.666666666666669]]],
  'binaryCrossEntropy, each': [(p) => ft.nn.binaryCrossEntropy(p, Q, { reduction: 'none' }), [P], [100, 0, 0.2876820724517809, 1.6434177197931799], [[-1000000000000, -1, 1.3333333333333333, 6.666666666666669]]],
  'binaryCrossEntropy, weighed': [(p) => ft.nn.binaryCrossEntropy(p, Q, { weight: f64([0.5, 1, 2, 3]) }), [P], 13.876404326070775, [[-125000000000, -0.25, 0.6666666666666666, 5.000000000000002]]],
  'binaryCrossEntropy by its targets': [(p, t) => ft.nn.binaryCrossEntropy(p as D, t as D), [[0.25, 0.9], [0, 0.3]], 0.9655498961224804, [[0.6666666666666666, 3.3333333333333344], [0.5493061443340549, -1.0986122886681098]]],
  // F.smooth_l1_loss(x, t, beta=...)
  'smoothL1Loss, beta 0.5': [(x, t) => ft.nn.smoothL1Loss(x as D, t as D, { beta: 0.5 }), [X, T], 1.0250000000000001, [[[-1 / 6, -1 / 6, 1 / 6], [1 / 6, 0, -1 / 6]], [[1 / 6, 1 / 6, -1 / 6], [-1 / 6, 0, 1 / 6]]]],
  'smoothL1Loss, each': [(x, t) => ft.nn.smoothL1Loss(x as D, t as D, { reduction: 'none' }), [X, T], [[0.125, 1.3, 0.125], [0.24499999999999997, 0, 3.4]], [[[-0.5, -1, 0.5], [0.7, 0, -1]], [[0.5, 1, -0.5], [-0.7, 0, 1]]]],
  'smoothL1Loss, beta 0': [(x, t) => ft.nn.smoothL1Loss(x as D, t as D, { beta: 0 }), [X, T], 1.2333333333333334, [[[-1 / 6, -1 / 6, 1 / 6], [1 / 6, 0, -1 / 6]], [[1 / 6, 1 / 6, -1 / 6], [-1 / 6, 0, 1 / 6]]]],
  // (torch.clamp(1 - s * x, min=0)).mean()
  hingeLoss: [(x) => ft.nn.hingeLoss(x, SIDES), [X], 1.4833333333333334, [[[-1 / 6, 1 / 6, 0], [1 / 6, -1 / 6, 1 / 6]]]],
  // F.hinge_embedding_loss(x, s)
  hingeEmbeddingLoss: [(x) => ft.nn.hingeEmbeddingLoss(x, SIDES), [X], 0.3666666666666667, [[[1 / 6, -1 / 6, 1 / 6], [-1 / 6, 1 / 6, 0]]]],
  'hingeEmbeddingLoss, margin 2.5': [(x) => ft.nn.hingeEmbeddingLoss(x, SIDES, { margin: 2.5, reduction: 'none' }), [X], [[-1.5, 2.3, 3], [1.8, -0.4, 1.4]], [[[1, -1, 1], [-1, 1, -1]]]],
  // F.cosine_embedding_loss(x, t, torch.tensor([1., -1.]), margin=...)
  cosineEmbeddingLoss: [
    (x, t) => ft.nn.cosineEmbeddingLoss(x as D, t as D, f64([1, -1])), [X, T], 0.49665260354804386,
    [[[-0.01104229003671206, -0.08134356005695484, -9.824101457135692e-05], [-0.15568964946316957, 0.059729497017656605, 0.12079504857409443]], [[0.02947850446805062, 0.06526678915667343, -0.04042202953813334], [0.051163029682270524, -0.02265907514885957, -0.0018127260119054633]]]
  ],
  'cosineEmbeddingLoss, margin -0.9': [
    (x, t) => ft.nn.cosineEmbeddingLoss(x as D, t as D, f64([1, -1]), { margin: -0.9, reduction: 'none' }), [X, T], [0.16592592709137, 1.7273792800047176],
    [[[-0.02208458007342412, -0.16268712011390968, -0.00019648202914271384], [-0.31137929892633914, 0.11945899403531321, 0.24159009714818885]], [[0.05895700893610124, 0.13053357831334686, -0.08084405907626668], [0.10232605936454105, -0.04531815029771914, -0.0036254520238109267]]]
  ],
  // F.triplet_margin_loss(x, t, n, ...)
  tripletMarginLoss: [
    (x, t, n) => ft.nn.tripletMarginLoss(x as D, t as D, n as D), [X, T, N], 1.507657059845587,
    [
      [[0.25099324232198283, -0.262571021539048, -0.12423815825322573], [0.05395128491111283, -0.017190405102352032, 0.00638467271483345]],
      [[0.12927172617121171, 0.46537888643068265, -0.12927224325915057], [-0.08833217558950703, -1.2618864200123573e-07, 0.4921355776161774]],
      [[-0.3802649684931945, -0.20280786489163466, 0.2535104015123763], [0.03438089067839419, 0.017190531290994033, -0.49852025033101083]]
    ]
  ],
  'tripletMarginLoss, swapped, p 1': [
    (x, t, n) => ft.nn.tripletMarginLoss(x as D, t as D, n as D, { margin: 2, p: 1, swap: true, reduction: 'none' }), [X, T, N], [2.299998, 5],
    [[[-1, -1, 1], [1, 1, -1]], [[2, 0, -2], [0, -2, 0]], [[-1, 1, 1], [-1, 1, 1]]]
  ],
  // F.glu(x, 0)
  glu: [(x) => ft.nn.glu(x, 0), [X], [[-1.0022816582522491, 0.0802624679775096, 2.2507803167853533]], [[[0.6681877721681662, 0.401312339887548, 0.7502601055951177], [-0.33256930993966355, 0.04805214914830583, 0.5621096386425617]]]]
}

for (const [name, [f, data, value, gradients]] of Object.entries(LOSSES)) {
  test(name, (t) => {
    const xs = data.map(f64)
    t.true(close(f(...xs).toArray(), value), `${String(f(...xs))} beside ${JSON.stringify(value)}`)
    const slopes = ft.grad((list: D[]) => f(...list).sum() as D)(xs).map((g) => g.toArray())
    t.true(close(slopes, gradients), `${JSON.stringify(slopes)} beside ${JSON.stringify(gradients)}`)
    t.true(close(ft.jit((list: D[]) => f(...list))(xs).toArray(), value), 'traced')
  })
}

test('probabilities at the ends and beyond them', (t) => {
  const each = { reduction: 'none' } as const
  for (const dtype of ['float16', 'float32', 'float64'] as const) {
    const p = ft.tensor([0, 1, 0, 1], { dtype })
    const q = ft.tensor([0, 1, 1, 0], { dtype })
    t.true(close(ft.nn.binaryCrossEntropy(p, q, each).toArray(), [0, 0, 100, 100]), dtype)
    const slopes = ft.grad((x: ft.Tensor<'float64'>) => ft.nn.binaryCrossEntropy(x, q as D, { reduction: 'sum' }))(p as D).toArray() as number[]
    t.true(slopes.every(Number.isFinite), String(slopes))
  }
  t.deepEqual(ft.nn.binaryCrossEntropy(ft.tensor([-0.5, 1.5]), ft.tensor([1, 0]), each).toArray(), [NaN, NaN])
  t.is(ft.nn.binaryCrossEntropy(ft.tensor([true, false]), ft.tensor([true, false])).itemSync(), 0)
})

test('equal vectors and vectors of zeros have finite gradients', (t) => {
  const zero = ft.zeros([1, 3])
  const cosine = ft.grad((x: ft.Tensor<'float32'>) => ft.nn.cosineEmbeddingLoss(x, zero, ft.tensor([1])))(zero)
  const triplet = ft.grad((x: ft.Tensor<'float32'>) => ft.nn.tripletMarginLoss(x, zero, zero))(zero)
  t.true([cosine, triplet].every((g) => g.isfinite().all().itemSync()))
})

test('grouped queries see what repeated keys and values would show them', (t) => {
  // F.scaled_dot_product_attention(q, k, v, enable_gqa=True) of (arange(48) * 7 % 11 - 5) / 4 as [2, 4, 3, 2], (arange(40) * 5 % 13 - 6) / 4 as
  // [2, 2, 5, 2] and arange(60) * 3 % 7 - 3 as [2, 2, 5, 3].
  const counted = (n: number, factor: number, modulus: number, start: number, by: number, shape: readonly number[]): D =>
    f64(Array.from({ length: n }, (_, i) => (((i * factor) % modulus) - start) / by)).reshape(shape)
  const [q, k, v] = [counted(48, 7, 11, 5, 4, [2, 4, 3, 2]), counted(40, 5, 13, 6, 4, [2, 2, 5, 2]), counted(60, 3, 7, 3, 1, [2, 2, 5, 3])]
  const y = ft.nn.groupedQueryAttention(q, k, v)
  t.deepEqual(y.shape, [2, 4, 3, 3])
  t.true(close(y.flatten().at(':6').toArray(), [-0.9088101823494305, -0.24804315331964738, 0.4691269938861018, 0.32376950122241116, -1.1726879824501935, 0.3869792720911498]))
  t.true(close(y.sum().itemSync(), -1.6296779855015429))
  const repeated = (x: D): D => x.repeat(2, { axis: 1 })
  const masks = [undefined, ft.random.bernoulli(ft.random.key(1), [3, 5]), ft.random.normal(ft.random.key(2), [2, 4, 3, 5]), ft.random.bernoulli(ft.random.key(3), [2, 1, 3, 5])]
  for (const mask of masks) {
    for (const causal of [false, true]) {
      const o = { causal, scale: 0.3 }
      const [one, other] = [(a: D, b: D, c: D) => ft.nn.groupedQueryAttention(a, b, c, mask, o), (a: D, b: D, c: D) => ft.nn.scaledDotProductAttention(a, repeated(b), repeated(c), mask, o)]
      t.true(close(one(q, k, v).toArray(), other(q, k, v).toArray()), `${mask?.shape.join()} ${causal}`)
      const slopes = (f: typeof one): unknown => ft.grad((list: [D, D, D]) => f(...list).square().sum() as D)([q, k, v]).map((g) => g.toArray())
      t.true(close(slopes(one), slopes(other)), `gradients ${mask?.shape.join()} ${causal}`)
    }
  }
})

test('errors', (t) => {
  const nn = ft.nn as unknown as Record<string, (...args: unknown[]) => unknown>
  const x = ft.ones([2, 3])
  const cases: readonly (readonly [code: string, message: RegExp, call: () => unknown])[] = [
    ['ERR_SHAPE', /^nn.binaryCrossEntropy: 'x' and 'target' differ in shape: \[2, 3\] and \[3\]/, () => nn.binaryCrossEntropy!(x, ft.ones([3]))],
    ['ERR_SHAPE', /^nn.binaryCrossEntropy: /, () => nn.binaryCrossEntropy!(x, x, { weight: ft.ones([2]) })],
    ['ERR_ARGUMENT', /^nn.binaryCrossEntropy: 'reduction' must be 'mean', 'sum' or 'none', got 'max'/, () => nn.binaryCrossEntropy!(x, x, { reduction: 'max' })],
    ['ERR_ARGUMENT', /^nn.binaryCrossEntropy: unknown option 'weights'; did you mean 'weight'/, () => nn.binaryCrossEntropy!(x, x, { weights: x })],
    ['ERR_ARGUMENT', /^nn.smoothL1Loss: 'beta' must be a finite number of at least 0, got -1/, () => nn.smoothL1Loss!(x, x, { beta: -1 })],
    ['ERR_ARGUMENT', /^nn.hingeLoss: 'margin' must be a finite number, got NaN/, () => nn.hingeLoss!(x, x, { margin: NaN })],
    ['ERR_ARGUMENT', /^nn.hingeEmbeddingLoss: 'target' must be a tensor, got 1/, () => nn.hingeEmbeddingLoss!(x, 1)],
    ['ERR_SHAPE', /^nn.cosineEmbeddingLoss: there must be one target for each vector of shape \[2, 3\], got shape \[3\]/, () => nn.cosineEmbeddingLoss!(x, x, ft.ones([3]))],
    ['ERR_DTYPE', /^nn.tripletMarginLoss: 'anchor' must be real, got complex64/, () => nn.tripletMarginLoss!(...[1, 2, 3].map(() => ft.ones([2], { dtype: 'complex64' })))],
    ['ERR_ARGUMENT', /^nn.tripletMarginLoss: 'p' must be above 0, got 0/, () => nn.tripletMarginLoss!(x, x, x, { p: 0 })],
    ['ERR_SHAPE', /^nn.tripletMarginLoss: scalars have no features/, () => nn.tripletMarginLoss!(ft.tensor(1), ft.tensor(1), ft.tensor(1))],
    ['ERR_SHAPE', /^nn.glu: axis 1 of size 3 has no halves/, () => nn.glu!(x)],
    ['ERR_INDEX', /^nn.glu: axis 2 is out of range/, () => nn.glu!(x, 2)],
    ['ERR_SHAPE', /^nn.groupedQueryAttention: 'query' must be \[\.\.\., heads, length, features\], got shape \[2, 3\]/, () => nn.groupedQueryAttention!(x, x, x)],
    ['ERR_SHAPE', /^nn.groupedQueryAttention: 3 heads of queries are no multiple of 2 of keys/, () => nn.groupedQueryAttention!(ft.ones([3, 1, 2]), ft.ones([2, 1, 2]), ft.ones([2, 1, 2]))],
    ['ERR_SHAPE', /^nn.groupedQueryAttention: keys have 2 heads, values 1/, () => nn.groupedQueryAttention!(ft.ones([4, 1, 2]), ft.ones([2, 1, 2]), ft.ones([1, 1, 2]))],
    ['ERR_SHAPE', /^nn.groupedQueryAttention: 'mask' is of 2 heads, queries have 4/, () => nn.groupedQueryAttention!(ft.ones([4, 1, 2]), ft.ones([2, 1, 2]), ft.ones([2, 1, 2]), ft.ones([2, 1, 1]))]
  ]
  for (const [code, message, call] of cases) throws(t, code, message, call)
})

/** The mean of a formula over elements of several lists. */
const mean = (f: (...values: number[]) => number, ...lists: readonly number[][]): number => (lists[0] as number[]).reduce((sum, _, i) => sum + f(...lists.map((list) => list[i] as number)), 0) / (lists[0] as number[]).length

/** Whether gradients by all arguments are differences of the value. */
function slopesAgree(f: (...xs: D[]) => D, xs: readonly number[][]): boolean {
  const at = (lists: readonly number[][]): number => f(...lists.map((list) => f64(list))).itemSync()
  const moved = (n: number, i: number, by: number): number[][] => xs.map((list, m) => list.map((v, j) => (m === n && i === j ? v + by : v)))
  const step = 1e-6
  const found = ft.grad(f, { argnums: xs.map((_, n) => n) })(...xs.map((list) => f64(list)))
  return close((found as D[]).map((g) => g.toArray()), xs.map((list, n) => list.map((_, i) => (at(moved(n, i, step)) - at(moved(n, i, -step))) / (2 * step))))
}

test('negative logarithms of likelihoods, by their formulas', (t) => {
  const { gaussianNllLoss, poissonNllLoss } = ft.nn
  const [x, counts, variances] = [[0.5, -1, 2, 0.25], [1, 0, 4, 3], [0.5, 2, 1, 3]]
  t.true(close(poissonNllLoss(f64(x), f64(counts)).itemSync(), mean((a, n) => Math.exp(a) - n * a, x, counts)))
  const rates = x.map(Math.abs)
  t.true(close(poissonNllLoss(f64(rates), f64(counts), { logInput: false }).itemSync(), mean((a, n) => a - n * Math.log(a + 1e-8), rates, counts)))
  const stirling = (n: number): number => (n > 1 ? n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) : 0)
  t.true(close(poissonNllLoss(f64(x), f64(counts), { full: true }).itemSync(), mean((a, n) => Math.exp(a) - n * a + stirling(n), x, counts)))
  t.is(poissonNllLoss(ft.tensor([0], { dtype: 'float16' }), ft.tensor([1], { dtype: 'int32' }), { reduction: 'sum' }).dtype, 'float16')
  // No NaN where there are no counts, on either way.
  t.deepEqual(ft.grad((n: D) => poissonNllLoss(f64([1, 1]), n, { full: true }))(f64([0, 1])).isnan().any().itemSync(), false)
  const gauss = (a: number, b: number, v: number): number => (Math.log(v) + (a - b) ** 2 / v) / 2
  t.true(close(gaussianNllLoss(f64(x), f64(counts), f64(variances)).itemSync(), mean(gauss, x, counts, variances)))
  t.true(close(gaussianNllLoss(f64(x), f64(counts), f64(variances), { full: true, reduction: 'none' }).toArray(), x.map((a, i) => gauss(a, counts[i] as number, variances[i] as number) + Math.log(2 * Math.PI) / 2)))
  // One variance for each row, with the last axis or without it, and the least one.
  const rows = [f64([[1, 2], [3, 4]]), f64([[1, 4], [3, 5]])] as const
  const wanted = (gauss(1, 1, 2) + gauss(2, 4, 2) + gauss(3, 3, 4) + gauss(4, 5, 4)) / 4
  t.true(close([gaussianNllLoss(...rows, f64([[2], [4]])).itemSync(), gaussianNllLoss(...rows, f64([2, 4])).itemSync()], [wanted, wanted]))
  t.true(close(gaussianNllLoss(f64([1]), f64([1]), f64([0])).itemSync(), Math.log(1e-6) / 2))
  t.true(close(gaussianNllLoss(f64([1]), f64([2]), f64([-5]), { eps: 0.5 }).itemSync(), gauss(1, 2, 0.5)))
  // PyTorch's gradient of a variance below the least one is that at the least one.
  const slope = (v: number): unknown => ft.grad((v: D) => gaussianNllLoss(f64([1]), f64([2]), v, { eps: 0.5 }))(f64([v])).toArray()
  t.true(close([slope(0.1), slope(0.5)], [[(1 / 0.5 - 1 / 0.25) / 2], [(1 / 0.5 - 1 / 0.25) / 2]]))
  t.true(slopesAgree((a, n) => poissonNllLoss(a as D, n as D, { full: true }), [x, [0.5, 0.25, 4, 3]]))
  t.true(slopesAgree((a, b, v) => gaussianNllLoss(a as D, b as D, v as D), [x, counts, variances]))
  throws(t, 'ERR_SHAPE', /^nn\.poissonNllLoss: 'x' and 'target' differ in shape: \[2\] and \[1\]/, () => poissonNllLoss(ft.ones([2]), ft.ones([1])))
  throws(t, 'ERR_ARGUMENT', /^nn\.poissonNllLoss: 'eps' must be above 0, got 0/, () => poissonNllLoss(ft.ones([2]), ft.ones([2]), { eps: 0 }))
  throws(t, 'ERR_ARGUMENT', /^nn\.poissonNllLoss: 'logInput' must be a boolean/, () => poissonNllLoss(ft.ones([2]), ft.ones([2]), { logInput: 1 as never }))
  throws(t, 'ERR_SHAPE', /^nn\.gaussianNllLoss: 'variance' must have the shape of x, \[2, 3\]/, () => gaussianNllLoss(ft.ones([2, 3]), ft.ones([2, 3]), ft.ones([3])))
  throws(t, 'ERR_SHAPE', /^nn\.gaussianNllLoss: 'variance' must have the shape of x/, () => gaussianNllLoss(ft.tensor(1), ft.tensor(1), ft.ones([1])))
  throws(t, 'ERR_DTYPE', /^nn\.gaussianNllLoss: 'variance' must be real, got complex64/, () => gaussianNllLoss(ft.ones([1]), ft.ones([1]), ft.tensor([{ re: 1, im: 0 }]) as never))
})

test('losses of scores and their sides, by their formulas', (t) => {
  const { marginRankingLoss, softMarginLoss } = ft.nn
  const [a, b, sides] = [[1, 5, -2, 0.5], [2, 3, -2.5, 4], [1, 1, -1, -1]]
  for (const margin of [0, 0.75, -1]) {
    t.true(close(marginRankingLoss(f64(a), f64(b), f64(sides), { margin }).itemSync(), mean((x, y, s) => Math.max(0, margin - s * (x - y)), a, b, sides)), String(margin))
  }
  t.deepEqual(marginRankingLoss(ft.tensor([1, 5]), ft.tensor([2, 3]), ft.tensor([1, -1], { dtype: 'int8' }), { reduction: 'none' }).toArray(), [1, 2])
  t.true(close(softMarginLoss(f64(a), f64(sides)).itemSync(), mean((x, s) => Math.log1p(Math.exp(-s * x)), a, sides)))
  t.deepEqual(softMarginLoss(ft.tensor([1000, -1000]), ft.tensor([1, 1]), { reduction: 'none' }).toArray(), [0, 1000])
  t.true(slopesAgree((x, y) => marginRankingLoss(x as D, y as D, f64(sides), { margin: 0.75 }), [a, b]))
  t.true(slopesAgree((x) => softMarginLoss(x as D, f64(sides)), [a]))
  throws(t, 'ERR_SHAPE', /^nn\.marginRankingLoss: 'x1' and 'target' differ in shape/, () => marginRankingLoss(ft.ones([2]), ft.ones([2]), ft.ones([1])))
  throws(t, 'ERR_ARGUMENT', /^nn\.softMarginLoss: 'reduction' must be 'mean', 'sum' or 'none'/, () => softMarginLoss(ft.ones([2]), ft.ones([2]), { reduction: 'max' as never }))
})
