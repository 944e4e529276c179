// What every backend must do, as named cases for any test runner: values, the order of what happens in a tick, links, and random arrays, for which the
// interpreted backend is the measure.

import { checkOptions } from '../arguments/options.js'
import { integer, oneOf } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { isPlain } from '../realm.js'
import { array, type SystolicArray } from './array.js'
import { run, type ArrayBackend, type RunOptions } from './clock.js'
import { EMPTY, type Element } from './element.js'
import { mac } from './mac.js'
import { drawing, randomArray } from './random-arrays.js'
import type { ElementEvent } from './trace.js'

/** A case: `run` returns where the backend conforms, and throws an `Error` that says what differs. */
export interface ConformanceCase {
  readonly name: string
  readonly run: () => void
}

/** A backend with its options. */
export type BackendUnderTest = 'interpreted' | 'partitioned' | ArrayBackend | Omit<RunOptions, 'ticks'>

/** Options of `conformance`. */
export interface ConformanceOptions {
  /** Random arrays; 30 by default. */
  readonly random?: number | undefined
}

type Runner = (array: SystolicArray, ticks: number) => SystolicArray

const brief = (value: unknown): string => {
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === 'symbol' || part === undefined || (typeof part === 'number' && !Number.isFinite(part)) ? String(part) : part))
  return text === undefined ? String(value) : text.length > 300 ? `${text.slice(0, 300)}...` : text
}

/** Whether two values are one, bit for bit, whichever realm their arrays and objects are of: what came from a thread is of the first one. */
function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]))
  if (!isPlain(a) || !isPlain(b)) return Object.is(a, b)
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
}

function same(what: string, actual: unknown, expected: unknown): void {
  if (!equal(actual, expected)) throw new Error(`${what} differ: ${brief(actual)} instead of ${brief(expected)}`)
}

/** All that can be seen of an array. */
function seen(of: SystolicArray): Record<string, unknown> {
  return {
    tick: of.tick,
    states: of.places.map(({ state }) => state as unknown),
    queues: of.links.map(({ queue }) => queue),
    inputs: of.inputs,
    counts: of.counts,
    outputs: of.outputs,
    events: of.events.all
  }
}

function sameArray(actual: SystolicArray, expected: SystolicArray): void {
  const [a, b] = [seen(actual), seen(expected)]
  for (const name of Object.keys(b)) same(name, a[name], b[name])
}

/** Inputs of a product, each row and column late by its number, padded with zeros at both ends. */
function product(a: readonly number[][], b: readonly number[][], length: number): SystolicArray {
  const [m, n] = [a.length, (b[0] as number[]).length]
  const late = (values: readonly number[], by: number): number[] => Array.from({ length }, (_, t) => values[t - by] ?? 0)
  return array(m, n).fill(mac()).connect('west_to_east').connect('north_to_south')
    .input('west', a.map((row, i) => [[i, 0], late(row, i)]))
    .input('north', Array.from({ length: n }, (_, j) => [[0, j], late(b.map((row) => row[j] as number), j)]))
}

const counting = (n: number, from: number): number[][] => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => from + i * n + j))

function multiplied(a: readonly number[][], b: readonly number[][]): number[][] {
  return a.map((row) => Array.from({ length: (b[0] as number[]).length }, (_, j) => row.reduce((sum, x, p) => sum + x * ((b[p] as number[])[j] as number), 0)))
}

const square = (draw: (bound: number) => number): number[][] => [0, 1].map(() => [draw(21) - 10, draw(21) - 10])

/** Products: name, factors, ticks. */
const PRODUCTS: readonly (readonly [name: string, a: number[][], b: number[][], ticks: number])[] = [
  ['2 x 2', [[1, 2], [3, 4]], [[5, 6], [7, 8]], 5],
  ['3 x 3', counting(3, 1), counting(3, 10), 7],
  ['4 x 4', counting(4, 1), counting(4, 17), 11],
  ['2 x 3 by 3 x 2', [[2, 0, 1], [3, 1, 2]], [[1, 2], [0, 3], [4, 1]], 5],
  ['a row by a column', [[1, 2, 3]], [[4], [5], [6]], 3],
  ['a column by a row', [[1], [2], [3]], [[4, 5]], 4],
  ['by zeros', [[1, 2], [3, 4]], [[0, 0], [0, 0]], 4],
  ['by the identity', [[1, 2], [3, 4]], [[1, 0], [0, 1]], 4],
  ['3 x 3 by its reverse', counting(3, 1), [[9, 8, 7], [6, 5, 4], [3, 2, 1]], 7]
]

