// Functions that are several operations each, where they are differentiated or traced: PyTorch's gradients, and what jit gives.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from './expect.js'

type X = ft.Tensor<'float32'>

const v = ft.tensor([1, 2, 3])
const a = ft.tensor([[1, 2], [3, 4]])
const b = ft.tensor([[5, 6], [7, 8]])
const mask = ft.tensor([true, false, true])

/** Functions of one tensor, with PyTorch's gradient of the sum of their result at it (or the one that follows from the definition). */
const GRADIENTS: readonly (readonly [name: string, fn: (x: X) => ft.Tensor, x: X, gradient: unknown])[] = [
  // torch.cummax(x, 0).values.sum().backward() of [1, 3, 2, 3]
  ['cummax', (x) => ft.cummax(x).values, ft.tensor([1, 3, 2, 3]), [1, 2, 0, 1]],
  ['cummin', (x) => x.cummin().values, ft.tensor([2, 3, 1, 1]), [2, 0, 1, 1]],
  ['mode', (x) => ft.mode(x).values, ft.tensor([2, 1, 2]), [0, 0, 1]],
  ['modf', (x) => ft.modf(x).fractional, ft.tensor([1.5, -3, 0]), [1, 1, 1]],
  // torch.frexp(x).mantissa: 1 / 2^exponent
  ['frexp', (x) => ft.frexp(x).mantissa, ft.tensor([8, -0.75, 3]), [1 / 16, 1, 0.25]],
  ['varMean', (x) => ft.varMean(x, { correction: 1 }).var, v, [-1, 0, 1]],
  ['clamp', (x) => ft.clamp(x, { min: 1.5, max: 2.5 }), v, [0, 1, 0]],
  ['addcdiv', (x) => ft.addcdiv(x, x, ft.full([3], 2), { value: 3 }), v, [2.5, 2.5, 2.5]],
  ['unwrap', (x) => ft.unwrap(x, { period: 4 }), ft.tensor([0, 3, 7]), [1, 1, 1]],
  ['vander', (x) => ft.vander(x), ft.tensor([0, 2, 3]), [1, 5, 7]],
  ['linalg.vander', (x) => ft.linalg.vander(x, { n: 4 }), ft.tensor([0, 2]), [1, 17]],
  ['diagflat', (x) => ft.diagflat(x).mul(2), a, [[2, 2], [2, 2]]],
  ['insert', (x) => ft.insert(x, 1, x.at('0:2')).mul(ft.tensor([1, 10, 100, 1000, 10000])), v, [11, 1100, 10000]],
  ['delete', (x) => ft.delete(x, 1), v, [1, 0, 1]],
  ['append', (x) => ft.append(x, x), v, [2, 2, 2]],
  ['resize', (x) => ft.resize(x, [4]), v, [2, 1, 1]],
  ['repeat', (x) => ft.repeat(x, [2, 0, 1]), v, [2, 0, 1]],
  ['expandDims', (x) => ft.expandDims(x, [0, 2]).mul(3), v, [3, 3, 3]],
  ['concat', (x) => ft.concat([x, a], null).mul(2), v, [2, 2, 2]],
  ['block', (x) => ft.block([[x, x], [x, 5]]), ft.tensor([[2]]), [[3]]],
  ['select', (x) => ft.select([mask], [x.mul(3)], 1), v, [3, 0, 3]],
  ['piecewise', (x) => ft.piecewise(x, [mask], [(t) => t.square(), (t) => t.neg()]), v, [2, -1, 6]],
  ['choose', (x) => ft.choose([0, 1, 0], [x, x.mul(5)]), v, [1, 5, 1]],
  ['put', (x) => ft.put(x, [0], 9), v, [0, 1, 1]],
  ['place', (x) => ft.place(x.mul(2), mask, x), v, [1, 3, 0]],
  ['maskedScatter', (x) => ft.maskedScatter(x, mask, x.mul(7)), v, [7, 8, 0]],
  ['fillDiagonal', (x) => ft.fillDiagonal(x, 0), a, [[0, 1], [1, 0]]],
  ['indexAdd', (x) => ft.indexAdd(ft.zeros([2]), 0, [1, 1, 0], x, { alpha: 2 }).mul(ft.tensor([1, 10])), v, [20, 20, 2]],
  ['indexCopy', (x) => ft.indexCopy(x, 0, [2], [9]), v, [1, 1, 0]],
  ['scatterReduce', (x) => ft.scatterReduce(x, 0, [0, 0, 1], [1, 5, 1], 'sum').square(), v, [14, 6, 6]],
  ['cartesianProd', (x) => ft.cartesianProd(x, ft.tensor([1, 2])), v, [2, 2, 2]],
  ['combinations', (x) => ft.combinations(x), v, [2, 2, 2]],
  ['ediff1d', (x) => ft.ediff1d(x), v, [-1, 0, 1]],
  // torch.cov of weighted observations; differences of quotients agree
  ['cov', (x) => ft.cov(x, { fweights: [1, 2, 1] }), ft.tensor([1, 2, 6]), [-1.1666666, -1, 2.1666667]],
  ['trapezoid', (x) => ft.trapezoid(a, x), ft.tensor([[0, 1], [0, 2]]), [[-1.5, 1.5], [-3.5, 3.5]]],
  ['cumulativeTrapezoid', (x) => ft.cumulativeTrapezoid(x, [0, 1, 3]), v, [1, 2, 1]],
  ['addmm', (x) => ft.addmm(x, x, b, { alpha: 2 }), a, [[23, 31], [23, 31]]],
  ['chainMatmul', (x) => ft.chainMatmul(x, b, ft.ones([2, 1])), a, [[11, 15], [11, 15]]],
  // torch.dist(x, y) and torch.cdist: 0 where rows are equal
  ['dist', (x) => ft.dist(x, ft.zeros([2])), ft.tensor([3, 4]), [0.6, 0.8]],
  ['cdist', (x) => ft.cdist(x, ft.tensor([[1, 2], [4, 6]])), ft.tensor([[1, 2]]), [[-0.6, -0.8]]],
  ['renorm', (x) => ft.renorm(x, 1, 0, 3.5), ft.tensor([[1, 2], [3, 4]]), [[1, 1], [0, 0]]],
  ['logdet', (x) => ft.logdet(x), ft.tensor([[4, 2], [2, 3]]), [[0.375, -0.25], [-0.25, 0.5]]],
  ['luSolve', (x) => (({ lu, permutation }) => ft.linalg.luSolve(lu, permutation, ft.tensor([1, 2])))(ft.linalg.luFactor(x)), ft.tensor([[4, 2], [2, 3]]), [[0.015625, -0.09375], [0.03125, -0.1875]]],
  ['choleskySolve', (x) => ft.linalg.choleskySolve(ft.tensor([8, 9]), x), ft.tensor([[2, 0], [0, 3]]), [[-2, 0], [-0.9444444, -0.6666667]]],
  ['linalg.pinv', (x) => ft.linalg.pinv(x.expandDims(0), { rtol: [0.1] }), ft.tensor([[2, 0], [0, 4]]), [[-0.25, -0.125], [-0.125, -0.0625]]]
]

