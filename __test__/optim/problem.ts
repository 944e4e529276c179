// The least squares that optimisers of both libraries go along, and what PyTorch computed on the way (pytorch.py made the file).

import { readFileSync } from 'node:fs'
import * as ft from 'ferrotensor'

export type D = ft.Tensor<'float64'>

/** What `pytorch.json` has; this file runs as dist/__test__/optim/problem.js. */
export const goldenOf = <T>(): T => JSON.parse(readFileSync(new URL('../../../__test__/optim/pytorch.json', import.meta.url), 'utf8')) as T

export function numbers(shape: readonly number[], seed: number): D {
  const count = shape.reduce((n, d) => n * d, 1)
  return ft.fromTypedArray(Float64Array.from({ length: count }, (_, i) => Math.sin(1.3 * i + seed)), shape)
}

const [x, y] = [numbers([6, 4], 1), numbers([6, 3], 2)]

export const start = (): { w: D; b: D } => ({ w: numbers([4, 3], 3), b: numbers([3], 4) })
export const loss = (p: { w: D; b: D }): D => x.matmul(p.w).add(p.b).tanh().sub(y).square().sum()

/**
 * Within 1e-8 of what PyTorch computed in float64, of numbers about 1. Nearly all is within 1e-14, and L-BFGS within 2e-12; rmsprop with momentum jumps
 * back and forth about the minimum, which makes 2e-9 of a rounding.
 */
export function near(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(found) && found.length === wanted.length && wanted.every((v, i) => near(found[i], v))
  return Math.abs((found as number) - (wanted as number)) <= 1e-8
}
