// Dots of a terminal: a character of braille has two by four.

import { painted } from './palette.js'

/** U+2800 and the bit of the dot at [y][x] above it (Unicode, chapter 21.1). */
const BRAILLE = 0x2800
const BIT = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80]
] as const

/** Signs of several things where there are no colours. */
export const SIGNS = ['•', '+', '×', '○', '*', '#'] as const

/** A field of dots. */
export class Dots {
  readonly width: number
  readonly height: number
  readonly #columns: number
  readonly #bits: Uint8Array
  /** The thing that a character belongs to: the last one that had a dot there. */
  readonly #owners: Uint8Array

  constructor(columns: number, lines: number) {
    this.#columns = columns
    this.width = 2 * columns
    this.height = 4 * lines
    this.#bits = new Uint8Array(columns * lines)
    this.#owners = new Uint8Array(columns * lines)
  }

  /** Sets the dot at places from 0 to 1, from the left and from below. */
  dot(x: number, y: number, owner: number): void {
    this.#set(this.#column(x), this.#row(y), owner)
  }

  /** Sets the dots between two places (J. E. Bresenham, 1965). */
  line(x1: number, y1: number, x2: number, y2: number, owner: number): void {
    let [x, y] = [this.#column(x1), this.#row(y1)]
    const [toX, toY] = [this.#column(x2), this.#row(y2)]
    const [dx, dy] = [Math.abs(toX - x), -Math.abs(toY - y)]
    const [stepX, stepY] = [x < toX ? 1 : -1, y < toY ? 1 : -1]
    let error = dx + dy
    for (;;) {
      this.#set(x, y, owner)
      if (x === toX && y === toY) return
      const twice = 2 * error
      if (twice >= dy) {
        error += dy
        x += stepX
      }
      if (twice <= dx) {
        error += dx
        y += stepY
      }
    }
  }

  /** Sets all dots of a rectangle. */
  fill(x1: number, y1: number, x2: number, y2: number, owner: number): void {
    const [left, right] = [this.#column(x1), this.#column(x2)]
    const [top, bottom] = [this.#row(Math.max(y1, y2)), this.#row(Math.min(y1, y2))]
    for (let y = top; y <= bottom; y++) for (let x = left; x <= right; x++) this.#set(x, y, owner)
  }

  /** A text for each line of characters. With `signs`, a character with dots is its owner's sign. */
  lines(colors: boolean, signs: boolean): string[] {
    return Array.from({ length: this.height / 4 }, (_, line) => {
      let [text, run, of] = ['', '', 0]
      // Neighbours of one thing have their colour once.
      const end = (): void => {
        text += colors && run.trim() !== '' ? painted(of, run) : run
        run = ''
      }
      for (let at = line * this.#columns; at < (line + 1) * this.#columns; at++) {
        const [bits, owner] = [this.#bits[at] as number, this.#owners[at] as number]
        if (bits !== 0 && owner !== of) end()
        if (bits !== 0) of = owner
        run += bits === 0 ? ' ' : signs ? SIGNS[owner % SIGNS.length] : String.fromCodePoint(BRAILLE + bits)
      }
      run = run.trimEnd()
      end()
      return text
    })
  }

  #column(x: number): number {
    return Math.round(x * (this.width - 1))
  }

  #row(y: number): number {
    return Math.round((1 - y) * (this.height - 1))
  }

  #set(x: number, y: number, owner: number): void {
    const at = (y >> 2) * this.#columns + (x >> 1)
    this.#bits[at] = (this.#bits[at] as number) | (BIT[y & 3] as (typeof BIT)[number])[(x & 1) as 0 | 1]
    this.#owners[at] = owner
  }
}
