// Products of matrices on a grid of multiply-accumulate elements, with the results, the left or the right factor staying where they are. Matrices that are
// larger than the grid go through it in parts. Over the tropical ring products are shortest paths.

import { checkOptions } from '../arguments/options.js'
import { oneOf } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { array } from './array.js'
import { run } from './clock.js'
import type { Element } from './element.js'
import type { TimedValues } from './lines.js'
import { mac, ringGiven, stationaryOf, type MacState, type Ring, type RingName } from './mac.js'
import { checkSteps, matrixGiven, skewed, transposed, type Matrix } from './ready.js'
import { RUN_ON, runOn, type RunOn } from './run-on.js'
import { sizeGiven } from './space.js'

/** Which of the three matrices of a product stays in the elements: `'os'` the result, `'ws'` the right factor (the weights), `'is'` the left one (the input). */
export type Dataflow = 'os' | 'ws' | 'is'

/** Options of `gemm`. */
export interface GemmOptions extends RunOn {
  /** Rows of the grid; as many as what stays has, by default. */
  readonly rows?: number | undefined
  /** Columns of the grid; as many as what stays has, by default. */
  readonly cols?: number | undefined
  /** Which matrix stays in the elements; `'os'` by default. */
  readonly dataflow?: Dataflow | undefined
  /** The arithmetic; ordinary sums and products by default. */
  readonly ring?: RingName | Ring | undefined
}

/** A product, and what it took. */
export interface Gemm {
  /** By row and column, [m, n]. */
  readonly values: number[][]
  /** Ticks of all parts together. */
  readonly ticks: number
  /** Parts that went through the grid one after the other. */
  readonly folds: number
}

const OP = 'systolic.gemm'

/** Stretches of at most `size` positions. */
function stretches(length: number, size: number): (readonly [from: number, to: number])[] {
  return Array.from({ length: Math.ceil(length / size) }, (_, i) => [i * size, Math.min(length, (i + 1) * size)] as const)
}

/** One part whose results stay: row i of `a` begins i ticks late in the west, column j of `b` j ticks late in the north. */
function outputStationary(a: readonly number[][], columns: readonly number[][], element: Element<MacState>, zero: number, where: RunOn): { readonly values: number[][]; readonly ticks: number } {
  const [m, n, k] = [a.length, columns.length, (a[0] as number[]).length]
  const ticks = k + m + n - 2
  const made = array(m, n).fill(element).connect('west_to_east').connect('north_to_south')
    .input('west', a.map((row, i) => [[i, 0], skewed(row, i, zero)]))
    .input('north', columns.map((column, j) => [[0, j], skewed(column, j, zero)]))
  return { values: within(OP, () => run(made, { ticks, ...where })).resultMatrix() as number[][], ticks }
}

/** One part whose right factor stays: column p of `a` begins p ticks late in row p, and sums go down the columns, from where those of the part before ended. */
function weightStationary(a: readonly number[][], weights: readonly number[][], sums: readonly number[][], element: Element, zero: number, where: RunOn): { readonly values: number[][]; readonly ticks: number } {
  const [m, k, n] = [a.length, weights.length, (weights[0] as number[]).length]
  const ticks = m + k + n - 2
  const options = Object.fromEntries(weights.flatMap((row, p) => row.map((weight, j) => [`${p},${j}`, { weight }])))
  const made = array(k, n).fill(element, options).connect('west_to_east').connect('north_to_south')
    .input('west', transposed(a).map((column, p) => [[p, 0], skewed(column, p, zero)]))
    .input('north', transposed(sums).map((column, j) => [[0, j], skewed(column, j, zero)]))
    .output('south')
  const values = a.map(() => new Array<number>(n).fill(zero))
  // The sum of row i leaves column j when the last of k products is added.
  for (const { tick, coord, value } of within(OP, () => run(made, { ticks, ...where })).outputs) {
    const [j, i] = [coord[1] as number, tick - (k - 1) - (coord[1] as number)]
    if (i >= 0 && i < m) (values[i] as number[])[j] = value as number
  }
  return { values, ticks }
}

/** The product on a grid whose weights are [k, n]. */
function withWeights(op: string, a: readonly number[][], b: readonly number[][], n: number, rows: number, cols: number, element: Element, zero: number, where: RunOn): Gemm {
  const [m, k] = [a.length, b.length]
  const values = a.map(() => new Array<number>(n).fill(zero))
  checkSteps(op, rows * cols, m + rows + cols - 2, Math.ceil(n / cols) * Math.ceil(k / rows))
  const parts = stretches(n, cols).flatMap((columns) => stretches(k, rows).map((inner) => [columns, inner] as const))
  let ticks = 0
  for (const [[left, right], [top, bottom]] of parts) {
    const part = weightStationary(a.map((row) => row.slice(top, bottom)), b.slice(top, bottom).map((row) => row.slice(left, right)), values.map((row) => row.slice(left, right)), element, zero, where)
    part.values.forEach((row, i) => row.forEach((value, j) => ((values[i] as number[])[left + j] = value)))
    ticks += part.ticks
  }
  return { values, ticks, folds: parts.length }
}

