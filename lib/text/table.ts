// Rows of text as aligned columns, for tables in a terminal.

import { stripVTControlCharacters } from 'node:util'

const GAP = '  '

/** What a terminal shows of a cell: colours take no room. */
const width = (cell: string): number => stripVTControlCharacters(cell).length

/**
 * A line for each row, columns aligned.
 *
 * @param sides A letter for each column: `l` left, `r` right.
 * @param rows Cells; those that a row lacks at its end are empty.
 */
export function columns(sides: string, rows: readonly (readonly string[])[]): string[] {
  const widths = [...sides].map((_, at) => rows.reduce((most, row) => Math.max(most, width(row[at] ?? '')), 0))
  const padded = (cell: string, at: number): string => {
    const room = ' '.repeat((widths[at] as number) - width(cell))
    return sides[at] === 'l' ? cell + room : room + cell
  }
  return rows.map((row) => widths.map((_, at) => padded(row[at] ?? '', at)).join(GAP).trimEnd())
}
