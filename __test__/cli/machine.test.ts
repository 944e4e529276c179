// `devices`, `check` and `bench`: what they say of this machine, as text and as JSON, with and without the native module.
// runs on: host; what it tells of a device is computed in other tests

import test from 'ava'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import * as ft from '../../index.js'
import { difference, KNOWN_RESULTS } from '../../lib/cli/known-results.js'
import { tested } from '../device.js'
import { folder } from '../io/folder.js'
import { command, WITHOUT_NATIVE } from './command.js'

const present = ft.devices().filter(({ available }) => available)
const absent = ft.devices().filter(({ available }) => !available)

const json = async <T>(...words: readonly string[]): Promise<T> => {
  const { code, stdout, stderr } = await command(words)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}

test.serial('devices lists each device, marks the default, and says why others are absent', async (t) => {
  const { code, stdout, stderr } = await command(['devices'], { env: { FERROTENSOR_DEVICE: tested } })
  t.deepEqual([code, stderr], [0, ''])
  for (const { name } of present) t.regex(stdout, new RegExp(`^${name === tested ? '\\*' : ' '} ${name} `, 'm'))
  for (const device of absent) t.true(!device.available && stdout.includes(`${device.name}: ${device.reason}`), device.name)
  t.false(stdout.includes('\u001b'), 'no colours in a pipe')
})

test.serial('devices --json is what ft.devices() gives', async (t) => {
  const found = await json<{ default: string; devices: unknown[] }>('devices', '--json')
  t.deepEqual(found.devices, JSON.parse(JSON.stringify(ft.devices())))
  t.true(present.some(({ name }) => name === found.default))
})

test.serial('devices says that FERROTENSOR_DEVICE names none, and ends with 1', async (t) => {
  const env = { FERROTENSOR_DEVICE: 'abacus' }
  const { code, stdout } = await command(['devices'], { env })
  t.is(code, 1)
  t.regex(stdout, /no default device: FERROTENSOR_DEVICE: there is no device 'abacus'/)
  const { default: name, reason } = JSON.parse((await command(['devices', '--json'], { env })).stdout) as { default: null; reason: string }
  t.deepEqual([name, /abacus/.test(reason)], [null, true])
})

test.serial('check finds every device in order, and ends with 0', async (t) => {
  const { code, stdout, stderr } = await command(['check'])
  t.deepEqual([code, stderr], [0, ''])
  for (const { name } of present) t.regex(stdout, new RegExp(`^${name} +ok +${KNOWN_RESULTS.length} known results in `, 'm'))
  t.regex(stdout, /^native +ok .*\.node$/m)
  t.regex(stdout, /^The installation works\.$/m)
})

interface Checked {
  readonly ok: boolean
  readonly node: string
  readonly native: { readonly file: string; readonly version: string | null } | null
  readonly reason?: string
  readonly devices: readonly { readonly device: string; readonly ok: boolean; readonly failures: readonly unknown[] }[]
  readonly absent: readonly unknown[]
}

for (const env of [{ FERROTENSOR_DEVICE: 'abacus' }, { FERROTENSOR_DEVICE: 'cpu', FERROTENSOR_BLAS: 'abacus' }]) {
  test.serial(`check fails where there is no default device: ${Object.keys(env).join(' and ')}`, async (t) => {
    const { code, stdout } = await command(['check'], { env })
    t.is(code, 1)
    t.regex(stdout, /^default +failed +.*abacus/m)
    t.regex(stdout, /^The installation does not work\.$/m)
    const parsed = JSON.parse((await command(['check', '--json'], { env })).stdout) as Checked
    t.is(parsed.ok, false)
    t.regex(parsed.reason ?? '', /abacus/)
  })
}

test.serial('the version of the native module is that of its package alone', async (t) => {
  const inside = folder()
  const { native } = await json<Checked>('check', '--device', 'cpu', '--json')
  copyFileSync(native?.file ?? '', inside('copy.node'))
  writeFileSync(inside('package.json'), JSON.stringify({ name: 'program', version: '9.8.7' }))
  const { stdout } = await command(['check', '--device', 'cpu', '--json'], { env: { FERROTENSOR_NATIVE: inside('copy.node') } })
  t.deepEqual((JSON.parse(stdout) as Checked).native, { file: inside('copy.node'), version: null })
})

test.serial('check --json of one device', async (t) => {
  const found = await json<Checked>('check', '--device', 'cpu', '--json')
  t.deepEqual([found.ok, found.node, found.absent], [true, process.versions.node, []])
  t.deepEqual(found.devices.map(({ device, ok, failures }) => [device, ok, failures]), [['cpu', true, []]])
  t.regex(found.native?.file ?? '', /\.node$/)
})

test.serial('a known result that is not given is a difference', async (t) => {
  const three = { name: 'three', compute: (device: ft.Device): ft.Tensor => ft.tensor([1, 2], { device }).sum(), expected: [3] }
  t.is(await difference(three, 'cpu'), undefined)
  t.is(await difference({ ...three, expected: [3.001] }, 'cpu'), 'gave [3] instead of [3.001]')
  t.is(await difference({ ...three, expected: [3, 3] }, 'cpu'), 'gave [3] instead of [3, 3]')
  t.is(await difference({ ...three, compute: (): ft.Tensor => ft.tensor([NaN]) }, 'cpu'), 'gave [NaN] instead of [3]')
})

