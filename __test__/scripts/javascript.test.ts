// Every test file says where else than here it runs (`scripts/javascript.mjs`): one that forgot is refused, not left out unseen.
// runs on: host

import { readFileSync } from 'node:fs'
import test from 'ava'

interface TestFile {
  readonly name: string
  readonly compiled: string
  readonly environments: readonly string[]
}
interface Tags {
  readonly ENVIRONMENTS: Readonly<Record<string, string>>
  environmentsIn(text: string, file?: string): string[]
  filesFor(environment: string): string[]
  testFiles(): TestFile[]
  testsFor(environment: string, options?: { all?: boolean; flags?: string[] }): { args: string[]; note: string }
}

// This file runs as dist/__test__/scripts/javascript.test.js.
const { ENVIRONMENTS, environmentsIn, filesFor, testFiles, testsFor } = (await import(new URL('../../../scripts/javascript.mjs', import.meta.url).href)) as Tags

/**
 * The fewest files of each environment, and some that must be among them: no change of a tag should empty a suite unseen.
 */
const LEAST: Readonly<Record<string, readonly [files: number, among: readonly string[]]>> = {
  node: [20, ['backends/jobs', 'cli/terminal', 'creation', 'exit', 'lifecycle', 'loading', 'memory', 'memory-young', 'print', 'workers']],
  musl: [13, ['cli/terminal', 'exit', 'io/refused', 'lifecycle', 'loading', 'memory', 'no-binary/damaged', 'workers']],
  vulkan: [28, ['combine', 'creation', 'exit', 'gradients', 'indexing', 'jit', 'lifecycle', 'linalg', 'nn/layers', 'plan', 'profile/kernels', 'profile/trace', 'random', 'windows', 'workers']],
  blas: [10, ['backends/values', 'exit', 'linalg', 'loading', 'nn/layers', 'nn/pytorch']]
}

test('every test file says where it runs', (t) => {
  const files = testFiles()
  t.true(files.length > 60, String(files.length))
  t.true(files.some(({ environments }) => environments.length === 0))
  t.true(files.some(({ name, compiled }) => name === 'scripts/javascript' && compiled === 'dist/__test__/scripts/javascript.test.js'))
})

test('the longest files begin first', async (t) => {
  const { default: config } = (await import(new URL('../../../ava.config.mjs', import.meta.url).href)) as { default: { sortTestFiles(a: string, b: string): number } }
  const sorted = testFiles().map(({ compiled }) => `/${compiled}`).sort(config.sortTestFiles).map((path) => path.slice('/dist/__test__/'.length, -'.test.js'.length))
  t.deepEqual(sorted.slice(0, 2), ['memory', 'memory-young'])
  // The names of the list are of files that there are.
  const text = readFileSync(new URL('../../../ava.config.mjs', import.meta.url), 'utf8')
  const listed = [...(/const LONG = \[(.*?)\]/s.exec(text)?.[1] ?? '').matchAll(/'(.*?)'/g)].map(([, name]) => name)
  t.deepEqual(sorted.slice(0, listed.length), listed)
})

test('each environment has its files', (t) => {
  t.deepEqual(Object.keys(LEAST), Object.keys(ENVIRONMENTS))
  for (const [environment, [files, among]] of Object.entries(LEAST)) {
    const found = filesFor(environment)
    t.true(found.length >= files, `${environment}: ${found.length}`)
    t.deepEqual(among.filter((name) => !found.includes(`dist/__test__/${name}.test.js`)), [], environment)
  }
})

test('a tag names environments, or none', (t) => {
  t.deepEqual(environmentsIn('// What it is for.\n// runs on: node, musl\n\nimport test'), ['node', 'musl'])
  t.deepEqual(environmentsIn('// What it is for,\n// in two lines.\n// runs on: vulkan; why\n'), ['vulkan'])
  t.deepEqual(environmentsIn('// What it is for.\n// runs on: host\n'), [])
  t.deepEqual(environmentsIn('// What it is for.\n// runs on: host; why\n'), [])
})

test('a file without a tag, or with a wrong one, is refused by its name', (t) => {
  for (const text of [
    '', '// What it is for.\n\nimport test', '// runs on: node\n// runs on: musl\n', "import test\n// runs on: node\n", '// What it is for.\n\n// runs on: node\n',
    '// runs on:\n', '// Runs on: node\n', '// runs on: node;\n', '// runs on: node \n', '// runs on: nodes\n', '// runs on: node,musl\n', '// runs on: node, node\n', '// runs on: host, node\n', '// runs on: toString\n'
  ]) {
    t.throws(() => environmentsIn(text, '__test__/x.test.ts'), { message: /^__test__\/x\.test\.ts: / }, JSON.stringify(text))
  }
})

test('what is left out is told, and with `all` nothing is', (t) => {
  const every = testFiles().length
  const files = filesFor('musl')
  const some = testsFor('musl', { flags: ['--timeout=1m'] })
  t.deepEqual(some.args.slice(-files.length - 1), ['--timeout=1m', ...files])
  t.regex(some.note, new RegExp(`^${files.length} of ${every} files; ${every - files.length} that cannot differ here are left out`))
  const all = testsFor('musl', { all: true })
  t.false(all.args.some((argument) => argument.endsWith('.test.js')))
  t.is(all.note, `all ${every} files`)
})
