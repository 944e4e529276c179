// `ft.profile`: what it counts, what it computes, and that what it is called around is the same as without it.
// runs on: node, vulkan

import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

const names = ({ kernels }: ft.Profile): string[] => kernels.map(({ name }) => name).sort()
const counts = ({ kernels }: ft.Profile): Record<string, number> => Object.fromEntries(kernels.map(({ name, count }) => [name, count]))

function ready(shape: number[]): ft.Tensor<'float32'> {
  const x = ft.ones(shape)
  ft.evaluateSync(x)
  return x
}

test.serial('a kernel is named after what it computes, with its bytes and operations', (t) => {
  const x = ready([1000])
  const row = ready([1])
  const p = ft.profile(() => x.multiply(row).add(1))
  t.deepEqual([...p.result.dataSync().slice(0, 2)], [2, 2])
  t.is(p.kernels.length, 1)
  const k = p.kernels[0] as ft.KernelProfile
  t.is(k.name, 'map multiply add float32 [1000]')
  t.is(k.device, x.device)
  t.is(k.lacking, null)
  // The one element of the row is read once, and a sum and a product are one operation each.
  t.deepEqual([k.count, k.read, k.written, k.flops], [1, 4004, 4000, 2000])
  t.true(k.time > 0 && k.time <= p.time && k.average === k.time)
  t.true(Math.abs(k.share + p.outside / p.time - 1) < 1e-9)
  t.true(Math.abs(k.bandwidth - 8004 / k.time / 1e6) < 1e-9 * k.bandwidth)
  const peak = p.peaks.find(({ device }) => device === k.device)
  t.is(k.ofPeak === null, peak === undefined)
  t.is(peak !== undefined, x.device === 'cpu')
  if (peak !== undefined) t.is(k.ofPeak, Math.max(k.bandwidth / peak.bandwidth, (k.gflops as number) / peak.float32))
})

test.serial('launches of one kernel add up, and kernels that took longest come first', (t) => {
  const x = ready([64, 64])
  const p = ft.profile(() => {
    for (let i = 0; i < 3; i++) ft.evaluateSync(x.matmul(x))
    return x.add(1)
  })
  t.is(p.result.size, 64 * 64)
  t.deepEqual(counts(p), { 'contract matmul float32 [64, 64] x [64, 64]': 3, 'map add float32 [64, 64]': 1 })
  t.is(p.kernels.find(({ name }) => name.startsWith('contract'))?.flops, 3 * 2 * 64 ** 3)
  for (let i = 1; i < p.kernels.length; i++) t.true((p.kernels[i - 1] as ft.KernelProfile).time >= (p.kernels[i] as ft.KernelProfile).time)
})

test.serial('what is returned is computed, once, and nothing else', (t) => {
  const x = ready([8])
  const p = ft.profile(() => {
    const [used, dropped] = [x.mul(3), x.mul(4)]
    dropped.exp()
    return { sum: used.add(x), list: [used] }
  })
  // One program for both; `used` is a result too.
  t.is(p.kernels.reduce((n, { count }) => n + count, 0), 2)
  t.false(names(p).some((name) => name.includes('exp')))
  t.is(ft.profile(() => p.result).kernels.length, 0)
  t.regex(String(ft.profile(() => void x.exp())), /nothing was computed/)
})

test.serial('a profile keeps no more alive than the function does', (t) => {
  const { limit } = ft.memory()
  const x = ready([1_000_000])
  try {
    ft.setMemoryLimit(ft.memory().live + 64e6)
    const p = ft.profile(() => {
      for (let i = 0; i < 100; i++) x.add(i)
      return x.sum()
    })
    t.is(p.kernels.length, 1)
  } finally {
    ft.setMemoryLimit(limit)
  }
})

test.serial('a value that one operation takes twice, and another one once, is computed once', (t) => {
  const x = ready([8, 8])
  const p = ft.profile(() => {
    const m = x.matmul(x)
    const y = m.sub(8)
    return [y.mul(y).add(1), m.mul(2)]
  })
  t.is(p.kernels.filter(({ name }) => name.includes('matmul')).reduce((n, { count }) => n + count, 0), 1)
  t.deepEqual(p.result.map((y) => y.dataSync()[0]), [1, 16])
})

test.serial('a function that returns a promise is profiled to its end', async (t) => {
  const x = ready([16])
  const promised = ft.profile(async () => {
    const first = await x.add(1).data()
    await delay(20)
    return [first[0], x.log()] as const
  })
  t.true(promised instanceof Promise)
  const p = await promised
  t.is(p.result[0], 2)
  t.deepEqual(names(p), ['map add float32 [16]', 'map log float32 [16]'])
  t.true(p.time >= 19 && p.outside >= 19)
})

