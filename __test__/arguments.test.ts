// Arguments of the wrong JavaScript kind, for every operation: an error that names operation and argument, never a crash.
// runs on: node; values of JavaScript as Node-API tells them apart

import test from 'ava'
import * as ft from 'ferrotensor'
import { failure, throws } from './expect.js'
import { EXAMPLES } from './generated/examples.js'

type Loose = Record<string, (...args: unknown[]) => unknown>
const root = ft as unknown as Loose & Record<string, Loose>

function functionOf(path: string): (...args: unknown[]) => unknown {
  const [space, name] = path.includes('.') ? (path.split('.') as [string, string]) : [null, path]
  return (space === null ? root[name] : root[space]?.[name]) as (...args: unknown[]) => unknown
}

const WRONG: readonly unknown[] = [undefined, null, 'text', {}, Symbol('s'), () => 1, new Map(), [ft.zeros([1]), null]]

test('no operation takes what is no argument', (t) => {
  for (const { op } of EXAMPLES) {
    for (const value of WRONG) {
      const error = failure(t, () => functionOf(op)(value), `${op}(${String(value)})`)
      t.is(error.code, 'ERR_ARGUMENT', `${op}(${String(value)}): ${error.message}`)
      t.true(error.message.startsWith(`${op}: `), error.message)
    }
    throws(t, 'ERR_ARGUMENT', new RegExp(`^${op}: `), () => functionOf(op)())
  }
})

test('no operation takes wrong further arguments', (t) => {
  const x = ft.ones([2, 2])
  for (const { op } of EXAMPLES) {
    for (const value of [null, 'text', Symbol('s'), () => 1, new Map([[1, 2]])]) {
      // Whatever comes out: our own error, or a tensor where JavaScript's surplus arguments are ignored.
      try {
        functionOf(op)(x, value, value, value)
      } catch (error) {
        t.true(error instanceof ft.TensorError, `${op}(x, ${String(value)}): ${String(error)}`)
      }
    }
  }
  t.pass()
})

