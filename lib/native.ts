// The native module as TypeScript sees it, and the buffers both sides share.

import { ERROR_CLASSES } from './errors.js'
import { DTYPES, type DType } from './generated/dtypes.js'
import { HEADER, SMALL_ELEMENTS } from './generated/protocol.js'
import { loadNative } from './loader.js'

/** Memory of one device, in bytes. */
export interface DeviceMemory {
  /** Device name. */
  readonly device: string
  /** In tensors and running programs. */
  readonly live: number
  /** The part of `live` that recorded, not yet run expressions of this worker hold, as `memory()` counts it. */
  readonly pending: number
  /** Kept for reuse. */
  readonly cached: number
  /** Largest `live` so far. */
  readonly peak: number
}

/** Kernels that ran elsewhere than on the tensors' device. */
export interface Fallback {
  /** The device that lacked the kernel. */
  readonly device: string
  /** The operation. */
  readonly op: string
  /** Dtype of its first operand. */
  readonly dtype: string
  /** Why, in words. */
  readonly reason: string
  /** How often. */
  readonly count: number
  /** Bytes moved because of it. */
  readonly bytes: number
}

/** A kernel that a device lacks and that ran as others, on the device. */
export interface Rewriting {
  /** The device that lacked the kernel. */
  readonly device: string
  /** The operation. */
  readonly op: string
  /** The kind of the kernel. */
  readonly kernel: string
  /** Dtype of its first operand. */
  readonly dtype: string
  /** How often. */
  readonly count: number
}

/** @internal */
export interface NativeStats {
  readonly programs: number
  readonly ops: number
  readonly launches: number
  readonly fusions: number
  readonly schedules: number
  readonly inline: number
  readonly uploaded: number
  readonly rewritten: readonly Rewriting[]
  readonly fallbacks: readonly Fallback[]
}

/** @internal */
export interface NativeProfile {
  readonly wall: number
  readonly busy: number
  readonly kernels: readonly {
    readonly name: string
    readonly device: string
    readonly lacking?: string
    readonly count: number
    readonly time: number
    readonly read: number
    readonly written: number
    readonly flops?: number
    readonly double: boolean
  }[]
  readonly peaks: readonly { readonly device: string; readonly copy: number; readonly float32: number; readonly float64: number }[]
}

/** @internal */
export interface NativeDevice {
  readonly name: string
  readonly kind: string
  readonly class?: string
  readonly number?: number
  readonly description?: string
  readonly dtypes?: readonly DType[]
  readonly memory?: number
  readonly maxBuffer?: number
  readonly reason?: string
}

/**
 * An engine of the CPU for flat arrays: `reason` where it is absent.
 * @internal
 */
export interface NativeEngine {
  readonly name: string
  readonly reason?: string
  readonly isa?: string
  readonly threads?: number
  readonly library?: string
  readonly version?: string
  readonly core?: string
}

/**
 * What is in a file, before its elements are looked at.
 * @internal
 */
export interface NativeSource {
  readonly id: number
  readonly names: readonly string[]
  readonly codes: readonly string[]
  /** For each array: dtype, place in `codes`, Fortran order, packed, bytes, rank, sizes; float64. */
  readonly facts: ArrayBuffer
  readonly metadata: readonly (readonly [string, string])[]
}

type FlatArray = Float32Array | Float64Array

/**
 * The functions of `crates/node`, documented there.
 * @internal
 */
