// The table of planted faults (`scripts/planted.mjs`, of the slow tier) fits the sources: patches apply, switches are there, steps have
// their names.
// runs on: host

import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'

interface Patch {
  readonly file: string
  readonly find: string
  readonly replace: string
}
interface Fault {
  readonly name: string
  readonly class: string
  readonly by: readonly { readonly step: string; readonly command: readonly string[] }[]
  readonly patch?: Patch
  readonly why?: string
}

// This file runs as dist/__test__/scripts/planted.test.js.
const root = new URL('../../../', import.meta.url)
const load = async (path: string): Promise<unknown> => import(new URL(path, root).href)
const { FAULTS } = (await load('scripts/planted/faults.mjs')) as { FAULTS: readonly Fault[] }
const { misfit } = (await load('scripts/planted/tree.mjs')) as { misfit(patch: Patch, text: string): string | null }
const { suiteOf, testFiles } = (await load('scripts/planted/commands.mjs')) as { suiteOf(step: string): { command: readonly string[] } | undefined; testFiles(): string[] }
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const twice = (list: readonly string[]): string[] => list.filter((item, n) => list.indexOf(item) !== n)

/** The faults of crates/core/src/planted.rs. */
const switches = [...read('crates/core/src/planted.rs').matchAll(/^ {4}\(\s*"([\w-]+)",\s*"/gm)].map(([, name]) => name as string)

test('there are enough faults, each of a class of its own', (t) => {
  t.true(FAULTS.length >= 40, String(FAULTS.length))
  t.deepEqual(twice(FAULTS.map(({ name }) => name)), [])
  t.deepEqual(twice(FAULTS.map((fault) => fault.class)), [])
  t.deepEqual(FAULTS.filter(({ by }) => by.length === 0), [])
})

test('every patch applies once', (t) => {
  t.deepEqual(FAULTS.flatMap(({ patch }) => (patch === undefined ? [] : [misfit(patch, read(patch.file))])).filter((wrong) => wrong !== null), [])
  t.regex(misfit({ file: 'x', find: 'a', replace: 'b' }, 'aa') as string, /2 times, not once/)
  t.regex(misfit({ file: 'x', find: 'a', replace: 'a' }, 'a') as string, /nothing is replaced/)
})

test('every switch is in the table, in the list in Rust, and in the sources once', (t) => {
  const planted = FAULTS.filter(({ patch }) => patch === undefined).map(({ name }) => name)
  t.deepEqual([...planted].sort(), [...switches].sort())
  const sources = readdirSync(new URL('crates', root), { recursive: true, encoding: 'utf8' }).filter((path) => /^[\w-]+[\\/]src[\\/].*\.rs$/.test(path))
  const used = sources.flatMap((path) => [...read(`crates/${path}`).matchAll(/planted::is\(\s*"([\w-]+)"/g)].map(([, name]) => name as string))
  t.deepEqual(used.sort(), [...switches].sort())
})

test('every command is of a step that there is, and of test files that there are', (t) => {
  const entries = FAULTS.flatMap(({ by }) => by)
  t.deepEqual(entries.filter(({ step }) => suiteOf(step) === undefined), [])
  t.deepEqual(entries.filter(({ step, command }) => command[0] !== suiteOf(step)?.command[0]), [], 'another program than the step runs')
  const files = testFiles().map((path) => `dist/__test__/${path.replaceAll('\\', '/').replace(/\.ts$/, '.js')}`)
  const named = entries.flatMap(({ command }) => command.filter((word) => word.startsWith('dist/__test__/')))
  t.deepEqual(named.filter((path) => !files.includes(path)), [])
})
