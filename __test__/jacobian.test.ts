// Jacobians, Hessians, gradients of the caller's making, and those that compute again.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from './expect.js'

type F = ft.Tensor<'float32'>

const x = ft.tensor([1, 2, 3])

test('a Jacobian has the axes of the result, then of the argument', (t) => {
  t.deepEqual(ft.jacobian((x: F) => x.mul(x))(x).toArray(), [[2, 0, 0], [0, 4, 0], [0, 0, 6]])
  // More results than arguments: forward mode.
  const wide = ft.jacobian((x: F) => ft.stack([x, x.mul(2), x.sum().broadcastTo([3])], 0))(x)
  t.deepEqual(wide.shape, [3, 3, 3])
  t.deepEqual(wide.at(1).toArray(), [[2, 0, 0], [0, 2, 0], [0, 0, 2]])
  t.deepEqual(wide.at(2).toArray(), [[1, 1, 1], [1, 1, 1], [1, 1, 1]])
  const fewer = ft.jacobian((x: F) => x.at('1:').mul(x.at(0)))(x)
  t.deepEqual(fewer.toArray(), [[2, 1, 0], [3, 0, 1]])
  t.deepEqual(ft.jacobian((x: F) => x.mul(2))(ft.zeros([0, 2])).shape, [0, 2, 0, 2])
  t.deepEqual(ft.jacobian((x: F) => x.sum())(x).toArray(), [1, 1, 1])
})

test('a Hessian is the Jacobian of a gradient', (t) => {
  t.deepEqual(ft.hessian((x: F) => x.pow(3).sum())(x).toArray(), [[6, 0, 0], [0, 12, 0], [0, 0, 18]])
  t.true(close(ft.hessian((x: F) => x.prod())(x).toArray(), [[0, 3, 2], [3, 0, 1], [2, 1, 0]]))
})

test('customGradient takes the gradient it is told, which can be differentiated again', (t) => {
  const through = ft.customGradient((x: F): [F, (g: F) => F[]] => [x.round() as F, (g) => [g]])
  t.deepEqual(through(ft.tensor([0.4, 0.6])).toArray(), [0, 1])
  t.deepEqual(ft.grad((x: F) => through(x.mul(2)).mul(3).sum())(x).toArray(), [6, 6, 6])
  const cube = ft.customGradient((x: F): [F, (g: F) => F[]] => [x.pow(3), (g) => [g.mul(x.square()).mul(3)]])
  t.deepEqual(ft.grad((x: F) => ft.grad((x: F) => cube(x).sum())(x).sum())(x).toArray(), [6, 12, 18])
  const none = ft.customGradient((x: F, p: { a: F; k: ft.Tensor<'int32'> }): [F, (g: F) => unknown[]] => [x.mul(p.a), (g) => [g, null]])
  const p = { a: ft.tensor([2, 2, 2]), k: ft.tensor([1], { dtype: 'int32' }) }
  t.deepEqual(ft.grad((x: F) => none(x, p).sum())(x).toArray(), [1, 1, 1])
})

test('what customGradient is told wrong is refused', (t) => {
  throws(t, 'ERR_ARGUMENT', /^customGradient: expected a function, got 1/, () => ft.customGradient(1 as never))
  throws(t, 'ERR_ARGUMENT', /^customGradient: the function must return \[value, \(cotangent\) => \[\.\.\.\]\], got/, () => ft.customGradient(((x: F) => x) as never)(x))
  const few = ft.customGradient((x: F): [F, (g: F) => F[]] => [x.mul(2), () => []])
  throws(t, 'ERR_ARGUMENT', /^customGradient: the gradient must be an array of 1, got \[\]/, () => ft.grad((x: F) => few(x).sum())(x))
  const wrong = ft.customGradient((x: F): [F, (g: F) => F[]] => [x.mul(2), () => [ft.ones([2])]])
  throws(t, 'ERR_SHAPE', /^customGradient: the gradient of argument 0 must have shape \[3\], got \[2\]/, () => ft.grad((x: F) => wrong(x).sum())(x))
  throws(t, 'ERR_UNSUPPORTED', /^jvp: what customGradient makes has cotangents, and no tangents/, () => ft.jvp((x: F) => wrong(x), [x], [x]))
})