/** Writes its tick to the east, and keeps what came from the west. */
const TICKER: Element<readonly unknown[]> = {
  init: () => [],
  step: (seenBefore, { west }, { tick }) => [west === EMPTY ? seenBefore : [...seenBefore, west], { east: tick }]
}

/** Keeps, for each tick, what came from the west; writes nothing. */
const LISTENER: Element<readonly unknown[]> = {
  init: () => [],
  step: (heard, { west }, { tick }) => [west === EMPTY ? heard : [...heard, [tick, west]]]
}

const FIXED: readonly (readonly [name: string, check: (go: Runner) => void])[] = [
  ...PRODUCTS.map(([name, a, b, ticks]) => [`product, ${name}`, (go: Runner) => same('results', go(product(a, b, ticks), ticks).resultMatrix(), multiplied(a, b))] as const),
  ['products, 20 random ones of 2 x 2', (go) => {
    const draw = drawing(20)
    for (let i = 0; i < 20; i++) {
      const [a, b] = [square(draw), square(draw)]
      same('results', go(product(a, b, 4), 4).resultMatrix(), multiplied(a, b).map((row) => row.map((value) => value + 0)))
    }
  }],
  ['one element accumulates', (go) => same('results', go(product([[3, 7]], [[4], [2]], 2), 3).resultMatrix(), [[26]])],
  ['a place has a state of its own', (go) => same('results', go(array(1, 2).fill(mac(), { '0,1': { acc: 5 } }), 2).resultMatrix(), [[0, 5]])],
  ['an absent value counts as zero and is not handed on', (go) => {
    const after = go(array(1, 2).fill(mac()).connect('west_to_east').connect('north_to_south').input('west', [[[0, 0], [EMPTY, 0, EMPTY]]]), 2)
    same('queues', after.links.map(({ queue }) => queue), [[], [{ value: 0, arrives: 2 }], [], []])
    same('inputs', after.inputs.map(({ values }) => values), [[EMPTY]])
  }],
  ['short inputs leave results as they are', (go) => {
    const short = array(2, 2).fill(mac()).connect('west_to_east').connect('north_to_south').input('west', [[[0, 0], [1]], [[1, 0], [2]]]).input('north', [[[0, 0], [3]], [[0, 1], [4]]])
    const after = go(short, 3)
    same('results', after.resultMatrix(), [[3, 0], [0, 8]])
    same('inputs', after.inputs, [])
  }],
  ['an element does not see what is written in its own tick', (go) => {
    const start = array(1, 2).fill(mac()).connect('west_to_east').connect('north_to_south').input('west', [[[0, 0], [5, 0]]]).input('north', [[[0, 0], [2, 0]], [[0, 1], [0, 3]]])
    const once = go(start, 1)
    same('results after a tick', once.resultMatrix(), [[10, 0]])
    same('results after two', go(once, 1).resultMatrix(), [[10, 15]])
  }],
  ['neither against the order of coordinates', (go) => {
    const after = go(array(1, 2).fill(TICKER).link({ from: { coord: [0, 1], port: 'east' }, to: { coord: [0, 0], port: 'west' } }), 3)
    same('states', after.resultMatrix(), [[[0, 1], []]])
  }],
  ['a value is read as many ticks after its write as the latency says', (go) => {
    for (const latency of [1, 2, 5]) {
      const after = go(array(1, 2).fill(LISTENER).place([0, 0], TICKER).connect('west_to_east', { latency }), 7)
      same(`values with latency ${latency}`, after.resultMatrix()[0]?.[1], Array.from({ length: 7 - latency }, (_, i) => [i + latency, i]))
    }
  }],
  ['an injected value is read a tick earlier', (go) => {
    const after = go(array(1, 1).fill(LISTENER).connect('west_to_east', { latency: 3 }).input('west', [[[0, 0], [7, EMPTY, 8]]]), 6)
    same('values', after.resultMatrix(), [[[[2, 7], [4, 8]]]])
  }],
  ['a link hands values on in their order', (go) => {
    const start = array(1, 1).fill(LISTENER).connect('west_to_east', { latency: 3, capacity: 3 }).input('west', [[[0, 0], [1, 2, 3, 4]]])
    same('values', go(start, 8).resultMatrix(), [[[[2, 1], [3, 2], [4, 3], [5, 4]]]])
    same('what is under way', go(start, 2).links[0]?.queue, [{ value: 1, arrives: 2 }, { value: 2, arrives: 3 }])
  }],
  ['a full link drops what an element writes, and counts it', (go) => {
    const after = go(array(1, 2).fill(LISTENER).place([0, 0], TICKER).connect('west_to_east', { latency: 3, capacity: 2 }), 6)
    same('values', after.resultMatrix()[0]?.[1], [[3, 0], [4, 1]])
    same('counts', after.counts, { dropped: 2, deferred: 0, unmatched: 0 })
  }],
  ['a full link that refuses is an error which names element and tick', (go) => {
    const start = array(1, 2).fill(LISTENER).place([0, 0], TICKER).connect('west_to_east', { latency: 3, capacity: 2, onFull: 'throw' })
    throwsAt('[0, 0]', 'tick 2', () => go(start, 6))
    same('tick of the array that was given', start.tick, 0)
    same('ticks before', go(start, 2).tick, 2)
  }],
  ['an input waits for a full link, and nothing is lost', (go) => {
    const start = array(1, 1).fill(LISTENER).connect('west_to_east', { latency: 2, capacity: 1 }).input('west', [[[0, 0], [100, 101]]])
    const after = go(start, 2)
    same('inputs', after.inputs.map(({ values }) => values), [[101]])
    same('counts', after.counts, { dropped: 0, deferred: 1, unmatched: 0 })
    same('values', go(after, 3).resultMatrix(), [[[[1, 100], [3, 101]]]])
  }],
  ['an input without a link waits, and is counted', (go) => {
    const after = go(array(1, 1).fill(LISTENER).input('west', [[[0, 0], [100, 101]]]), 3)
    same('inputs', after.inputs.map(({ values }) => values), [[100, 101]])
    same('counts', after.counts, { dropped: 0, deferred: 0, unmatched: 3 })
    same('values', go(after.connect('west_to_east'), 2).resultMatrix(), [[[[3, 100], [4, 101]]]])
  }],
  ['all links that leave a port get what is written there', (go) => {
    const start = array(1, 3).fill(LISTENER).place([0, 0], TICKER).connect('west_to_east').link({ from: { coord: [0, 0], port: 'east' }, to: { coord: [0, 2], port: 'north' } })
    const north: Element<readonly unknown[]> = { init: () => [], step: (heard, { north: value }) => [[...heard, value]] }
    same('values', go(start.place([0, 2], north), 3).resultMatrix(), [[[], [[1, 0], [2, 1]], [EMPTY, 0, 1]]])
  }],
  ['a space of its own', (go) => {
    const sum: Element<number> = { init: () => 0, step: (state, { in: value }) => [value === EMPTY ? state : state + (value as number), { out: value }] }
    const ring = array({ coords: [[2], [0], [1]], ports: ['in', 'out'], neighbours: ([i], port) => (port === 'out' && i !== 2 ? { coord: [(i as number) + 1], port: 'in' } : undefined) })
    const after = go(ring.fill(sum).connect('out').link({ to: { coord: [0], port: 'in' } }).input('in', [[[0], [4, 5, 6]]]), 4)
    same('results', [...after.resultMap()], [['0', 15], ['1', 15], ['2', 9]])
  }],
  ['places without an element', (go) => {
    const after = go(array(1, 2).place([0, 0], TICKER).connect('west_to_east'), 3)
    same('results', after.resultMatrix(), [[[], undefined]])
    same('counts', after.counts, { dropped: 0, deferred: 0, unmatched: 0 })
  }],
  ['events are in the order of ticks and coordinates, the newest stay', (go) => {
    const events: ElementEvent[] = []
    const start = product(counting(3, 1), counting(3, 10), 7)
    const after = go(start.trace({ limit: 13, sink: (event) => void events.push(event) }), 7)
    same('events of the sink', events.map(({ tick, coord }) => [tick, ...coord]), Array.from({ length: 63 }, (_, i) => [Math.floor(i / 9), Math.floor((i % 9) / 3), i % 3]))
    same('events that are kept', after.events.all, events.slice(-13))
    const first = events[0] as ElementEvent
    same('the first event', first, { tick: 0, coord: [0, 0], inputs: { north: 10, south: EMPTY, east: EMPTY, west: 1 }, outputs: { result: 10, east: 1, south: 10 }, stateBefore: { acc: 0 }, stateAfter: { acc: 10 } })
  }],
  ['collected values are in the order of ticks and coordinates', (go) => {
    const after = go(array(3, 1).fill(TICKER).output('east'), 2)
    same('outputs', after.outputs.map(({ tick, coord, value }) => [tick, ...coord, value]), [[0, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0], [1, 0, 0, 1], [1, 1, 0, 1], [1, 2, 0, 1]])
  }],
  ['no ticks change nothing', (go) => {
    const start = product([[1]], [[2]], 1)
    sameArray(go(start, 0), start)
  }],
  ['a run in parts is the run', (go) => {
    const start = product(counting(4, 1), counting(4, 17), 11).trace()
    sameArray(go(go(go(start, 1), 4), 6), go(start, 11))
  }],
  ['five runs are equal', (go) => {
    const start = product(counting(4, 1), counting(4, 17), 11).trace()
    const first = go(start, 11)
    for (let i = 0; i < 4; i++) sameArray(go(start, 11), first)
  }],
  ['an element that throws is an error which names it and the tick', (go) => {
    const throws: Element<number> = { init: () => 0, step(state, _, { tick, coord }) { if (tick === 2 && coord[1] === 1) throw new Error('no more'); return [state + 1] } }
    const start = array(2, 2).fill(throws)
    throwsAt('[0, 1]', 'tick 2', () => go(start, 4))
    same('states of the array that was given', start.resultMatrix(), [[0, 0], [0, 0]])
  }],
  ['an element that gives nonsense is an error which names it and the tick', (go) => {
    for (const stepped of [undefined, 1, [], [1, 2], [1, {}, 3], [1, { up: 1 }]]) {
      throwsAt('[0, 1]', 'tick 0', () => go(array(1, 2).fill(LISTENER).place([0, 1], { init: () => 0, step: () => stepped as never }), 1))
    }
  }]
]

