// Systolic arrays: products in every dataflow and ring, what is observed, the fast path for ordinary products beside the general one, and wrong input.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

const { systolic } = ft
const { EMPTY } = systolic

const matrix = (rows: number, cols: number, of: (i: number, j: number) => number): number[][] => Array.from({ length: rows }, (_, i) => Array.from({ length: cols }, (_, j) => of(i, j)))
const draw = (seed: number): (() => number) => {
  const values = ft.random.uniform(ft.random.key(seed), [4096], { dtype: 'float64' }).toArray() as number[]
  let at = 0
  return () => (values[at++ % 4096] as number) * 2 - 1
}

const RINGS: Readonly<Record<string, ft.systolic.Ring>> = {
  plusTimes: { zero: 0, add: (a, b) => a + b, multiply: (a, b) => a * b },
  minPlus: { zero: Infinity, add: Math.min, multiply: (a, b) => a + b },
  maxPlus: { zero: -Infinity, add: Math.max, multiply: (a, b) => a + b },
  minMax: { zero: Infinity, add: Math.min, multiply: Math.max },
  orAnd: { zero: 0, add: (a, b) => Number(a !== 0 || b !== 0), multiply: (a, b) => Number(a !== 0 && b !== 0) },
  xorCount: { zero: 0, add: (a, b) => a + b, multiply: (a, b) => ((a ^ b) >>> 0).toString(2).replaceAll('0', '').length }
}

/** A product, one chain of sums in the order of k. */
const product = (a: number[][], b: number[][], { zero, add, multiply }: ft.systolic.Ring): number[][] =>
  a.map((row) => (b[0] as number[]).map((_, j) => row.reduce((sum, x, p) => add(sum, multiply(x, (b[p] as number[])[j] as number)), zero)))

test('products in every dataflow, on grids of every size, have the bits of one chain of sums', (t) => {
  const next = draw(1)
  for (const [m, k, n] of [[1, 1, 1], [2, 3, 2], [5, 4, 3], [1, 7, 2], [6, 1, 5]] as const) {
    const [a, b] = [matrix(m, k, next), matrix(k, n, next)]
    for (const dataflow of ['os', 'ws', 'is'] as const) {
      for (const grid of [{}, { rows: 1 }, { cols: 2 }, { rows: 2, cols: 2 }, { rows: 3, cols: 1 }, { rows: 100, cols: 100 }]) {
        t.deepEqual(systolic.gemm(a, b, { dataflow, ...grid }).values, product(a, b, RINGS['plusTimes'] as ft.systolic.Ring), JSON.stringify([m, k, n, dataflow, grid]))
      }
    }
  }
})

test('products over rings', (t) => {
  const integers = (seed: number): (() => number) => { const next = draw(seed); return () => Math.floor(next() * 9) }
  for (const [name, ring] of Object.entries(RINGS)) {
    const [a, b] = [matrix(4, 3, integers(2)), matrix(3, 5, integers(3))]
    for (const dataflow of ['os', 'ws', 'is'] as const) {
      t.deepEqual(systolic.gemm(a, b, { dataflow, ring: name as ft.systolic.RingName }).values, product(a, b, ring), `${name} ${dataflow}`)
      t.deepEqual(systolic.gemm(a, b, { dataflow, ring, rows: 2, cols: 2 }).values, product(a, b, ring), `${name} ${dataflow} as functions`)
    }
  }
  // Factors that do not commute stay on their sides.
  const last: ft.systolic.Ring = { zero: 0, add: (a, b) => a + b, multiply: (a, b) => 10 * a + b }
  for (const dataflow of ['os', 'ws', 'is'] as const) t.deepEqual(systolic.gemm([[1, 2]], [[3], [4]], { ring: last, dataflow }).values, [[37]])
})

test('ticks and parts', (t) => {
  const [a, b] = [matrix(5, 7, () => 1), matrix(7, 4, () => 1)]
  t.deepEqual(systolic.gemm(a, b).ticks, 7 + 5 + 4 - 2)
  t.like(systolic.gemm(a, b, { dataflow: 'ws' }), { ticks: 5 + 7 + 4 - 2, folds: 1 })
  t.like(systolic.gemm(a, b, { dataflow: 'is' }), { ticks: 4 + 7 + 5 - 2, folds: 1 })
  t.like(systolic.gemm(a, b, { rows: 2, cols: 4 }), { folds: 3 })
  t.like(systolic.gemm(a, b, { dataflow: 'ws', rows: 3, cols: 3 }), { folds: 6 })
  // A tick fewer is too few, always: the last product of the last element is in the last tick.
  const start = systolic.array(2, 2).fill(systolic.mac()).connect('west_to_east').connect('north_to_south').input('west', [[[0, 0], [1, 2]], [[1, 0], [0, 3, 4]]]).input('north', [[[0, 0], [5, 7]], [[0, 1], [0, 6, 8]]])
  t.deepEqual(systolic.run(start, { ticks: 4 }).resultMatrix(), [[19, 22], [43, 50]])
  t.notDeepEqual(systolic.run(start, { ticks: 3 }).resultMatrix(), [[19, 22], [43, 50]])
})