test('gradients', (t) => {
  const wrong = GRADIENTS.flatMap(([name, fn, x, gradient]) => {
    const actual = ft.grad((y: X) => fn(y).sum() as ft.Tensor<'float32'>)(x).toArray()
    return close(actual, gradient) ? [] : [`${name}: ${JSON.stringify(actual)}, not ${JSON.stringify(gradient)}`]
  })
  t.deepEqual(wrong, [])
})

test('jit gives the same', (t) => {
  for (const [name, fn, x] of GRADIENTS) {
    t.true(close(ft.jit(fn)(x).toArray(), fn(x).toArray()), name)
    const slope = ft.grad((y: X) => fn(y).sum() as ft.Tensor<'float32'>)
    t.true(close(ft.jit(slope)(x).toArray(), slope(x).toArray()), `the gradient of ${name}`)
  }
})

test('what depends on values cannot be traced, and says so', (t) => {
  for (const fn of [(x: X) => ft.trimZeros(x), (x: X) => ft.uniqueConsecutive(x), (x: X) => ft.roots(x), (x: X) => ft.extract(x.greater(1), x)] as ((x: X) => ft.Tensor)[]) {
    throws(t, 'ERR_ARGUMENT', /has no value while the function is traced/, () => ft.jit(fn)(v))
  }
})

test('errors that depend on values are thrown by the read', (t) => {
  throws(t, 'ERR_INDEX', /index 3 is out of range/, () => ft.nanargmax(ft.tensor([NaN, NaN, NaN])).toArray())
  throws(t, 'ERR_INDEX', /index 9/, () => ft.unravelIndex([9], [2, 3])[0]?.toArray())
  throws(t, 'ERR_INDEX', /index 7/, () => ft.ravelMultiIndex([[7], [0]], [2, 3]).toArray())
  throws(t, 'ERR_INDEX', /index 5/, () => ft.choose([5], [v, v]).toArray())
  throws(t, 'ERR_INDEX', /index 3/, () => ft.maskedScatter(v, [true, true, true], [1, 2]).toArray())
  throws(t, 'ERR_INDEX', /index 3/, () => ft.indexAdd(v, 0, ft.tensor([3], { dtype: 'int32' }), [1]).toArray())
  throws(t, 'ERR_INDEX', /index -4/, () => ft.scatterReduce(v, 0, [-4], [1], 'sum').toArray())
  throws(t, 'ERR_LINALG', /./, () => ft.linalg.luSolve(ft.zeros([2, 2]), [0, 1], v.at('0:2')).toArray())
})

