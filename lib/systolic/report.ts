// What a simulation found, as numbers, as a table of text, and as bars.

import { columns } from '../text/table.js'
import { metric, percent } from '../text/units.js'
import type { LayerReport } from './simulate.js'

/** What all layers take together. */
export interface Total {
  readonly macs: number
  readonly cycles: number
  readonly stalls: number
  /** Products for each element and cycle, from 0 to 1. */
  readonly utilisation: number
  /** Bytes a cycle that DRAM moves on the average, while the array does not wait. */
  readonly dramBandwidth: number
  /** Elements to and from SRAM and DRAM. */
  readonly sram: number
  readonly dram: number
  /** In picojoules. */
  readonly energy: number
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
const moved = ({ inputReads, weightReads, outputReads, outputWrites }: LayerReport['sram']): number => inputReads + weightReads + outputReads + outputWrites

/** Right-aligned columns but for the first. */
const table = (rows: readonly (readonly string[])[]): string => columns(`l${'r'.repeat((rows[0] as readonly string[]).length - 1)}`, rows).join('\n')

/** Characters of the longest bar. */
const BAR = 40

/** What layers take on an array. Prints as a table. */
export class Report {
  readonly layers: readonly LayerReport[]
  readonly total: Total

  /** @internal */
  constructor(layers: readonly LayerReport[]) {
    const [{ rows, cols }] = layers as [LayerReport]
    const all = (of: (layer: LayerReport) => number): number => sum(layers.map(of))
    const [macs, cycles, stalls] = [all((layer) => layer.macs), all((layer) => layer.cycles), all((layer) => layer.stalls)]
    this.layers = layers
    this.total = {
      macs, cycles, stalls,
      utilisation: Math.min(1, macs / ((cycles + stalls) * rows * cols)),
      dramBandwidth: all((layer) => layer.bandwidth.dram * layer.cycles) / cycles,
      sram: all((layer) => moved(layer.sram)),
      dram: all((layer) => moved(layer.dram)),
      energy: all((layer) => layer.energy.total)
    }
  }

  /** The array and the dataflow, in a few words. */
  get title(): string {
    const [{ rows, cols, dataflow }] = this.layers as [LayerReport]
    return `${rows} x ${cols}, ${dataflow}`
  }

  /** A row for each layer, and one for all: products, cycles, waiting, utilisation, elements of SRAM and DRAM, bytes of DRAM a cycle, energy in pJ. */
  toString(): string {
    const { macs, cycles, stalls, utilisation, sram, dram, dramBandwidth, energy } = this.total
    const rows = this.layers.map((layer) => [layer.name, metric(layer.macs), metric(layer.cycles), metric(layer.stalls), percent(layer.utilisation), metric(moved(layer.sram)), metric(moved(layer.dram)), layer.bandwidth.dram.toFixed(2), metric(layer.energy.total)])
    return table([
      [this.title, 'MACs', 'cycles', 'stalls', 'use', 'SRAM', 'DRAM', 'B/cycle', 'pJ'],
      ...rows,
      ['all', metric(macs), metric(cycles), metric(stalls), percent(utilisation), metric(sram), metric(dram), dramBandwidth.toFixed(2), metric(energy)]
    ])
  }

  /** A bar for each layer, as long as its cycles: full blocks are those in which the whole array would have to work, dots the rest. */
  plot(): string {
    const longest = Math.max(...this.layers.map(({ cycles, stalls }) => cycles + stalls))
    return table(this.layers.map(({ name, cycles, stalls, utilisation }) => [name, metric(cycles + stalls), percent(utilisation), this.#bar((BAR * (cycles + stalls)) / longest, utilisation)]))
  }

  #bar(length: number, utilisation: number): string {
    const characters = Math.max(1, Math.round(length))
    const full = Math.round(characters * utilisation)
    return `${'█'.repeat(full)}${'·'.repeat(characters - full)}`.padEnd(BAR)
  }
}
