// What is computed inside of noGrad is constant: of gradients around it, not of those inside, and however it comes out.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

type F = ft.Tensor<'float32'>

const x = ft.tensor([1, 2, 3])

test('what is computed inside is constant, and what is used keeps its gradient', (t) => {
  const g = (f: (x: F) => F): unknown => ft.grad(f)(x).toArray()
  t.deepEqual(g((x) => ft.noGrad(() => x.mul(2)).mul(x).sum()), [2, 4, 6])
  // The same without noGrad has 4 x.
  t.deepEqual(g((x) => x.mul(2).mul(x).sum()), [4, 8, 12])
  t.deepEqual(g((x) => ft.noGrad(() => x.mul(x).sum())), [0, 0, 0])
  // A value that is not computed inside is itself.
  t.deepEqual(g((x) => ft.noGrad(() => x).mul(x).sum()), [2, 4, 6])
  t.is(ft.noGrad(() => x), x)
  // Trees, and what leaves by another way than the result.
  t.deepEqual(g((x) => {
    const { a, list } = ft.noGrad(() => ({ a: x.mul(3), list: [x.exp(), 'text'] as const }))
    return a.mul(x).add(list[0].mul(0)).sum()
  }), [3, 6, 9])
  t.deepEqual(g((x) => {
    let kept: F | undefined
    ft.noGrad(() => {
      kept = x.mul(x)
    })
    return x.mul(kept as F).sum()
  }), [1, 4, 9])
})

test('outside of gradients it is the call, and errors go through', (t) => {
  t.deepEqual(ft.noGrad(() => x.mul(2)).toArray(), [2, 4, 6])
  t.is(ft.noGrad(() => 5), 5)
  t.is(ft.noGrad(() => undefined), undefined)
  throws(t, 'ERR_ARGUMENT', /^noGrad: expected a function, got undefined/, () => ft.noGrad(undefined as never))
  throws(t, 'ERR_ARGUMENT', /^noGrad: the function returned a promise; call noGrad inside of it/, () => ft.noGrad(async () => await x.data()))
  throws(t, 'ERR_SHAPE', /^add: /, () => ft.noGrad(() => x.add(ft.ones([2]))))
  // An error ends it: what comes after has gradients.
  const g = ft.grad((x: F) => {
    t.throws(() => ft.noGrad(() => x.mul(2).add(ft.ones([2]))))
    return x.mul(x).sum()
  })(x)
  t.deepEqual(g.toArray(), [2, 4, 6])
})

test('gradients inside have their own variables', (t) => {
  // d/dx of x (d/dy x y^2 = 2 x y, which is 2 x^2 at y = x, and constant): 2 x^2.
  const inner = (x: F): F => ft.noGrad(() => ft.grad((y: F) => x.mul(y).mul(y).sum())(x))
  t.deepEqual(ft.grad((x: F) => x.mul(inner(x)).sum())(x).toArray(), [2, 8, 18])
  t.deepEqual(ft.noGrad(() => ft.grad((x: F) => x.pow(3).sum())(x)).toArray(), [3, 12, 27])
  // Inside of both, a value of the outer variable is constant to the outer one alone.
  const nested = ft.grad((x: F) => ft.noGrad(() => ft.grad((y: F) => y.mul(ft.noGrad(() => y.mul(x))).sum())(x)).mul(x).sum())
  t.deepEqual(nested(x).toArray(), [1, 4, 9])
  // A level that was open before.
  const [, back] = ft.vjp((x: F) => ft.checkpoint((x: F) => x.mul(x).exp())(x.mul(0.5)), x)
  const outer = ft.grad((w: F) => ft.noGrad(() => back(w)[0]).mul(w).sum())(ft.ones([3]))
  t.deepEqual(outer.toArray(), back(ft.ones([3]))[0].toArray())
  t.deepEqual(ft.jvp((x: F) => ft.noGrad(() => x.mul(2)).mul(x), [x], [ft.ones([3])])[1].toArray(), [2, 4, 6])
})

