// What users get wrong, and what is too large: typed errors, never an abort, never an untyped one.
// runs on: node, musl, vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'
import { evaluateScript } from './child.js'

const one = ft.ones([1])
const singular = () => ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2]))

test('concat and stack take any number of tensors of one type, one call after the other', (t) => {
  for (const n of [2, 3, 1, 4, 2, 1]) {
    t.deepEqual(ft.concat(new Array(n).fill(one)).shape, [n])
    t.deepEqual(ft.stack(new Array(n).fill(one)).toArray(), new Array(n).fill([1]))
  }
  t.is(ft.concat(new Array(5000).fill(one)).sum().itemSync(), 5000)
})

test('a list of tensors holds tensors only, checked at the call', (t) => {
  for (const bad of [undefined, 1, 2n, true]) {
    throws(t, 'ERR_ARGUMENT', /^stack: 'arrays\[1\]' must be a tensor/, () => ft.stack([one, bad as never]))
    throws(t, 'ERR_ARGUMENT', /^concat: 'arrays\[0\]' must be a tensor/, () => ft.concat([bad as never, one]))
  }
})

test('evaluate, config and devices check their arguments', async (t) => {
  const bare = Object.create(null) as never
  for (const bad of [undefined, null, 1, 'x', {}, [], bare]) {
    throws(t, 'ERR_ARGUMENT', /^evaluateSync: takes tensors/, () => ft.evaluateSync(bad as never))
    await t.throwsAsync(ft.evaluate(bad as never), { instanceOf: ft.ArgumentError })
  }
  for (const bad of [null, 1, 'x', []]) throws(t, 'ERR_ARGUMENT', /^config: /, () => ft.config(bad as never))
  throws(t, 'ERR_ARGUMENT', /device/, () => ft.setDefaultDevice(bare))
  throws(t, 'ERR_ARGUMENT', /device/, () => one.to(bare))
  throws(t, 'ERR_ARGUMENT', /setThreads/, () => ft.setThreads(bare))
  throws(t, 'ERR_ARGUMENT', /setMemoryLimit/, () => ft.setMemoryLimit(bare))
  throws(t, 'ERR_ARGUMENT', /strict/, () => ft.strict(bare))
})

test('an error message survives what it shows', (t) => {
  const hostile = [{ constructor: { name: Symbol('s') } }, { get constructor(): never { throw new Error('mine') } }]
  for (const bad of hostile) throws(t, 'ERR_ARGUMENT', /^zeros: .* got an object$/, () => ft.zeros(bad as never))
})

test('lists of a million sizes, axes or indices are errors of rank', (t) => {
  const many = new Array<number>(1e6).fill(1)
  throws(t, 'ERR_SHAPE', /^zeros: rank 1000000/, () => ft.zeros(many))
  throws(t, 'ERR_SHAPE', /^reshape: rank 1000000/, () => one.reshape(many))
  throws(t, 'ERR_INDEX', /at most 64 index items/, () => one.at(`${'0,'.repeat(200_000)}0`))
})

test('a buffer that the caller\'s own getters detach is refused', (t) => {
  const data = new Float32Array([1, 2, 3, 4])
  const options = { get device() { structuredClone(data.buffer, { transfer: [data.buffer] }); return 'cpu' } }
  throws(t, 'ERR_ARGUMENT', /detached/, () => ft.tensor(data, options))
  class Long extends Float32Array { override get length() { return 1e6 } }
  t.deepEqual(ft.tensor(new Long(4)).shape, [4])
})

test('what is too large for JavaScript is an OutOfMemoryError', async (t) => {
  const huge = one.broadcastTo([2 ** 40])
  ft.evaluateSync(huge)
  throws(t, 'ERR_OUT_OF_MEMORY', /refuses an array/, () => huge.dataSync())
  throws(t, 'ERR_OUT_OF_MEMORY', /refuses an array/, () => huge.toBytes())
  await t.throwsAsync(huge.data(), { instanceOf: ft.OutOfMemoryError })
  throws(t, 'ERR_OUT_OF_MEMORY', /^toArray: /, () => ft.zeros([1e9, 0]).toArray())
  throws(t, 'ERR_SHAPE', /^random.split: /, () => ft.random.split(ft.random.key(1), 2 ** 31))
})

