// Pictures made of characters: a progress bar, loss curves, a confusion matrix, and digits. All but the bar are pure functions
// that return lines.

import type { Progress } from 'ferrotensor'
import { SIDE } from './data.js'

const BAR = 30
/** Without a terminal a bar would fill log files: a few lines do. */
const SPARSE_LINES = 4

export class ProgressBar {
  readonly #label: string
  readonly #out: NodeJS.WriteStream

  constructor(label: string, out: NodeJS.WriteStream = process.stdout) {
    this.#label = label
    this.#out = out
  }

  update({ done, total, label }: Progress): void {
    const full = Math.round((done / total) * BAR)
    const line = `${this.#label} ${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${done}/${total}  ${label}`
    if (this.#out.isTTY) this.#out.write(`\r\x1b[2K${line}${done === total ? '\n' : ''}`)
    else if (done % Math.ceil(total / SPARSE_LINES) === 0 || done === total) this.#out.write(`${line}\n`)
  }
}

const CURVE_COLUMNS = 60
const CURVE_ROWS = 10
/** A braille character is 2 dots wide and 4 high; bit of the dot at [y][x] above U+2800 (Unicode, chapter 21.1). */
const BRAILLE = 0x2800
const DOT = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80]
] as const

/** A curve over 1, 2, ... with both axes; the logarithmic y axis shows the late, small changes too. */
export function curve(title: string, values: readonly number[]): string[] {
  const logs = values.map(Math.log)
  const [low, high] = [Math.min(...logs), Math.max(...logs)]
  const [width, height] = [CURVE_COLUMNS * 2, CURVE_ROWS * 4]
  const cells = Array.from({ length: CURVE_ROWS }, () => new Uint8Array(CURVE_COLUMNS))
  const dotAt = (x: number) => {
    const place = (x / (width - 1)) * (logs.length - 1)
    const [before, after] = [Math.floor(place), Math.ceil(place)].map((i) => logs[i] as number) as [number, number]
    const value = before + (after - before) * (place % 1)
    return Math.round((1 - (value - low) / (high - low || 1)) * (height - 1))
  }
  for (let x = 0, before = dotAt(0); x < width; x++) {
    const y = dotAt(x)
    // Vertical strokes join neighbours that are far apart.
    for (let at = Math.min(y, before); at <= Math.max(y, before); at++) {
      const row = cells[at >> 2] as Uint8Array
      row[x >> 1] = (row[x >> 1] as number) | (DOT[at & 3] as readonly [number, number])[(x & 1) as 0 | 1]
    }
    before = y
  }
  const labelAt = (row: number) => Math.exp(high - (row / (CURVE_ROWS - 1)) * (high - low)).toFixed(3)
  const lines = cells.map((row, i) => {
    const label = i % 3 === 0 ? labelAt(i) : ''
    return `${label.padStart(8)} ┤${String.fromCodePoint(...Array.from(row, (bits) => BRAILLE + bits))}`
  })
  const last = String(values.length)
  return [title, ...lines, `${' '.repeat(9)}└${'─'.repeat(CURVE_COLUMNS)}`, `${' '.repeat(10)}1${last.padStart(CURVE_COLUMNS - 1)}  epoch`]
}

/** Counts by true digit (rows) and predicted digit (columns); zeros are left out so that mistakes stand out. */
export function confusionMatrix(counts: readonly (readonly number[])[]): string[] {
  const cell = (text: string | number) => String(text).padStart(4)
  const head = `true \\ read ${counts.map((_, digit) => cell(digit)).join('')}`
  return [head, ...counts.map((row, digit) => `${cell(digit).padStart(11)} ${row.map((n) => cell(n === 0 ? '·' : n)).join('')}`)]
}

export interface Picture {
  /** 64 numbers from 0 to 1, row-major. */
  readonly pixels: ArrayLike<number>
  readonly caption: string
}

const SHADES = ' ░▒▓█'
const GAP = '   '

/** Pictures side by side, captions below; a pixel is two characters wide, as characters are twice as high. */
export function pictures(list: readonly Picture[]): string[] {
  const shade = (value: number) => (SHADES[Math.min(SHADES.length - 1, Math.floor(value * SHADES.length))] as string).repeat(2)
  const rows = Array.from({ length: SIDE }, (_, y) =>
    list.map(({ pixels }) => Array.from({ length: SIDE }, (_, x) => shade(pixels[y * SIDE + x] as number)).join('')).join(GAP)
  )
  return [...rows, list.map(({ caption }) => caption.padEnd(2 * SIDE)).join(GAP)]
}
