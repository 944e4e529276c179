// Vectors brought to one length, and how far apart or how alike two are.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, flag, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { broadcastArrays } from '../arrays/broadcasting.js'
import { floating, resultType } from '../arrays/dtypes.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { DTYPE, type DType, type FloatOf, type Promote, type Takes } from '../generated/dtypes.js'
import { vectorNorm } from '../generated/linalg.js'
import type { Tensor } from '../tensor/tensor.js'
import { ranged } from './options.js'

/** Options of `nn.normalize`. */
export interface NormalizeOptions {
  /** The order of the norm, above 0; 2 by default. */
  readonly p?: number | undefined
  /** The axis of the vectors; negative ones count from the last; 1 by default, as in PyTorch. */
  readonly axis?: number | undefined
  /** The least length that is divided by; 1e-12 by default. */
  readonly eps?: number | undefined
}

/** Options of `nn.cosineSimilarity`. */
export interface CosineSimilarityOptions {
  /** The axis of the vectors, which is left out of the result; negative ones count from the last; 1 by default, as in PyTorch. */
  readonly axis?: number | undefined
  /** The least length that is divided by; 1e-8 by default. */
  readonly eps?: number | undefined
}

/** Options of `nn.pairwiseDistance`. */
export interface PairwiseDistanceOptions {
  /** The order of the norm, above 0; 2 by default. */
  readonly p?: number | undefined
  /** Added to each difference, so that equal vectors have a gradient; 1e-6 by default. */
  readonly eps?: number | undefined
  /** Whether the last axis stays, with size 1; false by default. */
  readonly keepdims?: boolean | undefined
}

/** The order of a norm. */
function order(op: string, p: unknown): number {
  const given = number(op, 'p', p)
  if (!(given > 0)) throw new ArgumentError(`${op}: 'p' must be above 0, got ${given}`)
  return given
}

/** Two real tensors as floats of one dtype and a common shape. */
function pair(op: string, x1: unknown, x2: unknown): [Tensor, Tensor] {
  const given = [tensorGiven(op, 'x1', x1), tensorGiven(op, 'x2', x2)] as const
  given.forEach((x, i) => {
    if (DTYPE[x.dtype].kind === 'complex') throw new DTypeError(`${op}: 'x${i + 1}' must be real, got ${x.dtype}`)
    if (x.ndim === 0) throw new ShapeError(`${op}: 'x${i + 1}' is a scalar, which has no axis of vectors`)
  })
  // Promoted first: int8 beside float16 is float16.
  const dtype = resultType(...given)
  return broadcastArrays(...given.map((x) => floating(x.astype(dtype)))) as [Tensor, Tensor]
}

/**
 * Vectors along an axis, each divided by its length.
 *
 * `y = x / max(|x|_p, eps)`
 *
 * PyTorch `nn.functional.normalize`.
 *
 * @param x A tensor; integers and bool become float32.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_ARGUMENT` for an order that is not above 0 and a negative `eps`.
 * @example
 * ```ts
 * ft.nn.normalize(ft.tensor([[3, 4], [0, 0]])) // [[0.6, 0.8], [0, 0]]
 * ```
 */
export function normalize<D extends DType>(x: Tensor<D>, options?: NormalizeOptions): Tensor<FloatOf<D>> {
  const op = 'nn.normalize'
  return within(op, () => {
    const { p = 2, axis = 1, eps } = checkOptions(op, options, ['p', 'axis', 'eps'])
    const values = floating(tensorGiven(op, 'x', x))
    const along = axisGiven(op, axis, values.ndim)
    const length = vectorNorm(values, { axis: along, ord: order(op, p), keepdims: true }) as Tensor
    return values.divide(length.maximum(ranged(op, 'eps', eps, 1e-12, 0, Infinity))) as Tensor<FloatOf<D>>
  })
}

/**
 * The cosines of the angles between the vectors of two tensors along an axis; the other axes broadcast.
 *
 * `y = x1 . x2 / (max(|x1|, eps) max(|x2|, eps))`
 *
 * PyTorch `nn.functional.cosine_similarity`.
 *
 * @param x1 A real tensor; integers and bool become float32.
 * @param x2 A real tensor that broadcasts with it.
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast and scalars, `ERR_INDEX` for an axis out of range, `ERR_DTYPE` for complex
 * tensors, `ERR_ARGUMENT` for a negative `eps`.
 * @example
 * ```ts
 * ft.nn.cosineSimilarity(ft.tensor([[3, 4], [1, 0]]), ft.tensor([[3, 4], [0, 2]])) // [1, 0]
 * ```
 */
export function cosineSimilarity<A extends DType, B extends DType>(
  x1: Tensor<A> & Takes<'real', A>,
  x2: Tensor<B> & Takes<'real', B>,
  options?: CosineSimilarityOptions
): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.cosineSimilarity'
  return within(op, () => {
    const { axis = 1, eps } = checkOptions(op, options, ['axis', 'eps'])
    const [a, b] = pair(op, x1, x2)
    const along = axisGiven(op, axis, a.ndim)
    const least = ranged(op, 'eps', eps, 1e-8, 0, Infinity)
    const [first, second] = [a, b].map((x) => x.divide((vectorNorm(x, { axis: along, keepdims: true }) as Tensor).maximum(least))) as [Tensor, Tensor]
    return first.multiply(second).sum(along) as Tensor<FloatOf<Promote<A, B>>>
  })
}

/**
 * The distances between the vectors of two tensors along the last axis; the other axes broadcast.
 *
 * `y = |x1 - x2 + eps|_p`
 *
 * PyTorch `nn.functional.pairwise_distance`.
 *
 * @param x1 A real tensor [..., features]; integers and bool become float32.
 * @param x2 A real tensor that broadcasts with it.
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast and scalars, `ERR_DTYPE` for complex tensors, `ERR_ARGUMENT` for an order
 * that is not above 0.
 * @example
 * ```ts
 * ft.nn.pairwiseDistance(ft.tensor([[0, 0], [1, 1]]), ft.tensor([3, 4]), { eps: 0 }) // [5, 3.6055513]
 * ```
 */
export function pairwiseDistance<A extends DType, B extends DType>(
  x1: Tensor<A> & Takes<'real', A>,
  x2: Tensor<B> & Takes<'real', B>,
  options?: PairwiseDistanceOptions
): Tensor<FloatOf<Promote<A, B>>> {
  const op = 'nn.pairwiseDistance'
  return within(op, () => {
    const { p = 2, eps = 1e-6, keepdims } = checkOptions(op, options, ['p', 'eps', 'keepdims'])
    const [a, b] = pair(op, x1, x2)
    const apart = number(op, 'eps', eps)
    if (!Number.isFinite(apart)) throw new ArgumentError(`${op}: 'eps' must be a finite number, got ${apart}`)
    return vectorNorm(a.subtract(b).add(apart), { axis: -1, ord: order(op, p), keepdims: flag(op, 'keepdims', keepdims, false) }) as Tensor<FloatOf<Promote<A, B>>>
  })
}
