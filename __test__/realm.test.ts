// Values that another realm made are what they are: a context of node:vm has arrays, objects, maps, errors, promises, buffers and URLs of
// classes of its own, as Jest's tests do. Every case is written once, made in this realm and in two others, and must come to the same.
// runs on: node

import { inspect } from 'node:util'
import { createContext, runInContext, runInThisContext } from 'node:vm'
import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { folder } from './io/folder.js'

const at = folder()

/** The same source in this realm and in another. */
type Realm = (source: string) => unknown

/** A realm without anything of Node's. */
function bare(): Realm {
  const context = createContext({ ft })
  return (source) => runInContext(source, context) as unknown
}

/** A realm that has this one's globals, its classes excepted, as Jest's environment has. */
function environment(): Realm {
  const context = createContext({ ft, URL, Buffer, structuredClone, AbortController, TextEncoder })
  return (source) => runInContext(source, context) as unknown
}

const here: Realm = (source) => {
  Object.assign(globalThis, { ft })
  return runInThisContext(source)
}

/** A result that can be compared: tensors as what they hold, whatever stands around them. */
function told(value: unknown): unknown {
  if (value instanceof ft.Tensor) return { dtype: value.dtype, elements: value.toArray() }
  if (Array.isArray(value)) return Array.from(value, told)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, told(item)]))
}

/** What a call comes to: what it returns, or the error it is. */
async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return told(await call())
  } catch (error) {
    const { name, message } = error as Error
    return { name, message }
  }
}

/** What is made in a realm, and what this one does with it: `v`, beside `x`, a tensor of three numbers. */
type Case = readonly [what: string, source: string, use: string]

const x = ft.tensor([1, 2, 3])
const tree = '({ w: ft.tensor([1, 2]), layers: [{ b: ft.tensor(3) }, null], rate: 0.5, of: Object.assign(Object.create(null), { c: ft.ones([1]) }) })'

