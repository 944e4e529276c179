// Building for other targets than this machine's: what cargo needs to be told so that Rust's standard library is there.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const rustc = (...args) => spawnSync('rustc', args, { encoding: 'utf8' }).stdout?.trim() ?? ''

/** Whether the sources of Rust's standard library are where the compiler looks for them (`rustup component add rust-src`). */
export const hasSources = () => existsSync(join(rustc('--print', 'sysroot'), 'lib/rustlib/src/rust/library/Cargo.lock'))

/**
 * The environment for cargo. The target's library is taken where it is installed (`rustup target add`). Else, where the sources of
 * the library are, cargo builds it: an option of nightly that a stable compiler takes with RUSTC_BOOTSTRAP. Null where there is
 * neither.
 *
 * @returns {Record<string, string> | null}
 */
export function crossEnvironment(target) {
  const installed = rustc('--print', 'target-libdir', '--target', target)
  if (existsSync(installed) && readdirSync(installed).some((file) => file.startsWith('libstd-'))) return {}
  return hasSources() ? { RUSTC_BOOTSTRAP: '1', CARGO_UNSTABLE_BUILD_STD: 'std,panic_unwind,test' } : null
}
