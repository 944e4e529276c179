// Tensors from recording to disposal: states, scopes, sharing, the order of asynchronous reads, errors as values.
// runs on: node, musl, vulkan

import test from 'ava'
import { Worker } from 'node:worker_threads'
import * as ft from 'ferrotensor'
import { native } from '../lib/native.js'
import { evaluateScript } from './child.js'
import { tested } from './device.js'

const ones = (n: number) => ft.fromTypedArray(new Float32Array(n).fill(1))

test('reading: typed arrays, items, nested arrays, bytes', async (t) => {
  const x = ft.tensor([[1, 2], [3, 4]])
  t.deepEqual(x.dataSync(), new Float32Array([1, 2, 3, 4]))
  t.deepEqual(await x.add(1).data(), new Float32Array([2, 3, 4, 5]))
  t.deepEqual(x.toArray(), [[1, 2], [3, 4]])
  t.deepEqual(x.toBytes(), new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer))
  t.is(x.sum().itemSync(), 10)
  t.is(await x.sum().item(), 10)
  t.is(x.less(3).at(0, 0).itemSync(), true)
  t.is(ft.tensor([5n]).itemSync(), 5n)
  t.throws(() => x.itemSync(), { instanceOf: ft.ShapeError })
  await t.throwsAsync(x.item(), { instanceOf: ft.ShapeError })
})

test('half floats are read as float32, and their bytes are raw', (t) => {
  const x = ft.tensor([1, 0.5]).astype('float16')
  t.deepEqual(x.dataSync(), new Float32Array([1, 0.5]) as never)
  t.deepEqual([...new Uint16Array(x.toBytes().buffer)], [0x3c00, 0x3800])
})

test('what data() gives is a fresh copy', (t) => {
  const x = ones(4)
  x.dataSync().fill(7)
  t.deepEqual([...x.dataSync()], [1, 1, 1, 1])
})

test('large results come back whole, blocking and not', async (t) => {
  const n = 3_000_000
  const x = ft.arange(n, { dtype: 'int32' })
  const [now, later] = [x.add(1).dataSync(), await x.add(1).data()]
  t.is(later.length, n)
  t.true(now.every((v, i) => v === i + 1) && later.every((v, i) => v === i + 1))
})

test('an expression survives the disposal of its operands', (t) => {
  const x = ones(4)
  const y = x.add(1)
  const z = y.mul(3)
  x.dispose()
  y.dispose()
  t.deepEqual([...z.dataSync()], [6, 6, 6, 6])
  t.throws(() => x.add(1), { instanceOf: ft.DisposedError, code: 'ERR_DISPOSED' })
  t.throws(() => y.dataSync(), { instanceOf: ft.DisposedError })
  t.notThrows(() => x.dispose())
})

test.serial('disposing frees the memory at once', (t) => {
  const before = ft.memory().live
  const x = ft.ones([1 << 20]).add(1)
  ft.evaluateSync(x)
  t.true(ft.memory().live >= before + (4 << 20))
  x.dispose()
  t.true(ft.memory().live < before + (4 << 20))
})

test.serial('disposing frees the memory of a value that was queued', async (t) => {
  const before = ft.memory().live
  const x = ft.ones([1 << 20]).add(1)
  // Larger than what runs at the call.
  const pending = ft.evaluate(x)
  await pending
  x.dispose()
  t.true(ft.memory().live < before + (4 << 20))
})

test.serial('a disposed operand is freed when its last expression has its value', (t) => {
  const before = ft.memory().live
  const x = ft.ones([1 << 20]).add(1)
  ft.evaluateSync(x)
  const y = x.sum()
  x.dispose()
  t.true(ft.memory().live >= before + (4 << 20))
  t.is(y.itemSync(), 2 << 20)
  t.true(ft.memory().live < before + (4 << 20))
})

test('using disposes at the end of the block', (t) => {
  let kept
  {
    using x = ones(4)
    kept = x
    t.is(x.sum().itemSync(), 4)
  }
  t.throws(() => kept.dataSync(), { instanceOf: ft.DisposedError })
})

