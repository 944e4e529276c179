// How values of a port go through a grid in one tick: all of them by the port's offset, those that leave at one edge, and those that come in at the other.

import { concat, full } from '../generated/functions.js'
import { Slice } from '../indexing/slice.js'
import type { Scalar } from '../program/record.js'
import type { Tensor } from '../tensor/tensor.js'

/** Rows to the south and columns to the east, each of which may be negative. */
export type Offset = readonly [rows: number, cols: number]

/** A grid, and where a port leads in it. */
export interface Way {
  readonly rows: number
  readonly cols: number
  readonly offset: Offset
}

/** The same way, back. */
const back = ({ rows, cols, offset: [down, right] }: Way): Way => ({ rows, cols, offset: [-down, -right] })

/** How many rows and columns no value of a port reaches: those at the edge that it leads away from. */
const bands = ({ rows, cols, offset: [down, right] }: Way): readonly [number, number] => [Math.min(rows, Math.abs(down)), Math.min(cols, Math.abs(right))]

/** How many places no value of a port reaches, into which values come from outside: as many as values leave from at the other edge. */
export function edgeLength(way: Way): number {
  const [high, wide] = bands(way)
  return way.rows * way.cols - (way.rows - high) * (way.cols - wide)
}

/** Positions of two axes. */
const cut = (x: Tensor, rows: Slice, cols: Slice): Tensor => x.at(rows, cols)

/** The first positions of an axis of `length`, or the last, and those beside them. */
function divided(length: number, band: number, first: boolean): readonly [band: Slice, rest: Slice] {
  return first ? [new Slice(0, band), new Slice(band, length)] : [new Slice(length - band, length), new Slice(0, length - band)]
}

/** Two parts along an axis, the first of which may stand behind the second; parts without elements are left out. */
function beside(band: Tensor, rest: Tensor, axis: number, first: boolean): Tensor {
  const parts = (first ? [band, rest] : [rest, band]).filter(({ size }) => size > 0)
  return parts.length === 2 ? concat(parts, { axis }) : (parts[0] ?? rest)
}

/**
 * A grid [rows, cols] whose values have gone by the offset. Places that none reaches have the values of `edge`, which are theirs in row-major order, or all of them a number.
 */
export function moved(grid: Tensor, way: Way, edge: Tensor | Scalar): Tensor {
  const { rows, cols, offset: [down, right] } = way
  const [high, wide] = bands(way)
  const [fromNorth, fromWest] = [down > 0, right > 0]
  const { dtype, device } = grid
  const part = (start: number, [height, width]: readonly [number, number]): Tensor =>
    typeof edge === 'object' ? (edge as Tensor).at(new Slice(start, start + height * width)).reshape([height, width]) : full([height, width], edge as number, { dtype, device }) as Tensor
  // Rows of the edge are whole; beside the others stand those of its columns.
  const band = [high, cols] as const
  const side = [rows - high, wide] as const
  const bandAt = fromNorth ? 0 : side[0] * side[1]
  const sideAt = fromNorth ? band[0] * band[1] : 0
  const [, sent] = divided(rows, high, !fromNorth)
  const [, kept] = divided(cols, wide, !fromWest)
  const inner = beside(part(sideAt, side), cut(grid, sent, kept), 1, fromWest)
  return beside(part(bandAt, band), inner, 0, fromNorth)
}

/** The values of a grid that leave it by the offset [edgeLength], in row-major order of the places they leave from. */
export function leaving(grid: Tensor, way: Way): Tensor {
  const { rows, cols, offset: [up, left] } = back(way)
  const [high, wide] = bands(way)
  const [northern, western] = [up > 0, left > 0]
  const [band, others] = divided(rows, high, northern)
  const [side] = divided(cols, wide, western)
  const parts = [cut(grid, band, new Slice(0, cols)), cut(grid, others, side)]
  const flat = (northern ? parts : parts.toReversed()).filter(({ size }) => size > 0).map((part) => part.reshape([part.size]))
  return flat.length === 1 ? (flat[0] as Tensor) : concat(flat, { axis: 0 })
}
