// `npm test` runs the quick suites, `npm run test:full` (`--full`) the slow ones, `npm run test:slow` (`--slow`) what takes an
// hour after a change and nothing without one, `cargo xtask validate` the quick ones up to the first failure (`--bail`). The last line is `N passed, N failed`.

import { missingTool, setUp } from './setup.mjs'
import { seconds, step } from './steps.mjs'
import { ENVIRONMENT, FULL, QUICK, SLOW, verdict } from './suites.mjs'

const bail = process.argv.includes('--bail')
const suites = process.argv.includes('--slow') ? SLOW : process.argv.includes('--full') ? FULL : QUICK
const started = performance.now()
const total = { passed: 0, failed: 0 }

const missing = missingTool()
if (missing !== null) {
  console.log(missing)
  total.failed++
}
let ready
for (const suite of missing === null ? suites : []) {
  if (suite.setup && ready === undefined) ready = await setUp()
  if (suite.setup && !ready) {
    console.log(`${suite.name}: not run, since setting up failed`)
    total.failed++
  } else {
    const { passed, failed, silent } = verdict(suite, await step(suite.name, suite.command, { env: ENVIRONMENT }))
    console.log(silent ? '  reported no test at all: a failure' : `  ${passed} passed, ${failed} failed`)
    total.passed += passed
    total.failed += failed
  }
  if (bail && total.failed > 0) break
}
console.log(`\nin ${seconds(started)} s`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
