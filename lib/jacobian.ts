// Derivatives of every element of a result by every element of an argument, one reverse or forward pass for each.

import { shown } from './call.js'
import { ArgumentError } from './errors.js'
import { eye, stack } from './generated/functions.js'
import { grad, jvp, vjp } from './gradient.js'
import { Tensor } from './tensor.js'

/** The rows of an identity, each of a shape: every direction there is. */
function directions(x: Tensor): Tensor[] {
  const basis = eye(x.size, { dtype: x.dtype, device: x.device })
  return Array.from({ length: x.size }, (_, i) => basis.at(i).reshape(x.shape) as Tensor)
}

function tensor(name: string, what: string, x: unknown): Tensor {
  if (x instanceof Tensor) return x
  throw new ArgumentError(`${name}: ${what} must be a tensor, got ${shown(x)}`)
}

/**
 * A function that computes the Jacobian of `fn`, which takes and returns a tensor: of shape `[...result, ...argument]`. Forward mode where the
 * argument has fewer elements than the result, else reverse mode: as many passes, in one program.
 *
 * @throws {TensorError} as `vjp`.
 */
export function jacobian<T extends Tensor, R extends Tensor>(fn: (x: T) => R): (x: T) => R {
  const name = 'jacobian'
  if (typeof fn !== 'function') throw new ArgumentError(`${name}: expected a function, got ${shown(fn)}`)
  return (given) => {
    const x = tensor(name, 'the argument', given) as T
    const [result, back] = vjp(fn, x)
    const y = tensor(name, 'the result', result)
    const shape = [...y.shape, ...x.shape]
    if (x.size === 0 || y.size === 0) return y.reshape([...y.shape, ...x.shape.map(() => 1)]).broadcastTo(shape) as R
    if (x.size < y.size) {
      const columns = directions(x).map((direction) => jvp(fn, [x], [direction as T])[1].reshape([y.size]))
      return stack(columns, 1).reshape(shape) as R
    }
    const rows = directions(y).map((direction) => back(direction as R)[0].reshape([x.size]))
    return stack(rows, 0).reshape(shape) as R
  }
}

/**
 * A function that computes the Hessian of `fn`, which takes a tensor and returns a scalar: the Jacobian of its gradient, of shape
 * `[...argument, ...argument]`.
 *
 * @throws {TensorError} as `grad`.
 */
export function hessian<T extends Tensor>(fn: (x: T) => Tensor): (x: T) => T {
  if (typeof fn !== 'function') throw new ArgumentError(`hessian: expected a function, got ${shown(fn)}`)
  return jacobian(grad(fn) as (x: T) => T)
}
