// Systolic arrays: `ft.systolic`. Values are numbers and plain objects, but for those of `traced`, which are tensors.

import * as ft from 'ferrotensor'
import { is } from '../expectations.js'
import { f32 } from '../operands.js'

type Array_ = ft.systolic.SystolicArray

const sum: ft.systolic.Element<number> = { init: () => 0, step: (state, { west }) => [west === ft.systolic.EMPTY ? state : state + (west as number), { east: west }] }

export function results(): void {
  const grid = ft.systolic.array(2, 2)
  is<Array_>()(grid)
  is<Array_>()(ft.systolic.array({ coords: [[0], [1]], ports: ['in', 'out'], neighbours: ([i], port) => (port === 'out' && i === 0 ? { coord: [1], port: 'in' } : undefined) }))
  const made = grid.fill(sum).place([0, 0], ft.systolic.mac()).connect('west_to_east', { latency: 2, onFull: 'throw' }).input('west', [[[0, 0], [1, ft.systolic.EMPTY, 2]]]).output('east').trace({ limit: 10 })
  is<Array_>()(ft.systolic.run(made, { ticks: 2 }))
  is<Array_>()(ft.systolic.run(made, { ticks: 2, backend: 'partitioned', tileRows: 1 }))
  is<Array_>()(ft.systolic.step(made))
  is<any[][]>()(made.resultMatrix())
  is<Map<string, any>>()(made.resultMap())
  is<readonly ft.systolic.Output[]>()(made.outputs)
  is<ft.systolic.ElementEvents>()(made.events)
  is<ft.systolic.Counts>()(made.counts)
  is<ft.systolic.Tile[]>()(ft.systolic.tiles(made, { tileRows: 1 }))
  is<ft.systolic.Element<ft.systolic.MacState>>()(ft.systolic.mac({ ring: 'minPlus' }))
  is<ft.systolic.Element<ft.systolic.StationaryState>>()(ft.systolic.stationary())
  is<ft.systolic.Element<number>>()(ft.systolic.element(new URL('file:///sum.mjs'), 'SUM', sum))
  is<ft.systolic.Gemm>()(ft.systolic.gemm([[1, 2]], [new Float64Array(1), [3]], { dataflow: 'ws', rows: 1 }))
  is<ft.systolic.TimedValues>()(ft.systolic.matvec([[1, 2]], [1, 2]))
  is<ft.systolic.TimedValues>()(ft.systolic.convolve([1, 2], new Float32Array(1), { mode: 'valid' }))
  is<ft.systolic.TimedValues>()(ft.systolic.solveTriangular([[2]], [4], { upper: true }))
  is<ft.systolic.TimedValues>()(ft.systolic.sort([2, 1]))
  is<ft.systolic.EditDistance>()(ft.systolic.editDistance('abc', ['a', 'c']))
  is<ft.systolic.TimedValues<number[][]>>()(ft.systolic.shortestPaths([[0]], { backend: 'partitioned' }))
  is<ft.systolic.Report>()(ft.systolic.simulate([{ m: 1, n: 2, k: 3 }], { rows: 8, cols: 8, dataflow: 'is', sram: { input: 1024 } }))
  is<ft.systolic.Report[]>()(ft.systolic.sweep({ m: 1, n: 2, k: 3 }, { sizes: [[8, 8]] }))
  is<ft.systolic.ConformanceCase[]>()(ft.systolic.conformance('interpreted', { random: 0 }))
  is<ft.systolic.TracedArray<{ readonly a: 'int8' }, {}>>()(ft.systolic.traced({ rows: 1, cols: 1, state: { a: 'int8' }, ports: {}, step: (state) => [state] }))
  traced()
}

function traced(): void {
  const net = ft.systolic.traced({
    rows: 2, cols: 3,
    state: { acc: 'float32' },
    ports: { east: [0, 1], south: [1, 0] },
    step({ acc }, { west, north }) {
      is<ft.Tensor<'float32'>>()(acc)
      is<ft.Tensor<'float32'>>()(west)
      return [{ acc: acc.add(west.mul(north)) }, { east: west, south: north }]
    }
  })
  is<number>()(net.rows)
  const run = net.run({ west: ft.ones([2, 2]) }, { ticks: 2, outputs: ['east'], device: 'cpu' })
  is<ft.Tensor<'float32'>>()(run.state.acc)
  is<ft.Tensor<'float32'>>()(run.outputs.east)
  is<readonly ft.Tensor<'float32'>[]>()(run.links.south)
  is<number>()(net.run({}, { ticks: 1, from: run, state: { acc: ft.zeros([2, 3]) } }).tick)
  const mixed = ft.systolic.traced({
    rows: 1, cols: 2,
    state: { count: { dtype: 'int32', init: 3 }, best: 'float64' },
    ports: { next: { offset: [0, 1], as: 'before', dtype: 'int32', latency: 2, empty: -1 }, other: { offset: [0, -1], dtype: 'float64' } },
    step({ count, best }, { before, other }) {
      is<ft.Tensor<'int32'>>()(before)
      is<ft.Tensor<'float64'>>()(other)
      return [{ count: before, best: best.add(other) }, { next: count }]
    }
  })
  is<ft.Tensor<'int32'>>()(mixed.run({}, { ticks: 3, outputs: ['next'] }).outputs.next)
}

