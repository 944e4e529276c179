// Derivatives of every element of a result by every element of an argument: reverse or forward mode, mapped over directions.

import { callable } from '../arguments/functions.js'
import { grad, jvp, vjp } from '../autodiff/grad.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { concat, eye, zeros } from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { vmap } from './vmap.js'

/** Directions that go through a function at once: a pass over each takes memory of its own. */
const AT_ONCE = 256

/** What `f` makes of each direction that a tensor can move in, a row each. */
function alongEach(x: Tensor, f: (direction: Tensor) => Tensor): Tensor {
  const basis = eye(x.size, { dtype: x.dtype, device: x.device })
  const rows = vmap((direction) => f(direction.reshape(x.shape)).flatten())
  const parts = Array.from({ length: Math.ceil(x.size / AT_ONCE) }, (_, n) => rows(basis.at(`${n * AT_ONCE}:${(n + 1) * AT_ONCE}`)))
  return parts.length === 1 ? (parts[0] as Tensor) : concat(parts)
}

/** A real floating tensor: of complex ones there are two derivatives, and each function has its own use for them. */
function real(name: string, what: string, x: unknown): Tensor {
  if (!isTensor(x)) throw new ArgumentError(`${name}: ${what} must be a tensor, got ${shown(x)}`)
  if (x.type.row.kind !== 'float') throw new DTypeError(`${name}: ${what} must be a real floating tensor, got ${x.dtype}; use vjp or jvp for others`)
  return x
}

function rowsOf(name: string, fn: (x: Tensor) => Tensor, given: unknown): Tensor {
  const x = real(name, 'the argument', given)
  const [result, back] = vjp(fn, x)
  const y = real(name, 'the result', result)
  const shape = [...y.shape, ...x.shape]
  if (x.size === 0 || y.size === 0) return zeros(shape, { dtype: y.dtype, device: y.device })
  const found = x.size < y.size ? alongEach(x, (direction) => jvp(fn, [x], [direction])[1]).transpose() : (alongEach(y, (direction) => back(direction)[0]).astype(y.dtype) as Tensor)
  return found.reshape(shape)
}

/**
 * A function that computes the Jacobian of `fn`, which takes and returns a real tensor: of shape `[...result, ...argument]`. Forward mode where the
 * argument has fewer elements than the result, else reverse mode, for 256 directions at a time (`vmap`).
 *
 * @throws {TensorError} as `vjp`; `ERR_DTYPE` for complex tensors.
 */
export function jacobian(fn: (x: Tensor) => Tensor): (x: Tensor) => Tensor
export function jacobian<T extends Tensor, R extends Tensor>(fn: (x: T) => R): (x: T) => R
export function jacobian(fn: (x: never) => Tensor): (x: never) => Tensor {
  callable('jacobian', fn)
  return (x) => rowsOf('jacobian', fn as (x: Tensor) => Tensor, x)
}

/**
 * A function that computes the Hessian of `fn`, which takes a real tensor and returns a scalar: the Jacobian of its gradient, of shape
 * `[...argument, ...argument]`.
 *
 * @throws {TensorError} as `grad`; `ERR_DTYPE` for complex tensors.
 */
export function hessian(fn: (x: Tensor) => Tensor): (x: Tensor) => Tensor
export function hessian<T extends Tensor>(fn: (x: T) => Tensor): (x: T) => T
export function hessian(fn: (x: never) => Tensor): (x: never) => Tensor {
  callable('hessian', fn)
  const gradient = grad(fn as (x: Tensor) => Tensor)
  return (x) => rowsOf('hessian', gradient, x)
}
