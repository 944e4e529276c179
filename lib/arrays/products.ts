// Products added to a tensor, and products of many matrices, as PyTorch has them.

import { checkOptions } from '../arguments/options.js'
import { number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, Promote, SumOf, Takes } from '../generated/dtypes.js'
import { matmul, outer } from '../generated/functions.js'
import type { PromoteAll, TakesEach } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { resultType } from './dtypes.js'
import { listGiven } from './options.js'

/** Factors of {@link addmm} and its kin. */
export interface AddmmOptions {
  /** What `input` is multiplied with; 1 by default. With 0 its elements do not matter, NaN among them. */
  readonly beta?: number | undefined
  /** What the product is multiplied with; 1 by default. */
  readonly alpha?: number | undefined
}

/** The dtype of a product that is added to something. */
export type Added<D extends DType, A extends DType, B extends DType> = Promote<D, SumOf<Promote<A, B>>>

/** Whether a rank is what a function takes. */
function ranked(op: string, name: string, value: unknown, [rank, what]: readonly [rank: number, what: string], ...beside: readonly unknown[]): Tensor {
  const x = arrayGiven(op, name, value, ...beside)
  if (x.ndim !== rank) throw new ShapeError(`${op}: '${name}' must be ${what}, got shape [${x.shape.join(', ')}]`)
  return x
}

const MATRIX = [2, 'a matrix'] as const
const VECTOR = [1, 'a vector'] as const
const STACK = [3, 'matrices [n, rows, columns]'] as const

/** `beta input + alpha product`, of which `input` may broadcast to the product and not the other way round. */
function added(op: string, input: unknown, options: unknown, a: unknown, b: unknown, product: () => Tensor): Tensor {
  return within(op, () => {
    const x = arrayGiven(op, 'input', input, a, b)
    const { beta = 1, alpha = 1 } = checkOptions(op, options, ['beta', 'alpha'])
    const [before, factor] = [number(op, 'beta', beta), number(op, 'alpha', alpha)]
    const plain = product()
    const scaled: Tensor = factor === 1 ? plain : plain.multiply(factor)
    const wide: Tensor = x.broadcastTo(plain.shape)
    // Of what is left out no NaN is kept, as in BLAS; the dtype is.
    if (before === 0) return scaled.astype(resultType(wide, scaled))
    return (before === 1 ? wide : wide.multiply(before)).add(scaled)
  })
}

/**
 * A product of matrices added to a tensor, in one program.
 *
 * `beta input + alpha (a b)`
 *
 * PyTorch `addmm`. `input` broadcasts to the product.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a matrix, and for sizes that do not fit, `ERR_DTYPE` for bool, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.addmm(ft.tensor([1, 1]), ft.tensor([[1, 2], [3, 4]]), ft.eye(2), { alpha: 10 }) // [[11, 21], [31, 41]]
 * ```
 */
export function addmm<D extends DType, A extends DType, B extends DType>(input: Tensor<D>, a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
  const op = 'addmm'
  return added(op, input, options, a, b, () => matmul(ranked(op, 'a', a, MATRIX, b, input), ranked(op, 'b', b, MATRIX, a, input))) as Tensor<Added<D, A, B>>
}

/**
 * A product of a matrix and a vector added to a tensor, in one program.
 *
 * `beta input + alpha (a b)`
 *
 * PyTorch `addmv`. `input` broadcasts to the product.
 *
 * @throws {TensorError} `ERR_SHAPE` for arguments that are not a matrix or a vector and sizes that do not fit, `ERR_DTYPE` for bool, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.addmv(ft.tensor([1, 1]), ft.tensor([[1, 2], [3, 4]]), ft.tensor([1, 1])) // [4, 8]
 * ```
 */
export function addmv<D extends DType, A extends DType, B extends DType>(input: Tensor<D>, a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
  const op = 'addmv'
  return added(op, input, options, a, b, () => matmul(ranked(op, 'a', a, MATRIX, b, input), ranked(op, 'b', b, VECTOR, a, input))) as Tensor<Added<D, A, B>>
}

/**
 * An outer product of vectors added to a tensor, in one program.
 *
 * `beta input_ij + alpha a_i b_j`
 *
 * PyTorch `addr`. `input` broadcasts to the product.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a vector, and for sizes that do not fit, `ERR_DTYPE` for bool, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.addr(ft.zeros([2, 2]), ft.tensor([1, 2]), ft.tensor([3, 4])) // [[3, 4], [6, 8]]
 * ```
 */
