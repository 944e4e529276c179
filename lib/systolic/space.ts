// Where elements are: a grid of rows and columns, or any set of coordinates with ports and neighbours. Everything behind this file counts
// elements from 0 in the order of their coordinates.

import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

/** The place of an element: whole numbers, in a grid the row (which grows to the south) and the column, from 0. */
export type Coord = readonly number[]

/** A port of an element. */
export interface Port {
  readonly coord: Coord
  readonly port: string
}

/** A space of one's own. */
export interface CustomSpace {
  /** The coordinates: arrays of whole numbers, all of one length, none twice. */
  readonly coords: readonly Coord[]
  /** The names of an element's ports; all elements have the same. */
  readonly ports: readonly string[]
  /** Where a value goes that the element at `coord` writes to `port`: the element and its port, or nothing at an edge. */
  readonly neighbours: (coord: Coord, port: string) => Port | undefined
}

/** A space, checked. */
export interface Space {
  readonly kind: 'grid' | 'custom'
  /** Rows and columns of a grid; 0 in other spaces. */
  readonly rows: number
  readonly cols: number
  /** In ascending order: by the first number, then by the second, and so on. */
  readonly coords: readonly Coord[]
  readonly ports: readonly string[]
  readonly neighbours: (coord: Coord, port: string) => Port | undefined
  /** The number of each element by the text of its coordinate. */
  readonly index: ReadonlyMap<string, number>
}

/** More elements than this are a mistake: each takes hundreds of bytes. */
export const MOST_ELEMENTS = 2 ** 20
const MOST_PORTS = 32
const MOST_NUMBERS = 8

const GRID_PORTS = ['north', 'south', 'east', 'west'] as const
const STEP: Readonly<Record<string, readonly [row: number, col: number, port: string]>> = {
  north: [-1, 0, 'south'],
  south: [1, 0, 'north'],
  east: [0, 1, 'west'],
  west: [0, -1, 'east']
}

/** The text of a coordinate, as `fill` takes it: `'0,2'`. */
export const textOf = (coord: Coord): string => coord.join(',')

/** The order of coordinates. */
function compareCoords(a: Coord, b: Coord): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** A size: a whole number from 1. */
export function sizeGiven(op: string, name: string, value: unknown): number {
  const size = integer(op, name, value)
  if (size < 1) throw new ArgumentError(`${op}: '${name}' must be at least 1, got ${size}`)
  return size
}

function indexOf(coords: readonly Coord[]): ReadonlyMap<string, number> {
  return new Map(coords.map((coord, i) => [textOf(coord), i]))
}

/** A grid of this many rows and columns. */
export function gridSpace(op: string, rowsGiven: unknown, colsGiven: unknown): Space {
  const [rows, cols] = [sizeGiven(op, 'rows', rowsGiven), sizeGiven(op, 'cols', colsGiven)]
  if (rows * cols > MOST_ELEMENTS) throw new ArgumentError(`${op}: ${rows} x ${cols} elements are more than ${MOST_ELEMENTS}`)
  const coords = Array.from({ length: rows * cols }, (_, i): Coord => Object.freeze([Math.floor(i / cols), i % cols]))
  const neighbours = ([row, col]: Coord, port: string): Port | undefined => {
    const [down, right, entered] = STEP[port] as readonly [number, number, string]
    const [r, c] = [(row as number) + down, (col as number) + right]
    return r < 0 || r >= rows || c < 0 || c >= cols ? undefined : { coord: [r, c], port: entered }
  }
  return { kind: 'grid', rows, cols, coords, ports: GRID_PORTS, neighbours, index: indexOf(coords) }
}

/** A coordinate, copied; `length` is that of the others. */
function coordCopied(op: string, name: string, value: unknown, length?: number): Coord {
  if (!Array.isArray(value) || value.length < 1 || value.length > MOST_NUMBERS) throw new ArgumentError(`${op}: '${name}' must be an array of 1 to ${MOST_NUMBERS} integers, got ${shown(value)}`)
  if (length !== undefined && value.length !== length) throw new ArgumentError(`${op}: '${name}' has ${value.length} numbers, coordinates of this space have ${length}`)
  // A negative zero is the same place.
  return Object.freeze(Array.from({ length: value.length }, (_, i) => integer(op, `${name}[${i}]`, value[i]) + 0))
}

/** A space of one's own, checked and copied. */
export function customSpace(op: string, value: unknown): Space {
  const given = checkOptions(op, value, ['coords', 'ports', 'neighbours'])
  const { coords: places, ports: names, neighbours } = given
  if (!Array.isArray(places) || places.length < 1 || places.length > MOST_ELEMENTS) throw new ArgumentError(`${op}: 'coords' must be an array of 1 to ${MOST_ELEMENTS} coordinates, got ${shown(places)}`)
  if (!Array.isArray(names) || names.length < 1 || names.length > MOST_PORTS) throw new ArgumentError(`${op}: 'ports' must be an array of 1 to ${MOST_PORTS} names, got ${shown(names)}`)
  if (typeof neighbours !== 'function') throw new ArgumentError(`${op}: 'neighbours' must be a function of a coordinate and a port, got ${shown(neighbours)}`)
  const ports = Array.from({ length: names.length }, (_, i): unknown => names[i]).map((port, i) => {
    if (typeof port !== 'string' || port === '' || port === 'result' || port === '__proto__') throw new ArgumentError(`${op}: 'ports[${i}]' must be a name other than 'result', got ${shown(port)}`)
    return port
  })
  if (new Set(ports).size !== ports.length) throw new ArgumentError(`${op}: 'ports' has a name twice: ${ports.join(', ')}`)
  const coords: Coord[] = []
  for (let i = 0; i < places.length; i++) coords.push(coordCopied(op, `coords[${i}]`, places[i], coords[0]?.length))
  coords.sort(compareCoords)
  const index = indexOf(coords)
  if (index.size !== coords.length) throw new ArgumentError(`${op}: 'coords' has a coordinate twice`)
  return { kind: 'custom', rows: 0, cols: 0, coords, ports, neighbours: neighbours as Space['neighbours'], index }
}

/** The number of the element at a coordinate of a call. */
export function elementAt(op: string, name: string, space: Space, value: unknown): number {
  const coord = coordCopied(op, name, value, space.coords[0]?.length)
  const found = space.index.get(textOf(coord))
  if (found === undefined) throw new ArgumentError(`${op}: '${name}' [${coord.join(', ')}] is no place of this array${space.kind === 'grid' ? `, which has ${space.rows} rows and ${space.cols} columns` : ''}`)
  return found
}

/** The number of a port of a call. */
export function portNumber(op: string, name: string, space: Space, value: unknown): number {
  const found = space.ports.indexOf(value as string)
  if (found < 0) throw new ArgumentError(`${op}: '${name}' must be one of ${space.ports.map((port) => `'${port}'`).join(', ')}, got ${shown(value)}`)
  return found
}
