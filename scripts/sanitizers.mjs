// The native module under AddressSanitizer with LeakSanitizer, and under ThreadSanitizer: built with the sanitizer on the stable
// compiler, loaded into an ordinary Node with gcc's runtime preloaded, and driven by the JavaScript tests, hostile calls and
// random programs. Each report is a failure, in whatever process it happened: the runtimes write them to files.
//
//   node scripts/sanitizers.mjs [address | thread] [--show]
//
// First a module with planted errors is loaded (scripts/sanitizers/planted.rs): a sanitizer that misses one of its own proves
// nothing. `--show` builds, runs nothing, and prints the environment for a run by hand. Needs gcc, and for ThreadSanitizer Rust's
// sources (rustup component add rust-src).

import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { symbolized, takeReports } from './sanitizers/reports.mjs'
import { RUNTIMES, absence, gcc } from './sanitizers/runtime.mjs'
import { ROOT, run, step } from './steps.mjs'
import { ENVIRONMENT, ava, closing, verdict } from './suites.mjs'

const { values: given, positionals } = parseArgs({ options: { show: { type: 'boolean', default: false } }, allowPositionals: true })
const { CARGO_BUILD_TARGET: target } = ENVIRONMENT
/** Reports shown in full; the rest are counted. */
const SHOWN = 5
const REPORT_CHARACTERS = 6000

const HERE = join(ROOT, 'scripts/sanitizers')
const tests = (...args) => [process.execPath, 'node_modules/ava/entrypoints/cli.mjs', '--tap', '--timeout=20m', ...args]
const files = (...names) => names.map((name) => `dist/__test__/${name}.test.js`)
/** The tests of how soon a process ends. */
const ENDS = ['process.exit*', 'an uncaught error*', 'worker.terminate*']
/** Left out: resident memory, which is the sanitizer's, and ends within a second, which come after a search for leaks. */
const UNLIKE = ['bounded*', ...ENDS].map((title) => `--match=!${title}`)
const fuzz = (name, ...args) => [process.execPath, `scripts/fuzz/${name}.mjs`, ...args]

/**
 * `mark`: what every module instrumented by it calls. `rustflags`: beside those of all. `shim`: C that is preloaded with the
 * runtime. `variables`: of the runtime, with its reports in `log`.
 * `planted`: errors by the sanitizer's own name. `runs`: what is run, with the reader of its counts and more options.
 */
const SANITIZERS = {
  address: {
    title: 'AddressSanitizer',
    mark: '__asan_report_load',
    rustflags: [],
    variables: (log) => ({
      // Symbols of our own frames are enough (`symbolized`): with Node's, each process would take seconds longer to end.
      // Null for what is too large, as malloc: the module turns it into an OutOfMemoryError. Freed memory kept to find late
      // uses: 64 MiB instead of 256, since tests look at resident memory. A leak changes no exit code that a test looks at.
      ASAN_OPTIONS: `log_path=${log}:detect_leaks=1:symbolize=0:allocator_may_return_null=1:quarantine_size_mb=64`,
      LSAN_OPTIONS: 'exitcode=0'
    }),
    planted: ['heap-buffer-overflow', 'heap-use-after-free', 'detected memory leaks'],
    runs: [
      { name: 'JavaScript tests', command: tests(...UNLIKE), count: ava },
      { name: 'ends of processes', command: tests(...ENDS.map((title) => `--match=${title}`), ...files('exit')), count: ava, options: { ASAN_OPTIONS: 'detect_leaks=0' } },
      { name: 'hostile calls', command: fuzz('calls', '--calls', '60'), count: closing }
    ]
  },
  thread: {
    title: 'ThreadSanitizer',
    mark: '__tsan_func_entry',
    // crossbeam synchronises by fences, which the sanitizer does not understand; told so, it uses atomic loads.
    rustflags: ['--cfg', 'crossbeam_sanitize_thread'],
    shim: 'thread.c',
    variables: (log) => ({ TSAN_OPTIONS: `log_path=${log}:exitcode=0`, FERROTENSOR_THREADS: '4' }),
    planted: ['data race'],
    runs: [
      { name: 'asynchronous and worker tests', command: tests(...files('workers', 'lifecycle', 'robustness', 'hostile', 'random', 'windows')), count: ava },
      // Resident memory is mostly the sanitizer's own, of every address that was ever met.
      { name: 'random programs', command: fuzz('soak', '--seconds', '60', '--growth', '1024'), count: closing }
    ]
  }
}

let [passed, failed] = [0, 0]
const judge = (good, text) => {
  good ? passed++ : failed++
  if (!good) console.log(text)
  return good
}

