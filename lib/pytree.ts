// Trees of tensors: a tensor, or plain objects and arrays of trees. Everything else in them is handed through as it is.

import { shown } from './call.js'
import { ArgumentError, DeviceError, DTypeError, ShapeError } from './errors.js'
import { checkAlive, Tensor } from './tensor.js'

/** Deeper nesting is a cycle, or no tree that anybody meant. */
const DEEPEST = 256
/** Parts of a tree at most; what shares its parts has as many as there are ways to them. */
const MOST_PARTS = 1 << 20

/** Whether a value is a plain object: not of a class, which may mean anything by its properties. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** That no tensors hide in what is handed through: their gradients would be missed without a word. */
function checkOpaque(where: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
  const inside: Iterable<unknown> = value instanceof Map ? value.values() : value instanceof Set ? value : Object.values(value)
  for (const item of inside) {
    if (item instanceof Tensor) throw new ArgumentError(`${where} is ${shown(value)} with tensors in it; trees are made of plain objects and arrays`)
  }
}

/**
 * The tree with each tensor replaced by what `f` makes of it, which is told where it stands (`.layers[0].weight`). Objects keep the
 * order of their keys. `name` is what the tree is called in errors.
 *
 * @throws {ArgumentError} for trees that contain themselves, and tensors inside of anything but plain objects and arrays.
 */
export function mapTree(tree: unknown, f: (x: Tensor, path: string) => unknown, name = 'a tree of tensors'): unknown {
  let parts = 0
  const inner = (part: unknown, path: string, depth: number): unknown => {
    if (part instanceof Tensor) return f(part, path)
    if (depth > DEEPEST) throw new ArgumentError(`${name} is nested deeper than ${DEEPEST} levels at ${path.slice(0, 40)}...; it may contain itself`)
    // An array's length may be that of nothing but holes.
    parts += Array.isArray(part) ? part.length : 1
    if (parts > MOST_PARTS) throw new ArgumentError(`${name} has more than ${MOST_PARTS} parts`)
    if (Array.isArray(part)) return part.map((item: unknown, i) => inner(item, `${path}[${i}]`, depth + 1))
    if (isPlain(part)) {
      const entries = Object.entries(part).map(([key, item]): [string, unknown] => [key, inner(item, `${path}.${key}`, depth + 1)])
      return Object.fromEntries(entries)
    }
    checkOpaque(`${name}${path}`, part)
    return part
  }
  return inner(tree, '', 0)
}

/** The tensors of a tree, in order. */
export function leaves(tree: unknown, name?: string): Tensor[] {
  const found: Tensor[] = []
  mapTree(tree, (x) => found.push(x), name)
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
  if (tree instanceof Tensor) {
    if (!(given instanceof Tensor)) throw new ArgumentError(`${where} must be a tensor, got ${shown(given)}`)
    check(where, tree, given)
    return [given]
  }
  if (Array.isArray(tree)) {
    if (!Array.isArray(given) || given.length !== tree.length) throw new ArgumentError(`${where} must be an array of ${tree.length}, got ${shown(given)}`)
    return tree.flatMap((item: unknown, i) => alike(name, item, given[i], check, absent, `${path}[${i}]`))
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
