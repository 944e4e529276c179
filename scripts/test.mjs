// `npm test` runs the quick suites, `npm run test:full` (`--full`) the larger ones, `npm run test:slow [PART...]` (`--slow`) the longest,
// or those parts of them; `cargo xtask validate` the quick ones up to the first failure (`--bail`). The last line is `N passed, N failed`.
// docs/testing.md says what each suite is for and what it may cost.

import { absence } from './absence.mjs'
import { missingTool, setUp } from './setup.mjs'
import { hashOf, keep } from './slow/results.mjs'
import { SLOW } from './slow/suites.mjs'
import { seconds, step } from './steps.mjs'
import { ENVIRONMENT, FULL, QUICK, verdict } from './suites.mjs'
import { casesOf, forget, isCold, record, warnings } from './times.mjs'

const [options, named] = [process.argv.slice(2).filter((arg) => arg.startsWith('--')), process.argv.slice(2).filter((arg) => !arg.startsWith('--'))]
const bail = options.includes('--bail')
const tier = options.includes('--slow') ? 'slow' : options.includes('--full') ? 'full' : 'quick'
const suites = { quick: QUICK, full: FULL, slow: SLOW }[tier].filter(({ name }) => named.length === 0 || named.includes(name))
const unknown = named.filter((name) => !suites.some((suite) => suite.name === name))
const started = performance.now()
const cold = isCold(ENVIRONMENT.CARGO_BUILD_TARGET)
const total = { passed: 0, failed: 0 }
const entries = []

const fail = (text) => {
  console.log(text)
  total.failed++
}
const missing = missingTool()
if (missing !== null) fail(missing)
if (unknown.length > 0) fail(`no suite of the ${tier} tier is named ${unknown.join(', ')}`)

const expected = (process.env.EXPECT_TOOLS ?? '').split(',')
let ready
/** Runs one suite and counts it. */
async function runSuite(suite, beside) {
  const reason = expected.includes(suite.tool ?? suite.name) ? null : absence(suite)
  if (reason !== null) {
    console.log(`${suite.name}: skipped, ${reason}`)
    return
  }
  if (suite.setup && ready === undefined) ready = await setUp()
  if (suite.setup && !ready) return fail(`${suite.name}: not run, since setting up failed`)
  const result = await step(suite.name, suite.command, { env: { ...ENVIRONMENT, ...suite.env }, beside })
  const { passed, failed, silent } = verdict(suite, result)
  for (const [, note] of result.output.matchAll(/^note: (.*)$/gm)) console.log(`  ${note}`)
  console.log(silent ? '  reported no test at all: a failure' : `  ${passed} passed, ${failed} failed`)
  total.passed += passed
  total.failed += failed
  const entry = { tier, name: suite.name, cold, seconds: Number(result.seconds), passed, failed, beside, cases: casesOf(result.output) }
  entries.push(entry)
  record(entry)
  if (tier === 'slow') keep(suite, { passed, failed, seconds: entry.seconds, hash: hashOf(suite) })
}

if (total.failed === 0) {
  if (named.length === 0) forget(tier)
  for (let at = 0; at < suites.length; at++) {
    // A suite's `beside`: those that follow and need none of what it makes run while it does, one after the other.
    const beside = suites.slice(at + 1, at + 1 + (suites[at].beside ?? 0))
    const inTurn = async () => {
      for (const suite of beside) if (!(bail && total.failed > 0)) await runSuite(suite, true)
    }
    await Promise.all([runSuite(suites[at], beside.length > 0 ? false : undefined), inTurn()])
    at += beside.length
    if (bail && total.failed > 0) break
  }
}
for (const warning of warnings(entries)) console.log(`warning: ${warning}`)
console.log(`\nin ${seconds(started)} s`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
