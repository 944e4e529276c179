// Assertions of node:test, or of any runner in which what throws has failed.

import { AssertionError } from 'node:assert'
import type { Tensor } from '../../index.js'
import { Comparison, type Expected, type Tolerance } from './compare.js'

function fail(name: string, caller: (...args: never[]) => void, difference: string | undefined): void {
  if (difference !== undefined) throw new AssertionError({ message: `${name}: ${difference}`, operator: name, stackStartFn: caller })
}

/**
 * Asserts that two tensors have one shape, one dtype and equal elements; 0 equals -0, and NaN NaN. Devices may differ. Numbers and arrays
 * become a tensor of the first one's dtype. Reads both, and blocks until they are computed.
 *
 * @throws {AssertionError} of `node:assert`, with the largest difference, where it is, both values, shapes and dtypes.
 * @throws {ArgumentError} where the first is no tensor.
 * @example
 * ```ts
 * assertEqual(ft.tensor([1, 2]).add(1), [2, 3])
 * ```
 */
export function assertEqual(actual: Tensor, expected: Expected): void {
  fail('assertEqual', assertEqual, new Comparison('assertEqual', actual, expected).unequal())
}

/**
 * Asserts that two tensors have one shape, and elements within a tolerance: `|actual - expected| <= atol + rtol * |expected|`, as
 * `numpy.testing.assert_allclose` has it, with the defaults of `allclose` (1e-5, 1e-8). Dtypes may differ; numbers and arrays become a
 * tensor of the first one's dtype. Reads both, and blocks until they are computed.
 *
 * @throws {AssertionError} of `node:assert`, with the largest difference, where it is, both values, shapes and dtypes.
 * @throws {ArgumentError} where the first is no tensor, and for a tolerance that is not a number or negative.
 * @example
 * ```ts
 * assertClose(ft.tensor([1, 4]).sqrt(), [1, 2], { rtol: 1e-6 })
 * ```
 */
export function assertClose(actual: Tensor, expected: Expected, tolerance?: Tolerance): void {
  fail('assertClose', assertClose, new Comparison('assertClose', actual, expected).notClose('assertClose', tolerance))
}
