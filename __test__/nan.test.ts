// The detector of NaN: the operation that makes one is named, on the way back too; what is passed in is handed on.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, failure, throws } from './expect.js'
import { settled } from './settled.js'

type F = ft.Tensor<'float32'>

/** The error of what must make a NaN. */
const nan = (t: Parameters<typeof failure>[0], message: RegExp, fn: () => unknown): void => {
  throws(t, 'ERR_NAN', message, () => ft.detectNaN(fn))
  t.true(failure(t, () => ft.detectNaN(fn), String(fn)) instanceof ft.NaNError)
}

test('the first operation that makes a NaN is named, with its operands', (t) => {
  const x = ft.tensor([[1, 4], [-1, -9]])
  nan(t, /^sqrt: the result, float32 \[2, 2\], has NaN in 2 of 4 elements, the first at \[1, 0\], made of operands without NaN: x float32 \[2, 2\]$/, () => x.add(0).sqrt().log().sum())
  nan(t, /^divide: the result, float32 \[2\], has NaN in 1 of 2 elements, the first at \[1\], made of operands without NaN: x1 float32 \[2\], x2 0$/, () => ft.tensor([1, 0]).div(0))
  nan(t, /^subtract: .* made of operands without NaN: x1 float32 \[1\] with Infinity, x2 float32 \[\] with Infinity$/, () => ft.tensor([Infinity]).sub(ft.tensor(Infinity)))
  nan(t, /^std: the result, float32 \[\], is NaN, made of operands without NaN: x float32 \[1\], correction 1$/, () => ft.tensor([5]).std({ correction: 1 }))
  nan(t, /^linspace: .*: start 0, stop Infinity$/, () => ft.linspace(0, Infinity, 3))
  nan(t, /^softmax: .*x float32 \[2\] with Infinity$/, () => ft.concat([ft.tensor([Infinity]), ft.tensor([1])]).softmax())
  // The second output.
  nan(t, /^linalg\.slogdet: result 0, float32 \[\], is NaN/, () => ft.linalg.slogdet(ft.tensor([[Infinity, 2], [Infinity, 4]])))
})

test('every floating dtype is looked at', (t) => {
  for (const dtype of ['float16', 'bfloat16', 'float32', 'float64'] as const) {
    nan(t, new RegExp(`^log: the result, ${dtype} \\[2\\], has NaN in 1 of 2 elements, the first at \\[1\\], made of operands without NaN: x ${dtype} \\[2\\]$`), () => ft.tensor([1, -1], { dtype }).log())
  }
  for (const dtype of ['complex64', 'complex128'] as const) {
    nan(t, new RegExp(`^multiply: the result, ${dtype} \\[1\\], is NaN, .*x1 ${dtype} \\[1\\] with Infinity, x2 ${dtype} \\[1\\]$`), () => ft.tensor([{ re: Infinity, im: 0 }], { dtype }).mul(ft.tensor([{ re: 0, im: 0 }], { dtype })))
  }
  t.deepEqual(ft.detectNaN(() => ft.tensor([1, 2], { dtype: 'int32' }).add(1).greater(2)).toArray(), [false, true])
})

test('on the way back it is the operation whose gradient it is', (t) => {
  const zero = ft.zeros([3])
  const norm = (x: F): F => x.square().sum().sqrt() as F
  t.deepEqual(ft.grad(norm)(zero).toArray(), [NaN, NaN, NaN])
  nan(t, /^square: the gradient with respect to x, float32 \[3\], has NaN in 3 of 3 elements, the first at \[0\], made of operands without NaN: x float32 \[3\], result float32 \[3\], cotangent float32 \[3\] with Infinity$/, () => ft.grad(norm)(zero))
  // The trap of where: the branch that is not taken has a gradient.
  const masked = (x: F): F => ft.where(x.greater(0), x.log(), 0).sum() as F
  nan(t, /^log: the gradient with respect to x, float32 \[2\], has NaN in 1 of 2 elements, the first at \[1\]/, () => ft.grad(masked)(ft.tensor([1, 0])))
  const power = (x: F): F => x.mul(2).pow(ft.tensor([0.5, 0.5]).mul(0).add(x.at(0))).sum() as F
  nan(t, /^pow: the gradient with respect to x\d, /, () => ft.grad(power)(ft.tensor([1, -1])))
  nan(t, /^sqrt: the tangent, float32 \[1\], is NaN, .*: x float32 \[1\], result float32 \[1\], tangent of x float32 \[1\]$/, () => ft.jvp((x: F) => x.sqrt(), [ft.tensor([0])], [ft.tensor([0])]))
  nan(t, /^sqrt: a derivative of order 2, float32 \[2\], has NaN in 1 of 2 elements, the first at \[0\], made of operands without NaN: float32/, () =>
    ft.grad((x: F) => ft.grad((x: F) => x.abs().sqrt().sum())(x).square().sum())(ft.tensor([0, 1]))
  )
  const scaled = ft.customGradient((x: F): [F, (g: F) => [F]] => [x.mul(1), (g) => [g.mul(Infinity).mul(0)]])
  nan(t, /^multiply: the result.* x1 float32 \[3\] with Infinity, x2 0$/, () => ft.grad((x: F) => scaled(x).sum())(zero))
  nan(t, /^square: the gradient/, () => ft.grad((x: F) => ft.checkpoint(norm)(x))(zero))
})

