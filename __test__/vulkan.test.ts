// Tensors on a Vulkan device: they stay there, what runs elsewhere is counted, and results have the CPU's bits. Where there is no
// device these tests say so and pass, unless EXPECT_BACKENDS lists it.
// runs on: host; it names its device

import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { loadDigits } from '../examples/digits/data.js'
import { convolutional } from '../examples/digits/models.js'
import { evaluate, train } from '../examples/digits/train.js'
import { evaluateScript } from './child.js'
import { throws } from './expect.js'

const found = ft.devices().filter(({ kind }) => kind === 'vulkan')
const device = found.find(({ available }) => available)?.name

/** A test that needs a device. */
function onDevice(title: string, body: (t: ExecutionContext, device: string) => void | Promise<void>): void {
  test.serial(title, async (t) => {
    if (device !== undefined) return body(t, device)
    const expected = (process.env['EXPECT_BACKENDS'] ?? '').split(',').includes('vulkan')
    t.false(expected, `EXPECT_BACKENDS lists vulkan: ${JSON.stringify(found)}`)
    t.log('no device')
    t.pass()
  })
}

test.afterEach(() => {
  ft.strict('allow')
  ft.resetStats()
})

test.serial('a backend is there with its devices, or with a reason in words', (t) => {
  t.true(found.length > 0)
  for (const entry of found) {
    if (entry.available) {
      t.regex(entry.name, /^vulkan:\d+$/)
      t.regex(entry.description, /Vulkan 1\.\d/)
      t.true(entry.maxBuffer >= 1 << 27)
    } else t.regex(entry.reason, /\w+ \w+/)
  }
})

test.serial('it can be switched off', async (t) => {
  const script = "console.log(JSON.stringify(ft.devices().find(({ kind }) => kind === 'vulkan')))"
  const off = await evaluateScript<ft.AbsentDevice>(script, { env: { FERROTENSOR_VULKAN: 'off' } })
  t.deepEqual([off.available, off.reason], [false, 'switched off by FERROTENSOR_VULKAN=off'])
})

test.serial('it is used when named, and is not the default', async (t) => {
  const used = (name: string) => evaluateScript<string>('console.log(JSON.stringify(ft.zeros([1]).device))', { env: { FERROTENSOR_DEVICE: name } })
  t.is(await used(''), 'cpu')
  if (device !== undefined) t.is(await used(device), device)
})

onDevice('a chain of operations is one kernel, stays there, and has the bits of the CPU', (t, device) => {
  const x = ft.linspace(-3, 3, 10_000).reshape([100, 100])
  const chain = (x: ft.Tensor<'float32'>) => x.mul(0.5).add(1).tanh().sub(x.exp()).abs().sqrt().maximum(0.25).div(3)
  const there = x.to(device)
  ft.evaluateSync(there)
  ft.strict('throw')
  ft.resetStats()
  const result = chain(there)
  const sums = result.sum(0)
  ft.evaluateSync(result, sums)
  const { launches, uploaded, fallbacks } = ft.stats()
  t.deepEqual([launches, uploaded, fallbacks.length], [2, 0, 0])
  t.is(result.device, device)
  ft.strict('allow')
  t.deepEqual(result.toBytes(), chain(x).toBytes())
  t.deepEqual(sums.toBytes(), chain(x).sum(0).toBytes())
})

onDevice('what it lacks runs on the host and is counted, or refused', async (t, device) => {
  const x = ft.eye(4, { device })
  t.deepEqual(await ft.linalg.cholesky(x).data(), await ft.eye(4).data())
  const [fallback] = ft.stats().fallbacks
  t.is(fallback?.op, 'linalg.cholesky')
  t.is(fallback?.reason, 'no routine kernel yet')
  ft.strict('throw')
  throws(t, 'ERR_UNSUPPORTED', /would fall back: routine on vulkan:\d+: no routine kernel yet/, () => ft.linalg.cholesky(x).add(1).dataSync())
})

onDevice('indices pick, put and count there', (t, device) => {
  const x = ft.arange(24, { device }).reshape([6, 4])
  const rows = ft.tensor([5, 0, -2, 0], { dtype: 'int32', device })
  ft.evaluateSync(x, rows)
  ft.strict('throw')
  ft.resetStats()
  t.deepEqual(x.take(rows, { axis: 0 }).sum(1).toArray(), [86, 6, 70, 6])
  t.deepEqual(x.cumulativeSum({ axis: 0 }).at(-1).toArray(), [60, 66, 72, 78])
  t.is(ft.stats().uploaded, 0)
})

