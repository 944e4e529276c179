// Worker threads of partitioned runs, seen from the calling thread: made for a run or kept, given their tiles, waited for. The calling thread waits no longer
// than the workers make progress: one that died or hangs is an error.

import type { MessageChannel as Channel, MessagePort, Worker } from 'node:worker_threads'
import { ArgumentError, BackendUnavailableError, OutOfMemoryError } from '../errors.js'
import type { Parts } from './array.js'
import { EMPTY, type Prepared, type Remote } from './element.js'
import { failed, messageOf, type Output } from './machine.js'
import type { Coord } from './space.js'
import { EventLog, type ElementEvent } from './trace.js'
import type { Flight } from './wiring.js'
import { SOURCE, WORD, WORDS } from './worker-source.js'

/** How workers are used. */
export interface WorkerUse {
  readonly dispatch: 'tasks' | 'pool'
  /** Threads at most. */
  readonly workers: number
  /** Milliseconds without a tick after which a run fails. */
  readonly timeout: number
}

/** Events are handed to a sink after so many ticks: memory stays bounded. */
const SINK_TICKS = 64

/** Loaded by the first run that needs threads: to import them takes two milliseconds. */
const threads = (): typeof import('node:worker_threads') => process.getBuiltinModule('node:worker_threads')

/** Threads that are kept for later runs. */
let kept: Worker[] = []

function start(): Worker {
  let worker: Worker
  try {
    // Flags of this process, as `--input-type`, would make another kind of program of the text.
    worker = new (threads().Worker)(SOURCE, { eval: true, execArgv: [], stdin: false })
  } catch (error) {
    // As under Node's permission model.
    throw new BackendUnavailableError(`systolic.run: no worker thread can be started: ${messageOf(error)}`, { cause: error })
  }
  // What it ends with is seen by the run that waits for it; a thread that nobody waits for may end.
  worker.on('error', () => {})
  worker.on('exit', () => (kept = kept.filter((other) => other !== worker)))
  worker.unref()
  return worker
}

/** An event or output as a worker has it: elements by number, ports that read nothing left out. */
interface RemoteEvent extends Omit<ElementEvent, 'coord'> {
  readonly element: number
}

interface Reply {
  readonly unloadable?: string
  readonly uncloneable?: string
  readonly error?: string
  readonly failure?: { readonly element: number; readonly tick: number; readonly what: string; readonly cause?: unknown }
  readonly events?: readonly RemoteEvent[]
  readonly collected?: readonly (Omit<Output, 'coord'> & { readonly element: number })[]
  readonly states?: readonly unknown[]
  readonly flights?: readonly (readonly [link: number, queue: readonly Flight[]])[]
  readonly inputs?: readonly (readonly [number: number, at: number])[]
  readonly counts?: Parts['counts']
}

/** The worker of each element: tiles in order, about as many elements for each. */
function owners(tiles: readonly (readonly number[])[], workers: number, elements: number): Int32Array {
  const owner = new Int32Array(elements)
  let before = 0
  for (const tile of tiles) {
    const worker = Math.min(workers - 1, Math.floor((before * workers) / elements))
    for (const element of tile) owner[element] = worker
    before += tile.length
  }
  return owner
}

/** What all workers of a run see. */
interface Block {
  readonly control: Int32Array
  readonly kinds: Uint8Array
  readonly numbers: Float64Array
  readonly arrivals: Float64Array
  /** The number of each link that two workers share; -1 for others. */
  readonly shared: Int32Array
  /** Where its places begin. */
  readonly place: Int32Array
  /** The worker that reads each link. */
  readonly reader: Int32Array
}

