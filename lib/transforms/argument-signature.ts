// What a trace depends on of a call's arguments: structure, the types of tensors, and values that are neither tensors nor numbers.

import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { Type } from '../program/types.js'
import { isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { childrenOf, classOf, isRegistered } from '../tree/classes.js'

/** A property of an instance, which is none of its parts. */
type Property = readonly [name: string, value: unknown]

/** One argument, or a part of one. */
export type Spec =
  | { readonly kind: 'tensor'; type: Type }
  | { readonly kind: 'number' }
  | { readonly kind: 'array'; readonly items: readonly Spec[] }
  | { readonly kind: 'object'; readonly keys: readonly string[]; readonly items: readonly Spec[] }
  | { readonly kind: 'class'; readonly prototype: object; readonly rest: readonly Property[]; readonly parts: Spec }
  | { readonly kind: 'same'; readonly value: unknown }

/** What a call brings to a trace, in the order of the specs. */
export interface Brought {
  readonly tensors: Tensor[]
  readonly numbers: number[]
}

/**
 * What an instance is beside its parts, as far as it can be compared: plain values and functions. Objects are not, for nobody knows which of
 * them hold the parts.
 */
function restOf(instance: object, parts: Record<string, unknown> | readonly unknown[]): Property[] {
  const known = Array.isArray(parts) ? (name: string, value: unknown) => parts.includes(value) || name in parts : (name: string) => Object.hasOwn(parts, name)
  return Object.entries(instance).filter(([name, value]) => (typeof value !== 'object' || value === null) && !known(name, value))
}

/** The spec of an argument whose trees were walked already: they contain no themselves. */
export function specOf(value: unknown): Spec {
  if (isTensor(value)) return { kind: 'tensor', type: value.type }
  if (typeof value === 'number') return { kind: 'number' }
  if (isRegistered(value)) {
    const parts = childrenOf('jit', value)
    return { kind: 'class', prototype: Object.getPrototypeOf(value) as object, rest: restOf(value, parts), parts: specOf(parts) }
  }
  if (Array.isArray(value)) return { kind: 'array', items: Array.from(value, specOf) }
  if (isPlain(value)) return { kind: 'object', keys: Object.keys(value), items: Object.values(value).map(specOf) }
  return { kind: 'same', value }
}

/** Deeper static arguments contain themselves. */
const DEEPEST = 256

/** The spec of an argument that is the same or another: of arrays and plain objects their parts, for the caller may change them. */
export function specOfStatic(value: unknown, depth = 0): Spec {
  if (depth > DEEPEST) throw new ArgumentError(`jit: a static argument is nested deeper than ${DEEPEST} levels; it may contain itself`)
  const inner = (item: unknown): Spec => specOfStatic(item, depth + 1)
  if (isRegistered(value)) return { kind: 'same', value }
  if (Array.isArray(value)) return { kind: 'array', items: Array.from(value, inner) }
  if (isPlain(value)) return { kind: 'object', keys: Object.keys(value), items: Object.values(value).map(inner) }
  return { kind: 'same', value }
}

const sameShape = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((n, i) => n === b[i])

/** Whether an argument is as a spec says; its tensors and numbers are added to what the call brings. */
export function matches(spec: Spec, value: unknown, to: Brought): boolean {
  switch (spec.kind) {
    case 'tensor': {
      if (!isTensor(value)) return false
      if (value.disposed || value.owner.closed) checkAlive('jit', value)
      const { type } = value
      if (type !== spec.type) {
        // A type is another object in another epoch.
        if (type.row !== spec.type.row || type.device !== spec.type.device || !sameShape(type.shape, spec.type.shape)) return false
        spec.type = type
      }
      to.tensors.push(value)
      return true
    }
    case 'number':
      if (typeof value !== 'number') return false
      to.numbers.push(value)
      return true
    case 'array': {
      const { items } = spec
      if (!Array.isArray(value) || value.length !== items.length || isRegistered(value)) return false
      for (let i = 0; i < items.length; i++) if (!matches(items[i] as Spec, value[i], to)) return false
      return true
    }
    case 'object': {
      if (!isPlain(value)) return false
      const { keys, items } = spec
      let n = 0
      for (const key in value) if (keys[n++] !== key) return false
      if (n !== keys.length) return false
      for (let i = 0; i < n; i++) if (!matches(items[i] as Spec, value[keys[i] as string], to)) return false
      return true
    }
    case 'class': {
      if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== spec.prototype || !isRegistered(value)) return false
      const parts = childrenOf('jit', value)
      const rest = restOf(value, parts)
      if (rest.length !== spec.rest.length || rest.some(([name, x], i) => name !== spec.rest[i]?.[0] || !Object.is(x, spec.rest[i]?.[1]))) return false
      return matches(spec.parts, parts, to)
    }
    case 'same':
      return Object.is(spec.value, value)
  }
}

