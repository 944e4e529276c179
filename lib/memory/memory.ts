// What users ask and say about memory: how much tensors take, the budget, giving it back.

import { integer } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { collectFull } from '../execution/pressure.js'
import { native } from '../native.js'
import type { DeviceMemory } from '../native/control.js'
import { pinnedBytes } from '../program/traverse.js'
import type { Tensor } from '../tensor/tensor.js'


/** Memory in bytes: of all devices together, and of each. */
export interface MemoryInfo {
  /** In tensors and running programs. */
  readonly live: number
  /**
   * The part of `live` that recorded expressions of this worker hold, as operands of operations that have not run: the values
   * of `losses` in `losses.push(loss)`. Reading or evaluating the results ends it. Counted are the expressions that hold
   * 16 KiB or more and at least twice what their own value would take; values that you hold yourself are counted too, views
   * of one storage each by their own size.
   */
  readonly pending: number
  /** Kept for reuse, and in copies of weights that products read again. `trim` gives it back. */
  readonly cached: number
  /** Sum of each device's largest `live` so far. */
  readonly peak: number
  /** The budget for `live`, and for copies of weights beside it. */
  readonly limit: number
  /** Each device. */
  readonly devices: readonly DeviceMemory[]
}

/** How much memory tensors take, over all workers of this process. */
export function memory(): MemoryInfo {
  const { live, limit, devices } = native.memory()
  const pinned = pinnedBytes((native.watched() as Tensor[]).filter((t) => t.handle === null && !t.disposed))
  const each = devices.map((device, number) => ({ ...device, pending: pinned.get(number) ?? 0 }))
  const sum = (key: 'pending' | 'cached' | 'peak') => each.reduce((n, d) => n + d[key], 0)
  return { live, pending: sum('pending'), cached: sum('cached'), peak: sum('peak'), limit, devices: each }
}

/**
 * Sets the budget for tensors and running programs, over all workers of this process. The default is half of what the process
 * may use. There is always a budget: a synchronous loop could otherwise take all memory of the machine.
 *
 * @param bytes A whole number from 1 to 2^53 - 1: `4 * 2 ** 30` for 4 GiB.
 * @throws {ArgumentError} for anything else: text, fractions, NaN, Infinity.
 */
export function setMemoryLimit(bytes: number): void {
  if (integer('setMemoryLimit', 'bytes', bytes) < 1) throw new ArgumentError(`setMemoryLimit: 'bytes' must be at least 1, got ${shown(bytes)}`)
  native.setLimit(bytes)
}

/** Frees tensors that were dropped, and gives cached memory back to the operating system and drivers. */
export function trim(): void {
  collectFull()
  native.trim()
}
