// Counts made of other draws: trials until a success, failures before some, and how often each of several outcomes comes.

import { checkOptions } from '../arguments/options.js'
import { shapeGiven } from '../arguments/validate.js'
import { arrayGiven } from '../calls/operands.js'
import { ShapeError } from '../errors.js'
import type { DType, IntegerDType, Takes } from '../generated/dtypes.js'
import { stack, where } from '../generated/functions.js'
import { unstack } from '../indexing/split.js'
import { isTensor } from '../program/node.js'
import type { Fits } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { fold, keyGiven, overShape, realGiven, split, standardExponential, type Key } from './draw.js'
import {
  binomial, COUNT, countDType, drawing, gammaNumbers, parameter, poisson, POSITIVE, POSITIVE_PROBABILITY, type CountOptions, type Parameter
} from './rejection.js'

/** Options of `multinomial`. */
export interface MultinomialOptions<E extends IntegerDType = IntegerDType> extends CountOptions<E> {
  /** Axes before those of `p`, along which draws are independent; none by default. */
  readonly shape?: readonly number[] | undefined
}

/**
 * Draws from the geometric distribution: how many trials there are until the first success, that one included, each with probability `p`. Drawn in float64.
 *
 * @param p Above 0, up to 1: a number, or a tensor that broadcasts to the shape; where its elements are out of range the result is -1 (0 in
 * unsigned dtypes). Counts that the dtype does not hold become its largest.
 * @throws {TensorError} `ERR_ARGUMENT` for a number out of range, `ERR_SHAPE` for a tensor that does not broadcast to the shape, `ERR_DTYPE`
 * for a dtype that is not an integer dtype.
 * @example
 * ```ts
 * ft.random.geometric(ft.random.key(1), 1, [3]) // [1, 1, 1]
 * ```
 */
export function geometric<A extends Parameter, E extends IntegerDType = 'int32'>(key: Key, p: A & Fits<'real', A>, shape: readonly number[], options?: CountOptions<E>): Tensor<NoInfer<E>> {
  const op = 'random.geometric'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = countDType(op, checkOptions(op, options, ['dtype'])['dtype'])
    const sizes = shapeGiven(op, shape)
    const chance = parameter(op, 'p', p, POSITIVE_PROBABILITY, key, sizes, 'float64')
    const count = standardExponential(key, sizes, 'float64').divide(chance.negative().log1p().negative()).ceil().maximum(1)
    return where(chance.greater(0).logicalAnd(chance.lessEqual(1)), count, -1).astype(dtype) as Tensor<E>
  })
}

/**
 * Draws from the negative binomial distribution: how many trials fail before `n` succeed, each with probability `p`. Drawn in float64, as Poisson numbers whose means
 * are gamma numbers.
 *
 * @param n Above 0, a fraction or not: a number, or a tensor that broadcasts to the shape.
 * @param p Above 0, up to 1: a number, or a tensor that broadcasts to the shape. Where elements of `n` or `p` are out of range the result is
 * -1 (0 in unsigned dtypes). Counts that the dtype does not hold become its largest.
 * @throws {TensorError} `ERR_ARGUMENT` for numbers out of range, `ERR_SHAPE` for a tensor that does not broadcast to the shape, `ERR_DTYPE`
 * for a dtype that is not an integer dtype.
 * @example
 * ```ts
 * ft.random.negativeBinomial(ft.random.key(1), 5, 1, [3]) // [0, 0, 0]
 * ```
 */
