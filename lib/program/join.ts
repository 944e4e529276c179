// Joins of many tensors, whose cotangent is cut into those of the operands.

import { OP } from '../generated/table.js'
import type { Tensor } from '../tensor/tensor.js'
import type { Signature } from './types.js'

/** Operands of a join beyond which its cotangent is cut: a derived call for each is recorded on all of them, n^2 words for n. */
const FEW = 8

/** Whether the cotangent of a call is cut into those of its operands, which no value is read for. Those of another dtype are converted on the way. */
export function isJoin({ op }: Signature, operands: readonly unknown[]): boolean {
  if ((op !== OP.stack && op !== OP.concat) || operands.length <= FEW) return false
  const { type } = operands[0] as Tensor
  return operands.every((x) => (x as Tensor).type.row === type.row)
}
