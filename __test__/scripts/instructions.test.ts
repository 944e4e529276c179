// The guard of instruction counts (`scripts/instructions.mjs`) fails where a count has grown, and says what to do about it.
// runs on: host

import test from 'ava'

interface Budget {
  readonly rustc: string
  readonly counts: Record<string, number>
}
interface Guard {
  readonly SLACK: number
  judge(counts: Record<string, number>, budget: Budget, rustc: string): string[]
  idle(counts: Record<string, number>, budget: Budget): string[]
}

// This file runs as dist/__test__/scripts/instructions.test.js.
const { SLACK, judge, idle } = (await import(new URL('../../../scripts/instructions/budget.mjs', import.meta.url).href)) as Guard

const budget = { rustc: 'rustc 1.0.0', counts: { decode: 1_000_000, lookup: 10_000 } }

test('a count within the slack passes, and one above it fails with how to renew the budget', (t) => {
  const most = Math.floor(10_000 * (1 + SLACK))
  t.deepEqual(judge({ decode: 900_000, lookup: most }, budget, budget.rustc), [])
  const [what, how, ...more] = judge({ decode: 1_000_000, lookup: most + 1 }, budget, budget.rustc)
  t.regex(what as string, /^lookup: 10301 instructions for each program, 3.0 % over the budget of 10000$/)
  t.regex(how as string, /instructions.mjs --renew/)
  t.deepEqual(more, [])
})

test('another compiler is named beside what it made worse', (t) => {
  t.true(judge({ decode: 2_000_000, lookup: 1 }, budget, 'rustc 2.0.0').includes('the budget is of rustc 1.0.0, this was built by rustc 2.0.0'))
})

test('what was not counted, or has no budget, fails', (t) => {
  t.regex(judge({ decode: 1 }, budget, budget.rustc)[0] as string, /^lookup: has a budget/)
  t.regex(judge({ ...budget.counts, dispatch: 1 }, budget, budget.rustc)[0] as string, /^dispatch: was counted/)
})

test('a budget far above its count is pointed out', (t) => {
  t.deepEqual(idle({ decode: 1_000_000, lookup: 5000 }, budget), ['lookup'])
})
