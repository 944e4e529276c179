// Functions that are several operations each: the answers of NumPy, SciPy and PyTorch (crates/conformance/golden/compositions.py, which describes the
// lines).
// runs on: host

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import test from 'ava'
import * as ft from 'ferrotensor'
import { close, evaluate } from './expect.js'

const lines = readFileSync(new URL('../../crates/conformance/golden/compositions.txt', import.meta.url), 'utf8').trimEnd().split('\n')

/** What is wrong with a line; nothing where the code gives what it says. */
function wrong(line: string): string | undefined {
  const at = line.lastIndexOf(' // ')
  const [code, gives] = [line.slice(0, at), line.slice(at + 4)]
  try {
    const value = evaluate(code)
    const plain = value instanceof ft.Tensor ? value.toArray() : value
    return close(plain, evaluate(gives)) ? undefined : `${code}: gave ${inspect(plain, { depth: null })}, not ${gives}`
  } catch (error) {
    return `${code}: threw ${String(error)}`
  }
}

test('compositions give what NumPy, SciPy and PyTorch give', (t) => {
  t.deepEqual(lines.flatMap((line) => wrong(line) ?? []), [])
  t.true(lines.length > 300, String(lines.length))
})

test('a wrong answer is seen', (t) => {
  t.regex(wrong('ft.tri(2) // [[1, 0], [1, 2]]') ?? '', /not \[\[1, 0\], \[1, 2\]\]/)
  t.regex(wrong('ft.tri(-1) // 0') ?? '', /threw ShapeError/)
})
