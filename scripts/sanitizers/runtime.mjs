// Where the runtimes of sanitizers are: gcc's, which Node preloads; Rust's own are made for programs, not for modules of one.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { hasSources } from '../cross.mjs'

/** The path of one of gcc's libraries; not absolute where it has none. */
export const gcc = (library) => spawnSync('gcc', [`-print-file-name=${library}`], { encoding: 'utf8' }).stdout?.trim() ?? ''

/** Why no sanitizer can run here; null if they can. */
export function absence() {
  if (process.platform !== 'linux') return 'the runtimes are preloaded on Linux only'
  const missing = ['libasan.so', 'libtsan.so'].find((library) => !existsSync(gcc(library)))
  if (missing !== undefined) return `gcc has no ${missing}`
  return hasSources() ? null : 'the sources of Rust are missing (rustup component add rust-src)'
}
