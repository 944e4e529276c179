// The boundary to native code, as ARCHITECTURE.md has it: each family of native functions is one module of `crates/node` and one file
// of `lib/native` of the same name, which know the same functions and no other family.
// runs on: musl; what a linker leaves out

import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { FAMILIES, FUNCTIONS } from '../lib/native/families.js'
import { absence, native } from '../lib/native.js'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

/** A row of the table of functions in `crates/node`: the family is the module, the definition is what it has there. */
interface Registered {
  readonly family: string
  readonly name: string
  readonly definition: string
}

/** The rows of `(c"name", module::definition)`. */
function registeredIn(source: string): Registered[] {
  const table = /const FUNCTIONS[^=]*= &\[(.*?)^\];/ms.exec(source)?.[1] ?? ''
  return [...table.matchAll(/\(c"(\w+)", (\w+)::(\w+)\)/g)].map(([, name = '', family = '', definition = '']) => ({ name, family, definition }))
}

/** Names by family, in order of both. */
function byFamily(rows: readonly Registered[]): [family: string, names: string[]][] {
  const families = [...new Set(rows.map(({ family }) => family))].sort()
  return families.map((family) => [family, rows.filter((row) => row.family === family).map(({ name }) => name).sort()])
}

/** Families that a file of `lib/native` imports. */
const importsOf = (source: string): string[] => [...source.matchAll(/from '\.\/(\w+)\.js'/g)].map(([, name = '']) => name)

const registered = registeredIn(read('crates/node/src/lib.rs'))
const families = Object.keys(FAMILIES).sort()

test('both sides know the same families, and each family the same functions', (t) => {
  t.deepEqual(byFamily(registered), Object.entries(FAMILIES).sort(([a], [b]) => (a < b ? -1 : 1)).map(([family, names]) => [family, Object.keys(names).sort()]))
})

test('each function is defined in the module of its family', (t) => {
  for (const { family, name, definition } of registered) t.regex(read(`crates/node/src/${family}.rs`), new RegExp(`^pub fn ${definition}\\(`, 'm'), name)
})

test('each family is one file of its name, which imports no other family', (t) => {
  const files = readdirSync(new URL('lib/native/', ROOT)).map((name) => name.replace('.ts', '')).filter((name) => name !== 'families')
  t.deepEqual(files.sort(), families)
  for (const family of families) {
    const source = read(`lib/native/${family}.ts`)
    t.deepEqual(importsOf(source), [], family)
    t.true(source.startsWith(`// Native functions of \`crates/node/src/${family}.rs\`: `), family)
  }
  t.deepEqual(importsOf(read('lib/native/families.ts')).sort(), families)
})

test('no function belongs to two families', (t) => {
  t.deepEqual([...new Set(FUNCTIONS)], FUNCTIONS)
})

test('the loaded module has these functions and no others', (t) => {
  t.is(absence, null)
  t.deepEqual(Object.keys(native).sort(), [...FUNCTIONS].sort())
})

test('a function that one side lacks would be noticed', (t) => {
  const table = 'const FUNCTIONS: &[(&CStr, Callback)] = &[\n    (c"share", share::share),\n    (c"wait", readback::wait),\n];'
  t.deepEqual(byFamily(registeredIn(table)), [['readback', ['wait']], ['share', ['share']]])
  t.true(registered.length > 40, 'the table was not found')
})
