// What `expect` of Jest and Vitest takes: testers of equality, by which `toEqual` and its like compare the tensors in any value, and matchers.

import { isTensor } from '../../index.js'
import { Comparison, type Expected, type Tolerance } from './compare.js'

/** What a matcher says. */
export interface MatcherResult {
  readonly pass: boolean
  readonly message: () => string
}

/** The matchers, as `expect(x)` has them; R is what a matcher returns there. Declarations of Jest and Vitest are extended with it. */
export interface TensorMatchers<R = void> {
  /** The tensor has the shape, the dtype and the elements of another one, or of numbers and arrays of its dtype; 0 equals -0, NaN NaN. */
  toEqualTensor(expected: Expected): R
  /** The tensor has another one's shape, and elements within a tolerance: `|actual - expected| <= atol + rtol * |expected|`. */
  toBeCloseToTensor(expected: Expected, tolerance?: Tolerance): R
}

/** Two tensors are equal by shape, dtype and elements; what is no tensor is left to the other testers. */
function equalTensors(a: unknown, b: unknown): boolean | undefined {
  return isTensor(a) && isTensor(b) ? new Comparison('toEqual', a, b).unequal() === undefined : undefined
}

/**
 * For `expect.addEqualityTesters(equalityTesters)`: `toEqual`, `toStrictEqual`, `toHaveBeenCalledWith` and so on compare tensors, within
 * objects and arrays too, by shape, dtype and elements.
 */
export const equalityTesters: ((a: unknown, b: unknown) => boolean | undefined)[] = [equalTensors]

function result(comparison: Comparison, difference: string | undefined, otherwise: string): MatcherResult {
  return { pass: difference === undefined, message: () => difference ?? `${otherwise}${comparison.both()}` }
}

/** For `expect.extend(matchers)`: {@link TensorMatchers}. */
export const matchers = {
  toEqualTensor(actual: unknown, expected: Expected): MatcherResult {
    const comparison = new Comparison('toEqualTensor', actual, expected)
    return result(comparison, comparison.unequal(), 'tensors are equal')
  },
  toBeCloseToTensor(actual: unknown, expected: Expected, tolerance?: Tolerance): MatcherResult {
    const comparison = new Comparison('toBeCloseToTensor', actual, expected)
    return result(comparison, comparison.notClose('toBeCloseToTensor', tolerance), 'tensors are close')
  }
}
