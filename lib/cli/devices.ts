// `ferrotensor devices`: the devices that are there, and why others are not.

import { columns } from '../columns.js'
import { deviceName, deviceNumber, devices, type AbsentDevice, type PresentDevice } from '../devices.js'
import { TensorError } from '../errors.js'
import { DTYPES } from '../generated/dtypes.js'
import { metric } from '../units.js'
import { EXIT, type Run } from './commands.js'
import { absence } from './native-module.js'
import { paint, print, printJson } from './output.js'

/** The devices of this machine; without a native module, one entry that says why. */
function listed(): (PresentDevice | AbsentDevice)[] {
  const reason = absence()
  return reason === undefined ? devices() : [{ name: 'native' as AbsentDevice['name'], kind: 'native', available: false, reason }]
}

/** The device of tensors made without one, or why there is none: FERROTENSOR_DEVICE may name what is not there. */
function defaultDevice(): { readonly name: string | null; readonly reason?: string } {
  try {
    return { name: deviceName(deviceNumber('devices', undefined)) }
  } catch (error) {
    if (error instanceof TensorError) return { name: null, reason: error.message }
    throw error
  }
}

/** The dtypes of a device, as what it lacks: most lack nothing. */
function dtypesOf(device: PresentDevice): string {
  const lacking = DTYPES.map(({ name }) => name).filter((name) => !device.dtypes.includes(name))
  return lacking.length === 0 ? 'all' : `all but ${lacking.join(', ')}`
}

/** A reason may be of several lines; those behind the first belong to it. */
const reasonOf = ({ name, reason }: AbsentDevice): string[] => {
  const [first = '', ...rest] = reason.split('\n')
  return [`${name}: ${paint('dim', first)}`, ...rest.map((line) => paint('dim', `  ${line}`))]
}

/** Runs the command. */
export const run: Run = async (given) => {
  const all = listed()
  const present = all.filter((device): device is PresentDevice => device.available)
  const absent = all.filter((device): device is AbsentDevice => !device.available)
  const chosen = present.length > 0 ? defaultDevice() : { name: null }
  if (given.flag('json')) printJson({ default: chosen.name, reason: chosen.reason, devices: all })
  else {
    const rows = present.map((device) => [
      `${device.name === chosen.name ? '*' : ' '} ${device.name}`,
      device.class,
      device.memory > 0 ? metric(device.memory, 'B') : 'unknown',
      dtypesOf(device),
      device.description
    ])
    const table = rows.length > 0 ? columns('llrll', [['  device', 'class', 'memory', 'dtypes', 'description'], ...rows]) : []
    const mark = chosen.name !== null ? ['', `*: where tensors are made unless told`] : chosen.reason === undefined ? [] : ['', `no default device: ${chosen.reason}`]
    const reasons = absent.length > 0 ? [...(rows.length > 0 ? [''] : []), 'absent:', ...absent.flatMap(reasonOf).map((line) => `  ${line}`)] : []
    print([...table, ...mark, ...reasons])
  }
  return chosen.reason === undefined ? EXIT.success : EXIT.failure
}
