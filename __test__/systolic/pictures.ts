// Pictures of a product, tick by tick, in text, drawn from the events of a run. What docs/systolic.md shows is compared with them.

import { systolic } from 'ferrotensor'

const CELL = 13

/** What comes in, as a number, or nothing. */
const value = (read: unknown): string => (read === systolic.EMPTY ? '' : String(read))

/** One tick: above each element what comes from the north, before it what comes from the west, in brackets its sum afterwards. */
function picture(events: readonly systolic.ElementEvent[], rows: number, cols: number): string {
  const lines: string[] = [`tick ${events[0]?.tick}`]
  for (let row = 0; row < rows; row++) {
    const cells = events.slice(row * cols, (row + 1) * cols)
    lines.push(cells.map(({ inputs }) => `${' '.repeat(6)}${value(inputs['north']).padStart(3)}`.padEnd(CELL)).join('').trimEnd())
    lines.push(cells.map(({ inputs, stateAfter }) => {
      const west = value(inputs['west'])
      return `${west.padStart(3)}${west === '' ? '  ' : ' >'} [${String((stateAfter as systolic.MacState).acc).padStart(3)}]`.padEnd(CELL)
    }).join('').trimEnd())
  }
  return lines.filter((line) => line !== '').join('\n')
}

/** Rows and columns that begin late by their number: what is not there yet is no value. */
function staggered(a: readonly number[][], b: readonly number[][]): systolic.SystolicArray {
  const late = (values: readonly number[], by: number): unknown[] => [...new Array<unknown>(by).fill(systolic.EMPTY), ...values]
  return systolic.array(a.length, (b[0] as number[]).length).fill(systolic.mac()).connect('west_to_east').connect('north_to_south')
    .input('west', a.map((row, i) => [[i, 0], late(row, i)]))
    .input('north', (b[0] as number[]).map((_, j) => [[0, j], late(b.map((row) => row[j] as number), j)]))
    .trace()
}

/** All ticks of the product of 1..9 and 10..18. */
export function pictures(): string {
  const square = (from: number): number[][] => [0, 3, 6].map((row) => [0, 1, 2].map((col) => from + row + col))
  const { events } = systolic.run(staggered(square(1), square(10)), { ticks: 7 })
  return Array.from({ length: 7 }, (_, tick) => picture(events.at(tick), 3, 3)).join('\n\n')
}
