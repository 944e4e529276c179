// The published declarations in a project of their own, with every declaration file checked. `consumer/types` says of every function
// what comes out, which the compiler and a run must agree on, and what must not compile.
// runs on: host

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import * as ft from 'ferrotensor'
import { dtype } from './consumer/expectations.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const sources = new URL('../../__test__/consumer/types/', import.meta.url)
const families = readdirSync(sources).map((name) => name.replace(/\.ts$/, ''))

test('a consumer compiles with skipLibCheck off, and its expected errors are errors', (t) => {
  const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', new URL('../../', import.meta.url)))
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', '__test__/consumer'], { cwd: root, encoding: 'utf8' })
  t.is(status, 0, stdout)
})

for (const family of families) {
  test(`dtypes of ${family} are those of their types`, async (t) => {
    const { results } = (await import(`./consumer/types/${family}.js`)) as { results(): Promise<void> | void }
    await t.notThrowsAsync(async () => results())
  })
}

test('a dtype that is not that of the type is seen', (t) => {
  const x = ft.ones([2])
  t.throws(() => dtype('float64', x as ft.Tensor as ft.Tensor<'float64'>), { message: /says float64, the tensor is float32/ })
  t.throws(() => dtype(['int8'], [x as ft.Tensor as ft.Tensor<'int8'>] as const), { message: /says int8/ })
  t.throws(() => dtype({ x: 'int8' }, { x: x as ft.Tensor as ft.Tensor<'int8'> }), { message: /says int8/ })
  t.throws(() => dtype('int8', [] as ft.Tensor<'int8'>[]), { message: /nothing to compare/ })
})

/** Lines that say what comes out. */
const positive = families.flatMap((family) => readFileSync(new URL(`${family}.ts`, sources), 'utf8').match(/^ *(dtype\(|is<|(await )?ft\.evaluate).*/gm) ?? [])

/** Whether a function is called by its own name: names of other libraries are the same functions, or say what to write. */
const isOwn = (name: string, value: { readonly name: string }): boolean => !('instead' in value) && [name, `${name}_`].includes(value.name)

/** Names of a namespace's functions; those that the root shows too are looked for there. */
function functions(space: object): string[] {
  const own = Object.entries(space).filter(([name, value]) => typeof value === 'function' && /^[a-z]/.test(name) && isOwn(name, value as () => unknown))
  return own.filter(([name, value]) => space === ft || (ft as unknown as Record<string, unknown>)[name] !== value).map(([name]) => name)
}

/** Names of a class's methods and properties, its bases' too; not the positions that brackets are refused at. */
function members(prototype: object): string[] {
  const base = Object.getPrototypeOf(prototype) as object
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, { value }]) => (name === 'constructor' || /^-?\d/.test(name) || (typeof value === 'function' && !isOwn(name, value as () => unknown)) ? [] : [name]))
  return base === Object.prototype ? own : [...own, ...members(base)]
}

test('every function has a line that says what comes out', (t) => {
  const spaces = { ft, 'ft.data': ft.data, 'ft.einops': ft.einops, 'ft.fft': ft.fft, 'ft.io': ft.io, 'ft.linalg': ft.linalg, 'ft.nn': ft.nn, 'ft.optim': ft.optim, 'ft.random': ft.random, 'ft.signal': ft.signal, 'ft.systolic': ft.systolic, 'ft.tree': ft.tree }
  const names = Object.entries(spaces).flatMap(([path, space]) => functions(space).map((name) => `${path}.${name}(`))
  t.deepEqual(names.filter((name) => !positive.some((line) => line.includes(name))), [])
  t.true(names.length > 350, String(names.length))
})

test('every method has one too', (t) => {
  const names = [...members(ft.Tensor.prototype), ...members(ft.random.Generator.prototype)]
  const called = new Set(positive.flatMap((line) => [...line.matchAll(/(?<!\bft|\bft\.\w+)\.(\w+)/g)].map(([, name]) => name)))
  t.deepEqual(names.filter((name) => !called.has(name)), [])
  t.true(names.length > 200, String(names.length))
})