test('empty matrices', (t) => {
  t.deepEqual(systolic.gemm([], []), { values: [], ticks: 0, folds: 0 })
  t.deepEqual(systolic.gemm([], [[1]]).values, [])
  t.deepEqual(systolic.gemm([[], []], []).values, [[], []])
  t.deepEqual(systolic.gemm([[1]], [[]]).values, [[]])
})

test('the fast path of ordinary products is the general one, bit for bit', (t) => {
  const values = [0, -0, 1.5, NaN, Infinity, -Infinity, 2 ** -1074, 1e308, EMPTY, EMPTY, -3]
  const next = draw(7)
  const pick = (): unknown => values[Math.floor((next() + 1) * 5.4999)]
  for (let round = 0; round < 60; round++) {
    const [rows, cols] = [1 + (round % 4), 1 + (round % 5)]
    let start = systolic.array(rows, cols).fill(systolic.mac(), { '0,0': { acc: 3 } }).connect('west_to_east')
    if (round % 3 > 0) start = start.connect('north_to_south')
    if (round % 7 === 3) start = start.link({ from: { coord: [0, 0], port: 'west' }, to: { coord: [0, 0], port: 'east' } })
    start = start.input('west', Array.from({ length: rows }, (_, i) => [[i, 0], Array.from({ length: round % 11 }, pick)]))
    if (round % 3 > 0) start = start.input('north', Array.from({ length: cols }, (_, j) => [[0, j], Array.from({ length: 9 }, pick)]))
    if (round % 5 === 4 && cols > 1) start = start.input('west', [[[0, 1], [4, EMPTY, 5]]])
    const ticks = 1 + (round % 13)
    // What is collected takes the general path.
    const general = systolic.run(start.output('south', [[0, 0]]), { ticks })
    const fast = systolic.run(start, { ticks })
    const seen = (a: ft.systolic.SystolicArray): unknown => ({ tick: a.tick, states: a.places.map(({ state }) => state as unknown), links: a.links, inputs: a.inputs, counts: a.counts })
    t.deepEqual(seen(fast), seen(general), `round ${round}`)
    t.deepEqual(seen(systolic.run(systolic.run(start, { ticks: 1 }), { ticks })), seen(systolic.run(systolic.run(start.trace(), { ticks: 1 }), { ticks })), `round ${round}, in parts`)
  }
})

test('what is observed', (t) => {
  const start = systolic.array(1, 2).fill(systolic.mac()).connect('west_to_east').input('west', [[[0, 0], [1, 2, 3]]]).output('east').trace()
  const after = systolic.run(start, { ticks: 3 })
  t.deepEqual(after.outputs, [{ tick: 1, coord: [0, 1], port: 'east', value: 1 }, { tick: 2, coord: [0, 1], port: 'east', value: 2 }])
  t.is(after.events.length, 6)
  t.deepEqual(after.events.at(1).map(({ coord }) => coord), [[0, 0], [0, 1]])
  t.deepEqual(after.events.forCoord([0, 1]).map(({ inputs }) => inputs['west']), [EMPTY, 1, 2])
  t.is(after.trace({ limit: 2 }).events.length, 2)
  t.is(after.trace(false).events.length, 0)
  t.deepEqual([...after.resultMap()], [['0,0', 0], ['0,1', 0]])
  t.deepEqual(after.ports, ['north', 'south', 'east', 'west'])
  t.is(systolic.run(start.trace({ limit: 0 }), { ticks: 3 }).events.length, 0)
  t.deepEqual(start.links[0], { from: undefined, to: { coord: [0, 0], port: 'west' }, latency: 1, capacity: 1, onFull: 'drop', queue: [] })
})

test('arrays do not change', (t) => {
  const start = systolic.array(1, 1)
  const values = [1, 2]
  const filled = start.fill(systolic.mac()).connect('west_to_east').input('west', [[[0, 0], values]])
  values[0] = 7
  systolic.run(filled, { ticks: 2 })
  t.deepEqual(filled.inputs, [{ coord: [0, 0], port: 'west', values: [1, 2] }])
  t.is(filled.tick, 0)
  t.is(start.links.length, 0)
  t.deepEqual(start.resultMatrix(), [[undefined]])
})

test('neighbours in all directions', (t) => {
  const all = systolic.array(2, 2).connect()
  t.is(all.links.length, 8)
  t.throws(() => all.connect('west_to_east'), { message: /there is a link into 'west' of \[0, 1\] already/ })
  for (const direction of ['west_to_east', 'east_to_west', 'north_to_south', 'south_to_north']) t.is(systolic.array(3, 4).connect(direction).links.length, 12)
})

