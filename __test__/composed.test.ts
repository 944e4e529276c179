// Functions made of others: whatever is wrong with an argument, the error names the function that was called.
// runs on: host; refused at the call, before anything is computed

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

const INT32 = { dtype: 'int32' } as const
const key = ft.random.key(1)
const [matrix, vector, positions] = [ft.tensor([[1, 2], [3, 4]]), ft.tensor([1, 2, 3]), ft.tensor([1, 0, 1], INT32)]
const complex = ft.ones([2, 2], { dtype: 'complex64' })
const CREATION = ['dtype', 'device']

/** Arguments that are right, and the names of options. */
const CALLS: Readonly<Record<string, readonly [args: readonly unknown[], options?: readonly string[]]>> = {
  'random.bits': [[key, [2]], ['dtype']],
  'random.uniform': [[key, [2]], ['dtype', 'low', 'high']],
  'random.normal': [[key, [2]], ['dtype', 'mean', 'std']],
  'random.randint': [[key, 0, 5, [2]], ['dtype']],
  'random.exponential': [[key, [2]], ['dtype', 'scale']],
  'random.gumbel': [[key, [2]], ['dtype', 'location', 'scale']],
  'random.bernoulli': [[key, [2]], ['p']],
  'random.categorical': [[key, matrix], ['axis', 'shape']],
  'random.choice': [[key, matrix, [2]], ['replace', 'p']],
  'random.truncatedNormal': [[key, [2]], ['dtype', 'mean', 'std', 'low', 'high']],
  'random.multivariateNormal': [[key, ft.zeros([2]), ft.eye(2)], ['shape']],
  'random.gamma': [[key, 1, [2]], ['dtype']],
  'random.beta': [[key, 1, 1, [2]], ['dtype']],
  'random.poisson': [[key, 1, [2]], ['dtype']],
  'random.binomial': [[key, 5, 0.5, [2]], ['dtype']],
  'nn.embedding': [[positions, matrix]],
  'nn.dropout': [[key, matrix], ['p']],
  nonzero: [[matrix]],
  argwhere: [[matrix]],
  uniqueAll: [[matrix, 0]],
  uniqueCounts: [[matrix], ['axis']],
  uniqueInverse: [[matrix], ['axis']],
  uniqueValues: [[matrix], ['axis']],
  diagEmbed: [[matrix], ['offset', 'axes']],
  maxWithIndices: [[matrix], ['axis', 'keepdims']],
  minWithIndices: [[matrix, 0]],
  polyfit: [[vector, vector, 1], ['weights']],
  polyval: [[vector, matrix]],
  'random.shuffle': [[key, matrix], ['axis']],
  'einops.rearrange': [[matrix, 'a b -> b a']],
  'einops.reduce': [[matrix, 'a b -> b', 'max']],
  'einops.repeat': [[matrix, 'a b -> a b 2']],
  'nn.binaryCrossEntropy': [[matrix, matrix], ['reduction', 'weight']],
  'nn.smoothL1Loss': [[matrix, matrix], ['reduction', 'beta']],
  'nn.hingeLoss': [[matrix, matrix], ['reduction', 'margin']],
  'nn.hingeEmbeddingLoss': [[matrix, matrix], ['reduction', 'margin']],
  'nn.cosineEmbeddingLoss': [[matrix, matrix, ft.tensor([1, -1])], ['reduction', 'margin']],
  'nn.tripletMarginLoss': [[matrix, matrix, matrix], ['reduction', 'margin', 'p', 'swap']],
  'nn.glu': [[matrix], ['axis']],
  'nn.groupedQueryAttention': [[ft.ones([2, 1, 2]), ft.ones([1, 1, 2]), ft.ones([1, 1, 2]), matrix.at(':1, :1')], ['causal', 'scale']],
  'signal.hann': [[4], ['periodic', ...CREATION]],
  'signal.kaiser': [[4, 5], ['periodic', ...CREATION]],
  'signal.gaussian': [[4, 1], ['periodic', ...CREATION]],
  'signal.tukey': [[4, 0.5], ['periodic', ...CREATION]],
  'signal.stft': [[matrix, 2], ['hopLength', 'window', 'center', 'normalized', 'padMode', 'onesided']],
  'signal.istft': [[ft.zeros([2, 2], { dtype: 'complex64' }), 2], ['hopLength', 'window', 'center', 'normalized', 'onesided', 'length']],
  'signal.spectrogram': [[matrix, 2], ['hopLength', 'window', 'center', 'normalized', 'padMode', 'onesided', 'power']],
  'signal.dct': [[matrix], ['type', 'axis', 'norm']],
  'signal.idct': [[matrix], ['type', 'axis', 'norm']],
  'signal.lfilter': [[[1], [1], matrix], ['axis']],
  'signal.sosfilt': [[[[1, 0, 0, 1, 0, 0]], matrix], ['axis']],
  'signal.findPeaks': [[vector], ['height', 'distance', 'prominence']],
  isin: [[matrix, vector], ['invert']],
  union1d: [[matrix, vector]],
  intersect1d: [[matrix, vector]],
  setdiff1d: [[matrix, vector]],
  setxor1d: [[matrix, vector]],
  associativeScan: [[(a: unknown) => a, matrix], ['axis', 'reverse']],
  reduce: [[matrix, 1, (a: unknown) => a], ['axis', 'keepdims']],
  windowReduce: [[matrix, 1, (a: unknown) => a, { window: 1 }], ['window', 'stride', 'padding', 'dilation']],
  digitize: [[matrix, vector], ['right']],
  bincount: [[positions], ['weights', 'minlength']],
  histogramBinEdges: [[matrix], ['bins', 'range']],
  histogram: [[matrix], ['bins', 'range', 'weights', 'density']],
  divmod: [[matrix, vector.at(':2')]],
  modf: [[matrix]],
  frexp: [[matrix]],
  varMean: [[matrix], ['axis', 'correction', 'keepdims']],
  stdMean: [[matrix, 0]],
  aminmax: [[matrix], ['axis', 'keepdims']],
  cummax: [[matrix, 0]],
  cummin: [[matrix], ['axis']],
  logcumsumexp: [[matrix], ['axis']],
  mode: [[matrix], ['axis', 'keepdims']],
  nanargmax: [[matrix], ['axis', 'keepdims']],
  nanargmin: [[matrix, 0]],
  addcmul: [[matrix, matrix, matrix], ['value']],
  addcdiv: [[matrix, matrix, 2], ['value']],
  clamp: [[matrix, 0, 1]],
  floatPower: [[matrix, 2]],
  ldexp: [[matrix, 2]],
  round: [[matrix], ['decimals']],
  spacing: [[matrix]],
  isreal: [[matrix]],
  iscomplexobj: [[matrix]],
  isrealobj: [[matrix]],
  arrayEquiv: [[matrix, matrix]],
  unwrap: [[matrix], ['axis', 'discont', 'period']],
  packbits: [[positions], ['axis', 'bitorder']],
  unpackbits: [[ft.ones([2], { dtype: 'uint8' })], ['axis', 'bitorder', 'count']],
  select: [[[matrix.greater(2)], [matrix], 1]],
  piecewise: [[matrix, [matrix.greater(2)], [1, 2]]],
  choose: [[positions, [vector, vector]], ['mode']],
  geomspace: [[1, 2, 3], [...CREATION, 'endpoint']],
  tri: [[2], ['cols', 'k', ...CREATION]],
  diagflat: [[matrix], ['k']],
  vander: [[vector], ['n', 'increasing']],
  'linalg.vander': [[matrix], ['n']],
  indices: [[[2, 3]], CREATION],
  fromfunction: [[() => 1, [2]], CREATION],
  trilIndices: [[2], ['cols', 'k', 'device']],
  triuIndices: [[2], ['cols', 'k', 'device']],
  diagIndices: [[2], ['ndim', 'device']],
  append: [[matrix, matrix], ['axis']],
  insert: [[matrix, 0, 1], ['axis']],
  delete: [[matrix, 0], ['axis']],
  trimZeros: [[vector], ['trim']],
  resize: [[matrix, [3]]],
  rollaxis: [[matrix, 1, 0]],
  block: [[[matrix, matrix]]],
  blockDiag: [[matrix, vector]],
  fromiter: [[[1, 2]], ['count', ...CREATION]],
  expandDims: [[matrix, [0, 1]]],
  concat: [[[matrix, vector], null]],
  repeat: [[vector, [1, 0, 2]], ['axis']],
  flatten: [[matrix, 0, 1]],
  tile: [[matrix, 2]],
  applyAlongAxis: [[(x: unknown) => x, 0, matrix]],
  unique: [[matrix], ['axis', 'returnIndex', 'returnInverse', 'returnCounts']],
  exp2: [[complex]],
  sinc: [[complex]],
  sigmoid: [[complex]],
  logaddexp: [[complex, complex]],
  logsumexp: [[complex], ['axis', 'keepdims']],
  gradient: [[complex, vector.at(':2')], ['axis', 'edgeOrder', 'spacing']],
  'nn.silu': [[complex]],
  'nn.softsign': [[complex]],
  'nn.tanhshrink': [[complex]],
  'nn.poissonNllLoss': [[matrix, matrix], ['reduction', 'logInput', 'full', 'eps']],
  'nn.gaussianNllLoss': [[matrix, matrix, matrix], ['reduction', 'full', 'eps']],
  'nn.marginRankingLoss': [[matrix, matrix, matrix], ['reduction', 'margin']],
  'nn.softMarginLoss': [[matrix, matrix], ['reduction']],
  'nn.channelShuffle': [[ft.ones([1, 4, 1]), 2]],
  viewAsReal: [[complex]],
  viewAsComplex: [[matrix]],
  unflatten: [[vector, 0, [3, 1]]],
  'nn.pad': [[matrix, [1, 1]], ['mode', 'value']],
  'nn.l1Loss': [[complex, complex], ['reduction']],
  'nn.rmsNorm': [[complex, ft.ones([2])], ['axis', 'eps']],
  msort: [[matrix]],
  lexsort: [[[vector, vector]], ['axis']],
  partition: [[matrix, 1], ['axis']],
  argpartition: [[matrix, [0, 1]], ['axis']],
  compress: [[[true, false], vector], ['axis']],
  extract: [[matrix, matrix]],
  uniqueConsecutive: [[matrix], ['axis']],
  put: [[matrix, [0], 1]],
  putmask: [[matrix, matrix, vector]],
  place: [[matrix, matrix, vector]],
  maskedScatter: [[matrix, matrix, ft.ones([4])]],
  fillDiagonal: [[matrix, 1], ['wrap']],
  indexAdd: [[vector, 0, positions, vector], ['alpha']],
  indexCopy: [[vector, 0, [2, 1, 0], vector]],
  indexFill: [[matrix, 0, [0], 1]],
  indexPut: [[matrix, [[0], [1]], 1]],
  scatterReduce: [[vector, 0, positions, vector, 'sum'], ['includeSelf']],
  unravelIndex: [[positions, [2, 2]]],
  ravelMultiIndex: [[[positions, positions], [2, 2]], ['mode']],
  combinations: [[vector], ['r', 'withReplacement']],
  cartesianProd: [[vector, vector]],
  ediff1d: [[matrix], ['toBegin', 'toEnd']],
  histc: [[matrix], ['bins', 'min', 'max']],
  histogram2d: [[vector, vector], ['bins', 'range', 'weights', 'density']],
  histogramdd: [[matrix], ['bins', 'range', 'weights', 'density']],
  roots: [[vector]],
  cov: [[matrix], ['rowvar', 'correction', 'fweights', 'aweights']],
  trapezoid: [[matrix, matrix], ['axis', 'dx']],
  cumulativeTrapezoid: [[matrix, matrix], ['axis', 'dx']],
  addmm: [[matrix, matrix, matrix], ['beta', 'alpha']],
  addmv: [[vector.at(':2'), matrix, vector.at(':2')], ['beta', 'alpha']],
  addr: [[matrix, vector.at(':2'), vector.at(':2')], ['beta', 'alpha']],
  addbmm: [[matrix, ft.ones([2, 2, 2]), ft.ones([2, 2, 2])], ['beta', 'alpha']],
  baddbmm: [[matrix, ft.ones([2, 2, 2]), ft.ones([2, 2, 2])], ['beta', 'alpha']],
  chainMatmul: [[matrix, matrix, matrix]],
  'linalg.multiDot': [[[matrix, matrix]]],
  dist: [[matrix, matrix, 2]],
  cdist: [[matrix, matrix], ['p']],
  renorm: [[matrix, 2, 0, 1]],
  logdet: [[matrix]],
  'linalg.luFactor': [[matrix]],
  'linalg.luSolve': [[matrix, [0, 1], matrix]],
  'linalg.choleskySolve': [[matrix, matrix], ['upper']],
  'linalg.tensorinv': [[matrix, { ind: 1 }]],
  'linalg.tensorsolve': [[matrix, vector.at(':2')], ['axes']],
  'linalg.matrixRank': [[matrix], ['rtol']],
  'linalg.pinv': [[matrix], ['rtol']],
  broadcastShapes: [[[2], [2]]],
  broadcastArrays: [[matrix, matrix]],
  zerosLike: [[matrix], CREATION],
  onesLike: [[matrix], CREATION],
  emptyLike: [[matrix], CREATION],
  fullLike: [[matrix, 1], CREATION],
  unstack: [[matrix, 0]],
  split: [[matrix, 2, 0]],
  arraySplit: [[matrix, 2, 0]],
  chunk: [[matrix, 2, 0]],
  meshgrid: [[vector, vector], ['indexing']],
  linspace: [[0, 1, 3], [...CREATION, 'endpoint']],
  logspace: [[0, 1, 3], [...CREATION, 'endpoint', 'base']]
}

