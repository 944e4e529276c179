// What a profile saw in the order of time: the spans that native code kept, as objects, and memory over time.

import type { NativeProfile } from '../../native/profile.js'
import type { KernelProfile } from '../profile.js'

/** What took the time of a span. */
export type SpanKind = 'kernel' | 'program' | 'planning' | 'wait' | 'upload' | 'download'

/** One thing that took time while a profile was open. */
export interface ProfileSpan {
  /**
   * `kernel`: a launch. `program`: handing recorded operations over to the engine, with their kernels where it ran them at once. `planning`: the part
   * of that in which a program met for the first time was typed, fused and scheduled. `wait`: JavaScript blocked for a value. `upload` and
   * `download`: a copy to and from the device's memory.
   */
  readonly kind: SpanKind
  /** The kernel's name, or what was done. */
  readonly name: string
  /** The thread: `JavaScript`, `cpu executor`, `vulkan:0 executor`, `copies`. Spans of one thread lie one after the other or inside one another. */
  readonly thread: string
  /** The device that did it; of a program the one of its tensors. */
  readonly device: string
  /** Milliseconds from the call of the profiled function. */
  readonly start: number
  /** Milliseconds it took. */
  readonly time: number
  /** Bytes that a kernel read and wrote, or a copy moved; 0 of others. */
  readonly bytes: number
  /** Recorded operations of a program, or of the one that was planned; 0 of others. */
  readonly operations: number
  /** Of a launch: its kernel, an element of the profile's `kernels`; null of others. */
  readonly kernel: KernelProfile | null
}

/** Memory of a device at one moment. */
export interface MemorySample {
  readonly device: string
  /** Milliseconds from the call of the profiled function. */
  readonly time: number
  /** Bytes in tensors and running programs. */
  readonly live: number
}

/** Float64 of one span, as `crates/node/src/profile.rs` writes them. */
const WORDS = 8
/** As numbered by `What` of `crates/engine/src/timeline.rs`; the last one is nothing but a look at memory. */
const KINDS = ['kernel', 'program', 'planning', 'wait', 'upload', 'download', 'memory'] as const
const NAMES: Record<SpanKind, string> = { kernel: 'kernel', program: 'run program', planning: 'plan program', wait: 'wait for a value', upload: 'upload', download: 'download' }

/** What native code calls its threads, as users know them. */
function threadName(name: string, at: number): string {
  if (at === 0) return 'JavaScript'
  if (name === 'ferrotensor-reader') return 'copies'
  return name.startsWith('ferrotensor ') ? `${name.slice('ferrotensor '.length)} executor` : name
}

/**
 * Spans in the order of their starts, the outer one of two that start together first; and memory, where it changed.
 * @internal
 */
export function decoded({ spans: buffer, threads: own, devices }: NativeProfile, kernels: readonly KernelProfile[]): { spans: ProfileSpan[]; memory: MemorySample[] } {
  const words = new Float64Array(buffer)
  const threads = own.map(threadName)
  const names = new Map(devices.map(({ number, name }) => [number, name]))
  const spans: ProfileSpan[] = []
  const samples: MemorySample[] = []
  for (let at = 0; at < words.length; at += WORDS) {
    const [what, thread, number, index, start, end, amount, live] = words.subarray(at, at + WORDS) as unknown as [number, number, number, number, number, number, number, number]
    const kind = KINDS[what] as (typeof KINDS)[number]
    const tensors = names.get(number) as string
    samples.push({ device: tensors, time: end, live })
    if (kind === 'memory') continue
    const kernel = kind === 'kernel' ? (kernels[index] as KernelProfile) : null
    const counted = kind === 'program' || kind === 'planning'
    spans.push({
      kind,
      name: kernel?.name ?? NAMES[kind],
      thread: threads[thread] as string,
      device: kernel?.device ?? tensors,
      start,
      time: end - start,
      bytes: counted || kind === 'wait' ? 0 : amount,
      operations: counted ? amount : 0,
      kernel
    })
  }
  spans.sort((a, b) => a.start - b.start || b.time - a.time)
  samples.sort((a, b) => a.time - b.time)
  const last = new Map<string, number>()
  const memory = samples.filter(({ device, live }, at) => {
    const same = last.get(device) === live
    last.set(device, live)
    // The end of the profile is kept, so that the last level has a length.
    return !same || at >= samples.length - devices.length
  })
  return { spans, memory }
}