export function negativeBinomial<A extends Parameter, B extends Parameter, E extends IntegerDType = 'int32'>(
  key: Key,
  n: A & Fits<'real', A>,
  p: B & Fits<'real', B>,
  shape: readonly number[],
  options?: CountOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.negativeBinomial'
  return drawing(op, () => {
    keyGiven(op, key)
    const dtype = countDType(op, checkOptions(op, options, ['dtype'])['dtype'])
    const sizes = shapeGiven(op, shape)
    const successes = parameter(op, 'n', n, POSITIVE, key, sizes, 'float64')
    const chance = parameter(op, 'p', p, POSITIVE_PROBABILITY, key, sizes, 'float64')
    const [forMean, forCount] = split(key)
    // NaN where a parameter is out of range, of which poisson makes -1.
    const valid = chance.greater(0).logicalAnd(chance.lessEqual(1))
    const mean = where(valid, gammaNumbers(forMean, successes, sizes).multiply(chance.negative().add(1)).divide(chance), NaN) as Tensor<'float64'>
    return poisson(forCount, mean.broadcastTo(sizes) as Tensor<'float64'>, sizes, { dtype }) as Tensor as Tensor<E>
  })
}

/** Outcomes of a multinomial draw, each of which is a binomial one. */
const MOST_OUTCOMES = 2 ** 12

/**
 * How often each of k outcomes comes in `n` trials, by their probabilities p [..., k]: counts [..., k] that add up to n, each binomial in what
 * the ones before it left. Drawn in float64.
 *
 * @param n An integer of at least 0, or a tensor that broadcasts to the shape of the draws, without the outcomes.
 * @param p Numbers from 0, which need not add up to 1: a tensor, or an array. Where `n` is negative, or p has elements that are negative or not
 * finite, or no element above 0, counts are -1 (0 in unsigned dtypes).
 * @throws {TensorError} `ERR_ARGUMENT` for a number out of range, `ERR_SHAPE` for a scalar `p` and an `n` that does not broadcast, `ERR_DTYPE`
 * for a dtype that is not an integer dtype.
 * @example
 * ```ts
 * ft.random.multinomial(ft.random.key(1), 5, ft.tensor([0, 1, 0])) // [0, 5, 0]
 * ```
 */
export function multinomial<A extends Parameter, B extends DType, E extends IntegerDType = 'int32'>(
  key: Key,
  n: A & Fits<'real', A>,
  p: Tensor<B> & Takes<'real', B>,
  options?: MultinomialOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.multinomial'
  return drawing(op, () => {
    keyGiven(op, key)
    const o = checkOptions(op, options, ['dtype', 'shape'])
    const dtype = countDType(op, o['dtype'])
    const weights = realGiven(op, 'p', arrayGiven(op, 'p', p)).astype('float64')
    if (weights.ndim === 0) throw new ShapeError(`${op}: 'p' must have shape [..., outcomes], got a scalar`)
    const outcomes = weights.shape.at(-1) as number
    if (outcomes > MOST_OUTCOMES) throw new ShapeError(`${op}: ${outcomes} outcomes are more than ${MOST_OUTCOMES}, each of which is a draw; count draws of categorical`)
    const sizes = [...shapeGiven(op, o['shape'] ?? []), ...weights.shape.slice(0, -1)]
    const trials = isTensor(n) ? overShape(op, 'n', realGiven(op, 'n', n), sizes).astype('float64').floor() : parameter(op, 'n', n, COUNT, key, sizes, 'float64').broadcastTo(sizes)
    // What is left of the probabilities from each outcome on: of the last one above 0, itself, so that it takes all that is left.
    const rest = weights.flip(-1).cumulativeSum({ axis: -1 }).flip(-1) as Tensor
    const chances = unstack(where(rest.greater(0), weights.divide(rest), 0) as Tensor, { axis: -1 }) as Tensor[]
    let left = trials as Tensor
    const counts = chances.map((chance, i) => {
      const count = binomial(fold(key, i), left as Tensor<'float64'>, chance.broadcastTo(sizes) as Tensor<'float64'>, sizes, { dtype: 'int64' }).astype('float64') as Tensor
      left = left.subtract(count)
      return count
    })
    if (counts.length === 0) throw new ShapeError(`${op}: there are no outcomes`)
    const fine = weights.greaterEqual(0).logicalAnd(weights.isfinite()).all(-1).logicalAnd(weights.greater(0).any(-1))
    const valid = fine.logicalAnd(trials.greaterEqual(0)).expandDims(-1)
    return where(valid, stack(counts, { axis: -1 }), -1).astype(dtype) as Tensor<E>
  })
}
