// Installs the peers, versions as pinned beside this file, into a folder of their own: a virtual environment of Python, packages of npm, and
// a Rust program built for this processor.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDERS, OWN_PYTHON, SOURCES } from './registry.js'

const WINDOWS = process.platform === 'win32'

interface Step {
  readonly what: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

const STEPS: readonly Step[] = [
  { what: 'a Python of their own', command: [WINDOWS ? 'python' : 'python3', '-m', 'venv', FOLDERS.python] },
  { what: 'Python packages', command: [OWN_PYTHON, '-m', 'pip', 'install', '--quiet', '--requirement', join(SOURCES, 'requirements.txt')] },
  // No scripts: the one of onnxruntime-node fetches CUDA.
  { what: 'npm packages', command: ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], cwd: FOLDERS.node },
  {
    what: 'Rust peers',
    command: ['cargo', 'build', '--quiet', '--release', '--locked', '--manifest-path', join(SOURCES, 'rust', 'Cargo.toml'), '--target-dir', FOLDERS.rust],
    // candle chooses its vectors when it is compiled. An explicit target would move the program.
    env: { RUSTFLAGS: '-C target-cpu=native', CARGO_BUILD_TARGET: '' }
  }
]

/** Sets up what can be set up, and says what failed; those peers are then missing. */
export function setUpPeers(): boolean {
  mkdirSync(FOLDERS.node, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(SOURCES, 'node', file), join(FOLDERS.node, file))
  let complete = true
  for (const { what, command: [program, ...args], env, cwd } of STEPS) {
    console.log(`setting up: ${what}`)
    const target = { ...process.env, ...env }
    if (target['CARGO_BUILD_TARGET'] === '') delete target['CARGO_BUILD_TARGET']
    const { status, error } = spawnSync(program as string, args, { stdio: 'inherit', env: target, cwd, shell: WINDOWS && program === 'npm' })
    if (status !== 0) {
      console.log(`setting up: ${what} failed: ${error?.message ?? `status ${status}`}`)
      complete = false
    }
  }
  return complete
}
