// A program, not a test: calls everything the package shows and prints how each call ended. It runs where there is no native binary,
// beside an installed package (`surface.test.ts`); arguments are what plausible calls have, tensors among them that never had a value.

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import * as ft from 'ferrotensor'

/** How calls ended: `works`, an error's code, or for what is no error of this package its text. */
type Outcomes = Record<string, string[]>

const home = pathToFileURL(`${process.cwd()}/node_modules/ferrotensor/`)
const { DTYPE } = (await import(new URL('dist/lib/generated/dtypes.js', home).href)) as { DTYPE: Record<string, object> }

/** A tensor as operations record them: without native code there is no other way to one. */
function tensor(dtype = 'float32', shape: readonly number[] = [2, 3]): ft.Tensor {
  const size = shape.reduce((n, length) => n * length, 1)
  const type = { id: 0, row: DTYPE[dtype], shape, device: 0, size, bytes: 4 * size, kib: 0 }
  return new (ft.Tensor as unknown as new (...parts: unknown[]) => ft.Tensor)(type, null, null, null, null, null)
}

const indices = () => tensor('int32', [2])
const key = () => tensor('uint32', [2])
const layer = () => new ft.nn.Linear(3, 2)

/** Argument lists of plausible calls. */
const LISTS: readonly (() => unknown[])[] = [
  () => [],
  () => [tensor()],
  () => [tensor(), tensor()],
  () => [tensor(), tensor(), tensor()],
  () => [[tensor(), tensor()]],
  () => [tensor(), 0],
  () => [tensor(), [3, 2]],
  () => [tensor(), [3, 2], { dtype: 'float32' }],
  () => [[2, 3]],
  () => [[2, 3], 1],
  () => [new Float32Array(6), [2, 3]],
  () => [1],
  () => [2, 3],
  () => ['float32'],
  () => ['float32', 'float64'],
  () => ['cpu'],
  () => [() => tensor()],
  () => [() => tensor(), { a: tensor() }],
  () => [() => 1, [tensor()]],
  () => [async () => 1],
  () => ['x.npy', tensor()],
  () => ['x.npz', { a: tensor() }],
  () => [new Uint8Array(8)],
  () => ['allow'],
  () => [0, 1, 5],
  () => [{ a: tensor() }],
  () => [{ a: tensor() }, 1],
  () => [[2, 3], [[0, 1], [1, 1]], tensor()],
  () => [{ rows: 1, cols: 1, state: { sum: 'float32' }, ports: {}, step: (state: object) => [state] }],
  () => [tensor(), 0, 1],
  () => [tensor(), 0, { size: 2, step: 1 }],
  () => [tensor(), indices()],
  () => [indices()],
  () => [indices(), tensor()],
  () => [indices(), 3],
  () => [tensor(), indices(), { segments: 2 }],
  () => [tensor(), { size: 2 }],
  () => [tensor(), 2, { axis: 0 }],
  () => [key()],
  () => [key(), 2],
  () => [key(), [2, 3]],
  () => [key(), 0.5, [2]],
  () => [key(), 0.5, 0.5, [2]],
  () => [key(), 0, 9, [2]],
  () => [key(), tensor()],
  () => [key(), tensor(), 0.5],
  () => [key(), layer()],
  () => [tensor(), 'a b -> b a'],
  () => [tensor(), 'a b -> b', 'sum'],
  () => [tensor(), 4],
  () => [tensor('float32', [3]), tensor('float32', [3]), 1],
  () => [tensor('float32', [3]), tensor()],
  () => [tensor('float32', [2, 4])],
  () => [tensor(), tensor(), indices()],
  () => [tensor('float32', [2, 1, 3]), tensor('float32', [2, 1, 3]), tensor('float32', [2, 1, 3])],
  () => [4, 0.5],
  () => [[1], [1, 0.5], tensor()],
  () => [[[1, 0, 0, 1, 0, 0]], tensor()],
  () => [tensor('float32', [5])],
  () => [tensor('complex64', [3, 5]), 4],
  () => [[3]],
  () => [0, tensor('int32')],
  () => [0, 0, 1],
  () => [0, 9, [2]],
  () => [0.5, [2]],
  () => [0.5, 0.5, [2]],
  () => [5, 0.5, [2]],
  () => [layer(), key()],
  () => [layer(), { weight: tensor() }],
  () => [{ weight: tensor(), bias: tensor('float32', [2]) }, tensor()],
  () => [(x: ft.Tensor) => ft.sum(x), [tensor()]],
  () => [(x: ft.Tensor) => ft.sum(x), [tensor()], [tensor()]],
  () => [tensor(), 0, (a: ft.Tensor, b: ft.Tensor) => ft.add(a, b)],
  () => [tensor(), 0, (a: ft.Tensor, b: ft.Tensor) => ft.add(a, b), { window: 2 }],
  () => [2, 4, 3],
  () => [2, 4, { kernel: 3 }],
  () => [4, { heads: 2 }],
  () => [4, 2],
  () => [tensor(), { share: 0.5 }],
  () => [key(), tensor(), [2]],
  () => [key(), tensor('float32', [2]), tensor('float32', [2, 2])],
  () => [2, 4],
  () => [tensor('float32', [1, 2, 3]), [1, 1, 2, 3]],
  () => [tensor('float32', [2]), tensor('float32', [3]), tensor('float32', [4, 2, 3])],
  () => [key(), tensor('float32', [1, 2, 3])],
  () => [tensor('float32', [3, 1, 2]), tensor('int32', [1, 2]), tensor('int32', [1]), tensor('int32', [1])],
  () => [tensor('float32', [4, 4, 4]), 2],
  () => [tensor('float32', [4, 1]), 2, 2],
  () => [tensor('float32', [1, 1, 2, 2]), tensor('float32', [1, 1, 1, 2])],
  () => [tensor('float32', [1, 1, 2]), tensor('int32', [1, 1, 2]), 2],
  () => [key(), 0, 1, 2, [2]],
  () => [() => tensor(), 0, tensor()],
  () => [() => 1, [2]],
  () => [[indices(), indices()], [2, 3]],
  () => [0, indices(), tensor('float32', [2]), 'sum'],
  () => [0, [2]],
  () => [{ kind: 'ferrotensor.shared', token: 1, dtype: 'float32', shape: [2] }]
]

