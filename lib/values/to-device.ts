// Copies of tensors on other devices.

import { deviceNumber } from '../devices/devices.js'
import { ArgumentError, UnsupportedError } from '../errors.js'
import { isDifferentiable } from '../program/derived-call.js'
import { isTracked } from '../program/lifetime.js'
import { checkAlive } from '../program/node.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { toBytes } from './read.js'
import { upload } from './upload.js'

/** `Tensor.to`: through host memory. */
export function copyTo(x: Tensor, device: Device): Tensor {
  checkAlive('to', x)
  if (device === undefined) throw new ArgumentError("to: the name of a device is missing, such as 'cpu'")
  const number = deviceNumber('to', device)
  if (number === x.type.device) return x
  if (isTracked(x) && isDifferentiable(x)) throw new UnsupportedError('to: a copy to another device has no gradient; copy before grad, or stopGradient first')
  return upload('to', x.type.row, x.shape, number, toBytes(x))
}
