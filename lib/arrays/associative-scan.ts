// Combinations by a function of the caller's: of all elements before each, of all elements, and of windows. The order is one for all
// three. A run of p elements is cut by the binary digits of p into blocks of 2^k, the largest first; a block is a balanced tree of
// neighbours, and blocks are combined from the left. So a prefix, a reduction and a window over the same elements have the same bits, and
// nothing but p decides which: no device, no number of threads.

import { callable, synchronous } from '../arguments/functions.js'
import { checkOptions } from '../arguments/options.js'
import { axisGiven, integer, integers, padding } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { operandGiven, tensorGiven } from '../calls/operands.js'
import { ArgumentError, IndexError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType } from '../generated/dtypes.js'
import { full, zeros } from '../generated/functions.js'
import type { IndexItem } from '../indexing/at.js'
import { Slice, slice } from '../indexing/slice.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { Scalar } from '../program/record.js'
import { sizeOf } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import { alike, leaves, mapTree, sameDType, sameType } from '../tree/traverse.js'

/** Combines the tensors of one tree with those of another. */
type Combine = (a: readonly Tensor[], b: readonly Tensor[]) => readonly Tensor[]

/** The caller's function on trees of this structure. What it throws goes through as it is: it is called outside of `within`. */
function combiner(op: string, fn: unknown, tree: unknown): Combine {
  const where = `${op}: the function's result`
  const filled = (parts: readonly Tensor[]): unknown => {
    let next = 0
    return mapTree(tree, () => parts[next++])
  }
  return (a, b) => {
    const result = (fn as (a: unknown, b: unknown) => unknown)(filled(a), filled(b))
    synchronous(op, result, 'it has to be synchronous, and records operations')
    let next = 0
    // Beside the tree and not beside what the function was given, which it may have changed.
    const found = alike(where, tree, result, (path, _, given) => sameType(path, a[next++] as Tensor, given)) as Tensor[]
    const count = leaves(result, where).length
    if (count !== found.length) throw new ArgumentError(`${where} must have the ${found.length} tensors of its arguments, got ${count}`)
    return found
  }
}

/** A combiner of tensors. */
function binary(op: string, fn: unknown, x: Tensor): (a: Tensor, b: Tensor) => Tensor {
  const combine = combiner(op, fn, x)
  return (a, b) => combine([a], [b])[0] as Tensor
}

/** The index of some positions of an axis. */
function along(axis: number, positions: Slice): IndexItem[] {
  return [...Array.from({ length: axis }, () => slice()), positions]
}

/** Positions of an axis, from `start` up to `stop`. */
function cut(x: Tensor, axis: number, start: number, stop: number, step = 1): Tensor {
  return x.at(...along(axis, new Slice(start, stop, step)))
}

/** The tensor with others in the place of every second position of an axis, from `start` on. */
function interleaved(x: Tensor, axis: number, start: number, others: Tensor): Tensor {
  return x.withAt(along(axis, new Slice(start, null, 2)), others)
}

/** Options of `associativeScan`. */
export interface AssociativeScanOptions {
  /** The axis of each tensor; negative ones count from its last; the first by default. */
  readonly axis?: number | undefined
  /** From the end: the first argument of the function is then what stands behind the second. False by default. */
  readonly reverse?: boolean | undefined
}

/** All prefixes of `n` elements. Each level combines neighbours, scans the pairs, and completes the prefixes of odd lengths. */
function scanned(parts: readonly Tensor[], axes: readonly number[], n: number, combine: Combine): readonly Tensor[] {
  const each = (list: readonly Tensor[], ...range: [start: number, stop: number, step?: number]): Tensor[] => list.map((x, i) => cut(x, axes[i] as number, ...range))
  if (n < 2) return each(parts, 0, n)
  const pairs = scanned(combine(each(parts, 0, n - 1, 2), each(parts, 1, n, 2)), axes, Math.floor(n / 2), combine)
  // Prefixes of two, four, ... elements stand at the odd positions; the first element is its own.
  const whole = parts.map((x, i) => interleaved(x, axes[i] as number, 1, pairs[i] as Tensor))
  if (n === 2) return whole
  const odd = combine(each(pairs, 0, Math.floor((n - 1) / 2)), each(parts, 2, n, 2))
  return whole.map((x, i) => interleaved(x, axes[i] as number, 2, odd[i] as Tensor))
}