onDevice('the digits train there, and nothing runs elsewhere', async (t, device) => {
  ft.setDefaultDevice(device)
  try {
    ft.strict('throw')
    const { training, test } = await loadDigits(ft.random.key(1))
    const trained = await train({ name: 'convolutional network', model: convolutional, epochs: 2, rate: 0.01 }, training, ft.random.key(2))
    t.true(ft.tree.leaves(trained).every((x) => x.device === device))
    t.true((trained.losses[1] as number) < (trained.losses[0] as number), `${trained.losses}`)
    t.true((await evaluate(convolutional, trained, test)).accuracy > 0.8)
    t.deepEqual(ft.stats().fallbacks, [])
  } finally {
    ft.setDefaultDevice('cpu')
  }
})

onDevice('truncated normal numbers are drawn there, with the bits of the CPU', (t, device) => {
  ft.strict('throw')
  const key = ft.random.key(1)
  const [here, there] = [key, key.to(device)].map((own) => ft.random.truncatedNormal(own, [1000], { mean: 3, std: 0.5 })) as [ft.Tensor, ft.Tensor]
  t.is(there.device, device)
  t.deepEqual(there.toBytes(), here.toBytes())
})

onDevice('an index out of range is an error of the read, and of nothing else', async (t, device) => {
  const x = ft.arange(6, { device })
  const bad = x.take(ft.tensor([1, 6], { dtype: 'int32', device }))
  const good = x.take(ft.tensor([1, 5], { dtype: 'int32', device }))
  throws(t, 'ERR_INDEX', /take: index 6 is out of range for an axis of size 6/, () => bad.add(1).dataSync())
  await t.throwsAsync(bad.data(), { message: /take: index 6 is out of range for an axis of size 6/ })
  t.deepEqual(await good.data(), new Float32Array([1, 5]))
})

onDevice('tensors of every dtype go there and come back', (t, device) => {
  for (const { dtype } of ft.devices().flatMap((d) => (d.available && d.name === device ? d.dtypes.map((dtype) => ({ dtype })) : []))) {
    const x = ft.tensor([0, 1, 1, 0, 1]).astype(dtype)
    t.deepEqual(x.to(device).flip().to('cpu').flip().toBytes(), x.toBytes(), dtype)
  }
})

onDevice('memory is given back when the last tensor goes', async (t, device) => {
  // In a process of its own: what other tests left on the device goes when JavaScript's collector says so.
  const { before, held, after } = await evaluateScript<{ before: number; held: number; after: number }>(`
    const device = '${device}'
    const used = () => ft.memory().devices.find((d) => d.device === device)?.live ?? 0
    const before = used()
    let held = Infinity
    for (let i = 0; i < 50; i++) {
      const x = ft.ones([1 << 18], { device }).add(i)
      ft.evaluateSync(x)
      held = Math.min(held, used())
      x.dispose()
    }
    console.log(JSON.stringify({ before, held, after: used() }))`)
  t.true(held > before, `${held} bytes held, ${before} before`)
  t.true(after <= before + (1 << 22), `${after} bytes after ${before}`)
})

onDevice('an axis too long for its indices is refused in words, and reading it still works', (t, device) => {
  const long = ft.tensor([7], { dtype: 'uint8', device }).broadcastTo([2 ** 32])
  throws(t, 'ERR_UNSUPPORTED', /indices along an axis of 4294967296 places, of 2\^31 and more/, () => long.at([5]).dataSync())
  t.is(long.at(2 ** 32 - 1).itemSync(), 7)
})

onDevice('devices do not mix silently', (t, device) => {
  throws(t, 'ERR_DEVICE', /add/, () => ft.ones([2], { device }).add(ft.ones([2], { device: 'cpu' })))
})

onDevice('numbers beside tensors of a device go there', (t, device) => {
  const n = ft.tensor([3, 5], { dtype: 'int32', device })
  const results = [ft.ldexp(0.75, n), ft.ldexp(n, 2), ft.floatPower(2, n), ft.nn.pad(n, [1, 0], { value: 7 }), ft.round(ft.tensor([1.25, 5e-41], { device }), 41)]
  t.deepEqual(results.map((x) => x.device), results.map(() => device))
  t.deepEqual(results.map((x) => x.toArray()), [[6, 24], [12, 20], [8, 32], [7, 3, 5], [1.25, Math.fround(5e-41)]])
  throws(t, 'ERR_DEVICE', /^ldexp: tensors on different devices/, () => ft.ldexp(ft.tensor([1], { device: 'cpu' }), n))
})
