// Pictures out of numbers: grey ones, and colours.

import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { isTensor } from '../program/node.js'
import { printable } from '../text/printable.js'
import { numbers, type Numbers, type Read } from './numbers.js'
import { labelsOption, LAYOUT, layoutOptions, type PlotOptions } from './options.js'
import { Plot, type Room, type SvgParts } from './plot.js'
import { pngUrl } from './png.js'
import { reduced, shade, UNKNOWN } from './shades.js'
import { label, px, widthOf } from './svg.js'

/** Options of {@link image}. */
export interface ImageOptions extends Omit<PlotOptions, 'textHeight' | 'height'> {
  /** The numbers that are black and white: the least and the greatest of grey pictures, 0 and 1 of coloured ones, 0 and 255 of bytes by default. */
  readonly range?: readonly [low: number, high: number] | undefined
}

/** Options of {@link images}. */
export interface ImagesOptions extends ImageOptions {
  /** What stands below each. */
  readonly captions?: readonly (string | number)[] | undefined
}

/** A picture: parts from 0 to 1, NaN where there is no number. */
interface Picture {
  readonly rows: number
  readonly columns: number
  /** Red, green and blue, or the same grey thrice; each rows x columns. */
  readonly channels: readonly [Float64Array, Float64Array, Float64Array]
  /** From 0 (nothing is seen) to 1. */
  readonly alpha: Float64Array | undefined
  readonly caption: string
}

const GAP = 3
/** Pixels of one of several pictures in SVG, about. */
const ONE_OF_SEVERAL = 150
/** Pixels of a side; larger pictures are files. */
const MOST_SIDE = 4096
const CAPTION = 18

function rangeOption(op: string, value: unknown): readonly [number, number] | undefined {
  if (value === undefined) return undefined
  const ok = Array.isArray(value) && value.length === 2 && value.every(Number.isFinite) && value[0] < value[1]
  if (!ok) throw new ArgumentError(`${op}: 'range' must be two finite numbers, the smaller one first, got ${shown(value)}`)
  return value as unknown as readonly [number, number]
}

/** Rows, columns and channels of a picture. */
function sides(op: string, name: string, { shape }: Read): readonly [rows: number, columns: number, channels: number] {
  const [rows, columns, channels = 1] = shape
  const ok = shape.length === 2 || (shape.length === 3 && (channels === 1 || channels === 3 || channels === 4))
  if (!ok) throw new ShapeError(`${op}: '${name}' must have shape [height, width], or [height, width, channels] with 1, 3 or 4 of them, got [${shape.join(', ')}]`)
  if ((rows as number) > MOST_SIDE || (columns as number) > MOST_SIDE) throw new ShapeError(`${op}: '${name}' has sides of more than ${MOST_SIDE} pixels: [${shape.join(', ')}]`)
  return [rows as number, columns as number, channels]
}

