// `npm test` runs the quick suites, `npm run test:full` (`--full`) the slow ones, `cargo xtask validate` the quick ones up to
// the first failure (`--bail`). The last line is `N passed, N failed`.

import { setUp } from './setup.mjs'
import { seconds, step } from './steps.mjs'
import { FULL, QUICK } from './suites.mjs'

const bail = process.argv.includes('--bail')
const suites = process.argv.includes('--full') ? FULL : QUICK
const started = performance.now()
const total = { passed: 0, failed: 0 }

/** What a suite counted; one that failed without saying so, or that ran nothing, counts as one failure. */
function verdict({ name, count }, { code, output }) {
  const counted = count(output, code)
  if (code !== 0 && counted.failed === 0) return { ...counted, failed: 1 }
  if (counted.passed + counted.failed > 0) return counted
  console.log(`${name}: reported no test at all\n${output.trimEnd()}`)
  return { passed: 0, failed: 1 }
}

let ready
for (const suite of suites) {
  if (suite.setup && ready === undefined) ready = await setUp()
  if (suite.setup && !ready) {
    console.log(`${suite.name}: not run, since setting up failed`)
    total.failed++
  } else {
    const { passed, failed } = verdict(suite, await step(suite.name, suite.command, { env: suite.env }))
    console.log(`  ${passed} passed, ${failed} failed (${suite.name})`)
    total.passed += passed
    total.failed += failed
  }
  if (bail && total.failed > 0) break
}
console.log(`\nin ${seconds(started)} s`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
