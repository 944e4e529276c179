// Native functions of `crates/node/src/control.rs`: devices, memory, threads, statistics, settings.

import type { DType } from '../generated/dtypes.js'

/** Memory of one device, in bytes. */
export interface DeviceMemory {
  /** Device name. */
  readonly device: string
  /** In tensors and running programs. */
  readonly live: number
  /** The part of `live` that recorded, not yet run expressions of this worker hold, as `memory()` counts it. */
  readonly pending: number
  /** Kept for reuse, and in copies of weights that products read again. `trim` gives it back. */
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

/** @internal */
export interface ControlFunctions {
  memory(): { live: number; limit: number; devices: Omit<DeviceMemory, 'pending'>[] }
  setLimit(bytes: number): void
  trim(): void
  devices(): NativeDevice[]
  deviceName(number: number): string
  findDevice(op: string, name: string): number
  preferredDevice(): number
  setThreads(count: number): void
  stats(): NativeStats
  takeWarnings(): string[]
  resetStats(): void
  config(fusion: boolean, strict: number): void
}

/** @internal */
export const CONTROL: Record<keyof ControlFunctions, true> = {
  memory: true,
  setLimit: true,
  trim: true,
  devices: true,
  deviceName: true,
  findDevice: true,
  preferredDevice: true,
  setThreads: true,
  stats: true,
  takeWarnings: true,
  resetStats: true,
  config: true
}
