// Values that no honest caller passes: what stands in their place must throw a typed error, or work.

import { DTYPES } from '../../dist/lib/generated/dtypes.js'
import * as ft from 'ferrotensor'

/** What the caller's own getters and callbacks throw; it must come through unchanged. */
export class Mine extends Error {}

const throwing = () => {
  throw new Mine('thrown by the caller')
}

export const DTYPE_NAMES = DTYPES.map(({ name }) => name)

const NUMBERS = [NaN, -0, Infinity, -Infinity, 0.5, -1.5, -1, -2, 33, 1e9, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 40, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e300, 5e-324]
const BIGINTS = [0n, -1n, 2n ** 31n, 2n ** 53n + 1n, 2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n, 10n ** 400n]
const TEXTS = ['', ' ', '\ud800', '\udfff\ud800', '\0', '0', '1', 'NaN', '-1:', ':::', '0,'.repeat(40), '__proto__', 'constructor', 'toString', 'float32 ', 'Float32', 'cpu:7', 'cuda:0', 'vulkan', 'abacus', 'é'.repeat(1000)]

const huge = [[1e9], [2 ** 53 - 1], [2 ** 53], [2 ** 40], [1e5, 1e5], [2 ** 31, 2 ** 31], [2 ** 53 - 1, 2 ** 53 - 1, 0], [0, 2 ** 60]]

const detached = () => {
  const array = new Float32Array(4)
  structuredClone(array.buffer, { transfer: [array.buffer] })
  return array
}

/** A view that its buffer has become too small for. */
const outOfBounds = () => {
  const buffer = new ArrayBuffer(32, { maxByteLength: 64 })
  const array = new Float32Array(buffer, 8, 4)
  buffer.resize(4)
  return array
}

const resizable = () => new Int16Array(new ArrayBuffer(8, { maxByteLength: 64 }))

class OddArray extends Float32Array {
  get length() {
    return 1e6
  }
}

const cyclic = () => {
  const list = [1]
  list.push(list)
  return list
}

