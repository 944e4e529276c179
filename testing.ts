// What `ferrotensor/testing` exports: how test frameworks compare tensors.

export { assertClose, assertEqual } from './lib/testing/assertions.js'
export { chaiPlugin } from './lib/testing/chai.js'
export type { Expected, Tolerance } from './lib/testing/compare.js'
export { equalityTesters, matchers, type MatcherResult, type TensorMatchers } from './lib/testing/expect.js'
