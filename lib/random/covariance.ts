// A factor of covariances: L L^T, which may be singular, as of variables that are sums of others.

import { stopGradient } from '../autodiff/grad.js'
import { holds } from '../devices/devices.js'
import { DTYPE, type FloatLimits } from '../generated/dtypes.js'
import { eye, logicalAnd, where } from '../generated/functions.js'
import { cholesky, eigvalsh } from '../generated/linalg.js'
import type { Tensor } from '../tensor/tensor.js'

/** How far from symmetric, and from eigenvalues of 0, correlations may be, as a share of their largest eigenvalue: NumPy's bound. */
const TOLERANCE = 1e-8

/** What a dtype's own rounding adds to that. */
function roundingOf(x: Tensor): number {
  const { float } = DTYPE[x.dtype]
  return float === null ? 0 : (float as FloatLimits).eps
}

/**
 * Cholesky's factor of covariances [..., n, n], in float64. Eigenvalues of 0 are lifted by some units of float64's rounding, which a
 * number drawn by them shows as 1e-8 of its standard deviation, as NumPy's do; how far apart the variances lie does not matter, since it
 * is done to the correlations. Where these are not symmetric, or have an eigenvalue below 0, it fails as `linalg.cholesky` does when it is read.
 */
export function covarianceFactor(covariance: Tensor): Tensor<'float64'> {
  // Any processor has the float64 that devices may lack; gradients do not go from there to here.
  const x: Tensor = (holds(covariance.device, 'float64') ? covariance : covariance.to('cpu')).astype('float64')
  const n = x.shape.at(-1) as number
  if (n === 0) return cholesky(x) as Tensor<'float64'>
  const spread = stopGradient(x).diagonal().maximum(0).sqrt()
  const unit = where(spread.greater(0), spread, 1)
  const scaled: Tensor = x.divide(unit.expandDims(-1)).divide(unit.expandDims(-2))
  const known = stopGradient(scaled)
  const values = eigvalsh(known)
  const [least, greatest] = [values.min({ axis: -1 }), values.abs().max({ axis: -1 })]
  const tolerance = greatest.multiply(TOLERANCE + 4 * n * roundingOf(covariance))
  const skew = known.subtract(known.matrixTranspose()).abs().max({ axis: [-2, -1] })
  const valid = logicalAnd(least.greaterEqual(tolerance.negative()), skew.lessEqual(tolerance))
  // Twice the least, below 0 by rounding, and what eigenvalues are computed to.
  const lift = least.minimum(0).multiply(-2).add(greatest.multiply(4 * n * Number.EPSILON)).maximum(Number.MIN_VALUE * 2 ** 52)
  const each = (t: Tensor): Tensor => t.expandDims(-1).expandDims(-1)
  const lifted = scaled.add(eye(n, { dtype: 'float64', device: x.device }).multiply(each(lift)))
  return cholesky(where(each(valid) as Tensor<'bool'>, lifted, -1) as Tensor).multiply(spread.expandDims(-1)) as Tensor<'float64'>
}