/** The argument with what stands for its tensors and numbers in a trace; `f` is asked for each in the order of what a call brings. */
export function replaced(spec: Spec, value: unknown, f: (kind: 'tensor' | 'number') => unknown, withParts: (instance: object, parts: unknown) => unknown): unknown {
  switch (spec.kind) {
    case 'tensor':
    case 'number':
      return f(spec.kind)
    case 'array':
      return spec.items.map((item, i) => replaced(item, (value as unknown[])[i], f, withParts))
    case 'object':
      return Object.fromEntries(spec.keys.map((key, i) => [key, replaced(spec.items[i] as Spec, (value as Record<string, unknown>)[key], f, withParts)]))
    case 'class':
      return withParts(value as object, replaced(spec.parts, childrenOf('jit', value as object), f, withParts))
    case 'same':
      return value
  }
}

const tensorText = ({ row, shape }: Type): string => `${row.name} [${shape.join(', ')}]`

/** A spec in words, as reasons for another trace have it. */
function described(spec: Spec): string {
  switch (spec.kind) {
    case 'tensor':
      return tensorText(spec.type)
    case 'number':
      return 'a number'
    case 'array':
      return `an array of ${spec.items.length}`
    case 'object':
      return `{ ${spec.keys.join(', ')} }`
    case 'class':
      return classOf(spec.prototype)
    case 'same':
      return shown(spec.value)
  }
}

/** Where two specs differ first, in words; nothing if they do not. */
export function difference(before: Spec, now: Spec, path: string): string | undefined {
  if (before.kind === 'array' && now.kind === 'array' && before.items.length === now.items.length) {
    for (let i = 0; i < before.items.length; i++) {
      const found = difference(before.items[i] as Spec, now.items[i] as Spec, `${path}[${i}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (before.kind === 'object' && now.kind === 'object' && before.keys.join() === now.keys.join()) {
    for (let i = 0; i < before.keys.length; i++) {
      const found = difference(before.items[i] as Spec, now.items[i] as Spec, `${path}.${before.keys[i]}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (before.kind === 'class' && now.kind === 'class' && before.prototype === now.prototype) {
    const was = new Map(before.rest)
    const changed = now.rest.find(([name, x]) => !was.has(name) || !Object.is(was.get(name), x))
    if (changed === undefined) return difference(before.parts, now.parts, path)
    const [name, value] = changed
    return difference({ kind: 'same', value: was.get(name) }, { kind: 'same', value }, `${path}.${name}`)
  }
  if (before.kind === now.kind) {
    if (before.kind === 'number') return undefined
    if (before.kind === 'same' && now.kind === 'same' && Object.is(before.value, now.value)) return undefined
    if (before.kind === 'tensor' && now.kind === 'tensor') {
      const [a, b] = [before.type, now.type]
      if (a.row === b.row && a.device === b.device && sameShape(a.shape, b.shape)) return undefined
      if (a.row === b.row && sameShape(a.shape, b.shape)) return `${path} is on another device`
    }
  }
  const [was, is] = [described(before), described(now)]
  return was === is ? `${path} is another ${is}` : `${path} was ${was}, and is ${is}`
}
