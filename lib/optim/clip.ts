// Gradients kept from growing without bound.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType } from '../generated/dtypes.js'
import { hypot, maximum, minimum, stack } from '../generated/functions.js'
import { vectorNorm } from '../generated/linalg.js'
import { isHalf } from '../program/half.js'
import { checkAlive } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { leaves, mapTree } from '../tree/traverse.js'
import { itemSync } from '../values/read.js'

/** Options of `optim.globalNorm`. */
export interface GlobalNormOptions {
  /** The order of the norm, above 0, of which Infinity is the largest magnitude; 2 by default. */
  readonly ord?: number | undefined
}

/** Options of `optim.clipByGlobalNorm`. */
export interface ClipOptions extends GlobalNormOptions {
  /** Whether a norm that is NaN or infinite is an error, for which it is read; false by default, where such gradients become NaN or 0. */
  readonly errorIfNonfinite?: boolean | undefined
}

/** The order of a norm. */
function order(op: string, ord: unknown = 2): number {
  if (typeof ord !== 'number' || !(ord > 0)) throw new ArgumentError(`${op}: 'ord' must be a number above 0, got ${shown(ord)}`)
  return ord
}

/**
 * The norm of a tree of tensors as of one vector: with order 2 the root of the sum of all squares. A scalar of the dtype that the norms of its
 * tensors promote to, and of a half float where all tensors are of that one.
 *
 * @throws {ArgumentError} for a tree without tensors and an order that is not above 0.
 */
export function globalNorm(tree: unknown, options?: GlobalNormOptions): Tensor {
  const op = 'optim.globalNorm'
  const [norm, dtype] = wideNorm(op, tree, order(op, checkOptions(op, options, ['ord'])['ord']))
  return norm.astype(dtype)
}

/** The norm, of half floats in float32, where squares of what float16 holds do not overflow, and the dtype to give it in. */
function wideNorm(op: string, tree: unknown, ord: number): [norm: Tensor, dtype: DType] {
  const found = leaves(tree, `${op}: the tree`)
  const norms = found.map((x): Tensor => {
    checkAlive(op, x)
    return vectorNorm(isHalf(x.dtype) ? x.astype('float32') : x, { ord })
  })
  const [first] = found
  if (first === undefined) throw new ArgumentError(`${op}: there is no tensor in the tree`)
  const norm = joined(norms, ord)
  return [norm, isHalf(first.dtype) && found.every((x) => x.dtype === first.dtype) ? first.dtype : norm.dtype]
}

/** The norm of several parts by theirs. */
function joined(norms: readonly Tensor[], ord: number): Tensor {
  // The root of a sum of two squares, neither of which overflows.
  if (ord === 2) return norms.reduce((all, norm) => hypot(all, norm) as Tensor)
  if (ord === Infinity) return norms.reduce((all, norm) => maximum(all, norm) as Tensor)
  return vectorNorm(stack(norms), { ord }) as Tensor
}

/**
 * The tree scaled so that its norm, as of one vector, is at most `most`, and the norm it had. PyTorch `clip_grad_norm_`, which adds 1e-6 to the
 * norm as this does.
 *
 * @throws {ArgumentError} for a bound that is not positive, an order that is not above 0, and a tree without tensors; with `errorIfNonfinite` for
 * a norm that is not finite.
 */
export function clipByGlobalNorm<P>(gradients: P, most: number, options?: ClipOptions): [gradients: P, norm: Tensor] {
  const op = 'optim.clipByGlobalNorm'
  if (typeof most !== 'number' || !(most > 0)) throw new ArgumentError(`${op}: the bound must be a positive number, got ${shown(most)}`)
  const { ord, errorIfNonfinite = false } = checkOptions(op, options, ['ord', 'errorIfNonfinite'])
  if (typeof errorIfNonfinite !== 'boolean') throw new ArgumentError(`${op}: 'errorIfNonfinite' must be a boolean, got ${shown(errorIfNonfinite)}`)
  const [norm, dtype] = wideNorm(op, gradients, order(op, ord))
  if (errorIfNonfinite) {
    const found = itemSync(norm) as number
    if (!Number.isFinite(found)) throw new ArgumentError(`${op}: the norm of the gradients is ${found}`)
  }
  const factor = minimum(norm.add(1e-6).reciprocal().mul(most), 1)
  // A factor that float16 does not hold is no reason to lose the gradient.
  return [mapTree(gradients, (g) => g.mul(factor).astype(g.dtype)) as P, norm.astype(dtype)]
}

/**
 * The tree with all elements between -most and most; NaN stays NaN. PyTorch `clip_grad_value_`.
 *
 * @throws {ArgumentError} for a bound that is not positive, and a tree without tensors.
 */
export function clipByValue<P>(gradients: P, most: number): P {
  const op = 'optim.clipByValue'
  if (typeof most !== 'number' || !(most > 0)) throw new ArgumentError(`${op}: the bound must be a positive number, got ${shown(most)}`)
  if (leaves(gradients, `${op}: the tree`).length === 0) throw new ArgumentError(`${op}: there is no tensor in the tree`)
  return mapTree(gradients, (g) => g.clip(-most, most)) as P
}