function block({ links, space }: Parts, owner: Int32Array): Block {
  const ports = space.ports.length
  const shared = new Int32Array(links.length).fill(-1)
  const place = new Int32Array(links.length)
  const reader = new Int32Array(links.length)
  let [count, places] = [0, 0]
  links.forEach(({ from, to, capacity }, i) => {
    reader[i] = owner[Math.floor(to / ports)] as number
    if (from < 0 || owner[Math.floor(from / ports)] === reader[i]) return
    shared[i] = count++
    place[i] = places
    places += capacity
  })
  const memory = (bytes: number): SharedArrayBuffer => {
    try {
      return new SharedArrayBuffer(bytes)
    } catch (error) {
      throw new OutOfMemoryError(`systolic.run: no ${bytes} bytes for links between threads: ${messageOf(error)}`)
    }
  }
  return {
    control: new Int32Array(memory(4 * (WORDS + 2 * count))),
    kinds: new Uint8Array(memory(places)),
    numbers: new Float64Array(memory(8 * places)),
    arrivals: new Float64Array(memory(8 * places)),
    shared,
    place,
    reader
  }
}

/** Runs an array whose elements have names on worker threads. */
export function runOnWorkers(parts: Parts, ticks: number, tiles: readonly (readonly number[])[], use: WorkerUse): Parts {
  const workers = Math.min(use.workers, tiles.length)
  // Kept threads, and new ones where there are too few. Those of a run are not among the kept ones while it lasts.
  const team = use.dispatch === 'pool' ? kept.splice(0, workers) : []
  let run: Run | undefined
  try {
    while (team.length < workers) team.push(start())
    run = new Run(parts, ticks, tiles, team, use.timeout)
    const result = run.result()
    return { ...result, dispatched: { dispatch: use.dispatch, workers, tiles: tiles.length, reason: null } }
  } finally {
    run?.close()
    // A thread that may be in the middle of something is of no more use.
    if (use.dispatch === 'pool' && run?.settled === true) kept.push(...team)
    else for (const thread of team) void thread.terminate()
  }
}

/** How many threads a run uses where it is not told. */
export const usualWorkers = (): number => process.getBuiltinModule('node:os').availableParallelism()

class Run {
  readonly #parts: Parts
  readonly #ticks: number
  readonly #threads: readonly Worker[]
  readonly #timeout: number
  readonly #block: Block
  /** The worker of each element, and the elements of each worker. */
  readonly #owner: Int32Array
  readonly #owned: readonly (readonly number[])[]
  readonly #replies: readonly MessagePort[]
  readonly #log: EventLog | null
  readonly #collected: Output[] = []
  #closed = false
  /** Whether all workers came to an end, with whatever result. */
  settled = false

  constructor(parts: Parts, ticks: number, tiles: readonly (readonly number[])[], threads: readonly Worker[], timeout: number) {
    this.#parts = parts
    this.#ticks = ticks
    this.#threads = threads
    this.#timeout = timeout
    this.#owner = owners(tiles, threads.length, parts.states.length)
    this.#block = block(parts, this.#owner)
    this.#owned = threads.map((_, worker) => Array.from(this.#owner.keys()).filter((element) => this.#owner[element] === worker))
    this.#log = parts.tracing === null ? null : new EventLog(parts.tracing.limit, parts.events)
    this.#replies = this.#send()
  }

