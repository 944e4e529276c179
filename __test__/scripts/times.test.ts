// The table of times, and when a step has grown.
// runs on: host

import test from 'ava'

interface Entry {
  readonly tier: string
  readonly name: string
  readonly cold: boolean
  readonly seconds: number
  readonly passed?: number
  readonly failed?: number
  readonly beside?: boolean
  readonly cases?: Record<string, number>
}
type Known = Record<string, Partial<Record<'cold' | 'warm', { seconds: number; cases?: Record<string, number> }>>>
interface Times {
  casesOf(output: string): Record<string, number>
  grown(entries: readonly Entry[], known: Known): string[]
  table(entries: readonly Entry[]): string
}

// This file runs as dist/__test__/scripts/times.test.js.
const { casesOf, grown, table } = (await import(new URL('../../../scripts/times.mjs', import.meta.url).href)) as Times

test('a step that takes half as long again is named, with the cases that grew', (t) => {
  const known: Known = { 'quick/rows': { warm: { seconds: 10, cases: { exp: 4, add: 6 } }, cold: { seconds: 100 } } }
  const entry = { tier: 'quick', name: 'rows', cold: false, seconds: 16, cases: { exp: 10, add: 6 } }
  t.deepEqual(grown([entry], known), ['rows took 16.0 s, 10.0 s are known of it; grown: exp 4.0 -> 10.0'])
  t.deepEqual(grown([{ ...entry, seconds: 15 }], known), [], 'half as long again is allowed')
  t.deepEqual(grown([{ ...entry, cold: true }], known), [], 'a cold run is compared with cold ones')
  t.deepEqual(grown([{ ...entry, name: 'new' }], known), [])
})

test('a step of a second may take two more', (t) => {
  t.deepEqual(grown([{ tier: 'quick', name: 'format', cold: false, seconds: 3 }], { 'quick/format': { warm: { seconds: 1 } } }), [])
})

test('the seconds of cases are read', (t) => {
  t.deepEqual(casesOf('all rows: 9.0 s of threads\ntook: 3.5 s fft/fft\ntook: 0.2 s add\n'), { 'fft/fft': 3.5, add: 0.2 })
})

test('steps beside others are shown, and not added', (t) => {
  const lines = table([
    { tier: 'quick', name: 'build', cold: true, seconds: 30, passed: 1, failed: 0, beside: false },
    { tier: 'quick', name: 'clippy', cold: true, seconds: 20, passed: 1, failed: 0, beside: true }
  ]).split('\n')
  t.is(lines.length, 4)
  t.regex(lines[2] as string, /^clippy +quick +cold +20\.0 +1 +0$/)
  t.regex(lines[3] as string, /^all of quick +quick +cold +30\.0 +2 +0$/)
})