export interface Native {
  setErrorClasses(classes: object): void
  setBuffers(ints: Int32Array, params: Float64Array, handles: Float64Array, small: Uint8Array): void
  run(out: object): number
  infer(): number
  internType(dtype: number, shape: Float64Array, device: number): number
  typeOf(id: number): number
  internAttrs(op: number, words: Float64Array): number
  endEpoch(): void
  upload(type: number, data: ArrayBufferView, out: object): number
  openSource(op: string, source: string | Uint8Array, options: object): NativeSource
  openSourceAsync(op: string, source: string | Uint8Array, options: object): Promise<NativeSource>
  closeSource(source: number): void
  reserve(type: number, out: object): number
  fill(op: string, source: number, entry: number, handle: number): void
  fillAsync(op: string, source: number, entry: number, handle: number): Promise<void>
  write(path: string, handles: Float64Array, options: object): ArrayBuffer | undefined
  writeAsync(path: string, handles: Float64Array, options: object): Promise<ArrayBuffer | undefined>
  read(handle: number, into: ArrayBufferView, wait: boolean): boolean
  readAsync(handle: number): Promise<ArrayBuffer>
  wait(handle: number): void
  waitAsync(handle: number): Promise<void>
  drain(): void
  dispose(handle: number): void
  adopt(handle: number, scope: number): void
  closeScope(scope: number): void
  collect(heap: number): void
  watch(expression: object): boolean
  pruneWatched(): void
  watched(): object[]
  takeWatched(): object[]
  share(handle: number): number
  fromShared(token: number, out: object): number
  memory(): { live: number; limit: number; devices: Omit<DeviceMemory, 'pending'>[] }
  setLimit(bytes: number): void
  trim(): void
  devices(): NativeDevice[]
  deviceName(number: number): string
  findDevice(op: string, name: string): number
  preferredDevice(): number
  setThreads(count: number): void
  /** The CPU's engines for flat arrays, in the order scalar, simd, parallel, blas. */
  engines(): NativeEngine[]
  /**
   * Runs an operation on plain memory; writes `out`: of `dot` and `sum` its one element, a Float64Array(1) for both dtypes. Operation: `matmul`,
   * `add`, `dot`, `sum` or `scale`; sizes: m, n, k, or the length, none of them 0; `s`: the factor of
   * `scale`, which the dtype holds. `out` of `add` and `scale` may be an operand, as a whole.
   */
  flat(engine: string, op: string, a: FlatArray, b: FlatArray | undefined, out: FlatArray, sizes: Float64Array, s: number): void
  /** As `flat`, off the main thread; nobody else may touch the arrays until it settles. */
  flatAsync(engine: string, op: string, a: FlatArray, b: FlatArray | undefined, out: FlatArray, sizes: Float64Array, s: number): Promise<void>
  stats(): NativeStats
  takeWarnings(): string[]
  resetStats(): void
  config(fusion: boolean, strict: number): void
  openProfile(): number
  closeProfile(id: number): NativeProfile
}

/** Header (`generated/protocol.ts`) and program words; params as numbers and as bigints; handles in and out; the bytes of a small result. */
export let ints = new Int32Array(1 << 14)
export let params = new Float64Array(1 << 12)
export let bigParams = new BigInt64Array(params.buffer)
export let handles = new Float64Array(1 << 10)
/** Room for a small result of the widest dtype. */
export const small = new Uint8Array(SMALL_ELEMENTS * Math.max(...DTYPES.map(({ bytes }) => bytes)))

function grown<T extends Int32Array | Float64Array>(array: T, length: number): T {
  if (length <= array.length) return array
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length))
  larger.set(array)
  return larger
}

/** Makes room for this many program words, params and handles; contents stay. */
export function reserve(words: number, paramCount: number, handleCount: number): void {
  if (HEADER + words <= ints.length && paramCount <= params.length && handleCount <= handles.length) return
  ints = grown(ints, HEADER + words)
  params = grown(params, paramCount)
  bigParams = new BigInt64Array(params.buffer)
  handles = grown(handles, handleCount)
  native.setBuffers(ints, params, handles, small)
}

/** The loaded module; without a binary, an object whose functions all throw the reason. */
function connect(): Native {
  try {
    const loaded = loadNative() as Native
    loaded.setErrorClasses(Object.fromEntries(ERROR_CLASSES.map((Class) => [new Class().code, Class])))
    loaded.setBuffers(ints, params, handles, small)
    return loaded
  } catch (reason) {
    return new Proxy({} as Native, {
      get: () => () => {
        throw reason
      }
    })
  }
}

/** @internal */
export const native: Native = connect()
