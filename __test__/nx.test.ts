// docs/nx.md: every callback of Nx.Backend is there, and what stands there is true.
// runs on: host; one operation each, which the conformance suite has on every device

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import test from 'ava'
import * as ft from 'ferrotensor'
import { close, evaluate } from './expect.js'

/** The callbacks of Nx.Backend and the blocks, Nx 0.13.1 (nx/lib/nx/backend.ex, Apache-2.0). */
const CALLBACKS = `
  init constant from_binary eye iota backend_deallocate backend_copy backend_transfer to_batched to_binary inspect from_pointer to_pointer
  as_type bitcast reshape squeeze broadcast transpose pad reverse
  dot clip slice put_slice gather concatenate stack select
  conv all any sum product reduce_max reduce_min argmax argmin reduce window_reduce window_sum window_product window_max window_min sort
  argsort window_scatter_max window_scatter_min indexed_add indexed_put triangular_solve fft ifft
  add subtract multiply pow remainder divide atan2 min max quotient bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal
  greater less greater_equal less_equal logical_and logical_or logical_xor
  exp expm1 log log1p sigmoid cos sin tan cosh sinh tanh acos asin atan acosh asinh atanh sqrt rsqrt cbrt erf erfc erf_inv abs bitwise_not ceil
  conjugate floor negate round sign count_leading_zeros population_count real imag is_nan is_infinity`
const BLOCKS = `
  LogicalNot Phase LinAlg.Cholesky LinAlg.Solve LinAlg.QR LinAlg.Eigh LinAlg.SVD LinAlg.LU LinAlg.Determinant AllClose CumulativeSum
  CumulativeProduct CumulativeMin CumulativeMax Take TakeAlongAxis TopK FFT2 IFFT2 RFFT IRFFT`

const words = (text: string) => text.trim().split(/\s+/)
const page = readFileSync(new URL('../../docs/nx.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| `([\w.]+)` \| `(.+)` \| `(.+)` \|$/gm)]

test('every callback and block is there once', (t) => {
  t.is(words(CALLBACKS).length + 1, 115)
  t.is(words(BLOCKS).length, 21)
  t.deepEqual(rows.map(([, name]) => name).sort(), [...words(CALLBACKS), ...words(BLOCKS)].sort())
})

for (const [, name, code, gives] of rows) {
  test(`${name}: ${code}`, (t) => {
    const value = evaluate(code as string)
    const actual = value instanceof ft.Tensor ? value.toArray() : value
    t.true(close(actual, evaluate(gives as string)), `gave ${inspect(actual)}, documented is ${gives}`)
  })
}
