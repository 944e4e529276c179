// What is drawn, as plain numbers: of tensors, typed arrays, and arrays of numbers, nested or not.

import type { Tensor } from 'ferrotensor'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { isTensor } from '../program/node.js'
import { flatten, type Nested } from '../values/nested.js'
import { dataSync } from '../values/read.js'
import { dtypeOfArray, type TypedArray } from '../values/typed-arrays.js'

/** Real numbers of any shape: a tensor, which is read at the call, a typed array, or an array, nested or not. */
export type Numbers = Tensor | TypedArray | Nested<number | bigint | boolean>

/**
 * Numbers in memory, row-major.
 * @internal
 */
export interface Read {
  readonly shape: readonly number[]
  readonly values: Float64Array
  /** Whether they were bytes, whose range is 0 to 255. */
  readonly bytes: boolean
}

/**
 * The numbers of a value.
 * @internal
 */
export function numbers(op: string, name: string, value: unknown): Read {
  if (isTensor(value)) {
    const { dtype, shape } = value
    if (dtype.startsWith('complex')) throw new DTypeError(`${op}: '${name}' is ${dtype}, which has no place on an axis; draw its abs(), real() or imag()`)
    return { shape, values: Float64Array.from(dataSync(value, op) as ArrayLike<number>, Number), bytes: dtype === 'uint8' }
  }
  const dtype = ArrayBuffer.isView(value) ? dtypeOfArray(value) : null
  if (dtype !== null) {
    const values = Float64Array.from(value as ArrayLike<number>, Number)
    return { shape: [values.length], values, bytes: dtype === 'uint8' }
  }
  if (!Array.isArray(value)) throw new ArgumentError(`${op}: '${name}' must be numbers (a tensor, a typed array or an array), got ${shown(value)}`)
  if (isFlat(value)) return { shape: [value.length], values: Float64Array.from(value), bytes: false }
  const { shape, data } = flatten(op, value, 'float64')
  return { shape, values: data as Float64Array, bytes: false }
}

/** Whether all elements are numbers, holes excluded: such arrays need neither a walk through nesting nor, where they are long, native code. */
function isFlat(value: readonly unknown[]): value is readonly number[] {
  for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'number') return false
  return true
}

/**
 * Numbers of one axis; a scalar is refused.
 * @internal
 */
export function vector(op: string, name: string, value: unknown): Float64Array {
  const { shape, values } = numbers(op, name, value)
  if (shape.length !== 1) throw new ShapeError(`${op}: '${name}' must have one axis, got shape [${shape.join(', ')}]`)
  return values
}

/**
 * Numbers of two axes.
 * @internal
 */
export interface Matrix {
  readonly rows: number
  readonly columns: number
  readonly values: Float64Array
}

/**
 * Rows and columns of numbers; nothing at all is a matrix of none.
 * @internal
 */
export function matrix(op: string, name: string, value: unknown): Matrix {
  const { shape, values } = numbers(op, name, value)
  if (shape.length === 1 && values.length === 0) return { rows: 0, columns: 0, values }
  if (shape.length !== 2) throw new ShapeError(`${op}: '${name}' must have two axes, rows and columns, got shape [${shape.join(', ')}]`)
  return { rows: shape[0] as number, columns: shape[1] as number, values }
}

/**
 * Whether a value is numbers itself, and not a list or an object of such.
 * @internal
 */
export function areNumbers(value: unknown): boolean {
  if (isTensor(value) || ArrayBuffer.isView(value)) return true
  return Array.isArray(value) && !value.some((item) => isTensor(item) || ArrayBuffer.isView(item))
}
