// What a machine must have for each sanitizer: gcc's runtimes, which Node preloads (Rust's own are made for programs, not for
// modules of one), and Rust's sources where its standard library has to be built with the sanitizer; for Miri its interpreter.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { hasSources } from '../cross.mjs'

export const RUNTIMES = {
  address: { library: 'libasan.so', std: false },
  // Arc has a fence, which the sanitizer does not understand, unless the library is built with it: each drop of a shared value would
  // be a race.
  thread: { library: 'libtsan.so', std: true }
}

/** The path of one of gcc's libraries; not absolute where it has none. */
export const gcc = (library) => spawnSync('gcc', [`-print-file-name=${library}`], { encoding: 'utf8' }).stdout?.trim() ?? ''

/** Why a sanitizer cannot run here; null if it can. */
export function absence(name) {
  if (name === 'miri') {
    const found = spawnSync('cargo', ['+nightly', 'miri', '--version']).status === 0
    return found ? null : 'there is no Miri (rustup toolchain install nightly --component miri,rust-src)'
  }
  const { library, std } = RUNTIMES[name]
  if (process.platform !== 'linux') return 'the runtimes are preloaded on Linux only'
  if (!existsSync(gcc(library))) return `gcc has no ${library}`
  return std && !hasSources() ? 'the sources of Rust are missing (rustup component add rust-src)' : null
}
