// Peaks of a signal. Which positions they are depends on values, one after the other: the signal is read at the call, and elements are compared
// in JavaScript. What comes out of it is picked from the tensor.

import { checkOptions } from '../arguments/options.js'
import { number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type Takes } from '../generated/dtypes.js'
import { maximum } from '../generated/functions.js'
import type { Tensor } from '../tensor/tensor.js'
import { fromTypedArray } from '../values/create.js'
import { data, dataSync } from '../values/read.js'

/** Options of `findPeaks`. */
export interface FindPeaksOptions {
  /** The least height, or the least and the largest. */
  readonly height?: number | readonly [least: number, largest: number] | undefined
  /** How many positions peaks are apart at least, from 1: of two that are nearer the lower one is left out, of equal ones the earlier. */
  readonly distance?: number | undefined
  /** The least prominence, or the least and the largest. */
  readonly prominence?: number | readonly [least: number, largest: number] | undefined
}

/** Peaks from left to right. */
export interface Peaks<D extends DType = DType> {
  /** int32 positions; of a flat peak the middle, rounded down. */
  readonly indices: Tensor<'int32'>
  /** The elements there. */
  readonly heights: Tensor<D>
  /** How far each stands above the higher one of its bases. */
  readonly prominences: Tensor<D>
  /** int32 position of the lowest element to the left, up to the nearest higher one. */
  readonly leftBases: Tensor<'int32'>
  /** The same to the right. */
  readonly rightBases: Tensor<'int32'>
}

/** Elements that have an order: numbers or bigints. */
type Elements = ArrayLike<number | bigint>

/** A range of a call: a number is its lower end. */
function rangeGiven(op: string, name: string, value: unknown): readonly [number, number] {
  if (value === undefined) return [-Infinity, Infinity]
  const [least, largest] = Array.isArray(value) && value.length === 2 ? (value as unknown[]) : [value, Infinity]
  return [number(op, name, least), number(op, name, largest)]
}

/** The middle of each run of equal elements with lower ones on both sides. */
function tops(x: Elements): number[] {
  const found: number[] = []
  for (let i = 1; i < x.length - 1; i++) {
    if (!((x[i - 1] as number) < (x[i] as number))) continue
    let end = i
    while (end + 1 < x.length && x[end + 1] === x[i]) end++
    if (end + 1 < x.length && (x[end + 1] as number) < (x[i] as number)) found.push(Math.floor((i + end) / 2))
    i = end
  }
  return found
}

/** Peaks that are some positions apart: the highest first, of equal ones the last. */
function apart(x: Elements, peaks: readonly number[], distance: number): number[] {
  const order = peaks.map((_, i) => i).sort((i, j) => ((x[peaks[i] as number] as number) < (x[peaks[j] as number] as number) ? -1 : x[peaks[i] as number] === x[peaks[j] as number] ? i - j : 1))
  const kept = peaks.map(() => true)
  for (const i of order.reverse()) {
    if (!kept[i]) continue
    const at = peaks[i] as number
    for (let j = i - 1; j >= 0 && at - (peaks[j] as number) < distance; j--) kept[j] = false
    for (let j = i + 1; j < peaks.length && (peaks[j] as number) - at < distance; j++) kept[j] = false
  }
  return peaks.filter((_, i) => kept[i])
}

/**
 * For each element the position of the lowest one before it, itself included, up to the nearest higher one; of equal ones the nearest. One
 * pass: elements that a later one is not below are behind it for good.
 */
function bases(x: Elements, positions: Iterable<number>): Int32Array {
  const lowest = new Int32Array(x.length)
  const open: number[] = []
  for (const i of positions) {
    let base = i
    while (open.length > 0 && (x[open.at(-1) as number] as number) <= (x[i] as number)) {
      const below = lowest[open.pop() as number] as number
      if ((x[below] as number) < (x[base] as number)) base = below
    }
    lowest[i] = base
    // NaN is neither higher nor lower: nothing is compared across it.
    if (x[i] !== x[i]) open.length = 0
    open.push(i)
  }
  return lowest
}

