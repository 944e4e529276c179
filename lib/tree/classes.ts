// Classes whose instances are inner nodes of trees of tensors: how an instance is taken apart, and how one is made of other parts.

import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { Node } from '../program/node.js'
import { isObjectPrototype, isPlain } from '../realm.js'

/** How instances of a class are taken apart and put together. */
export interface TreeClass<T = object, C = unknown> {
  /** The parts that are trees, as a plain object or an array; whatever else the instance needs, `unflatten` finds in the old one. */
  flatten(instance: T): C
  /** An instance of exactly the same class from parts that `flatten` gave or others in their place, and the instance those were taken from. */
  unflatten(children: C, instance: T): T
}

/**
 * By prototype, which says what an object is: a property `constructor` may be anything. A subclass has a prototype of its own: how it is put
 * together is not its base's to say.
 */
const registered = new WeakMap<object, TreeClass>()

/** The name of a class in messages. */
const nameOf = (Class: unknown): string => (typeof Class === 'function' && typeof Class.name === 'string' && Class.name !== '' ? Class.name : 'the class')

/** Registers a class, checked; `name` leads messages. */
export function registerClass(name: string, Class: unknown, how: unknown): void {
  const prototype: unknown = typeof Class === 'function' ? Class.prototype : undefined
  // Arrow functions have no prototype, generators one without a constructor.
  if (typeof prototype !== 'object' || prototype === null || prototype.constructor !== Class) throw new ArgumentError(`${name}: expected a class, got ${shown(Class)}`)
  if (isObjectPrototype(prototype) || Array.isArray(prototype) || prototype instanceof Node) throw new ArgumentError(`${name}: ${nameOf(Class)} is what trees are made of already; register a class of your own`)
  if (registered.has(prototype)) throw new ArgumentError(`${name}: ${nameOf(Class)} is registered already`)
  const { flatten, unflatten } = (typeof how === 'object' && how !== null ? how : {}) as Partial<TreeClass>
  if (typeof flatten !== 'function' || typeof unflatten !== 'function') throw new ArgumentError(`${name}: ${nameOf(Class)} needs { flatten, unflatten }, two functions, got ${shown(how)}`)
  registered.set(prototype, { flatten: (instance) => flatten.call(how, instance), unflatten: (children, instance) => unflatten.call(how, children, instance) })
}

/** Whether a value is an instance of a registered class itself. */
export function isRegistered(value: unknown): value is object {
  return typeof value === 'object' && value !== null && registered.has(Object.getPrototypeOf(value) as object)
}

/**
 * The parts of an instance of a registered class, a plain object or an array. `where` is what the instance is called in errors.
 *
 * @throws {ArgumentError} when `flatten` returns anything else.
 */
export function childrenOf(where: string, instance: object): Record<string, unknown> | readonly unknown[] {
  const children: unknown = (registered.get(Object.getPrototypeOf(instance) as object) as TreeClass).flatten(instance)
  if (!isRegistered(children) && (Array.isArray(children) || isPlain(children))) return children
  throw new ArgumentError(`${where}: 'flatten' of ${classOf(instance)} must return a plain object or an array of its parts, got ${shown(children)}`)
}

/**
 * An instance like another, of other parts.
 *
 * @throws {ArgumentError} when `unflatten` returns anything but an instance of the same class.
 */
export function withChildren(where: string, instance: object, children: unknown): object {
  const prototype = Object.getPrototypeOf(instance) as object
  const made: unknown = (registered.get(prototype) as TreeClass).unflatten(children, instance)
  if (typeof made === 'object' && made !== null && Object.getPrototypeOf(made) === prototype) return made
  throw new ArgumentError(`${where}: 'unflatten' of ${classOf(instance)} must return an instance of that class, got ${shown(made)}`)
}

/** The name of an instance's class. */
export function classOf(instance: object): string {
  return nameOf((Object.getPrototypeOf(instance) as object).constructor)
}
