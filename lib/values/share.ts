// Tokens that hand a tensor's storage to another worker without a copy.

import { ArgumentError } from '../errors.js'
import { flush } from '../execution/flush.js'
import type { DType } from '../generated/dtypes.js'
import { HEADER } from '../generated/protocol.js'
import { ints, native } from '../native.js'
import { checkAlive, createTensor } from '../program/node.js'
import { typeAt, type Type } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'

/** A plain object that may be posted to a worker of this process. It works while any tensor on its storage lives. */
export interface SharedTensor<D extends DType = DType> {
  readonly kind: 'ferrotensor.shared'
  /** Names the storage inside this process. */
  readonly token: number
  readonly dtype: D
  readonly shape: readonly number[]
}

/** `Tensor.share`. */
export function share(x: Tensor): SharedTensor {
  checkAlive('share', x)
  flush([x], false)
  return { kind: 'ferrotensor.shared', token: native.share(x.handle as number), dtype: x.dtype, shape: [...x.shape] }
}

/**
 * The tensor behind a token, on the same storage. Waits for its value.
 *
 * @throws {TensorError} `ERR_DISPOSED` when the shared tensor is gone, `ERR_ARGUMENT` for anything but a token.
 */
export function fromShared<D extends DType>(shared: SharedTensor<D>): Tensor<D> {
  const { kind, token } = (shared ?? {}) as Partial<SharedTensor>
  if (kind !== 'ferrotensor.shared' || typeof token !== 'number') {
    throw new ArgumentError('fromShared: expected what share() returned')
  }
  // The type is known after the call; the wrapper must exist before, for its weak reference.
  const t = createTensor(undefined as unknown as Type, null, null, null, null, null) as Tensor<D>
  t.handle = native.fromShared(token, t)
  t.type = typeAt(ints[HEADER] as number)
  return t
}
