// What a trace depends on of a call's arguments: structure, the types of tensors, and values that are neither tensors nor numbers.

import { shown } from './call.js'
import { checkAlive, Tensor } from './tensor.js'
import { childrenOf, classOf, isPlain, isRegistered } from './treeclass.js'
import type { Type } from './types.js'

/** One argument, or a part of one. */
export type Spec =
  | { readonly kind: 'tensor'; type: Type }
  | { readonly kind: 'number' }
  | { readonly kind: 'array'; readonly items: readonly Spec[] }
  | { readonly kind: 'object'; readonly keys: readonly string[]; readonly items: readonly Spec[] }
  | { readonly kind: 'class'; readonly prototype: object; readonly parts: Spec }
  | { readonly kind: 'same'; readonly value: unknown }

/** What a call brings to a trace, in the order of the specs. */
export interface Brought {
  readonly tensors: Tensor[]
  readonly numbers: number[]
}

/** The spec of an argument whose trees were walked already: they contain no themselves. Static ones are the same or another. */
export function specOf(value: unknown, isStatic: boolean): Spec {
  if (isStatic) return { kind: 'same', value }
  if (value instanceof Tensor) return { kind: 'tensor', type: value.type }
  if (typeof value === 'number') return { kind: 'number' }
  if (isRegistered(value)) return { kind: 'class', prototype: Object.getPrototypeOf(value) as object, parts: specOf(childrenOf('jit', value), false) }
  if (Array.isArray(value)) return { kind: 'array', items: Array.from(value, (item: unknown) => specOf(item, false)) }
  if (isPlain(value)) return { kind: 'object', keys: Object.keys(value), items: Object.values(value).map((item) => specOf(item, false)) }
  return { kind: 'same', value }
}

const sameShape = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((n, i) => n === b[i])

/** Whether an argument is as a spec says; its tensors and numbers are added to what the call brings. */
export function matches(spec: Spec, value: unknown, to: Brought): boolean {
  switch (spec.kind) {
    case 'tensor': {
      if (!(value instanceof Tensor)) return false
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
    case 'class':
      if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== spec.prototype || !isRegistered(value)) return false
      return matches(spec.parts, childrenOf('jit', value), to)
    case 'same':
      return Object.is(spec.value, value)
  }
}

/** The argument with what stands for its tensors and numbers in a trace. */
export function replaced(spec: Spec, value: unknown, f: (x: Tensor | number) => unknown, withParts: (instance: object, parts: unknown) => unknown): unknown {
  switch (spec.kind) {
    case 'tensor':
    case 'number':
      return f(value as Tensor | number)
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
  if (before.kind === 'class' && now.kind === 'class' && before.prototype === now.prototype) return difference(before.parts, now.parts, path)
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
