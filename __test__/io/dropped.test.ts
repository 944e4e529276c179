// What is opened and never closed, in loops without a turn of the event loop: counts of descriptors and mappings, and that what is still held stays.
// runs on: node, musl

import { existsSync } from 'node:fs'
import test from 'ava'
import { evaluateScript } from '../child.js'
import { folder } from './folder.js'

const at = folder()

test('files that are dropped are closed in the middle of a loop', async (t) => {
  const [most, names] = await evaluateScript<[number, string[]]>(`
    import { readdirSync } from 'node:fs'
    const path = ${JSON.stringify(at('x.safetensors'))}
    ft.io.saveSafetensorsSync(path, { w: ft.ones([4]) })
    const open = ${existsSync('/proc/self/fd')} ? () => readdirSync('/proc/self/fd').length : () => 0
    const start = open()
    let most = 0
    // A process has 256 descriptors on macOS, 1,024 on Linux.
    for (let i = 0; i < 3000; i++) {
      ft.io.openSafetensorsSync(path)
      if (i % 10 === 0) most = Math.max(most, open() - start)
    }
    console.log(JSON.stringify([most, ft.io.openSafetensorsSync(path).names]))`)
  t.deepEqual(names, ['w'])
  t.true(most <= 80, `${most} descriptors`)
})

test('files that are held stay open, however many are dropped beside them', async (t) => {
  const sums = await evaluateScript<number[]>(`
    const bytes = ft.io.encodeSafetensorsSync({ w: ft.ones([1000]) })
    const held = Array.from({ length: 40 }, () => ft.io.openSafetensorsSync(bytes))
    for (let i = 0; i < 2000; i++) ft.io.openSafetensorsSync(bytes)
    ft.trim()
    console.log(JSON.stringify(held.map((file) => file.loadSync('w').sum().itemSync())))`)
  t.deepEqual(sums, new Array(40).fill(1000))
})

test('files that grew old before they were dropped are closed too', async (t) => {
  const most = await evaluateScript<number>(`
    import { readdirSync } from 'node:fs'
    const path = ${JSON.stringify(at('y.safetensors'))}
    ft.io.saveSafetensorsSync(path, { w: ft.ones([4]) })
    const open = ${existsSync('/proc/self/fd')} ? () => readdirSync('/proc/self/fd').length : () => 0
    const start = open()
    let most = 0, kept = []
    // Each outlives the minor collections of 100 others.
    for (let i = 0; i < 3000; i++) {
      kept.push(ft.io.openSafetensorsSync(path))
      if (kept.length > 100) kept = []
      if (i % 10 === 0) most = Math.max(most, open() - start)
    }
    console.log(most)`)
  t.true(most <= 500, `${most} descriptors`)
})