test('options', (t) => {
  const x = ft.ones([2, 2]) as unknown as Loose
  throws(t, 'ERR_ARGUMENT', /^sum: unknown option 'axes'; did you mean 'axis'\? \(one of axis, keepdims, dtype\)$/, () => x.sum?.({ axes: 0 }))
  throws(t, 'ERR_ARGUMENT', /^sum: 'options' must be an object/, () => x.sum?.('0'))
  throws(t, 'ERR_ARGUMENT', /^sum: 'options' must be an object/, () => x.sum?.(null))
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis' must be an integer or an array of integers, got null/, () => x.sum?.({ axis: null }))
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis' must be an integer, got 0.5/, () => x.sum?.(0.5))
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis\[1\]' must be an integer, got '1'/, () => x.sum?.([0, '1']))
  const cyclic: unknown[] = []
  cyclic.push(cyclic, cyclic)
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis\[0\]' must be an integer, got \[an array of 2, an array of 2\]/, () => x.sum?.(cyclic))
  throws(t, 'ERR_ARGUMENT', /^sum: 'keepdims' must be a boolean, got 1/, () => x.sum?.({ keepdims: 1 }))
  throws(t, 'ERR_INDEX', /axis 9007199254740991 is out of range/, () => x.sum?.(Number.MAX_SAFE_INTEGER))
  throws(t, 'ERR_DTYPE', /^astype: 'float' is not a dtype; did you mean 'float32'\?$/, () => x.astype?.('float'))
  throws(t, 'ERR_DTYPE', /^astype: 'text' is not a dtype; there are bool/, () => x.astype?.('text'))
  throws(t, 'ERR_ARGUMENT', /^astype: 'dtype' must be the name of a dtype, got undefined/, () => x.astype?.())
  throws(t, 'ERR_ARGUMENT', /^reshape: 'shape' must be an array of integers, got 4; write \[4\], or \[4, ...\] for several$/, () => (ft.reshape as unknown as (x: unknown, shape: unknown) => unknown)(x, 4))
  throws(t, 'ERR_ARGUMENT', /^concat: 'arrays' must be an array of tensors/, () => root.concat?.(x))
  throws(t, 'ERR_ARGUMENT', /^tensordot: 'axes' must be a number of axes/, () => x.tensordot?.(x, { axes: -1 }))
  throws(t, 'ERR_ARGUMENT', /^zeros: 'shape/, () => root.zeros?.())
})

test('weak scalars keep the dtype, or throw', (t) => {
  const i = ft.tensor([1, 2], { dtype: 'int8' })
  t.is(i.add(1).dtype, 'int8')
  t.is(i.add(1n).dtype, 'int8')
  throws(t, 'ERR_DTYPE', /0.5/, () => i.add(0.5))
  throws(t, 'ERR_DTYPE', /300/, () => i.mul(300))
  t.is(ft.tensor([true]).minimum(2).dtype, 'float32')
  t.is(ft.tensor([true]).add(1n).dtype, 'int64')
  t.deepEqual(ft.tensor([true, false]).add(ft.tensor([true, false])).toArray(), [true, false])
  t.deepEqual(ft.tensor([true, true]).mul(ft.tensor([true, false])).toArray(), [true, false])
  // @ts-expect-error a number beside a bool tensor
  throws(t, 'ERR_DTYPE', /a number does not combine with a bool tensor/, () => ft.tensor([true]).withAt([0], 2))
  // @ts-expect-error no tensor among the operands
  throws(t, 'ERR_ARGUMENT', /^add: /, () => ft.add(1, 2))
})

test('numbers that fill elements are held by the dtype, or refused', (t) => {
  const i = ft.tensor([1, 2], { dtype: 'int32' })
  t.deepEqual(i.pad(1, { value: -3 }).toArray(), [-3, 1, 2, -3])
  throws(t, 'ERR_DTYPE', /^pad: 0\.5 is not an integer, and the tensor is int32; use astype\('float32'\) first$/, () => i.pad(1, { value: 0.5 }))
  throws(t, 'ERR_DTYPE', /^pad: NaN is not an integer/, () => i.pad(1, { value: NaN }))
  throws(t, 'ERR_DTYPE', /^pad: 300 is out of range for int8/, () => i.astype('int8').pad(1, { value: 300 }))
  throws(t, 'ERR_DTYPE', /^windowScatterMax: 0\.5 is not an integer/, () => i.windowScatterMax(i.at(':1'), 2, { initial: 0.5 }))
  throws(t, 'ERR_DTYPE', /^windowScatterMin: 0\.5 is not an integer/, () => i.windowScatterMin(i.at(':1'), 2, { initial: 0.5 }))
  t.deepEqual(ft.tensor([1, 2]).pad(1, { value: 0.5 }).toArray(), [0.5, 1, 2, 0.5])
  t.deepEqual(ft.tensor([false]).pad(1, { value: 1 }).toArray(), [true, false, true])
  throws(t, 'ERR_DTYPE', /^pad: 2 is neither 0 nor 1, and the tensor is bool/, () => ft.tensor([false]).pad(1, { value: 2 }))
})

test('a number where only a tensor may stand is shown', (t) => {
  const { atleast1d, exp, matmul, sum } = root as Loose
  for (const [name, f] of Object.entries({ atleast1d, exp, sum })) {
    t.throws(() => f?.(5), { instanceOf: ft.ArgumentError, message: `${name}: 'x' must be a tensor, got 5; wrap it with ft.tensor(...)` })
  }
  throws(t, 'ERR_ARGUMENT', /^matmul: 'x2' must be a tensor, got 5n; wrap/, () => matmul?.(ft.ones([2]), 5n))
})

test('parts that do not fit are shown as they were passed', (t) => {
  const [two, three, matrix] = [ft.ones([2]), ft.ones([3]), ft.ones([2, 2])]
  throws(t, 'ERR_SHAPE', /^vstack: tensor 1 has shape \[2\] \(as \[1, 2\]\), which does not fit \[3\] \(as \[1, 3\]\) along axis 0$/, () => ft.vstack([three, two]))
  throws(t, 'ERR_SHAPE', /^columnStack: tensor 1 has shape \[3\] \(as \[3, 1\]\), which does not fit \[2, 2\] along axis 1$/, () => ft.columnStack([matrix, three]))
  throws(t, 'ERR_SHAPE', /^dstack: tensor 1 has shape \[2\] \(as \[1, 2, 1\]\), which does not fit \[3\]/, () => ft.dstack([three, two]))
  throws(t, 'ERR_SHAPE', /^hstack: tensor 1 has shape \[3\], which does not fit \[2, 2\] along axis 1$/, () => ft.hstack([matrix, three]))
})

test('a quantile out of range is told as such, whatever it is taken of', (t) => {
  const q = ft.tensor([0.5, 1.5])
  for (const [x, none] of [[ft.ones([4]), ft.ones([0])], [ft.ones([2, 3]), ft.ones([2, 0])]] as const) {
    for (const values of [x, none]) {
      throws(t, 'ERR_INDEX', /^quantile: an element of 'q' is outside of \[0, 1\]$/, () => values.quantile(q, -1).toArray())
      throws(t, 'ERR_INDEX', /^nanquantile: an element of 'q' is outside of \[0, 1\]$/, () => values.nanquantile(q, -1).toArray())
      throws(t, 'ERR_INDEX', /^percentile: an element of 'q' is outside of \[0, 100\]$/, () => values.percentile(ft.tensor([-1]), -1).toArray())
    }
  }
  t.deepEqual(ft.ones([2, 0]).quantile(ft.tensor([0.5, 1]), 1).toArray(), [[NaN, NaN], [NaN, NaN]])
  t.deepEqual(ft.ones([0, 2]).nanquantile(0.5, 1).shape, [0])
})

test('options in the place of an operand, and values in the place of options, are shown where they belong', (t) => {
  const v = ft.tensor([1, 2, 3])
  const loose = root as Loose
  const [nn, random] = [ft.nn as unknown as Loose, ft.random as unknown as Loose]
  const wrong: readonly (readonly [RegExp, (() => unknown) | undefined])[] = [
    [/^diff: 'prepend' must be a tensor, got an Object; options stand last: diff\(x, prepend, append, \{ n \}\), with undefined for what is left out$/, () => loose.diff?.(v, { n: 2 })],
    [/^searchsorted: 'sorter' must be a tensor, got an Object; options stand last: searchsorted\(x1, x2, sorter, \{ side \}\)/, () => loose.searchsorted?.(v, 2, { side: 'right' })],
    [/^searchsorted: 'sorter' must be a tensor, got an Object; options stand last/, () => loose.searchsorted?.(v, [2], { side: 'right' })],
    [/^searchsorted: 'sorter' must be a tensor, got 'right'; options stand last: searchsorted\(x1, x2, sorter, \{ side \}\)/, () => loose.searchsorted?.(v, [2], 'right')],
    [/^trapezoid: 'coordinates' must be a tensor, got an Object; options stand last: trapezoid\(y, coordinates, \{ dx \}\)/, () => loose.trapezoid?.(v, { dx: 0.5 })],
    [/^cumulativeTrapezoid: 'coordinates' must be a tensor, got an Object; options stand last: cumulativeTrapezoid\(y, coordinates, \{ dx, axis \}\)/, () => loose.cumulativeTrapezoid?.(v, { dx: 0.5, axis: 0 })],
    [/^nn\.crossEntropy: 'weight' must be a tensor, .*; options stand last: nn\.crossEntropy\(x, target, weight, \{ labelSmoothing \}\)/, () => nn.crossEntropy?.(ft.ones([2, 2]), [0, 1], { labelSmoothing: 0.1 })],
    [/^nn\.scaledDotProductAttention: 'mask' must .*\(query, keys, values, mask, \{ isCausal \}\)/, () => nn.scaledDotProductAttention?.(ft.ones([1, 2, 2]), ft.ones([1, 2, 2]), ft.ones([1, 2, 2]), { isCausal: true })],
    [/^nn\.binaryCrossEntropyWithLogits: 'posWeight' must .*\(x, target, posWeight, \{ weight \}\)/, () => nn.binaryCrossEntropyWithLogits?.(v, v, { weight: v })],
    [/^nn\.binaryCrossEntropyWithLogits: 'posWeight' .*; operands have no names: nn\.binaryCrossEntropyWithLogits\(x, target, a Tensor\)$/, () => nn.binaryCrossEntropyWithLogits?.(v, v, { posWeight: v })],
    [/^add: 'x2' must be a tensor or a number, got an Object$/, () => loose.add?.(v, { axis: 0 })],
    [/^histogram: .* got 2; write \{ bins: 2 \}$/, () => loose.histogram?.(v, 2)],
    [/^convolve: .* got 'same'; write \{ mode: 'same' \}$/, () => loose.convolve?.(v, v, 'same')],
    [/^pad: .* got 'edge'; write \{ mode: 'edge' \}$/, () => loose.pad?.(v, 1, 'edge')],
    [/^nn\.pad: .* got 'constant'; write \{ mode: 'constant' \}$/, () => nn.pad?.(v, [1, 1], 'constant')],
    [/^linalg\.qr: .* got 'complete'; write \{ mode: 'complete' \}$/, () => (ft.linalg as unknown as Loose).qr?.(ft.ones([2, 2]), 'complete')],
    [/^combinations: .* got 2; write \{ r: 2 \}$/, () => loose.combinations?.(v, 2)],
    [/^optim\.adam: .* got 0\.1; write \{ learningRate: 0\.1 \}$/, () => (ft.optim as unknown as Loose).adam?.(0.1)],
    [/^nn\.mseLoss: .* got 'sum'; write \{ reduction: 'sum' \}$/, () => nn.mseLoss?.(v, v, 'sum')],
    [/^nn\.softMarginLoss: .* got 'sum'; write \{ reduction: 'sum' \}$/, () => nn.softMarginLoss?.(v, v, 'sum')],
    [/^nn\.Linear: .* got false; write \{ bias: false \}$/, () => new ft.nn.Linear(2, 2, false as never)],
    [/^nn\.GELU: .* got 'tanh'; write \{ approximate: 'tanh' \}$/, () => new ft.nn.GELU('tanh' as never)],
    [/^nn\.Sequential: layer 0 must be a layer or a function of a tensor, got \[a ReLU\]; spread the array: new ft\.nn\.Sequential\(\.\.\.layers\)$/, () => new ft.nn.Sequential([new ft.nn.ReLU()] as never)],
    [/^tensor: element \[0\] must be .* got a Tensor; of tensors write ft\.stack\(\[x, y\]\)$/, () => ft.tensor([v, v] as never)],
    [/^random\.permutation: 'count' must be an integer, got a Tensor; the rows of a tensor are shuffled by ft\.random\.shuffle\(key, x\)$/, () => random.permutation?.(ft.random.key(0), v)],
    [/^cumulativeTrapezoid: unknown option 'initial'; write ft\.pad\(integrals, \[\[1, 0\]\]\)/, () => loose.cumulativeTrapezoid?.(v, undefined, { initial: 0 })],
    [/^eye: unknown option 'M'; did you mean 'cols'\?/, () => loose.eye?.(2, { M: 3 })],
    [/^tril: unknown option 'diagonal'; did you mean 'k'\?/, () => loose.tril?.(ft.ones([2, 2]), { diagonal: 1 })],
    [/^percentile: unknown option 'interpolation'; did you mean 'method'\?/, () => loose.percentile?.(v, 50, { interpolation: 'nearest' })],
    [/^pad: unknown option 'constantValues'; did you mean 'value'\?/, () => loose.pad?.(v, 1, { constantValues: 9 })],
    [/^pad: unknown option 'constant_values'; did you mean 'value'\?/, () => loose.pad?.(v, 1, { constant_values: 9 })],
    [/^cov: unknown option 'bias'; did you mean 'correction'\?/, () => loose.cov?.(ft.ones([2, 2]), { bias: true })],
    [/^nn\.LSTM: unknown option 'numLayers'; did you mean 'layers'\?/, () => new ft.nn.LSTM(2, 3, { numLayers: 2 } as never)],
    [/^argsort: unknown option 'kind'; every sort is stable/, () => loose.argsort?.(v, { kind: 'stable' })]
  ]
  for (const [message, call] of wrong) throws(t, 'ERR_ARGUMENT', message, call as () => unknown)
  throws(t, 'ERR_DEVICE', /^to: there is no device 'float64'; a dtype is x\.astype\('float64'\)$/, () => v.to('float64'))
})

test('a mistake names what was probably meant', (t) => {
  const x = ft.ones([2, 2]) as unknown as Loose
  const { zeros, concat, matmul, exp, evaluateSync, asarray, tensor } = root as Loose
  const wrong: readonly (readonly [string, RegExp, (() => unknown) | undefined])[] = [
    ['ERR_ARGUMENT', /^sum: unknown option 'dim'; did you mean 'axis'\?/, () => x.sum?.({ dim: 0 })],
    ['ERR_ARGUMENT', /^sum: unknown option 'keepDims'; did you mean 'keepdims'\?/, () => x.sum?.({ keepDims: true })],
    ['ERR_ARGUMENT', /^sort: unknown option 'reverse'; did you mean 'descending'\?/, () => x.sort?.({ reverse: true })],
    ['ERR_ARGUMENT', /^softmax: unknown option 'dimension' \(there is only axis\)$/, () => x.softmax?.({ dimension: 0 })],
    ['ERR_ARGUMENT', /^tensor: unknown option 'type'; did you mean 'dtype'\?/, () => tensor?.([1], { type: 'int8' })],
    ['ERR_ARGUMENT', /^zeros: .* got 'int8'; write { dtype: 'int8' }$/, () => zeros?.([2], 'int8')],
    ['ERR_ARGUMENT', /^tensor: .* got \[2, 1\]; write { shape: \[2, 1\] }$/, () => tensor?.([1, 2], [2, 1])],
    ['ERR_ARGUMENT', /^tensordot: .* got 1; write { axes: 1 }$/, () => x.tensordot?.(x, 1)],
    ['ERR_ARGUMENT', /^concat: 'options' must be an object \(axis\), got a Tensor; several tensors are one array$/, () => concat?.(x, x)],
    ['ERR_ARGUMENT', /^vstack: 1 too many arguments; several tensors are one array$/, () => (root as Loose).vstack?.(x, x)],
    ['ERR_ARGUMENT', /^concat: 'arrays\[1\]' must be a tensor, got 1$/, () => concat?.([x, 1])],
    ['ERR_ARGUMENT', /^exp: element \[0\] must be a number.*got 'a'/, () => exp?.(['a'])],
    ['ERR_ARGUMENT', /^take: 'indices' must be a tensor, got 0; the axis stands last: take\(x, indices, axis\)$/, () => x.take?.(0)],
    ['ERR_ARGUMENT', /^take: the tensor has rank 2: name the axis, { axis: 0 }$/, () => x.take?.(ft.tensor([0], { dtype: 'int32' }))],
    ['ERR_ARGUMENT', /^cumulativeSum: the tensor has rank 2: name the axis/, () => x.cumulativeSum?.()],
    ['ERR_ARGUMENT', /^clip: 'min' must be a tensor or a number, got an Object; operands have no names: clip\(x, 0\)$/, () => x.clip?.({ min: 0 })],
    ['ERR_ARGUMENT', /no names: clip\(x, undefined, 2\)$/, () => x.clip?.({ max: 2 })],
    ['ERR_ARGUMENT', /^evaluateSync: takes tensors, got \[a Tensor\]; spread it/, () => evaluateSync?.([x])],
    ['ERR_ARGUMENT', /^asarray: the value must be/, () => asarray?.()],
    ['ERR_ARGUMENT', /^tensor: the data are a tensor already; use asarray/, () => tensor?.(x)],
    ['ERR_ARGUMENT', /^to: the name of a device is missing/, () => x.to?.()],
    ['ERR_DTYPE', /^tensor: 'f32' is not a dtype; did you mean 'float32'\?$/, () => tensor?.([1], { dtype: 'f32' })],
    ['ERR_DTYPE', /^tensor: 'double' is not a dtype; did you mean 'float64'\?$/, () => tensor?.([1], { dtype: 'double' })],
    ['ERR_DTYPE', /^tensor: 'Int32' is not a dtype; did you mean 'int32'\?$/, () => tensor?.([1], { dtype: 'Int32' })],
    // @ts-expect-error bool is no numeric dtype
    ['ERR_DTYPE', /^subtract: takes .* got bool; convert with astype\('int32'\)$/, () => ft.tensor([true]).subtract(ft.tensor([true]))],
    // @ts-expect-error classes are integers
    ['ERR_DTYPE', /^oneHot: takes an integer dtype, got float32; convert with astype\('int32'\)$/, () => ft.oneHot(ft.ones([2]), 3)],
    ['ERR_INDEX', /^expandDims: axis -5 is out of range for the result, which has rank 3$/, () => x.expandDims?.(-5)],
    ['ERR_INDEX', /^stack: axis 3 is out of range for the result, which has rank 3$/, () => root.stack?.([x], { axis: 3 })],
    ['ERR_ARGUMENT', /^config: unknown option 'fuse'; did you mean 'fusion'\?/, () => root.config?.({ fuse: false })],
    ['ERR_SHAPE', /^permuteDims: axes \[1\] must name each of the 2 axes once, in one list$/, () => x.permuteDims?.([1])],
    ['ERR_ARGUMENT', /^permuteDims: 1 too many arguments; several numbers are one array$/, () => x.permuteDims?.(1, 0)],
    ['ERR_ARGUMENT', /^round: 2 too many arguments$/, () => x.round?.(2, 3)],
    ['ERR_ARGUMENT', /^round: 'decimals' must be an integer, got 0.5$/, () => x.round?.(0.5)],
    ['ERR_ARGUMENT', /^round: unknown option 'digits'/, () => x.round?.({ digits: 2 })],
    ['ERR_ARGUMENT', /^maximum: 1 too many arguments$/, () => root.maximum?.(x, x, x)],
    ['ERR_SHAPE', /^matmul: needs at least one axis on each side/, () => matmul?.(x, ft.tensor(2))],
    ['ERR_ARGUMENT', /^sum: 1 too many arguments; options are one object \(axis, keepdims, dtype\)$/, () => x.sum?.(0, { keepdims: true })],
    ['ERR_ARGUMENT', /^sum: 1 too many arguments/, () => root.sum?.(x, 0, true)],
    ['ERR_ARGUMENT', /^flip: 1 too many arguments; options are one object \(axis\)$/, () => x.flip?.(0, 1)],
    ['ERR_ARGUMENT', /^zeros: 'options' .* got 3; write the sizes as one array$/, () => zeros?.(2, 3)],
    ['ERR_ARGUMENT', /^sort: 'options' .* got true; write { descending: true }$/, () => x.sort?.(true)],
    ['ERR_ARGUMENT', /^tril: 'options' .* got 1; write { k: 1 }$/, () => x.tril?.(1)],
    ['ERR_ARGUMENT', /^withAt: .* got 0; write \[index\]$/, () => x.withAt?.(0, 5)]
  ]
  for (const [code, message, call] of wrong) throws(t, code, message, call as () => unknown)
})

test('reserved words and aliases are functions', (t) => {
  t.is(ft.mul, ft.multiply)
  t.is(ft.sub, ft.subtract)
  t.is(ft.div, ft.divide)
  t.is(ft.neg, ft.negative)
  t.deepEqual(ft.add(1, ft.tensor([1])).toArray(), [2])
})

test("functions of one tensor are an array's mappings", (t) => {
  t.deepEqual([ft.tensor([0]), ft.tensor([4])].map(ft.sqrt).map((x) => x.toArray()), [[0], [2]])
})

test('lists and texts that no call can mean are not walked', (t) => {
  const endless = new Array(2 ** 32 - 1)
  t.throws(() => ft.zeros([2]).pad(endless), { instanceOf: ft.ArgumentError, message: /an array of 4294967295/ })
  t.throws(() => ft.nn.maxPool(ft.zeros([1, 1, 4]), 2, { padding: endless }), { instanceOf: ft.ArgumentError })
  t.throws(() => ft.einsum('i'.repeat(2 ** 20), ft.zeros([2])), { instanceOf: ft.ArgumentError, message: /at most 2048 characters/ })
})

test('a short vector is moved along a long one, whichever comes first', (t) => {
  // 3 * 10^6 results of 3 terms each; the other way round they would be of 3 * 10^6.
  t.is(ft.ones([3]).correlate(ft.ones([3_000_000])).sum().itemSync(), 3 * (3_000_000 - 2))
})

test('a list of any length is walked no further than its first wrong item', (t) => {
  const endless = new Array(2 ** 32 - 1)
  const { key, categorical, choice, multivariateNormal } = ft.random as unknown as Loose
  throws(t, 'ERR_ARGUMENT', /^isdtype: .*got undefined/, () => (ft.isdtype as Loose[string])('int8', endless))
  throws(t, 'ERR_ARGUMENT', /^random\.choice: 'shape\[0\]' must be an integer/, () => choice?.(key?.(1), 3, endless))
  throws(t, 'ERR_ARGUMENT', /^random\.categorical: 'axis' must be an integer/, () => categorical?.(key?.(1), ft.ones([3]), { axis: endless }))
  throws(t, 'ERR_ARGUMENT', /^random\.categorical: 'shape\[0\]' must be an integer/, () => categorical?.(key?.(1), ft.ones([3]), { shape: endless }))
  throws(t, 'ERR_ARGUMENT', /^random\.multivariateNormal: 'shape\[0\]' must be/, () => multivariateNormal?.(key?.(1), ft.ones([2]), ft.eye(2), { shape: endless }))
  t.is(ft.scope(() => endless), endless)
})

test('toArray says its depth where it is told the rank, and refuses another', (t) => {
  const x = ft.tensor([[1, 2], [3, 4]])
  const rows: number[][] = x.toArray(2)
  t.deepEqual(rows, [[1, 2], [3, 4]])
  t.is(ft.tensor(7).toArray(0), 7)
  throws(t, 'ERR_SHAPE', /^toArray: shape \[2, 2\] has 2 axes, and 1 were asked for/, () => x.toArray(1))
  throws(t, 'ERR_SHAPE', /^toArray: shape \[2, 2\] has 2 axes, and NaN were asked for/, () => x.toArray(Number.NaN))
  throws(t, 'ERR_ARGUMENT', /^toArray: 'rank' must be a number of axes, got 'x'/, () => x.toArray('x' as never))
})

test('issubdtype knows the names of NumPy and those of the array API', (t) => {
  const below = (kind: ft.ScalarKind | ft.Kind | ft.DType): ft.DType[] => ft.arrayNamespaceInfo().dtypes().filter((dtype) => ft.issubdtype(dtype, kind))
  t.deepEqual(below('floating'), ['float16', 'bfloat16', 'float32', 'float64'])
  t.deepEqual(below('complexfloating'), ['complex64', 'complex128'])
  t.deepEqual(below('inexact'), [...below('floating'), ...below('complexfloating')])
  t.deepEqual(below('integer'), [...below('signedinteger'), ...below('unsignedinteger')].sort((a, b) => below('integer').indexOf(a) - below('integer').indexOf(b)))
  t.deepEqual(below('unsignedinteger'), ['uint8', 'uint16', 'uint32', 'uint64'])
  t.is(below('generic').length, below('number').length + 1)
  t.deepEqual([below('integral'), below('real floating'), below('bool'), below('float32')], [below('integer'), below('floating'), ['bool'], ['float32']])
  t.true(ft.issubdtype(ft.ones([1]), 'floating'))
  throws(t, 'ERR_ARGUMENT', /^issubdtype: expected a dtype or one of .*got 'integers'; did you mean 'integer'\?/, () => ft.issubdtype('int8', 'integers' as never))
  throws(t, 'ERR_DTYPE', /^issubdtype: 'int' is not a dtype/, () => ft.issubdtype('int' as never, 'integer'))
  throws(t, 'ERR_ARGUMENT', /^issubdtype: expected a dtype or a tensor, got 3/, () => ft.issubdtype(3 as never, 'integer'))
})

test('unflatten is the reverse of flatten, of one axis alone', (t) => {
  const x = ft.arange(24).reshape([2, 12])
  t.deepEqual([ft.unflatten(x, 1, [3, 4]).shape, x.unflatten(-1, [2, -1, 3]).shape, ft.unflatten(ft.zeros([0, 2]), 0, [0, 3]).shape], [[2, 3, 4], [2, 2, 2, 3], [0, 3, 2]])
  t.deepEqual(x.unflatten(1, [3, 4]).flatten(1).toArray(), x.toArray())
  t.deepEqual(ft.unflatten([1, 2, 3, 4], 0, [2, 2]).toArray(), [[1, 2], [3, 4]])
  throws(t, 'ERR_SHAPE', /^unflatten: sizes \[5, -1\] do not make up axis 1 of size 12/, () => x.unflatten(1, [5, -1]))
  throws(t, 'ERR_SHAPE', /^unflatten: sizes \[-1, -1\] do not make up axis 0 of size 2/, () => x.unflatten(0, [-1, -1]))
  throws(t, 'ERR_SHAPE', /^unflatten: sizes \[-2, -6\] do not make up axis 1/, () => x.unflatten(1, [-2, -6]))
  throws(t, 'ERR_INDEX', /^unflatten: axis 2 is out of range for rank 2/, () => x.unflatten(2, [1]))
  throws(t, 'ERR_ARGUMENT', /^unflatten: 'sizes' must have a size/, () => x.unflatten(0, []))
  throws(t, 'ERR_ARGUMENT', /^unflatten: 'sizes' must be an array of integers/, () => x.unflatten(0, 2 as never))
})
