// A profile in the Trace Event Format ("Trace Event Format", Google, 2016), the JSON that Perfetto (ui.perfetto.dev) and chrome://tracing open.

import type { Profile } from '../profile.js'
import type { ProfileSpan } from './spans.js'

/** One event of a trace: complete (`X`), a counter (`C`), or a name of a process or thread (`M`). */
export interface TraceEvent {
  readonly ph: 'X' | 'C' | 'M'
  readonly name: string
  /** Category, by which viewers filter: the span's kind. */
  readonly cat?: string
  readonly pid: number
  readonly tid: number
  /** Microseconds from the call of the profiled function. */
  readonly ts: number
  /** Microseconds; of complete events. */
  readonly dur?: number
  readonly args: Readonly<Record<string, string | number>>
}

/** The object form of the Trace Event Format, which `JSON.stringify` writes. */
export interface Trace {
  readonly traceEvents: readonly TraceEvent[]
  readonly displayTimeUnit: 'ms'
  readonly otherData: Readonly<Record<string, string | number>>
}

const PROCESS = 1
/** The thread that every profile has; others follow as they are met. */
const JAVASCRIPT = 1

const rounded = (n: number): number => Number(n.toPrecision(4))

function argsOf({ kind, device, bytes, operations, kernel, time }: ProfileSpan): Record<string, string | number> {
  if (kind === 'program' || kind === 'planning') return { device, operations }
  if (kind === 'wait') return { device }
  const rate = time > 0 ? { 'GB/s': rounded(bytes / time / 1e6) } : {}
  if (kernel === null) return { device, bytes, ...rate }
  const { lacking, flops, count, ofPeak } = kernel
  const each = flops === null ? null : flops / count
  return {
    device,
    ...(lacking === null ? {} : { 'in place of': lacking }),
    bytes,
    ...rate,
    ...(each === null ? {} : { flop: each }),
    ...(each === null || time === 0 ? {} : { 'GFLOP/s': rounded(each / time / 1e6) }),
    ...(ofPeak === null ? {} : { 'of peak, all launches': rounded(ofPeak) })
  }
}

/**
 * The trace of a profile.
 * @internal
 */
export function traceOf({ spans, memory, time, leftOut }: Profile, version: string): Trace {
  const micro = (milliseconds: number): number => milliseconds * 1e3
  const threads = new Map([['JavaScript', JAVASCRIPT]])
  const of = (thread: string): number => {
    const known = threads.get(thread) ?? JAVASCRIPT + threads.size
    threads.set(thread, known)
    return known
  }
  const whole: TraceEvent = { ph: 'X', name: 'ft.profile', cat: 'function', pid: PROCESS, tid: JAVASCRIPT, ts: 0, dur: micro(time), args: {} }
  const complete = spans.map(
    (span): TraceEvent => ({ ph: 'X', name: span.name, cat: span.kind, pid: PROCESS, tid: of(span.thread), ts: micro(span.start), dur: micro(span.time), args: argsOf(span) })
  )
  const counters = memory.map(({ device, time, live }): TraceEvent => ({ ph: 'C', name: `memory of ${device}`, pid: PROCESS, tid: JAVASCRIPT, ts: micro(time), args: { bytes: live } }))
  const meta = (name: string, tid: number, args: TraceEvent['args']): TraceEvent => ({ ph: 'M', name, pid: PROCESS, tid, ts: 0, args })
  const names = [...threads].flatMap(([name, tid]) => [meta('thread_name', tid, { name }), meta('thread_sort_index', tid, { sort_index: tid })])
  return {
    traceEvents: [meta('process_name', JAVASCRIPT, { name: 'ferrotensor' }), ...names, whole, ...complete, ...counters],
    displayTimeUnit: 'ms',
    otherData: { version, ...(leftOut > 0 ? { 'spans left out': leftOut } : {}) }
  }
}
