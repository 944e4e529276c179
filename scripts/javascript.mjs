// Which files of JavaScript tests run where. All of them run once, on the Node and the system of whoever tests (`npm test`). Where one
// thing is another, only those run that can differ there: each file says where in a line of its first comment,
//
//   // runs on: node, musl            names of `ENVIRONMENTS`
//   // runs on: host                  nowhere else: the same calls, of the same binary, give the same
//   // runs on: musl; why             the reason, where it is not plain
//
// and one that does not say it is refused, by these scripts and by __test__/scripts/javascript.test.ts.
//
//   node scripts/javascript.mjs --list     the table of files and environments

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from './steps.mjs'

/** What is another one there, and so what a file must look at to be named. */
export const ENVIRONMENTS = {
  node: 'another version of Node: its values, collector, modules, promises, workers, ends of processes, files, texts',
  musl: "another C library: loading, threads, memory, ends of processes, files, the system's errors",
  vulkan: 'tensors are on another device: values that TypeScript composes of several operations, states, memory, what is planned and counted',
  blas: 'products are by a library of a vendor: values of products, loading, ends of processes'
}

const FOLDER = '__test__'
const ENDING = '.test.ts'

/** The environments that the text of a test file names: none for `host`. */
export function environmentsIn(text, file = 'a test file') {
  const opening = /^(?:\/\/.*\n)*/.exec(text)[0]
  const lines = [...opening.matchAll(/^\/\/ runs on: ([^;\n]*)(?:; \S.*)?$/gm)]
  if (lines.length !== 1) throw new Error(`${file}: its first comment must have one line '// runs on: ' with 'host' or some of ${Object.keys(ENVIRONMENTS).join(', ')}; it has ${lines.length}`)
  const names = lines[0][1].split(', ')
  if (names.join() === 'host') return []
  const unknown = names.find((name, i) => !Object.hasOwn(ENVIRONMENTS, name) || names.indexOf(name) !== i)
  if (unknown !== undefined) throw new Error(`${file}: 'runs on: ${lines[0][1]}' has '${unknown}', which is 'host' beside others, there twice, or none of ${Object.keys(ENVIRONMENTS).join(', ')}`)
  return names
}

/** All test files with their environments, in the order of their names. */
export function testFiles() {
  const paths = readdirSync(join(ROOT, FOLDER), { recursive: true }).map((path) => path.replaceAll('\\', '/'))
  return paths.filter((path) => path.endsWith(ENDING)).sort().map((path) => {
    const source = `${FOLDER}/${path}`
    return {
      name: path.slice(0, -ENDING.length),
      compiled: `dist/${source.replace(/\.ts$/, '.js')}`,
      environments: environmentsIn(readFileSync(join(ROOT, source), 'utf8'), source)
    }
  })
}

/** The compiled files that can differ in an environment. */
export const filesFor = (environment) => testFiles().filter(({ environments }) => environments.includes(environment)).map(({ compiled }) => compiled)

/**
 * The arguments of Node that run the tests of an environment, with `all` those of every file, and a sentence of what is left out.
 * `flags` are ava's own, `files` others than those that say it.
 */
export function testsFor(environment, { all = false, flags = [], files: given = [] } = {}) {
  const every = testFiles().length
  const files = given.length > 0 ? given : filesFor(environment)
  const missing = files.find((file) => !existsSync(join(ROOT, file)))
  if (missing !== undefined) throw new Error(`${missing} is missing: run npm run build:ts`)
  const note = all ? `all ${every} files` : `${files.length} of ${every} files; ${every - files.length} that cannot differ here are left out (--all runs them)`
  return { args: ['node_modules/ava/entrypoints/cli.mjs', '--tap', ...flags, ...(all ? [] : files)], note }
}

function printTable() {
  const files = testFiles()
  const names = Object.keys(ENVIRONMENTS)
  const width = Math.max(...files.map(({ name }) => name.length))
  const row = (name, cells) => `${name.padEnd(width)}  ${cells.map((cell, i) => cell.padEnd(names[i].length)).join('  ')}`.trimEnd()
  console.log(row('file', names))
  for (const { name, environments } of files) console.log(row(name, names.map((each) => (environments.includes(each) ? 'x' : ''))))
  console.log(row(`${files.length} files`, names.map((name) => String(filesFor(name).length))))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!process.argv.includes('--list')) throw new Error('node scripts/javascript.mjs --list')
  printTable()
}
