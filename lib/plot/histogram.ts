// How often values are in which range.

import { integer } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { axes, charted } from './chart.js'
import { numbers, vector, type Numbers } from './numbers.js'
import { AXES, layoutOptions, type AxesOptions } from './options.js'
import type { Plot } from './plot.js'
import { scale, scaleOf } from './scale.js'

/** Options of {@link histogram}. */
export interface HistogramOptions extends Omit<AxesOptions, 'logX'> {
  /** How many ranges of the same width, or the increasing edges between them, one more than ranges; 10 by default. */
  readonly bins?: number | Numbers | undefined
}

/** More ranges than any drawing could show. */
const MOST_BINS = 10_000

/** The edges of the ranges. */
function edgesOf(op: string, bins: unknown, values: Float64Array): Float64Array {
  if (bins !== undefined && typeof bins !== 'number') {
    const edges = vector(op, 'bins', bins)
    if (edges.length < 2 || edges.length > MOST_BINS + 1) throw new ArgumentError(`${op}: 'bins' must have from 2 to ${MOST_BINS + 1} edges, got ${edges.length}`)
    if (edges.some((edge, i) => !Number.isFinite(edge) || (i > 0 && edge <= (edges[i - 1] as number)))) throw new ArgumentError(`${op}: 'bins' must be finite and increase, got ${shown([...edges])}`)
    return edges
  }
  const count = bins === undefined ? 10 : integer(op, 'bins', bins)
  if (count < 1 || count > MOST_BINS) throw new ArgumentError(`${op}: 'bins' must be from 1 to ${MOST_BINS}, got ${count}`)
  const { low, high } = scaleOf(false, values)
  // Weights instead of a difference, which may be beyond the largest number.
  return Float64Array.from({ length: count + 1 }, (_, i) => (i === count ? high : low * (1 - i / count) + high * (i / count)))
}

/** The range that a value is in; the last one has its upper edge too, as in NumPy. */
function binOf(edges: Float64Array, value: number): number {
  let [low, high] = [0, edges.length - 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (value < (edges[middle] as number)) high = middle
    else low = middle
  }
  return low
}

/**
 * How many values are in each of some ranges, as boxes. Ranges are half-open but for the last one, as in NumPy; NaN, infinities and what lies beyond
 * the edges are left out, and how many that are is said below. matplotlib `hist`.
 *
 * @param values Numbers of any shape.
 * @throws {ArgumentError} for values that are not numbers, unknown options, and edges that do not increase.
 */
export function histogram(values: Numbers, options?: HistogramOptions): Plot {
  const op = 'plot.histogram'
  const { o, layout } = layoutOptions(op, options, [...AXES.filter((name) => name !== 'logX'), 'bins'])
  const all = numbers(op, 'values', values).values
  const { logY, logX: _, ...labels } = axes(op, o)
  const edges = edgesOf(op, o['bins'], all)
  const [first, last] = [edges[0] as number, edges.at(-1) as number]
  const counts = new Float64Array(edges.length - 1)
  let [notFinite, beyond] = [0, 0]
  for (const value of all) {
    if (!Number.isFinite(value)) notFinite++
    else if (value < first || value > last) beyond++
    else {
      const bin = binOf(edges, value)
      counts[bin] = (counts[bin] as number) + 1
    }
  }
  const most = counts.reduce((max, count) => Math.max(max, count), 1)
  const note = (count: number, why: string): string[] => (count === 0 ? [] : [`left out: ${count} of ${all.length} values, ${why}`])
  return charted({
    ...labels,
    layout,
    names: [],
    x: scale(false, first, last),
    // A count of one has a height on a logarithmic scale too.
    y: scale(logY, logY ? 0.5 : 0, most),
    marks: [{ kind: 'boxes', edges, ys: counts }],
    notes: [...note(notFinite, 'NaN or infinite'), ...note(beyond, 'beyond the edges')]
  })
}
