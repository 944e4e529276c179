// The fuzzer's judge finds what it must find: a checker has cases that fail.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'

interface Target {
  readonly path: string
  readonly call: (...args: unknown[]) => unknown
}
interface Oracle {
  outcomeOf(target: Target, args: unknown[], rng: unknown, ctx: { enormous: boolean }): Promise<string>
}
interface Choices {
  readonly Random: new (seed: unknown) => { next(): number }
}

// This file runs as dist/__test__/scripts/fuzz.test.js.
const load = async (name: string): Promise<unknown> => import(new URL(`../../../scripts/fuzz/${name}.mjs`, import.meta.url).href)
const { outcomeOf } = (await load('oracle')) as Oracle
const { Random } = (await load('random')) as Choices

const judge = (call: () => unknown) => outcomeOf({ path: 'call', call }, [], new Random(1), { enormous: false })
const thrown = (error: unknown) => () => {
  throw error
}

test('what is no error of ours, internal, or without a name is a violation', async (t) => {
  for (const error of [new TypeError('x is undefined'), new RangeError('Invalid array length'), 'text', undefined, new ft.InternalError('sum: broken')]) {
    await t.throwsAsync(judge(thrown(error)), { name: 'Error', message: /no TensorError|internal error/ })
  }
  await t.throwsAsync(judge(thrown(new ft.ShapeError('shapes differ'))), { message: /names no operation/ })
  await t.throwsAsync(judge(thrown(new ft.DisposedError(''))), { message: /names no operation/ })
  await t.throwsAsync(judge(() => Promise.reject(new TypeError('late'))), { message: /no TensorError/ })
})

test('a tensor that disagrees with itself is a violation', async (t) => {
  const forged = (changes: object): (() => unknown) => () => Object.defineProperties(ft.ones([2, 3]), Object.getOwnPropertyDescriptors(changes))
  for (const changes of [{ shape: [2, 3] }, { shape: Object.freeze([3, 3]) }, { ndim: 1 }, { size: 5 }, { dtype: 'float' }, { device: 'abacus' }]) {
    await t.throwsAsync(judge(forged(changes)), undefined, JSON.stringify(changes))
  }
  // A read that gives too little, whichever reader is chosen.
  const short = forged({ dataSync: () => new Float32Array(5), data: async () => new Float32Array(5), toBytes: () => new Uint8Array(5), toArray: thrown(new TypeError('x')), toJSON: thrown(new TypeError('x')) })
  let found = 0
  for (let seed = 0; seed < 40; seed++) {
    await outcomeOf({ path: 'call', call: short }, [], new Random(seed), { enormous: false }).catch(() => found++)
  }
  t.true(found > 10, `${found} of 40`)
})

test('values and errors of ours pass', async (t) => {
  t.is(await judge(() => ft.ones([2, 3])), 'ok')
  t.is(await judge(() => ft.ones([2, 3]).topk(2)), 'ok')
  t.is(await judge(() => ft.ones([2]).add(ft.ones([3]))), 'ERR_SHAPE')
  t.is(await judge(() => ft.ones([2]).take(ft.tensor([5], { dtype: 'int32' }))), 'ERR_INDEX')
})

test('the same seed makes the same choices', (t) => {
  const draw = (seed: string) => {
    const rng = new Random(seed)
    return Array.from({ length: 20 }, () => rng.next())
  }
  t.deepEqual(draw('a/b/1'), draw('a/b/1'))
  t.notDeepEqual(draw('a/b/1'), draw('a/b/2'))
})
