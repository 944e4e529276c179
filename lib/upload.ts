// From JavaScript memory to tensors, and from device to device.

import { deviceNumber } from './devices.js'
import { ArgumentError, UnsupportedError } from './errors.js'
import type { DTypeRow } from './generated/dtypes.js'
import { FLAGS, FORCE, SCOPE, STATUS, WANT_FULL, WANT_MINOR } from './generated/protocol.js'
import { refuse } from './flush.js'
import { admit, relieveSoftly } from './memory.js'
import { ints, native } from './native.js'
import type { Device } from './operand.js'
import { toBytes } from './reading.js'
import { isDifferentiable, isTracked } from './tape.js'
import { checkAlive, createTensor, owner } from './program/node.js'
import type { Tensor } from './tensor.js'
import { internType } from './types.js'

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
  const run = (force: boolean): number => {
    ints[FLAGS] = force ? FORCE : 0
    ints[SCOPE] = owner.id
    const handle = make(type.id, t)
    if (handle === 0) {
      refuse(type.bytes)
      return -1
    }
    t.handle = handle
    return ints[STATUS] as number
  }
  let status = run(false)
  if (status === -1) status = admit(op, [t], run)
  if (status & (WANT_MINOR | WANT_FULL)) relieveSoftly(status)
  return t
}

/** `Tensor.to`: through host memory. */
export function copyTo(x: Tensor, device: Device): Tensor {
  checkAlive('to', x)
  if (device === undefined) throw new ArgumentError("to: the name of a device is missing, such as 'cpu'")
  const number = deviceNumber('to', device)
  if (number === x.type.device) return x
  if (isTracked(x) && isDifferentiable(x)) throw new UnsupportedError('to: a copy to another device has no gradient; copy before grad, or stopGradient first')
  return upload('to', x.type.row, x.shape, number, toBytes(x))
}
