// Functions that NumPy and PyTorch both have and of which each means more than ours, under their names. They run where the meaning is
// one; where the libraries differ, the error says what to write for each.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, flag, integer } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arrayGiven } from '../calls/operands.js'
import { several, type Several } from '../calls/several.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatOf, Promote, RealOf, SumOf, Takes } from '../generated/dtypes.js'
import { flatten, matmul, moveaxis, multiply, permuteDims, swapaxes, vecdot } from '../generated/functions.js'
import { matrixNorm, vectorNorm } from '../generated/linalg.js'
import { split } from '../indexing/split.js'
import type { Tensor } from '../tensor/tensor.js'
import { numbers, type Numbers } from './pytorch.js'
import { nonzero, uniqueAll, type Unique, type UniqueOptions } from './sets.js'

/**
 * Axes in another order, as NumPy's and PyTorch's `transpose`: without axes all of them reversed, with an array or more than two numbers as
 * {@link permuteDims}, with two numbers those exchanged, as {@link swapaxes}. A view.
 *
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for axes that are not permutation.
 */
export function transpose<D extends DType>(x: Tensor<D>, ...axes: Numbers | readonly []): Tensor<D> {
  const op = 'transpose'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x) as Tensor<D>
    if (axes.length === 0) return permuteDims(values, values.shape.map((_, i) => values.ndim - 1 - i))
    const [a, b] = axes
    if (axes.length !== 2) return permuteDims(values, numbers(op, 'axes', axes))
    return swapaxes(values, integer(op, 'axes[0]', a), integer(op, 'axes[1]', b))
  })
}

/** As {@link transpose}, of a method, where NumPy's two numbers are a permutation: of a matrix (0, 1) leaves it as it is. */
export function transposed<D extends DType>(x: Tensor<D>, axes: readonly unknown[]): Tensor<D> {
  const [a, b] = axes
  if (axes.length === 2 && x.ndim === 2 && axisGiven('transpose', a, 2) < axisGiven('transpose', b, 2)) {
    throw new ArgumentError(`transpose: (${String(a)}, ${String(b)}) leaves a matrix as it is in NumPy and exchanges its axes in PyTorch; write x.T or x.swapaxes(0, 1) to exchange them`)
  }
  return transpose(x, ...(axes as Numbers))
}

/**
 * Products over the last axis of `x1` and the first of `x2`, for vectors and matrices: as {@link matmul}.
 *
 * @throws {TensorError} `ERR_SHAPE` for more axes, where NumPy's `dot` is another product than `matmul`.
 */
export function dot<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'numeric', A>, x2: (Tensor<B> & Takes<'numeric', B>) | number): Tensor<SumOf<Promote<A, B>>> {
  const op = 'dot'
  return within(op, () => {
    const a = arrayGiven(op, 'x1', x1, x2) as Tensor<'float32'>
    if (typeof x2 === 'number') return multiply(a, x2) as Tensor as Tensor<SumOf<Promote<A, B>>>
    const b = arrayGiven(op, 'x2', x2, x1) as Tensor<'float32'>
    if (a.ndim > 2 || b.ndim > 2) {
      throw new ShapeError(`${op}: of more than two axes write a.matmul(b) for matrices in stacks, ft.tensordot(a, b, { axes: [[-1], [-2]] }) for NumPy's dot`)
    }
    return (a.ndim === 0 || b.ndim === 0 ? multiply(a, b) : matmul(a, b)) as Tensor as Tensor<SumOf<Promote<A, B>>>
  })
}

/** The product of all elements, the first conjugated, as {@link vecdot} of both flattened. */
export function vdot<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'numeric', A>, x2: Tensor<B> & Takes<'numeric', B>): Tensor<SumOf<Promote<A, B>>> {
  const op = 'vdot'
  return within(op, () => {
    const [a, b] = [arrayGiven(op, 'x1', x1, x2), arrayGiven(op, 'x2', x2, x1)]
    return vecdot(flatten(a) as Tensor<'float32'>, flatten(b) as Tensor<'float32'>) as Tensor as Tensor<SumOf<Promote<A, B>>>
  })
}

