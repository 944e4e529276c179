// An array while it runs: states and links as flat arrays by number, changed in place. One tick is six steps: what inputs hold is injected,
// links are read, elements step, what they give is collected, written, and recorded.

import { ArgumentError, TensorError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { thrown } from '../realm.js'
import type { Parts, Stream } from './array.js'
import { EMPTY, type Prepared } from './element.js'
import type { Coord } from './space.js'
import { EventLog, type ElementEvent } from './trace.js'

/** A value that left an array through a port. */
export interface Output {
  readonly tick: number
  readonly coord: Coord
  readonly port: string
  readonly value: unknown
}

/** What became of values that did not go the usual way. */
export interface Counts {
  /** Values written to a full link, which are gone. */
  readonly dropped: number
  /** Ticks that inputs waited because their link was full. */
  readonly deferred: number
  /** Ticks that inputs waited because no link leads to their port. */
  readonly unmatched: number
}

/** An error of an element, which names it and the tick. */
export function failed(coord: Coord, tick: number, what: string, cause?: unknown): TensorError {
  return new ArgumentError(`systolic.run: the element at [${coord.join(', ')}] ${what} in tick ${tick}`, cause === undefined ? {} : { cause })
}

/** What a step gave, where it is nothing a step may give. */
export function nonsense(value: unknown): string | null {
  if (!Array.isArray(value)) return `returned ${shown(value)} instead of [state, outputs]`
  if (value.length < 1 || value.length > 2) return `returned ${value.length} items instead of [state, outputs]`
  const outputs: unknown = value[1]
  if (outputs === undefined || (typeof outputs === 'object' && outputs !== null && !Array.isArray(outputs))) return null
  return `returned ${shown(outputs)} instead of outputs by port`
}

/** The outputs that have a value. */
const written = (outputs: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(outputs ?? {}).filter(([, value]) => value !== undefined && value !== EMPTY))

/** Values under way, in rings: link i has the places from `start[i]` on. */
export class Links {
  readonly start: Int32Array
  readonly capacity: Int32Array
  readonly latency: Int32Array
  readonly head: Int32Array
  readonly count: Int32Array
  readonly values: unknown[]
  readonly arrives: Float64Array

  constructor({ links, flights }: Pick<Parts, 'links' | 'flights'>) {
    this.start = new Int32Array(links.length)
    this.capacity = Int32Array.from(links, ({ capacity }) => capacity)
    this.latency = Int32Array.from(links, ({ latency }) => latency)
    this.head = new Int32Array(links.length)
    this.count = new Int32Array(links.length)
    let places = 0
    for (let i = 0; i < links.length; i++) {
      this.start[i] = places
      places += this.capacity[i] as number
    }
    this.values = new Array<unknown>(places).fill(EMPTY)
    this.arrives = new Float64Array(places)
    flights.forEach((queue, i) => {
      for (const { value, arrives } of queue) this.push(i, value, arrives)
    })
  }

  /** Whether there was room. */
  push(link: number, value: unknown, arrives: number): boolean {
    const [count, capacity] = [this.count[link] as number, this.capacity[link] as number]
    if (count === capacity) return false
    let at = (this.head[link] as number) + count
    if (at >= capacity) at -= capacity
    at += this.start[link] as number
    this.values[at] = value
    this.arrives[at] = arrives
    this.count[link] = count + 1
    return true
  }

  /** The oldest value, where it has arrived, which is then gone. */
  pop(link: number, tick: number): unknown {
    if (link < 0 || this.count[link] === 0) return EMPTY
    const head = this.head[link] as number
    const at = (this.start[link] as number) + head
    if ((this.arrives[at] as number) > tick) return EMPTY
    const value = this.values[at]
    this.values[at] = EMPTY
    this.head[link] = head + 1 === this.capacity[link] ? 0 : head + 1
    this.count[link] = (this.count[link] as number) - 1
    return value
  }

  /** What is under way in a link, oldest first. */
  queue(link: number): { value: unknown; arrives: number }[] {
    return Array.from({ length: this.count[link] as number }, (_, i) => {
      const at = (this.start[link] as number) + (((this.head[link] as number) + i) % (this.capacity[link] as number))
      return { value: this.values[at], arrives: this.arrives[at] as number }
    })
  }
}

/** The streams of inputs, from which one value each is injected a tick. */
export class Inputs {
  readonly #streams: readonly Stream[]
  readonly #at: Int32Array
  readonly #link: Int32Array
  deferred = 0
  unmatched = 0

  constructor({ inputs, wiring }: Pick<Parts, 'inputs' | 'wiring'>) {
    this.#streams = inputs
    this.#at = Int32Array.from(inputs, ({ at }) => at)
    this.#link = Int32Array.from(inputs, ({ port }) => wiring.into[port] as number)
  }

  inject(links: Links, tick: number): void {
    for (let i = 0; i < this.#streams.length; i++) {
      const { values } = this.#streams[i] as Stream
      const at = this.#at[i] as number
      if (at === values.length) continue
      const link = this.#link[i] as number
      if (link < 0) {
        this.unmatched++
        continue
      }
      // A link that values come into from outside is read in the tick of the injection.
      const value = values[at]
      if (value === EMPTY || links.push(link, value, tick + (links.latency[link] as number) - 1)) this.#at[i] = at + 1
      else this.deferred++
    }
  }

  /** What is left of the streams. */
  left(): Stream[] {
    return this.#streams.flatMap((stream, i) => (this.#at[i] === stream.values.length ? [] : [{ ...stream, at: this.#at[i] as number }]))
  }
}

/** An array that runs on the calling thread, whatever its elements are. */
export class Machine {
  readonly #parts: Parts
  readonly #links: Links
  readonly #inputs: Inputs
  readonly #states: unknown[]
  readonly #order: Int32Array
  readonly #ascending: boolean
  readonly #log: EventLog | null
  readonly #collected: Output[] = []
  readonly #collects: Uint8Array
  /** The number of each port by name; -1 for `result`. */
  readonly #ports: Record<string, number> = Object.create(null) as Record<string, number>
  // Writes of a tick: they happen when all elements have read. A link is written to once a tick, so there is a place for each.
  readonly #written: Int32Array
  readonly #writers: Int32Array
  readonly #values: unknown[]
  #writes = 0
  #tick: number
  #dropped = 0

  /** `order` is the one in which elements step; the results do not depend on it. */
  constructor(parts: Parts, order?: Int32Array) {
    this.#parts = parts
    this.#links = new Links(parts)
    this.#inputs = new Inputs(parts)
    this.#states = parts.states.slice()
    this.#order = order ?? Int32Array.from(parts.states, (_, i) => i)
    this.#ascending = order === undefined
    this.#tick = parts.tick
    const most = parts.wiring.leaving.length
    this.#written = new Int32Array(most)
    this.#writers = new Int32Array(most)
    this.#values = new Array<unknown>(most).fill(EMPTY)
    this.#log = parts.tracing === null ? null : new EventLog(parts.tracing.limit, parts.events)
    this.#collects = new Uint8Array(parts.wiring.into.length)
    for (const port of parts.collects) this.#collects[port] = 1
    parts.space.ports.forEach((port, i) => (this.#ports[port] = i))
    this.#ports['result'] = -1
  }

  run(ticks: number): Parts {
    for (let i = 0; i < ticks; i++) this.#step()
    const { deferred, unmatched } = this.#inputs
    const { counts } = this.#parts
    return {
      ...this.#parts,
      states: this.#states,
      flights: this.#parts.links.map((_, i) => this.#links.queue(i)),
      inputs: this.#inputs.left(),
      outputs: [...this.#parts.outputs, ...this.#collected],
      counts: { dropped: counts.dropped + this.#dropped, deferred: counts.deferred + deferred, unmatched: counts.unmatched + unmatched },
      events: this.#log?.kept() ?? this.#parts.events,
      tick: this.#tick
    }
  }

  #read(element: number): Record<string, unknown> {
    const { space, wiring } = this.#parts
    const [links, tick] = [this.#links, this.#tick]
    const ports = space.ports.length
    const base = element * ports
    const { into } = wiring
    // Written out: objects of one shape are several times faster than names that are set one by one.
    if (space.kind === 'grid') {
      return {
        north: links.pop(into[base] as number, tick),
        south: links.pop(into[base + 1] as number, tick),
        east: links.pop(into[base + 2] as number, tick),
        west: links.pop(into[base + 3] as number, tick)
      }
    }
    const inputs: Record<string, unknown> = {}
    for (let i = 0; i < ports; i++) inputs[space.ports[i] as string] = links.pop(into[base + i] as number, tick)
    return inputs
  }

  #step(): void {
    const { space, elements, tracing } = this.#parts
    const tick = this.#tick
    this.#inputs.inject(this.#links, tick)
    this.#writes = 0
    const events: (ElementEvent & { readonly element: number })[] | null = tracing === null ? null : []
    const outputsFrom = this.#collected.length
    let failure: { readonly element: number; readonly error: unknown } | null = null
    const order = this.#order
    const { coords } = space
    for (let i = 0; i < order.length; i++) {
      const element = order[i] as number
      const inputs = this.#read(element)
      const prepared = elements[element]
      if (prepared === null || prepared === undefined) continue
      // Of several that fail it is the first by coordinate, whatever the order.
      if (failure !== null && element > failure.element) continue
      const coord = coords[element] as Coord
      try {
        const before = this.#states[element]
        const outputs = this.#stepOne(element, prepared, before, inputs, coord)
        events?.push({ element, tick, coord, inputs, outputs: written(outputs), stateBefore: before, stateAfter: this.#states[element] })
      } catch (error) {
        failure = { element, error }
      }
    }
    if (failure !== null) throw failure.error
    this.#write()
    if (!this.#ascending && this.#collected.length > outputsFrom) {
      const { index } = space
      const rank = ({ coord }: Output): number => index.get(coord.join(',')) as number
      // Not spread: they may be more than a call can have arguments.
      for (const output of this.#collected.splice(outputsFrom).sort((a, b) => rank(a) - rank(b))) this.#collected.push(output)
    }
    if (events !== null && tracing !== null) {
      if (!this.#ascending) events.sort((a, b) => a.element - b.element)
      for (const { element: _, ...event } of events) {
        this.#log?.push(event)
        tracing.sink?.(event)
      }
    }
    this.#tick = tick + 1
  }

  #stepOne(element: number, { step }: Prepared, before: unknown, inputs: Record<string, unknown>, coord: Coord): Readonly<Record<string, unknown>> | undefined {
    const tick = this.#tick
    let stepped: unknown
    try {
      stepped = step(before, inputs, { coord, tick })
    } catch (error) {
      throw failed(coord, tick, `threw ${messageOf(error)}`, error)
    }
    const wrong = nonsense(stepped)
    if (wrong !== null) throw failed(coord, tick, wrong)
    const [state, outputs] = stepped as readonly [unknown, Readonly<Record<string, unknown>> | undefined]
    this.#states[element] = state
    if (outputs === undefined) return undefined
    const { space, wiring: { first, leaving } } = this.#parts
    const [ports, base] = [this.#ports, element * space.ports.length]
    try {
      for (const name in outputs) {
        const number = ports[name]
        if (number === -1) continue
        if (number === undefined) throw failed(coord, tick, `wrote to '${name}', which is no port (${space.ports.join(', ')}, result),`)
        const value = outputs[name]
        if (value === undefined || value === EMPTY) continue
        const port = base + number
        if (this.#collects[port] === 1) this.#collected.push({ tick, coord, port: name, value })
        const end = first[port + 1] as number
        for (let at = first[port] as number; at < end; at++) {
          const write = this.#writes++
          this.#written[write] = leaving[at] as number
          this.#writers[write] = element
          this.#values[write] = value
        }
      }
    } catch (error) {
      // A getter of theirs may throw.
      throw error instanceof TensorError ? error : failed(coord, tick, `threw ${messageOf(error)}`, error)
    }
    return outputs
  }

  #write(): void {
    const { links: made, space } = this.#parts
    const [links, written, values, tick] = [this.#links, this.#written, this.#values, this.#tick]
    let full = -1
    for (let i = 0; i < this.#writes; i++) {
      const link = written[i] as number
      if (links.push(link, values[i], tick + (links.latency[link] as number))) continue
      this.#dropped++
      if (made[link]?.onFull === 'throw' && (full < 0 || (this.#writers[i] as number) < full)) full = this.#writers[i] as number
    }
    if (full >= 0) throw failed(space.coords[full] as Coord, this.#tick, 'wrote to a full link')
  }
}

/** What was thrown, as text of an error. */
export function messageOf(error: unknown): string {
  try {
    return thrown(error)
  } catch {
    return 'something without a text'
  }
}