const CASES: readonly Case[] = [
  // Arrays and typed arrays as data.
  ['nested arrays', '[[1, 2], [3, 4]]', 'ft.tensor(v)'],
  ['complex numbers', '[{ re: 1, im: 2 }]', 'ft.tensor(v)'],
  ['a ragged array', '[[1, 2], [3]]', 'ft.tensor(v)'],
  ['an array of what is no number', '[new Date(0)]', 'ft.tensor(v)'],
  ['a typed array', 'new Float32Array([1, 2])', 'ft.fromTypedArray(v)'],
  ['bigints', 'new BigInt64Array([1n])', 'ft.fromTypedArray(v)'],
  ['a view of shared memory', 'new Int32Array(new SharedArrayBuffer(8))', 'ft.fromTypedArray(v)'],
  ['a DataView', 'new DataView(new ArrayBuffer(4))', "ft.fromTypedArray(v, [1], { dtype: 'float32' })"],
  ['an ArrayBuffer', 'new ArrayBuffer(4)', "ft.fromTypedArray(v, [1], { dtype: 'float32' })"],
  ['an array where a typed array belongs', '[1]', 'ft.fromTypedArray(v)'],
  ['flat arrays', 'new Float64Array([1, 2])', 'ft.backends.pure.add(v, v)'],
  ['a flat array of another kind', '[1, 2]', 'ft.backends.pure.add(v, v)'],
  // Options, shapes, axes, lists of tensors.
  ['options', "({ dtype: 'int8' })", 'ft.tensor([1], v)'],
  ['an unknown option', '({ dtypo: 1 })', 'ft.tensor([1], v)'],
  ['an array in the place of options', '[1]', 'ft.tensor([1], v)'],
  ['a map in the place of options', 'new Map()', 'ft.tensor([1], v)'],
  ['a shape', '[2, 2]', 'ft.zeros(v)'],
  ['axes', '[0]', 'x.sum(v)'],
  ['a list of tensors', '[ft.ones([1]), ft.zeros([1])]', 'ft.concat(v)'],
  ['positions', '[2, 0]', 'x.at(v)'],
  ['numbers of an index', 'new Int32Array([2, 0])', 'x.take(ft.fromTypedArray(v))'],
  ['pairs', '[[1, 0]]', 'ft.pad(x, v)'],
  // Trees of tensors.
  ['leaves', tree, 'ft.tree.leaves(v)'],
  ['a mapped tree', tree, 'ft.tree.map((leaf) => leaf.mul(2), v)'],
  ['a flat tree', tree, 'ft.tree.flatten(v)[0]'],
  ['two trees', '({ a: [ft.ones([1])] })', 'ft.tree.map((a, b) => a.add(b), v, { a: [ft.ones([1])] })'],
  ['a tree that contains itself', '(() => { const a = {}; a.a = a; return a })()', 'ft.tree.leaves(v)'],
  ['tensors that hide in a map', 'new Map([[1, ft.ones([1])]])', 'ft.tree.leaves(v)'],
  ['tensors that hide in a set', 'new Set([ft.ones([1])])', 'ft.tree.leaves({ v })'],
  ['tensors that hide in an instance', 'new (class Net { w = ft.ones([1]) })()', 'ft.tree.leaves(v)'],
  ['what says that it is plain', '({ __proto__: { __proto__: null, constructor: Object }, w: ft.ones([1]) })', 'ft.tree.leaves(v)'],
  ['registering Object', 'Object', 'ft.tree.register(v, { flatten: () => [], unflatten: () => ({}) })'],
  ['registering Array', 'Array', 'ft.tree.register(v, { flatten: () => [], unflatten: () => [] })'],
  ['what a class is taken apart into', '() => ({ w: ft.ones([1]) })', `(() => {
    class Own {}
    ft.tree.register(Own, { flatten: v, unflatten: () => new Own() })
    return ft.tree.leaves(new Own())
  })()`],
  ['gradients', '({ w: ft.tensor([1, 2]), b: [ft.tensor(3)] })', 'ft.grad(({ w, b }) => w.mul(w).sum().mul(b[0]))(v)'],
  ['jit', '({ w: ft.tensor([1, 2]), k: 3 })', 'ft.jit(({ w, k }) => ({ y: w.mul(k) }))(v)'],
  ['an optimiser', '({ w: ft.tensor([1, 2]) })', '(() => { const rule = ft.optim.adam(); return rule.step(v, v, rule.init(v))[0] })()'],
  ['batches', '({ x: ft.arange(5) })', '[...ft.data.batches(v, { size: 2 })]'],
  // Functions and what they return.
  ['a scope that returns a tree', '() => ({ w: ft.ones([2]).add(1), list: [ft.ones([1])] })', 'ft.scope(v)'],
  ['a scope that returns a promise', '() => Promise.resolve(1)', 'ft.scope(v)'],
  ['a scope of a promise', 'async ({ track }) => ({ w: track(ft.ones([2])) })', 'ft.scopeAsync(v)'],
  ['a gradient of a promise', 'async (x) => x', 'ft.grad(v)(x)'],
  ['detectNaN of a promise', 'async () => 1', 'ft.detectNaN(v)'],
  ['a traced function that returns a tree', '(x) => ({ y: [x.add(1)] })', 'ft.jit(v)(x)'],
  ['a traced promise', 'async (x) => x', 'ft.jit(v)(x)'],
  ['elements that are trees', '({ a: ft.tensor([1, 2]) })', 'ft.associativeScan((a, b) => ({ a: a.a.add(b.a) }), v)'],
  ['a combiner that returns a tree', '(a, b) => ({ a: a.a.add(b.a) })', 'ft.associativeScan(v, { a: x })'],
  // Layers and files.
  ['parameters', '({ weight: ft.ones([1, 3]), bias: ft.zeros([1]) })', 'new ft.nn.Linear(3, 1).apply(v, x.reshape([1, 3]))'],
  ['a state dict', '({ layers: [{ weight: ft.ones([1, 3]) }] })', 'ft.nn.stateDict(v)'],
  ['tensors by name', '({ a: ft.ones([1]) })', 'ft.io.loadNpzSync(ft.io.encodeNpzSync(v))'],
  ['a list in the place of names', '[ft.ones([1])]', 'ft.io.encodeNpzSync(v)'],
  ['bytes of a file', 'new Uint8Array(ft.io.encodeNpySync(ft.ones([2])))', 'ft.io.loadNpySync(v)'],
  ['a buffer of a file', 'new Uint8Array(ft.io.encodeNpySync(ft.ones([2]))).buffer', 'ft.io.loadNpySync(v)'],
  ['texts', "['a', 'b']", 'new TextDecoder().decode(ft.io.encodeTextSync(ft.ones([1, 2]), { header: v }))'],
  ['metadata', "({ format: 'pt' })", 'ft.io.openSafetensorsSync(ft.io.encodeSafetensorsSync({ x }, { metadata: v })).metadata']
]