test('a scope frees what it does not return', (t) => {
  const x = ones(4)
  let leaked: ft.Tensor | undefined
  const { y, list } = ft.scope(() => {
    leaked = x.add(5)
    return { y: x.add(1), list: [x.mul(4)], text: 'kept' }
  })
  t.deepEqual([...y.dataSync()], [2, 2, 2, 2])
  t.deepEqual([...(list[0] as typeof x).add(y).dataSync()], [6, 6, 6, 6])
  t.throws(() => (leaked as unknown as typeof x).dataSync(), { instanceOf: ft.DisposedError })
  t.notThrows(() => x.dataSync())
})

test.serial('the end of a scope frees the memory of what was computed in it', (t) => {
  const before = ft.memory().live
  let kept: ft.Tensor | undefined
  ft.scope(() => {
    kept = ft.ones([1 << 20]).add(1)
    ft.evaluateSync(kept)
    t.true(ft.memory().live >= before + (4 << 20))
  })
  t.true(ft.memory().live < before + (4 << 20))
  t.throws(() => kept?.dataSync(), { instanceOf: ft.DisposedError })
})

test.serial('a handle that was freed is not that of the tensor in its place', (t) => {
  const handleOf = (x: ft.Tensor): number => {
    ft.evaluateSync(x)
    return (x as unknown as { handle: number }).handle
  }
  const x = ones(4).add(1)
  const freed = handleOf(x)
  x.dispose()
  const y = ones(4).add(2)
  t.not(handleOf(y), freed)
  t.throws(() => native.wait(freed), { instanceOf: ft.DisposedError })
  t.deepEqual([...y.dataSync()], [3, 3, 3, 3])
})

test('scopes nest, and an outer tensor materialised inside outlives them', (t) => {
  const outer = ones(4).add(1)
  const kept = ft.scope(() => {
    const inner = ft.scope(() => outer.mul(2))
    t.is(outer.sum().itemSync(), 8)
    ft.evaluateSync(outer)
    return inner.add(1)
  })
  t.deepEqual([...kept.dataSync()], [5, 5, 5, 5])
  t.deepEqual([...outer.dataSync()], [2, 2, 2, 2])
})

test('a scope ends when its function throws, and refuses promises', (t) => {
  let inside: ft.Tensor | undefined
  t.throws(() => ft.scope(() => { inside = ones(4); throw new Error('mine') }), { message: 'mine' })
  t.throws(() => (inside as unknown as ft.Tensor).dataSync(), { instanceOf: ft.DisposedError })
  t.throws(() => ft.scope(() => Promise.resolve(1)), { instanceOf: ft.ArgumentError })
})

test('scopeAsync disposes what was tracked and not returned', async (t) => {
  let dropped: ft.Tensor | undefined
  const kept = await ft.scopeAsync(async (s) => {
    dropped = s.track(ones(4))
    await dropped.data()
    return s.track(dropped.add(1))
  })
  t.deepEqual([...kept.dataSync()], [2, 2, 2, 2])
  t.throws(() => (dropped as unknown as ft.Tensor).dataSync(), { instanceOf: ft.DisposedError })
})

test.serial('operations with several outputs run once', (t) => {
  const { values, indices } = ft.tensor([3, 1, 2]).topk(2)
  ft.resetStats()
  t.deepEqual([...values.dataSync()], [3, 2])
  const { programs } = ft.stats()
  t.deepEqual([...indices.dataSync()], [0, 2])
  t.is(ft.stats().programs, programs)
})

test.serial('values dropped by an earlier program are kept when a new consumer uses them', (t) => {
  const x = ones(4)
  let h = x
  for (let i = 0; i < 50; i++) h = h.add(1)
  const [a, b, c] = [h.mul(2), h.mul(3), h.mul(4)]
  ft.resetStats()
  a.dataSync()
  b.dataSync()
  c.dataSync()
  const { ops, recomputes } = ft.stats()
  t.true(ops <= 51 + 51 + 1, `${ops} operations`)
  t.is(recomputes, 50)
})

test('asynchronous reads give the value of their call, in any order', async (t) => {
  const x = ones(4)
  const reads = Array.from({ length: 200 }, (_, i) => x.mul(i).data())
  const values = await Promise.all(reads)
  values.forEach((v, i) => t.is(v[0], i))
  const big = ft.ones([700, 700])
  const slow = big.matmul(big).sum().data()
  const fast = x.add(1).data()
  t.is((await fast)[0], 2)
  t.is((await slow)[0], 700 ** 3)
})

