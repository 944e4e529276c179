// Trees of tensors: a tensor, or plain objects and arrays of trees. Everything else in them is handed through as it is.

import { shown } from './call.js'
import { ArgumentError } from './errors.js'
import { Tensor } from './tensor.js'

/** Deeper nesting is a cycle, or no tree that anybody meant. */
const DEEPEST = 256

/** Whether a value is a plain object: not of a class, which may mean anything by its properties. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * The tree with each tensor replaced by what `f` makes of it, which is told where it stands (`.layers[0].weight`). Objects keep the
 * order of their keys.
 *
 * @throws {ArgumentError} for trees that contain themselves.
 */
export function mapTree(tree: unknown, f: (x: Tensor, path: string) => unknown, path = '', depth = 0): unknown {
  if (tree instanceof Tensor) return f(tree, path)
  if (depth > DEEPEST) throw new ArgumentError(`a tree of tensors is nested deeper than ${DEEPEST} levels at ${path.slice(0, 40)}...; it may contain itself`)
  if (Array.isArray(tree)) return tree.map((item: unknown, i) => mapTree(item, f, `${path}[${i}]`, depth + 1))
  if (isPlain(tree)) {
    const entries = Object.entries(tree).map(([key, item]): [string, unknown] => [key, mapTree(item, f, `${path}.${key}`, depth + 1)])
    return Object.fromEntries(entries)
  }
  return tree
}

/** The tensors of a tree, in order. */
export function leaves(tree: unknown): Tensor[] {
  const found: Tensor[] = []
  mapTree(tree, (x) => found.push(x))
  return found
}

/**
 * Tensors that stand in `given` where `tree` has some, in order.
 *
 * @throws {ArgumentError} where the two differ in structure, leading with `name`.
 */
export function alike(name: string, tree: unknown, given: unknown, path = ''): Tensor[] {
  if (tree instanceof Tensor) {
    if (given instanceof Tensor) return [given]
    throw new ArgumentError(`${name}${path} must be a tensor, got ${shown(given)}`)
  }
  if (Array.isArray(tree)) {
    if (!Array.isArray(given) || given.length !== tree.length) throw new ArgumentError(`${name}${path} must be an array of ${tree.length}, got ${shown(given)}`)
    return tree.flatMap((item: unknown, i) => alike(name, item, given[i], `${path}[${i}]`))
  }
  if (isPlain(tree)) {
    if (!isPlain(given)) throw new ArgumentError(`${name}${path} must be an object, got ${shown(given)}`)
    return Object.entries(tree).flatMap(([key, item]) => alike(name, item, given[key], `${path}.${key}`))
  }
  return []
}
