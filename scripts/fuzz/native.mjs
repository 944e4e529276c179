// The fuzz targets of crates/fuzz under libFuzzer, with coverage and AddressSanitizer, on the stable compiler. The corpus grows in
// target/fuzz/corpus from run to run; an input that fails is left beside it and printed.
//
//   node scripts/fuzz/native.mjs [--seed number] [--seconds 60]
//
// The seconds are each target's. Needs a C++ compiler for libFuzzer.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, step } from '../steps.mjs'
import { ENVIRONMENT } from '../suites.mjs'

const { values: given } = parseArgs({ options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string', default: '60' } } })
const TARGETS = [...readFileSync(join(ROOT, 'crates/fuzz/Cargo.toml'), 'utf8').matchAll(/^name = "fuzz-(\w+)"$/gm)].map(([, name]) => name)
/** Edges that random bytes alone reach within seconds: fewer, and the coverage that guides the search is not measured. */
const LEAST_COVERAGE = 100

// What `cargo fuzz` passes: the pass that counts edges and compared values, and the sanitizer; options of nightly that a stable
// compiler takes with RUSTC_BOOTSTRAP.
const COVERAGE = ['level=4', 'inline-8bit-counters', 'pc-table', 'trace-compares'].map((option) => `-Cllvm-args=-sanitizer-coverage-${option}`)
const RUSTFLAGS = ['-Cpasses=sancov-module', ...COVERAGE, '-Zsanitizer=address', '--cfg', 'fuzzing'].join(' ')

const folder = join(ROOT, 'target/fuzz')
const built = await step('build the fuzz targets', ['cargo', 'build', '--release', '--package', 'ferrotensor-fuzz', '--features', 'libfuzzer'], {
  env: {
    ...ENVIRONMENT,
    RUSTC_BOOTSTRAP: '1',
    CARGO_TARGET_DIR: folder,
    RUSTFLAGS,
    CARGO_PROFILE_RELEASE_OPT_LEVEL: '1',
    CARGO_PROFILE_RELEASE_DEBUG: 'line-tables-only',
    CARGO_PROFILE_RELEASE_STRIP: 'none',
    CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS: 'true'
  }
})
let [passed, failed] = built.code === 0 ? [1, 0] : [0, 1]
for (const target of built.code === 0 ? TARGETS : []) {
  const corpus = join(folder, 'corpus', target)
  mkdirSync(corpus, { recursive: true })
  const binary = join(folder, ENVIRONMENT.CARGO_BUILD_TARGET, 'release', `fuzz-${target}`)
  const limits = ['-max_len=400', '-timeout=30', '-rss_limit_mb=4096', `-max_total_time=${given.seconds}`, `-seed=${given.seed}`]
  const result = await step(`fuzz ${target}`, [binary, ...limits, `-artifact_prefix=${folder}/${target}-`, corpus])
  const coverage = Number([...result.output.matchAll(/ cov: (\d+) /g)].at(-1)?.[1] ?? 0)
  const [, inputs = '0'] = /^Done (\d+) runs/m.exec(result.output) ?? []
  console.log(`note: ${target}: ${inputs} inputs, ${coverage} edges`)
  if (result.code === 0 && coverage >= LEAST_COVERAGE) passed++
  else failed++
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
