// Linear arrays: products of a matrix and a vector whose results stay, convolutions whose weights stay, triangular systems whose unknowns do.

import { checkOptions } from '../arguments/options.js'
import { flag, oneOf } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { ArgumentError, LinAlgError, ShapeError } from '../errors.js'
import { array, type SystolicArray } from './array.js'
import { run } from './clock.js'
import { EMPTY, type Element } from './element.js'
import { mac, stationary } from './mac.js'
import { checkSteps, matrixGiven, skewed, vectorGiven, type Matrix, type Vector } from './ready.js'
import { RUN_ON, runOn, type RunOn } from './run-on.js'
import type { Coord } from './space.js'

/** A result, and the ticks that it took. */
export interface TimedValues<T = number[]> {
  readonly values: T
  readonly ticks: number
}

/** Which places a convolution has: all where the two overlap (as NumPy's `'full'`), or those where they do wholly. */
export type ConvolveMode = 'full' | 'valid'

/** Options of `convolve`. */
export interface ConvolutionOptions extends RunOn {
  /** `'full'` by default. */
  readonly mode?: ConvolveMode | undefined
}

/**
 * The product of a matrix [m, k] and a vector [k] on a line of m multiply-accumulate elements: the vector goes through all of them from the west, row i of the matrix enters
 * element i from the north, i ticks late, and each sum stays (Kung and Leiserson 1979). Takes `k + m - 1` ticks.
 *
 * @throws {ArgumentError} for what is no matrix or vector of numbers, and more than 2^25 steps of elements.
 * @throws {ShapeError} where the inner sizes differ.
 * @example
 * ```ts
 * ft.systolic.matvec([[1, 2], [3, 4]], [5, 6]) // { values: [17, 39], ticks: 3 }
 * ```
 */
export function matvec(a: Matrix, x: Vector, options?: RunOn): TimedValues {
  const op = 'systolic.matvec'
  const where = runOn(op, checkOptions(op, options, RUN_ON))
  const [rows, vector] = [matrixGiven(op, 'a', a), vectorGiven(op, 'x', x)]
  const [m, k] = [rows.length, vector.length]
  if (m === 0) return { values: [], ticks: 0 }
  if (rows[0]?.length !== k) throw new ShapeError(`${op}: 'a' is [${m}, ${rows[0]?.length}] and 'x' has ${k} numbers: the inner sizes differ`)
  if (k === 0) return { values: rows.map(() => 0), ticks: 0 }
  const ticks = k + m - 1
  checkSteps(op, m, ticks)
  const made = array(1, m).fill(mac()).connect('west_to_east').connect('north_to_south')
    .input('west', [[[0, 0], vector]])
    .input('north', rows.map((row, i) => [[0, i], skewed(row, i, 0)]))
  return { values: within(op, () => run(made, { ticks, ...where })).resultMatrix()[0] as number[], ticks }
}

/** A line of elements with the ports of a grid's, in which both what goes to the east and what goes to the south leads to the next element. */
function doubleLine(length: number): SystolicArray {
  const coords = Array.from({ length }, (_, i): Coord => [i])
  const next: Readonly<Record<string, string>> = { east: 'west', south: 'north' }
  return array({
    coords,
    ports: ['north', 'south', 'east', 'west'],
    neighbours: ([i], port) => (next[port] !== undefined && (i as number) + 1 < length ? { coord: [(i as number) + 1], port: next[port] } : undefined)
  })
}

/**
 * The convolution of two vectors, `y[i] = sum of weights[j] * x[i - j]`, on a line of elements that hold the weights. Values and sums go the same way, values at half the
 * speed: their links have a latency of two ticks (Kung 1982, design W2). A result leaves the last element each tick.
 *
 * @throws {ArgumentError} for what is no vector of numbers, weights without elements or, with `'valid'`, more of them than values, and more than 2^25 steps of elements.
 * @example
 * ```ts
 * ft.systolic.convolve([1, 2, 3], [1, 1]).values // [1, 3, 5, 3]
 * ```
 */
