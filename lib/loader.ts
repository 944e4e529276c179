// Finds and loads the native binary: the file FERROTENSOR_NATIVE names, a local build, or the platform's package.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { BackendUnavailableError } from './errors.js'

const require = createRequire(import.meta.url)

/** Our own package.json; the published one names the package of each platform. */
interface Manifest {
  readonly version: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const manifest = require('../../package.json') as Manifest

/** Version of this package. */
export const VERSION = manifest.version

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

function resolves(id: string): boolean {
  try {
    require.resolve(id)
    return true
  } catch {
    return false
  }
}

/** Why there is no binary, and what to do. */
function missing(triple: string, platformPackage: string, { version, optionalDependencies }: Manifest): string {
  if (optionalDependencies === undefined) return `no native binary for ${triple} in this checkout. Fix: npm run build`
  if (!(platformPackage in optionalDependencies)) {
    const platforms = Object.keys(optionalDependencies).map((name) => name.replace('@ferrotensor/native-', ''))
    return (
      `there is no prebuilt binary for ${triple}; there is one for ${platforms.join(', ')}.\n` +
      '  Fix: build it from the sources (CONTRIBUTING.md) and set FERROTENSOR_NATIVE to its path.'
    )
  }
  return (
    `no native binary for ${triple}. The package "${platformPackage}" is not installed.\n` +
    '  npm may have skipped it (npm/cli#4828, --omit=optional, a lock file of another platform).\n' +
    `  Fix: npm i ${platformPackage}@${version}, or remove node_modules and the lock file and install again (npm >= 11.3).`
  )
}

/**
 * Loads the native module.
 *
 * @throws {BackendUnavailableError} when there is none for this platform, it is of another version, or it cannot be loaded; the
 * message says which and what to do.
 */
export function loadNative(): unknown {
  const triple = platformTriple()
  const platformPackage = `@ferrotensor/native-${triple}`
  const local = fileURLToPath(new URL(`../../native/ferrotensor.${triple}.node`, import.meta.url))
  const named = process.env['FERROTENSOR_NATIVE']
  const refuse = (text: string, cause?: unknown) => new BackendUnavailableError(`ferrotensor: ${text}`, { cause })

  const found = (named ? [named] : [local, platformPackage]).find(resolves)
  if (found === undefined) {
    throw refuse(named ? `the file FERROTENSOR_NATIVE names does not exist: ${named}` : missing(triple, platformPackage, manifest))
  }
  if (found === platformPackage) {
    // The two halves share buffers and tables; halves of different versions would misread each other.
    const { version } = require(`${platformPackage}/package.json`) as Manifest
    if (version !== manifest.version) {
      const fix = `npm i ${platformPackage}@${manifest.version}, or install again without a lock file`
      throw refuse(`${platformPackage} is of version ${version}, this package of ${manifest.version}.\n  Fix: ${fix}.`)
    }
  }
  try {
    return require(found)
  } catch (error) {
    throw refuse(`the native binary for ${triple} exists but cannot be loaded: ${(error as Error).message}`, error)
  }
}
