// What depends on the values of a tensor in its shape: positions of what is not zero, distinct elements. A mask is read at the
// call; the functions that end in Async read it without blocking. Membership, which reads nothing, stands beside them.

import { checkOptions } from '../arguments/options.js'
import { axisGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { arrayGiven, operandGiven } from '../calls/operands.js'
import { several, type Several } from '../calls/several.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type Promote, type Takes } from '../generated/dtypes.js'
import { concat, diff, equal, full, logicalNot, notEqual, searchsorted, stack, zeros } from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { DTypeOf, Fits, Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { truePositions, type PositionDType } from '../values/index-arrays.js'
import { data, dataSync } from '../values/read.js'

/** What a mask makes of a call once it is read. */
interface Pending<T> {
  readonly mask: Tensor
  finish(elements: Uint8Array): T
}

function now<T>(op: string, prepare: () => Pending<T>): T {
  const { mask, finish } = within(op, prepare)
  return finish(dataSync(mask, op) as Uint8Array)
}

async function later<T>(op: string, prepare: () => Pending<T>): Promise<T> {
  const { mask, finish } = within(op, prepare)
  return finish((await data(mask, op)) as Uint8Array)
}

/** Positions along each axis from those in row-major order. */
function coordinates(positions: Tensor<PositionDType>, shape: readonly number[]): Tensor<PositionDType>[] {
  const out: Tensor<PositionDType>[] = []
  let rest = positions
  for (const size of shape.toReversed()) {
    out.unshift(rest.remainder(size))
    rest = rest.floorDivide(size)
  }
  return out
}

function positions<T>(op: string, value: unknown, finish: (coordinates: Tensor<PositionDType>[]) => T): Pending<T> {
  const x = arrayGiven(op, 'x', value)
  if (x.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no axes along which elements have positions`)
  return { mask: x.astype('bool'), finish: (elements) => finish(coordinates(truePositions(op, elements, x.type.device), x.shape)) }
}

const PLAIN = <T>(x: T): T => x
const ROWS = (axes: Tensor<PositionDType>[]): Tensor<PositionDType> => stack(axes, { axis: 1 })

/**
 * Positions of the elements that are not zero, in row-major order: for each axis an integer tensor. Reads `x`.
 *
 * @throws {TensorError} `ERR_SHAPE` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.nonzero(ft.tensor([[0, 5], [7, 0]]))[1] // [1, 0]
 * ```
 */
export function nonzero(x: Tensor): Tensor<PositionDType>[] {
  return now('nonzero', () => positions('nonzero', x, PLAIN))
}

/** As {@link nonzero}, without blocking. */
export async function nonzeroAsync(x: Tensor): Promise<Tensor<PositionDType>[]> {
  return later('nonzeroAsync', () => positions('nonzeroAsync', x, PLAIN))
}

/**
 * Positions of the elements that are not zero, in row-major order: a row of coordinates for each. Reads `x`.
 *
 * @throws {TensorError} `ERR_SHAPE` for a tensor of rank 0.
 * @example
 * ```ts
 * ft.argwhere(ft.tensor([[0, 5], [7, 0]])) // [[0, 1], [1, 0]]
 * ```
 */
export function argwhere(x: Tensor): Tensor<PositionDType> {
  return now('argwhere', () => positions('argwhere', x, ROWS))
}

/** As {@link argwhere}, without blocking. */
export async function argwhereAsync(x: Tensor): Promise<Tensor<PositionDType>> {
  return later('argwhereAsync', () => positions('argwhereAsync', x, ROWS))
}

/** Distinct elements, and where they stand. */
export interface Unique<D extends DType = DType> {
  /** The distinct elements (with an axis: slices) in ascending order; each NaN is one of its own. */
  readonly values: Tensor<D>
  /** int32 position of the first of each, in the flattened tensor or along the axis. */
  readonly indices: Tensor<'int32'>
  /** For each element of the tensor, or each position along the axis, its position among the values, int32. */
  readonly inverseIndices: Tensor<'int32'>
  /** How often each occurs, int32. */
  readonly counts: Tensor<'int32'>
}

/** Options of the functions of distinct elements. */
export interface UniqueOptions {
  /** The axis whose slices are compared as wholes, in place of elements; negative ones count from the last. */
  readonly axis?: number | undefined
}

/** Where elements of what is sorted along its first axis begin to differ from the one before; `first` says whether the first ones do. */
function groupStarts(sorted: Tensor, first: boolean): Tensor<'bool'> {
  const [n, ...rest] = sorted.shape as readonly [number, ...number[]]
  const top = full([Math.min(n, 1), ...rest], first, { device: sorted.device })
  return concat([top, notEqual(sorted.at('1:'), sorted.at(':-1'))]) as Tensor<'bool'>
}

/** For each element its place among the distinct ones of its column, and of equal ones of NaN, each of which is one of its own. */
function places(x: Tensor): Tensor<'int32'> {
  const [rows, columns] = x.shape as readonly [number, number]
  const order = x.argsort({ axis: 0 })
  const changes = groupStarts(x.takeAlongAxis(order, { axis: 0 }) as Tensor, false)
  const ranks = changes.astype('int32').cumulativeSum({ axis: 0 }) as Tensor<'int32'>
  return zeros([rows, columns], { dtype: 'int32', device: x.device }).putAlongAxis(order, ranks, { axis: 0 })
}

/**
 * For each row of a matrix its place among the distinct rows in lexicographic order: columns are ranked, then pairs of neighbours by both of
 * their ranks, which makes log2 m sorts of m columns (Karp, Miller and Rosenberg, "Rapid identification of repeated patterns", 1972).
 */
function ranked(x: Tensor): Tensor<'int32'> {
  const rows = x.shape[0] as number
  let ranks: Tensor = places(x)
  while ((ranks.shape[1] as number) > 1) {
    const even = ranks.at(':', '::2')
    const odd = ranks.at(':', '1::2')
    const paired = even.at(':', `:${odd.shape[1]}`).astype(rows < 2 ** 15 ? 'int32' : 'int64').multiply(rows).add(odd)
    // An odd one out has nothing behind it.
    ranks = concat([places(paired as Tensor), even.at(':', `${odd.shape[1]}:`)], { axis: 1 }) as Tensor
  }
  return ranks.shape[1] === 0 ? zeros([rows], { dtype: 'int32', device: x.device }) : (ranks.at(':', 0) as Tensor<'int32'>)
}

/** What is compared, as a vector of a real dtype. */
function comparable(x: Tensor, axis: number | undefined): Tensor {
  const complex = DTYPE[x.dtype].kind === 'complex'
  if (axis === undefined && !complex) return x.flatten()
  const parts = complex ? stack([x.real(), x.imag()], { axis: -1 }) : x
  if (axis === undefined) return ranked(parts.reshape([x.size, 2]))
  const n = x.shape[axis] as number
  return ranked(parts.moveaxis(axis, 0).reshape([n, n === 0 ? 0 : parts.size / n]))
}

/** Equal elements side by side; the mask is true at the first of each group. */
function groups<D extends DType>(op: string, value: unknown, options?: unknown): Pending<Several<Unique<D>>> {
  const x = arrayGiven(op, 'x', value)
  const { axis: given } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis'])
  const axis = given === undefined ? undefined : axisGiven(op, given, x.ndim)
  const keys = comparable(x, axis)
  const order = keys.argsort()
  const mask = groupStarts(keys.takeAlongAxis(order) as Tensor, true)
  return {
    mask,
    finish: (elements) => {
      const starts = truePositions(op, elements, x.type.device).astype('int32')
      const group = mask.cumulativeSum().sub(1)
      const end = full([1], keys.size, { dtype: 'int32', device: x.device })
      const indices = order.take(starts)
      const inverse = zeros([keys.size], { dtype: 'int32', device: x.device }).withAt([order], group)
      return several({
        values: (axis === undefined ? x.flatten().take(indices) : x.take(indices, { axis })) as Tensor<D>,
        indices,
        inverseIndices: axis === undefined ? inverse.reshape(x.shape) : inverse,
        counts: diff(starts, undefined, end)
      })
    }
  }
}

/**
 * The distinct elements of a tensor in ascending order, with the positions of the first of each, those that make the tensor
 * out of them, and how often each occurs; with an axis its distinct slices in lexicographic order, along it. NaN differs from itself, complex
 * numbers are in the order of their real parts, then of their imaginary ones. Reads a mask.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.uniqueAll(ft.tensor([3, 1, 3])).inverseIndices // [1, 0, 1]
 * ```
 * ```ts
 * ft.uniqueAll(ft.tensor([[3, 1], [1, 2], [3, 1]]), { axis: 0 }).values // [[1, 2], [3, 1]]
 * ```
 */
export function uniqueAll<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Several<Unique<D>> {
  return now('uniqueAll', () => groups<D>('uniqueAll', x, options))
}

/** As {@link uniqueAll}, without blocking. */
export async function uniqueAllAsync<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Promise<Several<Unique<D>>> {
  return later('uniqueAllAsync', () => groups<D>('uniqueAllAsync', x, options))
}

/**
 * The distinct elements of a tensor in ascending order, and how often each occurs, as {@link uniqueAll}.
 *
 * @example
 * ```ts
 * ft.uniqueCounts(ft.tensor([3, 1, 3])).counts // [1, 2]
 * ```
 */
export function uniqueCounts<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Several<Pick<Unique<D>, 'values' | 'counts'>> {
  const { values, counts } = now('uniqueCounts', () => groups<D>('uniqueCounts', x, options))
  return several({ values, counts })
}

/** As {@link uniqueCounts}, without blocking. */
export async function uniqueCountsAsync<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Promise<Several<Pick<Unique<D>, 'values' | 'counts'>>> {
  const { values, counts } = await later('uniqueCountsAsync', () => groups<D>('uniqueCountsAsync', x, options))
  return several({ values, counts })
}

/**
 * The distinct elements of a tensor in ascending order, and for each element its position among them, as {@link uniqueAll}.
 *
 * @example
 * ```ts
 * ft.uniqueInverse(ft.tensor([[3, 1], [3, 3]])).inverseIndices // [[1, 0], [1, 1]]
 * ```
 */
export function uniqueInverse<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Several<Pick<Unique<D>, 'values' | 'inverseIndices'>> {
  const { values, inverseIndices } = now('uniqueInverse', () => groups<D>('uniqueInverse', x, options))
  return several({ values, inverseIndices })
}

/** As {@link uniqueInverse}, without blocking. */
export async function uniqueInverseAsync<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Promise<Several<Pick<Unique<D>, 'values' | 'inverseIndices'>>> {
  const { values, inverseIndices } = await later('uniqueInverseAsync', () => groups<D>('uniqueInverseAsync', x, options))
  return several({ values, inverseIndices })
}

/**
 * The distinct elements of a tensor in ascending order, as {@link uniqueAll}.
 *
 * @example
 * ```ts
 * ft.uniqueValues(ft.tensor([3, 1, 3])) // [1, 3]
 * ```
 */
export function uniqueValues<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Tensor<D> {
  return now('uniqueValues', () => groups<D>('uniqueValues', x, options)).values
}

/** As {@link uniqueValues}, without blocking. */
export async function uniqueValuesAsync<D extends DType>(x: Tensor<D>, options?: number | UniqueOptions): Promise<Tensor<D>> {
  return (await later('uniqueValuesAsync', () => groups<D>('uniqueValuesAsync', x, options))).values
}

/** Options of `isin`. */
export interface IsinOptions {
  /** Whether the result is negated: true for the elements of `x1` that are not in `x2`; false by default. */
  readonly invert?: boolean | undefined
}

/**
 * Whether each element of `x1` is equal to an element of `x2`: a bool tensor of the shape of `x1`. NaN equals nothing. No tensor is read, so nothing
 * runs yet.
 *
 * `out_i = any_j (x1_i = x2_j)`, with `invert` its negation
 *
 * NumPy `isin`, PyTorch `isin`.
 *
 * @throws {TensorError} `ERR_DTYPE` for complex tensors and dtypes without a common one, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.isin(ft.tensor([1, 2, 5]), ft.tensor([5, 1])) // [true, false, true]
 * ```
 */
export function isin<A extends Operand, B extends Operand>(
  x1: A & Fits<'real', A, DTypeOf<B>>,
  x2: B & Fits<'real', B, DTypeOf<A>>,
  options?: IsinOptions
): Tensor<'bool'> {
  const op = 'isin'
  return within(op, () => {
    const { invert = false } = checkOptions(op, options, ['invert'])
    if (typeof invert !== 'boolean') throw new ArgumentError(`${op}: 'invert' must be a boolean, got ${shown(invert)}`)
    const among = members(operandGiven(op, 'x1', x1, x2), operandGiven(op, 'x2', x2, x1))
    return invert ? logicalNot(among) : among
  })
}

function members(x1: Operand, x2: Operand): Tensor<'bool'> {
  if (!isTensor(x2)) return equal(x1 as Tensor, x2)
  if (x2.size === 0) {
    const like = isTensor(x1) ? x1 : x2.flatten().sum()
    return zeros(like.shape, { dtype: 'bool', device: like.device })
  }
  const sorted = x2.flatten().sort()
  const at = searchsorted(sorted, x1 as Tensor).clip(undefined, x2.size - 1)
  return equal(sorted.take(at), x1)
}

/** A tensor whose elements have an order. */
function ordered(op: string, name: string, value: unknown, beside: unknown): Tensor {
  const x = arrayGiven(op, name, value, beside)
  if (DTYPE[x.dtype].kind === 'complex') throw new DTypeError(`${op}: '${name}' must be real, got ${x.dtype}`)
  return x
}

/** Those of one tensor's distinct elements that are (or are not) among another's, chosen when a mask is read. */
function chosen<D extends DType>(op: string, x: unknown, others: unknown, invert: boolean): Pending<Tensor<D>> {
  const [a, b] = [ordered(op, 'x1', x, others), ordered(op, 'x2', others, x)]
  const { mask: starts } = groups(op, a)
  const sorted = a.flatten().sort()
  const among = members(sorted, b)
  const mask = starts.logicalAnd(invert ? logicalNot(among) : among)
  return { mask, finish: (elements) => sorted.take(truePositions(op, elements, a.type.device)) as Tensor<D> }
}

/** The elements of two tensors one after the other. */
function together(op: string, x1: unknown, x2: unknown): Tensor {
  return concat([ordered(op, 'x1', x1, x2).flatten(), ordered(op, 'x2', x2, x1).flatten()]) as Tensor
}

/** The distinct elements of two tensors. */
function united(op: string, x1: unknown, x2: unknown): Pending<Tensor> {
  const { mask, finish } = groups(op, together(op, x1, x2))
  return { mask, finish: (elements) => finish(elements).values }
}

/** Elements that are in one of two tensors alone: of all distinct ones those that are not in both. */
function alone(op: string, x1: unknown, x2: unknown): Pending<Tensor> {
  const [a, b, all] = [ordered(op, 'x1', x1, x2), ordered(op, 'x2', x2, x1), together(op, x1, x2)]
  const { mask: starts } = groups(op, all)
  const sorted = all.sort()
  const mask = starts.logicalAnd(logicalNot(members(sorted, a).logicalAnd(members(sorted, b))))
  return { mask, finish: (elements) => sorted.take(truePositions(op, elements, all.type.device)) }
}

/**
 * The distinct elements that are in either tensor, in ascending order. Reads a mask.
 *
 * @throws {TensorError} `ERR_DTYPE` for complex tensors and dtypes without a common one.
 * @example
 * ```ts
 * ft.union1d(ft.tensor([3, 1]), ft.tensor([2, 3])) // [1, 2, 3]
 * ```
 */
export function union1d<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Tensor<Promote<A, B>> {
  return now('union1d', () => united('union1d', x1, x2)) as Tensor<Promote<A, B>>
}

/** As {@link union1d}, without blocking. */
export async function union1dAsync<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Promise<Tensor<Promote<A, B>>> {
  return (await later('union1dAsync', () => united('union1dAsync', x1, x2))) as Tensor<Promote<A, B>>
}

/**
 * The distinct elements of `x1` that are in `x2` too, in ascending order. Reads a mask.
 *
 * @throws {TensorError} `ERR_DTYPE` for complex tensors and dtypes without a common one.
 * @example
 * ```ts
 * ft.intersect1d(ft.tensor([3, 1, 3]), ft.tensor([2, 3])) // [3]
 * ```
 */
export function intersect1d<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Tensor<A> {
  return now('intersect1d', () => chosen<A>('intersect1d', x1, x2, false))
}

/** As {@link intersect1d}, without blocking. */
export async function intersect1dAsync<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Promise<Tensor<A>> {
  return later('intersect1dAsync', () => chosen<A>('intersect1dAsync', x1, x2, false))
}

/**
 * The distinct elements of `x1` that are not in `x2`, in ascending order. Reads a mask.
 *
 * @throws {TensorError} `ERR_DTYPE` for complex tensors and dtypes without a common one.
 * @example
 * ```ts
 * ft.setdiff1d(ft.tensor([3, 1, 3]), ft.tensor([2, 3])) // [1]
 * ```
 */
export function setdiff1d<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Tensor<A> {
  return now('setdiff1d', () => chosen<A>('setdiff1d', x1, x2, true))
}

/** As {@link setdiff1d}, without blocking. */
export async function setdiff1dAsync<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Promise<Tensor<A>> {
  return later('setdiff1dAsync', () => chosen<A>('setdiff1dAsync', x1, x2, true))
}

/**
 * The distinct elements that are in one of both tensors alone, in ascending order. Reads a mask.
 *
 * @throws {TensorError} `ERR_DTYPE` for complex tensors and dtypes without a common one.
 * @example
 * ```ts
 * ft.setxor1d(ft.tensor([3, 1]), ft.tensor([2, 3])) // [1, 2]
 * ```
 */
export function setxor1d<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Tensor<Promote<A, B>> {
  return now('setxor1d', () => alone('setxor1d', x1, x2)) as Tensor<Promote<A, B>>
}

/** As {@link setxor1d}, without blocking. */
export async function setxor1dAsync<A extends DType, B extends DType>(x1: Tensor<A> & Takes<'real', A>, x2: Tensor<B> & Takes<'real', B>): Promise<Tensor<Promote<A, B>>> {
  return (await later('setxor1dAsync', () => alone('setxor1dAsync', x1, x2))) as Tensor<Promote<A, B>>
}
