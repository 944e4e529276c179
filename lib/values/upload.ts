// From JavaScript memory to tensors.

import { relieveSoftly } from '../execution/pressure.js'
import { refuse } from '../execution/run.js'
import { submit } from '../execution/submit.js'
import type { DTypeRow } from '../generated/dtypes.js'
import { FLAGS, SCOPE, STATUS } from '../generated/protocol.js'
import { ints, native } from '../native.js'
import { createTensor, owner } from '../program/node.js'
import { internType } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'

/**
 * A tensor from its dense row-major bytes, copied now. The bytes must not be shared with another thread. `op` is who wants it.
 *
 * @throws {TensorError} for a shape out of range, and `ERR_OUT_OF_MEMORY`.
 */
export function upload(op: string, row: DTypeRow, shape: readonly number[], device: number, bytes: Uint8Array): Tensor {
  return made(op, row, shape, device, (type, t) => native.upload(type, bytes, t))
}

/**
 * A tensor whose elements native code is still to write, with `native.fill`: nobody may see it before.
 *
 * @throws {TensorError} as {@link upload}.
 */
export function reserve(op: string, row: DTypeRow, shape: readonly number[], device: number): Tensor {
  return made(op, row, shape, device, (type, t) => native.reserve(type, t))
}

/**
 * A tensor in memory that native code has already, with `native.lend`; undefined where it cannot lie there.
 *
 * @throws {TensorError} for a shape out of range.
 */
export function adopt(row: DTypeRow, shape: readonly number[], device: number, make: (type: number, t: Tensor) => number): Tensor | undefined {
  const type = internType(row, shape, device)
  const t = createTensor(type, null, null, null, null, null)
  ints[SCOPE] = owner.id
  const handle = make(type.id, t)
  if (handle === 0) return undefined
  t.handle = handle
  relieveSoftly(ints[STATUS] as number)
  return t
}

/** A tensor from what gives its handle, or 0 when the memory budget refuses. */
function made(op: string, row: DTypeRow, shape: readonly number[], device: number, make: (type: number, t: Tensor) => number): Tensor {
  const type = internType(row, shape, device)
  const t = createTensor(type, null, null, null, null, null)
  const run = (flags: number): number => {
    ints[FLAGS] = flags
    ints[SCOPE] = owner.id
    const handle = make(type.id, t)
    if (handle === 0) {
      refuse(type.bytes)
      return -1
    }
    t.handle = handle
    return ints[STATUS] as number
  }
  submit(() => op, [t], run)
  return t
}
