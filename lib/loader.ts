// Finds and loads the native binary: the file FERROTENSOR_NATIVE names, a local build, or the platform's package.

import { readFileSync, statSync } from 'node:fs'
import { Module } from 'node:module'
import { dirname, isAbsolute, join, resolve, toNamespacedPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isTruncated } from './elf.js'
import { BackendUnavailableError } from './errors.js'
import { TABLE_HASH } from './generated/hash.js'
import { PLATFORMS, VERSION } from './generated/package.js'
import { FUNCTIONS } from './native/families.js'
import type { ProgramFunctions } from './native/program.js'
import { thrown } from './realm.js'

const isFile = (path: string): boolean => isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** The path of a `file:` URL; undefined for any other, and for a path of another system. */
function pathOf(url: string | undefined): string | undefined {
  try {
    return fileURLToPath(url as string)
  } catch {
    return undefined
  }
}

/** The path of this file in CommonJS. ES modules have none; webpack takes `typeof __filename` for a string there too, so it is tried. */
function commonPath(): string | undefined {
  try {
    return __filename
  } catch {
    return undefined
  }
}

/**
 * From where packages are looked for: this file, or the bundle that it is part of. In bundles of CommonJS `import.meta.url` is empty, and
 * webpack's has the path of the machine that made it. Where no file is known so, the program and the working folder count.
 */
function places(): string[] {
  const own = [commonPath(), pathOf(import.meta.url)].find((path) => path !== undefined && isFile(path))
  return own === undefined ? [process.argv[1] ?? '', join(process.cwd(), 'program')].filter(isAbsolute) : [own]
}

const PLACES = places()
// Names of packages are resolved when the program runs, so bundlers must not look into this: webpack replaces what is imported as `createRequire`.
const REQUIRES = PLACES.map((path) => Module.createRequire(path))

/** What of a package.json is read; the published one names the package of each platform. */
interface Manifest {
  readonly version: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const readManifest = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest

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
function resolved(id: string, from: readonly NodeJS.Require[] = REQUIRES): string | undefined {
  for (const require of from) {
    try {
      return require.resolve(id)
    } catch {
      // Looked for from the next place.
    }
  }
  return undefined
}

/** The package.json of the installed package, or of the checkout; undefined for a bundle that has none beside it. */
const MANIFEST = resolved('ferrotensor/package.json')

/** The path of a platform's package: where this file finds it, or, from a bundle, where the installed package does. */
const packaged = (id: string): string | undefined => resolved(id) ?? (MANIFEST && resolved(id, [Module.createRequire(MANIFEST)]))

const PREFIX = '@ferrotensor/native-'

/** How the platform of an installed package differs from this one: both are `system-processor`, on Linux with the C library behind. */
function difference(triple: string, other: string): string {
  const [[system, processor, libc], [otherSystem, otherProcessor, otherLibc]] = [triple.split('-'), other.split('-')]
  if (system !== otherSystem) return `of another system: it is for ${otherSystem}, this is ${system}`
  if (processor !== otherProcessor) return `of another processor: it is for ${otherProcessor}, this Node for ${processor}`
  const names: Record<string, string> = { gnu: 'glibc', musl: 'musl' }
  return `of another C library: it is for ${names[otherLibc as string]}, this Node runs on ${names[libc as string]}`
}

/** Whether this is a checkout: the published package.json names the package of each platform. */
function isCheckout(): boolean {
  return MANIFEST !== undefined && readManifest(MANIFEST).optionalDependencies === undefined
}

/** Why there is no binary, and what to do. */
function missing(triple: string): string {
  if (isCheckout()) return `no native binary for ${triple} in this checkout.\n  Fix: npm run build`
  if (!PLATFORMS.includes(triple)) {
    return (
      `there is no prebuilt binary for ${triple}; there is one for ${PLATFORMS.join(', ')}.\n` +
      '  Fix: build it from the sources (CONTRIBUTING.md) and set FERROTENSOR_NATIVE to its path.'
    )
  }
  const name = PREFIX + triple
  const lacking = `no native binary for ${triple}. The package "${name}" is not installed.\n`
  const others = PLATFORMS.filter((platform) => packaged(PREFIX + platform) !== undefined)
  if (others.length > 0) {
    return (
      lacking +
      others.map((other) => `  "${PREFIX}${other}" is, ${difference(triple, other)}.\n`).join('') +
      '  node_modules was made elsewhere: on another machine, in another container, or by a Node for another processor (Rosetta).\n' +
      `  Fix: install again with the Node that runs this program, or add the package: npm i ${name}@${VERSION}`
    )
  }
  if (MANIFEST === undefined) {
    return (
      lacking +
      `  ferrotensor is part of a bundle here, and packages are looked for from ${PLACES.join(' and ')}.\n` +
      `  Fix: install it there: npm i ${name}@${VERSION}, or set FERROTENSOR_NATIVE to the path of the binary.`
    )
  }
  return (
    lacking +
    '  npm may have skipped it (npm/cli#4828, --omit=optional, a lock file of another platform).\n' +
    `  Fix: npm i ${name}@${VERSION}, or remove node_modules and the lock file and install again (npm >= 11.3).`
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
  const local = MANIFEST && join(dirname(MANIFEST), `native/ferrotensor.${triple}.node`)
  if (local !== undefined && isFile(local)) return { path: local, version: null, fix: 'npm run build' }
  const name = PREFIX + triple
  const path = packaged(name)
  if (path === undefined) throw refuse(missing(triple))
  const fix = `npm i ${name}@${VERSION}, or install again without a lock file`
  // The two halves share buffers and tables; halves of different versions would misread each other.
  const { version } = readManifest(packaged(`${name}/package.json`) as string)
  if (version !== VERSION) throw refuse(`${name} is of version ${version}, this package of ${VERSION}.\n  Fix: ${fix}`)
  return { path, version, fix }
}

/**
 * What a file exports. A copy of this package has a native module of its own, with its own buffers and classes: there are several in a process
 * where one is bundled, or each file of tests has its own (Jest), and `require` would give all of them that of the first.
 */
function open(file: string): unknown {
  if (!file.endsWith('.node')) return Module.createRequire(file)(file)
  const module: { exports: unknown } = { exports: {} }
  process.dlopen(module, toNamespacedPath(file))
  return module.exports
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
    const module = open(path)
    wrong = mismatch(module)
    if (wrong === null) return { module, file: path, version }
  } catch (error) {
    throw refuse(`the native binary exists but cannot be loaded: ${thrown(error)}\n  It is ${path}.\n  Fix: ${fix}`, error)
  }
  throw refuse(`the native binary ${wrong}.\n  It is ${path}.\n  Fix: ${fix}`)
}
