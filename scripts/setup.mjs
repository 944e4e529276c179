// Makes a fresh clone ready to run: packages, native module, compiled TypeScript. Whatever is up to date is left alone, so a
// second call takes a few seconds. Needs Node and Rust, nothing else.
//
//   node scripts/setup.mjs              everything
//   node scripts/setup.mjs typescript   packages and compiled TypeScript alone, which need no Rust

import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm, ROOT, step } from './steps.mjs'

/** As `engines` in package.json. */
function nodeIsRecent() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major === 20 ? minor >= 19 : major === 22 ? minor >= 13 : major > 22
}

/** What is missing on this machine and where to get it; null if nothing is. */
export function missingTool() {
  if (!nodeIsRecent()) return `Node ${process.versions.node} is too old: 20.19 or newer, or 22.13 or newer, is needed (https://nodejs.org).`
  if (spawnSync('cargo', ['--version']).status !== 0) {
    return 'cargo was not found: the core of ferrotensor is written in Rust. Install Rust from https://rustup.rs and try again.'
  }
  return null
}

const modified = (path) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity

/** npm writes its own lock file last of all, so it is a stamp of a finished installation. */
const packagesAreCurrent = () => modified('node_modules/.package-lock.json') >= modified('package-lock.json')

/** Outputs of sources that are gone; a deleted test would go on being run. */
function removeOrphans(folder = 'dist') {
  const entries = modified(folder) === -Infinity ? [] : readdirSync(join(ROOT, folder), { withFileTypes: true })
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) removeOrphans(path)
    else if (modified(path.replace(/^dist\//, '').replace(/(\.d\.ts|\.js)$/, '.ts')) === -Infinity) rmSync(join(ROOT, path))
  }
}

const packages = () => (packagesAreCurrent() ? [] : [['packages', npm('ci', '--no-audit', '--no-fund')]])
const typescript = () => [['TypeScript', npm('run', '--silent', 'build:ts')]]

async function inTurn(steps) {
  for (const [name, command] of steps) {
    const { code } = await step(name, command)
    if (code !== 0) return false
  }
  return true
}

/**
 * Resolves to whether everything is ready; says on standard output what it did and what is wrong. `native` is the script that builds the
 * module; null where binaries were built elsewhere.
 */
export async function setUp(native = 'build:native') {
  const missing = missingTool()
  if (missing !== null) {
    console.log(missing)
    return false
  }
  removeOrphans()
  const module = native === null ? [] : [['native module', npm('run', '--silent', native)]]
  return inTurn([...packages(), ...module, ...typescript()])
}

/** The same without the native module. */
async function setUpTypeScript() {
  removeOrphans()
  return inTurn([...packages(), ...typescript()])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await (process.argv[2] === 'typescript' ? setUpTypeScript() : setUp())) ? 0 : 1
