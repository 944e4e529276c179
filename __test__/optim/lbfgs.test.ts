// L-BFGS beside PyTorch's, with both searches, and what it refuses. It decides by numbers that it reads, on every device alike.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from '../expect.js'
import { goldenOf, loss, near, start } from './problem.js'

interface Golden {
  readonly lbfgs: readonly { name: string; options: object; losses: number[]; after: readonly { step: number; w: number[][]; b: number[] }[]; count: number; evaluations: number }[]
}

const golden = goldenOf<Golden>()

for (const { name, options, losses, after, count, evaluations } of golden.lbfgs) {
  test(`${name} goes PyTorch's way for 20 steps`, (t) => {
    const optimizer = ft.optim.lbfgs(options)
    let params = start()
    let state = optimizer.init(params)
    const found: number[] = []
    for (let step = 1; step <= 20; step++) {
      let before: ft.Tensor
      ;[params, state, before] = optimizer.step(params, ft.valueAndGrad(loss), state)
      found.push(before.itemSync() as number)
      const wanted = after.find((a) => a.step === step)
      if (wanted !== undefined) t.true(near(params.w.toArray(), wanted.w) && near(params.b.toArray(), wanted.b), `after ${step} steps`)
    }
    t.true(near(found, losses), `${found} beside ${losses}`)
    t.deepEqual([state.count, state.evaluations], [count, evaluations])
  })
}

test('lbfgs: states are trees, half floats step in float32, and what is refused', (t) => {
  const optimizer = ft.optim.lbfgs({ lineSearch: 'strongWolfe', maxIterations: 3 })
  const f = ft.valueAndGrad(loss)
  const p = start()
  const [once, state] = optimizer.step(p, f, optimizer.init(p))
  const restored = ft.tree.map((x) => x.copy(), state)
  t.deepEqual(optimizer.step(once, f, restored)[0].w.toArray(), optimizer.step(once, f, state)[0].w.toArray())
  t.is(leavesOf(state), 2 + 2 * state.steps.length)
  const half = ft.tensor([5, -3], { dtype: 'float16' })
  const away = ft.valueAndGrad((x: ft.Tensor<'float16'>) => x.sub(ft.tensor([1, 2], { dtype: 'float16' })).square().sum())
  const [next] = ft.optim.lbfgs({ lineSearch: 'strongWolfe' }).step(half, away, optimizer.init(half))
  t.is(next.dtype, 'float16')
  t.true(close(next.toArray(), [1, 2]))
  // Where nothing is left to do, nothing is done.
  const done = optimizer.step(ft.tensor([1, 2]), ft.valueAndGrad((x: ft.Tensor<'float32'>) => x.mul(0).sum()), optimizer.init(ft.tensor([1, 2])))
  t.deepEqual([done[0].toArray(), done[1].count, done[1].evaluations], [[1, 2], 0, 1])
  throws(t, 'ERR_ARGUMENT', /^optim\.lbfgs: the second argument must be a function/, () => optimizer.step(p, p as never, optimizer.init(p)))
  throws(t, 'ERR_ARGUMENT', /^optim\.lbfgs: the function must return \[loss, gradients\]/, () => optimizer.step(p, (() => 3) as never, optimizer.init(p)))
  throws(t, 'ERR_ARGUMENT', /^optim\.lbfgs: the state must come from init/, () => optimizer.step(p, f, {} as never))
  throws(t, 'ERR_ARGUMENT', /^optim\.lbfgs: 'maxIterations' must be a positive integer/, () => ft.optim.lbfgs({ maxIterations: 0 }))
  throws(t, 'ERR_ARGUMENT', /^optim\.lbfgs: 'lineSearch' must be 'none' or 'strongWolfe'/, () => ft.optim.lbfgs({ lineSearch: 'wolfe' as never }))
  throws(t, 'ERR_DTYPE', /^optim\.lbfgs: parameters are floating tensors/, () => optimizer.init(ft.ones([2], { dtype: 'int32' })))
})

const leavesOf = (tree: unknown): number => ft.tree.leaves(tree as never).length