export function convolve(x: Vector, weights: Vector, options?: ConvolutionOptions): TimedValues {
  const op = 'systolic.convolve'
  const given = checkOptions(op, options, ['mode', ...RUN_ON.filter((name) => name !== 'tileRows' && name !== 'tileCols')])
  const where = runOn(op, given)
  const mode = given['mode'] === undefined ? 'full' : oneOf(op, 'mode', given['mode'], ['full', 'valid'])
  const [values, kernel] = [vectorGiven(op, 'x', x), vectorGiven(op, 'weights', weights)]
  const k = kernel.length
  if (k === 0 || values.length === 0) throw new ArgumentError(`${op}: ${k === 0 ? "'weights'" : "'x'"} is empty`)
  if (mode === 'valid' && k > values.length) throw new ArgumentError(`${op}: ${k} weights are more than ${values.length} values; mode 'full' has a result`)
  const around = new Array<number>(mode === 'full' ? k - 1 : 0).fill(0)
  // Sums that begin before there are k values have no result.
  const stream = [...around, ...values, ...around]
  const ticks = stream.length + k - 1
  checkSteps(op, k, ticks)
  let made = doubleLine(k).fill(stationary(), Object.fromEntries(kernel.map((weight, i) => [String(i), { weight }])))
    .link({ to: { coord: [0], port: 'west' } }).input('west', [[[0], stream]])
    .output('south', [[k - 1]])
  if (k > 1) made = made.connect('east', { latency: 2 }).connect('south')
  const { outputs } = within(op, () => run(made, { ticks, ...where }))
  // The sum that began with value t leaves k - 1 ticks later, when value t - k + 1 has come to the last element.
  return { values: outputs.filter(({ tick }) => tick >= 2 * (k - 1)).map(({ value }) => value as number), ticks }
}

/** Options of `solveTriangular`. */
export interface SolveOptions extends RunOn {
  /** Whether the matrix is upper triangular; lower by default. */
  readonly upper?: boolean | undefined
}

/** Solves for one unknown with the first row that comes, and takes its share out of those that follow. */
const UNKNOWN: Element<number | null> = {
  init: () => null,
  step(x, { west: rest, north: factor }) {
    if (rest === EMPTY || factor === EMPTY) return [x]
    if (x === null) return [(rest as number) / (factor as number)]
    return [x, { east: (rest as number) - (factor as number) * x }]
  }
}

/**
 * The solution of a triangular system [n, n] on a line of n elements, by substitution. What is left of row i goes from the west to the east; element j solves for
 * unknown j when row j comes, and subtracts its part from each later row (after Kung and Leiserson 1979, with the unknowns in place). Takes `2 n - 1` ticks. Elements of the
 * other triangle are not looked at.
 *
 * @throws {ShapeError} where the matrix is not square, or the vector has another length.
 * @throws {LinAlgError} for a zero on the diagonal.
 * @throws {ArgumentError} for what is no matrix or vector of numbers, and more than 2^25 steps of elements.
 * @example
 * ```ts
 * ft.systolic.solveTriangular([[2, 0], [1, 4]], [6, 11]) // { values: [3, 2], ticks: 3 }
 * ```
 */
export function solveTriangular(a: Matrix, b: Vector, options?: SolveOptions): TimedValues {
  const op = 'systolic.solveTriangular'
  const given = checkOptions(op, options, ['upper', ...RUN_ON])
  const where = runOn(op, given)
  const upper = flag(op, 'upper', given['upper'], false)
  const [rows, right] = [matrixGiven(op, 'a', a), vectorGiven(op, 'b', b)]
  const n = rows.length
  if (n !== right.length || (n > 0 && rows[0]?.length !== n)) throw new ShapeError(`${op}: 'a' is [${n}, ${rows[0]?.length ?? 0}] and 'b' has ${right.length} numbers; a square matrix and as many numbers are needed`)
  const singular = rows.findIndex((row, i) => row[i] === 0)
  if (singular >= 0) throw new LinAlgError(`${op}: the matrix is singular: element [${singular}, ${singular}] is 0`)
  if (n === 0) return { values: [], ticks: 0 }
  // From the last unknown to the first, an upper matrix is a lower one.
  const [lower, known] = upper ? [rows.toReversed().map((row) => row.toReversed()), right.toReversed()] : [rows, right]
  const ticks = 2 * n - 1
  checkSteps(op, n, ticks)
  const made = array(1, n).fill(UNKNOWN).connect('west_to_east').connect('north_to_south')
    .input('west', [[[0, 0], known]])
    .input('north', lower.map((_, j) => [[0, j], [...new Array<typeof EMPTY>(2 * j).fill(EMPTY), ...lower.slice(j).map((row) => row[j] as number)]]))
  const values = within(op, () => run(made, { ticks, ...where })).resultMatrix()[0] as number[]
  return { values: upper ? values.toReversed() : values, ticks }
}
