// What a value is, whichever realm made it. Each context of node:vm has classes of its own, Jest runs tests in one, and what Node's own
// modules make (`structuredClone`, messages of workers) comes from the first: `instanceof` and comparisons with `Object.prototype` know this one
// alone. Arrays and views are told apart by Array.isArray and ArrayBuffer.isView already.

import { types } from 'node:util'

const sourceOf = Function.prototype.toString
/** `function Object() { [native code] }`: no function written in JavaScript, and no bound one, has this text. */
const OBJECT = sourceOf.call(Object)

/** Prototypes of other realms' plain objects that were met. */
const known = new WeakSet<object>([Object.prototype])

/** Whether a prototype is that of plain objects, in any realm. */
export function isObjectPrototype(prototype: object): boolean {
  if (known.has(prototype)) return true
  if (Object.getPrototypeOf(prototype) !== null) return false
  const Class: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  // A class's `prototype` cannot be set: what has another realm's `Object` as its constructor and is not its prototype only claims to be.
  if (typeof Class !== 'function' || types.isProxy(Class) || sourceOf.call(Class) !== OBJECT || Class.prototype !== prototype) return false
  known.add(prototype)
  return true
}

/** Whether a value is a plain object: not of a class, which may mean anything by its properties. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype === null || prototype === Object.prototype || isObjectPrototype(prototype)
}

/** Whether a value is a promise. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return types.isPromise(value)
}

/** What a map or a set holds, and undefined for anything else. */
export function held(value: object): Iterable<unknown> | undefined {
  if (types.isMap(value)) return Map.prototype.values.call(value)
  return types.isSet(value) ? Set.prototype.values.call(value) : undefined
}

/** What was thrown, as text: anything can be. */
export function thrown(error: unknown): string {
  return types.isNativeError(error) || error instanceof Error ? error.message : String(error)
}
