// The CPU's memory, launches and every kind of kernel interpreted by Miri, which reports what no run shows: reads of memory that was
// never written, references that others write through, pointers that leave their block, races of accesses that happened apart.
// Interpreted code is thousands of times slower than compiled, so operands have few elements (`crates/cpu/tests/kernels/small.rs`),
// and the sizes from which the CPU shares work, copies by panels and reduces by chunks are smaller (`cfg!(miri)` in its sources).
// Only the instruction set that every machine has is interpreted.
//
//   node scripts/miri.mjs
//
// First errors are planted (scripts/sanitizers/planted.rs). Needs rustup toolchain install nightly --component miri,rust-src.

import { join } from 'node:path'
import { absence } from './sanitizers/runtime.mjs'
import { ROOT, run, step } from './steps.mjs'
import { rust, verdict } from './suites.mjs'

/** Errors by the names of planted.rs, and what Miri says of them. */
const PLANTED = {
  'heap-buffer-overflow': 'at or beyond the end of the allocation',
  'heap-use-after-free': 'has been freed',
  'detected memory leaks': 'memory leaked',
  'data race': 'Data race detected',
  'uninitialized memory': 'uninitialized',
  'broken borrow': 'is forbidden'
}
// crossbeam's queues, below rayon, take back what they lent in ways that only this model of borrows allows, and keep pointers with a
// tag in their lowest bits as integers. Tests read the environment.
const MIRIFLAGS = ['-Zmiri-tree-borrows', '-Zmiri-permissive-provenance', '-Zmiri-disable-isolation']
/** Tests of small kernels that have no work to share. */
const SERIAL = ['maps_of', 'functions_and_fused']
// Workers wait for work until the process ends, which Miri takes for a leak: leaks are looked for where there is no second thread.
const RUNS = [
  { name: 'memory', threads: 1, args: ['--test', 'units', '--', 'memory'] },
  { name: 'launches and small maps', threads: 1, args: ['--test', 'kernels', '--', 'backend', 'complex_products', 'index', 'nothing', ...SERIAL] },
  { name: 'kernels on two threads', threads: 2, args: ['--test', 'kernels', '--', 'small', ...SERIAL.flatMap((name) => ['--skip', name])] }
]

let [passed, failed] = [0, 0]
const judge = (good, text) => {
  good ? passed++ : failed++
  if (!good) console.log(text)
  return good
}

async function interpret() {
  const setup = await step('standard library', ['cargo', '+nightly', 'miri', 'setup', '--print-sysroot'])
  if (!judge(setup.code === 0, 'the standard library for Miri does not build')) return
  const sysroot = setup.output.trim().split('\n').at(-1)
  const program = join(ROOT, 'scripts/sanitizers/planted.rs')
  for (const [error, words] of [['none', null], ...Object.entries(PLANTED)]) {
    const command = ['rustup', 'run', 'nightly', 'miri', '--edition=2024', '--crate-type=bin', '--sysroot', sysroot, ...MIRIFLAGS, program]
    const { code, output } = await run(command, { env: { PLANTED: error } })
    judge(words === null ? code === 0 : code !== 0 && output.includes(words), `planted ${error}: ended with ${code} and said\n${output}`)
  }
  if (failed > 0) return
  for (const { name, threads, args } of RUNS) {
    const flags = threads > 1 ? [...MIRIFLAGS, '-Zmiri-ignore-leaks'] : MIRIFLAGS
    const env = { MIRIFLAGS: flags.join(' '), FERROTENSOR_THREADS: String(threads) }
    const result = await step(name, ['cargo', '+nightly', 'miri', 'test', '--package', 'ferrotensor-cpu', '--features', 'ferrotensor-core/portable', ...args], { env })
    const counted = verdict({ count: rust }, result)
    passed += counted.passed
    failed += counted.failed
  }
}

const reason = absence('miri')
if (reason === null) await interpret()
else judge(false, reason)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
