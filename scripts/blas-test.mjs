// Products by the vendors' libraries that are installed, as FERROTENSOR_BLAS asks for them: the kernels of products but for what promises
// bits, flat arrays, and the JavaScript tests that can differ there: those that multiply, load, and end processes and workers
// (scripts/javascript.mjs).

import { spawnSync } from 'node:child_process'
import { libraries } from './blas.mjs'
import { testsFor } from './javascript.mjs'
import { ROOT, step } from './steps.mjs'
import { ava, ENVIRONMENT, rust, verdict } from './suites.mjs'

/** What holds for products of our own alone. */
const OF_BITS = [
  'every_sum_goes_by_blocks_of_places',
  'sums_of_doubles_and_complex_numbers_go_by_blocks_too',
  'after_so_many_blocks_a_total_is_set_aside',
  'a_batch_has_the_bits_of_its_products_one_by_one_also_where_all_share_a_factor',
  'a_map_after_a_product_has_the_bits_of_both_one_after_the_other'
]
const { args, note } = testsFor('blas')
const cargo = (...args) => ['cargo', 'test', '--release', '--package', 'ferrotensor-cpu', ...args]
const SUITES = [
  { what: 'products', count: rust, command: cargo('--test', 'kernels', '--', 'contract::', ...OF_BITS.flatMap((name) => ['--skip', name])) },
  { what: 'flat arrays', count: rust, command: cargo('--test', 'flat') },
  { what: 'JavaScript tests', count: ava, command: [process.execPath, ...args] }
]

/** What a process that is asked for a library says of it. */
function described(name) {
  const script = "import('./dist/index.js').then((ft) => console.log(JSON.stringify(ft.backends.get('blas').info())))"
  const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], { cwd: ROOT, encoding: 'utf8', env: { ...process.env, FERROTENSOR_BLAS: name } })
  return stdout === '' ? { available: false, reason: stderr } : JSON.parse(stdout)
}

// A machine that must have some says so.
const wanted = (process.env.EXPECT_BLAS ?? libraries().join()).split(',').filter((name) => name !== '')
let [passed, failed] = [0, 0]
console.log(`note: ${note}`)
for (const name of wanted) {
  const { available, reason, library, version, core } = described(name)
  console.log(`note: ${available ? [library, version, core].filter(Boolean).join(', ') : reason}`)
  if (!available) failed++
  for (const { what, command, count } of available ? SUITES : []) {
    const counted = verdict({ count }, await step(`${name}: ${what}`, command, { env: { ...ENVIRONMENT, FERROTENSOR_BLAS: name } }))
    passed += counted.passed
    failed += counted.failed
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