test('an asynchronous read survives disposal after the call', async (t) => {
  const big = ft.ones([500, 500])
  const product = big.matmul(big)
  const read = product.data()
  product.dispose()
  t.is((await read)[0], 500)
})

test.serial('evaluate computes several tensors in one program', async (t) => {
  const x = ones(4).add(1)
  const [a, b] = [x.mul(2), x.mul(3)]
  ft.resetStats()
  await ft.evaluate(a, b)
  t.is(ft.stats().programs, 1)
  t.deepEqual([...b.dataSync()], [6, 6, 6, 6])
})

test('errors of values are remembered and thrown at every read', async (t) => {
  const singular = ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2]))
  t.throws(() => singular.dataSync(), { instanceOf: ft.LinAlgError, code: 'ERR_LINALG' })
  t.throws(() => singular.dataSync(), { instanceOf: ft.LinAlgError })
  await t.throwsAsync(singular.data(), { instanceOf: ft.LinAlgError })
  await t.throwsAsync(ft.evaluate(singular), { instanceOf: ft.LinAlgError })
  t.throws(() => singular.add(1).dataSync(), { instanceOf: ft.LinAlgError })
})

test('errors of the call are instances of their class, with the stack of the call', (t) => {
  const error = t.throws(() => ones(3).add(ones(4)), { instanceOf: ft.ShapeError, code: 'ERR_SHAPE' })
  t.true(error instanceof ft.TensorError)
  t.is(error?.name, 'ShapeError')
  t.true(error?.stack?.includes('lifecycle.test'))
})

test('weak scalars must be exact in an integer tensor', (t) => {
  const x = ft.tensor([1, 2], { dtype: 'int32' })
  const wrong = { instanceOf: ft.DTypeError }
  t.throws(() => x.add(0.5), wrong)
  t.throws(() => x.add(2 ** 31), wrong)
  t.throws(() => x.add(1n << 40n), wrong)
  t.throws(() => x.add(NaN), wrong)
  t.throws(() => ft.tensor([1], { dtype: 'uint64' }).add(2 ** 64), wrong)
  t.throws(() => ft.tensor([1]).add((1n << 60n) + 1n), wrong)
  t.deepEqual([...x.add(2 ** 31 - 2).dataSync()], [2 ** 31 - 1, -(2 ** 31)])
  t.deepEqual([...x.add(3n).dataSync()], [4, 5])
  t.deepEqual([...ft.tensor([1]).add(3n).dataSync()], [4])
  t.deepEqual(ft.tensor([1n]).add(2n ** 62n).dataSync(), new BigInt64Array([2n ** 62n + 1n]))
  t.deepEqual(ft.tensor([0], { dtype: 'uint64' }).add(2n ** 63n).dataSync(), new BigUint64Array([2n ** 63n]))
})

test('operands that are no tensors are refused with a hint', (t) => {
  const x = ones(2) as unknown as { add(y: unknown): unknown }
  for (const bad of ['1', null, ['1'], {}, undefined]) t.throws(() => x.add(bad), { instanceOf: ft.ArgumentError })
  t.throws(() => ft.add(1 as never, 2 as never), { instanceOf: ft.ArgumentError })
})

test('arithmetic operators throw a hint, text does not', (t) => {
  const x = ones(2) as unknown as number
  t.throws(() => x + 1, { instanceOf: ft.ArgumentError, message: /a\.add\(b\)/ })
  t.throws(() => x * 2, { instanceOf: ft.ArgumentError })
  t.true(`${x}`.includes('1'))
})

test('cloning a tensor throws a hint', (t) => {
  let message = ''
  try {
    structuredClone(ones(2))
  } catch (error) {
    // A DOMException, which ava does not count as an error.
    message = (error as Error).message
  }
  t.regex(message, /share\(\)/)
})

