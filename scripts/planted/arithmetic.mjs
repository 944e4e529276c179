// Faults of arithmetic: scalars, functions, reductions, products, and the ways elements are met.

import { conformance, rust, step, titled } from './commands.mjs'

export const ARITHMETIC = [
  {
    name: 'function-two-units-off',
    class: 'A scalar function is less accurate than promised (docs/accuracy.md; reports of 1.04 and 118 units)',
    by: [conformance('atan/float32'), rust('core', '--lib', 'math::tests::accuracy')]
  },
  {
    name: 'emulated-fma-rounds-twice',
    class: 'A method of emulation is wrong for operands that hardly ever occur (the emulated fused multiply-add)',
    by: [rust('core', '--lib', 'math::tests::fma')]
  },
  {
    name: 'baseline-functions-round-twice',
    class: 'Rounding differs on one instruction set alone, the oldest (functions without a fused multiply-add)',
    by: [conformance('h/float32/'), conformance('h/float64/')]
  },
  {
    name: 'avx512-functions-leave-out-the-tail',
    class: 'The end of a vector loop is left out on one instruction set alone, the newest',
    by: [conformance('tan/float32/')]
  },
  {
    name: 'avx2-products-leave-out-a-place',
    class: 'Something is wrong on one instruction set alone, neither the oldest nor the newest',
    by: [rust('cpu', 'kernels', 'contract::every_sum_is_one_chain'), conformance('matmul/float32')]
  },
  {
    name: 'arm-products-leave-out-a-place',
    class: 'Code that is compiled for another processor alone is wrong',
    by: [step('arm64, emulated', '--package', 'ferrotensor-cpu', '--test', 'kernels', '--', 'contract::every_sum_is_one_chain')],
    why: 'The code is compiled for 64-bit ARM alone, which is emulated.'
  },
  {
    name: 'partial-sums-in-the-order-of-threads',
    class: 'A reduction has other bits with another number of threads',
    by: [rust('cpu', 'kernels', 'reduce::a_sum_follows', 'reduce::a_long_sum')]
  },
  {
    name: 'reduction-leaves-out-a-last-row',
    class: 'The end of a reduction is left out',
    by: [conformance('sum/float32')]
  },
  {
    name: 'running-sum-forgets-what-stands-before',
    class: 'What threads hand on to each other is wrong (running sums by blocks)',
    by: [rust('cpu', 'kernels', 'reduce::running_sums_that_threads_share')]
  },
  {
    name: 'division-by-zero-is-the-dividend',
    class: 'A special case of integers has another value (x / 0 is 0)',
    by: [conformance('floorDivide/int32')]
  },
  {
    name: 'strided-operands-are-read-as-dense',
    class: 'Strides of an operand are ignored',
    by: [conformance('add/float32/')]
  },
  {
    name: 'flip-keeps-its-direction',
    class: 'Negative strides are lost',
    by: [conformance('flip/float32')]
  },
  {
    name: 'axes-merge-by-the-first-operand',
    class: 'Broadcasting is wrong where layouts of operands differ',
    by: [conformance('add/int32/')]
  },
  {
    name: 'a-store-beyond-the-last-element',
    class: 'A kernel writes where nothing of its own lies',
    by: [conformance('guards/float32')]
  },
  {
    name: 'the-first-of-equal-targets-wins',
    class: 'An order that is promised is another (updates of one element)',
    by: [conformance('scatter/float32')]
  },
  {
    name: 'an-index-out-of-range-is-taken-as-the-last',
    class: 'An index out of range is taken for another instead of being an error',
    by: [rust('engine', 'engine', 'session::index_errors')]
  },
  {
    name: 'an-inverse-transform-goes-forwards',
    class: 'A routine of the host computes something else (transforms, factors)',
    by: [conformance('fft.ifft/complex64'), rust('host', 'routines', 'there_and_back')]
  },
  {
    name: 'a-library-gets-rows-and-columns-exchanged',
    class: "A vendor's library is called wrongly (orders, strides and threads of a BLAS)",
    by: [titled('backends/blas', 'products by a library*'), step('vendor BLAS')]
  },
  {
    name: 'number-of-threads-is-ignored',
    class: 'A setting of the environment is ignored',
    by: [titled('loading', 'FERROTENSOR_THREADS*')]
  }
]
