// Patterns of axes: values of einops, gradients, tracing, and errors that name the axis.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

/** A shape, a pattern, sizes, and what einops 0.8.2 makes of the numbers from 0 (to be reduced: from 1) in that shape. */
type Row = readonly [shape: readonly number[], pattern: string, sizes: Record<string, number>, expected: unknown]

// einops.rearrange(np.arange(n, dtype=float).reshape(shape), pattern, **sizes).tolist()
const REARRANGED: readonly Row[] = [
  [[2, 6], 'b (h w) -> h b w', { h: 2 }, [[[0, 1, 2], [6, 7, 8]], [[3, 4, 5], [9, 10, 11]]]],
  [[2, 3, 2], 'a b c -> c (a b)', {}, [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]]],
  [[2, 3, 2], '... c -> c ...', {}, [[[0, 2, 4], [6, 8, 10]], [[1, 3, 5], [7, 9, 11]]]],
  [[2, 3, 2], 'a ... -> (... a)', {}, [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]],
  [[2, 3, 2], '... c -> c (...)', {}, [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]]],
  [[2], '... -> (...) 1', {}, [[0], [1]]],
  [[4], '(a b c) -> c b a', { a: 2, b: 1 }, [[[0, 2]], [[1, 3]]]],
  [[2, 1, 3], 'a 1 b -> b 1 a 1', {}, [[[[0], [3]]], [[[1], [4]]], [[[2], [5]]]]],
  [[2, 3], 'a b -> b () a', {}, [[[0, 3]], [[1, 4]], [[2, 5]]]],
  [[1, 4, 4, 1], 'b (h p) (w q) c -> (b h w) (p q c)', { p: 2, q: 2 }, [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]],
  [[], '->', {}, 0],
  [[], '-> 1 1', {}, [[0]]]
]

// einops.repeat(np.arange(n, dtype=float).reshape(shape), pattern, **sizes).tolist()
const REPEATED: readonly Row[] = [
  [[2], 'w -> h w', { h: 2 }, [[0, 1], [0, 1]]],
  [[2, 2], 'h w -> (h 2) (w 3)', {}, [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [2, 2, 2, 3, 3, 3], [2, 2, 2, 3, 3, 3]]],
  [[2, 2], 'h w -> h (c w)', { c: 2 }, [[0, 1, 0, 1], [2, 3, 2, 3]]],
  [[2], '... -> ... c', { c: 2 }, [[0, 0], [1, 1]]],
  [[2], 'a -> (a b)', { b: 0 }, []],
  [[2, 1], 'a 1 -> b a', { b: 2 }, [[0, 1], [0, 1]]],
  [[], '-> 3', {}, [0, 0, 0]]
]

// einops.reduce(1 + np.arange(n, dtype=float).reshape(shape), pattern, reduction, **sizes).tolist()
const REDUCED: readonly (readonly [...Row, ft.einops.Reduction])[] = [
  [[2, 4], 'b (h 2) -> h b', {}, [[2, 6], [4, 8]], 'max'],
  [[2, 3, 2], '... c -> c', {}, [6, 7], 'mean'],
  [[2, 3, 2], 'a ... -> ...', {}, [[8, 10], [12, 14], [16, 18]], 'sum'],
  [[1, 4, 4, 1], 'b (h 2) (w 2) c -> b h w c', {}, [[[[6], [8]], [[14], [16]]]], 'max'],
  [[2, 3], 'a b ->', {}, 21, 'sum'],
  [[2, 3], 'a b -> 1 b', {}, [[1, 2, 3]], 'min'],
  [[2, 4], 'a (b c) -> c a', { b: 2 }, [[3, 35], [8, 48]], 'prod'],
  [[2, 3], 'a b -> b a', {}, [[1, 4], [2, 5], [3, 6]], 'sum']
]

/** The numbers from `start` in a shape. */
const counted = (shape: readonly number[], start = 0): ft.Tensor<'float32'> => ft.arange(start, start + shape.reduce((n, size) => n * size, 1)).reshape(shape)

for (const [shape, pattern, sizes, expected] of REARRANGED) {
  test(`rearrange [${shape.join()}] ${pattern}`, (t) => {
    t.deepEqual(ft.einops.rearrange(counted(shape), pattern, sizes).toArray(), expected)
    t.deepEqual(ft.einops.repeat(counted(shape), pattern, sizes).toArray(), expected, 'as repeat')
    t.deepEqual(ft.einops.reduce(counted(shape), pattern, 'sum', sizes).toArray(), expected, 'as reduce')
    t.deepEqual(ft.jit((x: ft.Tensor) => ft.einops.rearrange(x, pattern, sizes))(counted(shape)).toArray(), expected, 'traced')
  })
}

