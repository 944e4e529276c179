// Gradients kept from growing without bound.

import { shown } from '../call.js'
import { ArgumentError } from '../errors.js'
import { leaves, mapTree } from '../pytree.js'
import { checkAlive, type Tensor } from '../tensor.js'
import { minimum } from '../generated/functions.js'

/**
 * The root of the sum of all squares in a tree of tensors, as one vector's length; a scalar of the first tensor's dtype.
 *
 * @throws {ArgumentError} for a tree without tensors.
 */
export function globalNorm(tree: unknown): Tensor {
  const found = leaves(tree, 'optim.globalNorm: the tree')
  const [first, ...rest] = found.map((x) => {
    checkAlive('optim.globalNorm', x)
    return x.abs().square().sum()
  })
  if (first === undefined) throw new ArgumentError('optim.globalNorm: there is no tensor in the tree')
  return rest.reduce((sum: Tensor, x) => sum.add(x), first).sqrt()
}

/**
 * The tree scaled so that its norm, as of one vector, is at most `most`, and the norm it had. PyTorch `clip_grad_norm_`, which adds 1e-6 to the
 * norm as this does.
 *
 * @throws {ArgumentError} for a bound that is not positive, and a tree without tensors.
 */
export function clipByGlobalNorm<P>(gradients: P, most: number): [gradients: P, norm: Tensor] {
  if (typeof most !== 'number' || !(most > 0)) throw new ArgumentError(`optim.clipByGlobalNorm: the bound must be a positive number, got ${shown(most)}`)
  const norm = globalNorm(gradients)
  const factor = minimum(norm.add(1e-6).reciprocal().mul(most), 1)
  return [mapTree(gradients, (g) => g.mul(factor.astype(g.dtype))) as P, norm]
}
