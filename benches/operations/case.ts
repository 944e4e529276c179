// What a case of operations.bench.ts is.

import type { Operands } from './operands.js'

/**
 * The row's name, and behind a space what is special about the case; what is timed, which returns a tensor or an array or object of
 * tensors; the same in Python for NumPy, which knows the operands under the same names (see peers/libraries.py), '-' where it has nothing
 * short that is equal; by how much the checksums may differ, relative to their size (1e-5 unless told).
 */
export type Case = readonly [name: string, ours: (operands: Operands) => object, numpy: string, tolerance?: number]

/** The tolerance of results that are not the same numbers: draws, and vectors that are free in their signs or order. */
export const FREE = Infinity
