// Values handed through and marked: as variables and constants, with a gradient of the caller's making, as pieces of a whole, to be computed again.

import { OP } from '../generated/table.js'
import type { Tensor } from '../tensor/tensor.js'
import { isTracked } from './lifetime.js'
import type { Piece, Step } from './node.js'
import { valueOf } from './record.js'

/** The same value as a variable of a level. */
export function variable(x: Tensor, level: number): Tensor {
  const v = valueOf(OP.custom, [x])
  v.level = level
  return v
}

/** The same value as a constant. */
export function constant(x: Tensor): Tensor {
  const c = valueOf(OP.custom, [x])
  c.level = 0
  return c
}

/** The same value, whose cotangents go where the caller says: to `operands`, by `pull`. */
export function withGradient(value: Tensor, operands: readonly Tensor[], pull: NonNullable<Tensor['pull']>): Tensor {
  const t = valueOf(OP.custom, [value, ...operands])
  if (t.signature !== null) t.pull = pull
  return t
}

/**
 * The same value, known as a piece of a tensor: cotangents of pieces are put together once. One by one each is as large as the whole, with
 * zeros around it, and n of them take n^2 time.
 */
export function pieceOf(whole: Tensor, value: Tensor, piece: Piece): Tensor {
  if (!isTracked(whole)) return value
  const t = valueOf(OP.custom, [value, whole])
  if (t.signature !== null) t.piece = piece
  return t
}

/** The same value, which is computed again on the way back, from barriers. */
export function recomputed(value: Tensor, operands: readonly Tensor[], again: () => Tensor): Tensor {
  const t = valueOf(OP.custom, [value, ...operands])
  if (t.signature !== null) t.again = again
  return t
}

/**
 * A value that was computed at once, whose cotangents are too: `pull` is given those that tensors have so far, and returns what they then are.
 * `again` records it, for forward mode and where the way back is recorded for others to see.
 */
export function stepOf(value: Tensor, operands: readonly Tensor[], pull: Step['pull'], again: () => Tensor): Tensor {
  const t = valueOf(OP.custom, [value, ...operands])
  if (t.signature !== null) t.step = { pull, again }
  return t
}

/** The same value, which what is computed from it is not a duplicate of anything. */
export function barrier(x: Tensor): Tensor {
  return valueOf(OP.barrier, [x])
}

/** Has values computed and kept in one program, whichever is needed first: computed apart, each would compute the others again. */
export function bundle(values: readonly Tensor[]): void {
  for (const t of values) if (t.handle === null) t.beside = values
}

/** Has a loss, what else its function returned, and its gradients computed in the program in which one of them is read. */
export function company(value: Tensor, rest: readonly Tensor[], gradients: readonly Tensor[]): void {
  const all = [value, ...rest, ...gradients].filter((t) => t.handle === null)
  for (const t of all) t.company = all
  // A gradient is used by the next parameters, and the loss beside it costs next to nothing.
  if (value.handle === null) for (const g of gradients) if (g.handle === null) g.beside = [value]
}