const start = systolic.array(2, 2)
const line = { coords: [[0], [1]], ports: ['in', 'out'], neighbours: () => undefined }
const any = <T>(value: unknown): T => value as T

const WRONG: readonly (readonly [message: RegExp, call: () => unknown])[] = [
  ...[0, -1, 1.5, NaN, '2', null, undefined].map((size) => [/^systolic\.array: 'rows' must be/, () => systolic.array(any(size), 2)] as const),
  [/^systolic\.array: 'cols' must be/, () => systolic.array(2, 0)],
  [/elements are more than 1048576/, () => systolic.array(2 ** 20, 2)],
  [/'coords' has a coordinate twice/, () => systolic.array({ ...line, coords: [[0], [0]] })],
  [/'coords\[1\]' has 2 numbers/, () => systolic.array({ ...line, coords: [[0], [0, 1]] })],
  [/'ports' has a name twice/, () => systolic.array({ ...line, ports: ['a', 'a'] })],
  [/'ports\[0\]' must be a name other than 'result'/, () => systolic.array({ ...line, ports: ['result'] })],
  [/'neighbours' must be a function/, () => systolic.array({ ...line, neighbours: any(1) })],
  [/unknown option 'port'/, () => systolic.array(any({ ...line, port: 1 }))],
  [/leads from 'in' of \[0\] to no port/, () => systolic.array({ ...line, neighbours: () => ({ coord: [7], port: 'in' }) }).connect()],
  [/^systolic\.fill: 'element' must be/, () => start.fill(any(7))],
  [/an element's 'step' must be a function/, () => start.fill(any({ init: () => 0 }))],
  [/'2,0' is no place of this array; coordinates are written as '0,0'/, () => start.fill(systolic.mac(), { '2,0': {} })],
  [/'init' of the element at \[0, 1\] threw systolic\.mac: unknown option 'sum'/, () => start.fill(systolic.mac(), { '0,1': { sum: 1 } })],
  [/'init' of the element at \[0, 0\] threw mine/, () => start.fill({ init: () => { throw new Error('mine') }, step: () => [0] })],
  [/^systolic\.place: 'coord' \[2, 0\] is no place of this array, which has 2 rows and 2 columns/, () => start.place([2, 0], systolic.mac())],
  [/'direction' must be one of 'west_to_east'/, () => start.connect('up')],
  [/'direction' must be one of 'in', 'out'/, () => systolic.array(line).connect('west_to_east')],
  [/there is a link into 'west' of \[0, 0\] already/, () => start.connect('west_to_east').connect('west_to_east')],
  [/'latency' must be at least 1/, () => start.connect('west_to_east', { latency: 0 })],
  [/'capacity' must be an integer/, () => start.connect('west_to_east', { capacity: 1.5 })],
  [/'latency' is 100000, more than/, () => start.connect('west_to_east', { latency: 1e5 })],
  [/'onFull' must be one of 'drop', 'throw'/, () => start.connect('west_to_east', { onFull: any('wait') })],
  [/^systolic\.link: 'to' must be \{ coord, port \}, got undefined/, () => start.link(any({}))],
  [/'from\.port' must be one of 'north'/, () => start.link({ from: { coord: [0, 0], port: 'up' }, to: { coord: [0, 0], port: 'west' } })],
  [/^systolic\.input: 'port' must be one of 'north', 'south', 'east', 'west', got 'up'/, () => start.input('up', [])],
  [/there is an input for 'west' of \[0, 0\] already/, () => start.input('west', [[[0, 0], [1]], [[0, 0], [2]]])],
  [/there is an input for 'west' of \[0, 0\] already/, () => start.input('west', [[[0, 0], [1]]]).input('west', [[[0, 0], [2]]])],
  [/'streams\[0\]' must be a pair/, () => start.input('west', any([[0, 0, 1]]))],
  [/'streams\[0\]\[1\]' has no value at 1/, () => start.input('west', [[[0, 0], [1, undefined]]])],
  [/'streams\[0\]\[1\]' must be an array/, () => start.input('west', any([[[0, 0], 'text']]))],
  [/^systolic\.output: 'coords\[0\]' \[5, 5\] is no place/, () => start.output('east', [[5, 5]])],
  [/'limit' must be from 0 to/, () => start.trace({ limit: -1 })],
  [/'sink' must be a function/, () => start.trace({ sink: any(1) })],
  [/the array is no grid/, () => systolic.array(line).resultMatrix()],
  [/^systolic\.run: 'ticks' is missing/, () => systolic.run(start, any({}))],
  [/^systolic\.run: 'ticks' is missing/, () => systolic.run(start, any(undefined))],
  [/'ticks' must not be negative/, () => systolic.run(start, { ticks: -1 })],
  [/'ticks' must be an integer/, () => systolic.run(start, { ticks: 1.5 })],
  [/are more than 268435456 steps; longer runs are several calls/, () => systolic.run(start, { ticks: 1e9 })],
  [/unknown backend 'interpretd'; did you mean 'interpreted'/, () => systolic.run(start, { ticks: 1, backend: any('interpretd') })],
  [/unknown backend 7/, () => systolic.run(start, { ticks: 1, backend: any(7) })],
  [/a 'backend' must have a name and a function 'run'/, () => systolic.run(start, { ticks: 1, backend: any({}) })],
  [/the backend 'lazy' gave an array at tick 0 instead of 1/, () => systolic.run(start, { ticks: 1, backend: { name: 'lazy', run: (array) => array } })],
  [/'dispatch' must be 'tasks' or 'pool'/, () => systolic.run(start, { ticks: 1, backend: 'partitioned', dispatch: any('threads') })],
  [/'tileRows' is an option of the backend 'partitioned' alone/, () => systolic.run(start, { ticks: 1, tileRows: 1 })],
  [/'tileRows' must be at least 1/, () => systolic.run(start, { ticks: 1, backend: 'partitioned', tileRows: 0 })],
  [/'tileSize' is for spaces other than grids/, () => systolic.run(start, { ticks: 1, backend: 'partitioned', tileSize: 1 })],
  [/'tileRows' is for grids/, () => systolic.tiles(systolic.array(line), { tileRows: 1 })],
  [/'timeout' must be above 0/, () => systolic.run(start, { ticks: 1, backend: 'partitioned', timeout: 0 })],
  [/'workers' is 65, more than 64/, () => systolic.run(start, { ticks: 1, backend: 'partitioned', workers: 65 })],
  [/^systolic\.run: 'array' must be a systolic array, got an Object/, () => systolic.run(any({}), { ticks: 1 })],
  [/only looks like one/, () => systolic.run(any(Object.create(Object.getPrototypeOf(start) as object)), { ticks: 1 })],
  [/the element at \[0, 0\] threw the value at 'west' must be a number, it is of type string in tick 0/, () => systolic.run(systolic.array(1, 1).fill(systolic.mac()).connect('west_to_east').input('west', [[[0, 0], ['x']]]), { ticks: 1 })],
  [/'ring' must be one of 'plusTimes'/, () => systolic.mac({ ring: any('plus') })],
  [/'ring\.add' must be a function/, () => systolic.mac({ ring: any({ zero: 0, multiply: Math.max }) })],
  [/^systolic\.element: 'url' must be the URL of a module/, () => systolic.element('https://example.com/a.mjs', 'A', systolic.mac())],
  [/^systolic\.element: 'name' must be/, () => systolic.element('file:///a.mjs', '', systolic.mac())],
  [/^systolic\.gemm: 'dataflow' must be one of/, () => systolic.gemm([[1]], [[1]], { dataflow: any('xs') })],
  [/^systolic\.gemm: 'a' must be an array of rows/, () => systolic.gemm(any(ft.ones([2, 2])), [[1]])],
  [/^systolic\.gemm: 'b\[0\]\[1\]' must be a number, got '2'/, () => systolic.gemm([[1]], any([[1, '2']]))],
  [/^systolic\.gemm: 'rows' must be at least 1/, () => systolic.gemm([[1]], [[1]], { rows: 0 })],
  [/^systolic\.gemm: unknown backend 'x'/, () => systolic.gemm([[1]], [[1]], { backend: any('x') })],
  [/are more than 33554432 steps/, () => systolic.gemm(matrix(400, 400, () => 1), matrix(400, 400, () => 1))],
  [/1 elements for 1 ticks, 160000 times, are more than/, () => systolic.gemm(matrix(400, 1, () => 1), [new Float64Array(400)], { rows: 1, cols: 1 })],
  [/^systolic\.after: 'states' must be an array of 4/, () => start.after(any({ states: [] }))],
  [/^systolic\.conformance: 'random' must be from 0/, () => systolic.conformance('interpreted', { random: -1 })],
  [/^systolic\.conformance: 'backend' must be/, () => systolic.conformance(any(null))]
]

test('wrong input is a typed error at the call', (t) => {
  for (const [message, call] of WRONG) throws(t, 'ERR_ARGUMENT', message, call)
  throws(t, 'ERR_SHAPE', /^systolic\.gemm: 'a' is \[1, 2\] and 'b' has 1 rows: the inner sizes differ/, () => systolic.gemm([[1, 2]], [[1]]))
  throws(t, 'ERR_SHAPE', /^systolic\.gemm: 'a' has rows of 2 and of 1 numbers/, () => systolic.gemm([[1, 2], [1]], [[1], [2]]))
})
