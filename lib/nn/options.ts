// What the constructors of layers are told, checked.

import { checkOptions, integer, shown } from '../call.js'
import { ArgumentError } from '../errors.js'
import type { Initializer } from './init.js'

/** A size of at least one. */
export function size(op: string, name: string, value: unknown): number {
  const n = integer(op, name, value)
  if (n < 1) throw new ArgumentError(`${op}: '${name}' must be positive, got ${n}`)
  return n
}

/** The options of a constructor. */
export function layerOptions<T>(op: string, options: unknown, names: readonly (keyof T & string)[]): T {
  return checkOptions(op, options, names) as T
}

/** Whether something is there; true by default. */
export function flag(op: string, name: string, value: unknown, fallback = true): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw new ArgumentError(`${op}: '${name}' must be a boolean, got ${shown(value)}`)
  return value
}

/** A number of a range that includes its ends. */
export function ranged(op: string, name: string, value: unknown, fallback: number, least: number, most: number): number {
  const given = value ?? fallback
  if (typeof given === 'number' && given >= least && given <= most) return given
  const range = most === Infinity ? `a number from ${least}` : `a number from ${least} to ${most}`
  throw new ArgumentError(`${op}: '${name}' must be ${range}, got ${shown(given)}`)
}

/** An initialiser, or the one by default. */
export function initializer(op: string, name: string, value: unknown, fallback: Initializer): Initializer {
  if (value === undefined) return fallback
  if (typeof value !== 'function') throw new ArgumentError(`${op}: '${name}' must be a function (key, shape, options) => tensor, such as ft.nn.init.heNormal, got ${shown(value)}`)
  return value as Initializer
}

/** Parameters of the names that a layer has, or an error that shows what was given. */
export function given<T>(op: string, params: T, names: readonly (keyof T & string)[]): T {
  const found = typeof params === 'object' && params !== null ? params : undefined
  if (found === undefined || names.some((name) => found[name] === undefined)) {
    throw new ArgumentError(`${op}: the parameters must be { ${names.join(', ')} } as init makes them, got ${shown(params)}`)
  }
  return params
}
