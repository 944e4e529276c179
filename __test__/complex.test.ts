// Complex numbers through the public API: what they take part in, what they refuse, and the dtypes that come out.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { close, throws } from './expect.js'

const c = (re: number, im: number): ft.Complex => ({ re, im })
const z = (): Tensor<'complex64'> => ft.tensor([c(3, 4), c(0, -2), c(1, 0)])

test('arithmetic', (t) => {
  t.deepEqual(z().mul(z()).toArray(), [c(-7, 24), c(-4, -0), c(1, 0)])
  t.deepEqual(z().div(ft.tensor([c(0, 1), c(2, 0), c(1, 1)])).toArray(), [c(4, -3), c(0, -1), c(0.5, -0.5)])
  t.deepEqual(z().add(1).sub(true).toArray(), z().toArray())
  t.deepEqual(z().neg().sum().itemSync(), c(-4, -2))
  t.deepEqual(z().mean().itemSync(), c(Math.fround(4 / 3), Math.fround(2 / 3)))
  t.deepEqual(z().matmul(z()).itemSync(), c(-10, 24))
  t.deepEqual(z().cumulativeSum().toArray(), [c(3, 4), c(3, 2), c(4, 2)])
})

test('sizes are real', (t) => {
  const size: Tensor<'float32'> = z().abs()
  t.deepEqual([size.dtype, size.toArray()], ['float32', [5, 2, 1]])
  t.deepEqual(z().sign().toArray(), [c(Math.fround(0.6), Math.fround(0.8)), c(0, -1), c(1, 0)])
  // Nothing overflows on the way.
  t.is(ft.tensor([c(3e38, 3e-38)]).abs().itemSync(), Math.fround(3e38))
  t.deepEqual(ft.tensor([c(2e38, 2e38)]).div(ft.tensor([c(2e38, 0)])).itemSync(), c(1, 1))
  t.deepEqual(ft.tensor([c(2 ** -149, 0)]).div(ft.tensor([c(2 ** -148, 0)])).itemSync(), c(0.5, 0))
})

test('comparisons and choices', (t) => {
  t.deepEqual(z().equal(3).toArray(), [false, false, false])
  t.deepEqual(z().notEqual(z()).any().itemSync(), false)
  t.deepEqual(ft.where(z().abs().greater(1.5), z(), 0).toArray(), [c(3, 4), c(0, -2), c(0, 0)])
  t.deepEqual(ft.tensor([c(0, 1), c(NaN, 0), c(0, Infinity)]).isfinite().toArray(), [true, false, false])
  t.true(ft.tensor([c(0, 1), c(2, 0)]).all().itemSync())
})

test('with real tensors the wider precision wins', (t) => {
  const wide: Tensor<'complex128'> = z().mul(ft.ones([3], { dtype: 'float64' }))
  t.is(wide.dtype, 'complex128')
  t.is(z().add(ft.ones([3], { dtype: 'int32' })).dtype, 'complex64')
})

test('an infinite number is itself when nothing is combined with it', (t) => {
  t.deepEqual(ft.tensor([c(1, Infinity)]).prod().itemSync(), c(1, Infinity))
  t.deepEqual(ft.tensor([c(-Infinity, 2)]).mean().itemSync(), c(-Infinity, 2))
})

test('what needs an order, or a function there is none of, refuses', (t) => {
  // @ts-expect-error no order
  throws(t, 'ERR_DTYPE', /less: takes a real dtype, got complex64/, () => z().less(1))
  // @ts-expect-error no order
  throws(t, 'ERR_DTYPE', /max: /, () => z().max())
  // @ts-expect-error no order
  throws(t, 'ERR_DTYPE', /sort: /, () => z().sort())
  // @ts-expect-error no floor
  throws(t, 'ERR_DTYPE', /floor: /, () => z().floor())
})

test('elementary functions', (t) => {
  const pi = Math.fround(Math.PI)
  t.deepEqual(ft.tensor([c(0, 0), c(-4, 0), c(-4, -0), c(3, 4)]).sqrt().toArray(), [c(0, 0), c(0, 2), c(0, -2), c(2, 1)])
  t.deepEqual(ft.tensor([c(-1, 0), c(-1, -0)]).log().toArray(), [c(0, pi), c(0, -pi)])
  t.deepEqual(ft.tensor([c(0, 0), c(-Infinity, 1), c(Infinity, 0)]).exp().toArray(), [c(1, 0), c(0, 0), c(Infinity, 0)])
  t.deepEqual(ft.tensor([c(1e-30, 0)]).log1p().itemSync(), c(Math.fround(1e-30), 0))
  // Each side of a cut has its own value.
  const beyond = ft.tensor([c(2, 0), c(2, -0)], { dtype: 'complex128' })
  const [above, below] = beyond.acos().toArray() as ft.Complex[]
  t.is((above as ft.Complex).im, -(below as ft.Complex).im)
  t.true((above as ft.Complex).im < -1.3)
})