test('a token takes the same storage into a worker', async (t) => {
  const x = ft.tensor([1, 2, 3]).mul(2)
  const worker = new Worker(
    `import * as ft from 'ferrotensor'
     import { parentPort, workerData } from 'node:worker_threads'
     const x = ft.fromShared(workerData)
     parentPort.postMessage([x.dtype, ...x.shape, ...x.add(1).dataSync()])`,
    { eval: true, execArgv: ['--input-type=module'], workerData: x.share() }
  )
  const message = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  t.deepEqual(message, ['float32', 3, 3, 5, 7])
  await worker.terminate()
  x.dispose()
})

test('a token works while any tensor lives on its storage', (t) => {
  const x = ft.tensor([1, 2, 3])
  const view = x.at('1:')
  ft.evaluateSync(view)
  const token = x.share()
  x.dispose()
  t.deepEqual(ft.fromShared(token).toArray(), [1, 2, 3])
  t.deepEqual(view.toArray(), [2, 3])
})

test('a token of a tensor that is gone, or no token, is refused', (t) => {
  const x = ones(2)
  const token = x.share()
  x.dispose()
  t.throws(() => ft.fromShared(token), { instanceOf: ft.DisposedError })
  t.throws(() => ft.fromShared({} as never), { instanceOf: ft.ArgumentError })
})

test('devices are listed, and absent ones refused with a reason', (t) => {
  t.true(ft.devices().some((d) => d.name === 'cpu' && d.available))
  t.is(ones(2).device, tested)
  t.is(ones(2).to('cpu').device, 'cpu')
  const cuda = ft.devices().find((d) => d.name === 'cuda')
  t.true(cuda !== undefined && !cuda.available && cuda.reason.includes('not part of ferrotensor'))
  t.throws(() => ones(2).to('cuda:0'), { instanceOf: ft.BackendUnavailableError, message: /cuda:0.*not part of/ })
  t.throws(() => ones(2).to('abacus'), { instanceOf: ft.DeviceError })
  t.throws(() => ft.setDefaultDevice('abacus'), { instanceOf: ft.DeviceError })
})

test('settings are checked', (t) => {
  const wrong = { instanceOf: ft.ArgumentError }
  t.throws(() => ft.setThreads(0), wrong)
  t.throws(() => ft.setThreads(1.5), wrong)
  for (const bytes of [NaN, 0, -1, 0.5, Infinity, '1GB', 4n, null, undefined]) t.throws(() => ft.setMemoryLimit(bytes as never), wrong, String(bytes))
  t.throws(() => ft.strict('never' as never), wrong)
  t.throws(() => ft.config({ limits: 1 } as never), wrong)
  t.throws(() => ft.config({ limit: 0 }), wrong)
})

test('memory().pending is what recorded expressions hold', (t) => {
  const x = ft.fromTypedArray(new Float32Array(1 << 18))
  const before = ft.memory().pending
  const losses = [x.mul(2).sum(), x.add(1).mean(), x.at('1:').max()]
  const { pending, live, devices } = ft.memory()
  t.is(pending - before, 1 << 20, 'one value, whatever the number of expressions on it')
  t.is(devices.reduce((bytes, device) => bytes + device.pending, 0), pending)
  t.true(pending <= live)
  for (const loss of losses) loss.itemSync()
  t.true(ft.memory().pending <= before)
})

test('the default device', async (t) => {
  const [best] = ft.devices().filter((device) => device.available && device.class !== 'software')
  t.true(best?.available && best.class === 'cpu', 'without a GPU the processor is the best real device')
  t.is(ft.zeros([1]).device, tested)
  const asked = (name: string, call = 'ft.zeros([1]).device') =>
    evaluateScript<string>(
      `let text; try { text = ${call} } catch (error) { text = error.name + ': ' + error.message }; console.log(JSON.stringify(text))`,
      { env: { FERROTENSOR_DEVICE: name } }
    )
  t.is(await asked('cpu'), 'cpu')
  t.is(await asked(''), best?.name)
  t.regex(await asked('abacus'), /^DeviceError: FERROTENSOR_DEVICE: there is no device 'abacus'/)
  t.regex(await asked('cuda'), /^BackendUnavailableError: FERROTENSOR_DEVICE: device 'cuda' is not available/)
  t.is(await asked('abacus', "ft.zeros([1], { device: 'cpu' }).device"), 'cpu', 'it is read when a default is needed')
})
