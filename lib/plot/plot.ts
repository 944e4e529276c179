// What every drawing function returns: a drawing that is text for a terminal and SVG for everything else.

import { writeFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import { FileError } from '../errors.js'
import type { FilePath } from '../io/io.js'
import { target } from '../io/transfer.js'
import { printable } from '../text/printable.js'
import type { Layout } from './options.js'

/**
 * The room that a text has.
 * @internal
 */
export interface Room {
  readonly columns: number
  /** Of the drawing itself; undefined where it decides. */
  readonly lines: number | undefined
  readonly colors: boolean
}

/**
 * A drawing, once for each form.
 * @internal
 */
export interface Drawing {
  readonly text: (room: Room) => readonly string[]
  /** Elements inside of a picture of `layout.width` x `layout.height` pixels, or of the size that is returned. */
  readonly svg: () => SvgParts
}

/**
 * The elements of a picture, and its size in pixels.
 * @internal
 */
export interface SvgParts {
  readonly width: number
  readonly height: number
  readonly body: string
}

/** Lines are no longer than this in wide terminals by default. */
const WIDEST = 100
const WITHOUT_TERMINAL = 80

/** Whether standard output shows colours. */
const coloured = (): boolean => process.stdout.isTTY === true && !process.env['NO_COLOR']

/** A drawing: `text` for a terminal, `svg` for files and pages. Printed with `console.log`, it is its text. */
export class Plot {
  readonly #layout: Layout
  readonly #drawing: Drawing

  /** @internal */
  constructor(layout: Layout, drawing: Drawing) {
    this.#layout = layout
    this.#drawing = drawing
  }

  /** Lines of characters, as wide as the terminal is now unless `textWidth` says otherwise. */
  get text(): string {
    const { textWidth, textHeight, colors, title } = this.#layout
    const terminal = process.stdout.isTTY === true ? Math.min(WIDEST, process.stdout.columns || WITHOUT_TERMINAL) : WITHOUT_TERMINAL
    const lines = this.#drawing.text({ columns: Math.max(20, textWidth ?? terminal), lines: textHeight, colors: colors ?? coloured() })
    return [...(title === '' ? [] : [printable(title)]), ...lines].map((line) => line.trimEnd()).join('\n')
  }

  /** A whole SVG document, which names no other file. */
  get svg(): string {
    const { width, height, body } = this.#drawing.svg()
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#222">` +
      `<rect width="${width}" height="${height}" fill="#fff"/>${body}</svg>\n`
    )
  }

  /**
   * Writes {@link Plot.svg} to a file, which is replaced where there is one.
   *
   * @throws {FileError} where the system refuses.
   */
  async saveSvg(path: FilePath): Promise<void> {
    const file = target('Plot.saveSvg', path)
    try {
      await writeFile(file, this.svg)
    } catch (error) {
      throw new FileError(`Plot.saveSvg: ${(error as Error).message}`, { cause: error })
    }
  }

  /** The text. */
  toString(): string {
    return this.text
  }

  /** @internal */
  [inspect.custom](): string {
    return this.text
  }
}
