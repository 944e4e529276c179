// Single arguments, checked: what JavaScript gets wrong (a string for an axis, null, a fraction). Shapes, axes and dtypes are Rust's to judge.

import { ArgumentError, DTypeError, IndexError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { meantOrAll } from '../errors/did-you-mean.js'
import { DTYPE, type DType } from '../generated/dtypes.js'

export function wrong(op: string, name: string, wanted: string, value: unknown): ArgumentError {
  return new ArgumentError(`${op}: '${name}' must be ${wanted}, got ${shown(value)}`)
}

/** A whole number that a float64 holds exactly. */
export function integer(op: string, name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(op, name, Number.isInteger(value) ? 'an integer within 2^53 - 1 of zero' : 'an integer', value)
  return value
}

/** An axis of a rank, not negative. */
export function axisGiven(op: string, value: unknown, rank: number): number {
  const axis = integer(op, 'axis', value)
  if (axis < -rank || axis >= rank) throw new IndexError(`${op}: axis ${axis} is out of range for rank ${rank}`)
  return axis < 0 ? axis + rank : axis
}

/** A number, finite or not. */
export function number(op: string, name: string, value: unknown): number {
  if (typeof value !== 'number') throw wrong(op, name, 'a number', value)
  return value
}

/** Whether something is so, or `fallback` where it is left out. */
export function flag(op: string, name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw wrong(op, name, 'a boolean', value)
  return value
}

/** One of some words. */
export function oneOf<W extends string>(op: string, name: string, value: unknown, words: readonly W[]): W {
  const found = words.find((word) => word === value)
  if (found === undefined) throw wrong(op, name, `one of ${words.map((word) => shown(word)).join(', ')}`, value)
  return found
}

/** A list of whole numbers, copied: each is read once, and the caller's list may change afterwards. */
export function integers(op: string, name: string, value: unknown): readonly number[] {
  if (!Array.isArray(value)) {
    const hint = typeof value === 'number' ? `; write [${value}], or [${value}, ...] for several` : ''
    throw new ArgumentError(`${op}: '${name}' must be an array of integers, got ${shown(value)}${hint}`)
  }
  const numbers: number[] = []
  for (let i = 0; i < value.length; i++) numbers.push(integer(op, `${name}[${i}]`, value[i]))
  return numbers
}

/** A shape: integers that are not negative. */
export function shapeGiven(op: string, value: unknown): readonly number[] {
  const sizes = integers(op, 'shape', value)
  const negative = sizes.find((size) => size < 0)
  if (negative !== undefined) throw new ShapeError(`${op}: shape [${sizes.join(', ')}]: size ${negative} is negative`)
  return sizes
}

export function isDType(value: string): value is DType {
  return Object.hasOwn(DTYPE, value)
}

/** The name of a dtype, as the user wrote it. */
export function dtypeNamed(op: string, name: string, value: unknown): DType {
  if (typeof value !== 'string') throw wrong(op, name, 'the name of a dtype', value)
  if (isDType(value)) return value
  throw new DTypeError(`${op}: ${shown(value)} is not a dtype${meantOrAll(value, Object.keys(DTYPE))}`)
}

/** The dtype option of a creation function. */
export function dtypeOption(op: string, value: unknown, fallback: DType): DType {
  return value === undefined ? fallback : dtypeNamed(op, 'dtype', value)
}

/** Axes that a tensor may have: longer lists are not walked. */
export const MOST_AXES = 64

/** Places before and after the data: a number, one for each axis, a pair for each axis, or a word; of `'same'`, which follows from sizes, none. */
export function padding(op: string, name: string, value: unknown): readonly (readonly number[])[] {
  if (value === 'same') return []
  if (value === 'valid') return [[0], [0]]
  if (typeof value === 'number') return [[integer(op, name, value)], [value]]
  if (!Array.isArray(value) || value.length > MOST_AXES) throw wrong(op, name, "a number, numbers, pairs, 'same' or 'valid'", value)
  const sides = Array.from({ length: value.length }, (_, i): unknown => value[i])
  if (!sides.some((item) => Array.isArray(item))) {
    const both = integers(op, name, sides)
    return [both, both]
  }
  const pairs = sides.map((item, i) => integers(op, `${name}[${i}]`, item))
  const odd = pairs.findIndex((pair) => pair.length !== 2)
  if (odd >= 0) throw wrong(op, `${name}[${odd}]`, 'two numbers, before and after', pairs[odd])
  return [pairs.map((pair) => pair[0] as number), pairs.map((pair) => pair[1] as number)]
}
