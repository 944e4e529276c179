// Partitioned runs on worker threads: the array is that of an interpreted run, whatever goes between threads; threads that fail, die or hang.
// runs on: node, musl

import { spawnSync } from 'node:child_process'
import test from 'ava'
import * as ft from 'ferrotensor'
import { failure, throws } from '../expect.js'
import * as elements from './elements.js'

const { systolic } = ft
const { EMPTY } = systolic
const module = new URL('./elements.js', import.meta.url)
const named = <N extends Exclude<keyof typeof elements, 'NOTHING'>>(name: N): ft.systolic.Element => systolic.element(module, name, elements[name] as ft.systolic.Element)

/** All that can be seen of an array, but where it ran. */
const seen = (a: ft.systolic.SystolicArray): unknown => ({ tick: a.tick, states: a.places.map(({ state }) => state as unknown), links: a.links, inputs: a.inputs, counts: a.counts, outputs: a.outputs, events: a.events.all })

/** Sizes of tiles, how many there are of the array below, and threads; with two tiles there are two at most. */
const SPLITS = [[{ tileRows: 1, tileCols: 1 }, 20, 4, 4], [{ tileRows: 2, tileCols: 3 }, 4, 2, 2], [{ tileRows: 2 }, 2, 3, 2]] as const

function busy(name: 'SUM' | 'MIXED'): ft.systolic.SystolicArray {
  return systolic.array(4, 5).fill(named(name))
    .connect('west_to_east', { latency: 2, capacity: 1 }).connect('north_to_south', { latency: 1 })
    .input('west', [[[0, 0], [1, 2, EMPTY, 3, 4]], [[2, 0], [5, EMPTY, EMPTY, 6]], [[3, 0], Array.from({ length: 40 }, (_, i) => i)]])
    .input('east', [[[0, 4], [1]]])
    .output('east').output('south', [[1, 1]])
}

for (const name of ['SUM', 'MIXED'] as const) {
  for (const dispatch of ['tasks', 'pool'] as const) {
    for (const [split, tiles, most, workers] of SPLITS) {
      test(`${name} with ${dispatch}, ${JSON.stringify(split)}`, (t) => {
        for (const start of [busy(name), busy(name).trace(), busy(name).trace({ limit: 7 })]) {
          const run = systolic.run(start, { ticks: 23, backend: 'partitioned', dispatch, workers: most, ...split })
          t.deepEqual(run.dispatched, { dispatch, workers, tiles, reason: null } as ft.systolic.Dispatched | null)
          t.deepEqual(seen(run), seen(systolic.run(start, { ticks: 23 })))
        }
      })
    }
  }
}

test('runs in parts, from one backend to the other', (t) => {
  for (const name of ['SUM', 'MIXED'] as const) {
    const whole = systolic.run(busy(name).trace(), { ticks: 20 })
    let parts = busy(name).trace()
    for (let i = 0; i < 10; i++) parts = systolic.run(parts, { ticks: 2, ...(i % 2 === 0 ? { backend: 'partitioned', dispatch: 'pool', tileRows: 1, tileCols: 1, workers: 3 } as const : {}) })
    t.deepEqual(seen(parts), seen(whole))
  }
})

test('a sink gets every event in order, on this thread, as ticks pass', (t) => {
  const [expected, events] = [[], []] as [ft.systolic.ElementEvent[], ft.systolic.ElementEvent[]]
  systolic.run(busy('SUM').trace({ sink: (event) => void expected.push(event) }), { ticks: 200 })
  systolic.run(busy('SUM').trace({ sink: (event) => void events.push(event) }), { ticks: 200, backend: 'partitioned', dispatch: 'pool', tileRows: 1, workers: 2 })
  t.is(events.length, 4000)
  t.deepEqual(events, expected)
  const mine = new Error('mine')
  t.is(t.throws(() => systolic.run(busy('SUM').trace({ sink: () => { throw mine } }), { ticks: 200, backend: 'partitioned', tileRows: 1, workers: 2 })), mine)
})

