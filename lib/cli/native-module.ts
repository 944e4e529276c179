// Which native module this process loaded.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The native module that was loaded. */
export interface LoadedModule {
  /** Its file. */
  readonly file: string
  /** The version of its package; null for one that was built here, or that FERROTENSOR_NATIVE names. */
  readonly version: string | null
}

/** The module, where there is one. */
export function loadedModule(): LoadedModule {
  const require = createRequire(import.meta.url)
  // Nothing else that this program loads has the ending of native modules.
  const file = Object.keys(require.cache).find((path) => path.endsWith('.node')) as string
  return { file, version: versionBeside(require, file) }
}

function versionBeside(require: NodeJS.Require, file: string): string | null {
  try {
    return (require(join(dirname(file), 'package.json')) as { version: string }).version
  } catch {
    return null
  }
}