/** A tree of a call, copied; its tensors, and the axis of each. */
function treeGiven(op: string, x: unknown, axis: unknown): { tree: unknown; parts: readonly Tensor[]; axes: readonly number[]; n: number } {
  const [parts, axes, paths]: [Tensor[], number[], string[]] = [[], [], []]
  const take = (part: Tensor, path: string): Tensor => {
    checkAlive(op, part)
    axes.push(axisGiven(op, axis, part.ndim))
    paths.push(path)
    parts.push(part)
    return part
  }
  const tree = mapTree(x, take, `${op}: x`)
  if (parts.length === 0) throw new ArgumentError(`${op}: there is no tensor in 'x', got ${shown(x)}`)
  const lengths = parts.map((part, i) => part.shape[axes[i] as number] as number)
  const odd = lengths.findIndex((length) => length !== lengths[0])
  if (odd > 0) throw new ShapeError(`${op}: x${paths[odd]} has length ${lengths[odd]} along axis ${axes[odd]}, x${paths[0]} has ${lengths[0]}`)
  return { tree, parts, axes, n: lengths[0] as number }
}

/**
 * For each position along an axis, all elements up to it combined by `fn`, of the same structure, shapes and dtypes. `x` is a tensor or a
 * tree of tensors (plain objects and arrays) of one length along the axis.
 *
 * `y_i = fn(y_(i-1), x_i)`
 *
 * `fn` takes two trees of `x`'s structure, whose tensors may have any length along the axis, and combines them position by position, the
 * earlier elements first. It must be associative, and need not be commutative. It is called at most 2 log2 n times, on 2n positions together:
 * neighbours are combined, the pairs scanned, the prefixes between them completed. Position i has the bits that {@link reduce} of i + 1
 * elements has before its `init`. Gradients go through.
 * JAX `lax.associative_scan`. Blelloch, "Prefix sums and their applications", 1990.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_ARGUMENT` for a tree without tensors or one that contains itself, and where `fn` is no function or returns
 * anything but such a tree, `ERR_SHAPE` for lengths that differ, `ERR_INDEX` for an axis out of range; `ERR_SHAPE`, `ERR_DTYPE`, `ERR_DEVICE`
 * for what `fn` returns.
 * @example
 * ```ts
 * ft.associativeScan((a, b) => a.mul(b), ft.tensor([1, 2, 3, 4])) // [1, 2, 6, 24]
 * ```
 */
export function associativeScan<T extends object>(fn: (a: NoInfer<T>, b: NoInfer<T>) => NoInfer<T>, x: T, options?: number | AssociativeScanOptions): T {
  const op = 'associativeScan'
  callable(op, fn)
  const { axis = 0, reverse = false } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis', 'reverse'])
  if (typeof reverse !== 'boolean') throw new ArgumentError(`${op}: 'reverse' must be a boolean, got ${shown(reverse)}`)
  const { tree, parts, axes, n } = treeGiven(op, x, axis)
  const turned = (list: readonly Tensor[]): readonly Tensor[] => (reverse ? list.map((part, i) => part.flip(axes[i])) : list)
  const found = turned(scanned(turned(parts), axes, n, combiner(op, fn, tree)))
  let next = 0
  return mapTree(tree, () => found[next++]) as T
}

/** What the combination starts with, as a tensor of rank 0. */
function initGiven(op: string, value: unknown, x: Tensor): Tensor {
  const init = operandGiven(op, 'init', value)
  if (!isTensor(init)) return full([], init, { dtype: x.dtype, device: x.device })
  sameDType(`${op}: 'init'`, x, init)
  if (init.ndim !== 0) throw new ShapeError(`${op}: 'init' must be a scalar, got shape [${init.shape.join(', ')}]`)
  return init
}

