// Trees of tensors: a tensor, or plain objects, arrays and instances of registered classes with trees in them. Everything else is handed
// through as it is.

import { ArgumentError, DeviceError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { checkAlive, isTensor } from '../program/node.js'
import { held, isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { childrenOf, classOf, isRegistered, withChildren } from './classes.js'

/** Deeper nesting is a cycle, or no tree that anybody meant. */
const DEEPEST = 256
/** Parts of a tree at most; what shares its parts has as many as there are ways to them. */
const MOST_PARTS = 1 << 20

/** That no tensors hide in what is handed through: their gradients would be missed without a word. */
function checkOpaque(where: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
  const inside: Iterable<unknown> = held(value) ?? Object.values(value)
  for (const item of inside) {
    if (!isTensor(item) && !isRegistered(item)) continue
    const what = isTensor(item) ? 'tensors' : shown(item)
    throw new ArgumentError(`${where} is ${shown(value)} with ${what} in it; trees are made of plain objects, arrays, and classes that ft.tree.register knows`)
  }
}

/** The items of an array, whose length is read once: that of a proxy may be another each time, or none. */
function itemsOf(where: string, list: readonly unknown[]): readonly unknown[] {
  const { length } = list
  if (!(Number.isSafeInteger(length) && length >= 0 && length <= MOST_PARTS)) throw new ArgumentError(`${where} is an array of more than ${MOST_PARTS} parts`)
  return Array.from({ length }, (_, i) => list[i])
}

/** The tree with each tensor replaced; with `rebuilt` false, instances of classes stay as they are. */
function walkTree(tree: unknown, f: (x: Tensor, path: string) => unknown, name: string, rebuilt: boolean): unknown {
  let parts = 0
  const inner = (part: unknown, path: string, depth: number): unknown => {
    if (isTensor(part)) return f(part, path)
    if (depth > DEEPEST) throw new ArgumentError(`${name} is nested deeper than ${DEEPEST} levels at ${path.slice(0, 40)}...; it may contain itself`)
    const registered = isRegistered(part)
    const items = Array.isArray(part) && !registered ? itemsOf(`${name}${path}`, part) : undefined
    parts += 1 + (items?.length ?? 0)
    if (parts > MOST_PARTS) throw new ArgumentError(`${name} has more than ${MOST_PARTS} parts`)
    if (registered) {
      const where = `${name}${path}`
      const children = inner(childrenOf(where, part), path, depth + 1)
      return rebuilt ? withChildren(where, part, children) : part
    }
    if (items !== undefined) return items.map((item, i) => inner(item, `${path}[${i}]`, depth + 1))
    if (isPlain(part)) {
      const entries = Object.entries(part).map(([key, item]): [string, unknown] => [key, inner(item, `${path}.${key}`, depth + 1)])
      return Object.fromEntries(entries)
    }
    checkOpaque(`${name}${path}`, part)
    return part
  }
  return inner(tree, '', 0)
}

/**
 * The tree with each tensor replaced by what `f` makes of it, which is told where it stands (`.layers[0].weight`). Objects keep the
 * order of their keys; the parts of an instance are named as those of what its class is taken apart into. `name` is what the tree is called
 * in errors.
 *
 * @throws {ArgumentError} for trees that contain themselves, tensors inside of anything else, and classes registered wrongly.
 */
export function mapTree(tree: unknown, f: (x: Tensor, path: string) => unknown, name = 'a tree of tensors'): unknown {
  return walkTree(tree, f, name, true)
}

/** The tensors of a tree, in order. */
export function leaves(tree: unknown, name = 'a tree of tensors'): Tensor[] {
  const found: Tensor[] = []
  // No instance is made of what `push` returns.
  walkTree(tree, (x) => found.push(x), name, false)
  return found
}

/**
 * What stands in `given` where `tree` has tensors, in order: tensors that pass `check`, or with `absent`, which is what else may stand there
 * or in the place of a whole part, nothing.
 *
 * @throws {ArgumentError} where the two differ in structure, leading with `name`; and what `check` throws.
 */
export function alike(
  name: string,
  tree: unknown,
  given: unknown,
  check: (where: string, x: Tensor, given: Tensor) => void,
  absent?: null,
  path = ''
): (Tensor | undefined)[] {
  if (absent === null && (given === null || given === undefined)) return leaves(tree).map(() => undefined)
  const where = `${name}${path}`
  if (isTensor(tree)) {
    if (!isTensor(given)) throw new ArgumentError(`${where} must be a tensor, got ${shown(given)}`)
    check(where, tree, given)
    return [given]
  }
  if (isRegistered(tree)) {
    const same = isRegistered(given) && Object.getPrototypeOf(given) === Object.getPrototypeOf(tree)
    if (!same) throw new ArgumentError(`${where} must be an instance of ${classOf(tree)}, got ${shown(given)}`)
    return alike(name, childrenOf(where, tree), childrenOf(where, given), check, absent, path)
  }
  if (Array.isArray(tree)) {
    const items = itemsOf(where, tree)
    if (!Array.isArray(given) || given.length !== items.length) throw new ArgumentError(`${where} must be an array of ${items.length}, got ${shown(given)}`)
    return items.flatMap((item, i) => alike(name, item, given[i], check, absent, `${path}[${i}]`))
  }
  if (isPlain(tree)) {
    if (!isPlain(given)) throw new ArgumentError(`${where} must be an object, got ${shown(given)}`)
    return Object.entries(tree).flatMap(([key, item]) => alike(name, item, given[key], check, absent, `${path}.${key}`))
  }
  return []
}

/**
 * That a tensor is of another's dtype, shape and device.
 *
 * @throws {TensorError} `ERR_DTYPE`, `ERR_SHAPE`, `ERR_DEVICE`, `ERR_DISPOSED`, leading with `where`.
 */
export function sameType(where: string, x: Tensor, given: Tensor): void {
  sameDType(where, x, given)
  if (given.shape.join() !== x.shape.join()) throw new ShapeError(`${where} must have shape [${x.shape.join(', ')}], got [${given.shape.join(', ')}]`)
}

/**
 * That a tensor is of another's dtype and device.
 *
 * @throws {TensorError} as {@link sameType}.
 */
export function sameDType(where: string, x: Tensor, given: Tensor): void {
  checkAlive(where, given)
  if (given.dtype !== x.dtype) throw new DTypeError(`${where} must be ${x.dtype}, got ${given.dtype}`)
  if (given.device !== x.device) throw new DeviceError(`${where} must be on ${x.device}, got a tensor on ${given.device}`)
}

/** The tensors in a value: itself, or in arrays, plain objects and instances of registered classes. */
export function tensorsIn(name: string, value: unknown): Set<Tensor> {
  const found = new Set<Tensor>()
  // A set also of what is still to be looked at: values may contain themselves, and be nested deeper than calls can be.
  const values = new Set<unknown>([value])
  for (const item of values) {
    if (isTensor(item)) found.add(item)
    // What a class is taken apart into is new each time, which the set does not know: a tree has a bound.
    else if (isRegistered(item)) for (const x of leaves(item, `${name}: the result`)) found.add(x)
    else if (Array.isArray(item) || isPlain(item)) {
      // An array's values too: it may be of any length with nothing in most places.
      Object.values(item).forEach((inner) => values.add(inner))
    }
  }
  return found
}
