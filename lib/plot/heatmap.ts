// Matrices as colours or shades: any, and counts of true and predicted classes.

import { ArgumentError, ShapeError } from '../errors.js'
import { printable } from '../text/printable.js'
import { matrix, type Matrix, type Numbers } from './numbers.js'
import { labelsOption, LAYOUT, layoutOptions, textOption, type Layout, type PlotOptions } from './options.js'
import { hex, readable, viridis } from './palette.js'
import { Plot, type Room, type SvgParts } from './plot.js'
import { pngUrl } from './png.js'
import { reduced, shade, SHADES, UNKNOWN } from './shades.js'
import { label, px, rectangle, widthOf } from './svg.js'
import { labels as digits } from './ticks.js'

/** Options of {@link heatmap}. */
export interface HeatmapOptions extends PlotOptions {
  /** A name for each row. */
  readonly rowLabels?: readonly (string | number)[] | undefined
  /** A name for each column. */
  readonly columnLabels?: readonly (string | number)[] | undefined
  /** What the columns are. */
  readonly xLabel?: string | undefined
  /** What the rows are. */
  readonly yLabel?: string | undefined
}

/** Options of {@link confusion}. */
export interface ConfusionOptions extends Omit<PlotOptions, 'textHeight'> {
  /** A name for each class: 0, 1, 2, ... by default. */
  readonly labels?: readonly (string | number)[] | undefined
}

/** A matrix with all that is said of it. */
interface Field extends Matrix {
  readonly low: number
  readonly high: number
  readonly rowLabels: readonly string[] | undefined
  readonly columnLabels: readonly string[] | undefined
  readonly xLabel: string
  readonly yLabel: string
  readonly notes: readonly string[]
}

/** Cells that are rectangles in SVG; more are one picture of pixels, with sides of at most so many. */
const RECTANGLES = 2500
const MOST_SIDE = 4096
/** Cells that have room for their number. */
const NUMBERED = 24
const LINES = 40

/** The least and the greatest finite element; 0 and 1 where there is none. */
function extremes(values: Float64Array): readonly [low: number, high: number] {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return low > high ? [0, 1] : [low, high]
}

/** Where a value is between two others, from 0 to 1; halves, as their difference may be beyond the largest number. */
const partOf = (value: number, low: number, high: number): number => (high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5)

const cell = (part: number, width: number, colors: boolean): string => {
  if (!Number.isFinite(part)) return UNKNOWN.repeat(width)
  if (!colors) return shade(part).repeat(width)
  return `\x1b[48;2;${viridis(part).join(';')}m${' '.repeat(width)}\x1b[49m`
}

function heatmapText(field: Field, { columns: room, lines = LINES, colors }: Room): string[] {
  const { low, high, rowLabels, columnLabels, xLabel, yLabel, notes } = field
  const names = rowLabels?.map(printable)
  const margin = names === undefined ? 0 : Math.min(room >> 1, Math.max(0, ...names.map((name) => name.length)) + 1)
  const fits = Math.max(1, (room - margin) >> 1)
  const [down, across] = [Math.max(1, Math.ceil(field.rows / lines)), Math.max(1, Math.ceil(field.columns / fits))]
  const small = reduced(field, down, across)
  const heads = across === 1 ? columnLabels?.map(printable) : undefined
  const widest = heads === undefined ? 2 : Math.max(2, ...heads.map((name) => name.length + 1))
  const width = small.columns === 0 ? 2 : Math.max(2, Math.min(widest, Math.floor((room - margin) / small.columns)))
  const fitted = (text: string, size: number): string => text.slice(0, Math.max(0, size - 1)).padStart(size)
  const rows = Array.from({ length: small.rows }, (_, row) => {
    const cells = Array.from({ length: small.columns }, (_, column) => cell(partOf(small.values[row * small.columns + column] as number, low, high), width, colors))
    const name = down === 1 ? (names?.[row] ?? '') : ''
    return `${margin === 0 ? '' : `${name.slice(0, margin - 1).padStart(margin - 1)} `}${cells.join('')}`
  })
  const [from, to] = digits([low, high]) as [string, string]
  const scale = colors ? Array.from({ length: 16 }, (_, i) => cell(i / 15, 1, true)).join('') : `${SHADES.join('')}`
  return [
    ...(yLabel === '' && xLabel === '' ? [] : [`${[yLabel, xLabel].filter((text) => text !== '').map(printable).join(' \\ ')}`]),
    ...(heads === undefined ? [] : [`${' '.repeat(margin)}${heads.map((name) => fitted(name, width)).join('')}`]),
    ...rows,
    `${from} ${scale} ${to}`,
    ...(down * across === 1 ? [] : [`each cell is the mean of ${down} x ${across} elements`]),
    ...notes
  ]
}

