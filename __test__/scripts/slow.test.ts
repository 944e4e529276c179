// The slow tier's results: what makes one stale, and what does not.
// runs on: host

import { readFileSync } from 'node:fs'
import test from 'ava'

type Source = string | { readonly path: string; readonly ending?: string; readonly having?: RegExp; readonly part?: RegExp }
interface Suite {
  readonly name: string
  readonly sources?: readonly Source[]
}
interface Results {
  readonly PENDING: readonly string[]
  textsOf(sources: readonly Source[], paths?: readonly string[], read?: (path: string) => string): [path: string, text: string][]
  problems(suites: readonly Suite[], results: Record<string, { hash: string }>, hash: (suite: Suite) => string): [name: string, problem: string | null][]
}

// This file runs as dist/__test__/scripts/slow.test.js.
const script = (name: string) => import(new URL(`../../../scripts/${name}.mjs`, import.meta.url).href)
const { textsOf, problems, PENDING } = (await script('slow/results')) as Results
const { SLOW } = (await script('slow/suites')) as { SLOW: readonly Suite[] }

const FILES: Record<string, string> = {
  'crates/a/src/lib.rs': 'unsafe fn f() {}',
  'crates/a/src/words.rs': 'fn g() {}',
  'crates/b/src/lib.rs': 'unsafe fn h() {}',
  'HOW.md': '# How\n\n## One\n\nfirst\n\n## Two\n\nsecond\n'
}
const texts = (...sources: Source[]) => textsOf(sources, Object.keys(FILES), (path) => FILES[path] as string)

test('sources are files by the beginning and the end of their paths, by what is in them, or parts of their texts', (t) => {
  t.deepEqual(texts('crates/b/', 'crates/a/').map(([path]) => path), ['crates/a/src/lib.rs', 'crates/a/src/words.rs', 'crates/b/src/lib.rs'])
  t.deepEqual(texts({ path: 'crates/', having: /\bunsafe\b/ }).map(([path]) => path), ['crates/a/src/lib.rs', 'crates/b/src/lib.rs'])
  t.deepEqual(texts({ path: 'crates/a/', ending: 'words.rs' }).map(([path]) => path), ['crates/a/src/words.rs'])
  t.deepEqual(texts({ path: 'HOW.md', part: /\n## One[^]*?(?=\n## )/ }), [['HOW.md', '\n## One\n\nfirst\n']])
})

test('a source that is gone is an error, not an empty hash', (t) => {
  t.throws(() => texts('crates/c/'), { message: /no file begins with crates\/c\// })
  t.throws(() => texts({ path: 'crates/', having: /nowhere/ }), { message: /nowhere/ })
  t.throws(() => texts({ path: 'HOW.md', part: /## Three/ }), { message: /has no part/ })
})

test('a result is current while the hash of its sources is', (t) => {
  const suites = [{ name: 'one', sources: ['crates/'] }, { name: 'two', sources: ['crates/'] }, { name: 'three', sources: ['crates/'] }, { name: 'keeps its own' }]
  const found = problems(suites, { one: { hash: 'now' }, two: { hash: 'before' } }, () => 'now')
  t.deepEqual(found.map(([name]) => name), ['one', 'two', 'three'])
  t.is(found[0]?.[1], null)
  t.regex(String(found[1]?.[1]), /have changed.*npm run test:slow -- 'two'/)
  t.regex(String(found[2]?.[1]), /has no result.*npm run test:slow -- 'three'/)
})

test('every suite of the slow tier has sources that exist, or keeps its results itself', (t) => {
  const own = SLOW.filter(({ sources }) => sources === undefined).map(({ name }) => name)
  t.deepEqual(own, ['mutants of every row', 'float32 functions, all inputs'])
  for (const { name, sources } of SLOW) if (sources !== undefined) t.true(textsOf(sources).length > 0, name)
  t.is(new Set(SLOW.map(({ name }) => name)).size, SLOW.length)
})

test('a suite has a result, or waits for its first one', (t) => {
  const results = JSON.parse(readFileSync(new URL('../../../scripts/slow/results.json', import.meta.url), 'utf8')) as Record<string, unknown>
  for (const { name, sources } of SLOW) if (sources !== undefined) t.not(name in results, PENDING.includes(name), name)
})