for (const [shape, pattern, sizes, expected] of REPEATED) {
  test(`repeat [${shape.join()}] ${pattern}`, (t) => {
    t.deepEqual(ft.einops.repeat(counted(shape), pattern, sizes).toArray(), expected)
    t.deepEqual(ft.jit((x: ft.Tensor) => ft.einops.repeat(x, pattern, sizes))(counted(shape)).toArray(), expected, 'traced')
  })
}

for (const [shape, pattern, sizes, expected, reduction] of REDUCED) {
  test(`reduce [${shape.join()}] ${pattern} by ${reduction}`, (t) => {
    t.deepEqual(ft.einops.reduce(counted(shape, 1), pattern, reduction, sizes).toArray(), expected)
    t.deepEqual(ft.jit((x: ft.Tensor<'float32'>) => ft.einops.reduce(x, pattern, reduction, sizes) as ft.Tensor)(counted(shape, 1)).toArray(), expected, 'traced')
  })
}

test('any and all, and dtypes that widen', (t) => {
  const x = ft.tensor([[true, false], [true, true]])
  t.deepEqual(ft.einops.reduce(x, 'a b -> b', 'all').toArray(), [true, false])
  t.deepEqual(ft.einops.reduce(x, 'a b -> a', 'any').toArray(), [true, true])
  t.is(ft.einops.reduce(x, 'a b -> a', 'sum').dtype, 'int32')
  t.is(ft.einops.reduce(x, 'a b -> a', 'mean').dtype, 'float32')
  t.is(ft.einops.rearrange(x, 'a b -> (a b)').dtype, 'bool')
})

test('the character for three dots, names with digits, any spaces', (t) => {
  t.deepEqual(ft.einops.rearrange(counted([2, 1, 3]), '  x1 …->…   x1').shape, [1, 3, 2])
  t.deepEqual(ft.einops.rearrange(counted([2, 3]), '(h_1 größe)w->größe(h_1 w)', { h_1: 1 }).shape, [2, 3])
  t.deepEqual(ft.einops.rearrange(counted([2, 3]), 'a b ... -> (... b) a').shape, [3, 2])
})

test('gradients', (t) => {
  const x = counted([2, 4])
  const weights = counted([4, 2])
  // The transpose of the weights; each element as often as it is repeated; the mean of two.
  t.deepEqual(ft.grad((v: ft.Tensor<'float32'>) => ft.einops.rearrange(v, 'a b -> b a').mul(weights).sum())(x).toArray(), [[0, 2, 4, 6], [1, 3, 5, 7]])
  t.deepEqual(ft.grad((v: ft.Tensor<'float32'>) => ft.einops.repeat(v, 'a b -> a (b 3)').sum())(x).toArray(), [[3, 3, 3, 3], [3, 3, 3, 3]])
  t.deepEqual(ft.jit(ft.grad((v: ft.Tensor<'float32'>) => ft.einops.reduce(v, 'a (b 2) -> a b', 'mean').square().sum()))(x).toArray(), [[0.5, 0.5, 2.5, 2.5], [4.5, 4.5, 6.5, 6.5]])
})

test('a view where the order allows it', (t) => {
  const { uploaded } = ft.stats()
  const x = counted([64, 64])
  ft.evaluateSync(x)
  const { launches } = ft.stats()
  ft.evaluateSync(ft.einops.rearrange(x, '(a b) (c d) -> d c b a', { a: 4, c: 2 }))
  t.deepEqual([ft.stats().launches, ft.stats().uploaded], [launches, uploaded])
})

