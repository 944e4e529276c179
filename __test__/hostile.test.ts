// Arguments that change while they are read or afterwards, and forged or enormous ones: what `scripts/fuzz` has found.
// runs on: node

import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import * as ft from 'ferrotensor'
import { evaluateScript } from './child.js'
import { throws } from './expect.js'

/** A list whose first element is another one from the second look on. */
function shifting(first: unknown, then: unknown, second = first): never {
  let looks = 0
  return Object.defineProperty([first, second], 0, { enumerable: true, get: () => (looks++ === 0 ? first : then) }) as never
}

test('a list of tensors may be changed or emptied after the call', (t) => {
  const [a, b] = [ft.tensor([1, 2]), ft.tensor([3, 4])]
  for (const change of [(list: unknown[]) => (list[0] = b), (list: unknown[]) => (list.length = 0), (list: unknown[]) => list.push(5)]) {
    const list = [a, b]
    const [joined, stacked] = [ft.concat(list), ft.stack(list)]
    change(list)
    t.deepEqual(joined.toArray(), [1, 2, 3, 4])
    t.deepEqual(stacked.toArray(), [[1, 2], [3, 4]])
  }
})

test('a list of numbers is read once', (t) => {
  for (const then of ['x', Symbol('s'), 1n, 1.5, NaN, null]) {
    t.deepEqual(ft.zeros(shifting(2, then)).shape, [2, 2])
    t.deepEqual(ft.ones([2, 3]).permuteDims(shifting(1, then, 0)).shape, [3, 2])
    t.deepEqual(ft.tensor([1, 2, 3, 4], { shape: shifting(2, then) }).shape, [2, 2])
  }
})

test('the parts of a complex number are read once', (t) => {
  for (const then of [Symbol('s'), 1n, 'x']) {
    let looks = 0
    const z = { get re() { return looks++ === 0 ? 1 : then }, im: 2 } as never
    t.deepEqual(ft.tensor([{ re: 5, im: 6 }, z]).toArray(), [{ re: 5, im: 6 }, { re: 1, im: 2 }])
  }
})

test('a forged token names nothing, and a token is read once', (t) => {
  for (const token of [NaN, -1, 0.5, 2 ** 60, 0]) {
    throws(t, 'ERR_DISPOSED', /^fromShared: /, () => ft.fromShared({ kind: 'ferrotensor.shared', token } as never))
  }
  const x = ft.ones([2])
  const real = x.share().token
  let looks = 0
  const shared = { kind: 'ferrotensor.shared', get token() { return looks++ === 0 ? real : 'x' } }
  t.deepEqual(ft.fromShared(shared as never).toArray(), x.toArray())
})

test('nested arrays with more elements than memory are refused before they are walked', (t) => {
  const row = new Array<number>(1e6).fill(0)
  throws(t, 'ERR_OUT_OF_MEMORY', /^tensor: /, () => ft.tensor(new Array(1e5).fill(row) as number[][]))
  throws(t, 'ERR_OUT_OF_MEMORY', /^tensor: /, () => ft.tensor(new Array(1e4).fill(row) as number[][]))
})

test('a shape with a size of 0 has no elements, whatever the other sizes are', (t) => {
  const shape = [...new Array<number>(31).fill(2 ** 53 - 1), 0]
  t.is(ft.zeros(shape).size, 0)
  t.is(ft.tensor([], { shape }).size, 0)
})

test('a fill value that does not broadcast to the shape is an error of the call', (t) => {
  throws(t, 'ERR_SHAPE', /^full: /, () => ft.full([2], ft.ones([3]) as never))
  throws(t, 'ERR_SHAPE', /^full: /, () => ft.full([2], ft.ones([1, 2]) as never))
  t.deepEqual(ft.full([2, 2], ft.tensor([1, 2]) as never).toArray(), [[1, 2], [1, 2]])
})

test('nested arrays that V8\'s heap cannot hold are refused: V8 would end the process', async (t) => {
  const codes = await evaluateScript<string[]>(
    `const code = (call) => { try { call(); return 'none' } catch (error) { return error.code } }
     console.log(JSON.stringify([
       code(() => ft.zeros([1 << 24]).toArray()),
       code(() => ft.zeros([1 << 21, 1]).toArray()),
       code(() => ft.zeros([1 << 21, 0]).toArray()),
       code(() => ft.zeros([1 << 20], { dtype: 'complex64' }).toArray()),
       code(() => ft.zeros([1 << 24]).toJSON()),
       code(() => ft.zeros([1 << 20]).toArray())
     ]))`,
    { env: { NODE_OPTIONS: '--max-old-space-size=96' } }
  )
  t.deepEqual(codes, [...new Array<string>(5).fill('ERR_OUT_OF_MEMORY'), 'none'])
})

test('a tensor is not made by new', (t) => {
  throws(t, 'ERR_ARGUMENT', /^Tensor: /, () => new (ft.Tensor as unknown as new () => ft.Tensor)())
})

test('an error message survives arrays that are none', (t) => {
  let looks = 0
  const bad = [
    new Proxy([1], { get: (list, key) => (key === 'length' ? (looks++ === 0 ? 1 : 2 ** 53) : Reflect.get(list, key)) }),
    new Proxy([1], { get: () => { throw new Error('mine') } }),
    Object.defineProperty([1], 0, { get: () => { throw new Error('mine') } })
  ]
  for (const list of bad) throws(t, 'ERR_ARGUMENT', /^sum: .* got an array/, () => ft.ones([1]).sum({ keepdims: list as never }))
})

test('printing takes any depth', (t) => {
  const x = ft.ones([1])
  t.regex((x as unknown as Record<symbol, (depth: unknown) => string>)[inspect.custom]?.(Symbol('s')) ?? '', /\[1\]/)
})

test('errors name what they are about', (t) => {
  throws(t, 'ERR_ARGUMENT', /^to: 'device' must be text/, () => ft.ones([1]).to(5 as never))
  throws(t, 'ERR_SHAPE', /^iteration: /, () => [...ft.ones([])])
  throws(t, 'ERR_ARGUMENT', /^operators: /, () => (ft.ones([1]) as never) + 1)
})

test('shared memory of another realm is copied before native code reads it', (t) => {
  const shared = runInNewContext('new Float32Array(new SharedArrayBuffer(8))') as Float32Array
  shared[1] = 3
  t.deepEqual(ft.fromTypedArray(shared, [2]).toArray(), [0, 3])
})