const deep = (levels) => {
  let value = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

const revoked = (target) => {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

/** An element that is another one at each look. */
const shifting = (first, then) => {
  const list = [first, first]
  let looks = 0
  Object.defineProperty(list, 0, { enumerable: true, get: () => (looks++ === 0 ? first : then) })
  return list
}

const trapped = new Proxy({}, { get: () => throwing })
const throwingProxy = (target) => new Proxy(target, trapped)

/** A number that trips code, and a text. */
export const hostileNumber = (rng) => rng.pick(NUMBERS)
export const hostileText = (rng) => rng.pick(TEXTS)

/** Things of no kind that any parameter takes. */
const STRANGE = [
  (rng) => rng.pick([undefined, null, true, false]),
  (rng) => rng.pick(NUMBERS),
  (rng) => rng.pick(BIGINTS),
  (rng) => rng.pick(TEXTS),
  (rng) => rng.pick([Symbol('s'), Symbol.iterator]),
  (rng) => rng.pick([() => 1, throwing, class {}, async () => 1, function* () {}]),
  (rng) => rng.pick([{}, Object.create(null), new Map([[0, 1]]), new Date(0), /x/, new Number(3), new String('int32'), new Error('x'), Promise.resolve(1), globalThis]),
  () => ({ valueOf: throwing, toString: throwing, [Symbol.toPrimitive]: throwing }),
  () => ({ get constructor() { throw new Mine('constructor') } }),
  (rng) => ({ kind: 'ferrotensor.shared', token: rng.pick(NUMBERS) }),
  () => {
    let looks = 0
    return { kind: 'ferrotensor.shared', get token() { return looks++ === 0 ? 1 : 'x' } }
  },
  (rng) => revoked(rng.pick([{}, [], () => 1])),
  (rng) => throwingProxy(rng.pick([{}, [], () => 1]))
]

const LISTS = [
  () => [],
  (rng) => [rng.pick(NUMBERS)],
  (rng) => [1, rng.pick(NUMBERS)],
  (rng) => [rng.pick([null, '1', 1n, true, Symbol('s'), {}, [1], undefined])],
  (rng) => new Array(rng.pick([1, 3, 33, 2 ** 32 - 1])),
  () => [1, , 3],
  (rng) => new Array(rng.pick([32, 33, 100])).fill(1),
  (rng) => rng.pick(huge),
  () => [0, 0],
  (rng) => rng.pick([[[1, 2], [3]], [[1], 2], [1, [2]], [[], [1]], [[[]], []], [1, 2n], [1, true], [{ re: 1, im: 2 }, 3]]),
  (rng) => rng.pick([[{ re: 1 }], [{ re: 'a', im: 1 }], [{ re: 1, im: 2n }], [{ get re() { return throwing() }, im: 1 }]]),
  () => {
    let looks = 0
    return [{ re: 5, im: 6 }, { get re() { return looks++ === 0 ? 1 : Symbol('s') }, im: 2 }]
  },
  cyclic,
  (rng) => deep(rng.pick([32, 33, 34, 5000])),
  () => new Array(1e5).fill(new Array(1e6).fill(0)),
  (rng) => shifting(rng.pick([0, 1, 2]), rng.pick(['x', Symbol('s'), 1n, 1.5, NaN, [1], null, 1e9])),
  (rng) => Object.defineProperty([1, 2], rng.pick([0, 1, 'length', Symbol.iterator]), rng.pick([{ value: 7 }, { value: 0 }])),
  () => Object.defineProperty([1, 2], 0, { get: throwing }),
  () => {
    const list = [ft.ones([2]), ft.ones([2])]
    return Object.defineProperty([...list], 1, { get: () => (list[0].dispose(), list[1]) })
  },
  () => {
    const list = [1, 1, 1]
    return Object.defineProperty(list, 0, { get: () => ((list.length = 1), 1) })
  },
  (rng) => rng.pick([new Proxy([1, 2], {}), new Proxy([1], { get: (t, k) => (k === 'length' ? rng.pick([2 ** 53, -1, 'x', 1e7]) : t[k]) })]),
  () => Object.assign([2, 2], { __proto__: { length: 9 } }),
  () => ({ length: 2, 0: 1, 1: 2 }),
  () => [ft.ones([2]), ft.ones([2, 2])],
  () => [ft.ones([2]), null],
  (rng) => new Array(rng.pick([2, 100])).fill(ft.ones([2]))
]

const BUFFERS = [
  detached,
  outOfBounds,
  resizable,
  () => detached().buffer,
  () => new OddArray(4),
  (rng) => new (rng.pick([Uint8Array, Float64Array, BigInt64Array, Uint8ClampedArray]))(rng.pick([0, 1, 4, 7])),
  (rng) => new Float32Array(new SharedArrayBuffer(rng.pick([0, 16]))),
  () => new SharedArrayBuffer(16, { maxByteLength: 64 }),
  (rng) => new ArrayBuffer(rng.pick([0, 7, 16])),
  (rng) => new DataView(new ArrayBuffer(rng.pick([0, 7, 16]))),
  () => new Uint8Array(new ArrayBuffer(9), 1),
  () => Buffer.from('text'),
  () => new Proxy(new Float32Array(2), {}),
  () => Object.defineProperty(new Float32Array(2), Symbol.toStringTag, { value: 'Float64Array' }),
  () => Object.defineProperty(new Float32Array(2), 'buffer', { get: throwing }),
  () => Object.create(Float32Array.prototype),
  () => ({ [Symbol.toStringTag]: 'ArrayBuffer', byteLength: 8 })
]

/** Tensors nobody expects: gone, failed, empty, of the wrong kind, or enormous. */
/** Long for its few bytes. */
const long = () => ft.ones([1]).broadcastTo([3e6])

const TENSORS = [
  () => {
    const x = ft.ones([2])
    x.dispose()
    return x
  },
  () => {
    let x
    ft.scope(() => void (x = ft.ones([2]).add(1)))
    return x
  },
  () => ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2])),
  () => ft.ones([2, 3]).take(ft.tensor([7], { dtype: 'int32' }), { axis: 0 }),
  () => ft.ones([]),
  (rng) => ft.zeros(rng.pick([[0], [3, 0, 2], [0, 1e9]])),
  () => ft.ones(new Array(32).fill(1)),
  (rng) => ft.ones(rng.pick([[7], [2, 3], [2, 2], [3, 2, 1], [1, 1, 1, 1, 5]])),
  (rng) => ft.ones([2], { dtype: rng.pick(DTYPE_NAMES) }),
  (rng) => ft.tensor([NaN, -Infinity, -0, 1e30]).astype(rng.pick(DTYPE_NAMES)),
  long,
  () => ft.random.key(7),
  () => new Proxy(ft.ones([2]), {}),
  () => Object.create(ft.ones([2]))
]

