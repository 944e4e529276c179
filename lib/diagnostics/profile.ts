// `ft.profile`: what kernels a function runs, how long each takes, and how close that comes to what the machine can do.

import { writeFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import { callable } from '../arguments/functions.js'
import { ArgumentError, FileError } from '../errors.js'
import { VERSION } from '../generated/package.js'
import type { FilePath } from '../io/io.js'
import { target } from '../io/transfer.js'
import { native } from '../native.js'
import type { NativeProfile } from '../native/profile.js'
import { isPending } from '../program/node.js'
import { isTracing } from '../program/placeholder.js'
import type { Tensor } from '../tensor/tensor.js'
import { columns } from '../text/table.js'
import { digits, duration, metric, percent } from '../text/units.js'
import { tensorsIn } from '../tree/traverse.js'
import { evaluate, evaluateSync } from '../values/read.js'
import { pageOf } from './profile/page.js'
import { decoded, type MemorySample, type ProfileSpan } from './profile/spans.js'
import { traceOf, type Trace } from './profile/trace.js'

/** What one kernel of a profile took, all its launches together. */
export interface KernelProfile {
  /** Its kind, the operations it computes in order, dtype and shape: `map multiply add exp float32 [1024, 1024]`. */
  readonly name: string
  /** The device it ran on. */
  readonly device: string
  /** The device that lacked it, so that it ran elsewhere, with its operands carried there and back; null where it ran on the tensors' own. */
  readonly lacking: string | null
  /** Launches. */
  readonly count: number
  /** Milliseconds of all launches. */
  readonly time: number
  /** Milliseconds of one launch. */
  readonly average: number
  /** `time` as a part of the profile's. */
  readonly share: number
  /** Bytes of operands, each element counted once. */
  readonly read: number
  /** Bytes of results. */
  readonly written: number
  /** GB/s, read and written together. */
  readonly bandwidth: number
  /**
   * Floating-point operations, of which `fma` is two and `exp` some 25; null where they depend on the values (sorting, eigenvalues).
   */
  readonly flops: number | null
  /** GFLOP/s. */
  readonly gflops: number | null
  /**
   * How close the kernel comes to the device's peak, of bandwidth or of arithmetic, whichever it is closer to. Above 1 where operands come
   * from a cache, which is faster than memory. Null where the peak of the device is not known.
   */
  readonly ofPeak: number | null
  /** Which of the two that is: `bytes` where memory limits the kernel, `flops` where arithmetic does; null where the peak is not known. */
  readonly limit: 'bytes' | 'flops' | null
}

/** What a device does at best, measured once, when a profile first needs it. */
export interface DevicePeak {
  readonly device: string
  /** GB/s of a copy from memory to memory, read and written together. */
  readonly bandwidth: number
  /** GFLOP/s in float32, of fused multiply-adds where the processor has them. */
  readonly float32: number
  /** The same in float64. */
  readonly float64: number
}

/** What a function returned, and the kernels that ran for it. Printed, it is a table. */
export class Profile<T = unknown> {
  /** What the function returned. */
  readonly result: T
  /** Kernels, those that took longest first. */
  readonly kernels: readonly KernelProfile[]
  /** Milliseconds from the call of the function until what it returned was computed. */
  readonly time: number
  /** Milliseconds of that in which no kernel ran: JavaScript, recording, planning, allocation, waiting. */
  readonly outside: number
  /** Peaks of the devices in `kernels`, where they are known. */
  readonly peaks: readonly DevicePeak[]
  /** What took time, in the order of starts: launches, programs, planning, waits and copies; of the first 262,144 entries, with those of memory. */
  readonly spans: readonly ProfileSpan[]
  /** Entries beyond those; their launches count in `kernels`. */
  readonly leftOut: number
  /** Memory of each device whenever a span ended, or a program gave its temporaries back, where it differs from before. */
  readonly memory: readonly MemorySample[]

  /** @internal */
  constructor(result: T, report: NativeProfile) {
    const { wall, busy, kernels, peaks } = report
    this.result = result
    this.time = wall
    this.outside = wall - busy
    this.peaks = peaks.map(({ device, copy, float32, float64 }) => ({ device, bandwidth: copy / 1e9, float32: float32 / 1e9, float64: float64 / 1e9 }))
    this.kernels = kernels.map(({ double, lacking = null, flops = null, ...k }) => {
      const perSecond = (n: number): number => (k.time > 0 ? n / (k.time / 1e3) / 1e9 : 0)
      const bandwidth = perSecond(k.read + k.written)
      const gflops = flops === null ? null : perSecond(flops)
      const peak = lacking === null ? this.peaks.find(({ device }) => device === k.device) : undefined
      const [bytes, operations] = peak === undefined ? [null, null] : [bandwidth / peak.bandwidth, (gflops ?? 0) / (double ? peak.float64 : peak.float32)]
      const [ofPeak, limit] = bytes === null ? [null, null] : bytes >= operations ? ([bytes, 'bytes'] as const) : ([operations, 'flops'] as const)
      return { ...k, lacking, average: k.time / k.count, share: k.time / wall, bandwidth, flops, gflops, ofPeak, limit }
    })
    const { spans, memory } = decoded(report, this.kernels)
    this.spans = spans
    this.memory = memory
    this.leftOut = report.leftOut
  }

  /**
   * The profile in the Trace Event Format (Google, 2016), for `JSON.stringify`: threads with their spans, and memory as counters. Perfetto
   * (ui.perfetto.dev) and chrome://tracing open it, as they do what PyTorch's `export_chrome_trace` writes.
   */
  trace(): Trace {
    return traceOf(this, VERSION)
  }

  /**
   * Writes {@link Profile.trace} to a file, which is replaced where there is one.
   *
   * @throws {FileError} where the system refuses.
   */
  async saveTrace(path: FilePath): Promise<void> {
    await saved('Profile.saveTrace', path, () => JSON.stringify(this.trace()))
  }

  /**
   * The profile as one page of HTML, which needs no other file and no network: a timeline of the threads to zoom and move in, memory over
   * time, and the table of kernels, sorted and filtered.
   */
  html(): string {
    return pageOf(this, VERSION)
  }

  /**
   * Writes {@link Profile.html} to a file, which is replaced where there is one.
   *
   * @throws {FileError} where the system refuses.
   */
  async saveHtml(path: FilePath): Promise<void> {
    await saved('Profile.saveHtml', path, () => this.html())
  }

  /** The table. */
  toString(): string {
    return table(this)
  }

  /** @internal */
  [inspect.custom](): string {
    return table(this)
  }
}

/** Writes a text to a file. */
async function saved(op: string, path: FilePath, text: () => string): Promise<void> {
  const file = target(op, path)
  try {
    await writeFile(file, text())
  } catch (error) {
    throw new FileError(`${op}: ${(error as Error).message}`, { cause: error })
  }
}

/** Rows of a printed table; the rest is added up in one. */
const MOST_ROWS = 40
/** Columns of a printed name. */
const NAME = 64

const HEADINGS = ['kernel', 'device', 'calls', 'total', 'share', 'average', 'read', 'written', 'GB/s', 'flop', 'GFLOP/s', 'of peak']
/** Names to the left, numbers to the right. */
const SIDES = 'll'.padEnd(HEADINGS.length, 'r')

/** A name without its middle, if it is long: kind and shape stay. */
function shortened(name: string): string {
  return name.length <= NAME ? name : `${name.slice(0, NAME / 2)}...${name.slice(name.length - NAME / 2 + 3)}`
}

function cells(k: KernelProfile): string[] {
  return [
    shortened(k.name),
    k.lacking === null ? k.device : `${k.device} for ${k.lacking}`,
    String(k.count),
    duration(k.time),
    percent(k.share),
    duration(k.average),
    metric(k.read, 'B'),
    metric(k.written, 'B'),
    digits(k.bandwidth),
    k.flops === null ? '-' : metric(k.flops),
    k.gflops === null ? '-' : digits(k.gflops),
    k.ofPeak === null ? '-' : percent(k.ofPeak)
  ]
}

function table({ kernels, time: wall, outside, peaks }: Profile): string {
  const rest = kernels.slice(MOST_ROWS)
  const total = (list: readonly KernelProfile[], key: 'count' | 'time'): number => list.reduce((sum, k) => sum + k[key], 0)
  const line = (name: string, count: string, spent: number): string[] => [name, '', count, duration(spent), percent(wall > 0 ? spent / wall : 0)]
  const rows = [HEADINGS, ...kernels.slice(0, MOST_ROWS).map(cells)]
  if (rest.length > 0) rows.push(line(`${rest.length} more kernels`, String(total(rest, 'count')), total(rest, 'time')))
  rows.push(line('no kernel running', '', outside))
  const lines = columns(SIDES, rows)
  const found = peaks.map(({ device, bandwidth, float32, float64 }) => `${device} at best: copy ${digits(bandwidth)} GB/s, float32 ${digits(float32)} GFLOP/s, float64 ${digits(float64)} GFLOP/s`)
  const launches = total(kernels, 'count')
  const nothing = kernels.length === 0 ? ['nothing was computed: return the tensors, or evaluate them inside'] : []
  return [...lines, '', `${launches} ${launches === 1 ? 'launch' : 'launches'} in ${duration(wall)}`, ...nothing, ...found].join('\n')
}

/** What of a result is still to be computed. */
const pendingIn = (result: unknown): Tensor[] => [...tensorsIn('profile', result)].filter((t) => isPending(t) && !t.disposed && !t.owner.closed)

/**
 * Calls a function, computes what it returns, and gives its result with a table of the kernels that ran: what each is made of, how
 * often it was started, how long it took, how many bytes it moved and floating-point operations it did, and how close that comes to what
 * the device does at best. PyTorch `torch.profiler`, with `key_averages().table()`.
 *
 * Counted is what this worker runs from the call until the result is there: in nested profiles, and those of functions that are awaited at
 * the same time, a kernel counts for each. What is recorded and not returned is computed when it is wanted, as ever: evaluate inside what
 * shall count. Each kernel is timed alone, so a device that works in batches gets them one by one meanwhile. The first profile measures the peak of
 * the CPU, which takes about a quarter of a second after the function has ended.
 *
 * @returns A {@link Profile}; for a function that returns a promise, a promise of it.
 * @throws {ArgumentError} for anything but a function, and while a function is traced by `jit`.
 * @throws {TensorError} whatever the function throws, and errors of what it recorded, which show when it is computed.
 * @example
 * ```ts
 * ft.profile(() => ft.ones([3]).mul(2).exp()).kernels.map((k) => [k.name, k.count]) // [['map ones multiply exp float32 [3]', 1]]
 * ```
 */
export function profile<T>(fn: () => PromiseLike<T>): Promise<Profile<T>>
export function profile<T>(fn: () => T): Profile<T>
export function profile(fn: () => unknown): unknown {
  callable('profile', fn)
  if (isTracing()) throw new ArgumentError('profile: nothing runs while a function is traced; call it around the traced function')
  const id = native.openProfile()
  let report: NativeProfile | undefined
  const end = (): NativeProfile => (report = native.closeProfile(id))
  const settle = async (promised: PromiseLike<unknown>): Promise<Profile> => {
    try {
      const result = await promised
      await evaluate(...pendingIn(result))
      return new Profile(result, end())
    } finally {
      if (report === undefined) end()
    }
  }
  let waits = false
  try {
    const result = fn()
    if (isPromise(result)) {
      waits = true
      return settle(result)
    }
    evaluateSync(...pendingIn(result))
    return new Profile(result, end())
  } finally {
    if (!waits && report === undefined) end()
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
