// Gradients kept from growing without bound.

import { shown } from '../call.js'
import { ArgumentError } from '../errors.js'
import type { DType } from '../generated/dtypes.js'
import { isHalf } from '../half.js'
import { leaves, mapTree } from '../pytree.js'
import { checkAlive, type Tensor } from '../tensor.js'
import { hypot, minimum } from '../generated/functions.js'
import { vectorNorm } from '../generated/linalg.js'

/**
 * The root of the sum of all squares in a tree of tensors, as one vector's length; a scalar of the dtype that the norms of its tensors promote
 * to, and of a half float where all tensors are of that one.
 *
 * @throws {ArgumentError} for a tree without tensors.
 */
export function globalNorm(tree: unknown): Tensor {
  const [norm, dtype] = wideNorm(tree)
  return norm.astype(dtype)
}

/** The norm, of half floats in float32, where squares of what float16 holds do not overflow, and the dtype to give it in. */
function wideNorm(tree: unknown): [norm: Tensor, dtype: DType] {
  const found = leaves(tree, 'optim.globalNorm: the tree')
  const norms = found.map((x): Tensor => {
    checkAlive('optim.globalNorm', x)
    return vectorNorm(isHalf(x.dtype) ? x.astype('float32') : x)
  })
  const [first] = found
  if (first === undefined) throw new ArgumentError('optim.globalNorm: there is no tensor in the tree')
  // The root of a sum of two squares, neither of which overflows.
  const norm = norms.reduce((all, norm) => hypot(all, norm) as Tensor)
  return [norm, isHalf(first.dtype) && found.every((x) => x.dtype === first.dtype) ? first.dtype : norm.dtype]
}

/**
 * The tree scaled so that its norm, as of one vector, is at most `most`, and the norm it had. PyTorch `clip_grad_norm_`, which adds 1e-6 to the
 * norm as this does.
 *
 * @throws {ArgumentError} for a bound that is not positive, and a tree without tensors.
 */
export function clipByGlobalNorm<P>(gradients: P, most: number): [gradients: P, norm: Tensor] {
  if (typeof most !== 'number' || !(most > 0)) throw new ArgumentError(`optim.clipByGlobalNorm: the bound must be a positive number, got ${shown(most)}`)
  const [norm, dtype] = wideNorm(gradients)
  const factor = minimum(norm.add(1e-6).reciprocal().mul(most), 1)
  // A factor that float16 does not hold is no reason to lose the gradient.
  return [mapTree(gradients, (g) => g.mul(factor).astype(g.dtype)) as P, norm.astype(dtype)]
}