function values(): readonly unknown[] {
  const disposed = ft.ones([2])
  disposed.dispose()
  const tensors = [[], [0], [0, 2], [2, 0], [2], [3], [5], [2, 2, 2], [7, 7]].map((shape) => ft.full(shape, -1))
  const dtypes = (['bool', 'int32', 'int64', 'uint32', 'uint64', 'complex64'] as const).flatMap((dtype) => [[2], [3], [2, 2]].map((shape) => ft.zeros(shape, { dtype })))
  const numbers = [-1, 0, 0.5, 1e9, 1e40, 2 ** 53, NaN, Infinity, 1n, true]
  const others = [undefined, null, '', 'text', 'int32', 'float64', 'complex64', 'cpu:7', {}, Symbol('s'), () => 1, new Float32Array(2)]
  return [...numbers, ...others, [], [1, 2], [-1], [0.5], [2 ** 53], [2 ** 31, 2 ** 31, 2 ** 31], disposed, ...tensors, ...dtypes]
}

for (const [name, [args, options = []]] of Object.entries(CALLS)) {
  test(`${name} is what its errors name`, (t) => {
    const [space, member] = name.includes('.') ? (name.split('.') as [string, string]) : [null, name]
    const home = (space === null ? ft : (ft as unknown as Record<string, unknown>)[space]) as Record<string, (...args: readonly unknown[]) => unknown>
    const call = home[member] as (...args: readonly unknown[]) => unknown
    call(...args)
    for (const value of values()) {
      const calls = [...args.map((_, i) => args.with(i, value)), ...options.map((option) => [...args, { [option]: value }]), [...args, value]]
      for (const given of calls) {
        try {
          call(...given)
        } catch (error) {
          t.true(error instanceof ft.TensorError && error.message.startsWith(`${name}: `), `${name}: ${String(error)}`)
        }
      }
    }
    t.pass()
  })
}

