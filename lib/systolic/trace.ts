// What happened in an array: an event for each element and tick, in the order of ticks and coordinates whatever ran it. Kept up to a
// number of events, the newest, or handed on.

import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { elementAt, textOf, type Coord, type Space } from './space.js'

/** An element's tick. */
export interface ElementEvent {
  /** From 0. */
  readonly tick: number
  readonly coord: Coord
  /** What each port read; `EMPTY` where nothing arrived. */
  readonly inputs: Readonly<Record<string, unknown>>
  /** What it wrote, by port. */
  readonly outputs: Readonly<Record<string, unknown>>
  readonly stateBefore: unknown
  readonly stateAfter: unknown
}

/** Options of `trace`. */
export interface EventOptions {
  /** Events to keep, the newest ones: 100,000 by default, 0 with a sink. */
  readonly limit?: number | undefined
  /** Gets every event, in their order, when its tick is over; what it throws ends the run. */
  readonly sink?: ((event: ElementEvent) => void) | undefined
}

/** A trace, as an array is told to keep it. */
export interface Tracing {
  readonly limit: number
  readonly sink: ((event: ElementEvent) => void) | null
}

const MOST_EVENTS = 2 ** 22
const USUAL_EVENTS = 1e5

/** The options of a trace; null for `false`. */
export function tracingGiven(op: string, value: unknown): Tracing | null {
  if (value === false) return null
  const { limit, sink } = value === true ? {} : checkOptions(op, value, ['limit', 'sink'])
  if (sink !== undefined && typeof sink !== 'function') throw new ArgumentError(`${op}: 'sink' must be a function of an event, got ${shown(sink)}`)
  const kept = limit === undefined ? (sink === undefined ? USUAL_EVENTS : 0) : integer(op, 'limit', limit)
  if (kept < 0 || kept > MOST_EVENTS) throw new ArgumentError(`${op}: 'limit' must be from 0 to ${MOST_EVENTS}, got ${kept}`)
  return { limit: kept, sink: (sink as Tracing['sink']) ?? null }
}

/** The newest of some events, which are appended one by one. */
export class EventLog {
  readonly #limit: number
  #events: ElementEvent[]

  constructor(limit: number, events: readonly ElementEvent[]) {
    this.#limit = limit
    this.#events = events.slice(Math.max(0, events.length - limit))
  }

  push(event: ElementEvent): void {
    if (this.#limit === 0) return
    this.#events.push(event)
    // Cut now and then: each event moves at most once for each that is dropped.
    if (this.#events.length >= 2 * this.#limit) this.#events = this.#events.slice(-this.#limit)
  }

  /** The events that stay, oldest first. */
  kept(): readonly ElementEvent[] {
    return this.#limit === 0 ? [] : this.#events.slice(-this.#limit)
  }
}

/** The events that an array keeps, by tick and coordinate. */
export class ElementEvents {
  readonly #space: Space
  /** All of them, oldest first. */
  readonly all: readonly ElementEvent[]

  /** @internal */
  constructor(space: Space, events: readonly ElementEvent[]) {
    this.#space = space
    this.all = events
  }

  /** How many there are. */
  get length(): number {
    return this.all.length
  }

  /** The events of a tick, by coordinate. */
  at(tick: number): readonly ElementEvent[] {
    const wanted = integer('systolic.trace', 'tick', tick)
    return this.all.filter((event) => event.tick === wanted)
  }

  /** The events of an element, oldest first. */
  forCoord(coord: Coord): readonly ElementEvent[] {
    const wanted = textOf(this.#space.coords[elementAt('systolic.trace', 'coord', this.#space, coord)] as Coord)
    return this.all.filter((event) => textOf(event.coord) === wanted)
  }
}
