// The built package as npm installs it, in a folder of its own and without a native binary. Scripts that run there resolve `ferrotensor`
// to it.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { evaluateScript } from '../child.js'
import { platformTriple } from '../../lib/loader.js'

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

interface Manifest {
  readonly version: string
  readonly [field: string]: unknown
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest

/** The version of the package, which those of platforms must have. */
export const { version } = manifest

/** This platform, and the name of its package. */
export const triple = platformTriple()
export const packageOf = (platform: string): string => `@ferrotensor/native-${platform}`

/** Some platforms that there are packages for, this one among them. */
const platforms = [...new Set(['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'linux-arm64-musl', 'darwin-arm64', 'darwin-x64', 'win32-x64-msvc', triple])]

/** The binary that the other tests run on. */
export const BINARY = process.env['FERROTENSOR_NATIVE'] || join(ROOT, 'native', `ferrotensor.${triple}.node`)

/** What there may be of the package. */
export class Installation {
  /** The folder that programs run in. */
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'ferrotensor-no-binary-')))
  readonly #package = join(this.folder, 'node_modules/ferrotensor')

  /** As from npm; or a checkout, whose package.json names no packages of platforms. */
  constructor(checkout = false) {
    for (const path of ['dist/index.js', 'dist/lib', 'index.d.ts']) cpSync(join(ROOT, path), join(this.#package, path), { recursive: true })
    const optionalDependencies = Object.fromEntries(platforms.map((platform) => [packageOf(platform), version]))
    writeFileSync(join(this.#package, 'package.json'), JSON.stringify(checkout ? manifest : { ...manifest, optionalDependencies }))
  }

  /** Writes a file below the folder; gives its path. */
  write(path: string, text: string): string {
    const file = join(this.folder, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  /** Adds the package of a platform, whose binary is a module in JavaScript. */
  add(platform: string, { source = '', version: its = version }: { source?: string; version?: string } = {}): void {
    const folder = join('node_modules', packageOf(platform))
    this.write(join(folder, 'package.json'), JSON.stringify({ name: packageOf(platform), version: its, main: 'binary.cjs' }))
    this.write(join(folder, 'binary.cjs'), source)
  }

  /** Runs a script that prints one JSON line. Nothing but this folder tells it of a binary. */
  evaluate<T>(script: string, env: Record<string, string> = {}): Promise<T> {
    return evaluateScript<T>(script, { cwd: this.folder, env: { FERROTENSOR_NATIVE: '', ...env } })
  }

  /** What using the package throws. */
  reason(env: Record<string, string> = {}): Promise<string> {
    return this.evaluate(`try { ft.tensor([1]) } catch ({ code, message }) { console.log(JSON.stringify(code + ' ' + message)) }`, env)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
