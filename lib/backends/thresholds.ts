// From how much work on each backend is worth it. They are set by hand after `npm run bench backends`, which shows how far the choice is from the best.

import type { Operation } from './job.js'

/** A row of the table: multiply-adds of `matmul`, elements of the others, from which a backend is preferred to those above it. */
export interface Threshold {
  /** A backend's name; `gpu` is the first GPU that no program imitates. */
  readonly backend: string
  readonly from: Readonly<Record<Operation, number>>
}

/** Never worth it. */
const NEVER = Infinity

/** The last row whose backend is available, and whose threshold the work reaches, is chosen. The first is always both. */
export const THRESHOLDS: readonly [Threshold, ...Threshold[]] = [
  { backend: 'pure', from: { matmul: 0, add: 0, dot: 0, sum: 0, scale: 0 } },
  // A native call takes 1 us longer, in which `pure` does 500 multiply-adds of a product, 500 elements, or 1,500 terms of a sum.
  { backend: 'scalar', from: { matmul: 1 << 9, add: 1 << 9, dot: 1 << 11, sum: 1 << 11, scale: 1 << 9 } },
  // Kernels of vectors take 0.5 us longer to begin. `add` and `scale` wait for memory: what JavaScript allocates begins 16 bytes behind a boundary
  // of 64, so that each wide load touches two lines (16,384 elements: 4.2 us, 3.5 by loads of 16 bytes).
  { backend: 'simd', from: { matmul: 1 << 13, add: NEVER, dot: 1 << 12, sum: 1 << 13, scale: NEVER } },
  // Threads are woken in 5 to 10 us.
  { backend: 'parallel', from: { matmul: 1 << 20, add: 1 << 16, dot: 1 << 16, sum: 1 << 16, scale: 1 << 16 } },
  // Somebody asked for it: between 0.9 and 1.7 times the time of ours from here on.
  { backend: 'blas', from: { matmul: 1 << 10, add: NEVER, dot: NEVER, sum: NEVER, scale: NEVER } },
  // Not measured: 2^31 multiply-adds are 1,290 x 1,290, whose 20 MB take 2 ms there and back at 10 GB/s, and eight cores some 10 ms. One pass over
  // memory takes less time than the way to the device.
  { backend: 'gpu', from: { matmul: 2 ** 31, add: NEVER, dot: NEVER, sum: NEVER, scale: NEVER } }
]
