// A temporary folder for the tests of one file, and NumPy's golden files.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The path of a golden file that NumPy or safetensors wrote (crates/io/golden/make.py). */
export function golden(name: string): string {
  return fileURLToPath(new URL(`../../../crates/io/golden/${name}`, import.meta.url))
}

/** A folder that is removed when the process ends; the function joins names to it. */
export function folder(): (name: string) => string {
  const path = mkdtempSync(join(tmpdir(), 'ferrotensor-io-'))
  process.on('exit', () => rmSync(path, { recursive: true, force: true }))
  return (name) => join(path, name)
}
