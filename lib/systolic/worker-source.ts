// What a worker thread of a partitioned run does: its elements' steps, their links, and a barrier with the other workers. Plain JavaScript in a text, so
// that it needs no file of its own: bundles, CommonJS and Jest have none. `pool.ts` is the other end.
//
// The tick stands here and in `machine.ts`. One source for both would be a text that the calling thread evaluates, which processes without code from strings refuse,
// or the text of its functions (`toString`), in which minifiers rename what they use and coverage adds counters that no worker has. `conformance` holds the two together.

/** The words of the block that all threads of a run see. */
export const WORD = { arrived: 0, generation: 1, abort: 2, ready: 3, go: 4, finished: 5, failed: 6 } as const
/** How many there are; behind them are head and count of each link between workers. */
export const WORDS = 8

/** @internal */
export const SOURCE = String.raw`'use strict'
const { parentPort, receiveMessageOnPort } = require('node:worker_threads')
const EMPTY = Symbol.for('ferrotensor.systolic.EMPTY')
const [ARRIVED, GENERATION, ABORT, READY, GO, FINISHED, FAILED] = [0, 1, 2, 3, 4, 5, 6]
const WORDS = 8
// Where a value of a link between workers is: in shared memory, or in a message.
const [NUMBER, MESSAGE] = [1, 2]

function bits(value) {
  const pairs = value - ((value >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
const RINGS = {
  plusTimes: { zero: 0, add: (a, b) => a + b, multiply: (a, b) => a * b },
  minPlus: { zero: Infinity, add: (a, b) => Math.min(a, b), multiply: (a, b) => a + b },
  maxPlus: { zero: -Infinity, add: (a, b) => Math.max(a, b), multiply: (a, b) => a + b },
  minMax: { zero: Infinity, add: (a, b) => Math.min(a, b), multiply: (a, b) => Math.max(a, b) },
  orAnd: { zero: 0, add: (a, b) => (a !== 0 || b !== 0 ? 1 : 0), multiply: (a, b) => (a !== 0 && b !== 0 ? 1 : 0) },
  xorCount: { zero: 0, add: (a, b) => a + b, multiply: (a, b) => bits(a ^ b) }
}
function numberRead(port, value, zero) {
  if (value === EMPTY) return zero
  if (typeof value !== 'number') throw new Error("the value at '" + port + "' must be a number, it is of type " + typeof value)
  return value
}
const BUILTIN = {
  mac({ zero, add, multiply }) {
    return ({ acc }, { west, north }) => {
      const sum = add(acc, multiply(numberRead('west', west, zero), numberRead('north', north, zero)))
      const outputs = { result: sum }
      if (west !== EMPTY) outputs.east = west
      if (north !== EMPTY) outputs.south = north
      return [{ acc: sum }, outputs]
    }
  },
  stationary({ zero, add, multiply }, swapped) {
    return (state, { west, north }) => {
      if (west === EMPTY) return [state]
      const value = numberRead('west', west, zero)
      const product = swapped ? multiply(state.weight, value) : multiply(value, state.weight)
      return [state, { east: value, south: add(numberRead('north', north, zero), product) }]
    }
  }
}

function shown(value) {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' ? 'an object' : typeof value === 'symbol' ? 'a symbol' : String(value)
}
function nonsense(value) {
  if (!Array.isArray(value)) return 'returned ' + shown(value) + ' instead of [state, outputs]'
  if (value.length < 1 || value.length > 2) return 'returned ' + value.length + ' items instead of [state, outputs]'
  const outputs = value[1]
  if (outputs === undefined || (typeof outputs === 'object' && outputs !== null && !Array.isArray(outputs))) return null
  return 'returned ' + shown(outputs) + ' instead of outputs by port'
}
function messageOf(error) {
  try {
    return error instanceof Error || (typeof error === 'object' && error !== null && typeof error.message === 'string') ? String(error.message) : String(error)
  } catch {
    return 'something without a text'
  }
}

class Aborted extends Error {}

class Tiles {
  constructor(job, steps) {
    Object.assign(this, job)
    this.steps = steps
    this.incoming = new Map()
    // A link is written to once a tick, so there is a place for each.
    const most = this.leaving.length
    this.writtenLinks = new Int32Array(most)
    this.writers = new Int32Array(most)
    this.writtenValues = new Array(most).fill(EMPTY)
    this.writes = 0
    this.compass = this.ports.join() === 'north,south,east,west'
    this.events = []
    this.collected = []
    this.passed = 0
    this.dropped = this.deferred = this.unmatched = 0
    this.states = this.elements.map(({ state }) => state)
    this.portOf = Object.create(null)
    this.ports.forEach((port, i) => (this.portOf[port] = i))
    this.portOf.result = -1
    // Links of its own are rings here. Those that another worker writes to or reads from are in shared memory.
    const links = this.capacity.length
    this.start = new Int32Array(links)
    this.head = new Int32Array(links)
    this.count = new Int32Array(links)
    let places = 0
    for (const [link] of this.flights) {
      this.start[link] = places
      places += this.capacity[link]
    }
    this.values = new Array(places).fill(EMPTY)
    this.arrives = new Float64Array(places)
    for (const [link, queue] of this.flights) for (const { value, arrives } of queue) this.push(link, value, arrives)
    for (const { at, value } of this.carried) this.incoming.set(at, value)
    for (const input of this.inputs) for (const at of input.empty) input.values[at] = EMPTY
  }

  push(link, value, arrives) {
    const shared = this.shared[link]
    if (shared < 0) {
      const count = this.count[link]
      const capacity = this.capacity[link]
      if (count === capacity) return false
      let at = this.head[link] + count
      if (at >= capacity) at -= capacity
      at += this.start[link]
      this.values[at] = value
      this.arrives[at] = arrives
      this.count[link] = count + 1
      return true
    }
    const { control, kinds, numbers, arrivals } = this
    const head = WORDS + 2 * shared
    const count = control[head + 1]
    const capacity = this.capacity[link]
    if (count === capacity) return false
    const at = this.place[link] + ((control[head] + count) % capacity)
    if (typeof value === 'number') {
      kinds[at] = NUMBER
      numbers[at] = value
    } else {
      this.outgoing[this.reader[link]].postMessage({ at, value })
      kinds[at] = MESSAGE
    }
    arrivals[at] = arrives
    control[head + 1] = count + 1
    return true
  }

  pop(link, tick) {
    if (link < 0) return EMPTY
    const shared = this.shared[link]
    if (shared < 0) {
      if (this.count[link] === 0) return EMPTY
      const head = this.head[link]
      const at = this.start[link] + head
      if (this.arrives[at] > tick) return EMPTY
      const value = this.values[at]
      this.values[at] = EMPTY
      this.head[link] = head + 1 === this.capacity[link] ? 0 : head + 1
      this.count[link]--
      return value
    }
    const { control, kinds, numbers, arrivals } = this
    const head = WORDS + 2 * shared
    if (control[head + 1] === 0) return EMPTY
    const at = this.place[link] + control[head]
    if (arrivals[at] > tick) return EMPTY
    control[head] = (control[head] + 1) % this.capacity[link]
    control[head + 1]--
    return kinds[at] === NUMBER ? numbers[at] : this.message(at)
  }

  // The value of a place in shared memory. Several threads may write to one link, and their messages come in any order; a place is written to again
  // after its value was taken alone, so that there is one message for each.
  message(at) {
    for (;;) {
      if (this.incoming.has(at)) {
        const value = this.incoming.get(at)
        this.incoming.delete(at)
        return value
      }
      if (Atomics.load(this.control, ABORT) !== 0) throw new Aborted()
      for (const port of this.incomingPorts) {
        let received
        while ((received = receiveMessageOnPort(port)) !== undefined) {
          this.incoming.set(received.message.at, received.message.value)
        }
      }
    }
  }

  barrier() {
    const { control, workers } = this
    const generation = Atomics.load(control, GENERATION)
    this.passed++
    if (Atomics.add(control, ARRIVED, 1) + 1 === workers) {
      Atomics.store(control, ARRIVED, 0)
      Atomics.add(control, GENERATION, 1)
      Atomics.notify(control, GENERATION)
      return
    }
    for (let spin = 0; Atomics.load(control, GENERATION) === generation; spin++) {
      if (Atomics.load(control, ABORT) !== 0) throw new Aborted()
      if (spin > 200) Atomics.wait(control, GENERATION, generation, 100)
    }
  }

  // The number of the barrier behind which all workers are to see it: a fast one may fail before a slow one has looked at the last barrier.
  fail(element, tick, what, cause) {
    if (this.failure !== undefined && this.failure.element <= element) return
    this.failure = { element, tick, what, cause }
    Atomics.compareExchange(this.control, FAILED, 0, this.passed + 1)
  }

  failed() {
    const at = Atomics.load(this.control, FAILED)
    return at !== 0 && at <= this.passed
  }

  /** One tick; false where an element of any worker failed. */
  tickOnce(tick) {
    for (const input of this.inputs) {
      if (input.at === input.values.length) continue
      if (input.link < 0) {
        this.unmatched++
        continue
      }
      const value = input.values[input.at]
      if (value === EMPTY || this.push(input.link, value, tick + this.latency[input.link] - 1)) input.at++
      else this.deferred++
    }
    this.writes = 0
    for (let i = 0; i < this.elements.length && this.failure === undefined; i++) this.step(i, tick)
    this.barrier()
    if (this.failed()) return false
    for (let i = 0; i < this.writes; i++) {
      const link = this.writtenLinks[i]
      const element = this.writers[i]
      try {
        if (this.push(link, this.writtenValues[i], tick + this.latency[link])) continue
      } catch (error) {
        this.fail(element, tick, 'wrote a value that cannot go to another thread (' + messageOf(error) + ')', messageOf(error))
        break
      }
      this.dropped++
      if (this.throwing[link] === 1) this.fail(element, tick, 'wrote to a full link')
    }
    this.barrier()
    return !this.failed()
  }

  read(base, tick) {
    const { into, ports } = this
    // Written out: objects of one shape are several times faster than names that are set one by one.
    if (this.compass) return { north: this.pop(into[base], tick), south: this.pop(into[base + 1], tick), east: this.pop(into[base + 2], tick), west: this.pop(into[base + 3], tick) }
    const inputs = {}
    for (let p = 0; p < ports.length; p++) inputs[ports[p]] = this.pop(into[base + p], tick)
    return inputs
  }

  step(i, tick) {
    const { number, coord, remote } = this.elements[i]
    const { ports } = this
    const base = number * ports.length
    const inputs = this.read(base, tick)
    if (remote < 0) return
    const before = this.states[i]
    let stepped
    try {
      stepped = this.steps[remote](before, inputs, { coord, tick })
    } catch (error) {
      this.fail(number, tick, 'threw ' + messageOf(error), error)
      return
    }
    const wrong = nonsense(stepped)
    if (wrong !== null) {
      this.fail(number, tick, wrong)
      return
    }
    const [state, outputs = {}] = stepped
    this.states[i] = state
    try {
      for (const name in outputs) {
        const port = this.portOf[name]
        if (port === -1) continue
        if (port === undefined) {
          this.fail(number, tick, "wrote to '" + name + "', which is no port (" + ports.join(', ') + ', result),')
          return
        }
        const value = outputs[name]
        if (value === undefined || value === EMPTY) continue
        if (this.collects[base + port] === 1) this.collected.push({ tick, element: number, port: name, value })
        const end = this.first[base + port + 1]
        for (let at = this.first[base + port]; at < end; at++) {
          this.writtenLinks[this.writes] = this.leaving[at]
          this.writers[this.writes] = number
          this.writtenValues[this.writes++] = value
        }
      }
    } catch (error) {
      // A getter of theirs may throw.
      this.fail(number, tick, 'threw ' + messageOf(error), error)
      return
    }
    if (this.limit < 0) return
    const present = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== EMPTY))
    this.events.push({ tick, element: number, inputs: present(inputs), outputs: present(outputs), stateBefore: before, stateAfter: state })
    if (!this.streamed && this.events.length >= 2 * this.limit + 1) this.events = this.limit === 0 ? [] : this.events.slice(-this.limit)
  }

  // What is left in a link, oldest first; its reader tells.
  queue(link) {
    if (this.shared[link] < 0) {
      return Array.from({ length: this.count[link] }, (_, i) => {
        const at = this.start[link] + ((this.head[link] + i) % this.capacity[link])
        return { value: this.values[at], arrives: this.arrives[at] }
      })
    }
    const { control, kinds, numbers, arrivals } = this
    const head = WORDS + 2 * this.shared[link]
    return Array.from({ length: control[head + 1] }, (_, i) => {
      const at = this.place[link] + ((control[head] + i) % this.capacity[link])
      return { value: kinds[at] === NUMBER ? numbers[at] : this.message(at), arrives: arrivals[at] }
    })
  }

  result() {
    return {
      states: this.states,
      flights: this.readable.map((link) => [link, this.queue(link)]),
      inputs: this.inputs.map(({ number, at }) => [number, at]),
      counts: { dropped: this.dropped, deferred: this.deferred, unmatched: this.unmatched }
    }
  }

  take() {
    const [events, collected] = [this.events, this.collected]
    this.events = []
    this.collected = []
    return { events, collected }
  }
}

let current = null

function send(reply, message, what) {
  try {
    reply.postMessage(message)
  } catch (error) {
    reply.postMessage({ uncloneable: what, error: messageOf(error) })
  }
}

// What was thrown, or what an event has, may be of a kind that no message takes. The text of an error is part of 'what'. Workers that did not fail have
// stopped in the same tick, and tell of those before it.
function sendFailure(reply, failure, events) {
  const plain = failure && { element: failure.element, tick: failure.tick, what: failure.what }
  for (const message of [{ failure, events }, { failure: plain, events }, { failure }]) {
    try {
      reply.postMessage(message)
      return
    } catch {
      // Without what may not be copied.
    }
  }
  reply.postMessage({ failure: plain })
}

async function load(remotes) {
  const steps = []
  for (const { module, name, builtin, ring, swapped } of remotes) {
    if (builtin !== undefined) {
      steps.push(BUILTIN[builtin](RINGS[ring], swapped))
      continue
    }
    const exported = (await import(module))[name]
    if (typeof exported !== 'object' || exported === null || typeof exported.step !== 'function') throw new Error("its export '" + name + "' is no element")
    steps.push(exported.step.bind(exported))
  }
  return steps
}

function abort(control, reason) {
  Atomics.compareExchange(control, ABORT, 0, reason)
  for (const word of [GENERATION, READY, GO, FINISHED]) Atomics.notify(control, word)
}

async function run(job) {
  const { control, reply } = job
  current = control
  let tiles
  try {
    tiles = new Tiles(job, await load(job.remotes))
  } catch (error) {
    reply.postMessage({ unloadable: messageOf(error) })
    abort(control, 1)
    current = null
    return
  }
  Atomics.add(control, READY, 1)
  Atomics.notify(control, READY)
  let tick = job.tick
  try {
    for (let round = 0; ; round++) {
      while (Atomics.load(control, GO) === round) {
        if (Atomics.load(control, ABORT) !== 0) throw new Aborted()
        Atomics.wait(control, GO, round, 100)
      }
      const end = Math.min(tick + job.round, job.end)
      let whole = true
      while (whole && tick < end) {
        whole = tiles.tickOnce(tick)
        if (whole) tick++
      }
      const last = tick === job.end || !whole
      if (!whole) sendFailure(reply, tiles.failure, job.streamed ? tiles.take().events.filter((event) => event.tick < tick) : [])
      else send(reply, { ...tiles.take(), ...(last ? tiles.result() : {}) }, 'a state or a value')
      Atomics.add(control, FINISHED, 1)
      Atomics.notify(control, FINISHED)
      if (last) break
    }
  } catch (error) {
    if (!(error instanceof Aborted)) {
      reply.postMessage({ failure: { element: -1, tick, what: messageOf(error) } })
      abort(control, 1)
    }
  }
  for (const port of [...job.outgoing, ...job.incomingPorts]) port.close()
  current = null
}

process.on('exit', () => current !== null && abort(current, 2))
parentPort.on('message', run)
`
