// Every suite there is, cheapest first: the one list that `npm test`, `npm run test:full`, `npm run test:slow` and
// `cargo xtask validate` run.
// Each suite says how its runner reports what passed; a suite that reports nothing did not run, and that is a failure.

import { spawnSync } from 'node:child_process'
import { noBlas } from './blas.mjs'
import { absence as noSanitizer } from './sanitizers/runtime.mjs'
import { noLayer } from './vulkan/messages.mjs'

const sum = (output, pattern) => [...output.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0)

/** A check that passes or fails as a whole. */
const whole = (_output, code) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 })

/** The closing lines of Rust test binaries: `test result: ok. 12 passed; 0 failed; ...`. */
export const rust = (output) => ({
  passed: sum(output, /^test result: .*?(\d+) passed;/gm),
  failed: sum(output, /^test result: .*?(\d+) failed;/gm)
})

/** The closing lines of ava's TAP; its usual report leaves out what passed when something failed. */
export const ava = (output) => ({ passed: sum(output, /^# pass (\d+)$/gm), failed: sum(output, /^# fail (\d+)$/gm) })

/** Our own scripts: `N passed, N failed` alone on the last line. */
export const closing = (output) => {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)]
  const [, passed, failed] = lines.at(-1) ?? [null, 0, 0]
  return { passed: Number(passed), failed: Number(failed) }
}

/** The conformance suite adds problems that are no single case (an axis value never met) to its own closing line. */
const conformance = (output) => {
  const { passed, failed } = rust(output)
  return { passed, failed: Math.max(failed, closing(output).failed) }
}

/** What a suite counted; one that failed without saying so, or that ran nothing, counts as one failure. */
export function verdict({ count }, { code, output }) {
  const counted = count(output, code)
  const silent = counted.passed + counted.failed === 0
  return silent || (code !== 0 && counted.failed === 0) ? { ...counted, failed: 1, silent } : { ...counted, silent }
}

// Everything is built in one profile, release (numerical tests need it), and for an explicitly named target, as the napi
// command line does: dependencies are compiled once for all suites.
const host = /^host: (\S+)$/m.exec(spawnSync('rustc', ['-vV'], { encoding: 'utf8' }).stdout ?? '')?.[1]
export const ENVIRONMENT = host === undefined ? {} : { CARGO_BUILD_TARGET: host }
const cargo = (...args) => ['cargo', ...args]
const xtask = (...args) => cargo('run', '--quiet', '--release', '--package', 'xtask', '--', ...args)
const script = (name) => [process.execPath, `scripts/${name}.mjs`]

/**
 * `setup`: needs the native module and the compiled TypeScript. `tool`: runs only where this command is installed; where
 * `EXPECT_TOOLS` (names with commas) lists it, or a suite without one by its own name, its absence is a failure. `target`: likewise
 * of Rust's standard library for it. `absence`: likewise of what it says is missing.
 * @type {{ name: string, command: string[], count: (output: string, code: number) => { passed: number, failed: number }, setup?: boolean, tool?: string, target?: string, absence?: () => string | null }[]}
 */
export const QUICK = [
  { name: 'format', command: cargo('fmt', '--all', '--check', '--', '--color', 'never'), count: whole },
  { name: 'spelling', command: ['typos', '--format', 'brief'], count: whole, tool: 'typos' },
  { name: 'house rules', command: xtask('lint'), count: whole },
  { name: 'generated files', command: xtask('codegen', '--check'), count: whole },
  { name: 'table of performance', command: [...script('performance-table'), '--check'], count: whole },
  { name: 'clippy', command: cargo('clippy', '--quiet', '--release', '--workspace', '--all-targets', '--', '-D', 'warnings'), count: whole },
  { name: 'Rust tests', command: cargo('test', '--release', '--workspace', '--exclude', 'ferrotensor-conformance'), count: rust },
  { name: 'conformance', command: cargo('test', '--release', '--package', 'ferrotensor-conformance'), count: conformance },
  { name: 'declarations', command: [...script('bundle-types'), '--check'], count: whole, setup: true },
  { name: 'JavaScript tests', command: [process.execPath, 'node_modules/ava/entrypoints/cli.mjs', '--tap'], count: ava, setup: true }
]

export const FULL = [
  { name: 'refused memory and threads', command: cargo('test', '--release', '--package', 'ferrotensor-engine', '--features', 'fault', '--test', 'engine'), count: rust },
  { name: 'package and consumer', command: script('package-test'), count: closing, setup: true },
  { name: 'recipe: add an op', command: script('recipe-test'), count: closing },
  { name: 'other versions of Node', command: script('node-test'), count: closing, setup: true },
  { name: 'arm64, emulated', command: script('arm64-test'), count: closing, tool: 'qemu-aarch64', target: 'aarch64-unknown-linux-gnu' },
  { name: 'musl', command: script('musl-test'), count: closing, setup: true, tool: 'cargo-zigbuild', target: 'x86_64-unknown-linux-musl' },
  { name: 'JavaScript tests on Vulkan', command: script('vulkan/javascript'), count: closing, setup: true },
  { name: 'Vulkan under validation', command: script('vulkan/validation'), count: closing, setup: true, absence: noLayer },
  { name: 'other Vulkan devices', command: script('vulkan/variants'), count: closing, setup: true },
  { name: 'benches, smoke', command: [...script('bench'), '--smoke'], count: closing, setup: true },
  { name: 'bench of the engine', command: cargo('bench', '--package', 'ferrotensor-engine', '--bench', 'program'), count: whole },
  { name: 'vendor BLAS', command: script('blas-test'), count: closing, setup: true, absence: noBlas },
  { name: 'instruction counts', command: script('instructions'), count: closing, tool: 'valgrind', absence: () => (process.arch === 'x64' ? null : 'the AVX2 tier is of x86-64') },
  { name: 'hostile calls', command: script('fuzz/calls'), count: closing, setup: true },
  { name: 'index texts', command: script('fuzz/slices'), count: closing, setup: true },
  { name: 'soak, one minute', command: script('fuzz/soak'), count: closing, setup: true }
]

/** What takes minutes to hours. */
export const SLOW = [
  { name: 'AddressSanitizer', command: [...script('sanitizers'), 'address'], count: closing, setup: true, tool: 'gcc', absence: () => noSanitizer('address') },
  { name: 'ThreadSanitizer', command: [...script('sanitizers'), 'thread'], count: closing, setup: true, tool: 'gcc', absence: () => noSanitizer('thread') },
  { name: 'Miri', command: script('miri'), count: closing, absence: () => noSanitizer('miri') },
  { name: 'planted faults', command: script('planted'), count: closing, setup: true },
  { name: 'mutants of every row', command: xtask('mutate'), count: closing },
  { name: 'fuzz targets', command: script('fuzz/native'), count: closing, tool: 'c++' },
  { name: 'hostile calls, many', command: [...script('fuzz/calls'), '--seed', 'slow', '--calls', '5000'], count: closing, setup: true },
  { name: 'soak, twenty minutes', command: [...script('fuzz/soak'), '--seed', 'slow', '--seconds', '1200'], count: closing, setup: true },
  { name: 'fused multiply-add, emulated', command: cargo('run', '--quiet', '--release', '--package', 'ferrotensor-core', '--example', 'fma'), count: closing },
  { name: 'AVX-512 registers, all inputs', command: cargo('test', '--release', '--package', 'ferrotensor-cpu', '--lib', '--', '--ignored'), count: rust },
  // Rewrites crates/core/golden/exhaustive_f32.txt, whose being current the Rust tests check.
  { name: 'float32 functions, all inputs', command: cargo('run', '--quiet', '--release', '--package', 'ferrotensor-core', '--example', 'exhaustive'), count: closing }
]
