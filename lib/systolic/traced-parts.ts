// What a traced array is made of: states and ports, as a call describes them, and checked.

import { checkOptions } from '../arguments/options.js'
import { dtypeNamed, integer, integers } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { meantOrAll } from '../errors/did-you-mean.js'
import type { DType } from '../generated/dtypes.js'
import { full } from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { Scalar } from '../program/record.js'
import { isPlain } from '../realm.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { edgeLength, type Offset, type Way } from './edges.js'
import { sizeGiven } from './space.js'

/** A state of all elements: its dtype, or that and what it begins with. */
export type TracedState = DType | TracedStateOptions

/** A state of all elements. */
export interface TracedStateOptions<D extends DType = DType> {
  readonly dtype: D
  /** A number for all elements, or a tensor [rows, cols] of the dtype; 0, or false, by default. */
  readonly init?: Scalar | Tensor<D> | undefined
}

/** A port of all elements: its offset, or that and more. */
export type TracedPort = Offset | TracedPortOptions

/** A port of all elements. */
export interface TracedPortOptions<D extends DType = DType> {
  /** Where what is written arrives: so many rows to the south and columns to the east, each of which may be negative. */
  readonly offset: Offset
  /** The name under which the step reads it. That of the other side, for the names of eight sides (`east` is read as `west`), else the port's own. */
  readonly as?: string | undefined
  /** Of the states, by default, where they have one in common; float32 where there are none. */
  readonly dtype?: D | undefined
  /** Ticks from a write to the read, up to 64; 1 by default. */
  readonly latency?: number | undefined
  /** What is read where nothing was written, or came in: 0, or false, by default. */
  readonly empty?: Scalar | undefined
}

/** A state, checked. */
export interface State {
  readonly name: string
  readonly dtype: DType
  readonly init: Scalar | Tensor
}

/** A port, checked. */
export interface PortPlan {
  readonly name: string
  /** Its name among the inputs. */
  readonly as: string
  readonly dtype: DType
  readonly latency: number
  readonly empty: Scalar
  readonly way: Way
  /** Values that come in a tick, and that leave in one. */
  readonly edge: number
}

/** The other side of each: what is sent to one comes from the other. */
export interface Opposite {
  readonly north: 'south'
  readonly south: 'north'
  readonly east: 'west'
  readonly west: 'east'
  readonly northeast: 'southwest'
  readonly southwest: 'northeast'
  readonly northwest: 'southeast'
  readonly southeast: 'northwest'
}

const OPPOSITE: Opposite = {
  north: 'south', south: 'north', east: 'west', west: 'east',
  northeast: 'southwest', southwest: 'northeast', northwest: 'southeast', southeast: 'northwest'
}

/** Each is a tensor that every program of a run takes and returns. */
const MOST_LATENCY = 64
const MOST_NAMES = 64
/** Elements of a grid: a state of float32 then has 256 MiB. */
const MOST_ELEMENTS = 2 ** 26

/** The size of a grid. */
export function sizesGiven(op: string, rowsGiven: unknown, colsGiven: unknown): readonly [rows: number, cols: number] {
  const [rows, cols] = [sizeGiven(op, 'rows', rowsGiven), sizeGiven(op, 'cols', colsGiven)]
  if (rows * cols > MOST_ELEMENTS) throw new ArgumentError(`${op}: ${rows} x ${cols} elements are more than ${MOST_ELEMENTS}`)
  return [rows, cols]
}

/** An object that has no other names than these; `what` it is leads the error. */
export function namesGiven(op: string, what: string, value: unknown, names: readonly string[]): Record<string, unknown> {
  if (!isPlain(value)) throw new ArgumentError(`${op}: ${what} must be an object by name, got ${shown(value)}`)
  const odd = Object.keys(value).find((name) => !names.includes(name))
  if (odd !== undefined) throw new ArgumentError(`${op}: unknown name ${shown(odd)} in ${what}${names.length === 0 ? ', which has none' : meantOrAll(odd, names)}`)
  return value
}

/** Entries of an object by name. */
function named(op: string, option: string, value: unknown): [string, unknown][] {
  if (!isPlain(value)) throw new ArgumentError(`${op}: '${option}' must be an object by name, got ${shown(value)}`)
  const entries = Object.entries(value)
  if (entries.length > MOST_NAMES) throw new ArgumentError(`${op}: '${option}' has ${entries.length} names, more than ${MOST_NAMES}`)
  return entries
}

/** That a dtype holds a number; the error names what it is for. */
function checkHeld(op: string, what: string, value: unknown, dtype: DType): Scalar {
  if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') throw new ArgumentError(`${op}: ${what} must be a number, got ${shown(value)}`)
  within(`${op}: ${what}`, () => full([], value as number, { dtype }))
  return value
}

