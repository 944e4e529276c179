// Argument lists that work, for systolic arrays. What arrays do as methods is part of these calls: fills, links, inputs, traces.

import * as ft from 'ferrotensor'

const { systolic } = ft

const grid = () => systolic.array(2, 3).fill(systolic.mac(), { '0,0': { acc: 5 } }).connect('west_to_east').connect('north_to_south', { latency: 2 }).input('west', [[[0, 0], [1, 2, systolic.EMPTY]], [[1, 0], [3]]]).input('north', [[[0, 1], [4, 5]]]).output('east').trace({ limit: 10 })
const line = () => ({ coords: [[0], [1], [2]], ports: ['in', 'out'], neighbours: ([i], port) => (port === 'out' && i < 2 ? { coord: [i + 1], port: 'in' } : undefined) })
const sum = () => ({ init: () => 0, step: (state, { west }) => [state + (typeof west === 'number' ? west : 0), { east: west }] })
const matrix = (rows, cols) => Array.from({ length: rows }, (_, i) => Array.from({ length: cols }, (_, j) => i - j))

const macs = () => systolic.traced({ rows: 2, cols: 3, state: { acc: 'float32' }, ports: { east: { offset: [0, 1], latency: 2 }, south: [1, 0] }, step: ({ acc }, { west, north }) => [{ acc: acc.add(west.mul(north)) }, { east: west, south: north }] })
const grid2x3 = () => ft.ones([2, 3])

export const SYSTOLIC_SEEDS = {
  'TracedArray.run': [
    () => [macs(), { west: ft.ones([4, 2]), north: ft.ones([4, 3]) }, { ticks: 4, outputs: ['east', 'south'], device: 'cpu' }],
    () => [macs(), {}, { ticks: 70, from: { state: { acc: grid2x3() }, links: { east: [grid2x3(), grid2x3()], south: [grid2x3()] }, tick: 3 }, state: { acc: grid2x3() }, onProgress: () => {} }]
  ],
  'systolic.array': [() => [2, 3], () => [line()]],
  'systolic.conformance': [() => ['interpreted', { random: 3 }], () => [{ backend: 'partitioned', tileRows: 1 }], () => [{ name: 'mine', run: (array) => array }]],
  'systolic.convolve': [() => [[1, 2, 3, 4], [1, -1], { mode: 'valid' }], () => [new Float64Array(3), [1]]],
  'systolic.editDistance': [() => ['kitten', 'sitting'], () => [[1, 2], [2, 3, 4], { backend: 'interpreted' }]],
  'systolic.element': [() => [new URL('file:///elements.mjs'), 'SUM', sum()]],
  'systolic.gemm': [() => [matrix(2, 3), matrix(3, 2), { dataflow: 'ws', ring: 'minPlus', rows: 2, cols: 1 }], () => [matrix(3, 2), matrix(2, 4)]],
  'systolic.mac': [() => [], () => [{ ring: 'orAnd' }]],
  'systolic.matvec': [() => [matrix(2, 3), [1, 2, 3]]],
  'systolic.run': [
    () => [grid(), { ticks: 4 }],
    () => [grid().place([1, 1], sum()), { ticks: 4, backend: 'partitioned', tileRows: 1, tileCols: 2 }],
    () => [systolic.array(line()).fill(sum()).connect('out'), { ticks: 2 }],
    () => [grid(), { ticks: 2, backend: 'partitioned', dispatch: 'pool', workers: 1, timeout: 5000 }]
  ],
  'systolic.shortestPaths': [() => [[[0, 3, Infinity], [1, 0, 2], [Infinity, 1, 0]]]],
  'systolic.simulate': [
    () => [{ m: 64, n: 32, k: 16 }, { rows: 8, cols: 8, dataflow: 'ws' }],
    () => [[{ height: 6, width: 6, channels: 2, filters: 5, filterHeight: 3, filterWidth: 3, stride: 2, padding: 1 }], { rows: 8, cols: 4, sram: { input: 64 }, dram: { bandwidth: 2 }, energy: { mac: 1 } }]
  ],
  'systolic.solveTriangular': [() => [[[2, 1], [1, 4]], [6, 11], { upper: true }]],
  'systolic.sort': [() => [[3, NaN, 1, -0, 0]]],
  'systolic.stationary': [() => [], () => [{ ring: { zero: 0, add: (a, b) => a + b, multiply: (a, b) => a * b } }]],
  'systolic.step': [() => [grid()], () => [systolic.array(line())]],
  'systolic.sweep': [() => [[{ m: 64, n: 32, k: 16 }], { sizes: [[8, 8], [4, 2]], dataflows: ['os', 'is'] }]],
  'systolic.tiles': [() => [grid(), { tileRows: 1, tileCols: 2 }], () => [systolic.array(line()), { tileSize: 2 }]],
  'systolic.traced': [
    () => [{ rows: 2, cols: 3, state: { acc: 'float32' }, ports: { east: [0, 1], south: [1, 0] }, step: ({ acc }, { west, north }) => [{ acc: acc.add(west.mul(north)) }, { east: west, south: north }] }],
    () => [{ rows: 3, cols: 1, state: { n: { dtype: 'int32', init: 7 }, x: { dtype: 'float64', init: ft.ones([3, 1], { dtype: 'float64' }) } }, ports: { up: { offset: [-1, 2], as: 'down', dtype: 'int32', latency: 3, empty: -1 } }, step: ({ n, x }, { down }) => [{ n: down, x: x.mul(2) }, { up: n }] }]
  ]
}
