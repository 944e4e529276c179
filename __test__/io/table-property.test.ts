// Random tables, written as RFC 4180 says and read back: columns of text with anything in them, integers and fractions, in any order, with any of
// the line ends, and a selection of columns.
// runs on: host; text is read by our own code on the host

import test from 'ava'
import * as ft from 'ferrotensor'

/** A generator of numbers below a bound, from a seed (mulberry32). */
function below(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) % bound
  }
}

const PIECES = ['a', 'B', ' ', '\t', ',', ';', '"', '\n', '\r\n', '\r', '#', 'é', '😀', '\uFEFF', '0', '1.5', '-', 'NA', '\0', "'", '\\']

/** A field as RFC 4180 writes it: in quotes where it must be, and sometimes where it need not. */
function written(field: string, draw: (bound: number) => number, delimiter: string): string {
  const blank = field.trim() === ''
  return blank || field.includes(delimiter) || /["\r\n]/.test(field) || draw(4) === 0 ? `"${field.replaceAll('"', '""')}"` : field
}

interface Column {
  readonly fields: readonly string[]
  /** What is to be read; strings where it is text. */
  readonly expected: readonly (string | number)[]
  readonly type: ft.io.ColumnType | undefined
}

function column(draw: (bound: number) => number, rows: number): Column {
  const list = <T>(make: () => T): T[] => Array.from({ length: rows }, make)
  switch (draw(4)) {
    case 0: {
      const numbers = list(() => draw(2 ** 24) - 2 ** 23)
      return { fields: numbers.map(String), expected: numbers, type: undefined }
    }
    case 1: {
      const numbers = list(() => (draw(5) === 0 ? NaN : (draw(2 ** 31) - 2 ** 30) / 2 ** draw(40)))
      return { fields: numbers.map((x) => (Number.isNaN(x) ? '' : String(x))), expected: numbers, type: 'float64' }
    }
    default: {
      const texts = list(() => Array.from({ length: draw(6) }, () => PIECES[draw(PIECES.length)]).join(''))
      return { fields: texts, expected: texts, type: 'string' }
    }
  }
}

for (let seed = 0; seed < 300; seed++) {
  test(`table ${seed}`, (t) => {
    const draw = below(seed)
    const [rows, width, delimiter] = [draw(12), 1 + draw(6), [',', ';', '\t'][draw(3)] as string]
    const end = ['\n', '\r\n', '\r'][draw(3)] as string
    // Blanks around a name stand in quotes only, and a mark of UTF-8 at the start is none of its letters.
    const names = Array.from({ length: width }, (_, i) => `n${PIECES[draw(PIECES.length)]}${PIECES[draw(PIECES.length)]}${i}`)
    const columns = names.map(() => column(draw, rows))
    const lines = [names, ...Array.from({ length: rows }, (_, row) => columns.map(({ fields }) => fields[row] as string))]
    // An empty line is no row: a lone field that is blank stands in quotes, as every blank one does.
    const quoted = lines.map((line) => line.map((field) => written(field, draw, delimiter)).join(delimiter))
    const csv = new TextEncoder().encode(`${draw(2) === 0 ? '\uFEFF' : ''}${quoted.join(end)}${draw(2) === 0 ? end : ''}`)
    const order = names.map((_, i) => i).sort(() => draw(3) - 1).slice(0, 1 + draw(width))
    const dtype = Object.fromEntries(columns.flatMap(({ type }, i) => (type === undefined ? [] : [[names[i] as string, type]])))
    const table = ft.io.loadTableSync(csv, { delimiter, dtype, columns: draw(2) === 0 ? order : order.map((i) => names[i] as string) })
    t.deepEqual(Object.keys(table), order.map((i) => names[i]))
    for (const i of order) {
      const { expected, type } = columns[i] as Column
      const found = table[names[i] as string] as ft.io.TableColumn
      t.deepEqual(Array.isArray(found) ? found : found.toArray(), expected as unknown, names[i])
      if (type !== 'string') t.is((found as ft.Tensor).dtype, type ?? 'float32')
    }
  })
}