function throwsAt(coord: string, tick: string, call: () => unknown): void {
  try {
    call()
  } catch (error) {
    const message = String(error)
    if (message.includes(coord) && message.includes(tick)) return
    throw new Error(`the error does not name ${coord} and ${tick}: ${message}`, { cause: error })
  }
  throw new Error('nothing was thrown')
}

function runnerOf(op: string, backend: unknown): Runner {
  if (typeof backend === 'string') {
    const name = oneOf(op, 'backend', backend, ['interpreted', 'partitioned'])
    return (given, ticks) => run(given, { ticks, backend: name })
  }
  if (typeof backend !== 'object' || backend === null) throw new ArgumentError(`${op}: 'backend' must be a backend, its name, or options of run, got ${shown(backend)}`)
  if (typeof (backend as Partial<ArrayBackend>).run === 'function') return (given, ticks) => run(given, { ticks, backend: backend as ArrayBackend })
  const options = checkOptions(op, backend, ['backend', 'dispatch', 'tileRows', 'tileCols', 'tileSize', 'workers', 'timeout']) as Omit<RunOptions, 'ticks'>
  return (given, ticks) => {
    // Tiles of grids are no tiles of other spaces.
    const { tileRows, tileCols, tileSize, ...rest } = options
    const tiles = given.rows > 0 ? { tileRows, tileCols } : { tileSize }
    return run(given, { ticks, ...rest, ...tiles })
  }
}