/** The order of a norm: a number, which may be infinite; of matrices `'fro'` or `'nuc'` too. */
export type Ord = number | 'fro' | 'nuc'

/** Options of `norm` and `linalg.norm`. */
export interface NormOrdOptions {
  /** The order; 2 by default, `'fro'` of matrices. */
  readonly ord?: Ord | undefined
  /** One axis, or the two of matrices; all elements as one vector by default. */
  readonly axis?: number | readonly number[] | undefined
  /** Keeps reduced axes, with size 1; false by default. */
  readonly keepdims?: boolean | undefined
}

/** Norms are real. */
export type Norm<D extends DType> = Tensor<RealOf<FloatOf<D>>>

/** Of a tensor's last two axes; the axes that were asked for are moved there, and back where they are kept. */
function ofMatrices(op: string, x: Tensor, ord: unknown, axes: readonly number[], keepdims: boolean): Tensor {
  const [rows, columns] = axes.map((axis) => axisGiven(op, axis, x.ndim)) as [number, number]
  const norms = matrixNorm(moveaxis(x, [rows, columns], [-2, -1]), { ord: ord as number, keepdims })
  return keepdims ? moveaxis(norms, [-2, -1], [rows, columns]) : norms
}

/** `ft.norm`, and where `agreed` `ft.linalg.norm`, in which both libraries mean a matrix's norm by an order of a matrix. */
export function normOf(op: string, x: unknown, order: unknown, options: unknown, agreed: boolean): Tensor {
  const values = arrayGiven(op, 'x', x)
  const alone = typeof order === 'object' && order !== null && options === undefined
  const o = checkOptions(op, alone ? order : options, ['ord', 'axis', 'keepdims'])
  const ord = alone || o['ord'] !== undefined ? o['ord'] : order
  const keepdims = o['keepdims'] === undefined ? false : o['keepdims']
  if (typeof keepdims !== 'boolean') throw new ArgumentError(`${op}: 'keepdims' must be a boolean, got ${shown(keepdims)}`)
  const axis = Array.isArray(o['axis']) && o['axis'].length === 1 ? (o['axis'] as unknown[])[0] : o['axis']
  const pair = Array.isArray(axis) ? (axis as number[]) : axis === undefined && values.ndim === 2 && ord !== undefined ? [0, 1] : undefined
  if (pair === undefined) {
    if (axis === undefined && ord !== undefined && values.ndim > 2) throw new ShapeError(`${op}: of more than two axes name one or two: { axis }`)
    if (typeof ord === 'string') throw new ArgumentError(`${op}: '${ord}' is an order of matrices, and this is a norm of vectors`)
    return vectorNorm(values, { ord: ord as number, axis: axis as number, keepdims })
  }
  if (pair.length !== 2) throw new ArgumentError(`${op}: 'axis' must be one axis or two, got ${shown(pair)}`)
  if (typeof ord === 'number' && !agreed) {
    throw new ArgumentError(`${op}: order ${ord} of a matrix is ft.linalg.matrixNorm(x, { ord: ${ord} }) in NumPy, and in PyTorch's torch.norm ft.linalg.vectorNorm(x, { ord: ${ord} })`)
  }
  return ofMatrices(op, values, ord, pair, keepdims)
}

/**
 * Norm of all elements or along axes: of vectors of any order, as {@link vectorNorm}, of matrices `'fro'` or `'nuc'`, as {@link matrixNorm}.
 * `norm(x)`, `norm(x, 1)`, `norm(x, { ord: 1, axis: 0 })`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number as the order of a matrix, which is another norm in NumPy than in PyTorch.
 */
export function norm<D extends DType>(x: Tensor<D>, ord?: Ord | NormOrdOptions, options?: NormOrdOptions): Norm<D> {
  return within('norm', () => normOf('norm', x, ord, options, false) as Norm<D>)
}