test('errors name the axis', (t) => {
  const { rearrange, reduce, repeat } = ft.einops as unknown as Record<'rearrange' | 'reduce' | 'repeat', (...args: unknown[]) => unknown>
  const x = counted([4, 6])
  const cases: readonly (readonly [code: string, message: RegExp, call: () => unknown])[] = [
    ['ERR_ARGUMENT', /^einops.rearrange: 'x' must be a tensor, got 5/, () => rearrange(5, 'a -> a')],
    ['ERR_ARGUMENT', /^einops.rearrange: 'pattern' must be text such as .* got 7/, () => rearrange(x, 7)],
    ['ERR_ARGUMENT', /^einops.rearrange: the pattern must have one '->', got 'a b'/, () => rearrange(x, 'a b')],
    ['ERR_ARGUMENT', /the pattern must have one '->'/, () => rearrange(x, 'a -> b -> c')],
    ['ERR_ARGUMENT', /^einops.rearrange: 'b:' in the pattern is no axis/, () => rearrange(x, 'a b: -> a')],
    ['ERR_ARGUMENT', /'2a' in the pattern is no axis/, () => rearrange(x, '2a b -> b 2a')],
    ['ERR_ARGUMENT', /'\.' in the pattern is no axis/, () => rearrange(x, 'a .. -> a ..')],
    ['ERR_ARGUMENT', /the size 0 in the pattern must be at least 1/, () => repeat(x, 'a b -> a b 0')],
    ['ERR_ARGUMENT', /a parenthesis stands in another on the right side/, () => rearrange(x, 'a b -> ((a) b)')],
    ['ERR_ARGUMENT', /a parenthesis is not closed on the left side/, () => rearrange(x, '(a b -> a b')],
    ['ERR_ARGUMENT', /a parenthesis is closed on the right side/, () => rearrange(x, 'a b -> a b)')],
    ['ERR_ARGUMENT', /'\.\.\.' stands in parentheses on the left side/, () => rearrange(x, '(a ...) -> a ...')],
    ['ERR_ARGUMENT', /^einops.rearrange: axis 'a' stands twice on the left side/, () => rearrange(x, 'a a -> a')],
    ['ERR_ARGUMENT', /axis 'b' stands on the left side alone; reduce takes axes away/, () => rearrange(x, 'a b -> a')],
    ['ERR_ARGUMENT', /axis 'c' stands on the right side alone; repeat adds axes/, () => rearrange(x, 'a b -> a b c')],
    ['ERR_ARGUMENT', /axis 'c' stands on the right side alone/, () => reduce(x, 'a b -> a c', 'sum')],
    ['ERR_ARGUMENT', /an axis of size 2 without a name stands on the left side alone/, () => rearrange(x, '(a 2) b -> a b')],
    ['ERR_ARGUMENT', /axis 'b' stands on the left side alone/, () => repeat(x, 'a b -> a c', { c: 2 })],
    ['ERR_ARGUMENT', /axis '\.\.\.' stands on the right side alone/, () => repeat(x, 'a b -> a b ...')],
    ['ERR_ARGUMENT', /^einops.repeat: the size of axis 'c', which is new, is not given/, () => repeat(x, 'a b -> a b c')],
    ['ERR_ARGUMENT', /axis 0 of size 4 is \(a b\): the sizes of 'a' and 'b' are unknown; give all but one/, () => rearrange(x, '(a b) c -> a b c')],
    ['ERR_ARGUMENT', /no axis of the pattern is named 'heihgt'; did you mean 'height'/, () => rearrange(x, '(height a) b -> height a b', { heihgt: 2 })],
    ['ERR_ARGUMENT', /the size of axis 'a' must be an integer of at least 0, got 0.5/, () => rearrange(x, '(a b) c -> a b c', { a: 0.5 })],
    ['ERR_ARGUMENT', /'sizes' must be an object of sizes by the names of axes, got \[1\]/, () => rearrange(x, 'a b -> b a', [1])],
    ['ERR_ARGUMENT', /^einops.reduce: 'reduction' must be one of .* got 'median'/, () => reduce(x, 'a b -> a', 'median')],
    ['ERR_SHAPE', /^einops.rearrange: axis 0 of size 4 is \(a b\), which leaves axis 'b' no size: the others have 3/, () => rearrange(x, '(a b) c -> a b c', { a: 3 })],
    ['ERR_SHAPE', /leaves axis 'b' no size: the others have 0/, () => rearrange(x, '(a b) c -> a b c', { a: 0 })],
    ['ERR_SHAPE', /^einops.rearrange: axis 0 has size 4, the pattern says 5 of axis 'a'; shape \[4, 6\]/, () => rearrange(x, 'a b -> b a', { a: 5 })],
    ['ERR_SHAPE', /axis 1 has size 6, the pattern says 1 of an axis of size 1/, () => rearrange(x, 'a 1 -> a')],
    ['ERR_SHAPE', /axis 1 has size 6, the pattern says 8 of \(b c\)/, () => rearrange(x, 'a (b c) -> a b c', { b: 4, c: 2 })],
    ['ERR_SHAPE', /^einops.rearrange: the left side has 3 axes, the tensor 2: shape \[4, 6\]/, () => rearrange(x, 'a b c -> c b a')],
    ['ERR_SHAPE', /the left side has at least 3 axes, the tensor 2/, () => rearrange(x, 'a b c ... -> c b a ...')],
    ['ERR_DTYPE', /^einops.reduce: /, () => reduce(ft.ones([2], { dtype: 'complex64' }), 'a ->', 'max')]
  ]
  for (const [code, message, call] of cases) throws(t, code, message, call)
})

test('more patterns than are remembered stay right', (t) => {
  for (let i = 0; i < 1200; i++) t.deepEqual(ft.einops.rearrange(ft.zeros([1, 2]), `a${i} b -> b a${i}`).shape, [2, 1])
})
