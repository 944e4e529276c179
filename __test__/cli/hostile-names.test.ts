// Names out of files and paths may be long and hold anything: tables stay narrow, messages one line, JSON plain text.
// runs on: host; texts are made by code of our own

import test from 'ava'
import { writeFileSync } from 'node:fs'
import * as ft from 'ferrotensor'
import { folder } from '../io/folder.js'
import { command } from './command.js'

const path = folder()

/** What steers a terminal or lies about the order of characters: line ends, C0 and C1 controls, marks of direction. */
const STEERING = '\n\r\u001b[2J\u0085\u009b31m\u200e\u200f\u202a\u202e\u2066\u2069'

/** Writes a safetensors file of one int8 for each name. */
function saveNames(file: string, names: readonly string[]): void {
  const entries = names.map((name, at) => [name, { dtype: 'I8', shape: [1], data_offsets: [at, at + 1] }])
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(file, Buffer.concat([length, header, Buffer.alloc(names.length)]))
}

test.serial('a name of 6 MB among many is shortened in a table, and whole in JSON', async (t) => {
  const long = `first${'x'.repeat(6e6)}last`
  saveNames(path('long.safetensors'), [long, ...Array.from({ length: 100 }, (_, i) => `w${i}`)])
  const { code, stdout, stderr } = await command(['inspect', path('long.safetensors')])
  t.deepEqual([code, stderr], [0, ''])
  t.regex(stdout, /^firstx+\.\.\.x+last +int8 +\[1\] +1 B$/m)
  t.true(stdout.split('\n').slice(1).every((line) => line.length <= 100))
  const found = JSON.parse((await command(['inspect', '--json', path('long.safetensors')])).stdout) as { arrays: { name: string }[] }
  t.true(found.arrays.some(({ name }) => name === long))
})

test.serial('a name of 64 characters is whole, of a longer one the middle is left out, and no character is halved', async (t) => {
  saveNames(path('edge.safetensors'), ['a'.repeat(64), `b${'😀'.repeat(64)}`])
  const { stdout } = await command(['inspect', path('edge.safetensors')])
  t.regex(stdout, /^a{64} +int8/m)
  t.regex(stdout, /^b(😀){29}\.\.\.(😀){30} +int8/mu)
})

test.serial('a message about a long name is short', async (t) => {
  saveNames(path('one.safetensors'), ['y'.repeat(6e6)])
  const { code, stderr } = await command(['convert', path('one.safetensors'), path('one.npz'), '--name', 'z'.repeat(1000)])
  t.is(code, 2)
  t.true(stderr.length < 500 + path('').length, stderr.slice(0, 500))
})

test.serial('names and paths in messages are one line without controls', async (t) => {
  const names = Array.from({ length: 3 }, (_, i) => `${i}${STEERING}`)
  saveNames(path('names.safetensors'), names)
  ft.io.saveSafetensorsSync(path('keys.safetensors'), { w: ft.ones([1]) }, { metadata: { [STEERING]: '' } })
  ft.io.saveNpySync(path('w.npy'), ft.ones([1]))
  const refused = [
    ['convert', path('names.safetensors'), path('n.npy')],
    ['convert', path('names.safetensors'), path('n.npz'), '--name', 'absent'],
    ['convert', path('keys.safetensors'), path('keys.npz')],
    ['convert', path('w.npy'), path(`no\nferrotensor: folder${STEERING}/w.npz`)],
    ['inspect', path(`${STEERING}.npy`)],
    ['bench', '--device', STEERING]
  ]
  if (process.platform !== 'win32') {
    ft.io.saveNpySync(path(`is${STEERING}.npy`), ft.ones([1]))
    refused.push(['convert', path('w.npy'), path(`is${STEERING}.npy`)])
  }
  for (const words of refused) {
    const { stderr } = await command(words)
    t.regex(stderr, /^ferrotensor: [^\p{Cc}\p{Cf}]+\n$/u, words.join(' '))
  }
})

test.serial('JSON has controls and marks of direction as escapes, which read back as they were', async (t) => {
  saveNames(path('json.safetensors'), [`é😀${STEERING}`])
  const { stdout } = await command(['inspect', '--json', path('json.safetensors')])
  t.notRegex(stdout, /[^\P{Cc}\n]|\p{Cf}/u)
  t.true(stdout.includes('é😀'))
  t.is((JSON.parse(stdout) as { arrays: { name: string }[] }).arrays[0]?.name, `é😀${STEERING}`)
})
