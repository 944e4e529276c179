// Integers compared with a number that is no integer, or that their dtype does not hold: another integer has the same answer for each
// of them, or all have one.

import type { DTypeRow } from '../generated/dtypes.js'
import { OP } from '../generated/table.js'

/** How a comparison with a number goes: towards which integer, and what it is of a number above and below all integers. */
interface Comparison {
  /** The integer that stands for a number between two; null where no integer is equal to it. */
  readonly towards: ((value: number) => number) | null
  readonly above: boolean
  readonly below: boolean
}

const LESS: Comparison = { towards: Math.ceil, above: true, below: false }
const LESS_EQUAL: Comparison = { towards: Math.floor, above: true, below: false }
const GREATER: Comparison = { towards: Math.floor, above: false, below: true }
const GREATER_EQUAL: Comparison = { towards: Math.ceil, above: false, below: true }
const EQUAL: Comparison = { towards: null, above: false, below: false }
const NOT_EQUAL: Comparison = { towards: null, above: true, below: true }

/** By the row, with the number behind it; and the same with the number in front. */
const SECOND: ReadonlyMap<number, Comparison> = new Map([
  [OP.less, LESS], [OP.lessEqual, LESS_EQUAL], [OP.greater, GREATER], [OP.greaterEqual, GREATER_EQUAL], [OP.equal, EQUAL], [OP.notEqual, NOT_EQUAL]
])
const FIRST: ReadonlyMap<number, Comparison> = new Map([
  [OP.less, GREATER], [OP.lessEqual, GREATER_EQUAL], [OP.greater, LESS], [OP.greaterEqual, LESS_EQUAL], [OP.equal, EQUAL], [OP.notEqual, NOT_EQUAL]
])

/**
 * What stands for a scalar that integers of this dtype are compared with: an integer of theirs, or what every element gives. The scalar
 * itself where the row compares nothing, or its elements are no integers.
 */
export function comparable<S>(op: number, scalar: S, isFirst: boolean, { kind, min, max }: DTypeRow): S | number | boolean {
  if (kind !== 'signed' && kind !== 'unsigned') return scalar
  if (typeof scalar !== 'number' && typeof scalar !== 'bigint') return scalar
  const comparison = (isFirst ? FIRST : SECOND).get(op)
  if (comparison === undefined) return scalar
  const { towards, above, below } = comparison
  // NaN is below nothing and above nothing, and differs from everything.
  if (scalar !== scalar) return comparison === NOT_EQUAL
  if (scalar < (min as number | bigint)) return below
  if (scalar > (max as number | bigint)) return above
  if (typeof scalar === 'bigint' || Number.isInteger(scalar)) return scalar
  return towards === null ? above : towards(scalar)
}
