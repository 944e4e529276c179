// Distributions made of gamma numbers: sums of squares, their ratios and shares.

import { checkOptions } from '../arguments/options.js'
import { shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arrayGiven } from '../calls/operands.js'
import { ShapeError } from '../errors.js'
import type { DType, FloatDType, Takes } from '../generated/dtypes.js'
import { where } from '../generated/functions.js'
import { undetected } from '../program/hooks.js'
import type { Fits } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { keyGiven, normal, realGiven, split, type Key } from './draw.js'
import { drawing, floatDType, gammaNumbers, gammaParts, parameter, POSITIVE, wide, type DrawnAs, type GammaOptions, type Parameter } from './rejection.js'

/** Options of `dirichlet`. */
export interface DirichletOptions<E extends FloatDType = FloatDType> extends GammaOptions<E> {
  /** Axes before those of `alpha`, along which draws are independent; none by default. */
  readonly shape?: readonly number[] | undefined
}

/**
 * Sums of the squares of `df` normal numbers: twice a gamma number of concentration df / 2.
 *
 * @param df Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.chisquare(ft.random.key(1), 3, [3, 4]).shape // [3, 4]
 * ```
 */
export function chisquare<A extends Parameter, E extends FloatDType = DrawnAs<A>>(key: Key, df: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.chisquare'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [df])
    const sizes = shapeGiven(op, shape)
    const degrees = parameter(op, 'df', df, POSITIVE, key, sizes, wide(dtype))
    return gammaNumbers(key, degrees.divide(2), sizes).multiply(2).astype(dtype) as Tensor<E>
  })
}

/**
 * Draws from Student's t distribution with `df` degrees of freedom: normal numbers divided by the root of a mean of `df` squares.
 *
 * @param df Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.standardT(ft.random.key(1), 3, [3, 4]).shape // [3, 4]
 * ```
 */
export function standardT<A extends Parameter, E extends FloatDType = DrawnAs<A>>(key: Key, df: A & Fits<'real', A>, shape: readonly number[], options?: GammaOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.standardT'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [df])
    const sizes = shapeGiven(op, shape)
    const half = parameter(op, 'df', df, POSITIVE, key, sizes, wide(dtype)).divide(2)
    const [forNormal, forSquares] = split(key)
    const root = half.divide(gammaNumbers(forSquares, half, sizes)).sqrt()
    return normal(forNormal, sizes, { dtype: wide(dtype) }).multiply(root).astype(dtype) as Tensor<E>
  })
}

/**
 * Ratios of two means of squares of normal numbers (Fisher and Snedecor): of `dfNumerator` above, of `dfDenominator` below.
 *
 * @param dfNumerator Above 0: a number, or a tensor that broadcasts to the shape, NaN where its elements are not above 0.
 * @param dfDenominator As `dfNumerator`.
 * @throws {TensorError} `ERR_ARGUMENT` for numbers that are not above 0, `ERR_SHAPE` for a tensor that does not broadcast to the shape,
 * `ERR_DTYPE` for a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.f(ft.random.key(1), 3, 8, [3, 4]).shape // [3, 4]
 * ```
 */
export function f<A extends Parameter, B extends Parameter, E extends FloatDType = DrawnAs<A, DrawnAs<B>>>(
  key: Key,
  dfNumerator: A & Fits<'real', A>,
  dfDenominator: B & Fits<'real', B>,
  shape: readonly number[],
  options?: GammaOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.f'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = floatDType(op, checkOptions(op, options, ['dtype'])['dtype'], [dfNumerator, dfDenominator])
    const sizes = shapeGiven(op, shape)
    const [above, below] = Object.entries({ dfNumerator, dfDenominator }).map(([name, value]) => parameter(op, name, value, POSITIVE, key, sizes, wide(dtype)).divide(2)) as [Tensor, Tensor]
    const [first, second] = split(key)
    const ratio = gammaNumbers(first, above, sizes).divide(above).divide(gammaNumbers(second, below, sizes).divide(below))
    return ratio.astype(dtype) as Tensor<E>
  })
}

/**
 * Shares [..., k] that add up to 1, by concentrations alpha [..., k]: gamma numbers by their sum.
 *
 * @param alpha Above 0: a tensor, or an array of numbers; shares are NaN where any of a vector's concentrations is not above 0.
 * @throws {TensorError} `ERR_SHAPE` for a scalar, `ERR_DTYPE` for complex concentrations and a dtype that is not floating.
 * @example
 * ```ts
 * ft.random.dirichlet(ft.random.key(1), ft.tensor([1, 2, 3]), { shape: [5] }).shape // [5, 3]
 * ```
 */
export function dirichlet<A extends DType, E extends FloatDType = DrawnAs<Tensor<A>>>(key: Key, alpha: Tensor<A> & Takes<'real', A>, options?: DirichletOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.dirichlet'
  return within(op, () =>
    undetected(() => {
      keyGiven(op, key)
      const o = checkOptions(op, options, ['dtype', 'shape'])
      const given = realGiven(op, 'alpha', arrayGiven(op, 'alpha', alpha))
      if (given.ndim === 0) throw new ShapeError(`${op}: 'alpha' must have shape [..., shares], got a scalar`)
      const dtype = floatDType(op, o['dtype'], [given])
      const sizes = [...shapeGiven(op, o['shape'] ?? []), ...given.shape]
      const own = given.astype(wide(dtype)) as Tensor
      // Of so small concentrations all logarithms below may be infinite; shares are 0 or 1, by the proportions of alpha alone.
      const small = own.max({ axis: -1, keepdims: true }).less(1e-36)
      const { d, w, boost } = gammaParts(key, where(small, own.multiply(2 ** 60), own) as Tensor, sizes)
      // As logarithms, which numbers too small for the dtype survive.
      const logs = d.log().add(w.log1p().multiply(3)).subtract(boost) as Tensor
      const valid = own.greater(0).all({ axis: -1, keepdims: true })
      return where(valid, logs.softmax(-1), NaN).astype(dtype) as Tensor<E>
    })
  )
}
