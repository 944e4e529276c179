// The suites of `npm run test:slow`: what takes minutes and rarely differs. What came of each is checked in with a hash of its sources
// (results.mjs): the files, and no others, that the faults it is for can come from. `npm run test:slow -- NAME` runs one again.

import { noBlas } from '../blas.mjs'
import { absence as noSanitizer } from '../sanitizers/runtime.mjs'
import { cargo, closing, conformance, rust, script, whole, xtask } from '../suites.mjs'

const UNSAFE = /\bunsafe\b/
/** What threads share. */
const SHARED = /\b(Atomic\w+|Mutex|Condvar|RwLock|OnceLock|unsafe impl (Send|Sync))\b/
/** What is written for one processor or another. */
const BY_PROCESSOR = /\btarget_arch\b/
const LOOPS_OF_PROGRAMS = ['crates/engine/src/arena.rs', 'crates/engine/src/executor.rs', 'crates/engine/src/job.rs', 'crates/engine/src/pool.rs', 'crates/engine/src/storage.rs', 'crates/node/src/handles.rs', 'crates/node/src/watch.rs', 'lib/flush.ts', 'lib/memory.ts']

/** @type {import('../suites.mjs').Suite[]} */
export const SLOW = [
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
  // Rewrites crates/conformance/expected/mutants.txt, whose being current the conformance suite checks.
  { name: 'mutants of every row', command: xtask('mutate'), count: closing },
  { name: 'fuzz targets', command: [...script('fuzz/native'), '--seconds', '40'], count: closing, tool: 'c++', sources: ['crates/fuzz/', 'crates/io/src/', 'crates/core/src/layout.rs', 'crates/engine/src/program.rs', 'crates/ops/src/infer.rs', 'scripts/fuzz/native.mjs'] },
  { name: 'hostile calls, many', command: [...script('fuzz/calls'), '--seed', 'slow', '--calls', '5000'], count: closing, setup: true, sources: ['lib/call.ts', 'lib/native', 'crates/node/src/', 'scripts/fuzz/'] },
  { name: 'soak, five minutes', command: [...script('fuzz/soak'), '--seed', 'slow', '--seconds', '300'], count: closing, setup: true, sources: [...LOOPS_OF_PROGRAMS, 'scripts/fuzz/soak.mjs', 'scripts/fuzz/programs.mjs'] },
  { name: 'fused multiply-add, emulated', command: cargo('run', '--quiet', '--release', '--package', 'ferrotensor-core', '--example', 'fma'), count: closing, sources: ['crates/core/src/math/fma.rs', 'crates/core/src/math/pair.rs', 'crates/core/examples/fma.rs'] },
  { name: 'AVX-512 registers, all inputs', command: cargo('test', '--release', '--package', 'ferrotensor-cpu', '--test', 'units', '--', '--ignored'), count: rust, sources: ['crates/cpu/src/map/registers', 'crates/cpu/tests/units/registers.rs'] },
  // Every variant of every case, of which the quick tier takes a sample: what the variants differ in is in these.
  { name: 'conformance, all', command: cargo('test', '--release', '--package', 'ferrotensor-conformance'), count: conformance, env: { CONFORMANCE: 'all' }, sources: ['crates/core/src/', 'crates/cpu/src/', 'crates/engine/src/', 'crates/ops/src/gradient/', 'crates/conformance/src/'] },
  { name: 'musl', command: script('musl-test'), count: closing, setup: true, tool: 'cargo-zigbuild', target: 'x86_64-unknown-linux-musl', sources: ['crates/node/', 'crates/cpu/src/blas/', 'crates/cpu/src/memory.rs', 'crates/cpu/src/parallel/', 'crates/engine/src/limits.rs', 'crates/engine/src/thread.rs', 'crates/io/src/mapped.rs', 'lib/elf.ts', 'lib/loader.ts', 'lib/native', 'scripts/musl-test.mjs'] },
  { name: 'arm64, emulated', command: script('arm64-test'), count: closing, tool: 'qemu-aarch64', target: 'aarch64-unknown-linux-gnu', sources: [{ path: 'crates/cpu/src/', having: BY_PROCESSOR }, 'crates/core/src/math/fma.rs', 'crates/cpu/src/contract/lanes/', 'scripts/arm64-test.mjs'] },
  { name: 'recipe: add an op', command: script('recipe-test'), count: closing, sources: [{ path: 'CONTRIBUTING.md', part: /\n## Recipe: add an operation[^]*?(?=\n## )/ }, 'crates/ops/src/def.rs', 'scripts/recipe-test.mjs', 'xtask/src/codegen/'] },
  { name: 'vendor BLAS, all', command: [...script('blas-test'), '--all'], count: closing, setup: true, absence: noBlas, sources: ['crates/cpu/src/blas/', 'crates/cpu/src/contract/vendor.rs', 'crates/cpu/src/flat/', 'lib/backends/', 'scripts/blas'] },
  { name: 'benches, smoke', command: [...script('bench'), '--smoke'], count: closing, setup: true, sources: [{ path: 'benches/', ending: '.ts' }, 'scripts/bench.mjs'] },
  { name: 'bench of the engine', command: cargo('bench', '--package', 'ferrotensor-engine', '--bench', 'program'), count: whole, sources: ['benches/program.rs'] },
  // Rewrites crates/core/golden/exhaustive_f32.txt, whose being current the Rust tests check.
  { name: 'float32 functions, all inputs', command: cargo('run', '--quiet', '--release', '--package', 'ferrotensor-core', '--example', 'exhaustive'), count: closing }
]
