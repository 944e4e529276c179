// The devices that a command is to use, all that are there or the one that `--device` names; and which is the default.

import { deviceName, deviceNumber, devices, type PresentDevice } from '../devices/devices.js'
import { BackendUnavailableError, TensorError } from '../errors.js'
import { absence } from '../native.js'
import type { Arguments } from './arguments.js'

/**
 * The devices to use.
 *
 * @throws {TensorError} `ERR_DEVICE` for an unknown name, `ERR_BACKEND_UNAVAILABLE` with the reason for an absent one, and where there is no
 * native module.
 */
export function chosenDevices(op: string, given: Arguments): PresentDevice[] {
  if (absence !== null) throw new BackendUnavailableError(absence)
  const present = devices().filter((device): device is PresentDevice => device.available)
  const asked = given.text('device')
  if (asked === undefined) return present
  const name = deviceName(deviceNumber(op, asked))
  return present.filter((device) => device.name === name)
}

/** The device of tensors made without one, or why there is none: FERROTENSOR_DEVICE may name what is not there. */
export interface Default {
  readonly name: string | null
  readonly reason?: string
}

/** The default device. `op` leads the reason. */
export function defaultDevice(op: string): Default {
  try {
    return { name: deviceName(deviceNumber(op, undefined)) }
  } catch (error) {
    if (error instanceof TensorError) return { name: null, reason: error.message }
    throw error
  }
}
