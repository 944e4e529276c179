// Lines and points over two axes.

import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { axes, charted, leftOut, type Mark } from './chart.js'
import { areNumbers, numbers, vector, type Numbers } from './numbers.js'
import { AXES, labelsOption, layoutOptions, type AxesOptions } from './options.js'
import type { Plot } from './plot.js'
import { scaleOf } from './scale.js'

/** Options of {@link lines}. */
export interface LinesOptions extends AxesOptions {
  /** The x of each point, for all lines: 0, 1, 2, ... by default. */
  readonly x?: Numbers | undefined
  /** A name for each line, for the legend; of an object they are its keys. */
  readonly labels?: readonly (string | number)[] | undefined
}

/** Options of {@link scatter}. */
export interface ScatterOptions extends AxesOptions {
  /** A class for each point, an integer from 0: each has its colour. */
  readonly classes?: Numbers | undefined
  /** A name for each class, for the legend. */
  readonly labels?: readonly (string | number)[] | undefined
}

/** Numbers of one line or of several: rows of two axes, items of an array, properties of an object, which have names. */
export type Series = Numbers | readonly Numbers[] | Readonly<Record<string, Numbers>>

/** The lines that were given, with their names where they have some. */
function seriesOf(op: string, y: unknown): { readonly name: string | undefined; readonly values: Float64Array }[] {
  if (areNumbers(y)) {
    // Arrays of different lengths are lines of different lengths.
    const nested = Array.isArray(y) && y.length > 0 && y.every(Array.isArray)
    if (nested) return y.map((values, i) => ({ name: undefined, values: vector(op, `y[${i}]`, values) }))
    const { shape, values } = numbers(op, 'y', y)
    if (shape.length === 1) return [{ name: undefined, values }]
    if (shape.length !== 2) throw new ShapeError(`${op}: 'y' must have one axis, or two with a line in each row, got shape [${shape.join(', ')}]`)
    const length = shape[1] as number
    return Array.from({ length: shape[0] as number }, (_, row) => ({ name: undefined, values: values.subarray(row * length, (row + 1) * length) }))
  }
  if (Array.isArray(y)) return y.map((values, i) => ({ name: undefined, values: vector(op, `y[${i}]`, values) }))
  if (typeof y !== 'object' || y === null || Symbol.iterator in y) throw new ArgumentError(`${op}: 'y' must be numbers, an array or an object of such, got ${shown(y)}`)
  return Object.entries(y).map(([name, values]) => ({ name, values: vector(op, `y.${name}`, values) }))
}

/**
 * Lines through points, from left to right as they are given: a loss over steps, a function. A line breaks at NaN, at infinities, and on logarithmic
 * scales at numbers that are not positive; a line below the chart says how many. matplotlib `plot`.
 *
 * @param y Numbers of one line [n], several as rows [lines, n], an array of lines of any lengths, or an object of them by name.
 * @throws {ShapeError} for other shapes, and `x` of another length than a line.
 * @throws {ArgumentError} for values that are not numbers, and unknown options.
 */
export function lines(y: Series, options?: LinesOptions): Plot {
  const op = 'plot.lines'
  const { o, layout } = layoutOptions(op, options, [...AXES, 'x', 'labels'])
  const series = seriesOf(op, y)
  const { logX, logY, ...labels } = axes(op, o)
  const names = labelsOption(op, o, 'labels', series.length) ?? series.flatMap(({ name }) => (name === undefined ? [] : [name]))
  const longest = series.reduce((most, { values }) => Math.max(most, values.length), 0)
  const x = o['x'] === undefined ? Float64Array.from({ length: longest }, (_, i) => i) : vector(op, 'x', o['x'])
  const wrong = o['x'] === undefined ? undefined : series.find(({ values }) => values.length !== x.length)
  if (wrong !== undefined) throw new ShapeError(`${op}: 'x' has ${x.length} elements, a line has ${wrong.values.length}`)
  const pairs = series.map(({ values }) => [x.subarray(0, values.length), values] as const)
  return charted({
    ...labels,
    layout,
    names,
    x: scaleOf(logX, x),
    y: scaleOf(logY, ...series.map(({ values }) => values)),
    marks: pairs.map(([xs, ys]): Mark => ({ kind: 'line', xs, ys })),
    notes: leftOut(pairs, logX, logY)
  })
}

/**
 * Points, each at its x and y. Those with a NaN or an infinity, and on logarithmic scales those that are not positive, are left out; how many is
 * said below. matplotlib `scatter`.
 *
 * @param x Numbers [n].
 * @param y Numbers [n].
 * @throws {ShapeError} for other shapes, and different lengths.
 * @throws {ArgumentError} for values that are not numbers, unknown options, and classes that are not integers from 0 to 255.
 */
export function scatter(x: Numbers, y: Numbers, options?: ScatterOptions): Plot {
  const op = 'plot.scatter'
  const { o, layout } = layoutOptions(op, options, [...AXES, 'classes', 'labels'])
  const [xs, ys] = [vector(op, 'x', x), vector(op, 'y', y)]
  if (xs.length !== ys.length) throw new ShapeError(`${op}: 'x' has ${xs.length} elements, 'y' has ${ys.length}`)
  const { logX, logY, ...labels } = axes(op, o)
  const classes = o['classes'] === undefined ? new Float64Array(ys.length) : vector(op, 'classes', o['classes'])
  if (classes.length !== ys.length) throw new ShapeError(`${op}: 'classes' has ${classes.length} elements, 'y' has ${ys.length}`)
  const wrong = classes.find((n) => !Number.isInteger(n) || n < 0 || n > 255)
  if (wrong !== undefined) throw new ArgumentError(`${op}: 'classes' must be integers from 0 to 255, got ${wrong}`)
  const count = classes.reduce((most, n) => Math.max(most, n), 0) + 1
  const names = labelsOption(op, o, 'labels', count) ?? (o['classes'] === undefined ? [] : Array.from({ length: count }, (_, n) => String(n)))
  const of = (values: Float64Array, n: number): Float64Array => values.filter((_, i) => classes[i] === n)
  return charted({
    ...labels,
    layout,
    names,
    x: scaleOf(logX, xs),
    y: scaleOf(logY, ys),
    marks: Array.from({ length: count }, (_, n): Mark => ({ kind: 'points', xs: of(xs, n), ys: of(ys, n) })),
    notes: leftOut([[xs, ys]], logX, logY)
  })
}
