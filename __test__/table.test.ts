// Every example and every error case of the operation table, executed.
// runs on: host; the conformance suite has each row on every device

import test from 'ava'
import { close, evaluate, failure } from './expect.js'
import { ERRORS, EXAMPLES } from './generated/examples.js'

for (const { op, code, run, gives } of EXAMPLES) {
  test(`example of ${op}`, (t) => {
    const actual = run().toArray()
    t.true(close(actual, evaluate(gives)), `${code} gave ${JSON.stringify(actual)}, documented is ${gives}`)
  })
}

// Rows that share a base share its error cases too.
const cases = new Map(ERRORS.map((row) => [row.code, row]))
for (const { op, code, error } of cases.values()) {
  test(`${code} is ${error} (${op})`, (t) => {
    const thrown = failure(t, () => evaluate(code), code)
    t.is(thrown.code, error, thrown.message)
  })
}

test('the comparison of examples can fail', (t) => {
  t.true(close([1, NaN, { re: 1, im: 2 }], [1.000001, null, { re: 1, im: 2 }]))
  for (const [actual, expected] of [[[1], [1.1]], [[1, 2], [1]], [[true], [1]], [[1], [null]], [1, [1]], [{ re: 1, im: 0 }, { re: 1, im: 1 }]]) {
    t.false(close(actual, expected), JSON.stringify([actual, expected]))
  }
})
