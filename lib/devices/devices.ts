// Devices: names, numbers, the default, and what each is.

import { ArgumentError, DeviceError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { absence, native } from '../native.js'
import type { Device } from '../tensor/operand.js'

/** A device that is there. */
export interface PresentDevice {
  /** The name operations know it by: `cpu`, `vulkan:0`. */
  readonly name: Device
  /** Its backend. */
  readonly kind: string
  readonly available: true
  /** What stands behind it: a program that imitates hardware, the processor, a GPU that shares its memory, or one that does not. */
  readonly class: 'software' | 'cpu' | 'integrated' | 'discrete'
  /** What it calls itself, with the engine chosen. */
  readonly description: string
  /** Element types it can hold. */
  readonly dtypes: readonly DType[]
  /** Bytes of memory in all; 0 when unknown. */
  readonly memory: number
  /** Bytes of the largest tensor. */
  readonly maxBuffer: number
}

/** A backend without devices, and why. */
export interface AbsentDevice {
  readonly name: Device
  readonly kind: string
  readonly available: false
  /** The reason in words. */
  readonly reason: string
}

/**
 * Every device of this machine, and for each absent backend the reason. Without the native module the list has one entry, whose reason says how to
 * install the module; calls that need the module throw an error with that reason.
 */
export function devices(): (PresentDevice | AbsentDevice)[] {
  if (absence !== null) return [{ name: 'native', kind: 'native', available: false, reason: absence }]
  return native.devices().map(({ number: _, name, kind, reason, ...device }) =>
    reason === undefined ? ({ name, kind, available: true, ...device } as PresentDevice) : { name, kind, available: false, reason }
  )
}

const numbers = new Map<Device, number>()
const names: Device[] = []
let fallback: number | undefined

/** The device that FERROTENSOR_DEVICE names, else the one the native side prefers: the best real one. */
function defaultDevice(): number {
  const name = process.env['FERROTENSOR_DEVICE']
  return name ? native.findDevice('FERROTENSOR_DEVICE', name) : native.preferredDevice()
}

const held = new Map<Device, readonly DType[]>()

/** Whether tensors of a dtype can be on a device. */
export function holds(name: Device, dtype: DType): boolean {
  let dtypes = held.get(name)
  if (dtypes === undefined) held.set(name, (dtypes = devices().find((device): device is PresentDevice => device.available && device.name === name)?.dtypes ?? []))
  return dtypes.includes(dtype)
}

/** The name of a device number. */
export function deviceName(number: number): Device {
  return (names[number] ??= native.deviceName(number))
}

/**
 * The number of a device in programs; without a name, of the default device. `op` leads the message of an error.
 *
 * @throws {TensorError} `ERR_DEVICE` for an unknown name, `ERR_BACKEND_UNAVAILABLE` with the reason for an absent backend,
 * `ERR_ARGUMENT` for anything but text.
 */
export function deviceNumber(op: string, name: unknown): number {
  if (name === undefined) return (fallback ??= defaultDevice())
  if (typeof name !== 'string') throw new ArgumentError(`${op}: 'device' must be text such as 'cpu', got ${shown(name)}`)
  let number = numbers.get(name)
  if (number === undefined && Object.hasOwn(DTYPE, name)) throw new DeviceError(`${op}: there is no device '${name}'; a dtype is x.astype('${name}')`)
  if (number === undefined) numbers.set(name, (number = native.findDevice(op, name)))
  return number
}

/**
 * Sets the device of tensors made without one. At the start it is what FERROTENSOR_DEVICE names, else the best device present:
 * a GPU with memory of its own, one without, the `cpu`. A device that a program imitates is never chosen unnamed, nor one on
 * which most operations still need the CPU (Vulkan).
 *
 * @throws {TensorError} `ERR_DEVICE`, `ERR_BACKEND_UNAVAILABLE`.
 */
export function setDefaultDevice(name: Device): void {
  if (name === undefined) throw new ArgumentError('setDefaultDevice: the name of a device is missing')
  fallback = deviceNumber('setDefaultDevice', name)
}

/** Calls a function while tensors made without a device are on this one. */
export function onDevice<T>(number: number, f: () => T): T {
  const before = fallback
  fallback = number
  try {
    return f()
  } finally {
    fallback = before
  }
}

/**
 * Sets the number of threads the `cpu` device uses, the calling one included, for this process.
 *
 * @throws {ArgumentError} for anything but a whole number from 1 to 1024.
 */
export function setThreads(count: number): void {
  if (!Number.isInteger(count) || count < 1 || count > 1024) {
    throw new ArgumentError(`setThreads: expected a whole number from 1 to 1024, got ${shown(count)}`)
  }
  native.setThreads(count)
}
