// What a product or a convolution takes on an array of a given size: cycles, how much of the array works, traffic of SRAM and DRAM, energy. In closed form: nothing is
// computed tick by tick.

import { checkOptions } from '../arguments/options.js'
import { integer, number, oneOf } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { Dataflow } from './gemm.js'
import { Report } from './report.js'
import { MOST_ELEMENTS, sizeGiven } from './space.js'

/** A product of [m, k] and [k, n]. */
export interface ProductLayer {
  readonly name?: string | undefined
  readonly m: number
  readonly n: number
  readonly k: number
}

/** A convolution of images. */
export interface ConvolutionLayer {
  readonly name?: string | undefined
  readonly height: number
  readonly width: number
  readonly channels: number
  readonly filters: number
  readonly filterHeight: number
  readonly filterWidth: number
  /** Distance of windows; 1 by default. */
  readonly stride?: number | undefined
  /** Places at each side; 0 by default. */
  readonly padding?: number | undefined
  /** Images; 1 by default. */
  readonly batch?: number | undefined
}

/** A layer: a product, or a convolution, which is one of windows and filters. */
export type SystolicLayer = ProductLayer | ConvolutionLayer

/** A layer as a product: the input is [m, k], the weights are [k, n]. */
export interface Product {
  readonly name: string
  readonly m: number
  readonly n: number
  readonly k: number
  /** Elements of the input in memory: of a convolution fewer than the windows have. */
  readonly inputs: number
}

const SIZES = ['height', 'width', 'channels', 'filters', 'filterHeight', 'filterWidth'] as const
/** Sizes beyond it are a mistake. */
const MOST_SIZE = 2 ** 31
const MOST_LAYERS = 2 ** 16

function bounded(op: string, name: string, value: unknown): number {
  const size = sizeGiven(op, name, value)
  if (size > MOST_SIZE) throw new ArgumentError(`${op}: '${name}' is ${size}, more than ${MOST_SIZE}`)
  return size
}

function productOf(op: string, at: string, value: unknown): Product {
  if (typeof value !== 'object' || value === null) throw new ArgumentError(`${op}: '${at}' must be a product { m, n, k } or a convolution { height, width, channels, filters, ... }, got ${shown(value)}`)
  const names = 'm' in value ? ['name', 'm', 'n', 'k'] : ['name', ...SIZES, 'stride', 'padding', 'batch']
  const given = checkOptions(op, value, names)
  const { name = at } = given
  if (typeof name !== 'string') throw new ArgumentError(`${op}: '${at}.name' must be a text, got ${shown(name)}`)
  const size = (key: string): number => bounded(op, `${at}.${key}`, given[key])
  const checked = (product: Product): Product => {
    const { m, n, k } = product
    if (!Number.isSafeInteger(m * n * k)) throw new ArgumentError(`${op}: '${at}' takes ${m * n * k} products, more than can be counted`)
    return product
  }
  if ('m' in value) {
    const [m, n, k] = [size('m'), size('n'), size('k')]
    return checked({ name, m, n, k, inputs: m * k })
  }
  const [height, width, channels, filters, filterHeight, filterWidth] = SIZES.map(size) as [number, number, number, number, number, number]
  const [stride, batch] = (['stride', 'batch'] as const).map((key) => (given[key] === undefined ? 1 : size(key))) as [number, number]
  const padding = given['padding'] === undefined ? 0 : integer(op, `${at}.padding`, given['padding'])
  if (padding < 0 || padding > MOST_SIZE) throw new ArgumentError(`${op}: '${at}.padding' must not be negative, got ${padding}`)
  const [down, across] = [height + 2 * padding - filterHeight, width + 2 * padding - filterWidth]
  if (down < 0 || across < 0) throw new ArgumentError(`${op}: '${at}' has filters of ${filterHeight} x ${filterWidth} and images of ${height + 2 * padding} x ${width + 2 * padding}, padding included`)
  const windows = (Math.floor(down / stride) + 1) * (Math.floor(across / stride) + 1)
  return checked({ name, m: batch * windows, n: filters, k: channels * filterHeight * filterWidth, inputs: batch * height * width * channels })
}

/** The layers of a call. */
function layersGiven(op: string, value: unknown): Product[] {
  if (!Array.isArray(value)) return [productOf(op, 'layer', value)]
  if (value.length === 0 || value.length > MOST_LAYERS) throw new ArgumentError(`${op}: 'layers' must have 1 to ${MOST_LAYERS} layers, got ${value.length}`)
  return Array.from({ length: value.length }, (_, i) => productOf(op, `layers[${i}]`, value[i]))
}

