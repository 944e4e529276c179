// What Chai takes as a plugin: two assertions, and deep equality that compares tensors.

import { isTensor } from '../../index.js'
import { Comparison, type Expected, type Tolerance } from './compare.js'

/** An assertion, as Chai's methods see it. */
interface ChaiAssertion {
  readonly _obj: unknown
  assert(holds: boolean, message: string, negated: string): void
}

type Comparator = (left: unknown, right: unknown) => boolean | null

/** What the plugin needs of Chai, any version that has `config.deepEqual` (4.3.8 and newer). */
interface ChaiStatic {
  readonly Assertion: { addMethod(name: string, method: (this: any, ...args: any[]) => void): void }
  readonly config: { deepEqual?: ((expected: any, actual: any) => any) | null | undefined }
}

interface ChaiUtils {
  eql(expected: any, actual: any, options?: any): boolean
}

declare global {
  /** Chai's own declarations, which this adds to. */
  namespace Chai {
    interface Assertion {
      /** The tensor has the shape, the dtype and the elements of another one, or of numbers and arrays of its dtype. */
      equalTensor(expected: Expected): Assertion
      /** The tensor has another one's shape, and elements within a tolerance: `|actual - expected| <= atol + rtol * |expected|`. */
      closeToTensor(expected: Expected, tolerance?: Tolerance): Assertion
    }
  }
}

/** Two tensors are equal by shape, dtype and elements; null leaves everything else to Chai. */
const comparator: Comparator = (left, right) =>
  isTensor(left) && isTensor(right) ? new Comparison('equal', left, right).unequal() === undefined : null

/**
 * For `chai.use(chaiPlugin)`: the assertions `equalTensor` and `closeToTensor`; `deep.equal` and its like compare tensors, within objects
 * and arrays too, by shape, dtype and elements, unless `config.deepEqual` is set already.
 */
export function chaiPlugin(chai: ChaiStatic, utils: ChaiUtils): void {
  const check = (assertion: ChaiAssertion, comparison: Comparison, difference: string | undefined, otherwise: string): void =>
    assertion.assert(difference === undefined, difference ?? '', `${otherwise}${comparison.both()}`)
  chai.Assertion.addMethod('equalTensor', function (this: ChaiAssertion, expected: Expected) {
    const comparison = new Comparison('equalTensor', this._obj, expected)
    check(this, comparison, comparison.unequal(), 'tensors are equal')
  })
  chai.Assertion.addMethod('closeToTensor', function (this: ChaiAssertion, expected: Expected, tolerance?: Tolerance) {
    const comparison = new Comparison('closeToTensor', this._obj, expected)
    check(this, comparison, comparison.notClose('closeToTensor', tolerance), 'tensors are close')
  })
  chai.config.deepEqual ??= (expected, actual) => utils.eql(expected, actual, { comparator })
}
