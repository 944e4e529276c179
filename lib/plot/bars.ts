// A bar for each of several things, one below the other.

import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { printable } from '../text/printable.js'
import { areNumbers, numbers, vector, type Numbers } from './numbers.js'
import { labelsOption, LAYOUT, layoutOptions, textOption, type PlotOptions } from './options.js'
import { colorOf, painted } from './palette.js'
import { Plot, type Room, type SvgParts } from './plot.js'
import { label, rectangle, stroke, widthOf } from './svg.js'

/** Options of {@link bars}. */
export interface BarsOptions extends Omit<PlotOptions, 'textHeight' | 'height'> {
  /** A name for each bar: 0, 1, 2, ... by default; of an object they are its keys. */
  readonly labels?: readonly (string | number)[] | undefined
  /** What the bars show. */
  readonly xLabel?: string | undefined
}

/** What is drawn. */
interface Bars {
  readonly names: readonly string[]
  /** The values in digits. */
  readonly numbers: readonly string[]
  /** Lengths as parts of the axis, to the left where they are negative. */
  readonly parts: readonly number[]
  /** Where zero is on the axis, from 0 to 1. */
  readonly zero: number
}

/** More bars than anybody reads. */
const MOST_BARS = 1000
/** Characters of a name in a terminal. */
const NAME = 24
/** Eighths of a character, from the left (Unicode, block elements). */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
/** Pixels of a bar with its gap. */
const PITCH = 22

const written = (value: number): string => (Number.isFinite(value) ? Number(value.toPrecision(4)).toString() : `${value} (left out)`)

function barsText({ names, numbers, parts, zero: place }: Bars, { columns, colors }: Room): string[] {
  const cut = (name: string): string => (name.length <= NAME ? name : `${name.slice(0, NAME - 3)}...`)
  const own = names.map((name) => cut(printable(name)))
  const margin = own.reduce((most, name) => Math.max(most, [...name].length), 0)
  const room = Math.max(4, columns - margin - 3 - numbers.reduce((most, { length }) => Math.max(most, length), 0))
  const zero = Math.round(place * room)
  return own.map((name, i) => {
    const part = parts[i] as number
    // Eighths there are to the right alone. What is not zero shows.
    const eighths = part > 0 ? Math.min(8 * (room - zero), Math.max(1, Math.round(8 * room * part))) : 0
    const cells = part < 0 ? Math.min(zero, Math.max(1, Math.round(-part * room))) : 0
    const bar = `${' '.repeat(zero - cells)}${'█'.repeat(cells)}${'█'.repeat(eighths >> 3)}${EIGHTHS[eighths & 7]}`
    return `${' '.repeat(margin - [...name].length)}${name} │${colors ? painted(0, bar) : bar} ${numbers[i]}`
  })
}

function barsSvg({ names, numbers, parts, zero: place }: Bars, width: number, title: string, xLabel: string): SvgParts {
  const left = 20 + Math.min(width / 3, names.reduce((most, name) => Math.max(most, widthOf(name)), 0))
  const right = 14 + widthOf('-0.000e+100')
  const room = Math.max(40, width - left - right)
  const top = title === '' ? 12 : 38
  const zero = left + place * room
  const rows = names.map((name, i) => {
    const y = top + i * PITCH
    const to = zero + (parts[i] as number) * room
    return (
      label(left - 8, y + 14, name, { anchor: 'end' }) +
      rectangle(Math.min(zero, to), y + 3, Math.abs(to - zero), PITCH - 6, colorOf(0)) +
      label(Math.max(zero, to) + 6, y + 14, numbers[i] as string)
    )
  })
  const floor = top + names.length * PITCH
  const body = [
    ...(title === '' ? [] : [label(width / 2, 24, title, { anchor: 'middle', more: ' font-size="15" font-weight="bold"' })]),
    `<g class="marks">${rows.join('')}</g>`,
    stroke(zero, top, zero, floor, '#888'),
    ...(xLabel === '' ? [] : [label(left + room / 2, floor + 18, xLabel, { anchor: 'middle' })])
  ]
  return { width, height: floor + (xLabel === '' ? 12 : 30), body: body.join('') }
}

/**
 * A bar for each number, from zero to it, with its name and value. NaN and infinities have no bar and say so. matplotlib `barh`.
 *
 * @param values Numbers [n], or an object of numbers by name.
 * @throws {ShapeError} for other shapes, more than 1,000 bars, and another number of labels.
 * @throws {ArgumentError} for values that are not numbers, and unknown options.
 */
export function bars(values: Numbers | Readonly<Record<string, number | bigint>>, options?: BarsOptions): Plot {
  const op = 'plot.bars'
  const { o, layout } = layoutOptions(op, options, [...LAYOUT.filter((name) => name !== 'textHeight' && name !== 'height'), 'labels', 'xLabel'])
  const named = !areNumbers(values) && !Array.isArray(values)
  if (named && (typeof values !== 'object' || values === null || Symbol.iterator in values)) throw new ArgumentError(`${op}: 'values' must be numbers or an object of numbers, got ${shown(values)}`)
  const list = named ? numbers(op, 'values', Object.values(values as object)).values : vector(op, 'values', values)
  if (list.length > MOST_BARS) throw new ShapeError(`${op}: ${list.length} bars are more than ${MOST_BARS}; lines or a histogram show so many`)
  const names = labelsOption(op, o, 'labels', list.length) ?? (named ? Object.keys(values as object) : Array.from(list, (_, i) => String(i)))
  const finite = list.filter(Number.isFinite)
  const [low, high] = [finite.reduce((a, b) => Math.min(a, b), 0), finite.reduce((a, b) => Math.max(a, b), 0)]
  // Halves, as the difference may be beyond the largest number; where all are zero there is no bar to measure.
  const range = high / 2 - low / 2
  const part = (value: number): number => (range > 0 && Number.isFinite(value) ? value / 2 / range : 0)
  const drawn = { names, numbers: Array.from(list, written), parts: Array.from(list, part), zero: -part(low) }
  const xLabel = textOption(op, o, 'xLabel')
  return new Plot(layout, {
    text: (room) => [...(xLabel === '' ? [] : [printable(xLabel)]), ...barsText(drawn, room)],
    svg: () => barsSvg(drawn, layout.width, layout.title, xLabel)
  })
}