/** That a tensor is [rows, cols] of a dtype. */
export function gridGiven(op: string, what: string, value: unknown, dtype: DType, [rows, cols]: readonly [number, number]): Tensor {
  if (!isTensor(value)) throw new ArgumentError(`${op}: ${what} must be a tensor [${rows}, ${cols}], got ${shown(value)}`)
  tensorGiven(op, what, value)
  if (value.dtype !== dtype) throw new DTypeError(`${op}: ${what} must be ${dtype}, got ${value.dtype}`)
  if (value.ndim !== 2 || value.shape[0] !== rows || value.shape[1] !== cols) throw new ShapeError(`${op}: ${what} must have shape [${rows}, ${cols}], got [${value.shape.join(', ')}]`)
  return value
}

/** Zero, as a dtype has it. */
const zeroOf = (dtype: DType): Scalar => (dtype === 'bool' ? false : 0)

/** The states of a call. */
export function statesGiven(op: string, value: unknown, sizes: readonly [number, number]): readonly State[] {
  return named(op, 'state', value).map(([name, given]) => {
    const what = `state '${name}'`
    if (typeof given === 'string') {
      const dtype = dtypeNamed(op, `state.${name}`, given)
      return { name, dtype, init: zeroOf(dtype) }
    }
    if (!isPlain(given)) throw new ArgumentError(`${op}: ${what} must be a dtype, or { dtype, init }, got ${shown(given)}`)
    const options = checkOptions(`${op}: ${what}`, given, ['dtype', 'init'])
    const dtype = dtypeNamed(op, `state.${name}.dtype`, options['dtype'])
    const { init = zeroOf(dtype) } = options
    return { name, dtype, init: isTensor(init) ? gridGiven(op, `the 'init' of ${what}`, init, dtype, sizes) : checkHeld(op, `the 'init' of ${what}`, init, dtype) }
  })
}

/** The dtype of ports that name none. */
function commonDType(states: readonly State[]): DType | null {
  const dtypes = new Set(states.map(({ dtype }) => dtype))
  return dtypes.size > 1 ? null : (states[0]?.dtype ?? 'float32')
}

/** The offset of a port. */
function offsetGiven(op: string, name: string, value: unknown): Offset {
  const offset = integers(op, name, value)
  if (offset.length !== 2) throw new ArgumentError(`${op}: '${name}' must be two integers, rows and columns, got ${shown(value)}`)
  const [down, right] = offset as [number, number]
  if (down === 0 && right === 0) throw new ArgumentError(`${op}: '${name}' is [0, 0], which leads to the element itself: what an element keeps is a state`)
  return [down, right]
}

/** The ports of a call. */
export function portsGiven(op: string, value: unknown, states: readonly State[], [rows, cols]: readonly [number, number]): readonly PortPlan[] {
  const ports = named(op, 'ports', value).map(([name, given]): PortPlan => {
    const path = `ports.${name}`
    const options = Array.isArray(given) ? { offset: given } : given
    if (!isPlain(options)) throw new ArgumentError(`${op}: '${path}' must be an offset [rows, cols], or { offset, ... }, got ${shown(given)}`)
    const { offset, as, dtype: dtypeGiven, latency: latencyGiven, empty: emptyGiven } = checkOptions(`${op}: port '${name}'`, options, ['offset', 'as', 'dtype', 'latency', 'empty'])
    if (as !== undefined && (typeof as !== 'string' || as === '')) throw new ArgumentError(`${op}: '${path}.as' must be a name, got ${shown(as)}`)
    const dtype = dtypeGiven === undefined ? commonDType(states) : dtypeNamed(op, `${path}.dtype`, dtypeGiven)
    if (dtype === null) throw new ArgumentError(`${op}: the states have several dtypes, so that port '${name}' needs one of its own: { offset, dtype }`)
    const latency = latencyGiven === undefined ? 1 : sizeGiven(op, `${path}.latency`, latencyGiven)
    if (latency > MOST_LATENCY) throw new ArgumentError(`${op}: '${path}.latency' is ${integer(op, 'latency', latency)}, more than ${MOST_LATENCY}`)
    const way = { rows, cols, offset: offsetGiven(op, Array.isArray(given) ? path : `${path}.offset`, offset) }
    const read = as ?? (Object.hasOwn(OPPOSITE, name) ? OPPOSITE[name as keyof Opposite] : name)
    const empty = emptyGiven === undefined ? zeroOf(dtype) : emptyGiven
    return { name, as: read, dtype, latency, empty: checkHeld(op, `the 'empty' of port '${name}'`, empty, dtype), way, edge: edgeLength(way) }
  })
  const twice = ports.find(({ as }, i) => ports.findIndex((port) => port.as === as) !== i)
  if (twice !== undefined) throw new ArgumentError(`${op}: two ports are read as '${twice.as}'; name one by 'as'`)
  return ports
}

/** A state before the first tick. */
export function initial({ name, dtype, init }: State, [rows, cols]: readonly [number, number], device: Device, op: string): Tensor {
  return isTensor(init) ? tensorGiven(op, `the 'init' of state '${name}'`, init) : (full([rows, cols], init as number, { dtype, device }) as Tensor)
}