test('an error speaks of the arguments of the function that was called', (t) => {
  // @ts-expect-error text is no tensor
  throws(t, 'ERR_ARGUMENT', /^isin: 'x1' must be a tensor or a number, got '1'$/, () => ft.isin('1', vector))
  // @ts-expect-error text is no tensor
  throws(t, 'ERR_ARGUMENT', /^digitize: 'x' must be a tensor or a number, got '1'$/, () => ft.digitize('1', vector))
  throws(t, 'ERR_INDEX', /^random\.categorical: axis 5 is out of range for rank 2$/, () => ft.random.categorical(key, matrix, { axis: 5, shape: [4] }))
  // @ts-expect-error weights are numbers
  throws(t, 'ERR_DTYPE', /^bincount: takes a numeric dtype, got bool/, () => ft.bincount(positions, { weights: ft.ones([3], { dtype: 'bool' }) }))
  t.throws(() => ft.random.exponential(key, [2], { dtype: 'int32' as never }), { instanceOf: ft.DTypeError, message: 'random.exponential: takes a floating dtype, got int32' })
})

test('an operand that failed names its own operation', (t) => {
  const failed = ft.tensor([1, 2]).take(ft.tensor([5], INT32)).astype('int32')
  throws(t, 'ERR_INDEX', /^take: index 5/, () => ft.bincount(failed))
  throws(t, 'ERR_INDEX', /^take: index 5/, () => ft.uniqueValues(failed))
})
