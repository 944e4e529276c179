// An array at rest: a space, its elements with their states, links with what is under way, inputs, and what was observed. Values of this class never
// change; each method gives another one.

import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { isPlain } from '../realm.js'
import { elementGiven, optionsOfPlace, type Element, type Prepared } from './element.js'
import { messageOf, type Counts, type Output } from './machine.js'
import { lengthOf } from './ready.js'
import { customSpace, elementAt, gridSpace, portNumber, textOf, type Coord, type CustomSpace, type Port, type Space } from './space.js'
import { ElementEvents, EventLog, tracingGiven, type ElementEvent, type EventOptions, type Tracing } from './trace.js'
import {
  directionGiven, linkOptions, MOST_PLACES, neighbourOf, portText, wire, type Flight, type Link, type LinkOptions, type OnFull, type Wiring
} from './wiring.js'

/** Values for a port, from which one is injected a tick. */
export interface Stream {
  readonly port: number
  readonly values: readonly unknown[]
  /** How many were injected. */
  readonly at: number
}

/** Where the elements of a run stepped. */
export interface Dispatched {
  /** `'calling thread'`, or how worker threads were used. */
  readonly dispatch: 'calling thread' | 'tasks' | 'pool'
  /** Threads beside the calling one. */
  readonly workers: number
  /** Tiles that the array was divided into; 1 without tiles. */
  readonly tiles: number
  /** Why no worker was used though a dispatch to workers was asked for; null where that is not so. */
  readonly reason: string | null
}

/** What an array consists of. */
export interface Parts {
  readonly space: Space
  readonly elements: readonly (Prepared | null)[]
  readonly states: readonly unknown[]
  readonly links: readonly Link[]
  readonly wiring: Wiring
  /** What is under way in each link, oldest first. */
  readonly flights: readonly (readonly Flight[])[]
  readonly inputs: readonly Stream[]
  /** The ports whose values are collected. */
  readonly collects: readonly number[]
  readonly outputs: readonly Output[]
  readonly counts: Counts
  readonly tracing: Tracing | null
  readonly events: readonly ElementEvent[]
  readonly tick: number
  readonly dispatched: Dispatched | null
}

/** Coordinates and the values for each: `[[[0, 0], [1, 2]]]`. */
export type InputStreams = readonly (readonly [coord: Coord, values: readonly any[]])[]

/** A link as a backend sees it. */
export interface LinkView {
  /** Undefined for a link from outside of the array. */
  readonly from: Port | undefined
  readonly to: Port
  readonly latency: number
  readonly capacity: number
  readonly onFull: OnFull
  /** What is under way, oldest first. */
  readonly queue: readonly Flight[]
}

/** An input as a backend sees it. */
export interface InputView extends Port {
  /** What is still to be injected. */
  readonly values: readonly unknown[]
}

/** An element as a backend sees it, with its state. */
export interface PlaceView {
  readonly coord: Coord
  /** Null where there is none. */
  readonly step: Element['step'] | null
  readonly state: any
}

/** What a backend of one's own gives back. */
export interface RunResult {
  readonly tick: number
  /** For each place, in the order of `places`. */
  readonly states: readonly unknown[]
  /** For each link, in the order of `links`. */
  readonly queues: readonly (readonly Flight[])[]
  /** What is left of each input, in the order of `inputs`. */
  readonly inputs: readonly (readonly unknown[])[]
  readonly counts: Counts
  /** All that was collected, what `outputs` had before included. */
  readonly outputs: readonly Output[]
  /** The events of this run, in the order of ticks and coordinates; none where the array is not traced. */
  readonly events: readonly ElementEvent[]
}

let partsGiven: (array: SystolicArray) => Parts
let arrayGiven: (parts: Parts) => SystolicArray

/** A systolic array at rest. It never changes: each method, and each run, gives another one. */
export class SystolicArray {
  readonly #parts: Parts
  #events: ElementEvents | undefined

  private constructor(parts: Parts) {
    this.#parts = parts
  }

  static {
    partsGiven = (array) => array.#parts
    arrayGiven = (parts) => new SystolicArray(parts)
  }

  /** Rows of a grid; 0 in other spaces. */
  get rows(): number {
    return this.#parts.space.rows
  }

