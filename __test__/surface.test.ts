// The package as its documentation shows it: chains, loops, namespaces, reading.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close } from './expect.js'

test('a chain of methods is a chain of functions', async (t) => {
  const a = ft.tensor([[1, 2], [3, 4]])
  const b = ft.fromTypedArray(new Float64Array([1, 0, 0, 1]), [2, 2])
  const c = a.matmul(b.to(a.device).astype('float32')).add(1).softmax({ axis: -1 })
  t.is(c.dtype, 'float32')
  const p = 1 / (1 + Math.E)
  t.true(close(c.toArray(), [[p, 1 - p], [p, 1 - p]]))
  t.deepEqual(ft.softmax(ft.add(ft.matmul(a, b.astype('float32')), 1), -1).toArray(), c.toArray())
  t.true((await c.data()) instanceof Float32Array)
})

test('gradient descent in a plain loop', (t) => {
  let w = ft.tensor([5, -3])
  for (let i = 0; i < 2000; i++) w = w.sub(w.mul(0.02))
  const [a, b] = w.dataSync()
  t.true(Math.abs(a as number) < 1e-6 && Math.abs(b as number) < 1e-6, String(w))
})

test('the same chain with several outputs, gathers and reductions', (t) => {
  const x = ft.tensor([[3, 9, 5], [1, 7, 8]])
  const { values, indices } = x.topk(2)
  t.deepEqual(values.toArray(), [[9, 5], [8, 7]])
  t.deepEqual(indices.toArray(), [[1, 2], [2, 1]])
  t.deepEqual(x.at(0).take(indices.at(0)).toArray(), [9, 5])
  t.is(x.argmax().itemSync(), 1)
  t.deepEqual(x.sum({ axis: 0, keepdims: true, dtype: 'float64' }).toArray(), [[4, 16, 13]])
  t.deepEqual(ft.concat([x, x.at('::-1')], { axis: 1 }).shape, [2, 6])
  const { q, r } = ft.linalg.qr(x)
  t.true(close(q.matmul(r).toArray(), x.toArray()))
  t.true(close(ft.fft.ifft(ft.fft.fft(ft.tensor([1, 2, 3]))).toArray(), [1, 2, 3].map((re) => ({ re, im: 0 }))))
})

test('every public function of the table is exported, methods too', async (t) => {
  const { EXAMPLES } = await import('./generated/examples.js')
  for (const { op, code } of EXAMPLES) {
    const [space, name] = op.includes('.') ? op.split('.') : ['', op]
    const exports = (space === '' ? ft : (ft as unknown as Record<string, object>)[space as string]) as Record<string, unknown>
    t.is(typeof exports[name as string], 'function', op)
    if (code.includes(`).${op}(`)) t.is(typeof (ft.Tensor.prototype as unknown as Record<string, unknown>)[op], 'function', op)
  }
  t.false('OpMethods' in ft || 'OP_TABLE' in ft, 'internals stay inside')
})
