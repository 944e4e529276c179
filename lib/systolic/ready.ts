// What ready-made arrays have in common: the matrices and vectors that they are given, and how much they may take.

import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

/** A list of numbers. */
export type Vector = readonly number[] | Float64Array | Float32Array | Int32Array

/** Rows of one length. */
export type Matrix = readonly Vector[]

/** Elements of an operand. */
const MOST_NUMBERS = 2 ** 22

/** The length of an array or a typed array; null for anything else. */
export function lengthOf(value: unknown): number | null {
  // What has a typed array's prototype alone throws where its length is asked for.
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView)) ? (value as readonly unknown[]).length : null
}

/** Numbers of a list, copied. */
export function vectorGiven(op: string, name: string, value: unknown): number[] {
  const length = lengthOf(value)
  if (length === null || length > MOST_NUMBERS) throw new ArgumentError(`${op}: '${name}' must be an array of at most ${MOST_NUMBERS} numbers, got ${shown(value)}`)
  const numbers: number[] = []
  for (let i = 0; i < length; i++) {
    const number: unknown = (value as readonly unknown[])[i]
    if (typeof number !== 'number') throw new ArgumentError(`${op}: '${name}[${i}]' must be a number, got ${shown(number)}`)
    numbers.push(number)
  }
  return numbers
}

/** Rows of a matrix, copied; `[]` has none. */
export function matrixGiven(op: string, name: string, value: unknown): number[][] {
  if (!Array.isArray(value) || value.length > MOST_NUMBERS) throw new ArgumentError(`${op}: '${name}' must be an array of rows, got ${shown(value)}; of a tensor x write x.toArray()`)
  const rows: number[][] = []
  let count = 0
  for (let i = 0; i < value.length; i++) {
    const row = vectorGiven(op, `${name}[${i}]`, value[i])
    if (i > 0 && row.length !== rows[0]?.length) throw new ShapeError(`${op}: '${name}' has rows of ${rows[0]?.length} and of ${row.length} numbers`)
    count += row.length
    if (count > MOST_NUMBERS) throw new ArgumentError(`${op}: '${name}' has more than ${MOST_NUMBERS} numbers`)
    rows.push(row)
  }
  return rows
}

/** Rows as columns; `columns` is their number where there are no rows. */
export function transposed(rows: readonly (readonly number[])[], columns: number = rows[0]?.length ?? 0): number[][] {
  return Array.from({ length: columns }, (_, j) => rows.map((row) => row[j] as number))
}

/** Steps of elements that a ready-made array may take: seconds. */
const MOST_READY_STEPS = 2 ** 25

/** To make a part of an array takes as long as so many steps of an element, for itself and for each of its elements. */
const [PART, ELEMENT] = [1024, 32]

/** Refuses ready-made arrays that nobody waits for: `elements` and ticks of each part. */
export function checkSteps(op: string, elements: number, ticks: number, parts = 1): void {
  if (parts * (PART + elements * (ELEMENT + ticks)) > MOST_READY_STEPS + PART) throw new ArgumentError(`${op}: ${elements} elements for ${ticks} ticks${parts === 1 ? '' : `, ${parts} times,`} are more than ${MOST_READY_STEPS} steps; simulate(...) counts the cycles of larger products`)
}

/** A list that begins `by` ticks late, with what a sum begins with. */
export const skewed = (values: readonly number[], by: number, zero: number): number[] => [...new Array<number>(by).fill(zero), ...values]
