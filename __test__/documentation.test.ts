// Every example in the documentation comments of `index.d.ts` and in `docs/indexing.md`, `docs/io.md`,
// `docs/random.md`, `docs/gradients.md`, `docs/combiners.md`, `docs/training.md` and `docs/coming-from-python.md`, executed: what an editor shows is true.

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import test from 'ava'
import * as ft from 'ferrotensor'
import { close, evaluate } from './expect.js'

function found(path: string, pattern: RegExp): [code: string, gives: string][] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  return [...text.matchAll(pattern)].map(([, code, gives]) => [code as string, gives as string])
}

const types = found('index.d.ts', /```ts\n\s*\* (.+) \/\/ (.+)\n\s*\* ```/g)
const indexing = found('docs/indexing.md', /^(ft\..+) \/\/ (.+)$/gm)
const files = found('docs/io.md', /^(ft\..+) \/\/ (.+)$/gm)
const draws = found('docs/random.md', /^(ft\..+) \/\/ (.+)$/gm)
const gradients = found('docs/gradients.md', /^(ft\..+) \/\/ (.+)$/gm)
const combiners = found('docs/combiners.md', /^(ft\..+) \/\/ (.+)$/gm)
const training = found('docs/training.md', /^((?:ft\.|\[).+) \/\/ (.+)$/gm)
const python = found('docs/coming-from-python.md', /^(ft\..+) \/\/ (.+)$/gm)
const examples = new Map([...types, ...indexing, ...files, ...draws, ...gradients, ...combiners, ...training, ...python])

test('there are examples', (t) => {
  t.true(types.length > 60 && indexing.length > 15 && files.length > 5 && draws.length > 5 && gradients.length > 8 && combiners.length > 8 && training.length > 3 && python.length > 10, `${types.length}, ${indexing.length}, ${files.length}, ${draws.length}, ${gradients.length}, ${combiners.length}, ${training.length} and ${python.length} examples`)
})

for (const [code, gives] of examples) {
  test(code, (t) => {
    const value = evaluate(code)
    const actual = value instanceof ft.Tensor ? value.toArray() : value
    t.true(close(actual, evaluate(gives)), `gave ${inspect(actual)}, documented is ${gives}`)
  })
}
