// NumPy's answers to 20,000 random index expressions (crates/conformance/golden/indexing.py, which describes the lines),
// replayed through `at`, `withAt` and their asynchronous twins, with items in all the forms they may have.
// runs on: host; indexing.test.ts has each kind of item on other devices

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import * as ft from 'ferrotensor'

const golden = gunzipSync(readFileSync(new URL('../../crates/conformance/golden/indexing.txt.gz', import.meta.url)))
const lines = golden.toString().trimEnd().split('\n')

const shapeOf = (text: string) => (text === '.' ? [] : text.split('x').map(Number))
const dims = (shape: readonly number[]) => shape.join('x') || '.'

function answer(x: ft.Tensor): string {
  return `${dims(x.shape)} ${createHash('sha1').update(x.toBytes()).digest().subarray(0, 8).toString('base64').replace(/=+$/, '')}`
}

const ARRAYS = { Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array }

function typedArray(dtype: string, numbers: string): ft.TypedArray {
  const values = numbers === '' ? [] : numbers.split(',')
  if (dtype === 'int64') return BigInt64Array.from(values, BigInt)
  return ARRAYS[`${dtype[0] === 'u' ? 'Ui' : 'I'}${dtype.slice(dtype[0] === 'u' ? 2 : 1)}Array` as 'Int8Array'].from(values.map(Number))
}

type Booleans = boolean | Booleans[]
const booleans = (value: number | unknown[]): Booleans => (Array.isArray(value) ? value.map((item) => booleans(item as number)) : value === 1)

/** An item of a line; basic ones are texts or, on every other line, values where they have one. */
function itemOf(text: string, values: boolean): ft.IndexItem {
  const [, kind, dtype = '', shape = '', elements = ''] = /^([abmtv]?)(\w*)(?::([^=]*))?=?(.*)$/.exec(text) as unknown as string[]
  switch (kind) {
    case 'a':
      return JSON.parse(text.slice(1))
    case 'b':
      return booleans(JSON.parse(text.slice(1))) as boolean
    case 'v':
      return typedArray(dtype, elements) as Int32Array
    case 't':
      return ft.fromTypedArray(typedArray(dtype, elements), shapeOf(shape))
    case 'm':
      return ft.fromTypedArray(Uint8Array.from(elements, Number), shapeOf(shape), { dtype: 'bool' })
    default:
  }
  if (text === 'n') return null
  if (!values || text === '...') return text
  if (!text.includes(':')) return Number(text)
  return ft.slice(...text.split(':').map((bound) => (bound === '' ? null : Number(bound))))
}

/** The items of a line; basic ones that follow each other may be one text. */
function itemsOf(text: string, n: number): ft.IndexItem[] {
  const items: ft.IndexItem[] = []
  for (const word of text.split(' ')) {
    const item = itemOf(word, n % 2 === 0)
    const before = items.at(-1)
    if (n % 4 === 1 && typeof before === 'string' && typeof item === 'string') items[items.length - 1] = `${before}, ${item}`
    else items.push(item)
  }
  return items
}

const arange = (shape: readonly number[], from = 0) => {
  const size = shape.reduce((product, length) => product * length, 1)
  return ft.fromTypedArray(Int32Array.from({ length: size }, (_, i) => from + i), shape)
}

/** What a call gives, or `error` for what may be wrong with an index. */
async function outcome(call: () => ft.Tensor | Promise<ft.Tensor>): Promise<string> {
  try {
    return answer(await call())
  } catch (error) {
    if (error instanceof ft.IndexError || error instanceof ft.ShapeError) return 'error'
    throw error
  }
}

test('20,000 index expressions give what NumPy gives', async (t) => {
  const wrong: string[] = []
  const counts = { selections: 0, errors: 0, changes: 0, awaited: 0 }
  for (const [n, line] of lines.entries()) {
    const [shape, text, wanted, change] = line.split('\t') as [string, string, string, string?]
    const x = arange(shapeOf(shape))
    const items = itemsOf(text, n)
    const check = (what: string, got: string, expected: string) => {
      if (got !== expected) wrong.push(`${what}, line ${n + 1}: ${shape} at ${text} is ${got}, should be ${expected}`)
    }
    counts[wanted === 'error' ? 'errors' : 'selections']++
    check('at', await outcome(() => x.at(...items)), wanted)
    if (change === undefined) continue
    counts.changes++
    const [valueShape, hash] = change.split(' ') as [string, string]
    const value = valueShape === '.' && n % 2 === 0 ? 1000 : arange(shapeOf(valueShape), 1000)
    check('withAt', await outcome(() => x.withAt(items, value)), `${shape} ${hash}`)
    if (n % 8 > 0) continue
    counts.awaited++
    check('atAsync', await outcome(() => x.atAsync(...items)), wanted)
    check('withAtAsync', await outcome(() => x.withAtAsync(items, value)), `${shape} ${hash}`)
  }
  t.deepEqual(wrong.slice(0, 10), [], `${wrong.length} answers differ`)
  t.is(counts.selections + counts.errors, 20_000)
  t.true(counts.errors > 500 && counts.changes > 5000 && counts.awaited > 500, JSON.stringify(counts))
})