/** Picojoules of one multiply-accumulate, and of moving one byte from or to SRAM and DRAM. */
export interface EnergyTable {
  readonly mac?: number | undefined
  readonly sram?: number | undefined
  readonly dram?: number | undefined
}

/** Bytes of each on-chip memory, one half of which is filled while the other one is read. */
export interface SramSizes {
  readonly input?: number | undefined
  readonly weights?: number | undefined
  readonly output?: number | undefined
}

/** Options of `simulate`. */
export interface SimulateOptions {
  readonly rows: number
  readonly cols: number
  /** Which matrix stays in the elements; `'os'` by default. */
  readonly dataflow?: Dataflow | undefined
  /** 1 MiB each by default. */
  readonly sram?: SramSizes | undefined
  /** Bytes that DRAM moves in a cycle; `bandwidth: Infinity` by default, which never makes the array wait. */
  readonly dram?: { readonly bandwidth?: number | undefined } | undefined
  /** Bytes of an element; 1 by default. */
  readonly wordBytes?: number | undefined
  /** Horowitz (2014) for 8-bit numbers, 1 MiB of SRAM and DRAM in 45 nm by default. */
  readonly energy?: EnergyTable | undefined
}

/** Options of `sweep`: those of `simulate`, but for what is swept. */
export interface SweepOptions extends Omit<SimulateOptions, 'rows' | 'cols' | 'dataflow'> {
  /** Rows and columns of arrays. */
  readonly sizes: readonly (readonly [rows: number, cols: number])[]
  /** All three by default. */
  readonly dataflows?: readonly Dataflow[] | undefined
}

/** Elements that are moved. */
export interface Traffic {
  readonly inputReads: number
  readonly weightReads: number
  readonly outputReads: number
  readonly outputWrites: number
}

/** What a layer takes. */
export interface LayerReport {
  readonly name: string
  readonly dataflow: Dataflow
  readonly rows: number
  readonly cols: number
  readonly m: number
  readonly n: number
  readonly k: number
  /** Products of numbers. */
  readonly macs: number
  /** Parts that go through the array one after the other. */
  readonly folds: number
  /** Cycles of the array, without waiting for DRAM. */
  readonly cycles: number
  /** Cycles that it waits beyond them. */
  readonly stalls: number
  /** Products for each element and cycle, waiting included, from 0 to 1. */
  readonly utilisation: number
  /** The share of elements that have something to do, from 0 to 1, the mean of all parts. */
  readonly mapping: number
  /** Elements to and from the array. */
  readonly sram: Traffic
  /** Elements to and from DRAM. */
  readonly dram: Traffic
  /** Elements a cycle of the array, of SRAM; bytes a cycle, of DRAM: what has to be there for it not to wait. */
  readonly bandwidth: { readonly input: number; readonly weights: number; readonly output: number; readonly dram: number }
  /** In picojoules. */
  readonly energy: { readonly mac: number; readonly sram: number; readonly dram: number; readonly total: number }
}

/** A machine, checked. */
interface Machine {
  readonly rows: number
  readonly cols: number
  readonly dataflow: Dataflow
  readonly sram: Readonly<Record<'input' | 'weights' | 'output', number>>
  readonly bandwidth: number
  readonly wordBytes: number
  readonly energy: Readonly<Record<'mac' | 'sram' | 'dram', number>>
}

const MIB = 2 ** 20
/** Horowitz, "Computing's energy problem", ISSCC 2014: an 8-bit product and a 32-bit sum; 64 bits of 1 MiB of SRAM for 100 pJ, of DRAM for 1300 pJ. */
const HOROWITZ = { mac: 0.2 + 0.1, sram: 100 / 8, dram: 1300 / 8 }

const OPTIONS = ['sram', 'dram', 'wordBytes', 'energy']

function notNegative(op: string, name: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  if (!(number(op, name, value) >= 0)) throw new ArgumentError(`${op}: '${name}' must not be negative, got ${shown(value)}`)
  return value as number
}

/** What does not depend on the array's size. */
function memoriesGiven(op: string, given: Record<string, unknown>): Omit<Machine, 'rows' | 'cols' | 'dataflow'> {
  const table = <K extends string>(name: string, fallbacks: Readonly<Record<K, number>>): Record<K, number> => {
    const keys = Object.keys(fallbacks) as K[]
    const values = checkOptions(op, given[name], keys)
    return Object.fromEntries(keys.map((key) => [key, notNegative(op, `${name}.${key}`, values[key], fallbacks[key])])) as Record<K, number>
  }
  const { bandwidth } = table('dram', { bandwidth: Infinity })
  if (bandwidth === 0) throw new ArgumentError(`${op}: 'dram.bandwidth' must be above 0, got 0`)
  return {
    sram: table('sram', { input: MIB, weights: MIB, output: MIB }),
    bandwidth,
    wordBytes: given['wordBytes'] === undefined ? 1 : sizeGiven(op, 'wordBytes', given['wordBytes']),
    energy: table('energy', HOROWITZ)
  }
}