/** Axes of a rank, in order: all of them where none are named. */
function axesGiven(op: string, value: unknown, rank: number): readonly number[] {
  if (value === undefined) return Array.from({ length: rank }, (_, axis) => axis)
  const axes = (typeof value === 'number' ? [value] : integers(op, 'axis', value)).map((axis) => axisGiven(op, axis, rank)).sort((a, b) => a - b)
  const again = axes.find((axis, i) => axis === axes[i - 1])
  if (again !== undefined) throw new IndexError(`${op}: axis ${again} is named twice`)
  return axes
}

/** The axes as one, in row-major order, which stands where the first of them was. */
function merged(x: Tensor, axes: readonly number[]): Tensor {
  const first = axes[0] as number
  const kept = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis))
  const [before, after] = [kept.filter((axis) => axis < first), kept.filter((axis) => axis > first)]
  const sizes = (list: readonly number[]): number[] => list.map((axis) => x.shape[axis] as number)
  return x.permuteDims([...before, ...axes, ...after]).reshape([...sizes(before), sizeOf(sizes(axes)), ...sizes(after)])
}

/** An axis reduced to one position: neighbours are combined, and the last position of an odd length is put aside for the end. */
function reduced(x: Tensor, axis: number, combine: (a: Tensor, b: Tensor) => Tensor): Tensor {
  const aside: Tensor[] = []
  let rest = x
  for (let n = x.shape[axis] as number; n > 1; n = Math.floor(n / 2)) {
    if (n % 2 === 1) aside.push(cut(rest, axis, n - 1, n))
    rest = combine(cut(rest, axis, 0, n - 1, 2), cut(rest, axis, 1, n, 2))
  }
  return aside.reduceRight((whole, last) => combine(whole, last), rest)
}

/** The same elements in a tensor that the caller disposes of apart from his own: functions may return what they were given. */
function own<D extends DType>(x: Tensor): Tensor<D> {
  return x.reshape(x.shape) as Tensor<D>
}

/** Options of `reduce`. */
export interface ReduceOptions {
  /** The axes that are reduced, counted from the end where negative; all by default. */
  readonly axis?: number | readonly number[] | undefined
  /** Whether reduced axes stay, with size 1; false by default. */
  readonly keepdims?: boolean | undefined
}

/**
 * The elements along some axes combined by `fn`, after `init`; the same dtype. Several axes count as one, in row-major order.
 *
 * `y = fn(init, fn(...fn(fn(x_0, x_1), x_2)..., x_(n - 1)))`
 *
 * `fn` takes two tensors of one shape, whatever it is, and combines them element by element, the earlier elements first. It must be
 * associative, and need not be commutative. For n elements it is called log2 n times, at most twice that: neighbours are combined until one is
 * left, then what odd lengths have left over. `init`, a scalar or a tensor of rank 0 with the dtype of `x`, is combined with each result
 * exactly once, from the left, and is the result where there are no elements. Gradients go through.
 * JAX `lax.reduce`, Nx `reduce`. Hillis and Steele, "Data parallel algorithms", 1986.
 *
 * @param options The axes alone, or an object of options.
 * @throws {TensorError} `ERR_ARGUMENT`, also where `fn` is no function or returns no tensor, `ERR_INDEX` for an axis out of range or named
 * twice, `ERR_DTYPE` for an `init` of another dtype or one that the dtype does not hold, `ERR_SHAPE` for one that is not a scalar; `ERR_SHAPE`,
 * `ERR_DTYPE`, `ERR_DEVICE` for what `fn` returns.
 * @example
 * ```ts
 * ft.reduce(ft.tensor([[1, 2], [3, 4]]), 1, (a, b) => a.mul(b), { axis: 1 }) // [2, 12]
 * ```
 */
