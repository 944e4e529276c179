// FERROTENSOR_NATIVE names something else than this version's binary, or a damaged copy of it: the package says so, and the process lives
// on, in which the right binary works afterwards.
// runs on: musl; on another Node loading.test.ts has a broken binary

import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { BINARY, Installation } from './installation.js'

const installation = new Installation()
test.after.always(() => installation.remove())
const { folder } = installation

const binary = readFileSync(BINARY)

/** The first bytes of the real binary, in a file of their own. */
function cut(length: number): string {
  const file = join(folder, `${length}.node`)
  writeFileSync(file, binary.subarray(0, length))
  return file
}

/** A native module of somebody else: rollup's, with which the declarations are made. It may be of another libc than this process. */
function somebodyElses(): string[] {
  const modules = new URL('../../../node_modules/@rollup/', import.meta.url)
  const packages = readdirSync(modules).filter((name) => name.startsWith('rollup-'))
  return packages.flatMap((name) => readdirSync(new URL(name, modules)).filter((file) => file.endsWith('.node')).map((file) => fileURLToPath(new URL(`${name}/${file}`, modules))))
}

/** A file, and how the reason begins. */
type Case = readonly [title: string, path: string, reason: RegExp]

const CASES: Case[] = [
  ['nothing', join(folder, 'nowhere.node'), /the file FERROTENSOR_NATIVE names does not exist: \S+nowhere\.node$/],
  ['a name of a package', 'ferrotensor', /the file FERROTENSOR_NATIVE names does not exist: /],
  ['a folder', folder, /FERROTENSOR_NATIVE names what is no file: /],
  ['an empty file', cut(0), /exists but cannot be loaded: /],
  ['a text', installation.write('text.node', 'not a shared library'), /exists but cannot be loaded: /],
  ['numbers in JSON', installation.write('numbers.json', '[1, 2]'), /is no native module of ferrotensor\.\n.*\n {2}Fix: /],
  ['a module in JavaScript', installation.write('module.cjs', 'exports.run = () => 1'), /is no native module of ferrotensor\./],
  ['what is no module at all', installation.write('broken.cjs', '}'), /exists but cannot be loaded: /],
  ['the first bytes of the binary', cut(100), /exists but cannot be loaded: /],
  ...somebodyElses().map((file): Case => ['a native module of somebody else', file, /(?:is no native module of ferrotensor\.|exists but cannot be loaded: .*)\n.*\n {2}Fix: /])
]
// Elsewhere libraries are no ELF files.
if (process.platform === 'linux') {
  for (const part of [0.0002, 0.1, 0.5, 0.9, 0.99]) {
    CASES.push([`the binary up to ${100 * part} %`, cut(Math.floor(part * binary.length)), /exists but cannot be loaded: the file is cut off\n {2}It is \S+\.\n {2}Fix: /])
  }
  CASES.push(['a device', '/dev/zero', /FERROTENSOR_NATIVE names what is no file: \/dev\/zero$/])
}
// To root every file is readable.
if (process.getuid !== undefined && process.getuid() !== 0) {
  const file = installation.write('secret.node', 'secret')
  chmodSync(file, 0)
  CASES.push(['a file that may not be read', file, /exists but cannot be loaded: EACCES/])
}

for (const [title, path, pattern] of CASES) {
  test.serial(`${title} in the place of the binary: a reason, no crash`, async (t) => {
    const reason = await installation.reason({ FERROTENSOR_NATIVE: path })
    t.regex(reason, new RegExp(`^ERR_BACKEND_UNAVAILABLE ferrotensor: .*${pattern.source}`))
  })
}

/** Starts a worker with a binary of its own, and resolves with what it found: a sum, or the reason why not. */
const IN_WORKER = `
  import { once } from 'node:events'
  import { Worker } from 'node:worker_threads'
  const source = \`
    import * as ft from 'ferrotensor'
    import { parentPort } from 'node:worker_threads'
    let found
    try { found = ft.tensor([1, 2, 3]).sum().itemSync() } catch ({ code, message }) { found = code + ' ' + message }
    parentPort.postMessage(found)\`
  async function inWorker(path) {
    const worker = new Worker(source, { eval: true, execArgv: ['--input-type=module'], env: { ...process.env, FERROTENSOR_NATIVE: path } })
    const [[found]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
    return found
  }`

test.serial('workers of one process meet all of them one after the other, and then the right one', async (t) => {
  const found = await installation.evaluate<(string | number)[]>(`${IN_WORKER}
    const found = []
    for (const path of ${JSON.stringify([...CASES.map(([, path]) => path), BINARY])}) found.push(await inWorker(path))
    console.log(JSON.stringify(found))`)
  t.is(found.length, CASES.length + 1)
  CASES.forEach(([title, , pattern], i) => t.regex(found[i] as string, new RegExp(`^ERR_BACKEND_UNAVAILABLE ferrotensor: .*${pattern.source}`), title))
  t.is(found.at(-1), 6)
})

test.serial('workers that find no binary do not disturb those that have one, at the same time', async (t) => {
  const [bad] = CASES.find(([title]) => title === 'a text')?.slice(1) as [string]
  const found = await installation.evaluate<(string | number)[]>(
    `${IN_WORKER}
    const found = await Promise.all(${JSON.stringify([BINARY, bad, BINARY, bad, '', BINARY])}.map(inWorker))
    console.log(JSON.stringify([...found.map((value) => (typeof value === 'number' ? value : 'reason')), ft.ones([4]).sum().itemSync()]))`,
    { FERROTENSOR_NATIVE: BINARY }
  )
  t.deepEqual(found, [6, 'reason', 6, 'reason', 'reason', 6, 4])
})

test.serial('a path counts from the working folder', async (t) => {
  mkdirSync(join(folder, 'below'))
  writeFileSync(join(folder, 'below', 'copy.node'), binary)
  const sum = await installation.evaluate<number>('console.log(JSON.stringify(ft.tensor([1, 2, 3]).sum().itemSync()))', { FERROTENSOR_NATIVE: 'below/copy.node' })
  t.is(sum, 6)
})
