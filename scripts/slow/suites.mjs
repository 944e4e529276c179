// The suites of `npm run test:slow`: what takes minutes and rarely differs. What came of each is checked in with a hash of its sources
// (results.mjs): the files, and no others, that the faults it is for can come from. `npm run test:slow -- NAME` runs one again.

import { absence as noSanitizer } from '../sanitizers/runtime.mjs'
import { cargo, closing, conformance, rust, script, xtask } from '../suites.mjs'

const UNSAFE = /\bunsafe\b/
/** What threads share. */
const SHARED = /\b(Atomic\w+|Mutex|Condvar|RwLock|OnceLock|unsafe impl (Send|Sync))\b/
const LOOPS_OF_PROGRAMS = ['crates/engine/src/arena.rs', 'crates/engine/src/executor.rs', 'crates/engine/src/job.rs', 'crates/engine/src/pool.rs', 'crates/engine/src/storage.rs', 'crates/node/src/handles.rs', 'crates/node/src/watch.rs', 'lib/program/writer.ts', 'lib/execution/']

/** @type {import('../suites.mjs').Suite[]} */
export const SLOW = [
  // Kernels and functions in code for that processor alone; all else is the same source.
  {
    name: 'arm64, emulated',
    command: script('arm64-test'),
    count: closing,
    tool: 'qemu-aarch64',
    target: 'aarch64-unknown-linux-gnu',
    sources: ['.ci/cross', 'scripts/cross.mjs', 'scripts/arm64-test.mjs', 'crates/core/src/math/fma.rs', { path: 'crates/cpu/src/', having: /\btarget_(arch|feature)\b|\b(aarch64|neon)\b/ }]
  },
  // Another C library's threads, exits and loader: what says which, and what calls it.
  {
    name: 'musl',
    command: script('musl-test'),
    count: closing,
    setup: true,
    tool: 'cargo-zigbuild',
    target: 'x86_64-unknown-linux-musl',
    sources: ['.ci/cross', 'scripts/cross.mjs', 'scripts/musl-test.mjs', 'lib/loader.ts', { path: 'crates/', ending: '.rs', having: /\btarget_(env|os)\b|\blib(c|loading)::/ }]
  },
  {
    name: 'recipe: add an op',
    command: script('recipe-test'),
    count: closing,
    sources: ['scripts/recipe-test.mjs', { path: 'CONTRIBUTING.md', part: /```rust\n[^]*?```/ }, 'crates/ops/src/def.rs', 'xtask/src/codegen']
  },
  // Kernels, and what chooses them by what a device has.
  { name: 'other Vulkan devices', command: script('vulkan/variants'), count: closing, setup: true, sources: ['scripts/vulkan/variants.mjs', 'crates/gpu/src/', 'crates/vulkan/src/'] },
  { name: 'benches, smoke', command: [...script('bench'), '--smoke'], count: closing, setup: true, sources: ['scripts/bench.mjs', { path: 'benches/', ending: '.ts' }, 'lib/generated/functions.ts'] },
  {
    name: 'AddressSanitizer',
    command: [...script('sanitizers'), 'address'],
    count: closing,
    setup: true,
    tool: 'gcc',
    absence: () => noSanitizer('address'),
    sources: ['scripts/sanitizers', { path: 'crates/cpu/src/', having: UNSAFE }, { path: 'crates/node/src/', having: UNSAFE }, 'crates/io/src/mapped.rs']
  },
  {
    name: 'ThreadSanitizer',
    command: [...script('sanitizers'), 'thread'],
    count: closing,
    setup: true,
    tool: 'gcc',
    absence: () => noSanitizer('thread'),
    sources: ['scripts/sanitizers', ...['cpu', 'engine', 'node'].map((crate) => ({ path: `crates/${crate}/src/`, having: SHARED }))]
  },
  { name: 'Miri', command: script('miri'), count: closing, absence: () => noSanitizer('miri'), sources: ['scripts/miri.mjs', 'crates/cpu/tests/kernels/small.rs', { path: 'crates/cpu/src/', having: UNSAFE }] },
  // Whether a fault of each class is caught by the step that docs/planted-faults.md names: of what the suites themselves are.
  { name: 'planted faults', command: script('planted'), count: closing, setup: true, sources: ['crates/conformance/src/breadth.rs', 'crates/conformance/src/share.rs', 'scripts/javascript.mjs', 'scripts/planted', 'scripts/suites.mjs'] },
  // Rewrites crates/conformance/expected/mutants.txt, whose being current the conformance suite checks.
  { name: 'mutants of every row', command: xtask('mutate'), count: closing },
  { name: 'fuzz targets', command: [...script('fuzz/native'), '--seconds', '40'], count: closing, tool: 'c++', sources: ['crates/fuzz/', 'crates/io/src/', 'crates/core/src/layout.rs', 'crates/engine/src/program.rs', 'crates/ops/src/infer.rs', 'scripts/fuzz/native.mjs'] },
  { name: 'hostile calls, many', command: [...script('fuzz/calls'), '--seed', 'slow', '--calls', '5000'], count: closing, setup: true, sources: ['lib/arguments/', 'lib/native', 'crates/node/src/', 'scripts/fuzz/'] },
  { name: 'soak, five minutes', command: [...script('fuzz/soak'), '--seed', 'slow', '--seconds', '300'], count: closing, setup: true, sources: [...LOOPS_OF_PROGRAMS, 'scripts/fuzz/soak.mjs', 'scripts/fuzz/programs.mjs'] },
  { name: 'fused multiply-add, emulated', command: cargo('run', '--quiet', '--release', '--package', 'ferrotensor-core', '--example', 'fma'), count: closing, sources: ['crates/core/src/math/fma.rs', 'crates/core/src/math/pair.rs', 'crates/core/examples/fma.rs'] },
  { name: 'AVX-512 registers, all inputs', command: cargo('test', '--release', '--package', 'ferrotensor-cpu', '--test', 'units', '--', '--ignored'), count: rust, sources: ['crates/cpu/src/map/registers', 'crates/cpu/tests/units/registers.rs'] },
  // Every variant of every case, of which the quick tier takes a sample: what the variants differ in is in these.
  { name: 'conformance, all', command: cargo('test', '--release', '--package', 'ferrotensor-conformance'), count: conformance, env: { CONFORMANCE: 'all' }, sources: ['crates/core/src/', 'crates/cpu/src/', 'crates/engine/src/', 'crates/ops/src/gradient/', 'crates/conformance/src/'] },
  // Rewrites crates/core/golden/exhaustive_f32.txt, whose being current the Rust tests check.
  { name: 'float32 functions, all inputs', command: cargo('run', '--quiet', '--release', '--package', 'ferrotensor-core', '--example', 'exhaustive'), count: closing }
]
