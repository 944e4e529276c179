// `ft.tree`: trees of tensors as values, and the classes that may stand in them. JAX's `tree_util`, as far as programs here need it.

import { callable } from '../arguments/functions.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType } from '../generated/dtypes.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { IsOne } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { registerClass, type TreeClass } from './classes.js'
import { alike, leaves as leavesOf, mapTree } from './traverse.js'

export type { TreeClass } from './classes.js'

/** A tree with `R` in the place of its tensors. */
export type Mapped<P, R> = P extends Tensor ? R : P extends (...args: never[]) => unknown ? P : { [K in keyof P]: Mapped<P[K], R> }

/** What `tree.map` gives: a tree of the same type where the function does not say which dtype it makes. */
export type MapResult<P, R> = R extends Tensor<infer D extends DType> ? (IsOne<D> extends true ? Mapped<P, R> : P) : Mapped<P, R>

/**
 * Has instances of a class stand in trees: gradients, optimisers, `data`, `scope` and all else that takes a tree then goes to the tensors in
 * them, and makes new instances of what it finds. Only the class itself is meant, not its subclasses, and only in this worker.
 *
 * `flatten` gives the parts of an instance that are trees; `unflatten` makes an instance of such parts, and finds the rest (sizes, settings)
 * in the instance that they were taken from. The parts may be tensors of other shapes: an optimiser's averages, or examples of a batch.
 *
 * @param Class The class; its instances are recognised by their prototype.
 * @throws {ArgumentError} for anything but a class, one that is registered already, or without the two functions. Where a tree is
 * used: for a `flatten` that returns no plain object or array, and an `unflatten` that returns no instance of the class.
 * @example
 * ```ts
 * class Linear {
 *   constructor(readonly w: ft.Tensor<'float32'>, readonly b: ft.Tensor<'float32'>) {}
 * }
 * ft.tree.register(Linear, { flatten: ({ w, b }) => ({ w, b }), unflatten: ({ w, b }) => new Linear(w, b) })
 * ```
 */
export function register<T extends object, C extends object>(Class: { readonly prototype: T }, how: TreeClass<T, C>): void {
  registerClass('tree.register', Class, how)
}

/**
 * A tree of what `f` makes of each tensor, in the structure of the first tree. Of several trees of one structure, `f` gets the tensors that
 * stand in the same place; shapes and dtypes may differ. What is no tensor is handed through from the first.
 *
 * @param f Returns tensors, or anything where no class's `unflatten` minds.
 * @throws {ArgumentError} for trees of different structure, or that contain themselves.
 * @throws {DisposedError} for tensors that were given up.
 * @example
 * ```ts
 * ft.tree.map((p, g) => p.sub(g.mul(0.1)), { w: ft.tensor([1, 2]) }, { w: ft.tensor([10, 0]) }).w // [0, 2]
 * ```
 */
export function map<P, R>(f: (x: Tensor, ...rest: Tensor[]) => R, tree: P, ...rest: readonly Mapped<NoInfer<P>, Tensor>[]): MapResult<P, R> {
  const name = 'tree.map'
  callable(name, f)
  // The first tree alone: it has a bound on how deep a tree is, and the others are of its structure.
  for (const x of leavesOf(tree, `${name}: the tree`)) checkAlive(name, x)
  const others = rest.map((other, n) => alike(`${name}: tree ${n + 1}`, tree, other, (where, _, x) => checkAlive(where, x)) as Tensor[])
  let next = 0
  const made = mapTree(
    tree,
    (x) => {
      const at = next++
      return f(x, ...others.map((found) => found[at] as Tensor))
    },
    `${name}: the tree`
  )
  return made as MapResult<P, R>
}

/**
 * The tensors of a tree in order: arrays by position, objects in the order of their keys.
 *
 * @throws {ArgumentError} for trees that contain themselves, and tensors inside of anything but plain objects, arrays, and registered classes.
 * @example
 * ```ts
 * ft.tree.leaves({ layers: [{ w: ft.ones([2, 3]), b: ft.ones([3]) }], name: 'net' }).map((x) => x.size) // [6, 3]
 * ```
 */
export function leaves(tree: unknown): Tensor[] {
  return leavesOf(tree, 'tree.leaves: the tree')
}

/**
 * The tensors of a tree in order, and a function that makes a tree of the same structure of as many others. JAX `tree_util.tree_flatten`.
 *
 * @throws {ArgumentError} as {@link leaves}; the function, for anything but as many tensors, and where the tree has changed.
 * @example
 * ```ts
 * ft.tree.flatten({ w: ft.ones([2]), name: 'net' })[1]([ft.tensor([1, 2])]).w // [1, 2]
 * ```
 */
export function flatten<P>(tree: P): [leaves: Tensor[], rebuild: (leaves: readonly Tensor[]) => P] {
  const name = 'tree.flatten'
  const found = leavesOf(tree, `${name}: the tree`)
  const count = found.length
  const rebuild = (tensors: readonly Tensor[]): P => {
    if (!Array.isArray(tensors) || tensors.length !== count) throw new ArgumentError(`${name}: the tree is made of an array of ${count} tensors, got ${shown(tensors)}`)
    const odd = tensors.findIndex((x) => !isTensor(x))
    if (odd >= 0) throw new ArgumentError(`${name}: the tree is made of tensors, got ${shown(tensors[odd])}`)
    let next = 0
    const made = mapTree(tree, () => tensors[next++], `${name}: the tree`) as P
    if (next !== count) throw new ArgumentError(`${name}: the tree had ${count} tensors, and has ${next} now`)
    return made
  }
  return [found, rebuild]
}
