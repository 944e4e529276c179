// `ft.linalg`: the rows of linear algebra, and names of other libraries.

import { within } from '../arguments/within.js'
import { normOf, type Norm, type NormOrdOptions, type Ord } from '../arrays/numpy.js'
import type { DType } from '../generated/dtypes.js'
import type { Tensor } from '../tensor/tensor.js'

export * from '../generated/linalg.js'
export * from '../generated/names/linalg.js'
export {
  choleskySolve, logdet, luFactor, luSolve, tensorinv, tensorsolve, type CholeskySolveOptions, type LUFactor, type TensorinvOptions, type TensorsolveOptions
} from '../arrays/factors.js'
export { vander_ as vander, type LinalgVanderOptions } from '../arrays/grids.js'
export { multiDot } from '../arrays/products.js'
export { matrixRank, pinv, type ToleranceOptions } from '../arrays/tolerances.js'

/**
 * Norm of all elements or along axes, as NumPy's and PyTorch's `linalg.norm`: without an order that of all elements as one vector, with one
 * that of a vector ({@link vectorNorm}), or of a matrix or two axes ({@link matrixNorm}).
 *
 * @throws {TensorError} `ERR_SHAPE` for an order and more than two axes, `ERR_ARGUMENT` for an order that there is not.
 */
export function norm<D extends DType>(x: Tensor<D>, ord?: Ord | NormOrdOptions, options?: NormOrdOptions): Norm<D> {
  return within('linalg.norm', () => normOf('linalg.norm', x, ord, options, true) as Norm<D>)
}