export function reduce<D extends DType>(
  x: Tensor<D>,
  init: Scalar | Tensor<NoInfer<D>>,
  fn: (a: Tensor<NoInfer<D>>, b: Tensor<NoInfer<D>>) => Tensor<NoInfer<D>>,
  options?: number | readonly number[] | ReduceOptions
): Tensor<D> {
  const op = 'reduce'
  const bare = typeof options === 'number' || Array.isArray(options)
  const { axis, keepdims = false } = bare ? { axis: options } : checkOptions(op, options, ['axis', 'keepdims'])
  if (typeof keepdims !== 'boolean') throw new ArgumentError(`${op}: 'keepdims' must be a boolean, got ${shown(keepdims)}`)
  const values = tensorGiven(op, 'x', x)
  callable(op, fn)
  const combine = binary(op, fn, values)
  const axes = axesGiven(op, axis, values.ndim)
  const shape = values.shape.map((size, i) => (axes.includes(i) ? 1 : size)).filter((_, i) => keepdims || !axes.includes(i))
  const start = within(op, () => initGiven(op, init, values).broadcastTo(shape))
  if (axes.some((i) => values.shape[i] === 0)) return own(start)
  const whole = axes.length === 0 ? values : reduced(merged(values, axes), axes[0] as number, combine)
  return own(combine(start, whole.reshape(shape)))
}

/** How windows lie along an axis, and how many there are. */
interface Windows {
  readonly size: number
  readonly stride: number
  readonly dilation: number
  readonly count: number
  /** Places before and behind the data. */
  readonly before: number
  readonly after: number
}

/** Windows along an axis that are cut from the tensor: each its places, in a last axis of their own, which is reduced. */
function gathered(x: Tensor, axis: number, { size, stride, dilation }: Windows, combine: (a: Tensor, b: Tensor) => Tensor): Tensor {
  const places = x.unfold(axis, (size - 1) * dilation + 1, { step: stride }).at('...', new Slice(null, null, dilation))
  return reduced(places, x.ndim, combine).squeeze(x.ndim)
}

/** The binary digits of a number as powers of two, the smallest first. */
function powers(n: number): number[] {
  const found: number[] = []
  for (let power = 1; power <= n; power *= 2) if (Math.floor(n / power) % 2 === 1) found.push(power)
  return found
}

/** Windows along an axis by doubling: blocks of 2^k places at every position, of which each window takes those of its binary digits. */
function doubled(x: Tensor, axis: number, { size, stride, dilation, count }: Windows, combine: (a: Tensor, b: Tensor) => Tensor): Tensor {
  const blocks = new Map<number, Tensor>()
  let block = x
  for (let length = 1; length <= size; length *= 2) {
    blocks.set(length, block)
    if (2 * length > size) break
    const [shift, end] = [length * dilation, block.shape[axis] as number]
    block = combine(cut(block, axis, 0, end - shift), cut(block, axis, shift, end))
  }
  let place = 0
  const taken = powers(size).reverse().map((length) => {
    const at = place * dilation
    place += length
    return cut(blocks.get(length) as Tensor, axis, at, at + (count - 1) * stride + 1, stride)
  })
  return taken.reduce((whole, next) => combine(whole, next))
}

/** Windows along an axis, in whichever way combines fewer elements: both combine the places of a window in one order. */
function windowed(x: Tensor, axis: number, windows: Windows, combine: (a: Tensor, b: Tensor) => Tensor): Tensor {
  const { size, stride, count } = windows
  if (count === 0) return cut(x, axis, 0, 0)
  if (size === 1) return cut(x, axis, 0, (count - 1) * stride + 1, stride)
  const digits = powers(size)
  const levels = Math.log2(digits.at(-1) as number)
  const doubling = levels * (x.shape[axis] as number) + (digits.length - 1) * count
  return (size - 1) * count <= doubling ? gathered(x, axis, windows, combine) : doubled(x, axis, windows, combine)
}

/** Options of `windowReduce`. */
export interface WindowReduceOptions {
  /** One number for all axes of a window, or one for each. */
  readonly window: number | readonly number[]
  /** One number for all axes of a window, or one for each; 1 by default. */
  readonly stride?: number | readonly number[] | undefined
  /** Places around x: one number, one for each axis of a window, or a pair [before, after] for each; 'same' gives ceil(size / stride) windows; 0 ('valid') by default. */
  readonly padding?: number | readonly number[] | readonly (readonly [number, number])[] | 'same' | 'valid' | undefined
  /** One number for all axes of a window, or one for each; 1 by default. */
  readonly dilation?: number | readonly number[] | undefined
}

/** A number for all axes or a list of them, as a list of its own. */
function listed(op: string, name: string, value: unknown): readonly number[] {
  return typeof value === 'number' ? [integer(op, name, value)] : integers(op, name, value)
}

