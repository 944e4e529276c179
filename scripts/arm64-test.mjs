// The CPU backend on 64-bit ARM (NEON, the baseline there), emulated: the tests of crates/core and crates/cpu, compiled for
// aarch64-unknown-linux-gnu and run by qemu. Needs qemu-aarch64, aarch64-linux-gnu-gcc with its C library (Debian: qemu-user,
// gcc-aarch64-linux-gnu, libc6-dev-arm64-cross), and Rust's standard library for the target or its sources.
//
//   node scripts/arm64-test.mjs [arguments of cargo test, instead of those that mean all]

import { crossEnvironment } from './cross.mjs'
import { step } from './steps.mjs'
import { rust, verdict } from './suites.mjs'

const TARGET = 'aarch64-unknown-linux-gnu'
const PACKAGES = ['ferrotensor-core', 'ferrotensor-cpu'].flatMap((name) => ['--package', name])

const env = {
  ...crossEnvironment(TARGET),
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER: 'aarch64-linux-gnu-gcc',
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER: 'qemu-aarch64 -L /usr/aarch64-linux-gnu'
}
const given = process.argv.slice(2)
const [chosen, filters] = given.includes('--') ? [given.slice(0, given.indexOf('--')), given.slice(given.indexOf('--'))] : [given, []]
const tests = ['cargo', 'test', '--release', '--target', TARGET, ...(chosen.length > 0 ? chosen : [...PACKAGES, '--tests'])]
const built = await step('build', [...tests, '--no-run'], { env })
const ran = built.code === 0 ? await step('tests under qemu', [...tests, ...filters], { env }) : built
const { passed, failed } = verdict({ count: rust }, ran)
console.log(`note: built in ${built.seconds} s, run in ${ran.seconds} s`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = ran.code