/** Too large to be computed: results on these are looked at, not read. */
const ENORMOUS = [() => ft.ones([1e9]), () => ft.ones([1]).broadcastTo([2 ** 40]), () => ft.ones([1]).broadcastTo([2 ** 53 - 1]), () => ft.zeros([2 ** 30, 2 ** 20, 0])]

/** A tensor nobody expects. `ctx.enormous` is set where results must not be computed. */
export function hostileTensor(rng, ctx) {
  ctx.enormous ||= rng.chance(0.1)
  return made(rng.pick(ctx.enormous ? ENORMOUS : TENSORS), rng, ctx)
}

/** A long tensor is made once a call: the work of a convolution is the product of its operands' lengths, hours of it with two. */
function made(make, rng, ctx) {
  if (make === long && ctx.long) return ft.ones([7])
  ctx.long ||= make === long
  return make(rng)
}

/** A hostile value in place of one of this kind. */
export function hostile(kind, rng, ctx) {
  if (kind === 'tensor' && rng.chance(0.6)) return hostileTensor(rng, ctx)
  const lists = { list: LISTS, buffer: BUFFERS }[kind]
  return made(rng.pick(lists !== undefined && rng.chance(0.6) ? lists : rng.chance(0.7) ? STRANGE : rng.pick([LISTS, BUFFERS, TENSORS])), rng, ctx)
}

/** Wrong, misspelled and booby-trapped forms of an options object. */
export function hostileOptions(names, options = {}, rng, operands) {
  const name = rng.pick(names)
  const good = options[name]
  const dispose = () => {
    for (const x of operands) if (x instanceof ft.Tensor) x.dispose()
    return good
  }
  return rng.pick([
    () => ({ ...options, [`${name}s`]: good }),
    () => ({ ...options, [name.toUpperCase()]: 1 }),
    () => JSON.parse('{"__proto__": {"axis": 0, "dtype": "int8"}}'),
    () => JSON.parse('{"constructor": {"prototype": {"polluted": 1}}}'),
    () => Object.create({ ...options, [name]: 'inherited' }),
    () => Object.defineProperty({ ...options }, name, { enumerable: true, get: throwing }),
    () => Object.defineProperty({ ...options }, name, { enumerable: true, get: dispose }),
    () => Object.defineProperty({ ...options }, name, { enumerable: true, get: () => (ft.tensor([[1, 2], [3, 4]]).sum(0).mul(2).dataSync(), good) }),
    () => Object.defineProperty({ ...options }, name, { enumerable: true, get: () => (ft.trim(), good) }),
    () => Object.defineProperty({ ...options }, name, { enumerable: true, get: () => (ft.config({ limit: 1, fusion: false }), good) }),
    () => new Proxy({ ...options }, {}),
    () => throwingProxy({ ...options }),
    () => revoked({ ...options }),
    () => Object.assign([], options),
    // A function has a `length` of its own, which is not assigned.
    () => Object.defineProperties(() => 1, Object.getOwnPropertyDescriptors(options)),
    () => ({ ...options, [Symbol('s')]: 1 }),
    () => rng.pick([null, 'axis', 1n, true, 0.5, -1, 1e9, Symbol('s')])
  ])()
}