/** What must not compile; never called. */
export function misuse(): void {
  const net = ft.systolic.traced({ rows: 1, cols: 1, state: { sum: 'float32' }, ports: { east: [0, 1] }, step: ({ sum }, { west }) => [{ sum: sum.add(west) }, { east: west }] })
  // @ts-expect-error: a port is read under the other side's name
  net.run({ east: ft.ones([1, 1]) }, { ticks: 1 })
  // @ts-expect-error: an input has the port's dtype
  net.run({ west: ft.ones([1, 1], { dtype: 'int32' }) }, { ticks: 1 })
  // @ts-expect-error: no such port
  net.run({}, { ticks: 1, outputs: ['west'] })
  // @ts-expect-error: ticks are missing
  net.run({}, {})
  // @ts-expect-error: only what is collected is there
  void net.run({}, { ticks: 1 }).outputs.east
  // @ts-expect-error: no such dtype
  ft.systolic.traced({ rows: 1, cols: 1, state: { sum: 'float31' }, ports: {}, step: (state) => [state] })
  // @ts-expect-error: a step returns all states
  ft.systolic.traced({ rows: 1, cols: 1, state: { sum: 'float32' }, ports: {}, step: () => [{}] })
  // @ts-expect-error: a state keeps its dtype
  ft.systolic.traced({ rows: 1, cols: 1, state: { sum: 'float32' }, ports: {}, step: ({ sum }) => [{ sum: sum.astype('int32') }] })
  // @ts-expect-error: an offset has rows and columns
  ft.systolic.traced({ rows: 1, cols: 1, state: {}, ports: { east: [1] }, step: () => [{}] })
  // @ts-expect-error: a grid has columns
  ft.systolic.array(2)
  // @ts-expect-error: a space has neighbours
  ft.systolic.array({ coords: [[0]], ports: ['a'] })
  // @ts-expect-error: ticks are missing
  ft.systolic.run(ft.systolic.array(1, 1))
  // @ts-expect-error: no such backend
  ft.systolic.run(ft.systolic.array(1, 1), { ticks: 1, backend: 'gpu' })
  // @ts-expect-error: no such dispatch
  ft.systolic.run(ft.systolic.array(1, 1), { ticks: 1, backend: 'partitioned', dispatch: 'threads' })
  // @ts-expect-error: an element steps
  ft.systolic.array(1, 1).fill({ init: () => 0 })
  // @ts-expect-error: a step gives a state
  ft.systolic.array(1, 1).fill({ init: () => 0, step: () => 1 })
  // @ts-expect-error: no such ring
  ft.systolic.mac({ ring: 'plus' })
  // @ts-expect-error: matrices are arrays of numbers
  ft.systolic.gemm(f32, f32)
  // @ts-expect-error: no such dataflow
  ft.systolic.gemm([[1]], [[1]], { dataflow: 'rs' })
  // @ts-expect-error: no such mode
  ft.systolic.convolve([1], [1], { mode: 'same' })
  // @ts-expect-error: a vector
  ft.systolic.matvec([[1]], [[1]])
  // @ts-expect-error: a matrix
  ft.systolic.solveTriangular([1], [1])
  // @ts-expect-error: numbers
  ft.systolic.sort(['b', 'a'])
  // @ts-expect-error: two texts
  ft.systolic.editDistance('abc')
  // @ts-expect-error: a matrix
  ft.systolic.shortestPaths([1])
  // @ts-expect-error: an array has a size
  ft.systolic.simulate({ m: 1, n: 2, k: 3 }, {})
  // @ts-expect-error: k is missing
  ft.systolic.simulate({ m: 1, n: 2 }, { rows: 8, cols: 8 })
  // @ts-expect-error: sizes are pairs
  ft.systolic.sweep({ m: 1, n: 2, k: 3 }, { sizes: [8] })
  // @ts-expect-error: the element itself is missing
  ft.systolic.element('file:///sum.mjs', 'SUM')
}