function heatmapSvg(whole: Field, { width, height, title }: Layout): SvgParts {
  const { low, high, rowLabels, columnLabels, xLabel, yLabel, notes } = whole
  const [down, across] = [Math.max(1, Math.ceil(whole.rows / MOST_SIDE)), Math.max(1, Math.ceil(whole.columns / MOST_SIDE))]
  const { rows, columns, values } = reduced(whole, down, across)
  const said = [...(down * across === 1 ? [] : [`each cell is the mean of ${down} x ${across} elements`]), ...notes]
  const left = 16 + (yLabel === '' ? 0 : 16) + Math.min(width / 3, Math.max(0, ...(rowLabels ?? []).map(widthOf)))
  const top = 14 + (title === '' ? 0 : 24) + (xLabel === '' ? 0 : 16) + (columnLabels === undefined ? 0 : 18)
  const [each, tall] = [Math.max(1, width - left - 80) / Math.max(1, columns), Math.max(20, height - top - 14 - 16 * said.length) / Math.max(1, rows)]
  const numbered = rows <= NUMBERED && columns <= NUMBERED
  const pixels = (): string => {
    const rgba = new Uint8Array(4 * values.length)
    // Where there is no number, nothing is seen.
    values.forEach((value, i) => Number.isFinite(value) && rgba.set([...viridis(partOf(value, low, high)), 255], 4 * i))
    const place = `x="${px(left)}" y="${px(top)}" width="${px(each * columns)}" height="${px(tall * rows)}"`
    return `<image ${place} preserveAspectRatio="none" style="image-rendering:pixelated" href="${pngUrl(columns, rows, rgba)}"/>`
  }
  const rectangles = (): string[] => Array.from(values, (value, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns]
    const [x, y] = [left + column * each, top + row * tall]
    if (!Number.isFinite(value)) return label(x + each / 2, y + tall / 2 + 4, '×', { anchor: 'middle', more: ' fill="#b00"' })
    const color = viridis(partOf(value, low, high))
    const text = Number(value.toPrecision(3)).toString()
    const number = numbered && widthOf(text) < each ? label(x + each / 2, y + tall / 2 + 4, text, { anchor: 'middle', more: ` style="fill:${readable(color)}"` }) : ''
    return rectangle(x, y, each + 0.5, tall + 0.5, hex(color), numbered ? '' : text) + number
  })
  const bottom = top + rows * tall
  const [from, to] = digits([low, high]) as [string, string]
  const bar = Array.from({ length: 32 }, (_, i) => rectangle(width - 62, top + ((31 - i) * (bottom - top)) / 32, 12, (bottom - top) / 32 + 0.5, hex(viridis(i / 31))))
  const body = [
    ...(title === '' ? [] : [label(width / 2, 22, title, { anchor: 'middle', more: ' font-size="15" font-weight="bold"' })]),
    ...(xLabel === '' ? [] : [label(left + (each * columns) / 2, top - (columnLabels === undefined ? 6 : 22), xLabel, { anchor: 'middle' })]),
    ...(yLabel === '' ? [] : [label(14, (top + bottom) / 2, yLabel, { anchor: 'middle', more: ` transform="rotate(-90 14 ${Math.round((top + bottom) / 2)})"` })]),
    ...(down > 1 ? [] : (rowLabels ?? []).map((name, i) => label(left - 6, top + (i + 0.5) * tall + 4, name, { anchor: 'end' }))),
    ...(across > 1 ? [] : (columnLabels ?? []).map((name, i) => label(left + (i + 0.5) * each, top - 6, name, { anchor: 'middle' }))),
    `<g class="marks">${values.length > RECTANGLES ? pixels() : rectangles().join('')}</g>`,
    ...bar,
    label(width - 46, top + 10, to),
    label(width - 46, bottom, from),
    ...said.map((note, i) => label(left, height - 6 - 16 * (said.length - 1 - i), note, { more: ' fill="#777"' }))
  ]
  return { width, height, body: body.join('') }
}

