// The rows of shapes.bench.ts: operands, calls, what NumPy or SciPy calls it, and the loop that a user would write instead.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { checksum } from '../checksum.js'
import { repeat, type Contender } from '../race.js'

export type Shapes = ReturnType<typeof makeShapes>

type Loop = (shapes: Shapes) => readonly ArrayLike<number>[]

export interface Row {
  readonly name: string
  readonly run: (shapes: Shapes) => object
  readonly numpy?: string
  readonly loop?: Loop
  /** Of checksums, relative. */
  readonly tolerance?: number
}

/** Operands, `less` times smaller where a bench only has to run. */
export function makeShapes(less: number) {
  const key = ft.random.key(1)
  let draws = 0
  const uniform = (shape: readonly number[], low = -2, high = 2): Tensor<'float32'> => ft.random.uniform(ft.random.fold(key, draws++), shape, { low, high })
  const thousand = 1000 / less
  const all = {
    points: uniform([1000 * thousand, 3]),
    eights: uniform([200 * thousand, 8]),
    hundreds: uniform([10 * thousand, 100]),
    pixels: uniform([thousand, 1000, 3]),
    pixel: uniform([3]),
    maps: uniform([32 / Math.min(less, 8), 64, 56, 56]),
    bars: uniform([8, 200 * thousand]),
    values: uniform([1000 * thousand], 1, 3),
    groups: ft.random.randint(ft.random.fold(key, draws++), 0, 1000, [1000 * thousand]),
    grey: uniform([1, 1, 1080 / Math.min(less, 10), 1920]),
    colours: uniform([1, 3, 1080 / Math.min(less, 10), 1920]),
    tall: uniform([100 * thousand, 4]).astype('float64'),
    sides: uniform([100 * thousand]).astype('float64'),
    signal: uniform([1000 * thousand]),
    factors: uniform([1000 * thousand], -0.9, 0.9),
    large: ft.ones([38_500 * thousand]),
    short: uniform([100 * thousand])
  }
  ft.evaluateSync(...Object.values(all))
  const data = Object.fromEntries(Object.entries(all).map(([name, x]) => [name, x.dataSync()])) as Record<keyof typeof all, Float32Array | Float64Array | Int32Array>
  return { ...all, data }
}

/** What NumPy gets too. */
export function tensorsOfShapes({ data: _, large: __, ...tensors }: Shapes): Readonly<Record<string, Tensor>> {
  return tensors
}

/** A loop as a contender. */
export function plain(run: () => readonly ArrayLike<number>[]): Contender {
  let known: number | undefined
  return {
    name: 'a loop',
    slice(seconds) {
      const time = repeat(seconds, 1, () => void run())
      known ??= checksum(run())
      return { seconds: time, checksum: known }
    }
  }
}

/** Rows of `width` elements, each combined. */
const overRows =
  (name: 'points' | 'eights' | 'hundreds' | 'pixels', width: number, combine: (x: ArrayLike<number>, from: number) => number): Loop =>
  ({ data }) => {
    const x = data[name]
    const out = new Float32Array(x.length / width)
    for (let i = 0; i < out.length; i++) out[i] = combine(x, i * width)
    return [out]
  }

const sum = (width: number) => (x: ArrayLike<number>, from: number) => {
  let total = 0
  for (let k = 0; k < width; k++) total += x[from + k] as number
  return total
}
const largest = (width: number) => (x: ArrayLike<number>, from: number) => {
  let best = -Infinity
  for (let k = 0; k < width; k++) best = Math.max(best, x[from + k] as number)
  return best
}
const place = (width: number) => (x: ArrayLike<number>, from: number) => {
  let best = 0
  for (let k = 1; k < width; k++) if ((x[from + k] as number) > (x[from + best] as number)) best = k
  return best
}

/** Sums and counts of 1000 groups. */
function grouped({ data: { values, groups } }: Shapes): readonly [sums: Float64Array, counts: Float64Array] {
  const [sums, counts] = [new Float64Array(1000), new Float64Array(1000)]
  for (let i = 0; i < values.length; i++) {
    const group = groups[i] as number
    sums[group] = (sums[group] as number) + (values[i] as number)
    counts[group] = (counts[group] as number) + 1
  }
  return [sums, counts]
}

/** Counts of 1000 groups. */
function counts({ data: { groups } }: Shapes): Int32Array {
  const found = new Int32Array(1000)
  for (let i = 0; i < groups.length; i++) found[groups[i] as number] = (found[groups[i] as number] as number) + 1
  return found
}

/** `y_t = a_t y_(t-1) + b_t`. */
function recurrence(length: number, factor: (t: number) => number, b: ArrayLike<number>): Float32Array {
  const y = new Float32Array(length)
  for (let [t, last] = [0, 0]; t < length; t++) y[t] = last = factor(t) * last + (b[t] as number)
  return y
}

const MEAN = 'np.bincount(groups, values, 1000) / np.bincount(groups, minlength=1000)'
/** Means of float32 are added in float32. */
const ADDED = 1e-4

