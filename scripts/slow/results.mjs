// What came of each suite of the slow tier, and of which sources: results.json, checked in. A result is stale when one of its sources has
// changed since, and a stale one fails `npm run test:full` with the command that renews it.
//
//   node scripts/slow/results.mjs          which are current
//   node scripts/slow/results.mjs --files  the files each hash is of

import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../steps.mjs'
import { SLOW } from './suites.mjs'

const FILE = join(ROOT, 'scripts/slow/results.json')

/** Suites that have not passed since results are kept: each leaves this list with its first result, and a test holds that. */
export const PENDING = ['recipe: add an op', 'other Vulkan devices', 'benches, smoke', 'AddressSanitizer', 'ThreadSanitizer', 'Miri', 'planted faults', 'fuzz targets', 'hostile calls, many', 'soak, five minutes', 'AVX-512 registers, all inputs', 'conformance, all']

/**
 * Files of the repository whose path begins so; of those, the ones that end so, and whose text has a match; of their text, the part that
 * matches.
 * @typedef {string | { path: string, ending?: string, having?: RegExp, part?: RegExp }} Source
 */

let listed
/** Tracked files and new ones. */
function tracked() {
  listed ??= spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }).stdout.trim().split('\n')
  return listed.filter((path) => existsSync(join(ROOT, path)))
}

const textOf = (path) => readFileSync(join(ROOT, path), 'utf8')

/** The files of some sources with what counts of their text, by path. */
export function textsOf(sources, paths = tracked(), read = textOf) {
  const texts = new Map()
  for (const source of sources) {
    const { path: start, ending = '', having, part } = typeof source === 'string' ? { path: source } : source
    const found = paths.filter((path) => path.startsWith(start) && path.endsWith(ending) && (having === undefined || having.test(read(path))))
    if (found.length === 0) throw new Error(`slow/suites.mjs: no file begins with ${start}${having ? ` and has ${having}` : ''}`)
    for (const path of found) {
      const text = part === undefined ? read(path) : read(path).match(part)?.[0]
      if (text === undefined) throw new Error(`slow/suites.mjs: ${path} has no part ${part}`)
      texts.set(path, text)
    }
  }
  return [...texts].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Identifies the sources of a suite as they are now; null for one that keeps its results itself. */
export function hashOf({ sources }) {
  if (sources === undefined) return null
  const hash = createHash('sha256')
  for (const [path, text] of textsOf(sources)) hash.update(`${path}\0${text}\0`)
  return hash.digest('hex').slice(0, 16)
}

const read = () => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {})

/** Keeps what came of a suite; of one that failed, nothing. */
export function keep({ name, sources }, { passed, failed, seconds, hash }) {
  if (sources === undefined) return
  const { [name]: _, ...others } = read()
  const results = failed === 0 ? { ...others, [name]: { passed, seconds: Math.round(seconds), hash } } : others
  const sorted = Object.fromEntries(Object.entries(results).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`)
}

/** What is wrong with each suite's result; null where it is current. */
export function problems(suites, results, hash = hashOf) {
  return suites
    .filter(({ sources }) => sources !== undefined)
    .map((suite) => {
      const known = results[suite.name]
      const renew = `\`npm run test:slow -- '${suite.name}'\` runs it again`
      if (known === undefined) return [suite.name, `has no result; ${renew}`]
      return [suite.name, known.hash === hash(suite) ? null : `its sources have changed since it passed; ${renew}`]
    })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--files')) {
    for (const { name, sources } of SLOW) if (sources !== undefined) console.log(`${name}\n  ${textsOf(sources).map(([path]) => path).join('\n  ')}`)
  } else {
    const found = problems(SLOW.filter(({ name }) => !PENDING.includes(name)), read())
    if (PENDING.length > 0) console.log(`note: no result yet of ${PENDING.join(', ')}`)
    const stale = found.filter(([, problem]) => problem !== null)
    for (const [name, problem] of stale) console.log(`${name}: ${problem}`)
    console.log(`${found.length - stale.length} passed, ${stale.length} failed`)
    process.exitCode = stale.length === 0 ? 0 : 1
  }
}