const same = async (t: ExecutionContext, [what, source, use]: Case): Promise<void> => {
  const used = new Function('ft', 'x', 'v', `return ${use}`) as (...given: unknown[]) => unknown
  const expected = await outcome(() => used(ft, x, here(source)))
  t.false(/ReferenceError|SyntaxError|is not a function/.test(inspect(expected)), inspect(expected))
  for (const realm of [bare(), environment()]) t.deepEqual(await outcome(() => used(ft, x, realm(source))), expected, what)
}

for (const each of CASES) test(`of any realm: ${each[0]}`, async (t) => same(t, each))

test('a URL by what it has, of any class', async (t) => {
  const path = at('x.npy')
  ft.io.saveNpySync(path, x)
  const own = new URL(`file://${path}`)
  for (const url of [own, { href: own.href, protocol: 'file:' }, bare()(`(class URL { href = '${own.href}'; protocol = 'file:' })`)]) {
    const given = typeof url === 'function' ? new (url as new () => URL)() : url
    t.deepEqual(ft.io.loadNpySync(given as URL).toArray(), [1, 2, 3])
  }
  for (const wrong of [{ href: 'nowhere', protocol: 'file:' }, { href: 'http://x/y', protocol: 'http:' }, {}]) {
    t.throws(() => ft.io.loadNpySync(wrong as URL), { code: 'ERR_ARGUMENT' })
  }
})

test("a scope frees what is not returned, and keeps what another realm's objects hold", (t) => {
  const realm = bare()
  let dropped = x as ft.Tensor
  const kept = ft.scope(() => {
    dropped = ft.ones([2]).add(1)
    ft.evaluateSync(dropped)
    return (realm('(w) => ({ w, list: [w] })') as (w: ft.Tensor) => { w: ft.Tensor; list: ft.Tensor[] })(ft.ones([2]).mul(3))
  })
  t.deepEqual(kept.w.toArray(), [3, 3])
  t.is(kept.list[0], kept.w)
  t.throws(() => dropped.toArray(), { code: 'ERR_DISPOSED' })
})

test("what is thrown in another realm passes through as it is", async (t) => {
  const realm = bare()
  const throwing = realm("() => { throw new RangeError('theirs') }") as (...given: unknown[]) => never
  const theirs = realm('RangeError') as new () => Error
  for (const call of [() => ft.scope(throwing), () => ft.grad(throwing)(x as never), () => ft.jit(throwing)(x as never), () => ft.detectNaN(throwing)]) {
    const error = t.throws(call, { any: true }) as Error
    t.true(error instanceof theirs)
    t.is(error.message, 'theirs')
  }
  await t.throwsAsync(async () => ft.scopeAsync(realm("async () => { throw new RangeError('theirs') }") as () => Promise<never>), { any: true, message: 'theirs' })
})
