// `convert` onto what is there: without `--force` nothing is replaced, with it the file as a whole, and what is no file never.
// runs on: node, musl

import test from 'ava'
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import * as ft from 'ferrotensor'
import { writeWhole } from '../../lib/cli/whole-file.js'
import { folder } from '../io/folder.js'
import { command, type Ended } from './command.js'

const path = folder()

const convert = (...words: readonly string[]): Promise<Ended> => command(['convert', ...words])

ft.io.saveNpySync(path('one.npy'), ft.zeros([2, 3, 4], { dtype: 'int64' }))

test.serial('a file that exists is replaced with --force alone; then symbolic links and permissions stay', async (t) => {
  ft.io.saveNpySync(path('old.npy'), ft.zeros([3]))
  const refused = await convert(path('one.npy'), path('old.npy'))
  t.is(refused.code, 1)
  t.regex(refused.stderr, /EEXIST: file already exists, '.*old\.npy'; --force replaces it\n$/)
  t.deepEqual(ft.io.loadNpySync(path('old.npy')).shape, [3])
  const bits = process.platform === 'win32' ? 0o666 : 0o640
  chmodSync(path('old.npy'), bits)
  let to = 'old.npy'
  if (process.platform !== 'win32') symlinkSync(path('old.npy'), path((to = 'link.npy')))
  t.is((await convert(path('one.npy'), path(to), '--force')).code, 0)
  t.deepEqual(ft.io.loadNpySync(path('old.npy')).shape, [2, 3, 4])
  t.is(statSync(path('old.npy')).mode & 0o777, bits)
  t.is(lstatSync(path(to)).isSymbolicLink(), to === 'link.npy')
  // Onto itself, while it is mapped.
  t.is((await convert(path('old.npy'), path('old.npy'), '--force')).code, 0)
  t.deepEqual(ft.io.loadNpySync(path('old.npy')).shape, [2, 3, 4])
})

test.serial('what is no regular file is never replaced, and the command is named once', async (t) => {
  mkdirSync(path('folder.npy'))
  const { code, stderr } = await convert(path('one.npy'), path('folder.npy'), '--force')
  t.is(code, 1)
  t.regex(stderr, /^ferrotensor: convert: EINVAL: not a regular file, open '.*folder\.npy'\n$/)
})

test.serial('two at once to a new file: one writes it, the other finds that it exists', async (t) => {
  const inside = folder()
  let writing = 0
  let bothWrite = (): void => {}
  const both = new Promise<void>((resolve) => (bothWrite = resolve))
  const write = (text: string) => async (whole: string): Promise<void> => {
    writeFileSync(whole, text)
    if (++writing === 2) bothWrite()
    await both
  }
  const ends = await Promise.allSettled(['a', 'b'].map((text) => writeWhole('test', inside('new.npy'), false, write(text))))
  const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as Error).message] : []))
  t.deepEqual(refusals, [`test: EEXIST: file already exists, '${inside('new.npy')}'; --force replaces it`])
  t.is(readFileSync(inside('new.npy'), 'utf8'), ends[0]?.status === 'fulfilled' ? 'a' : 'b')
  t.deepEqual(readdirSync(inside('.')), ['new.npy'])
})

if (process.platform !== 'win32') {
  test.serial('a link that names nothing exists; with --force the file takes its place', async (t) => {
    symlinkSync(path('nowhere.npy'), path('dangling.npy'))
    const refused = await convert(path('one.npy'), path('dangling.npy'))
    t.is(refused.code, 1)
    t.regex(refused.stderr, /^ferrotensor: convert: EEXIST: file already exists, '.*dangling\.npy'; --force replaces it\n$/)
    t.true(lstatSync(path('dangling.npy')).isSymbolicLink())
    t.is((await convert(path('one.npy'), path('dangling.npy'), '--force')).code, 0)
    t.true(lstatSync(path('dangling.npy')).isFile())
  })

  test.serial('with --force the other names of a file keep the old one', async (t) => {
    writeFileSync(path('first.npy'), 'old')
    linkSync(path('first.npy'), path('second.npy'))
    t.is((await convert(path('one.npy'), path('first.npy'), '--force')).code, 0)
    t.deepEqual(ft.io.loadNpySync(path('first.npy')).shape, [2, 3, 4])
    t.is(readFileSync(path('second.npy'), 'utf8'), 'old')
  })
}
