// Elements around a tensor in PyTorch's order: pairs from the last axis to the first.

import { checkOptions } from '../arguments/options.js'
import { integers, oneOf, wrong } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, type Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType } from '../generated/dtypes.js'
import { pad as padAxes } from '../generated/functions.js'
import { slice } from '../indexing/slice.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `nn.pad`. */
export interface PadOptions {
  /**
   * A value ('constant'), the data mirrored about the edge's element ('reflect'), that element ('replicate'), or the data from the other end
   * ('circular'); 'constant' by default.
   */
  readonly mode?: 'constant' | 'reflect' | 'replicate' | 'circular' | undefined
  /** What stands in new places of the mode 'constant'; 0 by default. */
  readonly value?: number | undefined
}

/** PyTorch's modes by the names of `ft.pad`. */
const MODES = { constant: undefined, reflect: 'reflect', replicate: 'edge', circular: 'wrap' } as const

/** Places before and after the data of an axis. */
type Pair = readonly [before: number, after: number]

/** Pairs of the axes in order. */
function pairsGiven(op: string, pad: unknown, rank: number): readonly Pair[] {
  if (isListed(pad) && Array.isArray(pad[0])) throw new ArgumentError(`${op}: 'pad' is one list, [before, after] of the last axis first; pairs for the axes in order are for ft.pad, got ${shown(pad)}`)
  if (!Array.isArray(pad)) throw wrong(op, 'pad', 'an array, [before, after] of the last axis first', pad)
  if (pad.length % 2 !== 0 || pad.length > 2 * rank) throw new ShapeError(`${op}: 'pad' must have two numbers for each padded axis, and the tensor has ${rank}, got ${pad.length} numbers`)
  const given = integers(op, 'pad', pad)
  return Array.from({ length: rank }, (_, axis) => [given[2 * (rank - 1 - axis)] ?? 0, given[2 * (rank - axis) - 1] ?? 0] as const)
}

/** What is left of a tensor without the places that negative numbers take away, where it has so many beside them. */
function cropped(x: Tensor, pairs: readonly Pair[]): Tensor {
  if (!pairs.some((pair) => pair.some((n) => n < 0))) return x
  return x.at(...pairs.map(([first, last], axis) => slice(Math.max(-first, 0), (x.shape[axis] as number) + Math.min(last, 0)))) as Tensor
}

/** Refuses more places than the data fill once: what a list for another order of axes asks for. */
function checkOnce(op: string, mode: 'reflect' | 'circular', shape: readonly number[], places: readonly Pair[]): void {
  for (const [axis, pair] of places.entries()) {
    const size = shape[axis] as number
    const [most, n] = [mode === 'reflect' ? size - 1 : size, Math.max(...pair)]
    if (size > 0 && n > most) throw new ShapeError(`${op}: mode '${mode}' has at most ${most} places beside the ${size} elements of axis ${axis}, got ${n}; ft.pad(x, pairs, { mode: '${MODES[mode]}' }) goes on`)
  }
}

/**
 * Elements around a tensor, by a list that has the numbers of places before and after the last axis, then those of the axis before it, and so on.
 * Negative numbers take places away, before others are filled (by 'reflect' afterwards). A side has at most as many new places as its axis has
 * elements by 'circular', and one less by 'reflect', as in PyTorch: `ft.pad` repeats the data.
 *
 * Takes any dtype; gives the same. PyTorch `nn.functional.pad`; `ft.pad` is NumPy's, with a pair for each axis in order.
 *
 * @param pad `[before, after]` of the last axis, or more pairs for the axes before it.
 * @throws {TensorError} `ERR_SHAPE` for a list that does not fit the axes, for axes that would have fewer than no elements, and where there are too few
 * to mirror or repeat; `ERR_DTYPE` for a value that the dtype does not hold; `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.pad(ft.tensor([[1, 2], [3, 4]]), [0, 1, 1, 0]) // [[0, 0, 0], [1, 2, 0], [3, 4, 0]]
 * ```
 */
export function pad<A extends DType = 'float32'>(x: Tensor<A> | Listed, pad: readonly number[], options?: PadOptions): Tensor<A> {
  const op = 'nn.pad'
  return within(op, () => {
    const before = arrayGiven(op, 'x', x)
    const pairs = pairsGiven(op, pad, before.ndim)
    const { mode = 'constant', value } = checkOptions(op, options, ['mode', 'value'])
    const named = oneOf(op, 'mode', mode, ['constant', 'reflect', 'replicate', 'circular'])
    if (named !== 'constant' && value !== undefined) throw new ArgumentError(`${op}: mode '${named}' takes no value, got ${shown(value)}`)
    const short = pairs.findIndex(([first, last], axis) => (before.shape[axis] as number) + Math.min(first, 0) + Math.min(last, 0) < 0)
    if (short >= 0) throw new ShapeError(`${op}: axis ${short} has ${before.shape[short]} elements, and ${pairs[short]?.join(' and ')} takes more away`)
    const places = pairs.map(([first, last]): Pair => [Math.max(first, 0), Math.max(last, 0)])
    const isMirrored = named === 'reflect'
    const kept = isMirrored ? before : cropped(before, pairs)
    if (named === 'reflect' || named === 'circular') checkOnce(op, named, kept.shape, places)
    // A tensor of rank 0 has no axis to be padded.
    const padded = before.ndim === 0 ? before : (padAxes(kept, places, { mode: MODES[named], value: value as number | undefined }) as Tensor)
    return isMirrored ? cropped(padded, pairs) : padded
  }) as Tensor<A>
}
