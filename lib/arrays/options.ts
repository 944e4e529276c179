// What functions of whole arrays are told beside tensors, checked.

import { checkOptions } from '../arguments/options.js'
import { oneOf } from '../arguments/validate.js'
import { isListed, positionsOf } from '../calls/arrays.js'
import { arrayGiven, tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE } from '../generated/dtypes.js'
import type { Tensor } from '../tensor/tensor.js'

/** The axis of a call, which may stand alone. */
export interface AxisOptions {
  /** The axis; negative ones count from the last. */
  readonly axis?: number | undefined
}

/** The axis of a call, which may stand alone, and whether it stays. */
export interface AxisKeptOptions extends AxisOptions {
  /** Whether the axis stays, with size 1; false by default. */
  readonly keepdims?: boolean | undefined
}

/** The options of a call; a number in their place is the axis. */
export function axisOrOptions(op: string, options: unknown, names: readonly string[] = ['axis']): Record<string, unknown> {
  return typeof options === 'number' ? { axis: options } : checkOptions(op, options, names)
}

/** A tensor of integers; the numbers of an array become integers. */
export function integersGiven(op: string, name: string, value: unknown, beside?: Tensor): Tensor {
  const x = isListed(value) ? positionsOf(op, value, beside) : arrayGiven(op, name, value)
  if (DTYPE[x.dtype].min === null) throw new DTypeError(`${op}: '${name}' must be of an integer dtype, got ${x.dtype}; convert with astype('int32')`)
  return x
}

/** What an index that an axis does not have does: an error by default. */
export function indexMode(op: string, value: unknown): 'raise' | 'wrap' | 'clip' {
  return oneOf(op, 'mode', value === undefined ? 'raise' : value, ['raise', 'wrap', 'clip'])
}

/** Integers in a dtype that holds any size of an axis. */
export function wideIntegers(x: Tensor): Tensor {
  return DTYPE[x.dtype].bytes === 8 || x.dtype === 'int32' ? x : (x.astype('int64') as Tensor)
}

/** More places of an axis than are named one by one. */
export const MOST_PLACES = 2 ** 24

/** More items than this are a mistake: each is an operation, or several. */
const MOST = 2 ** 12

/** Arguments that stand one after the other in an array, copied. */
export function listGiven(op: string, name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new ArgumentError(`${op}: '${name}' must be an array, got ${shown(value)}`)
  if (value.length > MOST) throw new ArgumentError(`${op}: '${name}' has ${value.length} items, more than ${MOST}`)
  return Array.from({ length: value.length }, (_, i): unknown => value[i])
}

/** Arguments that stand along the first axis of a tensor. */
export function rowsGiven(op: string, name: string, value: Tensor): readonly Tensor[] {
  const rows = tensorGiven(op, name, value)
  const count = rows.shape[0] ?? 0
  if (count > MOST) throw new ArgumentError(`${op}: '${name}' has ${count} rows, more than ${MOST}`)
  return count === 0 ? [] : [...rows]
}
