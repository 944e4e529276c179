// Options that all drawings have, checked.

import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

/** Options of every drawing. */
export interface PlotOptions {
  /** What stands above it. */
  readonly title?: string | undefined
  /** Characters of a line of `text`; by default the width of the terminal, 100 at most, and 80 where there is none. */
  readonly textWidth?: number | undefined
  /** Lines that the drawing itself has in `text`, without title and axes. */
  readonly textHeight?: number | undefined
  /** Whether `text` has colours; by default where standard output is a terminal and NO_COLOR is not set (no-color.org). */
  readonly colors?: boolean | undefined
  /** Pixels of `svg`; 640 by default. */
  readonly width?: number | undefined
  /** Pixels of `svg`; 400 by default. */
  readonly height?: number | undefined
}

/** {@link PlotOptions} of a drawing with two axes. */
export interface AxesOptions extends PlotOptions {
  /** What the x axis shows. */
  readonly xLabel?: string | undefined
  /** What the y axis shows. */
  readonly yLabel?: string | undefined
  /** Whether x is on a logarithmic scale. */
  readonly logX?: boolean | undefined
  /** Whether y is on a logarithmic scale. */
  readonly logY?: boolean | undefined
}

/**
 * Those options as they are used.
 * @internal
 */
export interface Layout {
  readonly title: string
  readonly textWidth: number | undefined
  readonly textHeight: number | undefined
  readonly colors: boolean | undefined
  readonly width: number
  readonly height: number
}

/** Smaller drawings have no room for axes, and larger ones are mistakes. */
const TEXT = { textWidth: [20, 1000], textHeight: [2, 500], width: [100, 20_000], height: [80, 20_000] } as const
export const LAYOUT = ['title', 'textWidth', 'textHeight', 'colors', 'width', 'height'] as const
export const AXES = [...LAYOUT, 'xLabel', 'yLabel', 'logX', 'logY'] as const

function sizeOption(op: string, o: Record<string, unknown>, name: keyof typeof TEXT): number | undefined {
  if (o[name] === undefined) return undefined
  const value = integer(op, name, o[name])
  const [least, most] = TEXT[name]
  if (value < least || value > most) throw new ArgumentError(`${op}: '${name}' must be from ${least} to ${most}, got ${value}`)
  return value
}

/**
 * A text, empty by default.
 * @internal
 */
export function textOption(op: string, o: Record<string, unknown>, name: string): string {
  const value = o[name]
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new ArgumentError(`${op}: '${name}' must be a text, got ${shown(value)}`)
  return value
}

/**
 * A truth value, false by default.
 * @internal
 */
export function flag(op: string, o: Record<string, unknown>, name: string): boolean {
  const value = o[name]
  if (value !== undefined && typeof value !== 'boolean') throw new ArgumentError(`${op}: '${name}' must be a boolean, got ${shown(value)}`)
  return value ?? false
}

/**
 * Texts, numbers too, one for each of `count` things; undefined by default.
 * @internal
 */
export function labelsOption(op: string, o: Record<string, unknown>, name: string, count: number): readonly string[] | undefined {
  const value = o[name]
  if (value === undefined) return undefined
  if (!Array.isArray(value) || !value.every((label) => typeof label === 'string' || typeof label === 'number')) {
    throw new ArgumentError(`${op}: '${name}' must be an array of texts or numbers, got ${shown(value)}`)
  }
  if (value.length !== count) throw new ShapeError(`${op}: '${name}' must have ${count} labels, got ${value.length}`)
  return value.map(String)
}

/**
 * The options of a drawing, of which each has those of {@link PlotOptions}.
 * @internal
 */
export function layoutOptions(op: string, options: unknown, names: readonly string[]): { readonly o: Record<string, unknown>; readonly layout: Layout } {
  const o = checkOptions(op, options, names)
  const colors = o['colors'] === undefined ? undefined : flag(op, o, 'colors')
  const layout = {
    title: textOption(op, o, 'title'),
    textWidth: sizeOption(op, o, 'textWidth'),
    textHeight: sizeOption(op, o, 'textHeight'),
    colors,
    width: sizeOption(op, o, 'width') ?? 640,
    height: sizeOption(op, o, 'height') ?? 400
  }
  return { o, layout }
}