/**
 * A matrix as colours, or in a terminal without them as shades, from its least to its greatest element. NaN and infinities are crosses, and how many
 * there are is said below; of large matrices means of blocks are drawn. matplotlib `imshow` with a colour bar.
 *
 * @param values Numbers [rows, columns].
 * @throws {ShapeError} for other shapes, and another number of labels than rows or columns.
 * @throws {ArgumentError} for values that are not numbers, and unknown options.
 */
export function heatmap(values: Numbers, options?: HeatmapOptions): Plot {
  const op = 'plot.heatmap'
  const { o, layout } = layoutOptions(op, options, [...LAYOUT, 'rowLabels', 'columnLabels', 'xLabel', 'yLabel'])
  const given = matrix(op, 'values', values)
  const [low, high] = extremes(given.values)
  const unknown = given.values.filter((value) => !Number.isFinite(value)).length
  const field: Field = {
    ...given,
    low,
    high,
    rowLabels: labelsOption(op, o, 'rowLabels', given.rows),
    columnLabels: labelsOption(op, o, 'columnLabels', given.columns),
    xLabel: textOption(op, o, 'xLabel'),
    yLabel: textOption(op, o, 'yLabel'),
    notes: unknown === 0 ? [] : [`${UNKNOWN} ${unknown} of ${given.values.length} elements, NaN or infinite`]
  }
  return new Plot(layout, { text: (room) => heatmapText(field, room), svg: () => heatmapSvg(field, layout) })
}

/**
 * Counts by true class (rows) and predicted class (columns), such as `ft.oneHot(truth, n).matrixTranspose().matmul(ft.oneHot(predicted, n))`. In text
 * zeros are dots, so that mistakes stand out. scikit-learn `ConfusionMatrixDisplay`.
 *
 * @param counts Numbers [classes, classes], none negative.
 * @throws {ShapeError} for other shapes, and another number of labels than classes.
 * @throws {ArgumentError} for counts that are not numbers, and unknown options.
 */
export function confusion(counts: Numbers, options?: ConfusionOptions): Plot {
  const op = 'plot.confusion'
  const { o, layout } = layoutOptions(op, options, [...LAYOUT.filter((name) => name !== 'textHeight'), 'labels'])
  const given = matrix(op, 'counts', counts)
  if (given.rows !== given.columns) throw new ShapeError(`${op}: 'counts' must have as many rows as columns, got shape [${given.rows}, ${given.columns}]`)
  const wrong = given.values.find((n) => !Number.isFinite(n) || n < 0)
  if (wrong !== undefined) throw new ArgumentError(`${op}: 'counts' must be finite and not negative, got ${wrong}`)
  const names = labelsOption(op, o, 'labels', given.rows) ?? Array.from({ length: given.rows }, (_, i) => String(i))
  const field: Field = { ...given, low: 0, high: extremes(given.values)[1], rowLabels: names, columnLabels: names, xLabel: 'predicted', yLabel: 'true', notes: [] }
  const text = (): string[] => {
    const own = names.map(printable)
    const numbers = Array.from(given.values, (n) => (n === 0 ? '·' : Number(n.toPrecision(4)).toString()))
    const wide = Math.max(4, ...[...own, ...numbers].map((item) => item.length + 1))
    const head = 'true \\ predicted'
    const margin = Math.max(head.length, ...own.map((name) => name.length))
    const row = (name: string, cells: readonly string[]): string => `${name.padStart(margin)} ${cells.map((item) => item.padStart(wide)).join('')}`
    return [row(head, own), ...own.map((name, i) => row(name, numbers.slice(i * given.columns, (i + 1) * given.columns)))]
  }
  return new Plot(layout, { text, svg: () => heatmapSvg(field, layout) })
}