/**
 * The product of [m, k] and [k, n] on a grid of elements, tick by tick. Output stationary a part takes `k + m + n - 2` ticks (Kung and Leiserson 1979), with
 * weights that stay `m + k + n - 2`. All dataflows add the products of a result in the order of k, so their bits are equal.
 *
 * A matrix without rows has none as a result.
 *
 * @throws {ArgumentError} for what is no matrix of numbers, sizes below 1, an unknown dataflow or ring, and products of more than 2^25 steps of elements.
 * @throws {ShapeError} where the inner sizes differ, or rows have different lengths.
 * @example
 * ```ts
 * ft.systolic.gemm([[1, 2], [3, 4]], [[5, 6], [7, 8]]).values // [[19, 22], [43, 50]]
 * ```
 * ```ts
 * ft.systolic.gemm([[0, 3], [Infinity, 0]], [[0, 3], [Infinity, 0]], { ring: 'minPlus', dataflow: 'ws' }).values // [[0, 3], [Infinity, 0]]
 * ```
 */
export function gemm(a: Matrix, b: Matrix, options?: GemmOptions): Gemm {
  const op = OP
  const given = checkOptions(op, options, ['rows', 'cols', 'dataflow', 'ring', ...RUN_ON])
  const [left, right] = [matrixGiven(op, 'a', a), matrixGiven(op, 'b', b)]
  const flow = given['dataflow'] === undefined ? 'os' : oneOf(op, 'dataflow', given['dataflow'], ['os', 'ws', 'is'])
  const { name, ring } = ringGiven(op, given['ring'])
  const [rows, cols] = (['rows', 'cols'] as const).map((size) => (given[size] === undefined ? Infinity : sizeGiven(op, size, given[size]))) as [number, number]
  const where = runOn(op, given)
  const [m, k, n] = [left.length, right.length, right[0]?.length ?? 0]
  if (m === 0) return { values: [], ticks: 0, folds: 0 }
  const inner = left[0]?.length ?? 0
  if (inner !== k) throw new ShapeError(`${op}: 'a' is [${m}, ${inner}] and 'b' has ${k} rows: the inner sizes differ`)
  if (k === 0 || n === 0) return { values: left.map(() => new Array<number>(n).fill(ring.zero)), ticks: 0, folds: 0 }
  if (flow === 'ws') return withWeights(op, left, right, n, Math.min(rows, k), Math.min(cols, n), stationaryOf(ring, name, false), ring.zero, where)
  if (flow === 'is') {
    // With the left factor in the elements the product is that of the transposes, its factors exchanged.
    const { values, ...rest } = withWeights(op, transposed(right, n), transposed(left, k), m, Math.min(rows, k), Math.min(cols, m), stationaryOf(ring, name, true), ring.zero, where)
    return { values: transposed(values), ...rest }
  }
  const element = mac({ ring: name ?? ring })
  const columns = transposed(right)
  const [high, wide] = [Math.min(rows, m), Math.min(cols, n)]
  checkSteps(op, high * wide, k + high + wide - 2, Math.ceil(m / high) * Math.ceil(n / wide))
  const parts = stretches(m, high).flatMap((down) => stretches(n, wide).map((across) => [down, across] as const))
  const values = left.map(() => new Array<number>(n).fill(ring.zero))
  let ticks = 0
  for (const [[top, bottom], [first, end]] of parts) {
    const part = outputStationary(left.slice(top, bottom), columns.slice(first, end), element, ring.zero, where)
    part.values.forEach((row, i) => row.forEach((value, j) => ((values[top + i] as number[])[first + j] = value)))
    ticks += part.ticks
  }
  return { values, ticks, folds: parts.length }
}

/**
 * Lengths of the shortest paths between all nodes of a graph [n, n], whose element [i, j] is the length of the edge from i to j and `Infinity` where there is none: the
 * matrix, with zeros on the diagonal, is squared over `(min, +)` until there is room for paths of n edges, each time on a grid of n x n elements.
 *
 * @throws {ShapeError} for a matrix that is not square.
 * @throws {ArgumentError} for what is no matrix of numbers, NaN or `-Infinity` among them, a cycle of negative length, and more than 2^25 steps of elements.
 * @example
 * ```ts
 * ft.systolic.shortestPaths([[0, 3, Infinity], [Infinity, 0, 4], [1, Infinity, 0]]).values // [[0, 3, 7], [5, 0, 4], [1, 4, 0]]
 * ```
 */
export function shortestPaths(lengths: Matrix, options?: RunOn): TimedValues<number[][]> {
  const op = 'systolic.shortestPaths'
  const where = runOn(op, checkOptions(op, options, RUN_ON))
  const rows = matrixGiven(op, 'lengths', lengths)
  const n = rows.length
  if (n > 0 && rows[0]?.length !== n) throw new ShapeError(`${op}: 'lengths' must be square, got [${n}, ${rows[0]?.length}]`)
  rows.forEach((row, i) => row.forEach((length, j) => {
    if (Number.isNaN(length) || length === -Infinity) throw new ArgumentError(`${op}: 'lengths[${i}][${j}]' must be a number or Infinity, got ${length}`)
  }))
  // A path has n - 1 edges at most, a cycle n.
  const squarings = n < 2 ? 0 : Math.ceil(Math.log2(n))
  checkSteps(op, n * n, Math.max(0, 3 * n - 2), Math.max(1, squarings))
  let values = rows.map((row, i) => row.map((length, j) => (i === j ? Math.min(0, length) : length)))
  let ticks = 0
  for (let i = 0; i < squarings; i++) {
    const squared = within(op, () => gemm(values, values, { ring: 'minPlus', ...where }))
    values = squared.values
    ticks += squared.ticks
  }
  const cycle = values.findIndex((row, i) => (row[i] as number) < 0)
  if (cycle >= 0) throw new ArgumentError(`${op}: there is a cycle of negative length through node ${cycle}`)
  return { values, ticks }
}
