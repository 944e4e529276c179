// The native module for Linux with musl (Alpine): built with little optimisation, since all that is musl's are calls, threads, memory
// and linking (a release took seven minutes of two cores), and where MUSL_NODE names a Node for musl the JavaScript tests with it: the
// files that can differ there (scripts/javascript.mjs), or all.
//
//   node scripts/musl-test.mjs [--all]
//
// Needs cargo-zigbuild and zig (pip install cargo-zigbuild), and Rust's standard library for the target or its sources.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { crossEnvironment } from './cross.mjs'
import { testsFor } from './javascript.mjs'
import { PLATFORMS } from './pack.mjs'
import { npm, ROOT, step } from './steps.mjs'
import { ava, verdict } from './suites.mjs'

const TARGET = 'x86_64-unknown-linux-musl'
const { binary } = PLATFORMS.find(({ target }) => target === TARGET)
const node = process.env.MUSL_NODE

const built = await step('build', npm('run', '--silent', 'build:native', '--', '--target', TARGET, '--cross-compile'), { env: { ...crossEnvironment(TARGET), CARGO_PROFILE_RELEASE_OPT_LEVEL: '1' } })
let [passed, failed] = built.code === 0 ? [1, 0] : [0, 1]
if (built.code === 0) {
  console.log(`note: built in ${built.seconds} s, ${(statSync(join(ROOT, 'native', binary)).size / 1e6).toFixed(2)} MB`)
  if (node) {
    // This machine's drivers are made for another libc.
    const backends = (process.env.EXPECT_BACKENDS ?? '').split(',').filter((name) => name !== 'vulkan')
    const env = { EXPECT_BACKENDS: backends.join(',') }
    const { args, note } = testsFor('musl', { all: process.argv.includes('--all') })
    console.log(`note: ${note}`)
    const ran = await step('JavaScript tests', [node, ...args], { env })
    const counted = verdict({ count: ava }, ran)
    passed += counted.passed
    failed += counted.failed
  } else {
    console.log('note: not run, MUSL_NODE names no Node for musl')
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