/** Builds and runs everything for one sanitizer. */
async function sanitize(name, { title, mark, rustflags, shim, variables, planted, runs }) {
  const folder = join(ROOT, 'target/sanitizers', name)
  const reports = join(folder, 'reports')
  rmSync(reports, { recursive: true, force: true })
  mkdirSync(reports, { recursive: true })
  const { library, std } = RUNTIMES[name]
  const preload = [gcc(library)]
  const flags = [`-Zsanitizer=${name}`, ...rustflags]
  // The sanitizer is an option of nightly that a stable compiler takes with RUSTC_BOOTSTRAP.
  const toolchain = { ...ENVIRONMENT, RUSTC_BOOTSTRAP: '1' }

  if (shim !== undefined) {
    preload.push(join(folder, 'shim.so'))
    const built = await step('shim', ['gcc', '-O1', '-shared', '-fPIC', join(HERE, shim), '-o', preload[1]])
    if (!judge(built.code === 0, `${title}: the shim does not build`)) return
  }
  const sanitized = { LD_PRELOAD: preload.join(':'), ...variables(join(reports, 'report')) }

  const plantedModule = join(folder, 'planted.node')
  const mixed = std ? ['-Cunsafe-allow-abi-mismatch=sanitizer'] : []
  const compiled = await run(['rustc', '--edition=2024', '--crate-type=cdylib', '-O', '-g', ...flags, ...mixed, join(HERE, 'planted.rs'), '-o', plantedModule], { env: toolchain })
  if (!judge(compiled.code === 0, compiled.output)) return
  for (const error of ['none', ...planted]) {
    await run([process.execPath, '-e', `process.dlopen({ exports: {} }, ${JSON.stringify(plantedModule)})`], { env: { ...sanitized, PLANTED: error } })
    const found = takeReports(reports, plantedModule)
    const right = error === 'none' ? found.length === 0 : found.some((text) => text.includes(error) && symbolized(text, plantedModule).includes('planted.rs'))
    if (!judge(right, `${title}: planted ${error}, reported: ${found.join('\n') || 'nothing'}`)) return
  }

  const built = await step(`${title}: build`, ['cargo', 'build', '--release', '--package', 'ferrotensor-node'], {
    env: {
      ...toolchain,
      CARGO_TARGET_DIR: folder,
      RUSTFLAGS: flags.join(' '),
      ...(std && { CARGO_UNSTABLE_BUILD_STD: 'std,panic_unwind' }),
      // Built in half the time of release, and checked for what a debug build checks; lines for the reports.
      CARGO_PROFILE_RELEASE_OPT_LEVEL: '1',
      CARGO_PROFILE_RELEASE_DEBUG: 'line-tables-only',
      CARGO_PROFILE_RELEASE_STRIP: 'none',
      CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS: 'true'
    }
  })
  // Node takes a file for a native module by its name only.
  const module = join(folder, 'ferrotensor.node')
  if (built.code === 0) copyFileSync(join(folder, target, 'release/libferrotensor_node.so'), module)
  if (!judge(built.code === 0 && readFileSync(module).includes(mark), `${title}: no instrumented module`)) return

  if (given.show) {
    const toScreen = { LD_PRELOAD: sanitized.LD_PRELOAD, ...variables('stderr'), FERROTENSOR_NATIVE: module }
    console.log(Object.entries(toScreen).map((pair) => pair.join('=')).join(' '))
    return
  }
  for (const { name: what, command, count, options = {} } of runs) {
    const env = { ...sanitized, FERROTENSOR_NATIVE: module }
    for (const [variable, more] of Object.entries(options)) env[variable] += `:${more}`
    const result = await step(`${title}: ${what}`, command, { env })
    const counted = verdict({ count }, result)
    const found = takeReports(reports, module)
    passed += counted.passed
    failed += counted.failed + found.length
    for (const text of found.slice(0, SHOWN)) console.log(symbolized(text, module).slice(0, REPORT_CHARACTERS))
    console.log(`note: ${title}, ${what}: ${counted.passed} passed, ${counted.failed} failed, ${found.length} reports, ${result.seconds} s`)
  }
}

for (const name of positionals.length > 0 ? positionals : Object.keys(SANITIZERS)) {
  const sanitizer = SANITIZERS[name]
  if (sanitizer === undefined) throw new Error(`no sanitizer '${name}': there are ${Object.keys(SANITIZERS).join(', ')}`)
  const reason = absence(name)
  if (reason === null) await sanitize(name, sanitizer)
  else judge(false, reason)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
