// Finds and loads the native binary: a local build, the platform's package, or the file FERROTENSOR_NATIVE names.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { BackendUnavailableError } from './errors.js'

const require = createRequire(import.meta.url)

/** The platform as napi-rs names it: `linux-x64-gnu`, `darwin-arm64`, ... */
export function platformTriple(): string {
  const { platform, arch } = process
  if (platform === 'win32') return `win32-${arch}-msvc`
  if (platform !== 'linux') return `${platform}-${arch}`
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean }
  // A report with network interfaces looks up host names, which may take seconds.
  report.excludeNetwork = true
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return `linux-${arch}-${header?.glibcVersionRuntime ? 'gnu' : 'musl'}`
}

/**
 * Loads the native module.
 *
 * @throws {BackendUnavailableError} when there is none for this platform, or it cannot be loaded; the message says which and
 * what to do.
 */
export function loadNative(): unknown {
  const triple = platformTriple()
  const platformPackage = `@ferrotensor/native-${triple}`
  const local = fileURLToPath(new URL(`../../native/ferrotensor.${triple}.node`, import.meta.url))
  const named = process.env['FERROTENSOR_NATIVE']
  let failure: NodeJS.ErrnoException | undefined
  for (const id of named ? [named] : [local, platformPackage]) {
    try {
      return require(id)
    } catch (error) {
      failure = error as NodeJS.ErrnoException
      // A binary that exists and is broken is reported as broken, not as missing.
      if (failure.code !== 'MODULE_NOT_FOUND' || !failure.message.includes(id)) break
    }
  }
  const missing = failure?.code === 'MODULE_NOT_FOUND'
  const text = missing
    ? named
      ? `the file FERROTENSOR_NATIVE names does not exist: ${named}`
      : `no native binary for ${triple}. The package "${platformPackage}" is not installed.\n` +
        '  npm may have skipped it (npm/cli#4828, --omit=optional, a lock file of another platform).\n' +
        `  Fix: npm i ${platformPackage}, or remove node_modules and the lock file and install again (npm >= 11.3).`
    : `the native binary for ${triple} exists but cannot be loaded: ${failure?.message}`
  throw new BackendUnavailableError(`ferrotensor: ${text}`, { cause: failure })
}
