// Finds and loads the native binary: the file FERROTENSOR_NATIVE names, a local build, or the platform's package.

import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isTruncated } from './elf.js'
import { BackendUnavailableError } from './errors.js'
import { TABLE_HASH } from './generated/hash.js'
import { FUNCTIONS } from './native/families.js'
import type { ProgramFunctions } from './native/program.js'
import { thrown } from './realm.js'

const require = createRequire(import.meta.url)

/** Our own package.json; the published one names the package of each platform. */
interface Manifest {
  readonly version: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const manifest = require('../../package.json') as Manifest

/** Version of this package. */
export const VERSION = manifest.version

/** A binary that is there, and where one that fits comes from. */
interface Found {
  readonly path: string
  /** The version of the platform's package; null for a file that FERROTENSOR_NATIVE names, and for a local build. */
  readonly version: string | null
  readonly fix: string
}

/** A native module that was loaded, and where from. */
export interface Loaded {
  readonly module: unknown
  readonly file: string
  /** The version of its package; null for one that was built here, or that FERROTENSOR_NATIVE names. */
  readonly version: string | null
}

/** A reason in words, as what is thrown where a binary is needed. */
const refuse = (text: string, cause?: unknown) => new BackendUnavailableError(`ferrotensor: ${text}`, cause === undefined ? {} : { cause })

/** The platform as napi-rs names it: `linux-x64-gnu`, `darwin-arm64`, ... */
export function platformTriple(): string {
  const { platform, arch } = process
  if (platform === 'win32') return `win32-${arch}-msvc`
  if (platform !== 'linux') return `${platform}-${arch}`
  return `linux-${arch}-${usesGlibc() ? 'gnu' : 'musl'}`
}

/** Whether this process runs on glibc, not musl. Node knows; no second process is started. */
function usesGlibc(): boolean {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean }
  const { excludeNetwork = false } = report
  // A report with network interfaces looks up host names, which may take seconds.
  report.excludeNetwork = true
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
  report.excludeNetwork = excludeNetwork
  return header?.glibcVersionRuntime !== undefined
}

/** The path of what a package shows under a name; undefined where it is not installed, or not whole. */
function resolved(id: string): string | undefined {
  try {
    return require.resolve(id)
  } catch {
    return undefined
  }
}

const PREFIX = '@ferrotensor/native-'

/** How the platform of an installed package differs from this one: both are `system-processor`, on Linux with the C library behind. */
function difference(triple: string, other: string): string {
  const [[system, processor, libc], [otherSystem, otherProcessor, otherLibc]] = [triple.split('-'), other.split('-')]
  if (system !== otherSystem) return `of another system: it is for ${otherSystem}, this is ${system}`
  if (processor !== otherProcessor) return `of another processor: it is for ${otherProcessor}, this Node for ${processor}`
  const names: Record<string, string> = { gnu: 'glibc', musl: 'musl' }
  return `of another C library: it is for ${names[otherLibc as string]}, this Node runs on ${names[libc as string]}`
}

/** Why there is no binary, and what to do. */
function missing(triple: string, platformPackage: string, { version, optionalDependencies }: Manifest): string {
  if (optionalDependencies === undefined) return `no native binary for ${triple} in this checkout.\n  Fix: npm run build`
  const names = Object.keys(optionalDependencies)
  if (!(platformPackage in optionalDependencies)) {
    return (
      `there is no prebuilt binary for ${triple}; there is one for ${names.map((name) => name.replace(PREFIX, '')).join(', ')}.\n` +
      '  Fix: build it from the sources (CONTRIBUTING.md) and set FERROTENSOR_NATIVE to its path.'
    )
  }
  const lacking = `no native binary for ${triple}. The package "${platformPackage}" is not installed.\n`
  const others = names.filter((name) => resolved(name) !== undefined)
  if (others.length > 0) {
    return (
      lacking +
      others.map((name) => `  "${name}" is, ${difference(triple, name.replace(PREFIX, ''))}.\n`).join('') +
      '  node_modules was made elsewhere: on another machine, in another container, or by a Node for another processor (Rosetta).\n' +
      `  Fix: install again with the Node that runs this program, or add the package: npm i ${platformPackage}@${version}`
    )
  }
  return (
    lacking +
    '  npm may have skipped it (npm/cli#4828, --omit=optional, a lock file of another platform).\n' +
    `  Fix: npm i ${platformPackage}@${version}, or remove node_modules and the lock file and install again (npm >= 11.3).`
  )
}

/** The file that FERROTENSOR_NATIVE names. Others than regular files are not opened: reading one may never end. */
function named(path: string): Found {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw refuse(`the file FERROTENSOR_NATIVE names does not exist: ${path}`)
  if (!stat.isFile()) throw refuse(`FERROTENSOR_NATIVE names what is no file: ${path}`)
  return { path, version: null, fix: 'build the sources of this version (npm run build), or unset FERROTENSOR_NATIVE' }
}

/** The binary to load. */
function find(): Found {
  const given = process.env['FERROTENSOR_NATIVE']
  if (given) return named(resolve(given))
  const triple = platformTriple()
  const local = fileURLToPath(new URL(`../../native/ferrotensor.${triple}.node`, import.meta.url))
  if (statSync(local, { throwIfNoEntry: false })?.isFile()) return { path: local, version: null, fix: 'npm run build' }
  const name = PREFIX + triple
  const path = resolved(name)
  if (path === undefined) throw refuse(missing(triple, name, manifest))
  const fix = `npm i ${name}@${manifest.version}, or install again without a lock file`
  // The two halves share buffers and tables; halves of different versions would misread each other.
  const { version } = require(`${name}/package.json`) as Manifest
  if (version !== manifest.version) throw refuse(`${name} is of version ${version}, this package of ${manifest.version}.\n  Fix: ${fix}`)
  return { path, version, fix }
}

/** Why a loaded module is not the other half of this package, made from the same tables; null if it is. */
function mismatch(loaded: unknown): string | null {
  const module = Object(loaded) as Record<string, unknown>
  const lacking = FUNCTIONS.filter((name) => typeof module[name] !== 'function')
  // Some names others have too: arrays have `fill`.
  if (2 * lacking.length > FUNCTIONS.length) return 'is no native module of ferrotensor'
  if (lacking.length > 0) return `is of another version: it lacks ${lacking.join(', ')}`
  const theirs = (module as unknown as ProgramFunctions).table()
  return theirs === TABLE_HASH ? null : `is of another version: the hash of its tables is ${String(theirs)}, here it is ${TABLE_HASH}`
}

/**
 * Loads the native module.
 *
 * @throws {BackendUnavailableError} when there is none for this platform, it is of another version, or it cannot be loaded; the
 * message says which and what to do.
 */
export function loadNative(): Loaded {
  const { path, version, fix } = find()
  let wrong: string | null
  try {
    if (isTruncated(path)) throw new Error('the file is cut off')
    const module: unknown = require(path)
    wrong = mismatch(module)
    if (wrong === null) return { module, file: path, version }
  } catch (error) {
    throw refuse(`the native binary exists but cannot be loaded: ${thrown(error)}\n  It is ${path}.\n  Fix: ${fix}`, error)
  }
  throw refuse(`the native binary ${wrong}.\n  It is ${path}.\n  Fix: ${fix}`)
}