test('a sink gets the events of all ticks before one in which an element fails', (t) => {
  const told = (start: ft.systolic.SystolicArray, options: Omit<ft.systolic.RunOptions, 'ticks'>): ft.systolic.ElementEvent[] => {
    const events: ft.systolic.ElementEvent[] = []
    throws(t, 'ERR_ARGUMENT', /in tick (2|66)$/, () => systolic.run(start.trace({ sink: (event) => void events.push(event) }), { ticks: 100, ...options }))
    return events
  }
  // The first fails in the first ticks that are told of together, the second in the next ones; the third in the steps' writes.
  const full = systolic.array(3, 2).fill(named('COUNTS')).connect('west_to_east', { latency: 3, capacity: 2, onFull: 'throw' })
  const arrays = [systolic.array(3, 2).fill(named('THROWS')).connect('west_to_east'), systolic.array(3, 2).fill(named('LATE')), full]
  for (const [i, start] of arrays.entries()) {
    for (const dispatch of ['tasks', 'pool'] as const) {
      const expected = told(start, {})
      t.is(expected.length, [12, 396, 12][i])
      t.deepEqual(told(start, { backend: 'partitioned', dispatch, tileRows: 1, tileCols: 1, workers: 3 }), expected)
    }
  }
})

test('a run that cannot begin leaves no channel open', async (t) => {
  const threads = process.getBuiltinModule('node:worker_threads')
  const { MessageChannel } = threads
  const made: import('node:worker_threads').MessagePort[] = []
  let closed = 0
  Object.assign(threads, { MessageChannel: function () {
    const channel = new MessageChannel()
    for (const port of [channel.port1, channel.port2]) made.push(port.once('close', () => closed++))
    return channel
  } })
  try {
    throws(t, 'ERR_ARGUMENT', /cannot go to another thread/, () => systolic.run(systolic.array(1, 2).fill(named('UNCLONEABLE')), { ...partitioned, dispatch: 'pool' }))
  } finally {
    Object.assign(threads, { MessageChannel })
  }
  t.true(made.length > 4)
  for (let i = 0; i < 100 && closed < made.length; i++) await new Promise((resolve) => setTimeout(resolve, 20))
  t.is(closed, made.length)
})

test('rings are the same on workers', (t) => {
  for (const ring of ['plusTimes', 'minPlus', 'maxPlus', 'minMax', 'orAnd', 'xorCount'] as const) {
    for (const dataflow of ['os', 'ws', 'is'] as const) {
      const [a, b] = [[[3, -7, 0], [0, 2, 9]], [[5, 1], [0, -0], [12, 0x7fffffff]]]
      t.deepEqual(systolic.gemm(a, b, { ring, dataflow, backend: 'partitioned', dispatch: 'pool', tileRows: 1, tileCols: 1, workers: 2 }), systolic.gemm(a, b, { ring, dataflow }), `${ring} ${dataflow}`)
    }
  }
})

test('functions step on the calling thread, and the result says so', (t) => {
  const start = systolic.array(2, 2).fill(elements.SUM).connect('west_to_east')
  const run = systolic.run(start, { ticks: 3, backend: 'partitioned', tileRows: 1 })
  t.is(run.dispatched?.dispatch, 'calling thread')
  t.is(run.dispatched?.tiles, 2)
  t.regex(run.dispatched?.reason ?? '', /function of the calling thread/)
  t.is(systolic.run(start, { ticks: 1 }).dispatched?.reason, null)
})

const partitioned = { ticks: 5, backend: 'partitioned', tileRows: 1, tileCols: 1, workers: 3 } as const

for (const dispatch of ['tasks', 'pool'] as const) {
  test(`an element that throws on a worker, ${dispatch}`, (t) => {
    const start = systolic.array(3, 2).fill(named('THROWS')).connect('west_to_east')
    for (let i = 0; i < 5; i++) throws(t, 'ERR_ARGUMENT', /^systolic\.run: the element at \[0, 1\] threw too far in tick 2$/, () => systolic.run(start, { ...partitioned, dispatch }))
    t.true(failure(t, () => systolic.run(start, { ...partitioned, dispatch })).cause instanceof Error)
    t.is(start.tick, 0)
    t.deepEqual(systolic.run(start, { ...partitioned, dispatch, ticks: 2 }).resultMatrix(), [[2, 2], [2, 2], [2, 2]])
  })

  test(`a worker that ends during a run, ${dispatch}`, (t) => {
    const start = systolic.array(3, 2).fill(named('EXITS'))
    throws(t, 'ERR_BACKEND_UNAVAILABLE', /^systolic\.run: a worker thread ended during the run$/, () => systolic.run(start, { ...partitioned, dispatch }))
    t.is(systolic.run(start, { ...partitioned, dispatch, ticks: 2 }).tick, 2, 'the next run has others')
  })

  test(`an element that does not return, ${dispatch}`, (t) => {
    const start = systolic.array(3, 2).fill(named('HANGS'))
    throws(t, 'ERR_BACKEND_UNAVAILABLE', /no worker has made a tick for 700 ms/, () => systolic.run(start, { ...partitioned, dispatch, timeout: 700 }))
    t.is(systolic.run(start, { ...partitioned, dispatch, ticks: 2 }).tick, 2, 'the next run has others')
  })
}