export const ROWS: readonly Row[] = [
  { name: 'sum of rows of 3', run: ({ points }) => points.sum({ axis: 1 }), numpy: 'points.sum(1)', loop: overRows('points', 3, sum(3)) },
  { name: 'sum of rows of 8', run: ({ eights }) => eights.sum({ axis: 1 }), numpy: 'eights.sum(1)', loop: overRows('eights', 8, sum(8)) },
  { name: 'max of rows of 3', run: ({ points }) => points.max({ axis: 1 }), numpy: 'points.max(1)', loop: overRows('points', 3, largest(3)) },
  { name: 'argmax of rows of 3', run: ({ points }) => points.argmax({ axis: 1 }), numpy: 'points.argmax(1)', loop: overRows('points', 3, place(3)) },
  { name: 'argmax of rows of 100', run: ({ hundreds }) => hundreds.argmax({ axis: 1 }), numpy: 'hundreds.argmax(1)', loop: overRows('hundreds', 100, place(100)) },
  { name: 'mean of the channels of pixels', run: ({ pixels }) => pixels.mean({ axis: -1 }), numpy: 'pixels.mean(-1)' },
  { name: 'sum of pixels over lines', run: ({ pixels }) => pixels.sum({ axis: 0 }), numpy: 'pixels.sum(0)' },
  { name: 'sum of pixels within lines', run: ({ pixels }) => pixels.sum({ axis: 1 }), numpy: 'pixels.sum(1)' },
  { name: 'variance of pixels over lines', run: ({ pixels }) => ft.var(pixels, 0), numpy: 'pixels.var(0)' },
  { name: 'variance of channels of maps', run: ({ maps }) => ft.var(maps, [0, 2, 3]), numpy: 'maps.var((0, 2, 3))' },
  { name: 'products summed over lines', run: ({ pixels, pixel }) => pixels.mul(pixel).sum({ axis: 0 }), numpy: '(pixels * pixel).sum(0)', tolerance: 1e-3 },
  { name: 'sum of 8 rows', run: ({ bars }) => bars.sum({ axis: 0 }), numpy: 'bars.sum(0)' },
  { name: 'sums of 1000 groups', run: ({ values, groups }) => ft.segmentSum(values, groups, 1000), numpy: 'np.bincount(groups, values, 1000)', loop: (shapes) => [grouped(shapes)[0]], tolerance: ADDED },
  { name: 'counts of 1000 groups', run: ({ groups }) => ft.bincount(groups, { minlength: 1000 }), numpy: 'np.bincount(groups, minlength=1000)', loop: (shapes) => [counts(shapes)] },
  { name: 'means of 1000 groups', run: ({ values, groups }) => ft.segmentMean(values, groups, 1000), numpy: MEAN, loop: (shapes) => [grouped(shapes)].map(([sums, counts]) => sums.map((s, i) => s / (counts[i] as number))), tolerance: ADDED },
  { name: 'means of 1000 groups by scatterReduce', run: ({ values, groups }) => ft.scatterReduce(ft.zeros([1000]), 0, groups, values, 'mean', { includeSelf: false }), numpy: MEAN, tolerance: ADDED },
  { name: 'means of 5 x 5 places', run: ({ grey }) => ft.nn.avgPool(grey, 5, { stride: 1 }), numpy: 'scipy.ndimage.uniform_filter(grey, (1, 1, 5, 5))[:, :, 2:-2, 2:-2]' },
  { name: 'largest of 5 x 5 places', run: ({ grey }) => ft.nn.maxPool(grey, 5, { stride: 1 }), numpy: 'scipy.ndimage.maximum_filter(grey, (1, 1, 5, 5))[:, :, 2:-2, 2:-2]' },
  { name: 'means of 5 x 5 places, 3 channels', run: ({ colours }) => ft.nn.avgPool(colours, 5, { stride: 1 }), numpy: 'scipy.ndimage.uniform_filter(colours, (1, 1, 5, 5))[:, :, 2:-2, 2:-2]' },
  { name: 'largest of 5 x 5 places, 3 channels', run: ({ colours }) => ft.nn.maxPool(colours, 5, { stride: 1 }), numpy: 'scipy.ndimage.maximum_filter(colours, (1, 1, 5, 5))[:, :, 2:-2, 2:-2]' },
  { name: 'least squares of 100,000 x 4', run: ({ tall, sides }) => [ft.linalg.lstsq(tall, sides).solution], numpy: 'np.linalg.lstsq(tall, sides)[0]' },
  { name: 'a filter with one pole', run: ({ signal }) => ft.signal.lfilter([1], [1, -0.9], signal), numpy: 'scipy.signal.lfilter(np.float32([1]), np.float32([1, -0.9]), signal)', loop: ({ data }) => [recurrence(data.signal.length, () => 0.9, data.signal)] },
  { name: 'a filter with one pole, of 10^5', run: ({ short }) => ft.signal.lfilter([1], [1, -0.9], short), numpy: 'scipy.signal.lfilter(np.float32([1]), np.float32([1, -0.9]), short)', loop: ({ data }) => [recurrence(data.short.length, () => 0.9, data.short)] },
  { name: 'a recurrence by associativeScan', run: ({ factors, signal }) => [ft.associativeScan(({ a, b }, { a: c, b: d }) => ({ a: a.mul(c), b: c.mul(b).add(d) }), { a: factors, b: signal }).b], loop: ({ data }) => [recurrence(data.signal.length, (t) => data.factors[t] as number, data.signal)] },
  { name: 'all of a large tensor', run: ({ large }) => (large.dataSync(), []), loop: ({ data }) => (data.large.slice(), []) }
]
