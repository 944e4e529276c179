// Memory of the way back through a deep network, in a process of its own: the peak only grows.
// runs on: node, vulkan; what is alive follows from collections

import test from 'ava'
import * as ft from 'ferrotensor'

type F = ft.Tensor<'float32'>

/** What the gradients of a chain of 200 layers keep at most: beside inputs and gradients, in values of a layer. */
function kept(segment: number): number {
  const [layers, rows, size] = [200, 256, 16]
  const params = Array.from({ length: layers }, (_, i) => ft.random.normal(ft.random.fold(ft.random.key(1), i), [size, size], { std: 0.25 }))
  const x = ft.random.normal(ft.random.key(2), [rows, size])
  ft.evaluateSync(x, ...params)
  const chain = (weights: F[], from: F): F => weights.reduce((y, w) => y.matmul(w).tanh(), from)
  const loss = (weights: F[]): F => {
    if (segment === 0) return chain(weights, x).sum()
    let y = x
    for (let i = 0; i < layers; i += segment) y = ft.checkpoint(chain)(weights.slice(i, i + segment), y)
    return y.sum()
  }
  ft.trim()
  const { live } = ft.memory()
  const { recomputes } = ft.stats()
  const found = ft.grad(loss)(params)
  ft.evaluateSync(...found)
  const all = ft.memory().peak - live - layers * size * size * 4
  if (ft.stats().recomputes !== recomputes) throw new Error('something was computed again')
  return all / (rows * size * 4)
}

test.serial('the way back of 200 layers keeps what its rules need, in segments of the root its root', (t) => {
  const segmented = kept(14)
  const whole = kept(0)
  t.log(`${segmented.toFixed(1)} values in segments, ${whole.toFixed(1)} whole`)
  // A result for each layer, which both the product after it and its own tanh go by, and what is at work.
  t.true(whole >= 200 && whole < 230, `${whole}`)
  t.true(segmented < 50, `${segmented}`)
})