export function addr<D extends DType, A extends DType, B extends DType>(input: Tensor<D>, a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Promote<D, Promote<A, B>>> {
  const op = 'addr'
  return added(op, input, options, a, b, () => outer(ranked(op, 'a', a, VECTOR, b, input), ranked(op, 'b', b, VECTOR, a, input))) as Tensor<Promote<D, Promote<A, B>>>
}

/**
 * The sum of the products of two stacks of matrices added to a tensor, in one program.
 *
 * `beta input + alpha sum_n a_n b_n`
 *
 * PyTorch `addbmm`. `input` broadcasts to the product.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a stack of matrices, and for sizes that do not fit, `ERR_DTYPE` for bool, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.addbmm(ft.zeros([1, 1]), ft.ones([3, 1, 2]), ft.ones([3, 2, 1])) // [[6]]
 * ```
 */
export function addbmm<D extends DType, A extends DType, B extends DType>(input: Tensor<D>, a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
  const op = 'addbmm'
  return added(op, input, options, a, b, () => stacked(op, a, b, input).sum(0)) as Tensor<Added<D, A, B>>
}

/**
 * The products of two stacks of matrices added to a tensor, in one program.
 *
 * `beta input_n + alpha (a_n b_n)`
 *
 * PyTorch `baddbmm`. `input` broadcasts to the products.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a stack of matrices, and for sizes that do not fit, `ERR_DTYPE` for bool, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.baddbmm(ft.ones([1]), ft.ones([2, 1, 2]), ft.ones([2, 2, 1])) // [[[3]], [[3]]]
 * ```
 */
export function baddbmm<D extends DType, A extends DType, B extends DType>(input: Tensor<D>, a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
  const op = 'baddbmm'
  return added(op, input, options, a, b, () => stacked(op, a, b, input)) as Tensor<Added<D, A, B>>
}

function stacked(op: string, a: unknown, b: unknown, input: unknown): Tensor {
  const [left, right] = [ranked(op, 'a', a, STACK, b, input), ranked(op, 'b', b, STACK, a, input)]
  if (left.shape[0] !== right.shape[0]) throw new ShapeError(`${op}: stacks of ${left.shape[0]} and ${right.shape[0]} matrices`)
  return matmul(left, right)
}

/**
 * How matrices of these sizes are multiplied with the fewest multiplications: for each range of them the last of its left part (dynamic
 * programming; Cormen et al., "Introduction to Algorithms", 15.2).
 */
function splits(sizes: readonly number[]): readonly (readonly number[])[] {
  const n = sizes.length - 1
  const cost = Array.from({ length: n }, () => new Array<number>(n).fill(0))
  const split = Array.from({ length: n }, () => new Array<number>(n).fill(0))
  const at = (table: number[][], i: number, j: number): number => (table[i] as number[])[j] as number
  const size = (i: number): number => sizes[i] as number
  for (let length = 2; length <= n; length++) {
    for (let first = 0; first + length <= n; first++) {
      const last = first + length - 1
      let [least, best] = [Infinity, first]
      for (let k = first; k < last; k++) {
        const total = at(cost, first, k) + at(cost, k + 1, last) + size(first) * size(k + 1) * size(last + 1)
        if (total < least) [least, best] = [total, k]
      }
      ;(cost[first] as number[])[last] = least
      ;(split[first] as number[])[last] = best
    }
  }
  return split
}

/** More matrices than this take longer to order, which is of third order, than to multiply. */
const MOST = 256

/** The product of matrices, the first and the last of which may be a vector. */
function chained(op: string, given: readonly unknown[]): Tensor {
  if (given.length < 2 || given.length > MOST) throw new ArgumentError(`${op}: takes 2 to ${MOST} matrices, got ${given.length}`)
  const last = given.length - 1
  const tensors = given.map((value, i) => {
    const x = arrayGiven(op, `matrices[${i}]`, value, ...given)
    const isEnd = i === 0 || i === last
    if (x.ndim !== 2 && !(isEnd && x.ndim === 1)) throw new ShapeError(`${op}: 'matrices[${i}]' must be a matrix${isEnd ? ' or a vector' : ''}, got shape [${x.shape.join(', ')}]`)
    return x
  })
  const [head, tail] = [tensors[0] as Tensor, tensors[last] as Tensor]
  const matrices = tensors.map((x, i): Tensor => (x.ndim === 2 ? x : x.expandDims(i === 0 ? 0 : 1)))
  const sizes = [(matrices[0] as Tensor).shape[0] as number, ...matrices.map((x) => x.shape[1] as number)]
  const split = splits(sizes)
  const product = (i: number, j: number): Tensor => {
    if (i === j) return matrices[i] as Tensor
    const k = (split[i] as number[])[j] as number
    return matmul(product(i, k), product(k + 1, j))
  }
  return product(0, last).reshape([...(head.ndim === 1 ? [] : [sizes[0] as number]), ...(tail.ndim === 1 ? [] : [sizes[last + 1] as number])])
}

/**
 * The product of matrices one after the other, in the order that takes the fewest multiplications.
 *
 * PyTorch `chain_matmul`. The first and the last may be vectors, as in {@link linalg.multiDot}, which takes them in an array.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a matrix, and for sizes that do not fit, `ERR_ARGUMENT` for fewer than two or more than 256.
 * @example
 * ```ts
 * ft.chainMatmul(ft.ones([2, 3]), ft.ones([3, 4]), ft.ones([4, 1])) // [[12], [12]]
 * ```
 */
export function chainMatmul<const A extends readonly Tensor[]>(...matrices: A & TakesEach<'numeric', A>): Tensor<SumOf<PromoteAll<A>>> {
  return within('chainMatmul', () => chained('chainMatmul', matrices)) as Tensor<SumOf<PromoteAll<A>>>
}

/**
 * The product of an array of matrices, in the order that takes the fewest multiplications. The first and the last may be vectors, and the
 * result has their axes no more.
 *
 * NumPy and PyTorch `linalg.multi_dot`.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a matrix, and for sizes that do not fit, `ERR_ARGUMENT` for fewer than two or more than 256.
 * @example
 * ```ts
 * ft.linalg.multiDot([ft.ones([3]), ft.ones([3, 4]), ft.ones([4])]) // 12
 * ```
 */
export function multiDot<const A extends readonly Tensor[]>(matrices: A & TakesEach<'numeric', A>): Tensor<SumOf<PromoteAll<A>>> {
  const op = 'linalg.multiDot'
  if (!Array.isArray(matrices)) throw new ArgumentError(`${op}: 'matrices' must be an array of tensors, got ${shown(matrices)}`)
  return within(op, () => chained(op, listGiven(op, 'matrices', matrices))) as Tensor<SumOf<PromoteAll<A>>>
}
