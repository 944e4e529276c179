// From the arguments of a call to a recorded operation: arrays become tensors, options are read, attributes encoded.

import { checkOptions, ONE_ARRAY } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { DTYPE } from '../generated/dtypes.js'
import { OP } from '../generated/table.js'
import { checkDefault } from '../program/exact.js'
import { isTensor } from '../program/node.js'
import { rowOf } from '../program/op-table.js'
import { TracedNumber } from '../program/placeholder.js'
import { recordBinary, recordCall, recordOutputs, recordUnary } from '../program/record.js'
import type { Attr } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import { isListed, withTensors } from './arrays.js'
import { attrOf, paramsOf } from './encode.js'

/** A number that alone says what dtype comes out. */
function checkFill(value: unknown): void {
  if (typeof value === 'number') checkDefault('full', DTYPE.float32, value, () => "'fillValue'")
  else if (value instanceof TracedNumber) value.check(checkFill)
}

/**
 * Records an operation on one tensor.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for what is no tensor and no array of numbers, `ERR_DISPOSED`, or the typed error of the call.
 */
export function unary(op: number, x: unknown): Tensor {
  return recordUnary(op, isTensor(x) ? x : withTensors(op, [x], null)[0])
}

/**
 * Records an operation on two operands, one of which may be a scalar.
 *
 * @throws {TensorError} as {@link unary}.
 */
export function binary(op: number, a: unknown, b: unknown): Tensor {
  if (!isListed(a) && !isListed(b)) return recordBinary(op, a, b)
  const [x, y] = withTensors(op, [a, b], null)
  return recordBinary(op, x, y)
}

/** The operands of a call, with a tensor in the place of each array. */
function withoutArrays(op: number, operands: readonly unknown[], attr: Attr | null): readonly unknown[] {
  return operands.some(isListed) ? withTensors(op, operands, attr) : operands
}

/** Records an operation with one output. */
export function one(op: number, operands: readonly unknown[], attrs: readonly unknown[], params: readonly unknown[]): Tensor {
  if (op === OP.full && attrs[1] === undefined) checkFill(operands[0])
  const row = rowOf(op)
  const attr = attrOf(op, row, attrs, operands)
  return recordCall(op, withoutArrays(op, operands, attr), attr, paramsOf(row, params))
}

/** Records an operation with several outputs. */
export function many(op: number, operands: readonly unknown[], attrs: readonly unknown[], params: readonly unknown[]): Tensor[] {
  const row = rowOf(op)
  const attr = attrOf(op, row, attrs, operands)
  return recordOutputs(op, withoutArrays(op, operands, attr), attr, paramsOf(row, params))
}

/** The options of an operation: its last argument but for the `surplus` behind it. `bare` names the one that may stand alone. */
export function readOptions(op: number, options: unknown, names: readonly string[], surplus: number, bare?: string): Record<string, unknown> {
  const row = rowOf(op)
  const alone = bare !== undefined && (typeof options === 'number' || Array.isArray(options))
  const read = alone ? { [bare]: options } : checkOptions(row.name, options, names, row)
  if (surplus > 0) throw new ArgumentError(`${row.name}: ${surplus} too many arguments; options are one object (${names.join(', ')})`)
  return read
}

/**
 * Refuses what is passed behind the `count` arguments of an operation without options. An array's `map` passes each element's position and
 * the array besides, which means nothing.
 */
export function surplus(op: number, passed: IArguments, count: number): void {
  const mapped = count === 1 && passed.length === 3 && typeof passed[1] === 'number' && Array.isArray(passed[2])
  if (mapped) return
  const { name, attrs, variadic } = rowOf(op)
  const hint = attrs.length > 0 && typeof passed[count] === 'number' ? '; several numbers are one array' : variadic && isTensor(passed[count]) ? ONE_ARRAY : ''
  throw new ArgumentError(`${name}: ${passed.length - count} too many arguments${hint}`)
}
