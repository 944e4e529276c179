// Data sets in batches and in parts.
// runs on: node, vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

const data = { x: ft.arange(20).reshape([10, 2]), y: ft.arange(10) }
const key = ft.random.key(7)

test('batches come in order, the last one smaller', (t) => {
  const batches = ft.data.batches(data, { size: 4 })
  t.is(batches.length, 3)
  const all = [...batches]
  t.deepEqual(all.map((b) => b.y.toArray()), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
  t.deepEqual(all[2]!.x.toArray(), [[16, 17], [18, 19]])
  t.deepEqual([...ft.data.batches(data, { size: 4, dropLast: true })].map((b) => b.y.size), [4, 4])
})

test('a key shuffles, each epoch in its own way, every example once', async (t) => {
  const batches = ft.data.batches(data, { size: 3, key })
  const order = (b: ft.data.Batches<typeof data>): number[] => [...b].flatMap((batch) => batch.y.toArray() as number[])
  const orders = [order(batches), order(batches.epoch(1)), order(batches.epoch(2))]
  for (const o of orders) t.deepEqual([...o].sort((a, b) => a - b), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  t.is(new Set(orders.map((o) => o.join())).size, 3)
  t.deepEqual(order(batches), orders[0])
  const awaited: number[] = []
  for await (const { x, y } of batches.epoch(1)) {
    awaited.push(...(y.toArray() as number[]))
    t.deepEqual(x.at(':, 0').toArray(), (y.toArray() as number[]).map((v) => 2 * v))
  }
  t.deepEqual(awaited, orders[1])
})

test('for await computes ahead, and may be left', async (t) => {
  for (const prefetch of [0, 1, 5]) {
    let n = 0
    for await (const { y } of ft.data.batches(data, { size: 3, prefetch })) {
      t.true(y.size > 0)
      if (++n === 2) break
    }
    t.is(n, 2)
  }
})

test('progress is told as batches are handed out, of both loops, under the epoch\'s name', async (t) => {
  const told: ft.Progress[] = []
  const batches = ft.data.batches(data, { size: 4, key, onProgress: (progress) => void told.push(progress) })
  const wanted = (label: string): ft.Progress[] => [1, 2, 3].map((done) => ({ done, total: 3, label }))
  for (const _ of batches) t.is(told.at(-1)?.total, 3)
  t.deepEqual(told.splice(0), wanted('batches'))
  let n = 0
  // Not as they are computed ahead.
  for await (const _ of batches.epoch(3)) t.is(told.length, ++n)
  t.deepEqual(told.splice(0), wanted('epoch 3'))
  for (const _ of batches.epoch(0)) break
  t.deepEqual(told, [{ done: 1, total: 3, label: 'epoch 0' }])
  const thrown = new Error('mine')
  const failing = ft.data.batches(data, { size: 4, onProgress: () => { throw thrown } })
  t.is(t.throws(() => [...failing]), thrown)
  t.is(await t.throwsAsync(async () => { for await (const _ of failing); }), thrown)
})

test('a signal ends both loops with its reason', async (t) => {
  for (const prefetch of [0, 2]) {
    const controller = new AbortController()
    const batches = ft.data.batches(data, { size: 2, prefetch, signal: controller.signal })
    const reason = new Error('enough')
    let n = 0
    const loop = async (): Promise<void> => {
      for await (const _ of batches) if (++n === 2) controller.abort(reason)
    }
    t.is(await t.throwsAsync(loop), reason)
    t.is(n, 2)
    t.is(t.throws(() => [...batches]), reason)
  }
  // While a batch is waited for.
  const controller = new AbortController()
  const next = ft.data.batches(data, { size: 2, signal: controller.signal })[Symbol.asyncIterator]().next()
  controller.abort()
  t.is((await t.throwsAsync(next, { any: true } as never))?.name, 'AbortError')
})

test('a batch that fails is an error where the loop asks for it, and nowhere else', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const failed = ft.ones([6, 1]).take(ft.tensor([0, 1, 2, 3, 4, 9], { dtype: 'int32' }), { axis: 0 })
  const batches = ft.data.batches({ x: ft.ones([6]), failed }, { size: 2, prefetch: 3 })
  t.is(((await t.throwsAsync(async () => { for await (const _ of batches); })) as ft.TensorError).code, 'ERR_INDEX')
  const iterator = ft.data.batches({ x: ft.ones([6]), y: ft.ones([6]) }, { size: 2, prefetch: 2, onProgress: () => { throw new Error('mine') } })[Symbol.asyncIterator]()
  await t.throwsAsync(iterator.next(), { message: 'mine' })
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off('unhandledRejection', note)
  t.deepEqual(unhandled, [])
})

test('a split has every example once, and each class in both parts', (t) => {
  const by = ft.tensor([0, 1, 0, 1, 0, 1, 0, 1, 2, 2], { dtype: 'int32' })
  const [first, second] = ft.data.split({ ...data, by }, { share: 0.5, key, by })
  const counts = (part: { by: ft.Tensor }): number[] => ft.bincount(part.by as ft.Tensor<'int32'>, { minlength: 3 }).toArray() as number[]
  t.deepEqual([counts(first), counts(second)], [[2, 2, 1], [2, 2, 1]])
  const all = [...(first.y.toArray() as number[]), ...(second.y.toArray() as number[])]
  t.deepEqual([...all].sort((a, b) => a - b), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  t.notDeepEqual(all, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  const [head, tail] = ft.data.split(data, { share: 0.3 })
  t.deepEqual([head.y.toArray(), tail.y.toArray()], [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9]])
})

test('what is no data set is refused', (t) => {
  throws(t, 'ERR_ARGUMENT', /^data\.batches: there is no tensor in the data/, () => ft.data.batches({}, { size: 1 }))
  throws(t, 'ERR_SHAPE', /^data\.batches: tensors of one data set have the same first axis, got shapes \[10, 2\] and \[3\]/, () => ft.data.batches([data.x, ft.ones([3])], { size: 1 }))
  throws(t, 'ERR_SHAPE', /same first axis/, () => ft.data.split(ft.tensor(1), { share: 0.5 }))
  throws(t, 'ERR_ARGUMENT', /^data\.batches: 'size' must be positive, got 0/, () => ft.data.batches(data, { size: 0 }))
  throws(t, 'ERR_ARGUMENT', /^data\.batches: 'size' must be an integer, got undefined/, () => ft.data.batches(data, {} as never))
  throws(t, 'ERR_ARGUMENT', /^data\.batches: 'key' must be a key/, () => ft.data.batches(data, { size: 1, key: 3 as never }))
  throws(t, 'ERR_ARGUMENT', /^data\.batches: 'onProgress' must be a function, got true/, () => ft.data.batches(data, { size: 1, onProgress: true as never }))
  throws(t, 'ERR_ARGUMENT', /^data\.batches: 'signal' must be an AbortSignal, got an AbortController/, () => ft.data.batches(data, { size: 1, signal: new AbortController() as never }))
  throws(t, 'ERR_ARGUMENT', /^data\.batches: 'epoch' must be an integer, got 0\.5/, () => ft.data.batches(data, { size: 1 }).epoch(0.5))
  throws(t, 'ERR_ARGUMENT', /^data\.split: 'share' must be above 0 and below 1, got 1/, () => ft.data.split(data, { share: 1 }))
  throws(t, 'ERR_ARGUMENT', /leaves a part without any/, () => ft.data.split(data, { share: 0.01 }))
  throws(t, 'ERR_SHAPE', /^data\.split: 'by' must be integers of shape \[10\], got float32/, () => ft.data.split(data, { share: 0.5, by: ft.ones([10]) }))
})