  /** Gives each worker its part. */
  #send(): MessagePort[] {
    const { space, elements, states, links, wiring, flights, inputs, collects, tracing, tick } = this.#parts
    const ports = space.ports.length
    const distinct = [...new Set(elements)].filter((element): element is Prepared => element !== null)
    const place = new Map(distinct.map((element, i) => [element, i]))
    const collected = new Uint8Array(wiring.into.length)
    for (const port of collects) collected[port] = 1
    const { MessageChannel } = threads()
    // One row for each reader.
    const channels = this.#threads.map(() => this.#threads.map(() => new MessageChannel()))
    const replies = this.#threads.map(() => new MessageChannel())
    const { reader, shared, place: places } = this.#block
    // A link between workers begins with what is under way, as if its writer had written it.
    const early = flights.flatMap((queue, link) => ((shared[link] as number) < 0 ? [] : queue.map((flight, i) => ({ link, at: (places[link] as number) + i, ...flight }))))
    const carried = early.filter(({ value }) => typeof value !== 'number')
    this.#fillShared(early)
    return this.#threads.map((thread, me) => {
      const { port1, port2 } = replies[me] as Channel
      const outgoing = channels.map((row) => (row[me] as Channel).port1)
      const incomingPorts = (channels[me] as Channel[]).map((channel) => channel.port2)
      const readable = links.flatMap((_, link) => (reader[link] === me ? [link] : []))
      const mine = inputs.flatMap((stream, number) => {
        if (this.#owner[Math.floor(stream.port / ports)] !== me) return []
        const values = stream.values.slice(stream.at)
        const empty = values.flatMap((value, i) => (value === EMPTY ? [i] : []))
        return [{ number, link: wiring.into[stream.port] as number, at: 0, values: values.map((value) => (value === EMPTY ? null : value)), empty }]
      })
      const job = {
        ...this.#block,
        me,
        workers: this.#threads.length,
        ports: space.ports,
        into: wiring.into,
        first: wiring.first,
        leaving: wiring.leaving,
        latency: Int32Array.from(links, (link) => link.latency),
        capacity: Int32Array.from(links, (link) => link.capacity),
        throwing: Uint8Array.from(links, (link) => (link.onFull === 'throw' ? 1 : 0)),
        remotes: distinct.map(({ remote }) => remote as Remote),
        elements: (this.#owned[me] as readonly number[]).map((number) => ({ number, coord: space.coords[number], remote: elements[number] === null ? -1 : place.get(elements[number] as Prepared), state: states[number] })),
        flights: readable.filter((link) => (shared[link] as number) < 0).map((link) => [link, [...(flights[link] as readonly Flight[])]]),
        readable,
        inputs: mine,
        carried: carried.filter(({ link }) => reader[link] === me).map(({ at, value }) => ({ at, value })),
        collects: collected,
        limit: tracing?.limit ?? -1,
        streamed: tracing?.sink != null,
        tick,
        end: tick + this.#ticks,
        round: tracing?.sink == null ? this.#ticks : SINK_TICKS,
        reply: port2,
        outgoing,
        incomingPorts
      }
      try {
        thread.postMessage(job, [port2, ...outgoing, ...incomingPorts])
      } catch (error) {
        // Those that went to other threads end with these.
        for (const channel of [...replies, ...channels.flat()]) for (const port of [channel.port1, channel.port2]) port.close()
        throw new ArgumentError(`systolic.run: a state or a value cannot go to another thread: ${messageOf(error)}`, { cause: error })
      }
      return port1
    })
  }

  #fillShared(early: readonly (Flight & { readonly link: number })[]): void {
    const { control, kinds, numbers, arrivals, shared, place } = this.#block
    for (const { link, value, arrives } of early) {
      const count = WORDS + 2 * (shared[link] as number) + 1
      const at = (place[link] as number) + (control[count] as number)
      kinds[at] = typeof value === 'number' ? 1 : 2
      if (typeof value === 'number') numbers[at] = value
      arrivals[at] = arrives
      control[count] = (control[count] as number) + 1
    }
  }

  result(): Parts {
    const { control } = this.#block
    this.#wait(WORD.ready, this.#threads.length)
    const states = this.#parts.states.slice()
    const flights = this.#parts.flights.slice()
    const left = new Map<number, number>()
    const counts = { ...this.#parts.counts }
    const { tracing, tick } = this.#parts
    const rounds = Math.ceil(this.#ticks / (tracing?.sink == null ? this.#ticks : SINK_TICKS))
    for (let round = 1; round <= rounds; round++) {
      Atomics.store(control, WORD.go, round)
      Atomics.notify(control, WORD.go)
      this.#wait(WORD.finished, round * this.#threads.length)
      const replies = this.#receive()
      this.#observed(replies)
      if (round < rounds) continue
      replies.forEach((reply, me) => {
        ;(this.#owned[me] as readonly number[]).forEach((element, i) => (states[element] = reply.states?.[i]))
        for (const [link, queue] of reply.flights ?? []) flights[link] = queue.map(({ value, arrives }) => ({ value, arrives }))
        for (const [number, at] of reply.inputs ?? []) left.set(number, at)
        for (const name of ['dropped', 'deferred', 'unmatched'] as const) counts[name] += reply.counts?.[name] ?? 0
      })
    }
    this.settled = true
    const inputs = this.#parts.inputs.flatMap((stream, i) => {
      const at = stream.at + (left.get(i) as number)
      return at === stream.values.length ? [] : [{ ...stream, at }]
    })
    return { ...this.#parts, states, flights, inputs, counts, outputs: [...this.#parts.outputs, ...this.#collected], events: this.#log?.kept() ?? this.#parts.events, tick: tick + this.#ticks }
  }

  /** What the workers say of a round; the first failure by coordinate is thrown. */
  #receive(): Reply[] {
    const replies = this.#replies.map((port) => (threads().receiveMessageOnPort(port)?.message ?? {}) as Reply)
    const failures = replies.flatMap(({ failure }) => (failure === undefined ? [] : [failure])).sort((a, b) => a.element - b.element)
    const [first] = failures
    if (first !== undefined) {
      // Those that did not fail have stopped at the same barrier.
      this.settled = first.element >= 0
      if (first.element < 0) throw new BackendUnavailableError(`systolic.run: a worker failed: ${first.what}`)
      // A sink gets the ticks before.
      this.#observed(replies)
      throw failed(this.#parts.space.coords[first.element] as Coord, first.tick, first.what, first.cause)
    }
    const uncloneable = replies.find((reply) => reply.uncloneable !== undefined)
    if (uncloneable !== undefined) throw new ArgumentError(`systolic.run: ${uncloneable.uncloneable} cannot go to another thread: ${uncloneable.error}`)
    return replies
  }

  #observed(replies: readonly Reply[]): void {
    const { space, tracing } = this.#parts
    const order = (a: { tick: number; element: number }, b: { tick: number; element: number }): number => a.tick - b.tick || a.element - b.element
    const outputs = replies.flatMap(({ collected }) => collected ?? []).sort(order)
    for (const { element, tick, port, value } of outputs) this.#collected.push({ tick, coord: space.coords[element] as Coord, port, value })
    const silent = Object.fromEntries(space.ports.map((port) => [port, EMPTY]))
    for (const { element, tick, inputs, outputs: written, stateBefore, stateAfter } of replies.flatMap(({ events }) => events ?? []).sort(order)) {
      const event: ElementEvent = { tick, coord: space.coords[element] as Coord, inputs: { ...silent, ...inputs }, outputs: written, stateBefore, stateAfter }
      this.#log?.push(event)
      tracing?.sink?.(event)
    }
  }

  /** Waits until a word has a value, as long as ticks pass. */
  #wait(word: number, wanted: number): void {
    const { control } = this.#block
    let progress = -1
    let deadline = 0
    for (;;) {
      const value = Atomics.load(control, word)
      if (value >= wanted) return
      if (Atomics.load(control, WORD.abort) !== 0) this.#ended()
      const now = Atomics.load(control, WORD.generation) + value
      if (now !== progress) {
        progress = now
        deadline = performance.now() + this.#timeout
      } else if (performance.now() > deadline) {
        throw new BackendUnavailableError(`systolic.run: no worker has made a tick for ${this.#timeout} ms: one has died, or an element's step does not return`)
      }
      Atomics.wait(control, word, value, Math.min(100, this.#timeout))
    }
  }

  /** A worker said that it cannot go on. */
  #ended(): never {
    for (const port of this.#replies) {
      const reply = (threads().receiveMessageOnPort(port)?.message ?? {}) as Reply
      if (reply.unloadable !== undefined) throw new ArgumentError(`systolic.run: a worker cannot load the elements: ${reply.unloadable}`)
      if (reply.failure !== undefined) throw new BackendUnavailableError(`systolic.run: a worker failed: ${reply.failure.what}`)
    }
    throw new BackendUnavailableError('systolic.run: a worker thread ended during the run')
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    const { control } = this.#block
    // Whoever still waits goes back to its own loop.
    Atomics.store(control, WORD.abort, 1)
    for (const word of [WORD.generation, WORD.go]) Atomics.notify(control, word)
    for (const port of this.#replies) port.close()
  }
}