function extremes(reads: readonly Read[]): readonly [number, number] {
  let [low, high] = [Infinity, -Infinity]
  for (const { values } of reads) {
    for (const value of values) {
      if (!Number.isFinite(value)) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  }
  // A picture of one number is in the middle.
  return low < high ? [low, high] : low > high ? [0, 1] : [low - 1, high + 1]
}

function picturesOf(op: string, name: (i: number) => string, list: readonly unknown[], asked: readonly [number, number] | undefined, captions: readonly string[]): Picture[] {
  const reads = list.map((x, i) => numbers(op, name(i), x))
  const all = reads.map((read, i) => sides(op, name(i), read))
  const colored = all.some(([, , channels]) => channels > 1)
  const [low, high] = asked ?? (reads.some(({ bytes }) => bytes) ? [0, 255] : colored ? [0, 1] : extremes(reads))
  return reads.map(({ values }, i) => {
    const [rows, columns, count] = all[i] as readonly [number, number, number]
    const channel = (at: number): Float64Array =>
      Float64Array.from({ length: rows * columns }, (_, n) => {
        const value = values[n * count + at] as number
        return Number.isFinite(value) ? Math.min(1, Math.max(0, (value / 2 - low / 2) / (high / 2 - low / 2))) : NaN
      })
    const first = channel(0)
    const channels = count < 3 ? ([first, first, first] as const) : ([first, channel(1), channel(2)] as const)
    return { rows, columns, channels, alpha: count === 4 ? channel(3) : undefined, caption: captions[i] ?? '' }
  })
}

/** Lines of a picture: with colours two rows of pixels are one of characters, without them a pixel is two characters. */
function pictureText(picture: Picture, room: number, colors: boolean): { readonly lines: string[]; readonly width: number; readonly block: number } {
  const { rows, columns, channels } = picture
  const most = Math.max(1, colors ? room : room >> 1)
  const block = Math.max(1, Math.ceil(columns / most))
  const small = channels.map((values) => reduced({ rows, columns, values }, block, block))
  const [red, green, blue] = small as [(typeof small)[0], (typeof small)[0], (typeof small)[0]]
  const level = (x: number | undefined): number => Math.round(255 * (x ?? 0))
  const color = (at: number): string | undefined => {
    const parts = [red.values[at], green.values[at], blue.values[at]]
    return parts.some((part) => part === undefined || Number.isNaN(part)) ? undefined : parts.map(level).join(';')
  }
  if (!colors) {
    // Luma of ITU-R BT.601.
    const grey = (at: number): number => 0.299 * (red.values[at] as number) + 0.587 * (green.values[at] as number) + 0.114 * (blue.values[at] as number)
    const sign = (part: number): string => (Number.isNaN(part) ? UNKNOWN : shade(part)).repeat(2)
    const lines = Array.from({ length: red.rows }, (_, y) => Array.from({ length: red.columns }, (_, x) => sign(grey(y * red.columns + x))).join(''))
    return { lines, width: 2 * red.columns, block }
  }
  const lines = Array.from({ length: Math.ceil(red.rows / 2) }, (_, line) => {
    const cells = Array.from({ length: red.columns }, (_, x) => {
      const upper = color(2 * line * red.columns + x)
      const lower = 2 * line + 1 < red.rows ? color((2 * line + 1) * red.columns + x) : undefined
      if (upper === undefined) return lower === undefined ? ' ' : `\x1b[38;2;${lower}m▄\x1b[39m`
      return lower === undefined ? `\x1b[38;2;${upper}m▀\x1b[39m` : `\x1b[38;2;${upper};48;2;${lower}m▀\x1b[39;49m`
    })
    return cells.join('')
  })
  return { lines, width: red.columns, block }
}

function picturesText(pictures: readonly Picture[], { columns: room, colors }: Room, notes: readonly string[]): string[] {
  const drawn = pictures.map((picture) => {
    const { lines, width, block } = pictureText(picture, room, colors)
    const caption = printable(picture.caption)
    return { lines, caption, block, width, whole: Math.max(width, caption.length) }
  })
  const out: string[] = []
  for (let from = 0, to = 0; from < drawn.length; from = to) {
    let used = 0
    for (to = from; to < drawn.length; to++) {
      const next = (drawn[to] as (typeof drawn)[0]).whole + (to > from ? GAP : 0)
      if (to > from && used + next > room) break
      used += next
    }
    const row = drawn.slice(from, to)
    const tall = Math.max(...row.map(({ lines }) => lines.length))
    const gap = ' '.repeat(GAP)
    for (let y = 0; y < tall; y++) {
      out.push(row.map(({ lines, width, whole }) => (lines[y] ?? ' '.repeat(width)) + ' '.repeat(whole - width)).join(gap))
    }
    if (row.some(({ caption }) => caption !== '')) out.push(row.map(({ caption, whole }) => caption.padEnd(whole)).join(gap))
    if (to < drawn.length) out.push('')
  }
  const block = Math.max(1, ...drawn.map((picture) => picture.block))
  return [...out, ...(block === 1 ? [] : [`made smaller: a character is the mean of up to ${block} x ${block} pixels`]), ...notes]
}

/** A picture as a PNG inside of the SVG. */
function embedded({ rows, columns, channels, alpha }: Picture): string {
  const rgba = new Uint8Array(4 * rows * columns)
  for (let i = 0; i < rows * columns; i++) {
    const parts = channels.map((values) => values[i] as number)
    // Where there is no number, nothing is seen.
    if (parts.some(Number.isNaN)) continue
    rgba.set([...parts.map((part) => Math.round(255 * part)), Math.round(255 * (alpha?.[i] ?? 1))], 4 * i)
  }
  return pngUrl(columns, rows, rgba)
}

function picturesSvg(pictures: readonly Picture[], width: number, title: string, notes: readonly string[]): SvgParts {
  const wanted = pictures.length === 1 ? Math.min(width - 28, 400) : ONE_OF_SEVERAL
  const body = title === '' ? [] : [label(width / 2, 24, title, { anchor: 'middle', more: ' font-size="15" font-weight="bold"' })]
  let [x, y, tall] = [14, title === '' ? 14 : 38, 0]
  for (const picture of pictures) {
    const { rows, columns, caption } = picture
    // Whole multiples, so that all pixels are of one size; larger pictures shrink to the width.
    const factor = columns <= wanted ? Math.max(1, Math.floor(wanted / Math.max(1, columns))) : Math.min(1, (width - 28) / columns)
    const whole = Math.max(columns * factor, Math.min(width - 28, widthOf(caption)))
    if (x > 14 && x + whole > width - 14) [x, y, tall] = [14, y + tall + 14, 0]
    if (rows > 0 && columns > 0) {
      const place = `x="${px(x)}" y="${px(y)}" width="${px(columns * factor)}" height="${px(rows * factor)}"`
      body.push(`<rect ${place} fill="#eee"/><image ${place} preserveAspectRatio="none" style="image-rendering:pixelated" href="${embedded(picture)}"/>`)
    }
    if (caption !== '') body.push(label(x, y + rows * factor + 14, caption))
    tall = Math.max(tall, rows * factor + (caption === '' ? 0 : CAPTION))
    x += whole + 14
  }
  const end = y + tall + 14
  return { width, height: Math.ceil(end + 16 * notes.length), body: [...body, ...notes.map((note, i) => label(14, end + 12 + 16 * i, note, { more: ' fill="#777"' }))].join('') }
}

/** Options that both functions have. */
const NAMES = [...LAYOUT.filter((name) => name !== 'textHeight' && name !== 'height'), 'range']

function pictured(op: string, name: (i: number) => string, list: readonly unknown[], options: unknown, more: readonly string[]): Plot {
  const { o, layout } = layoutOptions(op, options, [...NAMES, ...more])
  const captions = labelsOption(op, o, 'captions', list.length) ?? []
  const pictures = picturesOf(op, name, list, rangeOption(op, o['range']), captions)
  const [unknown, pixels] = pictures.reduce(
    ([missing, all], { channels }) => [missing + channels[0].filter((_, i) => channels.some((values) => Number.isNaN(values[i]))).length, all + channels[0].length],
    [0, 0]
  )
  const notes = unknown === 0 ? [] : [`left out: ${unknown} of ${pixels} pixels, NaN or infinite`]
  return new Plot(layout, { text: (room) => picturesText(pictures, room, notes), svg: () => picturesSvg(pictures, layout.width, layout.title, notes) })
}

/**
 * A picture. Without colours a pixel is a shade in the terminal; pictures wider than the terminal are made smaller. Pixels with a NaN or an infinity
 * are left out, and how many that are is said below. matplotlib `imshow`.
 *
 * @param x Numbers [height, width] or [height, width, channels] with 1 (grey), 3 (red, green, blue) or 4 (and alpha) channels.
 * @throws {ShapeError} for other shapes, and sides of more than 4,096 pixels.
 * @throws {ArgumentError} for values that are not numbers, and unknown options.
 */
export function image(x: Numbers, options?: ImageOptions): Plot {
  return pictured('plot.image', () => 'x', [x], options, [])
}

/**
 * Pictures side by side, with their captions below; as many in a row as fit. Unless told, all have the same range. torchvision `make_grid`.
 *
 * @param list Pictures as {@link image} takes them; of a tensor the elements of its first axis.
 * @throws {ShapeError} for other shapes, and another number of captions than pictures.
 * @throws {ArgumentError} for an argument that is not a list of pictures, and unknown options.
 */
export function images(list: Numbers | readonly Numbers[], options?: ImagesOptions): Plot {
  const op = 'plot.images'
  if (!Array.isArray(list) && !isTensor(list)) throw new ArgumentError(`${op}: 'list' must be an array of pictures or a tensor of them, got ${shown(list)}`)
  return pictured(op, (i) => `list[${i}]`, [...(list as Iterable<unknown>)], options, ['captions'])
}
