// Links, and what of an array is worked out once: which links lead to and from each port, by numbers. A port of an array is a number, that of
// its element times the number of ports, plus that of its name.

import { checkOptions } from '../arguments/options.js'
import { integer, oneOf } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { sizeGiven, textOf, type Port, type Space } from './space.js'

/** What is done with a value that is written to a full link: it is dropped and counted, or an error. */
export type OnFull = 'drop' | 'throw'

/** Options of links. */
export interface LinkOptions {
  /** Ticks from a write to the read; 1 by default. */
  readonly latency?: number | undefined
  /** Values that may be under way; as many as the latency has ticks by default, so that a link takes a value each tick. */
  readonly capacity?: number | undefined
  /** What happens to a value that finds the link full: `'drop'` by default, which counts it. */
  readonly onFull?: OnFull | undefined
}

/** A link, by numbers; -1 is the outside of the array. */
export interface Link {
  readonly from: number
  readonly to: number
  readonly latency: number
  readonly capacity: number
  readonly onFull: OnFull
}

/** A value under way, and the tick in which it can be read. */
export interface Flight {
  readonly value: unknown
  readonly arrives: number
}

/** Which links lead where. */
export interface Wiring {
  /** The link into each port; -1 for none. */
  readonly into: Int32Array
  /** Where the links out of each port begin in `leaving`, and behind the last one where they end. */
  readonly first: Int32Array
  readonly leaving: Int32Array
}

const MOST_LATENCY = 2 ** 16
/** Places of all links of an array. */
export const MOST_PLACES = 2 ** 24

/** The options of links, checked. */
export function linkOptions(op: string, options: unknown): Pick<Link, 'latency' | 'capacity' | 'onFull'> {
  const given = checkOptions(op, options, ['latency', 'capacity', 'onFull'])
  const latency = given['latency'] === undefined ? 1 : sizeGiven(op, 'latency', given['latency'])
  const capacity = given['capacity'] === undefined ? latency : sizeGiven(op, 'capacity', given['capacity'])
  for (const [name, value] of [['latency', latency], ['capacity', capacity]] as const) {
    if (value > MOST_LATENCY) throw new ArgumentError(`${op}: '${name}' is ${integer(op, name, value)}, more than ${MOST_LATENCY}`)
  }
  return { latency, capacity, onFull: given['onFull'] === undefined ? 'drop' : oneOf(op, 'onFull', given['onFull'], ['drop', 'throw']) }
}

/** The links of a grid by their direction: the port they leave, and the one they enter. */
const DIRECTIONS: Readonly<Record<string, readonly [leaves: string, enters: string]>> = {
  west_to_east: ['east', 'west'],
  east_to_west: ['west', 'east'],
  north_to_south: ['south', 'north'],
  south_to_north: ['north', 'south']
}

/** A direction of a call: the port that its links leave, and, where links come in at an edge, the one that they enter. */
export function directionGiven(op: string, space: Space, direction: unknown): readonly [leaves: string, enters: string | null] {
  if (space.kind === 'custom') return [oneOf(op, 'direction', direction, space.ports), null]
  return DIRECTIONS[oneOf(op, 'direction', direction, Object.keys(DIRECTIONS))] as readonly [string, string]
}

/** A port as errors show it. */
export const portText = (space: Space, port: number): string => `'${space.ports[port % space.ports.length]}' of [${(space.coords[Math.floor(port / space.ports.length)] as readonly number[]).join(', ')}]`

/** The port where a value goes that an element writes to one of its ports; -1 at an edge. */
export function neighbourOf(op: string, space: Space, element: number, port: string): number {
  const coord = space.coords[element] as readonly number[]
  const found: unknown = space.neighbours(coord, port)
  if (found === undefined || found === null) return -1
  const { coord: at, port: entered } = checkOptions(op, found, ['coord', 'port']) as Partial<Port>
  const number = Array.isArray(at) && at.length === coord.length ? space.index.get(textOf(at as readonly number[])) : undefined
  const portAt = space.ports.indexOf(entered as string)
  if (number === undefined || portAt < 0) throw new ArgumentError(`${op}: 'neighbours' leads from '${port}' of [${coord.join(', ')}] to no port of an element`)
  return number * space.ports.length + portAt
}

/** The ports of an array with their links. */
export function wire(op: string, space: Space, links: readonly Link[]): Wiring {
  const ports = space.coords.length * space.ports.length
  const into = new Int32Array(ports).fill(-1)
  const first = new Int32Array(ports + 1)
  let places = 0
  links.forEach(({ from, to, capacity }, i) => {
    if (into[to] !== -1) throw new ArgumentError(`${op}: there is a link into ${portText(space, to)} already`)
    into[to] = i
    places += capacity
    if (from >= 0) first[from + 1] = (first[from + 1] as number) + 1
  })
  if (places > MOST_PLACES) throw new ArgumentError(`${op}: links for ${places} values are more than ${MOST_PLACES}`)
  for (let port = 0; port < ports; port++) first[port + 1] = (first[port + 1] as number) + (first[port] as number)
  const leaving = new Int32Array(first[ports] as number)
  const next = first.slice()
  links.forEach(({ from }, i) => {
    if (from < 0) return
    leaving[next[from] as number] = i
    next[from] = (next[from] as number) + 1
  })
  return { into, first, leaving }
}
