// `ferrotensor devices`: the devices that are there, and why others are not.

import { devices, type AbsentDevice, type PresentDevice } from '../devices/devices.js'
import { DTYPES } from '../generated/dtypes.js'
import { columns } from '../text/table.js'
import { metric } from '../text/units.js'
import { EXIT, type Run } from './commands.js'
import { paint, print, printJson } from './output.js'
import { defaultDevice, type Default } from './present.js'

/** The dtypes of a device, as what it lacks: most lack nothing. */
function dtypesOf(device: PresentDevice): string {
  const lacking = DTYPES.map(({ name }) => name).filter((name) => !device.dtypes.includes(name))
  return lacking.length === 0 ? 'all' : `all but ${lacking.join(', ')}`
}

/** A table of the devices that are there, and which of them is the default. */
function presentLines(present: readonly PresentDevice[], chosen: Default): string[] {
  if (present.length === 0) return []
  const rows = present.map((device) => [
    `${device.name === chosen.name ? '*' : ' '} ${device.name}`,
    device.class,
    device.memory > 0 ? metric(device.memory, 'B') : 'unknown',
    dtypesOf(device),
    device.description
  ])
  const mark = chosen.reason === undefined ? '*: default device' : `no default device: ${chosen.reason}`
  return [...columns('llrll', [['  device', 'class', 'memory', 'dtypes', 'description'], ...rows]), '', mark]
}

/** What is not there, and why; of a reason of several lines, those behind the first are indented. */
function absentLines(absent: readonly AbsentDevice[]): string[] {
  if (absent.length === 0) return []
  return ['absent:', ...absent.map(({ name, reason }) => `  ${name}: ${paint('dim', reason.replaceAll('\n', '\n  '))}`)]
}

/** Runs the command. */
export const run: Run = async (given) => {
  const all = devices()
  const present = all.filter((device): device is PresentDevice => device.available)
  const absent = all.filter((device): device is AbsentDevice => !device.available)
  const chosen: Default = present.length > 0 ? defaultDevice('devices') : { name: null }
  if (given.flag('json')) printJson({ default: chosen.name, reason: chosen.reason, devices: all })
  else print([...presentLines(present, chosen), ...(present.length > 0 && absent.length > 0 ? [''] : []), ...absentLines(absent)])
  return chosen.reason === undefined ? EXIT.success : EXIT.failure
}
