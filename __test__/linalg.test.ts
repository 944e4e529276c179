// What factors promise, whichever of the possible ones they are.
// runs on: vulkan, blas

import test from 'ava'
import * as ft from 'ferrotensor'

const near = (a: ft.Tensor, b: ft.Tensor) => ft.allclose(a, b, { rtol: 0, atol: 1e-5 }).dataSync()[0] === 1

test('a complete basis has as many columns as rows, and the first ones are the reduced', (t) => {
  for (const [m, n] of [[4, 2], [5, 1], [3, 3], [2, 4], [3, 0]] as const) {
    for (const x of [ft.random.normal(ft.random.key(m + n), [2, m, n]), ft.zeros([2, m, n]), ft.eye(m, { cols: n }).flip(0).broadcastTo([2, m, n])]) {
      const { q, r } = ft.linalg.qr(x, { mode: 'complete' })
      t.deepEqual([q.shape, r.shape], [[2, m, m], [2, m, n]])
      t.true(near(ft.matmul(q, r), x), `${m} x ${n}`)
      t.true(near(ft.matmul(ft.matrixTranspose(q), q), ft.eye(m).broadcastTo([2, m, m])), `${m} x ${n}`)
    }
    const x = ft.random.normal(ft.random.key(m + n), [m, n])
    const { q } = ft.linalg.qr(x)
    t.true(near(ft.linalg.qr(x, { mode: 'complete' }).q.at(`:, :${Math.min(m, n)}`), q))
  }
})
