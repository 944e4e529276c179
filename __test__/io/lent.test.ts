// Arrays that lie in the mapped file: no memory of the process's own, the same values, for as long as a tensor lives; and what a file that changes
// does to them.
// runs on: node, musl

import { existsSync, truncateSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { evaluateScript } from '../child.js'
import { folder } from './folder.js'

const at = folder()

/** The bytes that `memory().live` grew by. */
function grown(load: () => unknown): number {
  const before = ft.memory().live
  load()
  return ft.memory().live - before
}

test.serial('a lent tensor takes no memory, a copied one all of its bytes', (t) => {
  const path = at('large.safetensors')
  const bytes = 4 << 20
  ft.io.saveSafetensorsSync(path, { w: ft.arange(bytes / 4) })
  ft.io.saveNpySync(at('large.npy'), ft.arange(bytes / 4))
  const kept: ft.Tensor[] = []
  const load = (lend: boolean): number => grown(() => kept.push(ft.io.loadSafetensorsSync(path, { lend })['w'] as ft.Tensor))
  t.is(load(true), 0)
  t.true(load(false) >= bytes)
  t.is(grown(() => kept.push(ft.io.loadNpySync(at('large.npy'), { lend: true }))), 0)
  for (const x of kept) t.is(x.at(-1).itemSync(), bytes / 4 - 1)
})

test('lent tensors have the values of copied ones, through any operation', async (t) => {
  const path = at('dtypes.safetensors')
  const tensors: Record<string, ft.Tensor> = {}
  for (const dtype of ['float64', 'complex64', 'int64', 'uint64', 'float32', 'int32', 'uint32', 'float16', 'bfloat16', 'int16', 'uint16', 'int8', 'uint8', 'bool'] as const) {
    tensors[dtype] = ft.arange(77).reshape([7, 11]).astype(dtype)
  }
  ft.io.saveSafetensorsSync(path, tensors)
  const lent = ft.io.loadSafetensorsSync(path, { lend: true })
  const copied = await ft.io.loadSafetensors(path)
  for (const [dtype, x] of Object.entries(lent)) {
    const same = (a: ft.Tensor, b: ft.Tensor): boolean => t.deepEqual(a.toBytes(), b.toBytes(), dtype)
    const y = copied[dtype] as ft.Tensor
    same(x, y)
    same(x.permuteDims([1, 0]), y.permuteDims([1, 0]))
    same(x.at('2:5, ::3'), y.at('2:5, ::3'))
    same(x.astype('float32').matmul(x.astype('float32').matrixTranspose()), y.astype('float32').matmul(y.astype('float32').matrixTranspose()))
    same(ft.concat([x, x]), ft.concat([y, y]))
    same(ft.fromShared(x.share()), y)
  }
})

test('what cannot lie in a file is copied', (t) => {
  const x = ft.tensor([[1, 2], [3, 4]])
  t.deepEqual(ft.io.loadNpzSync(ft.io.encodeNpzSync({ x }), { lend: true })['x']?.toArray(), [[1, 2], [3, 4]])
  t.deepEqual(ft.io.loadSafetensorsSync(ft.io.encodeSafetensorsSync({ x }), { lend: true })['x']?.toArray(), [[1, 2], [3, 4]])
  ft.io.saveSafetensorsSync(at('none.safetensors'), { none: ft.zeros([0, 3]), one: ft.tensor(1) })
  t.deepEqual(ft.io.loadSafetensorsSync(at('none.safetensors'), { lend: true })['none']?.shape, [0, 3])
  t.is(ft.io.loadSafetensorsSync(at('none.safetensors'), { lend: true, mapped: false })['one']?.itemSync(), 1)
  t.throws(() => ft.io.loadSafetensorsSync(at('none.safetensors'), { lend: 1 as never }), { code: 'ERR_ARGUMENT', message: /'lend' must be a boolean/ })
})

test('the file outlives its closing, and its being replaced', (t) => {
  const path = at('replaced.safetensors')
  ft.io.saveSafetensorsSync(path, { w: ft.ones([1000]) })
  const file = ft.io.openSafetensorsSync(path, { lend: true })
  const w = file.loadSync('w')
  file.close()
  ft.io.saveSafetensorsSync(path, { w: ft.zeros([1000]) })
  t.is(w.sum().itemSync(), 1000)
})

test('where the file is shortened, its tensors fail, and what is computed from them; nothing else does', async (t) => {
  const path = at('shortened.safetensors')
  ft.io.saveSafetensorsSync(path, { w: ft.ones([1 << 18]) })
  const before = ft.io.loadSafetensorsSync(path, { lend: true })['w'] as ft.Tensor
  const copied = before.add(0)
  ft.evaluateSync(copied)
  const recorded = before.mul(2).sum()
  truncateSync(path, 4096)
  for (const read of [() => before.dataSync(), () => recorded.itemSync(), () => before.at(0).itemSync(), () => ft.io.encodeNpySync(before)]) {
    t.throws(read, { code: 'ERR_FORMAT', message: /the file that the tensor lies in was changed/ })
  }
  await t.throwsAsync(before.add(1).data(), { code: 'ERR_FORMAT' })
  t.is(copied.sum().itemSync(), 1 << 18)
})

test('files whose lent tensors are dropped are closed, where a process has no descriptors left at the latest', async (t) => {
  const most = await evaluateScript<number>(`
    import { readdirSync } from 'node:fs'
    const path = ${JSON.stringify(at('many.safetensors'))}
    ft.io.saveSafetensorsSync(path, { w: ft.ones([4]) })
    const open = ${existsSync('/proc/self/fd')} ? () => readdirSync('/proc/self/fd').length : () => 0
    let most = 0
    for (let i = 0; i < 20000; i++) {
      ft.io.loadSafetensorsSync(path, { lend: true })
      if (i % 100 === 0) most = Math.max(most, open())
    }
    console.log(most)`)
  t.true(most < 10000, `${most} descriptors`)
})