test('the size near the unit circle keeps its digits', (t) => {
  // Of the two doubles the sum of squares differs from 1 by about 1e-17, which is known exactly in integers.
  const { re } = ft.tensor([c(0.6, 0.8)], { dtype: 'complex128' }).log().itemSync()
  const exact = Number((BigInt(0.6 * 2 ** 53) ** 2n + BigInt(0.8 * 2 ** 53) ** 2n - (1n << 106n))) / 2 ** 106 / 2
  t.true(Math.abs(re / exact - 1) < 1e-12, `${re}, ${exact}`)
})

test('powers', (t) => {
  t.deepEqual(ft.tensor([c(1, 2), c(0, 1), c(0, 0)]).pow(2).toArray(), [c(-3, 4), c(-1, 0), c(0, 0)])
  t.deepEqual(ft.tensor([c(0, 2), c(1, 1)]).pow(-1).toArray(), [c(0, -0.5), c(0.5, -0.5)])
  t.deepEqual(ft.tensor([c(0, 0), c(5, -3), c(NaN, 1)]).pow(0).toArray(), [c(1, 0), c(1, 0), c(1, 0)])
  const { re, im } = ft.tensor([c(0, 1)], { dtype: 'complex128' }).pow(ft.tensor([c(0, 1)], { dtype: 'complex128' })).itemSync()
  t.true(Math.abs(re - Math.exp(-Math.PI / 2)) < 1e-15 && Math.abs(im) < 1e-15)
})

test('signs of zero choose the side of a later cut', (t) => {
  const sines = ft.tensor([c(2, 0), c(2, -0)], { dtype: 'complex128' }).sin().toArray() as ft.Complex[]
  t.deepEqual(sines.map(({ im }) => Object.is(im, -0)), [true, false])
  const [above, below] = ft.tensor([c(4, 0), c(4, -0)]).cosh().neg().log().toArray() as [ft.Complex, ft.Complex]
  t.deepEqual([above.im, below.im], [-Math.fround(Math.PI), Math.fround(Math.PI)])
})

test('powers of sizes whose squares overflow', (t) => {
  t.deepEqual(ft.tensor([c(1e20, 0)]).pow(-2).itemSync().re, Math.fround(1e-40))
  t.deepEqual(ft.tensor([c(Infinity, 1)]).pow(-1).itemSync().re, 0)
})

test('linear systems, factors and convolutions', (t) => {
  const a = ft.tensor([[c(2, 1), c(0, -1)], [c(1, 0), c(3, 2)]], { dtype: 'complex128' })
  const b = ft.tensor([c(1, 0), c(0, 1)], { dtype: 'complex128' })
  const close = (x: Tensor<'complex128'>, y: Tensor<'complex128'>) => t.true(x.sub(y).abs().max().itemSync() < 1e-14, `${x} ${y}`)
  close(a.matmul(ft.linalg.solve(a, b)), b)
  const { q, r } = ft.linalg.qr(a)
  close(q.matmul(r), a)
  const diagonal = [r.at(0, 0).itemSync(), r.at(1, 1).itemSync()]
  t.true(diagonal.every(({ re, im }) => re > 0 && im === 0), String(r))
  t.is(r.at(1, 0).itemSync().re, 0)
  const y: Tensor<'complex64'> = ft.nn.conv(ft.tensor([[[c(1, 1), c(0, 2), c(3, 0)]]]), ft.tensor([[[c(0, 1), c(1, 0)]]]))
  t.deepEqual(y.toArray(), [[[c(-1, 3), c(1, 0)]]])
})

test('rmsNorm divides by the root of the mean of squared magnitudes', (t) => {
  const x = (): Tensor<'complex128'> => ft.tensor([[c(3, 4), c(0, -2)], [c(1, 0), c(-1, 1)]], { dtype: 'complex128' })
  const weight = ft.tensor([2, 0.5], { dtype: 'float64' })
  const root = (...squares: readonly number[]): number => Math.sqrt(squares.reduce((a, b) => a + b, 0) / squares.length + 1e-5)
  const [first, second] = [root(25, 4), root(1, 2)]
  const wanted = [[c(6 / first, 8 / first), c(0, -1 / first)], [c(2 / second, 0), c(-0.5 / second, 0.5 / second)]]
  t.true(close(ft.nn.rmsNorm(x(), weight).toArray(), wanted))
  // Over the first axis, over both, which a weight has in ascending order, and a weight of the wider dtype.
  t.true(close(ft.nn.rmsNorm(x(), undefined, 0).toArray(), [[c(3 / root(25, 1), 4 / root(25, 1)), c(0, -2 / root(4, 2))], [c(1 / root(25, 1), 0), c(-1 / root(4, 2), 1 / root(4, 2))]]))
  t.true(close(ft.nn.rmsNorm(x(), ft.tensor([[1, 2], [3, 4]]), { axis: [1, -2] }).at(1, 1).itemSync(), c(-4 / root(25, 4, 1, 2), 4 / root(25, 4, 1, 2))))
  t.is(ft.nn.rmsNorm(z(), ft.ones([3], { dtype: 'float64' })).dtype, 'complex128')
  // Of numbers without an imaginary part it is the norm of real ones.
  const real = ft.tensor([[1, -2, 3]], { dtype: 'float64' })
  t.true(close(ft.nn.rmsNorm(ft.complex(real, ft.zerosLike(real))).real().toArray(), ft.nn.rmsNorm(real).toArray()))
  const layer = new ft.nn.RMSNorm(3)
  t.true(close(layer.apply(layer.init(ft.random.key(1)), z()).toArray(), ft.nn.rmsNorm(z(), undefined, { eps: ft.finfo('complex64').eps }).toArray()))
  throws(t, 'ERR_SHAPE', /^nn.rmsNorm: 'weight' must have shape \[2\], got \[2, 2\]/, () => ft.nn.rmsNorm(x(), ft.ones([2, 2])))
  throws(t, 'ERR_DTYPE', /^nn.rmsNorm: 'weight' must be real, got complex64/, () => ft.nn.rmsNorm(z(), z() as never))
  throws(t, 'ERR_INDEX', /^nn.rmsNorm: axis 1 is named twice/, () => ft.nn.rmsNorm(x(), undefined, [1, -1]))
  throws(t, 'ERR_INDEX', /^nn.rmsNorm: axis 2 is out of range/, () => ft.nn.rmsNorm(x(), undefined, 2))
  throws(t, 'ERR_ARGUMENT', /^nn.rmsNorm: 'eps' must be a number of at least 0, got -1/, () => ft.nn.rmsNorm(x(), undefined, { eps: -1 }))
})