function* upwards(n: number): Iterable<number> {
  for (let i = 0; i < n; i++) yield i
}

function* downwards(n: number): Iterable<number> {
  for (let i = n - 1; i >= 0; i--) yield i
}

/** A call, once the signal is read. */
interface Search<D extends DType> {
  readonly x: Tensor
  finish(elements: Elements): Peaks<D>
}

function search<D extends DType>(op: string, value: unknown, options: unknown): Search<D> {
  return within(op, () => {
    const x = tensorGiven(op, 'x', value)
    const o = checkOptions(op, options, ['height', 'distance', 'prominence'])
    if (x.ndim !== 1) throw new ShapeError(`${op}: 'x' must be a vector, got shape [${x.shape.join(', ')}]`)
    const { kind } = DTYPE[x.dtype]
    if (kind === 'complex' || kind === 'bool') throw new DTypeError(`${op}: takes a real dtype, got ${x.dtype}`)
    const [low, high] = rangeGiven(op, 'height', o['height'])
    const [least, largest] = rangeGiven(op, 'prominence', o['prominence'])
    const distance = o['distance'] === undefined ? 1 : number(op, 'distance', o['distance'])
    if (!(distance >= 1)) throw new ArgumentError(`${op}: 'distance' must be at least 1, got ${shown(distance)}`)
    const finish = (elements: Elements): Peaks<D> => {
      const tall = tops(elements).filter((i) => (elements[i] as number) >= low && (elements[i] as number) <= high)
      const chosen = distance > 1 ? apart(elements, tall, distance) : tall
      const [before, behind] = [bases(elements, upwards(elements.length)), bases(elements, downwards(elements.length))]
      const prominence = (i: number): number => {
        const [left, right] = [elements[before[i] as number], elements[behind[i] as number]] as [number, number]
        // Differences of bigints are exact.
        return Number((elements[i] as number) - (left > right ? left : right))
      }
      const peaks = chosen.filter((i) => prominence(i) >= least && prominence(i) <= largest)
      const placed = (positions: readonly number[]): Tensor<'int32'> => fromTypedArray(Int32Array.from(positions), [positions.length], { device: x.device }) as Tensor<'int32'>
      const [indices, leftBases, rightBases] = [peaks, peaks.map((i) => before[i] as number), peaks.map((i) => behind[i] as number)].map(placed) as [Tensor<'int32'>, Tensor<'int32'>, Tensor<'int32'>]
      const heights = x.take(indices)
      return { indices, heights: heights as Tensor<D>, prominences: heights.subtract(maximum(x.take(leftBases), x.take(rightBases))) as Tensor<D>, leftBases, rightBases }
    }
    return { x, finish }
  })
}

/**
 * The peaks of a vector: elements, or runs of equal ones, with lower ones on both sides. Of those that are high enough the ones that are far
 * enough apart, and of these the ones that are prominent enough. Reads `x`.
 *
 * SciPy `signal.find_peaks`. Gradients go through heights and prominences.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a vector, `ERR_DTYPE` for bool and complex tensors, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.signal.findPeaks(ft.tensor([0, 3, 1, 2, 0, 5, 0])).indices // [1, 3, 5]
 * ```
 * ```ts
 * ft.signal.findPeaks(ft.tensor([0, 3, 1, 2, 0, 5, 0]), { prominence: 2 }).indices // [1, 5]
 * ```
 */
export function findPeaks<D extends DType>(x: Tensor<D> & Takes<'integerOrFloat', D>, options?: FindPeaksOptions): Peaks<D> {
  const op = 'signal.findPeaks'
  const { x: signal, finish } = search<D>(op, x, options)
  return finish(dataSync(signal, op) as Elements)
}

/** As {@link findPeaks}, without blocking. */
export async function findPeaksAsync<D extends DType>(x: Tensor<D> & Takes<'integerOrFloat', D>, options?: FindPeaksOptions): Promise<Peaks<D>> {
  const op = 'signal.findPeaksAsync'
  const { x: signal, finish } = search<D>(op, x, options)
  return finish((await data(signal, op)) as Elements)
}
