// The lock file of npm: `npm ci` must accept it on every system and with every npm that the supported versions of Node bring. npm leaves
// optional packages out of a lock where their `engines` exclude the Node that writes it, and refuses that lock elsewhere.
// runs on: host

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'

interface Package {
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly resolved?: string
  readonly integrity?: string
}
interface Lock {
  readonly packages: Readonly<Record<string, Package>>
}
interface Steps {
  readonly ROOT: string
  npm(...args: string[]): string[]
  run(command: readonly string[], options: { cwd: string }): Promise<{ code: number; output: string }>
}

// This file runs as dist/__test__/scripts/lock.test.js.
const { ROOT, npm, run } = (await import(new URL('../../../scripts/steps.mjs', import.meta.url).href)) as Steps
const text = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const lock = () => JSON.parse(text('package-lock.json')) as Lock

/** What `npm ci` says of a lock: it reads it, compares it with package.json, and installs nothing. It needs no network. */
async function checked(locked: Lock) {
  const folder = mkdtempSync(join(tmpdir(), 'ferrotensor-lock-'))
  try {
    writeFileSync(join(folder, 'package.json'), text('package.json'))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(locked))
    return await run(npm('ci', '--dry-run', '--ignore-scripts', '--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache')), { cwd: folder })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whether a package that stands at `path` finds one of this name: beside it, or in a folder above. */
function finds(packages: Lock['packages'], path: string, name: string): boolean {
  if (packages[`${path}/node_modules/${name}`] !== undefined) return true
  const above = path.lastIndexOf('/node_modules/')
  return above < 0 ? packages[`node_modules/${name}`] !== undefined : finds(packages, path.slice(0, above), name)
}

/** Optional packages that the lock asks for and does not have. */
const missing = ({ packages }: Lock) =>
  Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) => Object.keys(optionalDependencies).filter((name) => !finds(packages, path, name)))

const without = (name: string): Lock => {
  const { [`node_modules/${name}`]: _, ...packages } = lock().packages
  return { ...lock(), packages }
}

test('npm ci accepts the lock file', async (t) => {
  const { code, output } = await checked(lock())
  t.is(code, 0, output)
})

test('npm ci refuses a lock without a package', async (t) => {
  const { code, output } = await checked(without('rollup'))
  t.not(code, 0)
  // It looks for the package first, which it cannot do without a network.
  t.regex(output, /Missing: rollup@|ENOTCACHED[^]*rollup/)
})

test('the lock has the optional packages of every system', (t) => {
  t.deepEqual(missing(lock()), [])
  t.deepEqual(missing(without('@rollup/rollup-darwin-arm64')), ['@rollup/rollup-darwin-arm64'])
})

test('each package of the lock has a hash and no address', (t) => {
  for (const [path, { resolved, integrity }] of Object.entries(lock().packages)) {
    if (path === '') continue
    t.is(resolved, undefined, path)
    t.regex(integrity ?? '', /^sha512-/, path)
  }
})
