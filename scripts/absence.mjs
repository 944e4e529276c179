// What a suite of scripts/suites.mjs needs and this machine lacks.

import { spawnSync } from 'node:child_process'
import { crossEnvironment } from './cross.mjs'

const installed = (tool) => spawnSync(tool, ['--version']).status === 0

/** Why a suite cannot run here; null if it can. */
export function absence({ tool, target, absence: missing }) {
  if (tool && !installed(tool)) return `${tool} is not installed`
  if (target && crossEnvironment(target) === null) return `Rust's standard library for ${target} is missing (rustup target add ${target})`
  return missing?.() ?? null
}
