// Cycles, utilisation and SRAM traffic beside what SCALE-Sim 3 counts (expected.py), DRAM traffic, stalls and energy beside counts by hand; tables, sweeps, and
// what ResNet-50 takes.
// runs on: host

import { readFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

const { systolic } = ft
const { simulate, sweep } = systolic

type Row = readonly [dataflow: ft.systolic.Dataflow, rows: number, cols: number, layer: ft.systolic.SystolicLayer, cycles: number, use: number, mapping: number, input: number, filter: number, output: number]
const expected = JSON.parse(readFileSync(new URL('../../../__test__/systolic/expected.json', import.meta.url), 'utf8')) as readonly Row[]

test('cycles, utilisation, mapping and SRAM traffic are those of SCALE-Sim', (t) => {
  t.true(expected.length >= 200)
  for (const [dataflow, rows, cols, layer, cycles, use, mapping, input, filter, output] of expected) {
    const [found] = simulate(layer, { rows, cols, dataflow }).layers as [ft.systolic.LayerReport]
    const about = JSON.stringify([dataflow, rows, cols, layer])
    t.is(found.cycles, cycles, about)
    t.true(Math.abs(100 * found.utilisation - use) < 1e-9 * use, about)
    t.true(Math.abs(100 * found.mapping - mapping) < 1e-9 * mapping, about)
    t.is(found.sram.inputReads, input, about)
    t.is(found.sram.weightReads, filter, about)
    // With results that stay, it counts a row and a column of each part beside the results (`ofmap_writes` is added to twice in its systolic_compute_os.py).
    t.is(found.sram.outputWrites, output - (dataflow === 'os' ? found.folds * (rows + cols) : 0), about)
  }
})

test('products of the known figures', (t) => {
  const known = { os: [3039, 57087], ws: [3551, 67199], is: [3551, 58175] } as const
  for (const dataflow of ['os', 'ws', 'is'] as const) {
    t.deepEqual(simulate([{ m: 128, n: 128, k: 128 }, { m: 256, n: 512, k: 384 }], { rows: 32, cols: 32, dataflow }).layers.map(({ cycles }) => cycles), [...known[dataflow]])
  }
})

test('cycles of one part are the ticks of a run, and what it takes to load', (t) => {
  const ones = (rows: number, cols: number): number[][] => Array.from({ length: rows }, () => new Array<number>(cols).fill(1))
  const [m, n, k] = [7, 4, 3]
  t.is(simulate({ m, n, k }, { rows: m, cols: n }).total.cycles, systolic.gemm(ones(m, k), ones(k, n)).ticks - 1)
  t.is(simulate({ m, n, k }, { rows: k, cols: n, dataflow: 'ws' }).total.cycles, systolic.gemm(ones(m, k), ones(k, n), { dataflow: 'ws' }).ticks + k - 1)
})

test('DRAM traffic: what fits comes once', (t) => {
  const layer = { m: 40, n: 24, k: 16 }
  const of = (dataflow: ft.systolic.Dataflow, sram: ft.systolic.SramSizes): ft.systolic.Traffic => (simulate(layer, { rows: 8, cols: 8, dataflow, sram }).layers[0] as ft.systolic.LayerReport).dram
  const once = { inputReads: 640, weightReads: 384, outputReads: 0, outputWrites: 960 }
  for (const dataflow of ['os', 'ws', 'is'] as const) t.deepEqual(of(dataflow, {}), once)
  // Three parts across, five down.
  t.deepEqual(of('os', { input: 1278 }), { ...once, inputReads: 3 * 640 })
  t.deepEqual(of('os', { input: 1280 }), once)
  t.deepEqual(of('os', { weights: 255 }), { ...once, weightReads: 5 * 384 })
  t.deepEqual(of('os', { weights: 256 }), once)
  // Three across, two down: sums of 40 x 8.
  t.deepEqual(of('ws', { input: 0, output: 639 }), { inputReads: 3 * 640, weightReads: 384, outputReads: 960, outputWrites: 1920 })
  t.deepEqual(of('ws', { output: 640 }), once)
  // Five across, two down: sums of 24 x 8.
  t.deepEqual(of('is', { weights: 767, output: 383 }), { inputReads: 640, weightReads: 5 * 384, outputReads: 960, outputWrites: 1920 })
  t.deepEqual(of('is', { weights: 768, output: 384 }), once)
  // A convolution reads its images, not their windows.
  const image = simulate({ height: 6, width: 6, channels: 2, filters: 5, filterHeight: 3, filterWidth: 3, padding: 1, batch: 2 }, { rows: 8, cols: 8 }).layers[0] as ft.systolic.LayerReport
  t.like(image, { m: 72, n: 5, k: 18, macs: 6480 })
  t.is(image.dram.inputReads, 144)
  t.is(image.sram.inputReads, 72 * 18)
})

test('stalls, bandwidth and energy', (t) => {
  const layer = { m: 32, n: 8, k: 8 }
  const options = { rows: 8, cols: 8, wordBytes: 2 }
  const free = simulate(layer, options).layers[0] as ft.systolic.LayerReport
  const elements = 32 * 8 + 64 + 32 * 8
  t.is(free.cycles, 4 * 22 - 1)
  t.is(free.stalls, 0)
  t.is(free.bandwidth.dram, (2 * elements) / 87)
  const slow = simulate(layer, { ...options, dram: { bandwidth: 4 } })
  t.is(slow.total.stalls, (2 * elements) / 4 - 87)
  t.is(slow.total.utilisation, 2048 / ((2 * elements) / 4) / 64)
  t.is(simulate(layer, { ...options, dram: { bandwidth: free.bandwidth.dram } }).total.stalls, 0)
  const energy = (simulate(layer, { ...options, energy: { mac: 1, sram: 10, dram: 100 } }).layers[0] as ft.systolic.LayerReport).energy
  t.deepEqual(energy, { mac: 2048, sram: 20 * (256 + 256 + 256), dram: 200 * elements, total: 2048 + 15360 + 200 * elements })
  t.true(free.energy.dram > free.energy.sram && free.energy.sram > free.energy.mac)
})

test('tables, bars and sweeps', (t) => {
  const report = simulate([{ name: 'first', m: 64, n: 64, k: 64 }, { name: 'second', m: 8, n: 8, k: 64 }], { rows: 8, cols: 8 })
  const lines = String(report).split('\n')
  t.is(lines.length, 4)
  t.regex(lines[0] as string, /^8 x 8, os\s+MACs\s+cycles\s+stalls\s+use\s+SRAM\s+DRAM\s+B\/cycle\s+pJ$/)
  t.regex(lines[1] as string, /^first\s+262 k\s+4\.99 k\s+0\s+82\.1 %/)
  t.regex(lines[3] as string, /^all\s+266 k\s+5\.07 k/)
  const bars = report.plot().split('\n')
  t.is(bars.length, 2)
  t.is([...(bars[0] as string)].filter((c) => c === '█').length, 33)
  t.is([...(bars[0] as string)].filter((c) => c === '·').length, 7)
  t.regex(bars[1] as string, /^second\s+77\s+83\.1 %\s+█$/)
  const all = sweep([{ m: 64, n: 64, k: 64 }], { sizes: [[8, 8], [16, 4]] })
  t.deepEqual(all.map(({ title }) => title), ['8 x 8, os', '8 x 8, ws', '8 x 8, is', '16 x 4, os', '16 x 4, ws', '16 x 4, is'])
  t.deepEqual(all[4]?.layers, simulate({ name: 'layers[0]', m: 64, n: 64, k: 64 }, { rows: 16, cols: 4, dataflow: 'ws' }).layers)
})

/** The convolutions of ResNet-50 (He et al. 2015, table 1) and its last product. */
function resnet50(): ft.systolic.SystolicLayer[] {
  const layers: ft.systolic.SystolicLayer[] = []
  const conv = (size: number, channels: number, filters: number, window: number, stride = 1): void => void layers.push({ name: `conv ${layers.length + 1}`, height: size, width: size, channels, filters, filterHeight: window, filterWidth: window, stride, padding: window >> 1 })
  conv(224, 3, 64, 7, 2)
  let [size, channels] = [56, 64]
  for (const [blocks, width] of [[3, 64], [4, 128], [6, 256], [3, 512]] as const) {
    for (let block = 0; block < blocks; block++) {
      const stride = block === 0 && width > 64 ? 2 : 1
      conv(size, channels, width, 1)
      conv(size, width, width, 3, stride)
      if (block === 0) conv(size, channels, 4 * width, 1, stride)
      size /= stride
      conv(size, width, 4 * width, 1)
      channels = 4 * width
    }
  }
  return [...layers, { name: 'classes', m: 1, n: 1000, k: 2048 }]
}

test('ResNet-50 on 128 x 128', (t) => {
  const layers = resnet50()
  t.is(layers.length, 54)
  const best = Math.min(...[0, 1, 2].map(() => {
    const before = performance.now()
    simulate(layers, { rows: 128, cols: 128, dataflow: 'ws' })
    return performance.now() - before
  }))
  t.true(best < 50, `${best} ms`)
  // 4.1 billion products, as is known of this network.
  const { total } = simulate(layers, { rows: 128, cols: 128, dataflow: 'ws' })
  t.true(Math.abs(total.macs - 4.09e9) < 0.01e9, String(total.macs))
  t.true(total.utilisation > 0.2 && total.utilisation < 1, String(total.utilisation))
})

const any = <T>(value: unknown): T => value as T
const size = { rows: 8, cols: 8 }
const image = { height: 4, width: 4, channels: 1, filters: 1, filterHeight: 3, filterWidth: 3 }

test('wrong input is a typed error at the call', (t) => {
  for (const [message, call] of [
    [/^systolic\.simulate: 'rows' must be an integer/, () => simulate({ m: 1, n: 1, k: 1 }, any({ cols: 8 }))],
    [/^systolic\.simulate: 'cols' must be at least 1/, () => simulate({ m: 1, n: 1, k: 1 }, { rows: 8, cols: 0 })],
    [/'dataflow' must be one of 'os', 'ws', 'is'/, () => simulate({ m: 1, n: 1, k: 1 }, { ...size, dataflow: any('rs') })],
    [/'layer\.m' must be at least 1/, () => simulate({ m: 0, n: 1, k: 1 }, size)],
    [/'layers\[1\]\.k' must be an integer/, () => simulate([{ m: 1, n: 1, k: 1 }, { m: 1, n: 1, k: 1.5 }], size)],
    [/'layers' must have 1 to/, () => simulate([], size)],
    [/'layer' must be a product/, () => simulate(any(7), size)],
    [/unknown option 'kernel'/, () => simulate(any({ ...image, kernel: 3 }), size)],
    [/'layer\.width' must be an integer, got undefined/, () => simulate(any({ height: 4 }), size)],
    [/filters of 9 x 3 and images of 6 x 6, padding included/, () => simulate({ ...image, filterHeight: 9, padding: 1 }, size)],
    [/'layer\.stride' must be at least 1/, () => simulate({ ...image, stride: 0 }, size)],
    [/more than can be counted/, () => simulate({ m: 2 ** 30, n: 2 ** 30, k: 1 }, size)],
    [/is 4294967296, more than 2147483648/, () => simulate({ m: 2 ** 32, n: 1, k: 1 }, size)],
    [/'sram\.input' must not be negative/, () => simulate({ m: 1, n: 1, k: 1 }, { ...size, sram: { input: -1 } })],
    [/unknown option 'inputs'/, () => simulate({ m: 1, n: 1, k: 1 }, { ...size, sram: any({ inputs: 1 }) })],
    [/'dram\.bandwidth' must be above 0/, () => simulate({ m: 1, n: 1, k: 1 }, { ...size, dram: { bandwidth: 0 } })],
    [/'energy\.mac' must not be negative, got NaN/, () => simulate({ m: 1, n: 1, k: 1 }, { ...size, energy: { mac: NaN } })],
    [/elements are more than 1048576/, () => simulate({ m: 1, n: 1, k: 1 }, { rows: 2 ** 20, cols: 2 })],
    [/^systolic\.sweep: 'sizes' must be an array/, () => sweep({ m: 1, n: 1, k: 1 }, any({}))],
    [/'sizes\[0\]' must be a pair/, () => sweep({ m: 1, n: 1, k: 1 }, { sizes: any([8]) })],
    [/'sizes\[0\]\.rows' must be at least 1/, () => sweep({ m: 1, n: 1, k: 1 }, { sizes: [[0, 1]] })],
    [/'dataflows\[0\]' must be one of/, () => sweep({ m: 1, n: 1, k: 1 }, { sizes: [[1, 1]], dataflows: any(['x']) })]
  ] as const) {
    throws(t, 'ERR_ARGUMENT', message, call)
  }
})

test('one element: no utilisation above 1, and a plot', (t) => {
  const report = simulate({ m: 2, n: 1, k: 1 }, { rows: 1, cols: 1 })
  t.is(report.total.utilisation, 1)
  t.is((report.layers[0] as { utilisation: number }).utilisation, 1)
  t.regex(report.plot(), /100/)
})