const outcomes: Outcomes = {}
const pending: Promise<void>[] = []

/** Why there is no native code, without the name that leads it: functions that are made of others put theirs there. */
const reason = (ft.devices()[0] as ft.AbsentDevice).reason.replace('ferrotensor: ', '')

function codeOf(error: unknown): string {
  if (!(error instanceof ft.TensorError)) return inspect(error)
  if (error instanceof ft.BackendUnavailableError && !error.message.endsWith(reason)) return `another reason: ${error.message}`
  return error.code
}

function note(path: string, outcome: string): void {
  const list = (outcomes[path] ??= [])
  if (!list.includes(outcome)) list.push(outcome)
}

const isLazy = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && !Array.isArray(value) && !(value instanceof ft.Tensor)

/** A call, and where it gives a function, a sequence or a promise what comes of that. */
function attempt(path: string, call: () => unknown): void {
  try {
    const value = call()
    if (value instanceof Promise) {
      pending.push(value.then(() => note(path, 'works'), (error: unknown) => note(path, `rejects ${codeOf(error)}`)))
    } else if (typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value))) {
      note(path, 'a function')
      attempt(`${path}()`, () => (value as (x: unknown) => unknown)(tensor()))
    } else {
      note(path, 'works')
      if (isLazy(value)) attempt(`${path}()`, () => [...value])
    }
  } catch (error) {
    note(path, codeOf(error))
  }
}

/** Whether a function is called by its own name: names of other libraries are the same functions, or say what to write. */
const isOwn = (name: string, value: { readonly name: string }): boolean => !('instead' in value) && [name, `${name}_`].includes(value.name)

const isClass = (value: object): boolean => /^class\b/.test(Function.prototype.toString.call(value))

/** Everything on an object's prototypes, called on it. */
function members(path: string, make: () => object): void {
  for (let holder: object = make(); holder !== Object.prototype; holder = Object.getPrototypeOf(holder) as object) {
    for (const [key, { get, value }] of Reflect.ownKeys(holder).map((key) => [key, Object.getOwnPropertyDescriptor(holder, key) as PropertyDescriptor] as const)) {
      const name = `${path}.${String(key)}`
      if (get !== undefined) attempt(name, () => Reflect.get(make(), key) as unknown)
      else if (typeof value === 'function' && key !== 'constructor' && (typeof key === 'symbol' || isOwn(key, value as () => unknown))) {
        for (const list of LISTS) attempt(name, () => (value as (...args: unknown[]) => unknown).apply(make(), list()))
      }
    }
  }
}

function surface(space: object, prefix = ''): void {
  for (const [name, value] of Object.entries(space) as [string, unknown][]) {
    const path = prefix + name
    if (typeof value === 'object' && value !== null) surface(value, `${path}.`)
    else if (typeof value !== 'function' || !isOwn(name, value as () => unknown)) continue
    else if (!isClass(value)) for (const list of LISTS) attempt(path, () => (value as (...args: unknown[]) => unknown)(...list()))
    else if (name !== 'Tensor' && name !== 'Profile' && name !== 'Plan') for (const list of LISTS) attempt(`new ${path}`, () => new (value as new (...args: unknown[]) => object)(...list()))
  }
}

surface(ft)
members('Tensor', tensor)
members('Tensor', () => tensor('float32', []))
members('Tensor', indices)
members('Generator', () => new (ft.random.Generator as unknown as new (key: ft.Tensor) => object)(key()))
members('Linear', layer)
members('Optimiser', () => ft.optim.adam())
/** Examples of the documentation: calls that work where there is a binary. */
const examples = [...readFileSync(new URL('index.d.ts', home), 'utf8').matchAll(/```ts\n\s*\* (.+) \/\/ .+\n\s*\* ```/g)].map(([, code]) => code as string)
for (const code of examples) attempt(`example ${code}`, new Function('ft', `return (${code})`).bind(null, ft) as () => unknown)
await Promise.all(pending)
console.log(JSON.stringify(outcomes))
