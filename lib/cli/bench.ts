// `ferrotensor bench`: how long a few operations take on each device, and how close that comes to what the device does at best.

import { cpus } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import * as ft from '../../index.js'
import type { PresentDevice } from '../devices/devices.js'
import { columns } from '../text/table.js'
import { digits, duration, percent } from '../text/units.js'
import { withBar } from './bar.js'
import { EXIT, type Run } from './commands.js'
import { paint, print, printJson } from './output.js'
import { chosenDevices } from './present.js'
import { writeWhole } from './whole-file.js'

/** An operation, and what limits it: the bytes it moves or its arithmetic. */
interface Case {
  readonly name: string
  readonly limit: 'bytes' | 'flops'
  readonly shape: readonly number[]
  readonly compute: (x: ft.Tensor, y: ft.Tensor) => ft.Tensor
}

/** 2^23 elements are 32 MiB of float32, more than most caches. */
const LARGE = [8192, 1024]

const CASES: readonly Case[] = [
  { name: 'add', limit: 'bytes', shape: LARGE, compute: (x, y) => x.add(y) },
  { name: 'exp', limit: 'bytes', shape: LARGE, compute: (x) => x.exp() },
  { name: 'sum', limit: 'bytes', shape: LARGE, compute: (x) => x.sum() },
  { name: 'softmax', limit: 'bytes', shape: LARGE, compute: (x) => x.softmax(-1) },
  { name: 'matmul', limit: 'flops', shape: [256, 256], compute: (x, y) => x.matmul(y) },
  { name: 'matmul', limit: 'flops', shape: [1024, 1024], compute: (x, y) => x.matmul(y) }
]

/** Milliseconds for each operation: six of them on two devices, with what they need besides, stay near 10 s. */
const SLICE = { quick: 50, usual: 500 } as const
/** Calls at least, of which one planned the program and met fresh memory; a software device may need a second for each. */
const FEWEST = 3

/** What was measured. */
interface Row {
  readonly device: string
  readonly operation: string
  readonly dtype: 'float32'
  readonly shape: readonly number[]
  /** Timed calls. */
  readonly calls: number
  /** Of the median call. */
  readonly milliseconds: number
  /** GB/s, operands and results counted once. */
  readonly bandwidth: number
  readonly gflops: number
  readonly limit: Case['limit']
  /** Of the peak that `limit` names; null where the device's is not known. */
  readonly ofPeak: number | null
  /** Operations that the device lacks, so that the CPU computed them. */
  readonly fallbacks: readonly string[]
}

/** The median of the milliseconds that calls take, until a slice of time is over. */
async function timed(call: () => void, slice: number): Promise<{ calls: number; milliseconds: number }> {
  const times: number[] = []
  const end = performance.now() + slice
  do {
    const started = performance.now()
    call()
    times.push(performance.now() - started)
    // Between two calls, so that Ctrl-C is heard.
    await setImmediate()
  } while (times.length < FEWEST || performance.now() < end)
  times.sort((a, b) => a - b)
  return { calls: times.length, milliseconds: times[times.length >> 1] as number }
}

/** What a case gave, and the device's peak where it is known. */
interface Measured {
  readonly row: Row
  readonly peak: ft.DevicePeak | undefined
}

/** From 0 to 1, and from 1 to 2: small numbers of every size, which no device has faster than others. */
async function operands(device: string, shape: readonly number[]): Promise<readonly [x: ft.Tensor, y: ft.Tensor]> {
  const size = shape.reduce((product, extent) => product * extent, 1)
  const x = ft.arange(size, { device }).mul(1 / size).reshape(shape)
  const y = x.add(1)
  await ft.evaluate(x, y)
  return [x, y]
}

