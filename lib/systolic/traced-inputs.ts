// What a run of a traced array is given, checked: tensors of inputs, states and links, ports that are collected, the device.

import { integer } from '../arguments/validate.js'
import { tensorGiven } from '../calls/operands.js'
import { deviceName, deviceNumber } from '../devices/devices.js'
import { ArgumentError, DeviceError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { meantOrAll } from '../errors/did-you-mean.js'
import { isTensor } from '../program/node.js'
import { isPlain } from '../realm.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { gridGiven, namesGiven, type PortPlan, type State } from './traced-parts.js'

/** What leads messages of errors. */
export const RUN = 'systolic.traced.run'

/** The inputs of a run, by the order of ports. */
export function inputsGiven(ports: readonly PortPlan[], value: unknown, ticks: number): readonly (Tensor | null)[] {
  const inputs = namesGiven(RUN, "'inputs'", value, ports.map(({ as }) => as))
  return ports.map(({ as, dtype, edge }) => {
    const given = inputs[as]
    if (given === undefined) return null
    const what = `input '${as}'`
    if (!isTensor(given)) throw new ArgumentError(`${RUN}: ${what} must be a tensor [ticks, ${edge}], got ${shown(given)}`)
    tensorGiven(RUN, what, given)
    if (given.dtype !== dtype) throw new DTypeError(`${RUN}: ${what} must be ${dtype}, got ${given.dtype}`)
    if (given.ndim !== 2 || given.shape[0] !== ticks || given.shape[1] !== edge) throw new ShapeError(`${RUN}: ${what} must have shape [${ticks}, ${edge}] (ticks, places at its edge), got [${given.shape.join(', ')}]`)
    return given
  })
}

/** Which ports are collected, by an array of their names. */
export function collectedGiven(ports: readonly PortPlan[], value: unknown): readonly boolean[] {
  if (value === undefined) return ports.map(() => false)
  const names = ports.map(({ name }) => name)
  if (!Array.isArray(value) || value.length > names.length) throw new ArgumentError(`${RUN}: 'outputs' must be an array of names of ports, each once, got ${shown(value)}`)
  const given = Array.from({ length: value.length }, (_, i): unknown => value[i])
  given.forEach((name, i) => {
    if (!names.includes(name as string)) throw new ArgumentError(`${RUN}: 'outputs[${i}]' must be the name of a port, got ${shown(name)}${typeof name === 'string' && names.length > 0 ? meantOrAll(name, names) : ''}`)
    if (given.indexOf(name) !== i) throw new ArgumentError(`${RUN}: 'outputs' names '${String(name)}' twice`)
  })
  return names.map((name) => given.includes(name))
}

/** What a run begins with; what is null is made on its device. */
export interface Beginning {
  readonly state: readonly (Tensor | null)[]
  readonly links: readonly (readonly Tensor[] | null)[]
  readonly tick: number
}

/** What a run begins with, as a call says. */
export function beginningGiven(sizes: readonly [number, number], states: readonly State[], ports: readonly PortPlan[], fromGiven: unknown, stateGiven: unknown): Beginning {
  if (fromGiven !== undefined && !isPlain(fromGiven)) throw new ArgumentError(`${RUN}: 'from' must be what an earlier run left, got ${shown(fromGiven)}`)
  const from = fromGiven as { readonly state?: unknown; readonly links?: unknown; readonly tick?: unknown } | undefined
  const stateNames = states.map(({ name }) => name)
  const [own, earlier] = [namesGiven(RUN, "'state'", stateGiven ?? {}, stateNames), from === undefined ? undefined : namesGiven(RUN, "'from.state'", from.state, stateNames)]
  const links = from === undefined ? undefined : namesGiven(RUN, "'from.links'", from.links, ports.map(({ name }) => name))
  const tick = from === undefined ? 0 : integer(RUN, 'from.tick', from.tick)
  if (tick < 0) throw new ArgumentError(`${RUN}: 'from.tick' must not be negative, got ${tick}`)
  return {
    tick,
    state: states.map(({ name, dtype }) => {
      if (own[name] !== undefined) return gridGiven(RUN, `state '${name}'`, own[name], dtype, sizes)
      return earlier === undefined ? null : gridGiven(RUN, `state '${name}' of 'from'`, earlier[name], dtype, sizes)
    }),
    links: ports.map(({ name, dtype, latency }) => {
      if (links === undefined) return null
      const grids: unknown = links[name]
      if (!Array.isArray(grids) || grids.length !== latency) throw new ArgumentError(`${RUN}: the links of port '${name}' of 'from' must be an array of ${latency} tensors, got ${shown(grids)}`)
      return Array.from({ length: latency }, (_, i) => gridGiven(RUN, `link ${i} of port '${name}' of 'from'`, grids[i], dtype, sizes))
    })
  }
}

/** The device of a run: as named, else that of its tensors. */
export function deviceGiven(value: unknown, tensors: readonly (readonly [what: string, x: Tensor | null])[]): Device {
  const found = value === undefined ? tensors.find(([, x]) => x !== null)?.[1]?.device : undefined
  const device = found ?? deviceName(deviceNumber(RUN, value))
  for (const [what, x] of tensors) {
    if (x !== null && x.device !== device) throw new DeviceError(`${RUN}: ${what} is on ${x.device}, the run on ${device}`)
  }
  return device
}