test('empty tensors of large shapes print and serialise at once', (t) => {
  t.is(String(ft.zeros([1e9, 0])), '[[],\n [],\n [],\n ...,\n [],\n [],\n []]')
  t.is(String(ft.zeros([0, 1e9])), '[]')
  t.deepEqual(ft.zeros([1e9, 0]).toJSON().data, [])
})

test('JSON has no NaN: parts of complex numbers are strings as others are', (t) => {
  t.is(JSON.stringify(ft.tensor([{ re: NaN, im: -Infinity }]).toJSON().data), '[{"re":"NaN","im":"-Infinity"}]')
})

test('what a scope returns may contain itself, and objects without a prototype', (t) => {
  const list: unknown[] = []
  const kept = ft.scope(() => {
    list.push(list, one.add(1))
    return list
  })
  t.deepEqual((kept[1] as ft.Tensor).toArray(), [2])
  const bare = ft.scope(() => Object.assign(Object.create(null) as object, { x: one.add(2) }))
  t.deepEqual(bare.x.toArray(), [3])
  throws(t, 'ERR_LINALG', /singular/, () => ft.scope(() => [singular()]))
})

test('what is wrong with a tensor, a device or memory is said of the operation that met it', async (t) => {
  const gone = ft.ones([1])
  gone.dispose()
  let inner = gone
  ft.scope(() => void (inner = ft.ones([1])))
  const uses: Record<string, (x: ft.Tensor) => unknown> = {
    exp: (x) => x.exp(),
    add: (x) => one.add(x),
    concat: (x) => ft.concat([one, x]),
    at: (x) => one.at(x),
    dataSync: (x) => x.dataSync(),
    itemSync: (x) => x.itemSync(),
    toArray: (x) => x.toArray(),
    toBytes: (x) => x.toBytes(),
    to: (x) => x.to('cpu'),
    share: (x) => x.share(),
    evaluateSync: (x) => ft.evaluateSync(x)
  }
  for (const [op, use] of Object.entries(uses)) {
    throws(t, 'ERR_DISPOSED', new RegExp(`^${op}: the tensor was disposed$`), () => use(gone))
    throws(t, 'ERR_DISPOSED', new RegExp(`^${op}: the tensor belongs to a scope`), () => use(inner))
  }
  await t.throwsAsync(gone.data(), { message: /^data: the tensor was disposed$/ })
  await t.throwsAsync(gone.item(), { message: /^item: the tensor was disposed$/ })
  const places: Record<string, (device: string) => unknown> = {
    to: (device) => one.to(device),
    zeros: (device) => ft.zeros([1], { device }),
    tensor: (device) => ft.tensor([1], { device }),
    'random.key': (device) => ft.random.key(1, { device }),
    setDefaultDevice: (device) => ft.setDefaultDevice(device)
  }
  for (const [op, place] of Object.entries(places)) {
    throws(t, 'ERR_DEVICE', new RegExp(`^${op}: there is no device 'abacus'; present: cpu(, vulkan:\\d+)*$`), () => place('abacus'))
    throws(t, 'ERR_BACKEND_UNAVAILABLE', new RegExp(`^${op}: device 'cuda' is not available`), () => place('cuda'))
  }
  const messages = await evaluateScript<string[]>(`
    ft.setMemoryLimit(1 << 20)
    const message = (call) => { try { call() } catch (error) { return error.message } }
    console.log(JSON.stringify([message(() => ft.ones([1 << 20]).exp().dataSync()), message(() => ft.tensor(new Float32Array(1 << 20)))]))`)
  t.regex(messages[0] as string, /^exp: \d+\.\d MiB more do not fit/)
  t.regex(messages[1] as string, /^tensor: 4\.0 MiB more do not fit/)
})

test('the budget holds for programs with small results too', async (t) => {
  const [code, peak, after] = await evaluateScript<[string, number, number]>(`
    ft.setMemoryLimit(8 << 20)
    let code = 'none'
    try { ft.random.normal(ft.random.key(1), [32 << 20]).sort().at(0).itemSync() } catch (error) { code = error.code }
    let upload = ''
    try { ft.fromTypedArray(new Float32Array(4 << 20)) } catch (error) { upload = error.message }
    if (!upload.startsWith('fromTypedArray: 16.0 MiB more')) throw new Error(upload)
    console.log(JSON.stringify([code, ft.memory().peak, ft.ones([4]).add(1).sum().itemSync()]))`)
  t.deepEqual([code, after], ['ERR_OUT_OF_MEMORY', 8])
  t.true(peak <= 8 << 20)
})
