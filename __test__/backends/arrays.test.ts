// What backends take and refuse: kinds of arrays, sizes, memory that is shared, detached or the caller's `out`, and arrays that change while
// an asynchronous call runs.
// runs on: node, blas

import { runInNewContext } from 'node:vm'
import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'
import { difference, numbers, present, type FloatArray } from './cases.js'

type Backend = ft.backends.Backend
type Loose = Record<string, (...args: unknown[]) => unknown>

/** The names of each backend's operations. */
const OPERATIONS = ['matmul', 'add', 'dot', 'sum', 'scale']

const [f32, f64] = [(...values: number[]) => new Float32Array(values), (...values: number[]) => new Float64Array(values)]

/** Asserts that a call is refused, in both forms; `op` in the message stands for either name. */
async function refused(t: ExecutionContext, backend: Backend, operation: string, code: string, message: string, args: () => unknown[]): Promise<void> {
  const about = `${backend.name}.${operation}`
  const loose = backend as unknown as Loose
  const check = (error: unknown, name: string): void => {
    if (!(error instanceof ft.TensorError)) throw new TypeError(`${about} threw ${String(error)}`)
    t.is(error.code, code, `${about}: ${error.message}`)
    t.true(error.message.startsWith(`backends.${name}: ${message}`), `${about}: ${error.message}`)
  }
  check(t.throws(() => loose[operation]?.(...args()), { any: true }, about), operation)
  check(await t.throwsAsync(async () => loose[`${operation}Async`]?.(...args()), { any: true }, about), `${operation}Async`)
}

/** Operands that fit: of `matmul` 2 x 2. */
const RIGHT: Readonly<Record<string, () => unknown[]>> = {
  matmul: () => [f32(1, 2, 3, 4), f32(5, 6, 7, 8), 2, 2, 2],
  add: () => [f32(1, 2), f32(3, 4)],
  dot: () => [f32(1, 2), f32(3, 4)],
  sum: () => [f32(1, 2)],
  scale: () => [f32(1, 2), 3]
}

/** The operands with one replaced. */
const replaced = (operation: string, at: number, value: unknown): unknown[] => RIGHT[operation]!().map((x, i) => (i === at ? value : x))

function detached(): Float32Array {
  const x = f32(1, 2)
  structuredClone(x.buffer, { transfer: [x.buffer as ArrayBuffer] })
  return x
}

type Resizable = ArrayBuffer & { resize(bytes: number): void }

function resizable(bytes: number, most: number): Resizable {
  return new (ArrayBuffer as unknown as new (length: number, options: { maxByteLength: number }) => Resizable)(bytes, { maxByteLength: most })
}

const NO_INTEGERS = [[1.5, '1.5'], [NaN, 'NaN'], [Infinity, 'Infinity'], ['2', "'2'"], [2n, '2n'], [undefined, 'undefined'], [2 ** 53, '9007199254740992', 'an integer within 2^53 - 1 of zero']] as const

const NO_ARRAYS: readonly (readonly [value: () => unknown, shown: string])[] = [
  [() => undefined, 'undefined'],
  [() => null, 'null'],
  [() => 5, '5'],
  [() => 'text', "'text'"],
  [() => Symbol('s'), 'a symbol'],
  [() => ({ length: 2, 0: 1, 1: 2 }), 'an Object'],
  [() => [1, 2], '[1, 2]; convert with Float32Array.from(a)'],
  [() => new Int32Array(2), 'an Int32Array; convert with Float32Array.from(a)'],
  [() => new BigInt64Array(2), 'a BigInt64Array; convert with Float64Array.from(a, Number)'],
  [() => Buffer.alloc(8), 'a Buffer; floats in bytes are new Float32Array(a.buffer, a.byteOffset, a.byteLength / 4)'],
  [() => new DataView(new ArrayBuffer(8)), 'a DataView; floats in bytes are new Float32Array(a.buffer, a.byteOffset, a.byteLength / 4)'],
  [() => new ArrayBuffer(8), 'an ArrayBuffer; write new Float32Array(a)'],
  [() => ft.ones([2]), 'a Tensor; read it with a.dataSync()'],
  [() => new Proxy(f32(1, 2), {}), 'a Float32Array'],
  [() => Object.create(Float32Array.prototype), 'a Float32Array']
]

