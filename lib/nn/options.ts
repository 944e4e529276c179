// What the constructors of layers are told, checked.

import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
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

/** A number of a range that includes its ends. */
export function ranged(op: string, name: string, value: unknown, fallback: number, least: number, most: number): number {
  // Null is no default, but an error.
  const given = value === undefined ? fallback : value
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

/** Parameters of the shapes that a layer has; undefined stands for one that this layer is without. */
export function shaped<T>(op: string, params: T, shapes: { readonly [name: string]: readonly number[] | undefined }): T {
  const names = Object.keys(shapes)
  given(op, params as Record<string, unknown>, names.filter((name) => shapes[name] !== undefined))
  for (const name of names) {
    const [shape, value] = [shapes[name], (params as Record<string, unknown>)[name]]
    if (shape === undefined) {
      if (value !== undefined) throw new ArgumentError(`${op}: there is a '${name}' in the parameters, and the layer was made without`)
      continue
    }
    const found = tensorGiven(op, name, value).shape
    if (found.join() !== shape.join()) throw new ShapeError(`${op}: '${name}' must have shape [${shape.join(', ')}], got [${found.join(', ')}]`)
  }
  return params
}
