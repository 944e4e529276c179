// Normal numbers far from the mean, where the distribution's integral is too near 1 to be inverted: its tail Q(x) is, by logarithms.
//
// Method: with w = (x^2 - a^2) / 2 and the Mills ratio R(x) = Q(x) / density(x), a share v = Q(x) / Q(a) of the tail from a on says
// w = -ln v + ln(R(x) / R(a)), which Newton's iteration solves from w = -ln v: its slope in w is 1 / (x R(x)). From a = 1 on three steps
// are within 4e-7 in float32 and 5e-10 in float64 of scipy.stats.truncnorm.

import { DTYPE, type FloatLimits } from '../generated/dtypes.js'
import { erfc, full, maximum, where } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'

const STEPS = 3
/** From here on the continued fraction is as good as float64 with {@link TERMS} terms; before, erfc has not underflowed. */
const FAR = 4
const TERMS = 12
/**
 * From here on every draw is `low` to the last bit, and soon its square overflows. A draw is `low` + E / `low` or less, with E = -ln(1 - u) at
 * most 53 ln 2 = 36.8: half a unit of float64, 2^-54 of `low` or more, is above that from 8.2e8 on, of float32 from 2.4e4 on.
 */
const CERTAIN = 1e9

/** Q(x) / density(x), for x from 1 on: by erfc, or by Laplace's continued fraction. */
function mills(x: Tensor): Tensor {
  const near = x.minimum(FAR)
  const scaled = erfc(near.multiply(Math.SQRT1_2)).multiply(near.square().multiply(0.5).exp()).multiply(Math.sqrt(Math.PI / 2))
  const far = x.maximum(FAR)
  let fraction = far
  for (let k = TERMS; k > 0; k--) fraction = fraction.reciprocal().multiply(k).add(far) as Tensor
  return where(x.less(FAR), scaled, fraction.reciprocal()) as Tensor
}

/** Deviations from `low` (1 or more) to `high`, which may be infinite: the larger, the larger the uniform number. */
export function tailDraw(u: Tensor, low: number, high: number): Tensor {
  if (low >= CERTAIN) return full(u.shape, Math.min(low, (DTYPE[u.dtype].float as FloatLimits).max), { dtype: u.dtype, device: u.device }) as Tensor
  const dtype = u.dtype === 'float64' ? 'float64' : 'float32'
  // Two numbers, for which any processor has the float64 that devices may lack.
  const exact = (x: number) => full([], x, { dtype: 'float64', device: 'cpu' })
  const start = mills(exact(low))
  const beyond = high === Infinity ? exact(0) : exact(((low - high) * (low + high)) / 2).exp().multiply(mills(exact(high)).divide(start))
  const given = (x: Tensor) => x.astype(dtype).to(u.device)
  const share = u.astype(dtype).multiply(given(beyond.negative().add(1))).negative().log1p()
  const level = given(start.log())
  let w: Tensor = share.negative()
  const at = (): Tensor => w.multiply(2).add(low * low).sqrt()
  for (let step = 0; step < STEPS; step++) {
    const x = at()
    const ratio = mills(x)
    const miss = w.add(share).subtract(ratio.log().subtract(level))
    w = maximum(w.subtract(miss.multiply(x).multiply(ratio)), 0) as Tensor
  }
  // x - a without cancellation.
  return w.multiply(2).divide(at().add(low)).add(low).astype(u.dtype) as Tensor
}
