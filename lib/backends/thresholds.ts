// From how much work on each backend is worth it. They are set by hand after `npm run bench backends`, which shows how far the choice is from the best.

import type { Operation } from './job.js'

/** A row of the table: multiply-adds of `matmul`, elements of the others, from which a backend is preferred to those above it. */
export interface Threshold {
  /** A backend's name; `gpu` is the first GPU that no program imitates. */
  readonly backend: string
  readonly from: Readonly<Record<Operation, number>>
}

/** Never worth it: one pass over memory takes less time than the way to the device and back. */
const NEVER = Infinity

/** The last row whose backend is available, and whose threshold the work reaches, is chosen. The first is always both. */
export const THRESHOLDS: readonly [Threshold, ...Threshold[]] = [
  { backend: 'pure', from: { matmul: 0, add: 0, dot: 0, sum: 0, scale: 0 } },
  // A native call takes about 1 us, in which `pure` does 1,000 multiply-adds or elements.
  { backend: 'scalar', from: { matmul: 1 << 10, add: 1 << 10, dot: 1 << 10, sum: 1 << 10, scale: 1 << 10 } },
  { backend: 'simd', from: { matmul: 1 << 10, add: 1 << 10, dot: 1 << 10, sum: 1 << 10, scale: 1 << 10 } },
  // Threads are woken in about 10 us: 2^20 multiply-adds or 2^17 elements of one thread.
  { backend: 'parallel', from: { matmul: 1 << 20, add: 1 << 17, dot: 1 << 17, sum: 1 << 17, scale: 1 << 17 } },
  { backend: 'blas', from: { matmul: 1 << 10, add: NEVER, dot: NEVER, sum: NEVER, scale: NEVER } },
  // 2^31 multiply-adds of 1,290 x 1,290: 20 MB there and back take 2 ms at 10 GB/s, eight cores some 10 ms.
  { backend: 'gpu', from: { matmul: 2 ** 31, add: NEVER, dot: NEVER, sum: NEVER, scale: NEVER } }
]