test('checkpoint has the gradient of what it is made of, and keeps its arguments alone', (t) => {
  const labels = ft.tensor([0, 2], { dtype: 'int32' })
  const layer = (p: { w: F }, x: F, y: ft.Tensor<'int32'>): F => x.matmul(p.w).tanh().add(y.reshape([2, 1]).astype('float32'))
  const input = ft.tensor([[1, 2, 3], [4, 5, 6]])
  const p = { w: ft.tensor([[0.1, 0.2, 0.3], [-0.1, 0, 0.1], [0.3, -0.2, 0.1]]) }
  const f = (l: typeof layer) => ft.grad((p: { w: F }, x: F) => l(p, l(p, x, labels), labels).square().sum())(p, input).w.toArray()
  t.deepEqual(f(ft.checkpoint(layer)), f(layer))
})

test('checkpoint differentiates what its function takes from outside, and has tangents', (t) => {
  const w = ft.tensor([[0.5, 1], [2, -1], [1, 1]])
  const row = ft.tensor([[1, 2, 3]])
  const plain = (w: F): F => row.matmul(w).tanh().sum()
  const kept = (w: F): F => ft.checkpoint((h: F) => h.matmul(w).tanh())(row).sum()
  t.deepEqual(ft.grad(kept)(w).toArray(), ft.grad(plain)(w).toArray())
  const direction = ft.ones([3, 2])
  t.deepEqual(ft.jvp(kept, [w], [direction])[1].toArray(), ft.jvp(plain, [w], [direction])[1].toArray())
  const [, back] = ft.vjp(kept, w)
  t.deepEqual(back(ft.tensor(1))[0].toArray(), ft.grad(plain)(w).toArray())
  t.deepEqual(ft.hessian((w: F) => kept(w.reshape([3, 2])))(w.reshape([6])).toArray(), ft.hessian((w: F) => plain(w.reshape([3, 2])))(w.reshape([6])).toArray())
})

test('a gradient of one\'s own does not lose what its value depends on', (t) => {
  const f = (x: F): F => ft.customGradient((y: F): [F, (g: F) => F[]] => [y.mul(x), (g) => [g]])(ft.ones([3])).sum()
  throws(t, 'ERR_ARGUMENT', /^customGradient: the value depends on a variable that is no argument/, () => ft.grad(f)(x))
})

test('complex Jacobians are refused', (t) => {
  const z = ft.complex(x, x)
  throws(t, 'ERR_DTYPE', /^jacobian: the argument must be a real floating tensor, got complex64; use vjp or jvp/, () => ft.jacobian((z: ft.Tensor<'complex64'>) => z)(z))
  throws(t, 'ERR_DTYPE', /^jacobian: the result must be a real floating tensor, got complex64/, () => ft.jacobian((x: F) => ft.complex(x, x))(x))
  throws(t, 'ERR_DTYPE', /^hessian: the argument must be a real floating tensor, got int32/, () => ft.hessian((x: ft.Tensor) => x.sum())(ft.tensor([1], { dtype: 'int32' })))
})

/** The peak of a chain of 64 layers over 1 MiB, in segments. */
function peak(segments: number): number {
  const x = ft.ones([1 << 18])
  const part = (x: F): F => {
    let y = x
    // Neither a map that fuses with the next, nor in place.
    for (let i = 0; i < 64 / segments; i++) y = y.sin().cumulativeSum().mul(1e-6) as F
    return y
  }
  const segment = segments === 1 ? part : ft.checkpoint(part)
  const f = (x: F): F => {
    let y = x
    for (let i = 0; i < segments; i++) y = segment(y)
    return y.sum()
  }
  ft.evaluateSync(x)
  ft.trim()
  const before = ft.memory().live
  const g = ft.grad(f)(x)
  g.dataSync()
  return (ft.memory().peak - before) / 2 ** 20
}

test.serial('a chain in segments of its root keeps about the root of its values', (t) => {
  // The peak only grows: the smaller first.
  const segmented = peak(8)
  const whole = peak(1)
  t.log(`${segmented.toFixed(0)} MiB in segments, ${whole.toFixed(0)} MiB whole`)
  t.true(segmented * 2.5 < whole, `${segmented} and ${whole} MiB`)
})
