// Axes by patterns: `ft.einops`.

import * as ft from 'ferrotensor'
import { dtype } from '../expectations.js'
import { bool, i8, u8, f16, f32, c64, wide } from '../operands.js'

export function results(): void {
  dtype('bool', ft.einops.rearrange(bool, '(a b) -> b a', { a: 2 }))
  dtype('complex64', ft.einops.rearrange(c64, 'a -> a 1'))
  dtype('uint8', ft.einops.repeat(u8, 'a -> a b', { b: 2 }))
  dtype('int32', ft.einops.reduce(i8, 'a ->', 'sum'))
  dtype('uint32', ft.einops.reduce(u8, 'a ->', 'prod'))
  dtype('complex64', ft.einops.reduce(c64, 'a ->', 'mean'))
  dtype('float32', ft.einops.reduce(i8, '(a 2) -> a', 'mean'))
  dtype('float16', ft.einops.reduce(f16, 'a ->', 'max'))
  dtype('int8', ft.einops.reduce(i8, '(a b) -> a', 'min', { b: 2 }))
  dtype('bool', ft.einops.reduce(f32, 'a ->', 'any'))
  dtype('bool', ft.einops.reduce(c64, 'a ->', 'all'))
}

/** Compiled, never called. */
export function compiled(): void {
  dtype('float32' as ft.DType, ft.einops.rearrange(wide, 'a -> a'))
}

/** What must not compile; never called. */
export function misuse(): void {
  // @ts-expect-error: the pattern is missing
  ft.einops.rearrange(f32)
  // @ts-expect-error: a size is a number
  ft.einops.rearrange(f32, '(a b) -> a b', { a: '2' })
  // @ts-expect-error: no such reduction
  ft.einops.reduce(f32, 'a ->', 'median')
  // @ts-expect-error: complex numbers have no order
  ft.einops.reduce(c64, 'a ->', 'max')
  // @ts-expect-error: an array for a tensor
  ft.einops.repeat([1, 2], 'a -> a b', { b: 2 })
}
