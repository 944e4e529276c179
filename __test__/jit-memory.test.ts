// What `ft.jit` holds and gives up: tensors made in traces, captured, dropped, donated; memory over many calls.
// runs on: node, vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { throws } from './expect.js'
import { settled } from './settled.js'

test('what is made in a traced function and given up there is kept for its calls', (t) => {
  const f = ft.jit((x: Tensor) => {
    const table = ft.tensor([1, 2])
    const read = ft.ones([2]).add(1)
    read.dataSync()
    const y = x.add(table).mul(read)
    table.dispose()
    read.dispose()
    return y
  })
  for (let i = 0; i < 3; i++) {
    t.deepEqual(f(ft.ones([2])).toArray(), [4, 6])
    ft.trim()
  }
})

test('a first call inside of a scope', (t) => {
  const f = ft.jit((x: Tensor) => x.add(ft.tensor([5, 6])))
  t.deepEqual(ft.scope(() => f(ft.ones([2]))).toArray(), [6, 7])
  t.deepEqual(f(ft.zeros([2])).toArray(), [5, 6])
  t.throws(() => ft.scope(() => ft.jit(() => { throw new RangeError('mine') })()), { instanceOf: RangeError })
  let inside = ft.ones([])
  ft.scope(() => void (inside = ft.zeros([])))
  throws(t, 'ERR_DISPOSED', /scope that has ended/, () => inside.add(1))
  const g = ft.scope(() => {
    const own = ft.tensor([1, 2])
    const made = ft.jit((x: Tensor) => x.add(own))
    made(ft.ones([2]))
    return made
  })
  throws(t, 'ERR_DISPOSED', /jit: a captured tensor: .* scope that has ended/, () => g(ft.ones([2])))
})

test('a trace keeps none of the tensors it was recorded with', async (t) => {
  const recorded: WeakRef<Tensor>[] = []
  const f = ft.jit((x: Tensor) => {
    const y = x.add(1)
    recorded.push(new WeakRef(y))
    return { y, list: [y.mul(2)], n: 1 }
  })
  f(ft.ones([2]))
  await new Promise((resolve) => setImmediate(resolve))
  ft.trim()
  t.true(recorded[0]?.deref() === undefined)
  t.deepEqual(f(ft.ones([2])).list[0]?.toArray(), [4, 4])
})

test('constants that were computed and dropped while a function was traced', (t) => {
  const fn = (x: Tensor): Tensor => {
    const table = ft.arange(3).mul(2)
    const n = table.sum().itemSync() as number
    const y = table.add(1).add(x)
    try {
      y.dataSync()
    } catch {
      // What was written before it was found to have no value counts as dropped too.
    }
    return y.mul(table).mul(n)
  }
  const f = ft.jit(fn)
  for (const x of [ft.ones([3]), ft.zeros([3])]) t.deepEqual(f(x).toArray(), [[0, 48, 144], [0, 36, 120]][x.at(0).itemSync() === 1 ? 0 : 1])
})

test('donated arguments are given up', (t) => {
  const f = ft.jit((tree: { w: Tensor }, x: Tensor) => ({ w: tree.w.add(x) }), { donate: 0 })
  const first = { w: ft.ones([2]) }
  const x = ft.ones([2])
  const second = f(first, x)
  t.deepEqual(second.w.toArray(), [2, 2])
  throws(t, 'ERR_DISPOSED', /disposed/, () => first.w.add(1))
  throws(t, 'ERR_DISPOSED', /jit/, () => f(first, x))
  t.deepEqual(f(second, x).w.toArray(), [3, 3])
  // Nothing comes out, several stand in one place, one is handed on.
  const nothing = ft.ones([2])
  t.is(ft.jit((_: Tensor) => 1, { donate: 0 })(nothing), 1)
  throws(t, 'ERR_DISPOSED', /disposed/, () => nothing.add(1))
  const both = ft.tensor([1, 2])
  const view = both.at('0:1')
  const [sum, same] = ft.jit((a: Tensor, b: Tensor, v: Tensor) => [a.add(b).add(v), a], { donate: 0 })(both, both, view)
  t.deepEqual([sum?.toArray(), same?.toArray(), view.toArray()], [[3, 5], [1, 2], [1]])
})

test('a long loop keeps no memory, and a budget is kept to', async (t) => {
  const f = ft.jit((x: Tensor, n: number) => x.mul(0.5).add(n))
  let x: Tensor = ft.ones([1 << 16])
  const loop = (times: number): void => {
    for (let i = 0; i < times; i++) x = f(x, i)
    t.true(Number.isFinite(x.at(0).itemSync()))
  }
  loop(10)
  ft.trim()
  const before = ft.memory().live
  loop(2000)
  await settled(t, before)
  const { limit } = ft.memory()
  try {
    ft.setMemoryLimit(ft.memory().live + (1 << 20))
    throws(t, 'ERR_OUT_OF_MEMORY', /^jit: /, () => ft.jit((y: Tensor) => y.broadcastTo([1 << 10, 1 << 16]).add(1))(x))
    t.is(f(x, 1).size, 1 << 16)
  } finally {
    ft.setMemoryLimit(limit)
  }
})

test('more kinds of arguments than are kept', (t) => {
  const f = ft.jit((x: Tensor) => x.sum())
  const before = ft.stats().traces
  for (let n = 1; n <= 80; n++) t.is(f(ft.ones([n])).itemSync(), n)
  t.is(f(ft.ones([1])).itemSync(), 1)
  t.is(f(ft.ones([80])).itemSync(), 80)
  t.is(ft.stats().traces - before, 81)
})
