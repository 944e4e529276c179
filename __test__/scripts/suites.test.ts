// How `npm test` counts: it must not be green because a runner crashed, ran nothing, or changed its words.
// runs on: host

import test from 'ava'

interface Suite {
  readonly name: string
}
interface Verdict {
  readonly passed: number
  readonly failed: number
}
interface Suites {
  readonly QUICK: readonly Suite[]
  readonly FULL: readonly Suite[]
  verdict(suite: Suite, result: { code: number; output: string }): Verdict
}

// This file runs as dist/__test__/scripts/suites.test.js.
const { QUICK, FULL, verdict } = (await import(new URL('../../../scripts/suites.mjs', import.meta.url).href)) as Suites

function count(name: string, code: number, output: string): [passed: number, failed: number] {
  const suite = [...QUICK, ...FULL].find((s) => s.name === name) as Suite
  const { passed, failed } = verdict(suite, { code, output })
  return [passed, failed]
}

test('closing lines of Rust binaries are added up', (t) => {
  const lines = 'test result: ok. 12 passed; 0 failed; 1 ignored\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored\n'
  t.deepEqual(count('Rust tests', 101, lines), [15, 2])
})

test('a problem of the conformance suite that is no case counts', (t) => {
  t.deepEqual(count('conformance', 1, 'test result: ok. 5 passed; 0 failed; 0 ignored\nFAILED: never hit\n5 passed, 1 failed\n'), [5, 1])
})

test('the closing lines of ava are read', (t) => {
  t.deepEqual(count('JavaScript tests', 1, 'ok 1 - a\n\n1..36\n# tests 36\n# pass 33\n# fail 3\n'), [33, 3])
})

test('a runner that crashes without counting a failure has failed', (t) => {
  t.deepEqual(count('JavaScript tests', 1, '# pass 3\n# fail 0\n'), [3, 1])
  t.deepEqual(count('format', 1, ''), [0, 1])
})

test('a suite that ran nothing has failed', (t) => {
  t.deepEqual(count('Rust tests', 0, ''), [0, 1])
  t.deepEqual(count('JavaScript tests', 0, 'Couldn’t find any files to test\n'), [0, 1])
  t.deepEqual(count('package and consumer', 0, '0 passed, 0 failed\n'), [0, 1])
})