/** The windows of a call along each axis. */
function windowsGiven(op: string, x: Tensor, o: Record<string, unknown>): readonly Windows[] {
  const { window, stride = 1, padding: places = 0, dilation = 1 } = o
  const [sizes, strides, dilations] = [listed(op, 'window', window), listed(op, 'stride', stride), listed(op, 'dilation', dilation)]
  const sides = padding(op, 'padding', places)
  const pairs = sides[0]?.map((before, i) => [before, sides[1]?.[i] as number] as const)
  // What fits and how many windows there are is the rows' to say, of a tensor that nobody computes.
  const shaped = zeros([], { dtype: 'int8', device: x.device }).broadcastTo(x.shape)
  const counts = shaped.windowSum(sizes, { stride: strides, padding: pairs ?? 'same', dilation: dilations }).shape
  const at = <T>(list: readonly T[], axis: number): T => list[list.length === 1 ? 0 : axis] as T
  return x.shape.map((length, axis) => {
    const own = { size: at(sizes, axis), stride: at(strides, axis), dilation: at(dilations, axis), count: counts[axis] as number }
    const missing = Math.max(0, (own.count - 1) * own.stride + (own.size - 1) * own.dilation + 1 - length)
    const [before, after] = pairs === undefined ? [Math.floor(missing / 2), Math.ceil(missing / 2)] : at(pairs, axis)
    return { ...own, before, after }
  })
}

/** The tensor among the places around it, which are `init`. */
function surrounded(x: Tensor, init: Tensor, windows: readonly Windows[]): Tensor {
  if (windows.every(({ before, after }) => before === 0 && after === 0)) return x
  const places = windows.map(({ before }, axis) => new Slice(before, before + (x.shape[axis] as number)))
  const sizes = windows.map(({ before, after }, axis) => before + (x.shape[axis] as number) + after)
  return init.broadcastTo(sizes).withAt(places, x)
}

/**
 * The elements of each window combined by `fn`, after `init`; the same dtype. Windows lie over all axes, and places outside of `x` are `init`.
 *
 * `y_p = fn(init, fn(...fn(x_(p stride - padding), x_(p stride - padding + dilation))...))`
 *
 * `fn` and `init` are those of {@link reduce}: `init` is combined with each window once, beside the places outside. Axes are combined one
 * after the other, the last first, so a window's elements come in row-major order. Along an axis a window of w places takes log2 w calls of
 * `fn`, at most twice that: on blocks of 1, 2, 4, ... places at each position, or where windows are far apart, on their own places. An axis
 * that windows move along counts twice among the 32 a tensor may have. Gradients go through.
 * JAX `lax.reduce_window`, Nx `window_reduce`. Hillis and Steele, "Data parallel algorithms", 1986.
 *
 * @throws {TensorError} as {@link reduce}; `ERR_SHAPE` for windows that are larger than the data with its padding, `ERR_ARGUMENT` for sizes,
 * strides and dilations below 1 and negative padding.
 * @example
 * ```ts
 * ft.windowReduce(ft.tensor([1, 4, 2, 3]), -Infinity, ft.maximum, { window: 2 }) // [4, 4, 3]
 * ```
 */
export function windowReduce<D extends DType>(
  x: Tensor<D>,
  init: Scalar | Tensor<NoInfer<D>>,
  fn: (a: Tensor<NoInfer<D>>, b: Tensor<NoInfer<D>>) => Tensor<NoInfer<D>>,
  options: WindowReduceOptions
): Tensor<D> {
  const op = 'windowReduce'
  const o = checkOptions(op, options, ['window', 'stride', 'padding', 'dilation'])
  const values = tensorGiven(op, 'x', x)
  callable(op, fn)
  const combine = binary(op, fn, values)
  const { start, windows, padded } = within(op, () => {
    const [start, windows] = [initGiven(op, init, values), windowsGiven(op, values, o)]
    return { start, windows, padded: surrounded(values, start, windows) }
  })
  const whole = windows.reduceRight((rest, each, axis) => windowed(rest, axis, each, combine), padded)
  return own(combine(start.broadcastTo(whole.shape), own(whole)))
}