/** Measures one operation, after a call that is not timed. */
async function measure({ name: device }: PresentDevice, { name, limit, shape, compute }: Case, slice: number): Promise<Measured> {
  const [x, y] = await operands(device, shape)
  const call = (): void => {
    const result = compute(x, y)
    ft.evaluateSync(result)
    result.dispose()
  }
  const { kernels, peaks } = ft.profile(call)
  const { calls, milliseconds } = await timed(call, slice)
  x.dispose()
  y.dispose()
  const total = (count: (kernel: ft.KernelProfile) => number): number => kernels.reduce((sum, kernel) => sum + count(kernel), 0)
  const perSecond = (n: number): number => n / (milliseconds / 1e3) / 1e9
  const bandwidth = perSecond(total(({ read, written }) => read + written))
  const gflops = perSecond(total(({ flops }) => flops ?? 0))
  const lacking = kernels.filter((kernel) => kernel.lacking !== null)
  const peak = lacking.length > 0 ? undefined : peaks.find((found) => found.device === device)
  const ofPeak = peak === undefined ? null : limit === 'bytes' ? bandwidth / peak.bandwidth : gflops / peak.float32
  const fallbacks = lacking.map((kernel) => kernel.name)
  return { row: { device, operation: name, dtype: 'float32', shape, calls, milliseconds, bandwidth, gflops, limit, ofPeak, fallbacks }, peak }
}

/** Each operation a few times, with its operands, in one profile. */
function profiled(devices: readonly PresentDevice[]): Promise<ft.Profile> {
  return ft.profile(async () => {
    for (const { name } of devices) {
      for (const { shape, compute } of CASES) {
        const [x, y] = await operands(name, shape)
        for (let i = 0; i < FEWEST; i++) {
          const result = compute(x, y)
          await ft.evaluate(result)
          result.dispose()
        }
        x.dispose()
        y.dispose()
      }
    }
  })
}

/** Writes the profile as the options ask; a file that is there is replaced. */
async function saveProfile(devices: readonly PresentDevice[], html: string | undefined, trace: string | undefined): Promise<void> {
  if (html === undefined && trace === undefined) return
  const profile = await profiled(devices)
  if (html !== undefined) await writeWhole('bench', html, true, (path) => profile.saveHtml(path))
  if (trace !== undefined) await writeWhole('bench', trace, true, (path) => profile.saveTrace(path))
}

function cells({ device, operation, shape, calls, milliseconds, bandwidth, gflops, limit, ofPeak, fallbacks }: Row): string[] {
  return [
    device,
    `${operation} [${shape.join(', ')}]`,
    String(calls),
    duration(milliseconds),
    ...(limit === 'bytes' ? [digits(bandwidth), ''] : ['', digits(gflops)]),
    ofPeak === null ? '-' : percent(ofPeak),
    fallbacks.length > 0 ? paint('dim', 'computed by the CPU') : ''
  ]
}

/** Runs the command. */
export const run: Run = async (given) => {
  const chosen = chosenDevices('bench', given)
  const slice = given.flag('quick') ? SLICE.quick : SLICE.usual
  // First: a path that cannot be written should not cost the measurements.
  await saveProfile(chosen, given.text('html'), given.text('trace'))
  const rows: Row[] = []
  const peaks = new Map<string, ft.DevicePeak>()
  await withBar(async (show) => {
    const total = chosen.length * CASES.length
    for (const device of chosen) {
      for (const one of CASES) {
        show({ done: rows.length, total, label: `${device.name}: ${one.name} [${one.shape.join(', ')}]` })
        await setImmediate()
        const { row, peak } = await measure(device, one, slice)
        rows.push(row)
        if (peak !== undefined) peaks.set(peak.device, peak)
      }
    }
  })
  const processor = { model: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length }
  const best = [...peaks.values()]
  if (given.flag('json')) {
    const devices = chosen.map(({ name, description }) => ({ name, description }))
    printJson({ node: process.versions.node, processor, devices, peaks: best, results: rows })
  } else {
    print([
      `${processor.model}, ${processor.cores} ${processor.cores === 1 ? 'core' : 'cores'}, Node ${process.versions.node}`,
      ...chosen.map(({ name, description }) => `${name}: ${description}`),
      '',
      ...columns('llrrrrrl', [['device', 'float32', 'calls', 'time', 'GB/s', 'GFLOP/s', 'of peak'], ...rows.map(cells)]),
      '',
      ...best.map(({ device, bandwidth, float32 }) => `${device} at best: copy ${digits(bandwidth)} GB/s, float32 ${digits(float32)} GFLOP/s`)
    ])
  }
  return EXIT.success
}