const MOST_RANDOM = 1e5

/**
 * What every backend must do, as cases for any test runner. `backend` is one of one's own, the name of a built-in one, or options of `run`.
 *
 * ```text
 * for (const { name, run } of ft.systolic.conformance(mine)) test(name, run)
 * ```
 *
 * @throws {ArgumentError} for what is no backend, and a number of random arrays that is negative or above 100,000.
 * @example
 * ```ts
 * ft.systolic.conformance('interpreted', { random: 1 }).at(-1)?.name // 'random array 1'
 * ```
 */
export function conformance(backend: BackendUnderTest, options?: ConformanceOptions): ConformanceCase[] {
  const op = 'systolic.conformance'
  const go = runnerOf(op, backend)
  const { random } = checkOptions(op, options, ['random'])
  const count = random === undefined ? 30 : integer(op, 'random', random)
  if (count < 0 || count > MOST_RANDOM) throw new ArgumentError(`${op}: 'random' must be from 0 to ${MOST_RANDOM}, got ${count}`)
  return [
    ...FIXED.map(([name, check]) => ({ name, run: () => check(go) })),
    ...Array.from({ length: count }, (_, i) => ({
      name: `random array ${i + 1}`,
      run() {
        const start = randomArray(i + 1)
        const ticks = 1 + (i % 17)
        sameArray(go(start, ticks), run(start, { ticks }))
      }
    }))
  ]
}