/** Slopes of a function of complex elements by differences: by the real part, and by the imaginary one times i. */
function differences(f: (x: Tensor<'complex128'>) => Tensor, at: readonly ft.Complex[]): ft.Complex[] {
  const step = 1e-6
  const slope = (n: number, move: ft.Complex): number => {
    const moved = (way: number): Tensor<'complex128'> => ft.tensor(at.map((v, i) => (i === n ? c(v.re + way * move.re, v.im + way * move.im) : v)), { dtype: 'complex128' })
    return ((f(moved(step)).itemSync() as number) - (f(moved(-step)).itemSync() as number)) / (2 * step)
  }
  return at.map((_, n) => c(slope(n, c(1, 0)), slope(n, c(0, 1))))
}

test('gradients of rmsNorm and l1Loss of complex numbers', (t) => {
  const at = [c(3, 4), c(0, -2), c(1, 0.5)]
  const factors = ft.tensor([c(1, 2), c(-1, 0.5), c(0.25, -3)], { dtype: 'complex128' })
  const weight = ft.tensor([2, 0.5, -1], { dtype: 'float64' })
  const functions: readonly ((x: Tensor<'complex128'>) => Tensor<'float64'>)[] = [
    (x) => ft.nn.rmsNorm(x, weight).mul(factors).real().sum() as Tensor<'float64'>,
    (x) => ft.nn.l1Loss(x, factors) as Tensor<'float64'>
  ]
  for (const f of functions) t.true(close(ft.grad(f)(ft.tensor(at, { dtype: 'complex128' })).toArray(), differences(f, at)))
  const traced = ft.jit((x: Tensor<'complex64'>, eps: number) => ft.nn.rmsNorm(x, undefined, { eps }))
  t.true(close([0, 1].map((eps) => traced(z(), eps).toArray()), [0, 1].map((eps) => ft.nn.rmsNorm(z(), undefined, { eps }).toArray())))
  t.throws(() => traced(z(), -1), { code: 'ERR_ARGUMENT', message: /^nn.rmsNorm: 'eps' must be a number of at least 0, got -1/ })
  throws(t, 'ERR_SHAPE', /^nn.l1Loss: 'x' and 'target' differ in shape: \[3\] and \[1\]/, () => ft.nn.l1Loss(z(), z().at('0:1')))
})

test('complex numbers as pairs of real ones, and back', (t) => {
  t.deepEqual([ft.viewAsReal(z()).toArray(), ft.viewAsReal(z()).dtype], [[[3, 4], [0, -2], [1, 0]], 'float32'])
  t.deepEqual(ft.viewAsComplex(ft.viewAsReal(z())).toArray(), z().toArray())
  t.is(ft.viewAsComplex(ft.ones([3, 2], { dtype: 'float64' })).dtype, 'complex128')
  t.deepEqual(ft.viewAsComplex(ft.tensor([1, 2])).itemSync(), c(1, 2))
  t.deepEqual(ft.grad((x: Tensor<'complex64'>) => ft.viewAsReal(x).mul(ft.tensor([2, 3])).sum())(z()).toArray(), [c(2, 3), c(2, 3), c(2, 3)])
  throws(t, 'ERR_DTYPE', /^viewAsReal: takes a complex dtype, got float32/, () => ft.viewAsReal(ft.ones([2])))
  throws(t, 'ERR_DTYPE', /^viewAsComplex: takes a floating dtype, got int32/, () => ft.viewAsComplex(ft.ones([2], { dtype: 'int32' })))
  throws(t, 'ERR_SHAPE', /^viewAsComplex: the last axis must be of size 2, .* got shape \[3\]/, () => ft.viewAsComplex(ft.ones([3])))
  throws(t, 'ERR_SHAPE', /^viewAsComplex: .* got shape \[\]/, () => ft.viewAsComplex(ft.tensor(1)))
})