function arraySize(op: string, name: string, rowsGiven: unknown, colsGiven: unknown): { readonly rows: number; readonly cols: number } {
  const [rows, cols] = [sizeGiven(op, `${name}rows`, rowsGiven), sizeGiven(op, `${name}cols`, colsGiven)]
  if (rows * cols > MOST_ELEMENTS) throw new ArgumentError(`${op}: ${rows} x ${cols} elements are more than ${MOST_ELEMENTS}`)
  return { rows, cols }
}

/**
 * What stays in an array, and what moves through it: the sizes that are divided among rows and columns, how long a part streams, and the ticks of a part beyond that. They
 * are those of SCALE-Sim 3 (Samajdar et al. 2020), which has weights and inputs loaded row by row before they are used.
 */
const FLOWS: Readonly<Record<Dataflow, (product: Product, rows: number, cols: number) => { readonly down: number; readonly across: number; readonly stream: number; readonly fill: number }>> = {
  os: ({ m, n, k }, rows, cols) => ({ down: m, across: n, stream: k, fill: rows + cols - 2 }),
  ws: ({ m, n, k }, rows, cols) => ({ down: k, across: n, stream: m, fill: 2 * rows + cols - 2 }),
  is: ({ m, n, k }, rows, cols) => ({ down: k, across: m, stream: n, fill: 2 * rows + cols - 2 })
}

/** How often each matrix goes to and from the array. */
function sramTraffic(dataflow: Dataflow, { m, n, k }: Product, down: number, across: number): Traffic {
  switch (dataflow) {
    case 'os':
      return { inputReads: m * k * across, weightReads: k * n * down, outputReads: 0, outputWrites: m * n }
    case 'ws':
      return { inputReads: m * k * across, weightReads: k * n, outputReads: m * n * (down - 1), outputWrites: m * n * down }
    case 'is':
      return { inputReads: m * k, weightReads: k * n * across, outputReads: m * n * (down - 1), outputWrites: m * n * down }
  }
}

/**
 * What has to come from DRAM. Parts go down first, then across. A matrix that is gone through several times comes once where it fits into half of its memory, else each time; sums
 * that are not finished stay where those of one column of parts fit into half of theirs, else they go out and come back.
 */
function dramTraffic({ dataflow, sram, wordBytes, cols }: Machine, { m, n, k, inputs }: Product, down: number, across: number): Traffic {
  const fits = (elements: number, memory: number): boolean => elements * wordBytes <= memory / 2
  const times = (elements: number, memory: number, passes: number): number => elements * (fits(elements, memory) ? 1 : passes)
  if (dataflow === 'os') {
    // The weights of one column of parts are read for each part that goes down.
    const weights = fits(k * Math.min(cols, n), sram.weights) ? k * n : k * n * down
    return { inputReads: times(inputs, sram.input, across), weightReads: weights, outputReads: 0, outputWrites: m * n }
  }
  const [stream, wide] = dataflow === 'ws' ? [m, Math.min(cols, n)] : [n, Math.min(cols, m)]
  const kept = down === 1 || fits(stream * wide, sram.output)
  const sums = { outputReads: kept ? 0 : m * n * (down - 1), outputWrites: kept ? m * n : m * n * down }
  return dataflow === 'ws'
    ? { inputReads: times(inputs, sram.input, across), weightReads: k * n, ...sums }
    : { inputReads: inputs, weightReads: times(k * n, sram.weights, across), ...sums }
}

const total = ({ inputReads, weightReads, outputReads, outputWrites }: Traffic): number => inputReads + weightReads + outputReads + outputWrites

