// What the tests of types say: one line that compiles only where a dtype is exactly the one named, and compares it when it runs.

import * as ft from 'ferrotensor'

/** Whether two types are one: assignable is not enough, a union or `any` is not its member. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only where the type of `value` is exactly `T`. */
export function is<T>() {
  return <U>(value: U, ..._proof: Same<T, U> extends true ? [] : [expected: T]): void => void value
}

/** The dtypes of what a call gives: of a tensor, of each in a tuple or a record (whose walk is no part of it), of all in a list. */
type DTypesOf<V> = V extends ft.Tensor<infer D>
  ? D
  : V extends readonly (infer T)[]
    ? number extends V['length']
      ? DTypesOf<T>
      : { -readonly [K in keyof V]: DTypesOf<V[K]> }
    : { -readonly [K in keyof V as K extends string ? K : never]: DTypesOf<V[K]> }

/** Dtypes as they were written. */
type Written<E> = E extends string ? E : { -readonly [K in keyof E]: Written<E[K]> }

function compare(expected: unknown, value: unknown): void {
  if (value instanceof ft.Tensor) {
    if (value.dtype !== expected) throw new TypeError(`the type says ${String(expected)}, the tensor is ${value.dtype}`)
    return
  }
  const parts = Object.entries(value as object)
  if (parts.length === 0) throw new TypeError('nothing to compare')
  for (const [name, part] of parts) compare(typeof expected === 'string' ? expected : (expected as Record<string, unknown>)[name], part)
}

/**
 * Compiles only where a call's dtypes are exactly the ones written, and throws where those of its value are others. `as` says what the
 * type tells less of than the value: `dtype('int32' as ft.DType, x)`.
 */
export function dtype<const E, V>(expected: E, value: V, ..._proof: Same<Written<E>, DTypesOf<V>> extends true ? [] : [actual: DTypesOf<V>]): void {
  compare(expected, value)
}
