// Triangular systems on a linear array.

import { checkOptions, flag, within } from '../call.js'
import { LinAlgError, ShapeError } from '../errors.js'
import { array } from './array.js'
import { run } from './clock.js'
import { EMPTY, type Element } from './element.js'
import type { Values } from './lines.js'
import { matrixGiven, vectorGiven, type Matrix, type Vector } from './matrix.js'
import { checkSteps, runOn, RUN_ON, type RunOn } from './ready.js'

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
export function solveTriangular(a: Matrix, b: Vector, options?: SolveOptions): Values {
  const op = 'systolic.solveTriangular'
  const given = checkOptions(op, options, ['upper', ...RUN_ON])
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
  const values = within(op, () => run(made, { ticks, ...runOn(given) })).resultMatrix()[0] as number[]
  return { values: upper ? values.toReversed() : values, ticks }
}
