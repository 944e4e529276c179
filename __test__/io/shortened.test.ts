// Files that another program shortens in place while this one reads them: an error, never the end of the process.
// runs on: node, musl

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync as read, truncateSync, writeFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { evaluateScript } from '../child.js'
import { folder } from './folder.js'

const at = folder()

test('what was shortened between opening and loading is refused', async (t) => {
  const path = at('opened.safetensors')
  ft.io.saveSafetensorsSync(path, { w: ft.ones([1 << 16]) })
  const file = ft.io.openSafetensorsSync(path)
  truncateSync(path, 1000)
  t.throws(() => file.loadSync('w'), { code: 'ERR_FORMAT', message: /^io\.loadSync: the file was changed while it was being read/ })
  await t.throwsAsync(file.load('w'), { code: 'ERR_FORMAT' })
  file.close()
})

test.serial('a file that is shortened and written again all the time is read whole or refused', async (t) => {
  const path = at('restless.npy')
  const bytes = ft.io.encodeNpySync(ft.ones([1 << 20]))
  writeFileSync(path, bytes)
  writeFileSync(at('bytes'), bytes)
  // Cuts the file, for long enough that a read meets it, and puts back what was there.
  const restless = spawn(process.execPath, ['--eval', `
    const { openSync, ftruncateSync, readFileSync, writeSync } = require('node:fs')
    const [file, bytes] = [openSync(${JSON.stringify(path)}, 'r+'), readFileSync(${JSON.stringify(at('bytes'))})]
    process.stdout.write('go')
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (;;) { ftruncateSync(file, 4096); writeSync(file, bytes, 0, bytes.length, 0); Atomics.wait(pause, 0, 0, 3) }`])
  await once(restless.stdout, 'data')
  try {
    // In a process of its own: this is about its end.
    const ended = await evaluateScript<Record<string, number>>(`
      const ended = { whole: 0, refused: 0, other: 0 }
      for (let i = 0; i < 600; i++) {
        try {
          const x = i % 2 ? await ft.io.loadNpy(${JSON.stringify(path)}) : ft.io.loadNpySync(${JSON.stringify(path)})
          ended[x.size === 1 << 20 ? 'whole' : 'other']++
        } catch (error) {
          ended[error.code === 'ERR_FORMAT' ? 'refused' : 'other']++
        }
      }
      console.log(JSON.stringify(ended))`)
    t.is(ended['other'], 0)
    t.is((ended['whole'] as number) + (ended['refused'] as number), 600)
    t.log(JSON.stringify(ended))
  } finally {
    restless.kill()
  }
})

test('a file is the same synced or not', (t) => {
  const x = ft.arange(1000).reshape([10, 100])
  const saves: [string, (path: string, sync: boolean | undefined) => void][] = [
    ['npy', (path, sync) => ft.io.saveNpySync(path, x, { sync })],
    ['npz', (path, sync) => ft.io.saveNpzSync(path, { x }, { sync, compressed: true })],
    ['safetensors', (path, sync) => ft.io.saveSafetensorsSync(path, { x }, { sync })],
    ['txt', (path, sync) => ft.io.saveTextSync(path, x, { sync })]
  ]
  for (const [format, save] of saves) {
    save(at(`synced.${format}`), undefined)
    save(at(`not.${format}`), false)
    t.deepEqual(read(at(`not.${format}`)), read(at(`synced.${format}`)), format)
    t.throws(() => save(at(`wrong.${format}`), 1 as never), { code: 'ERR_ARGUMENT', message: /'sync' must be a boolean, got 1$/ })
  }
  t.throws(() => ft.io.encodeNpzSync({ x }, { sync: true } as never), { code: 'ERR_ARGUMENT', message: /unknown option 'sync'/ })
})