for (const backend of present) {
  test(`${backend.name}: what is no array of floats is refused, with what to write instead`, async (t) => {
    for (const operation of OPERATIONS) {
      for (const [value, words] of NO_ARRAYS) {
        await refused(t, backend, operation, 'ERR_ARGUMENT', `'a' must be a Float32Array or a Float64Array, got ${words}`, () => replaced(operation, 0, value()))
      }
      await refused(t, backend, operation, 'ERR_ARGUMENT', "'a' must be a Float32Array or a Float64Array, got undefined", () => [])
    }
    await refused(t, backend, 'add', 'ERR_ARGUMENT', "'b' must be a Float32Array or a Float64Array, got [1]; convert with Float32Array.from(b)", () => [f32(1), [1]])
  })

  test(`${backend.name}: two precisions do not mix`, async (t) => {
    for (const operation of ['matmul', 'add', 'dot']) {
      const length = operation === 'matmul' ? 4 : 2
      const message = (narrow: string, wide: string) => `'${narrow}' is a Float32Array, '${wide}' a Float64Array; convert one of them`
      await refused(t, backend, operation, 'ERR_DTYPE', message('a', 'b'), () => replaced(operation, 1, new Float64Array(length)))
      await refused(t, backend, operation, 'ERR_DTYPE', message('b', 'a'), () => replaced(operation, 0, new Float64Array(length)))
    }
    await refused(t, backend, 'add', 'ERR_DTYPE', "'a' is a Float32Array, 'out' a Float64Array", () => [f32(1), f32(2), { out: f64(0) }])
    await refused(t, backend, 'scale', 'ERR_DTYPE', "'out' is a Float32Array, 'a' a Float64Array", () => [f64(1), 2, { out: f32(0) }])
  })

  test(`${backend.name}: lengths must fit each other and m, n, k`, async (t) => {
    const x = (length: number) => new Float32Array(length)
    await refused(t, backend, 'add', 'ERR_SHAPE', "lengths differ: 'a' has 2 elements, 'b' 3", () => [x(2), x(3)])
    await refused(t, backend, 'dot', 'ERR_SHAPE', "lengths differ: 'a' has 0 elements, 'b' 1", () => [x(0), x(1)])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', "'a' has 5 elements, m x k is 2 x 3 = 6", () => [x(5), x(12), 2, 4, 3])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', "'b' has 13 elements, k x n is 3 x 4 = 12", () => [x(6), x(13), 2, 4, 3])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', "'a' has 1 elements, m x k is 0 x 3 = 0", () => [x(1), x(3), 0, 1, 3])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', 'm is negative: -1', () => [x(1), x(1), -1, 1, 1])
    for (const [at, name] of [[2, 'm'], [3, 'n'], [4, 'k']] as const) {
      for (const [value, words, wanted = 'an integer'] of NO_INTEGERS) {
        await refused(t, backend, 'matmul', 'ERR_ARGUMENT', `'${name}' must be ${wanted}, got ${words}`, () => replaced('matmul', at, value))
      }
    }
    for (const [value, words] of [['2', "'2'"], [2n, '2n'], [undefined, 'undefined'], [null, 'null'], [f32(1), 'a Float32Array']] as const) {
      await refused(t, backend, 'scale', 'ERR_ARGUMENT', `'s' must be a number, got ${words}`, () => [x(1), value])
    }
  })

  test(`${backend.name}: sizes past 2^31 and 2^53 are refused before anything is allocated`, async (t) => {
    const none = f32()
    const [large, huge] = [2 ** 31, 2 ** 52]
    await refused(t, backend, 'matmul', 'ERR_SHAPE', "'a' of 4294967296 x 2147483648 would have more than 2^53 elements", () => [none, none, 2 ** 32, 0, large])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', "'b' of 2 x 4503599627370496 would have more than 2^53 elements", () => [none, none, 0, huge, 2])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', 'a result of 2147483648 x 2147483648 would have more than 2^53 elements', () => [none, none, large, large, 0])
    await refused(t, backend, 'matmul', 'ERR_OUT_OF_MEMORY', `JavaScript refuses a result of ${2 ** 51} elements of float32`, () => [none, none, large, 2 ** 20, 0])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', `'a' has 1 elements, m x k is ${large} x 4 = ${2 ** 33}`, () => [f32(1), none, large, 0, 4])
    // Not too large for arithmetic: sizes of 0 leave nothing.
    t.is((backend as unknown as Loose)['matmul']?.(none, none, 0, 0, huge) instanceof Float32Array, true)
  })

  test(`${backend.name}: detached buffers and views that no longer lie within theirs are refused`, async (t) => {
    for (const operation of ['add', 'dot', 'sum', 'scale']) {
      await refused(t, backend, operation, 'ERR_ARGUMENT', "the buffer under 'a' is detached or too small for it", () => replaced(operation, 0, detached()))
    }
    await refused(t, backend, 'add', 'ERR_ARGUMENT', "the buffer under 'out' is detached or too small for it", () => [f32(1, 2), f32(1, 2), { out: detached() }])
    for (const tracking of [true, false]) {
      const shrunk = () => {
        const buffer = resizable(16, 32)
        const x = tracking ? new Float32Array(buffer, 8) : new Float32Array(buffer, 8, 2)
        buffer.resize(4)
        return x
      }
      await refused(t, backend, 'sum', 'ERR_ARGUMENT', "the buffer under 'a' is detached or too small for it", () => [shrunk()])
    }
  })

  test(`${backend.name}: views, shared and resizable buffers, subclasses and arrays of other realms are taken`, async (t) => {
    const buffer = resizable(8, 64)
    const growing = new Float32Array(buffer)
    buffer.resize(16)
    growing.set([1, 2, 3, 4])
    const shared = new Float32Array(new SharedArrayBuffer(16))
    shared.set(growing)
    const foreign = runInNewContext('new Float32Array([1, 2, 3, 4])') as Float32Array
    class Mine extends Float32Array {
      override readonly length = 1e9 as never
    }
    const mine = Mine.from([1, 2, 3, 4]) as Float32Array
    const view = f32(0, 1, 2, 3, 4, 5).subarray(1, 5)
    for (const [what, x] of Object.entries({ growing, shared, foreign, mine, view })) {
      t.is(backend.sum(x), 10, what)
      t.is(await backend.sumAsync(x), 10, what)
      t.deepEqual(backend.matmul(x, x, 2, 2, 2), f32(7, 10, 15, 22), what)
      t.deepEqual(await backend.matmulAsync(x, x, 2, 2, 2), f32(7, 10, 15, 22), what)
      t.deepEqual(backend.scale(x, 2), f32(2, 4, 6, 8), what)
    }
    const out = new Float32Array(new SharedArrayBuffer(16))
    t.is(backend.add(view, view, { out }), out)
    t.deepEqual([...out], [2, 4, 6, 8])
    t.is(await backend.addAsync(shared, shared, { out: shared }), shared)
    t.deepEqual([...shared], [2, 4, 6, 8])
  })

  test(`${backend.name}: results go into out, which is returned`, async (t) => {
    const [a, b] = [f64(1, 2, 3, 4), f64(5, 6, 7, 8)]
    const memory = new Float64Array(12).fill(9)
    const out = memory.subarray(4, 8)
    const expected: readonly (readonly [call: () => unknown, values: number[]])[] = [
      [() => backend.matmul(a, b, 2, 2, 2, { out }), [19, 22, 43, 50]],
      [() => backend.matmulAsync(a, b, 2, 2, 2, { out }), [19, 22, 43, 50]],
      [() => backend.matmul(f64(), f64(), 2, 2, 0, { out }), [0, 0, 0, 0]],
      [() => backend.add(a, b, { out }), [6, 8, 10, 12]],
      [() => backend.matmulAsync(f64(), f64(), 2, 2, 0, { out }), [0, 0, 0, 0]],
      [() => backend.addAsync(a, b, { out }), [6, 8, 10, 12]],
      [() => backend.scale(a, 3, { out }), [3, 6, 9, 12]],
      [() => backend.scaleAsync(a, -3, { out }), [-3, -6, -9, -12]]
    ]
    for (const [call, values] of expected) {
      t.is(await call(), out)
      t.deepEqual([...memory], [9, 9, 9, 9, ...values, 9, 9, 9, 9])
    }
    t.deepEqual([[...a], [...b]], [[1, 2, 3, 4], [5, 6, 7, 8]], 'operands stay')
    await refused(t, backend, 'add', 'ERR_SHAPE', "'out' has 3 elements, the result 2", () => [f32(1, 2), f32(1, 2), { out: f32(0, 0, 0) }])
    await refused(t, backend, 'matmul', 'ERR_SHAPE', "'out' has 3 elements, the result 4", () => [...RIGHT['matmul']!(), { out: f32(0, 0, 0) }])
    await refused(t, backend, 'scale', 'ERR_ARGUMENT', "'out' must be a Float32Array or a Float64Array, got [0, 0]", () => [f32(1, 2), 2, { out: [0, 0] }])
  })

  test(`${backend.name}: out may be an operand where that is harmless, and nothing else that it overlaps`, async (t) => {
    const twice = f32(1, 2)
    t.deepEqual([...backend.add(twice, twice, { out: twice })], [2, 4])
    const x = f32(1, 2, 3)
    t.is(backend.scale(x, 2, { out: x }), x)
    t.is(await backend.scaleAsync(x, 2, { out: x }), x)
    // Another view of the same elements is the same memory.
    backend.add(x, f32(1, 1, 1), { out: new Float32Array(x.buffer) })
    t.deepEqual([...x], [5, 9, 13])
    const memory = new Float32Array(8)
    const part = (from: number, to: number) => memory.subarray(from, to)
    await refused(t, backend, 'add', 'ERR_ARGUMENT', "'out' shares memory with 'a'; it may be 'a' as a whole", () => [part(0, 2), f32(1, 2), { out: part(1, 3) }])
    await refused(t, backend, 'add', 'ERR_ARGUMENT', "'out' shares memory with 'b'", () => [part(1, 3), part(0, 2), { out: part(1, 3) }])
    await refused(t, backend, 'scale', 'ERR_ARGUMENT', "'out' shares memory with 'a'", () => [part(1, 3), 2, { out: part(0, 2) }])
    for (const at of [0, 1]) {
      const name = ['a', 'b'][at]
      await refused(t, backend, 'matmul', 'ERR_ARGUMENT', `'out' shares memory with '${name}'`, () => [...replaced('matmul', at, part(0, 4)), { out: part(0, 4) }])
      await refused(t, backend, 'matmul', 'ERR_ARGUMENT', `'out' shares memory with '${name}'`, () => [...replaced('matmul', at, part(0, 4)), { out: part(3, 7) }])
    }
    // Neighbours share nothing.
    t.notThrows(() => backend.add(part(0, 2), part(4, 6), { out: part(2, 4) }))
  })

  test(`${backend.name}: unknown options are named`, async (t) => {
    await refused(t, backend, 'add', 'ERR_ARGUMENT', "unknown option 'output'; did you mean 'out'?", () => [f32(1), f32(1), { output: f32(0) }])
    await refused(t, backend, 'add', 'ERR_ARGUMENT', "'options' must be an object", () => [f32(1), f32(1), f32(0)])
    await refused(t, backend, 'scale', 'ERR_ARGUMENT', "'options' must be an object", () => [f32(1), 1, 7])
    throws(t, 'ERR_ARGUMENT', /got a Float32Array; write \{ out: \.\.\. \}$/, () => (backend as unknown as Loose)['add']?.(f32(1), f32(1), f32(0)))
    throws(t, 'ERR_ARGUMENT', /^backends\.add: unknown option 'signal'/, () => (backend as unknown as Loose)['add']?.(f32(1), f32(1), { signal: undefined }))
  })

  test(`${backend.name}: operands may change, be transferred or freed while an asynchronous call runs`, async (t) => {
    const [m, n, k] = [66, 130, 67]
    const make = () => [numbers('float32', m * k, 1), numbers('float32', k * n, 2)] as const
    const [a, b] = make()
    const expected = backend.matmul(a as Float32Array, b as Float32Array, m, n, k)
    const running = backend.matmulAsync(a as Float32Array, b as Float32Array, m, n, k)
    a.fill(NaN)
    structuredClone(b.buffer, { transfer: [b.buffer as ArrayBuffer] })
    t.is(difference(await running, expected), null)
    const out = new Float32Array(2)
    const lost = backend.addAsync(f32(1, 2), f32(3, 4), { out })
    structuredClone(out.buffer, { transfer: [out.buffer] })
    const error = await t.throwsAsync(lost, { instanceOf: ft.ArgumentError })
    t.is(error?.message, "backends.addAsync: the buffer under 'out' is detached or too small for it")
    const buffer = resizable(8, 8)
    const tracking = new Float32Array(buffer)
    const short = backend.addAsync(f32(1, 2), f32(3, 4), { out: tracking })
    buffer.resize(4)
    t.is((await t.throwsAsync(short, { instanceOf: ft.ArgumentError }))?.message, "backends.addAsync: 'out' changed its length while its result was computed")
  })

  test(`${backend.name}: functions need no this`, (t) => {
    const { add, isAvailable, info } = backend
    t.deepEqual(add(f32(1), f32(2)), f32(3))
    t.true(isAvailable())
    t.is(info().name, backend.name)
  })
}

test('a result is not an operand', (t) => {
  const a: FloatArray = f32(1, 2)
  for (const backend of present) t.not(backend.scale(a as Float32Array, 1), a as Float32Array)
})