/** Pieces along an axis that a tensor has at least. */
function pieces<D extends DType>(op: string, x: Tensor<D>, sections: number | readonly number[], axis: number, least: number): Tensor<D>[] {
  return within(op, () => {
    const values = arrayGiven(op, 'x', x) as Tensor<D>
    if (values.ndim < least) throw new ShapeError(`${op}: a tensor of rank ${values.ndim} has no axis ${least - 1}`)
    return split(values, sections, axis)
  })
}

/** Pieces along the second axis, of a vector along its only one: as {@link split}. Views. */
export function hsplit<D extends DType>(x: Tensor<D>, sections: number | readonly number[]): Tensor<D>[] {
  return pieces('hsplit', x, sections, x?.ndim === 1 ? 0 : 1, 1)
}

/** Pieces along the first axis of at least two: as {@link split}. Views. */
export function vsplit<D extends DType>(x: Tensor<D>, sections: number | readonly number[]): Tensor<D>[] {
  return pieces('vsplit', x, sections, 0, 2)
}

/** Pieces along the third axis: as {@link split}. Views. */
export function dsplit<D extends DType>(x: Tensor<D>, sections: number | readonly number[]): Tensor<D>[] {
  return pieces('dsplit', x, sections, 2, 3)
}

/** Positions in row-major order of the elements that are not zero. Reads `x`. */
export function flatnonzero(x: Tensor): ReturnType<typeof nonzero>[number] {
  return within('flatnonzero', () => nonzero(flatten(arrayGiven('flatnonzero', 'x', x)))[0] as ReturnType<typeof nonzero>[number])
}

/** Options of `unique`. */
export interface UniqueReturns extends UniqueOptions {
  /** Whether to give the positions of the first of each too; false by default. */
  readonly returnIndex?: boolean | undefined
  /** Whether to give for each element its position among the values too; false by default. */
  readonly returnInverse?: boolean | undefined
  /** Whether to give how often each occurs too; false by default. */
  readonly returnCounts?: boolean | undefined
}

type Wanted<O> = (O extends { readonly returnIndex: true } ? 'indices' : never) | (O extends { readonly returnInverse: true } ? 'inverseIndices' : never) | (O extends { readonly returnCounts: true } ? 'counts' : never)

/** The distinct elements, and what is asked for beside them. */
export type UniqueOf<D extends DType, O> = [Wanted<O>] extends [never] ? Tensor<D> : Several<Pick<Unique<D>, 'values' | Wanted<O>>>

/**
 * The distinct elements in ascending order, as {@link uniqueValues}, and with options what NumPy and PyTorch return beside them, in their order. Reads a
 * mask.
 *
 * @throws {TensorError} `ERR_INDEX` for an axis out of range, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.unique(ft.tensor([2, 1, 2]), { returnCounts: true }).counts // [1, 2]
 * ```
 */
export function unique<D extends DType, const O extends UniqueReturns = {}>(x: Tensor<D>, options?: O): UniqueOf<D, O> {
  const op = 'unique'
  return within(op, () => {
    const o = checkOptions(op, options, ['axis', 'returnIndex', 'returnInverse', 'returnCounts'])
    const [isIndex, isInverse, isCounts] = ['returnIndex', 'returnInverse', 'returnCounts'].map((name) => flag(op, name, o[name], false))
    const { values, indices, inverseIndices, counts } = uniqueAll(x, { axis: o['axis'] as number })
    if (!isIndex && !isInverse && !isCounts) return values
    return several({ values, ...(isIndex ? { indices } : {}), ...(isInverse ? { inverseIndices } : {}), ...(isCounts ? { counts } : {}) })
  }) as UniqueOf<D, O>
}

/** Axis sizes: `x.shape`. */
export function shape(x: Tensor): readonly number[] {
  return arrayGiven('shape', 'x', x).shape
}

/** Number of axes: `x.ndim`. */
export function ndim(x: Tensor): number {
  return arrayGiven('ndim', 'x', x).ndim
}

/** Number of elements: `x.size`. */
export function size(x: Tensor): number {
  return arrayGiven('size', 'x', x).size
}