test('what cannot go to another thread', (t) => {
  throws(t, 'ERR_ARGUMENT', /the element at \[0, 0\] wrote a value that cannot go to another thread .* in tick 0/, () => systolic.run(systolic.array(1, 2).fill(named('FUNCTIONS')).connect('west_to_east'), { ...partitioned, dispatch: 'pool' }))
  throws(t, 'ERR_ARGUMENT', /a state or a value cannot go to another thread/, () => systolic.run(systolic.array(1, 2).fill(named('CLOSURE')), { ...partitioned, dispatch: 'pool' }))
  throws(t, 'ERR_ARGUMENT', /a state or a value cannot go to another thread/, () => systolic.run(systolic.array(1, 2).fill(named('UNCLONEABLE')), { ...partitioned, dispatch: 'pool' }))
  t.is(systolic.run(systolic.array(1, 2).fill(named('SUM')), { ...partitioned, dispatch: 'pool' }).tick, 5)
})

test('modules that are not there, and exports that are no elements', (t) => {
  const use = elements.SUM
  for (const [element, message] of [
    [systolic.element(new URL('./absent.js', import.meta.url), 'SUM', use), /cannot load the elements: Cannot find module/],
    [systolic.element(module, 'ABSENT', use), /cannot load the elements: its export 'ABSENT' is no element/],
    [systolic.element(module, 'NOTHING', use), /cannot load the elements: its export 'NOTHING' is no element/]
  ] as const) {
    throws(t, 'ERR_ARGUMENT', message, () => systolic.run(systolic.array(1, 2).fill(element), { ...partitioned, dispatch: 'pool' }))
  }
})

test('a process that may not start threads', (t) => {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
  const code = "import { systolic } from 'ferrotensor'; try { systolic.gemm([[1]], [[2]], { backend: 'partitioned' }) } catch (error) { console.log(error.code, error.message) }; console.log(systolic.gemm([[1]], [[2]]).values)"
  const { stdout, stderr } = spawnSync(process.execPath, [flag, '--allow-fs-read=*', '--input-type=module', '--eval', code], { encoding: 'utf8' })
  t.regex(stdout, /^ERR_BACKEND_UNAVAILABLE systolic\.gemm: no worker thread can be started: .*\n\[ \[ 2 \] \]\n$/, stderr)
})

test('a process with kept threads ends when it has nothing to do', (t) => {
  const code = "import { systolic } from 'ferrotensor'; console.log(systolic.gemm([[1, 2]], [[3], [4]], { backend: 'partitioned', dispatch: 'pool', tileRows: 1, workers: 2 }).values)"
  const { stdout, status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8', timeout: 60_000 })
  t.is(stdout, '[ [ 11 ] ]\n', stderr)
  t.is(status, 0)
})

test('a link that another thread and an input write to keeps the order of both', (t) => {
  const made = systolic.array(1, 2).fill(named('MIXED'))
    .link({ from: { coord: [0, 1], port: 'east' }, to: { coord: [0, 0], port: 'west' } }, { latency: 2, capacity: 4 })
    .input('west', [[[0, 0], [{ given: 0 }, { given: 1 }, 'given 2', { given: 3 }]]]).trace()
  for (let ticks = 1; ticks < 9; ticks++) {
    const run = systolic.run(made, { ticks, backend: 'partitioned', tileCols: 1, workers: 2 })
    t.deepEqual(seen(run), seen(systolic.run(made, { ticks })))
    // What is under way is carried into the next run.
    t.deepEqual(seen(systolic.run(run, { ticks: 3, backend: 'partitioned', tileCols: 1, workers: 2 })), seen(systolic.run(made, { ticks: ticks + 3 })))
  }
})

test('an output that throws when it is read is an error of its element', (t) => {
  const made = systolic.array(1, 2).fill(named('TRAPPED')).connect('west_to_east')
  const wanted = /the element at \[0, 0\] threw too far in tick 2/
  throws(t, 'ERR_ARGUMENT', wanted, () => systolic.run(made, { ticks: 4 }))
  throws(t, 'ERR_ARGUMENT', wanted, () => systolic.run(made, { ticks: 4, backend: 'partitioned', tileCols: 1, workers: 2 }))
})
