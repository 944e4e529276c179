// Every example in the documentation comments of `index.d.ts`, executed: what an editor shows is true.

import { readFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { close, evaluate } from './expect.js'

const types = readFileSync(new URL('../../index.d.ts', import.meta.url), 'utf8')
const examples = new Map([...types.matchAll(/```ts\n\s*\* (.+) \/\/ (.+)\n\s*\* ```/g)].map(([, code, gives]) => [code as string, gives as string]))

test('there are examples', (t) => {
  t.true(examples.size > 60, `${examples.size} examples`)
})

for (const [code, gives] of examples) {
  test(code, (t) => {
    const value = evaluate(code)
    const actual = value instanceof ft.Tensor ? value.toArray() : value
    t.true(close(actual, evaluate(gives)), `gave ${JSON.stringify(actual)}, documented is ${gives}`)
  })
}
