// Shortest paths between all nodes of a graph: products over the tropical ring.

import { checkOptions } from '../call.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { gemm } from './gemm.js'
import type { Values } from './lines.js'
import { matrixGiven, type Matrix } from './matrix.js'
import { checkSteps, runOn, RUN_ON, type RunOn } from './ready.js'

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
export function shortestPaths(lengths: Matrix, options?: RunOn): Values<number[][]> {
  const op = 'systolic.shortestPaths'
  const where = runOn(checkOptions(op, options, RUN_ON))
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
    const squared = gemm(values, values, { ring: 'minPlus', ...where })
    values = squared.values
    ticks += squared.ticks
  }
  const cycle = values.findIndex((row, i) => (row[i] as number) < 0)
  if (cycle >= 0) throw new ArgumentError(`${op}: there is a cycle of negative length through node ${cycle}`)
  return { values, ticks }
}
