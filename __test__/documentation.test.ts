// Every example in the documentation comments of `index.d.ts` and in `docs/indexing.md`, `docs/io.md`, `docs/einops.md`, `docs/signal.md`,
// `docs/random.md`, `docs/gradients.md`, `docs/vmap.md`, `docs/combiners.md`, `docs/training.md`, `docs/performance.md`, `docs/plots.md`, `docs/arrays.md`, `docs/systolic.md`,
// `docs/backends/protocol.md` and `docs/coming-from-python.md`, executed: what an editor shows is true.
// runs on: host

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import typescript from '@typescript/typescript6'
import test from 'ava'
import * as ft from 'ferrotensor'
import * as plot from 'ferrotensor/plot'
import { close, evaluate, failure } from './expect.js'

/** An example: an expression, what it gives, and the lines it needs before it. */
type Example = readonly [code: string, gives: string, before: string]

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The examples of a text, a line each; the other lines of a block (types, classes) stand before each of its examples. */
function found(text: string, example = /^(ft\..+) \/\/ (.+)$/): Example[] {
  return [...text.matchAll(/^```ts\n(.*?)^```/gms)].flatMap(([, block]) => {
    const lines = (block as string).split('\n')
    const before = lines.filter((line) => line !== '' && !example.test(line)).join('\n')
    return lines.flatMap((line): Example[] => {
      const [, code, gives] = example.exec(line) ?? []
      return code === undefined ? [] : [[code, gives as string, before]]
    })
  })
}

/** The comments of the declarations, without their margin. */
const comments = read('index.d.ts').replace(/^ *\* ?/gm, '')

const types = found(comments, /^(.+) \/\/ (.+)$/)
const indexing = found(read('docs/indexing.md'))
const files = found(read('docs/io.md'))
const draws = found(read('docs/random.md'))
const gradients = found(read('docs/gradients.md'))
const combiners = found(read('docs/combiners.md'))
const patterns = found(read('docs/einops.md'))
const signals = found(read('docs/signal.md'))
const tracing = found(read('docs/jit.md'), /^((?:ft\.|scale\().+) \/\/ (.+)$/)
const mapping = found(read('docs/vmap.md'), /^((?:ft\.|pairs\().+) \/\/ (.+)$/)
const training = found(read('docs/training.md'), /^((?:ft\.|\[).+) \/\/ (.+)$/)
const performance = found(read('docs/performance.md'), /^((?!const|let).+) \/\/ (.+)$/)
const plots = found(read('docs/plots.md'), /^(plot\..+) \/\/ (.+)$/)
const python = found(read('docs/coming-from-python.md'))
const compositions = found(read('docs/arrays.md'))
const backends = found(read('docs/backends/protocol.md'), /^((?:ft\.|\[).+) \/\/ (.+)$/)
const arrays = found(read('docs/systolic.md'))
const all = [...types, ...indexing, ...files, ...draws, ...gradients, ...combiners, ...patterns, ...signals, ...tracing, ...mapping, ...training, ...performance, ...plots, ...python, ...compositions, ...backends, ...arrays]
const examples = new Map(all.map((example) => [`${example[2]}\n${example[0]}`.trim(), example]))

/** What an example gives, without its types. */
function run(code: string, before: string): unknown {
  return new Function('ft', 'plot', typescript.transpile(`${before}\nreturn ${code}`, { target: typescript.ScriptTarget.ES2022 }))(ft, plot)
}

test('there are examples', (t) => {
  t.true(types.length > 60 && indexing.length > 15 && files.length > 5 && draws.length > 5 && gradients.length > 8 && combiners.length > 8 && patterns.length > 8 && signals.length > 8 && tracing.length > 4 && training.length > 3 && performance.length > 8 && plots.length > 8 && python.length > 10 && compositions.length > 18 && backends.length > 12, `${types.length}, ${indexing.length}, ${files.length}, ${draws.length}, ${gradients.length}, ${combiners.length}, ${patterns.length}, ${signals.length}, ${tracing.length}, ${training.length}, ${performance.length}, ${plots.length}, ${python.length} and ${backends.length} examples`)
})

test('examples of comments are JavaScript: hostile calls begin with their arguments', (t) => {
  for (const [code] of types) t.notThrows(() => new Function('ft', `return (${code})`), code)
})

for (const [title, [code, gives, before]] of examples) {
  test(title, (t) => {
    const [, error, text] = /^(\w+Error): (.+?)(?: \.\.\.)?$/.exec(gives) ?? []
    if (error !== undefined) {
      const thrown = failure(t, () => run(code, before), code)
      t.true(thrown.name === error && thrown.message.startsWith(text as string), `threw ${thrown.name}: ${thrown.message}`)
      return
    }
    const value = run(code, before)
    const actual = value instanceof ft.Tensor ? value.toArray() : value
    t.true(close(actual, evaluate(gives)), `gave ${inspect(actual)}, documented is ${gives}`)
  })
}