test('it holds under vmap, jit, checkpoint, customGradient, several outputs and lists of operands', (t) => {
  const loss = (x: F): F => ft.noGrad(() => x.exp()).mul(0).add(ft.noGrad(() => x.mul(2))).mul(x).sum()
  t.deepEqual(ft.grad((x: F) => ft.vmap(loss)(x).sum())(ft.tensor([[1, 2], [3, 4]])).toArray(), [[2, 4], [6, 8]])
  t.deepEqual(ft.vmap(ft.grad(loss))(ft.tensor([[1, 2], [3, 4]])).toArray(), [[2, 4], [6, 8]])
  t.deepEqual(ft.grad((x: F) => ft.noGrad(() => ft.vmap((r: F) => r.mul(2))(x)).mul(x).sum())(x).toArray(), [2, 4, 6])
  t.deepEqual(ft.jit(ft.grad(loss))(x).toArray(), [2, 4, 6])
  t.deepEqual(ft.grad((x: F) => ft.jit(loss)(x))(x).toArray(), [2, 4, 6])
  t.deepEqual(ft.grad((x: F) => ft.checkpoint(loss)(x))(x).toArray(), [2, 4, 6])
  const doubled = ft.customGradient((x: F) => [x.mul(2), (g: F) => [g.mul(100)]])
  t.deepEqual(ft.grad((x: F) => ft.noGrad(() => doubled(x)).mul(x).sum())(x).toArray(), [2, 4, 6])
  t.deepEqual(ft.grad((x: F) => ft.noGrad(() => x.topk(2)).values.sum().mul(x).sum())(x).toArray(), [5, 5, 5])
  t.deepEqual(ft.grad((x: F) => ft.noGrad(() => ft.concat([x, x])).sum().mul(x).sum())(x).toArray(), [12, 12, 12])
  t.deepEqual(ft.detectNaN(() => ft.grad(loss)(x)).toArray(), [2, 4, 6])
})

test('calls nest, values are read inside, scopes and given-up operands end as ever, and loops are long', (t) => {
  t.deepEqual(ft.grad((x: F) => ft.noGrad(() => ft.noGrad(() => x.mul(2)).add(x)).mul(x).sum())(x).toArray(), [3, 6, 9])
  t.deepEqual(ft.grad((x: F) => x.mul(ft.noGrad(() => x.mul(x).sum().itemSync())).sum())(x).toArray(), [14, 14, 14])
  t.deepEqual(ft.grad((x: F) => ft.noGrad(() => ft.scope(() => x.mul(2).add(1))).mul(x).sum())(x).toArray(), [3, 5, 7])
  const given = ft.grad((x: F) => {
    const y = x.mul(1)
    const result = ft.noGrad(() => y.mul(2)).mul(x).sum()
    y.dispose()
    return result
  })
  t.deepEqual(given(x).toArray(), [2, 4, 6])
  // Both levels of second derivatives take 2 x for a constant.
  t.deepEqual(ft.hessian((x: F) => ft.noGrad(() => x.mul(2)).mul(x).mul(x).sum())(x).toArray(), [[4, 0, 0], [0, 8, 0], [0, 0, 12]])
  const long = ft.grad((x: F) => {
    let w = x
    for (let i = 0; i < 3000; i++) w = ft.noGrad(() => w.mul(0.5)).add(x)
    return w.sum()
  })
  t.deepEqual(long(x).toArray(), [1, 1, 1])
})

test('nothing inside is kept, and what is given up is freed', (t) => {
  const big = ft.ones([1 << 20])
  ft.evaluateSync(big)
  const before = ft.memory().live
  let during = 0
  const g = ft.grad((x: F) => {
    const total = ft.noGrad(() => {
      let y = x
      for (let i = 0; i < 8; i++) {
        const next = y.mul(1.5)
        ft.evaluateSync(next)
        if (i > 0) y.dispose()
        y = next
      }
      const sum = y.sum()
      ft.evaluateSync(sum)
      y.dispose()
      return sum
    })
    during = ft.memory().live
    return x.sum().mul(total)
  })(big)
  t.is(g.at(0).itemSync(), (1 << 20) * 1.5 ** 8)
  t.true(during - before < 2 * (4 << 20), `${during - before} bytes`)
})