test.serial('errors pass through, and nothing is timed afterwards', async (t) => {
  const x = ready([4])
  const fail = (): never => {
    x.sin().dataSync()
    throw new RangeError('mine')
  }
  t.throws(() => ft.profile(fail), { message: 'mine' })
  await t.throwsAsync(async () => ft.profile(async () => fail()), { message: 'mine' })
  // Errors of values show when they are computed, here at the end.
  throws(t, 'ERR_INDEX', /take/, () => ft.profile(() => x.take(ft.tensor([7], { dtype: 'int32' }))))
  throws(t, 'ERR_ARGUMENT', /profile: expected a function/, () => ft.profile(1 as never))
  const outer = ft.profile(() => {
    t.throws(() => ft.profile(fail), { message: 'mine' })
    return x.cos().dataSync()[0]
  })
  t.deepEqual(names(outer), ['map cos float32 [4]', 'map sin float32 [4]'])
  t.deepEqual(names(ft.profile(() => x.cos())), ['map cos float32 [4]'])
})

test.serial('profiles count all that runs while they are open: nested ones and those of promises', async (t) => {
  const x = ready([4])
  let inner: ft.Profile | undefined
  const outer = ft.profile(() => {
    const waiting = x.tan()
    inner = ft.profile(() => x.exp())
    return waiting
  })
  t.deepEqual(names(inner as ft.Profile), ['map exp float32 [4]'])
  t.deepEqual(names(outer), ['map exp float32 [4]', 'map tan float32 [4]'])

  let go = (): void => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  const one = ft.profile(async () => {
    await gate
    return x.cosh()
  })
  const other = await ft.profile(async () => x.sinh())
  t.deepEqual(names(other), ['map sinh float32 [4]'])
  go()
  t.deepEqual(names(await one), ['map cosh float32 [4]', 'map sinh float32 [4]'])
})

test.serial('kernels of other workers are theirs', async (t) => {
  const script = `
    import * as ft from 'ferrotensor'
    import { parentPort } from 'node:worker_threads'
    const x = ft.ones([256, 256])
    const p = ft.profile(() => { for (let i = 0; i < 50; i++) ft.evaluateSync(x.matmul(x)) })
    parentPort.postMessage(p.kernels.map(({ name, count }) => [name.slice(0, 8), count]))`
  const x = ready([8])
  const p = await ft.profile(async () => {
    const worker = new Worker(script, { eval: true, execArgv: ['--input-type=module'] })
    const found = await new Promise<unknown>((resolve, reject) => worker.once('message', resolve).once('error', reject))
    await worker.terminate()
    return { found, y: x.add(1) }
  })
  t.deepEqual(names(p), ['map add float32 [8]'])
  const rows = new Map(p.result.found as [string, number][])
  t.is(rows.get('contract'), 50)
})

test.serial('a training step has the same values and kernels as without a profile', (t) => {
  const x = ft.random.normal(ft.random.key(1), [32, 16])
  const w = ft.random.normal(ft.random.key(2), [16, 4])
  ft.evaluateSync(x, w)
  const step = () => ft.valueAndGrad((w: ft.Tensor) => ft.nn.gelu(x.matmul(w)).square().mean())(w)
  ft.evaluateSync(...step())
  ft.resetStats()
  const plain = step()
  ft.evaluateSync(...plain)
  const { launches } = ft.stats()
  const p = ft.profile(step)
  t.is(p.kernels.reduce((n, { count }) => n + count, 0), launches)
  t.deepEqual(p.result.map((y) => y.toBytes()), plain.map((y) => y.toBytes()))
})

test.serial('traced functions run as they do, and cannot be profiled from inside', (t) => {
  const x = ready([4])
  const f = ft.jit((x: ft.Tensor) => x.mul(2).sqrt())
  const first = ft.profile(() => f(x))
  t.deepEqual(names(first), ['map multiply sqrt float32 [4]'])
  t.deepEqual(counts(ft.profile(() => f(x))), counts(first))
  throws(t, 'ERR_ARGUMENT', /profile: nothing runs while a function is traced/, () => ft.jit((x: ft.Tensor) => ft.profile(() => x.add(1)).result)(x))
})

test.serial('a profile prints as a table', (t) => {
  const x = ready([1000])
  const p = ft.profile(() => {
    for (let n = 1; n <= 60; n++) ft.evaluateSync(x.at(`:${n}`).add(1))
    return x.sort()
  })
  const text = String(p)
  t.is(inspect(p), text)
  const lines = text.split('\n')
  t.regex(lines[0] as string, /^kernel +device +calls +total +share +average +read +written +GB\/s +flop +GFLOP\/s +of peak$/)
  t.true(lines.some((line) => /^21 more kernels +21 /.test(line)), text)
  t.true(lines.some((line) => /^no kernel running +\d/.test(line)))
  t.true(lines.some((line) => /^61 launches in [\d.]+ m?u?s$/.test(line)))
  t.true(lines.every((line) => line.length < 200))
  t.is(ft.profile(() => 1).kernels.length, 0)
  t.true(p instanceof ft.Profile)
})