test('a NaN that was passed in is handed on', (t) => {
  const x = ft.tensor([1, NaN])
  const pending = x.add(1)
  t.deepEqual(ft.detectNaN(() => pending.mul(2).sqrt()).toArray(), [2, NaN])
  t.deepEqual(ft.detectNaN(() => ft.tensor([1, 2]).mul(NaN).add(1)).toArray(), [NaN, NaN])
  t.deepEqual(ft.detectNaN(() => ft.full([2], NaN)).toArray(), [NaN, NaN])
  t.deepEqual(ft.detectNaN(() => ft.grad((x: F) => x.square().sum())(x)).toArray(), [2, NaN])
  // Options that were left out are none.
  t.true(close(ft.detectNaN(() => ft.linalg.pinv(ft.tensor([[2, 0], [0, 4]]))).toArray(), [[0.5, 0], [0, 0.25]]))
  const [query, keys] = [ft.ones([1, 2]), ft.ones([1, 2])]
  t.deepEqual(ft.detectNaN(() => ft.nn.scaledDotProductAttention(query, keys, keys)).toArray(), [[1, 1]])
  t.deepEqual(ft.detectNaN(() => ft.nn.scaledDotProductAttention(query, keys, keys, ft.tensor([[false]]))).toArray(), [[0, 0]])
  nan(t, /^nn\.scaledDotProductAttention: .* mask bool \[1, 1\]$/, () => ft.nn.scaledDotProductAttention(query.mul(Infinity), keys, keys, ft.tensor([[true]])))
})

test('infinity is no NaN', (t) => {
  t.deepEqual(ft.detectNaN(() => ft.tensor([1, 0]).log().exp().reciprocal()).toArray(), [1, Infinity])
})

test('draws that reject are not in the way', (t) => {
  const key = ft.random.key(3)
  t.notThrows(() => ft.detectNaN(() => ft.random.gamma(key, ft.tensor([0.1, 2.5, 300]), [100, 3]).mul(2)))
  t.notThrows(() => ft.detectNaN(() => ft.random.beta(key, 0.3, 2, [300]).sum()))
  t.notThrows(() => ft.detectNaN(() => ft.random.poisson(key, ft.tensor([0, 5, 300]), [100, 3]).sum()))
  t.notThrows(() => ft.detectNaN(() => ft.random.binomial(key, ft.tensor([0, 5, 30]), ft.tensor([0, 0.5, 1]), [100, 3]).sum()))
  nan(t, /^log: /, () => {
    ft.random.gamma(key, 2, [3])
    return ft.tensor([-1]).log()
  })
})

test('values are the same as without', (t) => {
  const a = ft.random.normal(ft.random.key(1), [8, 8])
  const loss = (w: F): F => a.matmul(w).tanh().softmax().square().mean()
  const run = (): unknown[] => {
    const [value, g] = ft.valueAndGrad(loss)(a)
    const { values, indices } = g.topk(2)
    return [value, g, values, indices].map((x) => x.toArray())
  }
  t.deepEqual(ft.detectNaN(run), run())
})

test('it is off again afterwards, whatever happened', (t) => {
  const makes = (): ft.Tensor => ft.tensor([-1]).log()
  const off = (): void => void t.deepEqual(makes().toArray(), [NaN])
  t.throws(() => ft.detectNaN(makes))
  off()
  t.throws(() => ft.detectNaN(() => { throw new Error('mine') }), { message: 'mine' })
  off()
  t.throws(() => ft.detectNaN(() => {
    t.is(ft.detectNaN(() => 3), 3)
    t.throws(() => ft.detectNaN(makes))
    // Still on.
    makes()
  }), { instanceOf: ft.NaNError })
  off()
  // Caught, it goes on.
  t.is(ft.detectNaN(() => {
    t.throws(makes)
    t.throws(makes)
    return 4
  }), 4)
  // A level of gradients is closed.
  t.throws(() => ft.detectNaN(() => ft.grad((x: F) => x.log().sum())(ft.tensor([-1]))), { instanceOf: ft.NaNError })
  t.deepEqual(ft.grad((x: F) => x.sum())(ft.ones([2])).toArray(), [1, 1])
})

test('errors that depend on values are thrown at the call', (t) => {
  throws(t, 'ERR_INDEX', /^take: index 7/, () => ft.detectNaN(() => void ft.ones([2]).take(ft.tensor([7], { dtype: 'int32' }))))
  throws(t, 'ERR_LINALG', /^linalg\.inv: /, () => ft.detectNaN(() => void ft.linalg.inv(ft.zeros([2, 2]))))
})

test('what is no synchronous function is refused', (t) => {
  throws(t, 'ERR_ARGUMENT', /^detectNaN: expected a function, got 3/, () => ft.detectNaN(3 as never))
  throws(t, 'ERR_ARGUMENT', /^detectNaN: the function returned a promise/, () => ft.detectNaN(async () => { throw new Error('nobody hears it') }))
})

test('the detector keeps nothing alive', async (t) => {
  const x = ft.ones([64, 64])
  ft.evaluateSync(x)
  ft.trim()
  const before = ft.memory().live
  ft.detectNaN(() => {
    // Given up as they are used, in scopes, and in levels of gradients.
    for (let i = 0; i < 20; i++) {
      using y = x.mul(2)
      y.add(1).dispose()
      ft.scope(() => void y.matmul(x).sum().itemSync())
      ft.grad((x: F) => x.mul(2).exp().mean())(x).dispose()
    }
    const own = x.mul(3)
    own.sqrt().dispose()
    const held = ft.memory().live
    own.dispose()
    // At once: no expression of the detector's uses it any more.
    t.is(ft.memory().live, held - 4 * 64 * 64)
  })
  await settled(t, before)
})