  /** Columns of a grid; 0 in other spaces. */
  get cols(): number {
    return this.#parts.space.cols
  }

  /** The names of an element's ports. */
  get ports(): readonly string[] {
    return [...this.#parts.space.ports]
  }

  /** Ticks that have passed. */
  get tick(): number {
    return this.#parts.tick
  }

  /** What became of values that did not go the usual way. */
  get counts(): Counts {
    return this.#parts.counts
  }

  /** What left through the ports that `output` names, in the order of ticks and coordinates. */
  get outputs(): readonly Output[] {
    return this.#parts.outputs
  }

  /** The events that `trace` keeps. */
  get events(): ElementEvents {
    return (this.#events ??= new ElementEvents(this.#parts.space, this.#parts.events))
  }

  /** Where the elements of the last run stepped; null before the first, and after one by a backend of one's own. */
  get dispatched(): Dispatched | null {
    return this.#parts.dispatched
  }

  /** All places by coordinate, for backends: the element's step and its state. */
  get places(): readonly PlaceView[] {
    const { space, elements, states } = this.#parts
    return space.coords.map((coord, i) => ({ coord, step: elements[i]?.step ?? null, state: states[i] }))
  }

  /** All links, in the order in which they were made, for backends. */
  get links(): readonly LinkView[] {
    const { links, flights } = this.#parts
    return links.map(({ from, to, ...rest }, i) => ({ from: from < 0 ? undefined : this.#port(from), to: this.#port(to), ...rest, queue: flights[i] as readonly Flight[] }))
  }

  /** The inputs that have values left, for backends. */
  get inputs(): readonly InputView[] {
    return this.#parts.inputs.map(({ port, values, at }) => ({ ...this.#port(port), values: values.slice(at) }))
  }

  /** The ports whose values are collected, for backends. */
  get collected(): readonly Port[] {
    return this.#parts.collects.map((port) => this.#port(port))
  }

  /** Whether events are recorded, for backends. */
  get traced(): boolean {
    return this.#parts.tracing !== null
  }

  #port(port: number): Port {
    const { coords, ports } = this.#parts.space
    return { coord: coords[Math.floor(port / ports.length)] as Coord, port: ports[port % ports.length] as string }
  }

  /**
   * The array with an element at every place. `options` are those of single places, by the text of their coordinates: `{ '0,0': { acc: 5 } }`.
   *
   * @throws {ArgumentError} for what is no element, no place of this array, and where `init` throws.
   */
  fill(element: Element, options?: Readonly<Record<string, object>>): SystolicArray {
    const op = 'systolic.fill'
    const prepared = elementGiven(op, element)
    const { space } = this.#parts
    if (options !== undefined && !isPlain(options)) throw new ArgumentError(`${op}: 'options' must be an object from coordinates ('0,0') to options, got ${shown(options)}`)
    for (const text of Object.keys(options ?? {})) {
      if (!space.index.has(text)) throw new ArgumentError(`${op}: ${shown(text)} is no place of this array; coordinates are written as '${textOf(space.coords[0] as Coord)}'`)
    }
    const states = space.coords.map((coord) => initialised(op, prepared, optionsOfPlace(op, options?.[textOf(coord)]), coord))
    return arrayGiven({ ...this.#parts, elements: states.map(() => prepared), states })
  }

  /**
   * The array with an element at one place.
   *
   * @throws {ArgumentError} as {@link fill}.
   */
  place(coord: Coord, element: Element, options?: object): SystolicArray {
    const op = 'systolic.place'
    const { space, elements, states } = this.#parts
    const at = elementAt(op, 'coord', space, coord)
    const prepared = elementGiven(op, element)
    const state = initialised(op, prepared, optionsOfPlace(op, options), space.coords[at] as Coord)
    return arrayGiven({ ...this.#parts, elements: elements.with(at, prepared), states: states.with(at, state) })
  }

  /**
   * The array with the links of a direction. Of a grid `'west_to_east'`, `'east_to_west'`, `'north_to_south'` or `'south_to_north'`: a link from each
   * element to the next one, and one into the array at the edge where the direction begins. Of another space the name of a port: a link from there to the
   * neighbour's port that it leads to. Without a direction, all links between neighbours, and none from outside.
   *
   * @throws {ArgumentError} for an unknown direction, a latency or capacity below 1, and a second link into a port.
   */
  connect(direction?: string, options?: LinkOptions): SystolicArray {
    const op = 'systolic.connect'
    const { space } = this.#parts
    const how = linkOptions(op, options)
    const added: Link[] = []
    if (direction === undefined) {
      for (let element = 0; element < space.coords.length; element++) {
        for (const port of space.ports) {
          const to = neighbourOf(op, space, element, port)
          if (to >= 0) added.push({ from: element * space.ports.length + space.ports.indexOf(port), to, ...how })
        }
      }
      return this.#linked(op, added)
    }
    const [leaves, enters] = directionGiven(op, space, direction)
    const out = space.ports.indexOf(leaves)
    const inward = enters === null ? -1 : space.ports.indexOf(enters)
    for (let element = 0; element < space.coords.length; element++) {
      const base = element * space.ports.length
      // What comes in at an edge enters by the port that faces it: there is no neighbour on that side.
      if (enters !== null && neighbourOf(op, space, element, enters) < 0) added.push({ from: -1, to: base + inward, ...how })
      const to = neighbourOf(op, space, element, leaves)
      if (to >= 0) added.push({ from: base + out, to, ...how })
    }
    return this.#linked(op, added)
  }

  /**
   * The array with one more link. Several may leave a port: each gets what is written there. Without `from` it comes from outside.
   *
   * @throws {ArgumentError} for places and ports that the array does not have, and a second link into a port.
   */
  link(ends: { readonly from?: Port | undefined; readonly to: Port }, options?: LinkOptions): SystolicArray {
    const op = 'systolic.link'
    const { from, to } = checkOptions(op, ends, ['from', 'to'])
    return this.#linked(op, [{ from: from === undefined ? -1 : this.#portOf(op, 'from', from), to: this.#portOf(op, 'to', to), ...linkOptions(op, options) }])
  }

  #portOf(op: string, name: string, value: unknown): number {
    if (typeof value !== 'object' || value === null) throw new ArgumentError(`${op}: '${name}' must be { coord, port }, got ${shown(value)}`)
    const { coord, port } = checkOptions(op, value, ['coord', 'port'])
    const { space } = this.#parts
    return elementAt(op, `${name}.coord`, space, coord) * space.ports.length + portNumber(op, `${name}.port`, space, port)
  }

  #linked(op: string, added: readonly Link[]): SystolicArray {
    const { space, links, flights } = this.#parts
    const all = [...links, ...added]
    return arrayGiven({ ...this.#parts, links: all, wiring: wire(op, space, all), flights: [...flights, ...added.map(() => [])] })
  }

  /**
   * The array with values for a port of some elements. In each tick one value of each is injected, in order, and read in the same tick where the link's latency
   * is 1; `EMPTY` among them leaves a tick out. A value waits while its link is full, or where there is none, which `counts` tells.
   *
   * @throws {ArgumentError} for places and ports that the array does not have, a port that has an input already, and a value that is undefined.
   */
  input(port: string, streams: InputStreams): SystolicArray {
    const op = 'systolic.input'
    const { space, inputs } = this.#parts
    const number = portNumber(op, 'port', space, port)
    if (!Array.isArray(streams) || streams.length > space.coords.length) throw new ArgumentError(`${op}: 'streams' must be an array of at most ${space.coords.length} pairs [coord, values], got ${shown(streams)}`)
    const taken = new Set(inputs.map((stream) => stream.port))
    const added: Stream[] = []
    for (let i = 0; i < streams.length; i++) {
      const pair: unknown = streams[i]
      if (!Array.isArray(pair) || pair.length !== 2) throw new ArgumentError(`${op}: 'streams[${i}]' must be a pair [coord, values], got ${shown(pair)}`)
      const at = elementAt(op, `streams[${i}][0]`, space, pair[0]) * space.ports.length + number
      const values = valuesGiven(op, `streams[${i}][1]`, pair[1])
      if (taken.has(at)) throw new ArgumentError(`${op}: there is an input for ${portText(space, at)} already`)
      taken.add(at)
      // A stream without values is over before it begins.
      if (values.length > 0) added.push({ port: at, values, at: 0 })
    }
    return arrayGiven({ ...this.#parts, inputs: [...inputs, ...added] })
  }

  /**
   * The array with what is written to a port collected (`outputs`): at the given places, or, without them, at those from which no link leads on.
   *
   * @throws {ArgumentError} for places and ports that the array does not have.
   */
  output(port: string, coords?: readonly Coord[]): SystolicArray {
    const op = 'systolic.output'
    const { space, wiring, collects } = this.#parts
    const number = portNumber(op, 'port', space, port)
    if (coords !== undefined && (!Array.isArray(coords) || coords.length > space.coords.length)) throw new ArgumentError(`${op}: 'coords' must be an array of at most ${space.coords.length} coordinates, got ${shown(coords)}`)
    const places = coords === undefined ? space.coords.map((_, i) => i) : Array.from({ length: coords.length }, (_, i) => elementAt(op, `coords[${i}]`, space, coords[i]))
    const ports = places.map((place) => place * space.ports.length + number)
    const open = coords === undefined ? ports.filter((at) => wiring.first[at] === wiring.first[at + 1]) : ports
    return arrayGiven({ ...this.#parts, collects: [...new Set([...collects, ...open])].sort((a, b) => a - b) })
  }

  /**
   * The array with events recorded from now on, or, with `false`, no more.
   *
   * @throws {ArgumentError} for a limit below 0 or above 2^22, and a sink that is no function.
   */
  trace(options: boolean | EventOptions = true): SystolicArray {
    const tracing = tracingGiven('systolic.trace', options)
    return arrayGiven({ ...this.#parts, tracing, events: tracing === null ? [] : new EventLog(tracing.limit, this.#parts.events).kept() })
  }

  /**
   * The results of a grid, by row and column: what the elements' `result` shows of their states, undefined where there is no element.
   *
   * @throws {ArgumentError} for another space.
   */
  resultMatrix(): any[][] {
    const { rows, cols } = this
    if (this.#parts.space.kind !== 'grid') throw new ArgumentError('systolic.resultMatrix: the array is no grid; resultMap() has the results of any space')
    return Array.from({ length: rows }, (_, row) => Array.from({ length: cols }, (_, col) => this.#result(row * cols + col)))
  }

  /** The results by the text of their coordinates (`'0,2'`), of the places that have an element. */
  resultMap(): Map<string, any> {
    const { space, elements } = this.#parts
    return new Map(space.coords.flatMap((coord, i) => (elements[i] === null ? [] : [[textOf(coord), this.#result(i)] as const])))
  }

  #logged(events: readonly ElementEvent[]): readonly ElementEvent[] {
    const { tracing, events: before } = this.#parts
    if (tracing === null) return before
    const log = new EventLog(tracing.limit, before)
    for (const event of events) {
      log.push(event)
      tracing.sink?.(event)
    }
    return log.kept()
  }

  #result(at: number): unknown {
    const { elements, states } = this.#parts
    return elements[at]?.result(states[at])
  }

  /**
   * The array after a run that a backend of one's own did.
   *
   * @throws {ArgumentError} for lists of another length than those of this array, and a tick before its own.
   */
  after(run: RunResult): SystolicArray {
    const op = 'systolic.after'
    const { tick, states, queues, inputs, counts, outputs, events } = checkOptions(op, run, ['tick', 'states', 'queues', 'inputs', 'counts', 'outputs', 'events']) as Partial<RunResult>
    const parts = this.#parts
    for (const [name, list, length] of [['states', states, parts.states.length], ['queues', queues, parts.links.length], ['inputs', inputs, parts.inputs.length], ['outputs', outputs, null], ['events', events, null]] as const) {
      if (!Array.isArray(list) || (length !== null && list.length !== length)) throw new ArgumentError(`${op}: '${name}' must be an array${length === null ? '' : ` of ${length}`}, got ${shown(list)}`)
    }
    const lists = { states: states as readonly unknown[], queues: queues as readonly (readonly Flight[])[], inputs: inputs as readonly (readonly unknown[])[] }
    if (integer(op, 'tick', tick) < parts.tick) throw new ArgumentError(`${op}: 'tick' is ${tick}, the array is at ${parts.tick} already`)
    const { dropped, deferred, unmatched } = checkOptions(op, counts, ['dropped', 'deferred', 'unmatched'])
    lists.queues.forEach((queue, i) => {
      if (!Array.isArray(queue) || queue.length > (parts.links[i] as Link).capacity) throw new ArgumentError(`${op}: 'queues[${i}]' must be an array of at most ${(parts.links[i] as Link).capacity}, got ${shown(queue)}`)
      for (const flight of queue as unknown[]) integer(op, `queues[${i}][].arrives`, (checkOptions(op, flight, ['value', 'arrives']) as Partial<Flight>).arrives)
    })
    return arrayGiven({
      ...parts,
      tick: tick as number,
      states: [...lists.states],
      flights: lists.queues.map((queue) => [...queue]),
      inputs: parts.inputs.flatMap((stream, i) => {
        const values = valuesGiven(op, `inputs[${i}]`, lists.inputs[i])
        return values.length === 0 ? [] : [{ port: stream.port, values, at: 0 }]
      }),
      counts: { dropped: integer(op, 'counts.dropped', dropped), deferred: integer(op, 'counts.deferred', deferred), unmatched: integer(op, 'counts.unmatched', unmatched) },
      outputs: [...(outputs as readonly Output[])],
      events: this.#logged(events as readonly ElementEvent[]),
      dispatched: null
    })
  }
}

/** The state of an element before the first tick. */
function initialised(op: string, { init }: Prepared, options: unknown, coord: Coord): unknown {
  try {
    return init(options, { coord })
  } catch (error) {
    throw new ArgumentError(`${op}: 'init' of the element at [${coord.join(', ')}] threw ${messageOf(error)}`, { cause: error })
  }
}

/** The values of a stream, copied. */
function valuesGiven(op: string, name: string, values: unknown): readonly unknown[] {
  const length = lengthOf(values)
  if (length === null || length > MOST_PLACES) throw new ArgumentError(`${op}: '${name}' must be an array of at most ${MOST_PLACES} values, got ${shown(values)}`)
  const copied: unknown[] = []
  for (let i = 0; i < length; i++) {
    const value = (values as readonly unknown[])[i]
    if (value === undefined) throw new ArgumentError(`${op}: '${name}' has no value at ${i}; EMPTY leaves a tick out`)
    copied.push(value)
  }
  return copied
}

/** What an array of a call consists of. */
export function partsOf(op: string, array: unknown): Parts {
  if (!(array instanceof SystolicArray)) throw new ArgumentError(`${op}: 'array' must be a systolic array, got ${shown(array)}`)
  try {
    return partsGiven(array)
  } catch {
    // A proxy, or an object with its prototype: it has no fields.
    throw new ArgumentError(`${op}: 'array' must be a systolic array, got an object that only looks like one`)
  }
}

/** An array of these parts. */
export const arrayOf = (parts: Parts): SystolicArray => arrayGiven(parts)

/**
 * A systolic array: a grid of `rows` and `cols`, or a space of one's own, without elements, links and inputs.
 *
 * A systolic array is a set of elements that step at once with each tick of a clock, and pass values to neighbours through links (Kung and Leiserson,
 * "Systolic arrays (for VLSI)", 1979). An element sees its ports alone, and what it writes in a tick is read in a later one.
 *
 * @throws {ArgumentError} for sizes that are no whole numbers from 1, and spaces of more than 2^20 elements, without ports, or with a name or
 * coordinate twice.
 * @example
 * ```ts
 * ft.systolic.array(2, 3).fill(ft.systolic.mac()).resultMatrix() // [[0, 0, 0], [0, 0, 0]]
 * ```
 */
export function array(rows: number, cols: number): SystolicArray
export function array(space: CustomSpace): SystolicArray
export function array(rows: number | CustomSpace, cols?: number): SystolicArray {
  const op = 'systolic.array'
  const space = typeof rows === 'object' && rows !== null ? customSpace(op, rows) : gridSpace(op, rows, cols)
  if (space.kind === 'custom' && cols !== undefined) throw new ArgumentError(`${op}: a space is the only argument, got ${shown(cols)} behind it`)
  return arrayOf({
    space,
    elements: space.coords.map(() => null),
    states: space.coords.map(() => undefined),
    links: [],
    wiring: wire(op, space, []),
    flights: [],
    inputs: [],
    collects: [],
    outputs: [],
    counts: { dropped: 0, deferred: 0, unmatched: 0 },
    tracing: null,
    events: [],
    tick: 0,
    dispatched: null
  })
}
