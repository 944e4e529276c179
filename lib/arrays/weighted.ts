// Covariances of weighted observations, running integrals, and integrals over coordinates that differ from line to line.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, flag, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, tensorOf, type Listed, type Positions } from '../calls/arrays.js'
import { arrayGiven, tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { DTYPE, type DType, type FloatOf, type Promote, type Takes } from '../generated/dtypes.js'
import {
  cov as unweighted, cumulativeSum, diff, matmul, maximum, trapezoid as overVector, type CovOptions as UnweightedOptions, type TrapezoidOptions
} from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import { optionsLast } from '../program/op-table.js'
import { isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { fromList } from '../values/create.js'
import { floating } from './dtypes.js'
import { axisOrOptions, integersGiven } from './options.js'

/** Options of `cov`. */
export interface CovOptions extends UnweightedOptions {
  /** How often each observation occurs, a vector of integers; once by default. */
  readonly fweights?: Tensor | Positions | undefined
  /** How much each observation counts, a vector of numbers that are not negative; all the same by default. */
  readonly aweights?: Tensor | Listed | undefined
}

/** A vector of a weight for each observation. */
function checkWeights(op: string, name: string, weights: Tensor, count: number): Tensor {
  if (weights.ndim !== 1 || weights.size !== count) throw new ShapeError(`${op}: '${name}' must be ${count} numbers, got shape [${weights.shape.join(', ')}]`)
  return weights
}

/**
 * Covariances of each two variables, of which the rows (without rowvar the columns) are observations; of n observations divided by n - correction (or 0),
 * 1 less by default; one number for a vector. Observations may have weights: of `fweights` n is the sum, of `aweights` the sum less
 * `correction` times their mean by weight.
 *
 * `sum_k w_k (x_ik - mean x_i) conj(x_jk - mean x_j) / max(sum w - correction sum w a / sum w, 0), w = f a`
 *
 * Takes any dtype; gives the same dtype, float32 for integers and bool.
 * NumPy `cov`, PyTorch `cov`.
 *
 * @param x A tensor.
 * @param options Options.
 * @throws {TensorError} `ERR_SHAPE`, as for `ft.zeros([2, 2, 2]).cov()` and weights of another size, `ERR_DTYPE` for `fweights` that are not integers.
 * @example
 * ```ts
 * ft.cov(ft.tensor([1, 2, 6]), { fweights: [1, 2, 1] }) // 4.9166665
 * ```
 */
export function cov<A extends DType = 'float32'>(x: Tensor<A> | Listed, options?: CovOptions): Tensor<FloatOf<A>> {
  const op = 'cov'
  const o = checkOptions(op, options, ['rowvar', 'correction', 'fweights', 'aweights']) as CovOptions
  const { fweights, aweights, rowvar, correction = 1 } = o
  if (arguments.length > 2) return Reflect.apply(unweighted, undefined, arguments) as Tensor<FloatOf<A>>
  if (fweights === undefined && aweights === undefined) return unweighted(x, options === undefined ? undefined : { rowvar: o.rowvar, correction: o.correction })
  return within(op, () => {
    const given: Tensor = floating(arrayGiven(op, 'x', x))
    if (given.ndim > 2) throw new ShapeError(`${op}: takes at most 2 axes, got shape [${given.shape.join(', ')}]`)
    const isRows = rowvar === undefined || flag(op, 'rowvar', rowvar, false)
    const variables = (given.ndim < 2 ? given.reshape([1, given.size]) : isRows ? given : given.matrixTranspose()) as Tensor
    const n = variables.shape[1] as number
    const part = DTYPE[given.dtype].float?.dtype as DType
    const a = aweights === undefined ? undefined : (checkWeights(op, 'aweights', arrayGiven(op, 'aweights', aweights, given), n).astype(part) as Tensor)
    const f = fweights === undefined ? undefined : (checkWeights(op, 'fweights', integersGiven(op, 'fweights', fweights, given), n).astype(part) as Tensor)
    const w = (a === undefined ? f : f === undefined ? a : f.multiply(a)) as Tensor
    const total = w.sum() as Tensor
    const less = a === undefined ? number(op, 'correction', correction) : w.multiply(a).sum().divide(total).multiply(number(op, 'correction', correction))
    const rest = variables.subtract(variables.multiply(w).sum({ axis: 1, keepdims: true }).divide(total)) as Tensor
    const sums = matmul(rest.multiply(w) as Tensor, rest.matrixTranspose().conj() as Tensor) as Tensor
    const out = sums.divide(maximum(total.subtract(less as Tensor), 0)) as Tensor
    return given.ndim < 2 ? out.reshape([]) : out
  }) as Tensor as Tensor<FloatOf<A>>
}

/** Areas between each two neighbours, along the last axis, and which axis of the samples that was. */
function panels(op: string, y: unknown, coordinates: unknown, options: unknown): { areas: Tensor; axis: number } {
  const samples: Tensor = floating(isListed(y) ? tensorOf(op, y, isTensor(coordinates) ? coordinates : undefined) : tensorGiven(op, 'y', y))
  const { axis: given = -1, dx = 1 } = axisOrOptions(op, options, ['axis', 'dx'])
  const step = number(op, 'dx', dx)
  if (samples.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no axis to integrate along`)
  const axis = axisGiven(op, given, samples.ndim)
  const along = samples.moveaxis(axis, -1) as Tensor
  const heights = along.at('...', '1:').add(along.at('...', ':-1'))
  if (coordinates === undefined) return { areas: heights.multiply(step / 2), axis }
  if (isPlain(coordinates)) throw new ArgumentError(`${op}: 'coordinates' must be a tensor, got an Object${optionsLast(op, ['y', 'coordinates'], coordinates)}`)
  // Coordinates are real, also of complex samples, whose digits they have.
  const like = { dtype: DTYPE[samples.dtype].float?.dtype, device: samples.device }
  const places = isListed(coordinates) ? fromList(op, coordinates, like) : tensorGiven(op, 'coordinates', coordinates)
  const lines = places.ndim < 2 ? places : (places.broadcastTo(samples.shape).moveaxis(axis, -1) as Tensor)
  if (lines.ndim === 0 || lines.shape.at(-1) !== along.shape.at(-1)) {
    throw new ShapeError(`${op}: coordinates of shape [${places.shape.join(', ')}] for ${along.shape.at(-1)} samples`)
  }
  const widths = diff(lines as Tensor<'float32'>) as Tensor
  return { areas: heights.multiply(widths).divide(2), axis }
}

/**
 * Integral of samples along an axis (the last by default), a fixed distance dx apart or at coordinates, by the trapezoidal rule; 0 of fewer than two.
 * Coordinates are a vector for all lines, or broadcast to the samples.
 *
 * `sum_i (x_(i + 1) - x_i) (y_i + y_(i + 1)) / 2`
 *
 * Takes a real or complex dtype; gives the promoted dtype, float32 for integers and bool.
 * NumPy `trapezoid`, PyTorch `trapezoid`.
 *
 * @param y A tensor.
 * @param coordinates Where the samples are; `dx` apart by default.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE` for coordinates that do not fit, `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.trapezoid(ft.tensor([[1, 2], [3, 4]]), ft.tensor([[0, 1], [0, 2]])) // [1.5, 7]
 * ```
 */
export function trapezoid<A extends DType = 'float32', B extends DType = 'bool'>(
  y: Tensor<A> | Listed,
  coordinates?: (Tensor<B> & Takes<'real', B>) | Listed,
  options?: number | TrapezoidOptions
): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'trapezoid'
  const isVector = !isTensor(coordinates) || coordinates.ndim < 2
  const isReal = !isTensor(y) || DTYPE[y.dtype].kind !== 'complex'
  if ((isVector && isReal && !(isListed(coordinates) && Array.isArray(coordinates[0]))) || arguments.length > 3) {
    return Reflect.apply(overVector, undefined, arguments) as Tensor<FloatOf<Promote<A, B>>>
  }
  return within(op, () => panels(op, y, coordinates, options).areas.sum({ axis: -1 })) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}

/**
 * Running integrals of samples along an axis (the last by default), a fixed distance dx apart or at coordinates, by the trapezoidal rule: one less
 * than there are samples. Coordinates are a vector for all lines, or broadcast to the samples.
 *
 * `out_k = sum_(i <= k) (x_(i + 1) - x_i) (y_i + y_(i + 1)) / 2`
 *
 * Takes any dtype; gives the promoted dtype, float32 for integers and bool.
 * PyTorch `cumulative_trapezoid`, SciPy `integrate.cumulative_trapezoid`.
 *
 * @param y A tensor.
 * @param coordinates Where the samples are; `dx` apart by default.
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_SHAPE` for coordinates that do not fit and for a tensor of rank 0, `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.cumulativeTrapezoid(ft.tensor([1, 2, 4])) // [1.5, 4.5]
 * ```
 */
export function cumulativeTrapezoid<A extends DType = 'float32', B extends DType = 'bool'>(
  y: Tensor<A> | Listed,
  coordinates?: (Tensor<B> & Takes<'real', B>) | Listed,
  options?: number | TrapezoidOptions
): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'cumulativeTrapezoid'
  return within(op, () => {
    const { areas, axis } = panels(op, y, coordinates, options)
    return cumulativeSum(areas as Tensor<'float32'>, { axis: -1 }).moveaxis(-1, axis)
  }) as Tensor as Tensor<FloatOf<Promote<A, B>>>
}
