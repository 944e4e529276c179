// Each channel of each example normalised on its own.

import { checkOptions, tensorGiven, within } from '../call.js'
import { ShapeError } from '../errors.js'
import type { DType, FloatOf, Promote, Takes } from '../generated/dtypes.js'
import { groupNorm } from '../generated/nn.js'
import type { Tensor } from '../tensor.js'

/** Options of `nn.instanceNorm`. */
export interface InstanceNormOptions {
  /** Added to the variance; 1e-5 by default. */
  readonly eps?: number | undefined
}

/**
 * Elements of x [batch, channels, spatial...] less the mean of their channel in their example, by the root of its variance, times a weight
 * [channels], plus a bias [channels]. It is `groupNorm` with a group for each channel.
 *
 * `y = (x - mean) / sqrt(var + eps) weight + bias`
 *
 * PyTorch `nn.functional.instance_norm`. Ulyanov and others, "Instance normalization", 2016.
 *
 * @throws {TensorError} `ERR_SHAPE` for fewer than three axes and a weight or bias that does not fit, `ERR_DTYPE` for complex tensors.
 * @example
 * ```ts
 * ft.nn.instanceNorm(ft.tensor([[[-2, 2], [0, 2]]]), undefined, undefined, { eps: 0 }) // [[[-1, 1], [-1, 1]]]
 * ```
 */
export function instanceNorm<A extends DType, B extends DType = 'bool', C extends DType = 'bool'>(
  x: Tensor<A> & Takes<'real', A>,
  weight?: Tensor<B> & Takes<'real', B>,
  bias?: Tensor<C> & Takes<'real', C>,
  options?: InstanceNormOptions
): Tensor<FloatOf<Promote<Promote<A, B>, C>>> {
  const op = 'nn.instanceNorm'
  return within(op, () => {
    const { eps } = checkOptions(op, options, ['eps']) as InstanceNormOptions
    const values = tensorGiven(op, 'x', x) as Tensor<'float32'>
    if (values.ndim < 3) throw new ShapeError(`${op}: x must have shape [batch, channels, spatial...], got [${values.shape.join(', ')}]`)
    return groupNorm(values, values.shape[1] as number, weight as Tensor<'float32'> | undefined, bias as Tensor<'float32'> | undefined, { eps })
  }) as Tensor as never
}