test.serial('bench --quick measures each operation', async (t) => {
  type Figures = Record<'calls' | 'milliseconds' | 'bandwidth' | 'gflops' | 'ofPeak', number>
  type Result = Figures & { readonly device: string; readonly operation: string; readonly shape: readonly number[] }
  const { peaks, results } = await json<{ peaks: ft.DevicePeak[]; results: Result[] }>('bench', '--quick', '--device', 'cpu', '--json')
  t.deepEqual(results.map(({ operation }) => operation), ['add', 'exp', 'sum', 'softmax', 'matmul', 'matmul'])
  t.deepEqual(peaks.map(({ device }) => device), ['cpu'])
  for (const { device, calls, milliseconds, ofPeak } of results) t.true(device === 'cpu' && calls >= 3 && milliseconds > 0 && ofPeak > 0)
  // Figures belong together: bytes and operations follow from the shapes, whatever the time.
  for (const { operation, shape: [rows = 0, columns = 0], milliseconds, bandwidth, gflops } of results) {
    if (operation === 'add') t.true(Math.abs((bandwidth * milliseconds * 1e6) / (3 * 4 * rows * columns) - 1) < 1e-6)
    if (operation === 'matmul') t.true(Math.abs((gflops * milliseconds * 1e6) / (2 * rows * columns * columns) - 1) < 1e-6)
  }
})

test.serial('bench --quick prints a table', async (t) => {
  const { code, stdout, stderr } = await command(['bench', '--quick', '--device', 'cpu'])
  t.deepEqual([code, stderr], [0, ''])
  t.regex(stdout, /^device +float32 +calls +time +GB\/s +GFLOP\/s +of peak$/m)
  t.regex(stdout, /^cpu +matmul \[1024, 1024\] +\d+ +[\d.]+ [mu]?s +[\d.]+ +[\d.]+ %$/m)
  t.regex(stdout, /^cpu at best: copy [\d.]+ GB\/s, float32 [\d.]+ GFLOP\/s$/m)
})

test.serial('bench writes a profile of its operations, as a page and as a trace', async (t) => {
  const file = folder()
  const [page, trace] = [file('bench.html'), file('bench.json')]
  const { code, stderr } = await command(['bench', '--quick', '--device', 'cpu', '--html', page, '--trace', trace])
  t.deepEqual([code, stderr], [0, ''])
  t.regex(readFileSync(page, 'utf8'), /^<!doctype html>[^]*contract matmul float32 \[1024, 1024\] x \[1024, 1024\]/)
  const { traceEvents } = JSON.parse(readFileSync(trace, 'utf8')) as ft.Trace
  t.is(traceEvents.filter(({ name }) => name === 'contract matmul float32 [256, 256] x [256, 256]').length, 3)
  const refused = await command(['bench', '--quick', '--device', 'cpu', '--html', file('no/bench.html')])
  t.deepEqual([refused.code, refused.stdout], [1, ''])
  t.regex(refused.stderr, /^ferrotensor: bench: ENOENT: /)
})

for (const name of ['check', 'bench']) {
  test.serial(`${name} of a device that is not there ends with 1 and the reason`, async (t) => {
    const unknown = await command([name, '--device', 'abacus'])
    t.deepEqual([unknown.code, unknown.stdout], [1, ''])
    t.regex(unknown.stderr, new RegExp(`^ferrotensor: ${name}: there is no device 'abacus'; present: cpu.*\\n$`))
    const missing = absent[0]
    if (missing === undefined || missing.available) return
    const { code, stderr } = await command([name, '--device', missing.name])
    t.is(code, 1)
    t.true(stderr.includes(missing.reason), stderr)
  })
}

test.serial('without the native module, check says why and ends with 1', async (t) => {
  const { code, stdout, stderr } = await command(['check'], { env: WITHOUT_NATIVE })
  t.deepEqual([code, stderr], [1, ''])
  t.regex(stdout, /^native +failed +ferrotensor: the file FERROTENSOR_NATIVE names does not exist/m)
  t.regex(stdout, /^The installation does not work\.$/m)
  const parsed = JSON.parse((await command(['check', '--json'], { env: WITHOUT_NATIVE })).stdout) as Checked
  t.deepEqual([parsed.ok, parsed.native, parsed.devices], [false, null, []])
  t.regex(parsed.reason ?? '', /FERROTENSOR_NATIVE/)
})

test.serial('without the native module, devices says why', async (t) => {
  const { code, stdout, stderr } = await command(['devices'], { env: WITHOUT_NATIVE })
  t.deepEqual([code, stderr], [0, ''])
  t.regex(stdout, /native: .*FERROTENSOR_NATIVE/)
})

for (const words of [['bench'], ['inspect', 'a.npy'], ['convert', 'a.npy', 'b.npy']]) {
  test.serial(`without the native module, ${words[0]} ends with 1 and the reason`, async (t) => {
    const { code, stdout, stderr } = await command(words, { env: WITHOUT_NATIVE })
    t.deepEqual([code, stdout], [1, ''])
    t.regex(stderr, /^ferrotensor: the file FERROTENSOR_NATIVE names does not exist: .*\n$/)
  })
}
