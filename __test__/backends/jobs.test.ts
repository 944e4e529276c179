// Asynchronous calls as jobs: they leave the event loop free, stop at a signal, and tell of their progress.
// runs on: node, musl, blas

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'
import { numbers, present } from './cases.js'

const N = 256
const [a, b] = [numbers('float32', N * N, 1), numbers('float32', N * N, 2)] as [Float32Array, Float32Array]
const pure = ft.backends.get('pure')

/** Turns of the event loop while a promise is pending. */
async function turnsDuring(promise: Promise<unknown>): Promise<number> {
  let [turns, pending] = [0, true]
  const tick = (): void => {
    turns++
    if (pending) setImmediate(tick)
  }
  setImmediate(tick)
  await promise
  pending = false
  return turns
}

test('the event loop turns while pure computes, and not for little work', async (t) => {
  // Tiles of 64 x 128 x 64 multiply-adds, 4 x 2 x 4 of them; at both ends a turn may not be counted.
  t.true((await turnsDuring(pure.matmulAsync(a, b, N, N, N))) >= 28)
  const long = new Float64Array(1 << 22)
  for (const start of [() => pure.sumAsync(long), () => pure.dotAsync(long, long), () => pure.addAsync(long, long), () => pure.scaleAsync(long, 2)]) {
    t.true((await turnsDuring(start())) >= 12, String(start))
  }
  // A sum of one product as long as memory is no single step either.
  t.true((await turnsDuring(pure.matmulAsync(long, long, 1, 1, long.length))) >= 12)
  t.true((await turnsDuring(pure.matmulAsync(a.subarray(0, 4), b.subarray(0, 4), 2, 2, 2))) <= 1)
})

test('jobs of pure that run at the same time do not disturb each other', async (t) => {
  const jobs = Array.from({ length: 4 }, (_, i) => {
    const x = numbers('float32', N * N, 10 + i) as Float32Array
    return { now: pure.matmul(x, b, N, N, N), later: pure.matmulAsync(x, b, N, N, N) }
  })
  for (const { now, later } of jobs) t.deepEqual(await later, now)
})

for (const backend of present) {
  test(`${backend.name}: progress ends with the job`, async (t) => {
    const told: ft.Progress[] = []
    await backend.matmulAsync(a, b, N, N, N, { onProgress: (progress) => told.push(progress) })
    t.deepEqual(told.map(({ done }) => done), told.map((_, i) => i + 1))
    t.is(told.at(-1)?.done, told.at(-1)?.total)
    t.is(told[0]?.label, 'matmul')
  })

  test(`${backend.name}: what onProgress throws ends the job`, async (t) => {
    const reason = new Error('enough')
    const stop = (): void => {
      throw reason
    }
    t.is(await t.throwsAsync(backend.matmulAsync(a, b, N, N, N, { onProgress: stop })), reason)
  })

  test(`${backend.name}: an aborted signal ends the job with its reason, and out stays as it was`, async (t) => {
    const controller = new AbortController()
    const reason = new Error('not wanted')
    const out = new Float32Array(N * N).fill(7)
    const running = backend.matmulAsync(a, b, N, N, N, { out, signal: controller.signal })
    controller.abort(reason)
    t.is(await t.throwsAsync(running), reason)
    t.is(await t.throwsAsync(backend.sumAsync(a, { signal: controller.signal })), reason)
    t.true(out.every((x) => x === 7))
  })

  test(`${backend.name}: a job outlives the scope it was started in`, async (t) => {
    const [x, y] = [a.subarray(0, N), b.subarray(0, N)]
    t.deepEqual(await ft.scope(() => ({ job: backend.matmulAsync(x, y, 16, 16, 16) })).job, backend.matmul(x, y, 16, 16, 16))
  })

  test(`${backend.name}: options of jobs are checked`, async (t) => {
    const options = (given: object) => t.throwsAsync(backend.sumAsync(a, given), { instanceOf: ft.ArgumentError })
    t.is((await options({ onProgress: 1 }))?.message, "backends.sumAsync: 'onProgress' must be a function, got 1")
    t.is((await options({ signal: {} }))?.message, "backends.sumAsync: 'signal' must be an AbortSignal, got an Object")
    t.regex((await options({ out: a }))?.message ?? '', /^backends\.sumAsync: unknown option 'out'/)
  })
}

test('a signal ends pure between two steps', async (t) => {
  const controller = new AbortController()
  let steps = 0
  const onProgress = (): void => {
    if (++steps === 3) controller.abort(new Error('three are enough'))
  }
  await t.throwsAsync(pure.matmulAsync(a, b, N, N, N, { signal: controller.signal, onProgress }), { message: 'three are enough' })
  t.is(steps, 3)
})

test('blocking forms take no options of jobs', (t) => {
  throws(t, 'ERR_ARGUMENT', /^backends\.scale: unknown option 'onProgress'/, () => pure.scale(a, 2, { onProgress() {} } as never))
})
