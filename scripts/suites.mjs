// The suites of `npm test` (and `cargo xtask validate`) and of `npm run test:full`, cheapest first; those of `npm run test:slow` are in
// slow/suites.mjs. docs/testing.md says what each is for.
// Each suite says how its runner reports what passed; a suite that reports nothing did not run, and that is a failure.

import { spawnSync } from 'node:child_process'
import { noBlas } from './blas.mjs'
import { noLayer } from './vulkan/messages.mjs'

const sum = (output, pattern) => [...output.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0)

/** A check that passes or fails as a whole. */
export const whole = (_output, code) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 })

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
export const conformance = (output) => {
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
export const cargo = (...args) => ['cargo', ...args]
export const xtask = (...args) => cargo('run', '--quiet', '--release', '--package', 'xtask', '--', ...args)
export const script = (name) => [process.execPath, `scripts/${name}.mjs`]

/**
 * `setup`: needs the native module and the compiled TypeScript. `tool`: runs only where this command is installed; where
 * `EXPECT_TOOLS` (names with commas) lists it, or a suite without one by its own name, its absence is a failure. `target`: likewise
 * of Rust's standard library for it. `absence`: likewise of what it says is missing. `beside`: so many of the suites that follow run
 * while it does: a build leaves a core idle while its largest crate ends. `sources` is of the slow tier (slow/results.mjs).
 * @typedef {{ name: string, command: string[], count: (output: string, code: number) => { passed: number, failed: number }, setup?: boolean, tool?: string, target?: string, absence?: () => string | null, env?: Record<string, string>, beside?: number, sources?: import('./slow/results.mjs').Source[] }} Suite
 */

/** @type {Suite[]} */
export const QUICK = [
  { name: 'format', command: cargo('fmt', '--all', '--check', '--', '--color', 'never'), count: whole },
  { name: 'spelling', command: ['typos', '--format', 'brief'], count: whole, tool: 'typos' },
  { name: 'licences and sources', command: cargo('deny', '--locked', 'check', '--hide-inclusion-graph', 'licenses', 'bans', 'sources'), count: whole, tool: 'cargo-deny' },
  { name: 'table of performance', command: [...script('performance-table'), '--check'], count: whole },
  // All that Rust's suites run, in one build: features are the same in all of them (crates/unified).
  { name: 'build of the tests', command: cargo('test', '--quiet', '--release', '--workspace', '--no-run'), count: whole, beside: 2 },
  { name: 'packages and TypeScript', command: [...script('setup'), 'typescript'], count: whole },
  // In the profile of development, whose folder no release build locks.
  { name: 'clippy', command: cargo('clippy', '--quiet', '--workspace', '--all-targets', '--', '-D', 'warnings'), count: whole },
  { name: 'house rules', command: xtask('lint'), count: whole },
  { name: 'generated files', command: xtask('codegen', '--check'), count: whole },
  // Kernels share one number of threads, so that their tests take turns and leave a core idle.
  { name: 'Rust tests of the CPU', command: cargo('test', '--release', '--package', 'ferrotensor-cpu'), count: rust, beside: 1 },
  { name: 'Rust tests', command: cargo('test', '--release', '--workspace', '--exclude', 'ferrotensor-conformance', '--exclude', 'ferrotensor-cpu'), count: rust },
  { name: 'conformance', command: cargo('test', '--release', '--package', 'ferrotensor-conformance'), count: conformance, env: { DURATIONS: '40' } },
  { name: 'declarations', command: [...script('bundle-types'), '--check'], count: whole, setup: true },
  { name: 'JavaScript tests', command: [process.execPath, 'node_modules/ava/entrypoints/cli.mjs', '--tap'], count: ava, setup: true }
]

/** @type {Suite[]} */
export const FULL = [
  { name: 'slow tier is current', command: script('slow/results'), count: closing },
  { name: 'package and consumer', command: script('package-test'), count: closing, setup: true },
  { name: 'other versions of Node', command: script('node-test'), count: closing, setup: true },
  { name: 'JavaScript tests on Vulkan', command: script('vulkan/javascript'), count: closing, setup: true },
  { name: 'Vulkan under validation', command: script('vulkan/validation'), count: closing, setup: true, absence: noLayer },
  { name: 'bench of the engine', command: cargo('bench', '--package', 'ferrotensor-engine', '--bench', 'program'), count: whole },
  { name: 'vendor BLAS', command: script('blas-test'), count: closing, setup: true, absence: noBlas },
  { name: 'instruction counts', command: script('instructions'), count: closing, tool: 'valgrind', absence: () => (process.arch === 'x64' ? null : 'the AVX2 tier is of x86-64') },
  { name: 'hostile calls', command: script('fuzz/calls'), count: closing, setup: true },
  { name: 'index texts', command: script('fuzz/slices'), count: closing, setup: true },
  { name: 'soak, half a minute', command: [...script('fuzz/soak'), '--seconds', '30'], count: closing, setup: true }
]