test('wrong arguments are refused at the call, in words', (t) => {
  const call = ft as unknown as Record<string, (...args: unknown[]) => unknown>
  const refused = (code: string, message: RegExp, name: string, ...args: unknown[]): void => throws(t, code, message, () => call[name]?.(...args), name)
  refused('ERR_ARGUMENT', /^geomspace: ends must be finite, of one sign and not 0, got -1 and 1$/, 'geomspace', -1, 1, 3)
  refused('ERR_INDEX', /^insert: index 4 is out of range for axis 0 of size 3$/, 'insert', v, 4, 0)
  refused('ERR_INDEX', /^delete: index 3 is out of range for axis 0 of size 3$/, 'delete', v, 3)
  refused('ERR_SHAPE', /^delete: a mask of shape \[2\] for axis 0 of size 3$/, 'delete', v, [true, false])
  refused('ERR_SHAPE', /^block: blocks are nested to different depths$/, 'block', [[v], v])
  refused('ERR_SHAPE', /more than 16777216 elements/, 'fromiter', { *[Symbol.iterator]() { for (;;) yield 1 } })
  refused('ERR_ARGUMENT', /gave 1 elements, and 'count' is 2$/, 'fromiter', [1], { count: 2 })
  refused('ERR_INDEX', /^expandDims: axis 1 is named twice$/, 'expandDims', v, [1, 1])
  refused('ERR_INDEX', /^expandDims: axis 3 is out of range for rank 3$/, 'expandDims', v, [0, 3])
  refused('ERR_ARGUMENT', /^repeat: a count must not be negative, got -1$/, 'repeat', v, [1, -1, 1])
  refused('ERR_SHAPE', /^repeat: counts of shape \[2\] for axis 0 of size 3$/, 'repeat', v, [1, 1])
  refused('ERR_ARGUMENT', /^select: there are 1 conditions and 2 choices$/, 'select', [mask], [v, v])
  refused('ERR_ARGUMENT', /^select: 'conditions\[0\]' must be a tensor of bool, got float32$/, 'select', [v], [v])
  refused('ERR_ARGUMENT', /^piecewise: 1 conditions take 1 or 2 pieces, got 3$/, 'piecewise', v, [mask], [1, 2, 3])
  refused('ERR_ARGUMENT', /^lexsort: takes 1 to 1024 keys, got 0$/, 'lexsort', [])
  refused('ERR_SHAPE', /^lexsort: keys have shapes \[3\] and \[2, 2\]$/, 'lexsort', [v, a])
  refused('ERR_INDEX', /^partition: place 3 is out of range for axis 0 of size 3$/, 'partition', v, 3)
  refused('ERR_SHAPE', /^compress: a condition of 4 for axis 0 of size 3$/, 'compress', [true, true, true, true], v)
  refused('ERR_ARGUMENT', /^indexAdd: PyTorch's order is indexAdd\(x, axis, index, \.\.\.\), got \[0\] for the axis$/, 'indexAdd', v, [0], 0, v)
  refused('ERR_SHAPE', /^indexAdd: 'source' must have shape \[1\], got \[3\]$/, 'indexAdd', v, 0, [0], v)
  refused('ERR_SHAPE', /^indexFill: 'value' must be one value, got shape \[3\]$/, 'indexFill', v, 0, [0], v)
  refused('ERR_ARGUMENT', /^scatterReduce: 'reduction' must be one of .*, got 'max'$/, 'scatterReduce', v, 0, [0], [1], 'max')
  refused('ERR_SHAPE', /^scatterReduce: an index of shape \[4\] is larger/, 'scatterReduce', v, 0, [0, 0, 0, 0], [1], 'sum')
  refused('ERR_SHAPE', /^fillDiagonal: all of more than two axes must be of one size/, 'fillDiagonal', ft.zeros([2, 2, 3]), 0)
  refused('ERR_ARGUMENT', /^ravelMultiIndex: 1 index arrays for 2 axes$/, 'ravelMultiIndex', [[0]], [2, 2])
  refused('ERR_SHAPE', /^combinations: .* are too many$/, 'combinations', ft.zeros([100]), { r: 50 })
  refused('ERR_SHAPE', /^triuIndices: .* positions are more than/, 'triuIndices', 2 ** 16)
  refused('ERR_SHAPE', /^cov: 'aweights' must be 3 numbers, got shape \[2\]$/, 'cov', v, { aweights: [1, 2] })
  refused('ERR_DTYPE', /^cov: 'fweights' must be of an integer dtype, got float32/, 'cov', v, { fweights: v })
  refused('ERR_SHAPE', /^addmm: 'a' must be a matrix, got shape \[3\]$/, 'addmm', v, v, a)
  refused('ERR_SHAPE', /^addmm: /, 'addmm', ft.ones([3, 2, 2]), a, a)
  refused('ERR_ARGUMENT', /^chainMatmul: takes 2 to 256 matrices, got 1$/, 'chainMatmul', a)
  refused('ERR_SHAPE', /^cdist: takes rows of one size/, 'cdist', a, ft.ones([2, 3]))
  refused('ERR_ARGUMENT', /^dist: 'p' must be a number from 0, got -1$/, 'dist', v, v, -1)
  refused('ERR_DTYPE', /^unpackbits: takes uint8, got int32; the bytes of another integer are x\.toBytes\(\)$/, 'unpackbits', ft.ones([1], { dtype: 'int32' }))
  refused('ERR_SHAPE', /^vander: 'x' must be a vector, got shape \[2, 2\]$/, 'vander', a)
})
