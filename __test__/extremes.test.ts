// Extremes with their positions: beside the reductions, with NaN, equal elements and empty axes, and where gradients go.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

test('values and positions are those of max, argmax, min and argmin', (t) => {
  const x = ft.random.randint(ft.random.key(1), -5, 6, [3, 4, 5])
  for (const dtype of ['int8', 'uint8', 'int64', 'float16', 'float32', 'float64'] as const) {
    const y = x.add(5).astype(dtype)
    for (const options of [undefined, 0, 1, -1, { axis: 2, keepdims: true }, { keepdims: true }, { axis: -3 }] as const) {
      for (const [both, value, position] of [[ft.maxWithIndices, ft.max, ft.argmax], [ft.minWithIndices, ft.min, ft.argmin]] as const) {
        const { values, indices } = both(y, options)
        const about = `${both.name} of ${dtype}, ${JSON.stringify(options)}`
        t.deepEqual([values.dtype, values.toArray()], [dtype, value(y, options).toArray()], about)
        t.deepEqual([indices.dtype, indices.toArray()], ['int32', position(y, options).toArray()], about)
      }
    }
  }
})

test('the first of equal elements, the first NaN', (t) => {
  const read = <D extends ft.DType>({ values, indices }: ft.Extremes<D>): unknown => [values.toArray(), indices.toArray()]
  t.deepEqual(read(ft.maxWithIndices(ft.tensor([[2, 7, 7], [1, NaN, NaN]]), 1)), [[7, NaN], [1, 1]])
  t.deepEqual(read(ft.minWithIndices(ft.tensor([[2, 2, 7], [NaN, 1, NaN]]), 1)), [[2, NaN], [0, 0]])
  t.deepEqual(read(ft.minWithIndices(ft.tensor([true, false, false]))), [false, 1])
  t.deepEqual(read(ft.maxWithIndices(ft.tensor(7))), [7, 0])
  t.deepEqual(ft.maxWithIndices(ft.zeros([0, 3]), 1).values.shape, [0])
})

test('gradients go to the element at the position; jit gives the same', (t) => {
  // torch.tensor([[1., 5., 5.], [7., 4., 0.]], requires_grad=True).max(1).values.sum().backward()
  const x = ft.tensor([[1, 5, 5], [7, 4, 0]])
  const peak = (v: ft.Tensor<'float32'>): ft.Tensor<'float32'> => ft.maxWithIndices(v, 1).values.sum()
  t.deepEqual(ft.grad(peak)(x).toArray(), [[0, 1, 0], [1, 0, 0]])
  t.deepEqual(ft.jit(ft.grad(peak))(x).toArray(), [[0, 1, 0], [1, 0, 0]])
  t.deepEqual(ft.grad((v: ft.Tensor<'float32'>) => ft.minWithIndices(v).values)(x).toArray(), [[0, 0, 0], [0, 0, 1]])
})

test('wrong arguments', (t) => {
  const find = ft.maxWithIndices as (...args: unknown[]) => unknown
  const x = ft.ones([2, 3])
  throws(t, 'ERR_ARGUMENT', /^maxWithIndices: 'x' must be a tensor, got 1/, () => find(1))
  throws(t, 'ERR_INDEX', /^maxWithIndices: axis 2 is out of range for rank 2/, () => find(x, 2))
  throws(t, 'ERR_ARGUMENT', /^maxWithIndices: 'axis' must be an integer, got \[0, 1\]/, () => find(x, { axis: [0, 1] }))
  throws(t, 'ERR_ARGUMENT', /^maxWithIndices: 'keepdims' must be a boolean, got 1/, () => find(x, { keepdims: 1 }))
  throws(t, 'ERR_DTYPE', /^maxWithIndices: /, () => find(ft.ones([2], { dtype: 'complex64' })))
  throws(t, 'ERR_SHAPE', /^maxWithIndices: /, () => find(ft.zeros([0])))
})
