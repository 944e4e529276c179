// What docs/systolic.md shows beside its executed examples (`documentation.test.ts`): pictures drawn from a trace, and names that exist.
// runs on: host

import { readFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { pictures } from './pictures.js'

const text = readFileSync(new URL('../../../docs/systolic.md', import.meta.url), 'utf8')

test('the pictures are those of a trace', (t) => {
  const [, shown] = /<!-- pictures -->\n```text\n(.*?)```/s.exec(text) ?? []
  t.is(shown, `${pictures()}\n`)
})

test('every function is named', (t) => {
  const names = Object.keys(ft.systolic)
  t.true(names.length > 15)
  t.deepEqual(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)), [])
})

test('functions that the text names exist', (t) => {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(ft.systolic.array(1, 1)) as object)
  const named = [...text.matchAll(/`(?:ft\.)?systolic\.(\w+)/g)].map(([, name]) => name as string)
  t.true(named.length > 15)
  t.deepEqual(named.filter((name) => !(name in ft.systolic)), [])
  const called = [...text.matchAll(/`\.(\w+)/g)].map(([, name]) => name as string)
  t.true(called.length > 8)
  t.deepEqual(called.filter((name) => !methods.includes(name) && !['at', 'forCoord', 'plot'].includes(name)), [])
})
