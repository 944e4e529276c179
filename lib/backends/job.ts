// What a backend is asked to do: the arguments of a call, checked before anything is allocated, as a job on arrays of our own views.

import { integer, number } from '../arguments/validate.js'
import { ShapeError } from '../errors.js'
import { checkSamePrecision, flatArray, outGiven, precisionOf, zeros, type FloatArray, type Precision } from './arrays.js'

/** The operations of every backend. */
export type Operation = 'matmul' | 'add' | 'dot' | 'sum' | 'scale'

/**
 * For each operation: whether it takes `b`, whether its result is one number, whether the result may be written into an operand,
 * and the words for its sizes.
 */
export const OPERATIONS: Readonly<Record<Operation, Readonly<{ b: boolean; scalar: boolean; inPlace: boolean; sizes: readonly string[] }>>> = {
  matmul: { b: true, scalar: false, inPlace: false, sizes: ['m', 'n', 'k'] },
  add: { b: true, scalar: false, inPlace: true, sizes: ['length'] },
  dot: { b: true, scalar: true, inPlace: false, sizes: ['length'] },
  sum: { b: false, scalar: true, inPlace: false, sizes: ['length'] },
  scale: { b: false, scalar: false, inPlace: true, sizes: ['length'] }
}

/** The arguments of a call, as they came. */
export interface Call {
  readonly a: unknown
  readonly b?: unknown
  readonly m?: unknown
  readonly n?: unknown
  readonly k?: unknown
  readonly s?: unknown
}

/** A call that can be run. */
export interface Job {
  readonly operation: Operation
  readonly dtype: Precision
  readonly a: FloatArray
  readonly b: FloatArray | undefined
  /** Where the result goes; of `dot` and `sum` one element of float64. */
  readonly out: FloatArray
  /** m, n and k of `matmul`, the length of the others. */
  readonly sizes: readonly number[]
  /** The factor of `scale`, rounded to the dtype; else 1. */
  readonly s: number
}

/** A whole number of elements. */
export function sizeGiven(op: string, name: string, value: unknown): number {
  const size = integer(op, name, value)
  if (size < 0) throw new ShapeError(`${op}: ${name} is negative: ${size}`)
  return size
}

/**
 * The sizes of a matrix product, [m, n, k].
 *
 * @throws {TensorError} `ERR_ARGUMENT` for anything but whole numbers, `ERR_SHAPE` for negative ones and for matrices of 2^53 elements or more.
 */
export function productSizes(op: string, { m, n, k }: Pick<Call, 'm' | 'n' | 'k'>): readonly [m: number, n: number, k: number] {
  const sizes = [sizeGiven(op, 'm', m), sizeGiven(op, 'n', n), sizeGiven(op, 'k', k)] as const
  for (const [of, x, y] of matrices(sizes)) {
    if (!Number.isSafeInteger(x * y)) throw new ShapeError(`${op}: ${of} of ${x} x ${y} would have more than 2^53 elements`)
  }
  return sizes
}

const matrices = ([m, n, k]: readonly [number, number, number]) => [["'a'", m, k], ["'b'", k, n], ['a result', m, n]] as const

/** The sizes of an operation on these arrays, which they have. */
function sizesOf(op: string, operation: Operation, call: Call, a: FloatArray, b: FloatArray | undefined): readonly number[] {
  if (operation !== 'matmul') {
    if (b !== undefined && a.length !== b.length) throw new ShapeError(`${op}: lengths differ: 'a' has ${a.length} elements, 'b' ${b.length}`)
    return [a.length]
  }
  const [m, n, k] = productSizes(op, call)
  if (a.length !== m * k) throw new ShapeError(`${op}: 'a' has ${a.length} elements, m x k is ${m} x ${k} = ${m * k}`)
  if (b?.length !== k * n) throw new ShapeError(`${op}: 'b' has ${b?.length} elements, k x n is ${k} x ${n} = ${k * n}`)
  return [m, n, k]
}

/**
 * A call as a job. `op` is the public name of the function, `out` the option.
 *
 * @throws {TensorError} `ERR_ARGUMENT`, `ERR_DTYPE`, `ERR_SHAPE`; `ERR_OUT_OF_MEMORY` where there is none for the result.
 */
export function jobOf(op: string, operation: Operation, call: Call, out: unknown): Job {
  const row = OPERATIONS[operation]
  const a = flatArray(op, 'a', call.a)
  const b = row.b ? flatArray(op, 'b', call.b) : undefined
  if (b !== undefined) checkSamePrecision(op, 'a', a, 'b', b)
  const sizes = sizesOf(op, operation, call, a, b)
  const dtype = precisionOf(a)
  const s = operation === 'scale' ? rounded(dtype, number(op, 's', call.s)) : 1
  if (row.scalar) return { operation, dtype, a, b, out: new Float64Array(1), sizes, s }
  const length = operation === 'matmul' ? (sizes[0] as number) * (sizes[1] as number) : a.length
  const into = out === undefined ? zeros(op, dtype, length) : outGiven(op, out, length, row.inPlace, b === undefined ? { a } : { a, b })
  return { operation, dtype, a, b, out: into, sizes, s }
}

/** A number as an element of the dtype. */
export const rounded = (dtype: Precision, value: number): number => (dtype === 'float32' ? Math.fround(value) : value)

/** Whether there is nothing to compute: the result has no elements, or is sums of nothing. */
export const isEmpty = ({ sizes }: Job): boolean => sizes.includes(0)