function reportOf(machine: Machine, product: Product): LayerReport {
  const { rows, cols, dataflow, wordBytes, bandwidth, energy } = machine
  const { name, m, n, k } = product
  const { down: high, across: wide, stream, fill } = FLOWS[dataflow](product, rows, cols)
  const [down, across] = [Math.ceil(high / rows), Math.ceil(wide / cols)]
  const folds = down * across
  // SCALE-Sim counts cycles from 0, and says the number of the last one.
  const cycles = Math.max(1, folds * (stream + fill) - 1)
  const macs = m * n * k
  const [sram, dram] = [sramTraffic(dataflow, product, down, across), dramTraffic(machine, product, down, across)]
  const bytes = total(dram) * wordBytes
  const stalls = Math.max(0, Math.ceil(bytes / bandwidth) - cycles)
  const spent = { mac: macs * energy.mac, sram: total(sram) * wordBytes * energy.sram, dram: bytes * energy.dram }
  return {
    name, dataflow, rows, cols, m, n, k, macs, folds, cycles, stalls,
    // One cycle less than there are, as above, may leave fewer than there are products for each element.
    utilisation: Math.min(1, macs / ((cycles + stalls) * rows * cols)),
    mapping: (high * wide) / (folds * rows * cols),
    sram,
    dram,
    bandwidth: { input: sram.inputReads / cycles, weights: sram.weightReads / cycles, output: (sram.outputReads + sram.outputWrites) / cycles, dram: bytes / cycles },
    energy: { ...spent, total: spent.mac + spent.sram + spent.dram }
  }
}

/**
 * What layers take on an array of `rows` x `cols` elements: cycles and utilisation, traffic and bandwidth of SRAM and DRAM, and energy, for each layer and for all. Cycles, mapping and
 * SRAM traffic are those of SCALE-Sim 3; DRAM traffic is a model of its own ([docs](docs/systolic.md)). The result prints as a table, and `plot()` as bars.
 *
 * @throws {ArgumentError} for sizes that are no whole numbers from 1, filters larger than their images, unknown dataflows and options.
 * @example
 * ```ts
 * ft.systolic.simulate({ m: 128, n: 128, k: 128 }, { rows: 32, cols: 32, dataflow: 'ws' }).total.cycles // 3551
 * ```
 * ```ts
 * ft.systolic.simulate([{ height: 6, width: 6, channels: 2, filters: 5, filterHeight: 3, filterWidth: 3, stride: 2 }], { rows: 8, cols: 8 }).layers[0].m // 4
 * ```
 */
export function simulate(layers: SystolicLayer | readonly SystolicLayer[], options: SimulateOptions): Report {
  const op = 'systolic.simulate'
  const given = checkOptions(op, options, ['rows', 'cols', 'dataflow', ...OPTIONS])
  const dataflow = given['dataflow'] === undefined ? 'os' : oneOf(op, 'dataflow', given['dataflow'], ['os', 'ws', 'is'])
  const machine: Machine = { ...arraySize(op, '', given['rows'], given['cols']), dataflow, ...memoriesGiven(op, given) }
  return new Report(layersGiven(op, layers).map((product) => reportOf(machine, product)))
}

const MOST_SIZES = 1024

/**
 * What layers take on arrays of several sizes, in several dataflows: a report for each, the first size with all dataflows first.
 *
 * @throws {ArgumentError} as {@link simulate}, and for lists without sizes or dataflows.
 * @example
 * ```ts
 * ft.systolic.sweep({ m: 64, n: 64, k: 64 }, { sizes: [[8, 8], [16, 16]], dataflows: ['os', 'ws'] }).map(({ total }) => total.cycles) // [4991, 5503, 1503, 1759]
 * ```
 */
export function sweep(layers: SystolicLayer | readonly SystolicLayer[], options: SweepOptions): Report[] {
  const op = 'systolic.sweep'
  const given = checkOptions(op, options, ['sizes', 'dataflows', ...OPTIONS])
  const { sizes, dataflows = ['os', 'ws', 'is'] } = given
  for (const [name, list] of [['sizes', sizes], ['dataflows', dataflows]] as const) {
    if (!Array.isArray(list) || list.length === 0 || list.length > MOST_SIZES) throw new ArgumentError(`${op}: '${name}' must be an array of 1 to ${MOST_SIZES} items, got ${shown(list)}`)
  }
  const flows = Array.from(dataflows as readonly unknown[], (flow, i) => oneOf<Dataflow>(op, `dataflows[${i}]`, flow, ['os', 'ws', 'is']))
  const grids = Array.from(sizes as readonly unknown[], (size, i) => {
    if (!Array.isArray(size) || size.length !== 2) throw new ArgumentError(`${op}: 'sizes[${i}]' must be a pair [rows, cols], got ${shown(size)}`)
    return arraySize(op, `sizes[${i}].`, size[0], size[1])
  })
  const memories = memoriesGiven(op, given)
  const products = layersGiven(op, layers)
  if (grids.length * flows.length * products.length > MIB) throw new ArgumentError(`${op}: ${grids.length} sizes, ${flows.length} dataflows and ${products.length} layers are more than ${MIB} reports of layers`)
  return grids.flatMap((grid) => flows.map((dataflow) => new Report(products.map((product) => reportOf({ ...grid, dataflow, ...memories }, product)))))
}
