// `ft.einops`: axes taken apart, put together, moved, reduced and repeated as a pattern says (Rogozhnikov, "Einops: clear and reliable
// tensor manipulations with Einstein-like notation", 2022). Each is one reshape, one permutation and one reshape around at most one reduction or
// broadcast.

import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { didYouMean } from '../errors/did-you-mean.js'
import type { DType, FloatOf, SumOf, Takes } from '../generated/dtypes.js'
import { all, any, max, mean, min, prod, sum } from '../generated/functions.js'
import { sizeOf } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import { ELLIPSIS, patternGiven, SPREAD, type Axis, type Kind, type Pattern, type Side } from './einops-pattern.js'

/** Sizes of axes by their names: of all but one in each pair of parentheses on the left, and of those that `repeat` adds. */
export type Sizes = Readonly<Record<string, number>>

/** How `reduce` combines the elements of axes that go. */
export type Reduction = 'all' | 'any' | 'max' | 'mean' | 'min' | 'prod' | 'sum'

/** The dtype that a reduction gives. */
export type ReducedDType<D extends DType, R extends Reduction> = R extends 'sum' | 'prod' ? SumOf<D> : R extends 'mean' ? FloatOf<D> : R extends 'all' | 'any' ? 'bool' : D

type Reduce = (x: Tensor, axes: readonly number[]) => Tensor

const REDUCTIONS: Readonly<Record<Reduction, Reduce>> = {
  all: (x, axis) => all(x, { axis }),
  any: (x, axis) => any(x, { axis }),
  max: (x, axis) => max(x, { axis }),
  mean: (x, axis) => mean(x, { axis }) as Tensor,
  min: (x, axis) => min(x, { axis }),
  prod: (x, axis) => prod(x, { axis }) as Tensor,
  sum: (x, axis) => sum(x, { axis }) as Tensor
}

/** The sizes of a call, by name. */
function sizesGiven(op: string, value: unknown, { names }: Pattern): Map<string, number> {
  if (value === undefined) return new Map()
  if (typeof value !== 'object' || value === null || Symbol.iterator in value) throw new ArgumentError(`${op}: 'sizes' must be an object of sizes by the names of axes, got ${shown(value)}`)
  return new Map(
    Object.entries(value).map(([name, size]: [string, unknown]) => {
      if (!names.includes(name)) throw new ArgumentError(`${op}: no axis of the pattern is named '${name}'${didYouMean(name, names)}`)
      if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw new ArgumentError(`${op}: the size of axis '${name}' must be an integer of at least 0, got ${shown(size)}`)
      return [name, size]
    })
  )
}

/** The axes of one rank in the place of `...`. */
function spread(side: Side, count: number): Side {
  const extra = Array.from({ length: count }, (_, i): Axis => ({ id: `...${i}` }))
  return side.flatMap((group) => (group === SPREAD ? extra.map((axis) => [axis]) : [group.flatMap((axis) => (axis === ELLIPSIS ? extra : [axis]))]))
}

/** A group of axes as the pattern writes it. */
const written = (group: readonly Axis[]): string => `(${group.map(({ id, size }) => size ?? id).join(' ')})`

/** The sizes of all axes that the left side has, from the shape it describes. */
function measure(op: string, left: Side, shape: readonly number[], given: ReadonlyMap<string, number>): Map<string, number> {
  const sizes = new Map(given)
  for (const [i, group] of left.entries()) {
    const size = shape[i] as number
    const open = group.filter((axis) => axis.size === undefined && !given.has(axis.id))
    for (const axis of group) if (axis.size !== undefined) sizes.set(axis.id, axis.size)
    if (open.length > 1) throw new ArgumentError(`${op}: axis ${i} of size ${size} is ${written(group)}: the sizes of '${open.map(({ id }) => id).join("' and '")}' are unknown; give all but one`)
    const [free] = open
    const rest = sizeOf(group.filter((axis) => axis !== free).map(({ id }) => sizes.get(id) as number))
    if (free === undefined && rest !== size) {
      const [only] = group
      const what = group.length === 1 ? `axis '${(only as Axis).size ?? (only as Axis).id}'` : group.length === 0 ? 'an axis of size 1' : written(group)
      throw new ShapeError(`${op}: axis ${i} has size ${size}, the pattern says ${rest} of ${what}; shape [${shape.join(', ')}]`)
    }
    if (free === undefined) continue
    if (rest === 0 || size % rest !== 0) throw new ShapeError(`${op}: axis ${i} of size ${size} is ${written(group)}, which leaves axis '${free.id}' no size: the others have ${rest}`)
    sizes.set(free.id, size / rest)
  }
  return sizes
}

/** Runs a pattern. */
function run(op: string, kind: Kind, value: unknown, text: unknown, given: unknown, reduction?: Reduce): Tensor {
  const x = tensorGiven(op, 'x', value)
  const pattern = patternGiven(op, kind, text)
  const named = pattern.left.length
  const open = pattern.left.includes(SPREAD)
  if (open ? x.ndim < named - 1 : x.ndim !== named) {
    throw new ShapeError(`${op}: the left side has ${open ? `at least ${named - 1}` : named} axes, the tensor ${x.ndim}: shape [${x.shape.join(', ')}]`)
  }
  const extra = open ? x.ndim - named + 1 : 0
  const [left, right] = [spread(pattern.left, extra), spread(pattern.right, extra)]
  const sizes = measure(op, left, x.shape, sizesGiven(op, given, pattern))
  const unknown = right.flat().find(({ id, size }) => size === undefined && !sizes.has(id))
  if (unknown !== undefined) throw new ArgumentError(`${op}: the size of axis '${unknown.id}', which is new, is not given`)
  const size = (axis: Axis): number => axis.size ?? (sizes.get(axis.id) as number)
  const [from, to] = [left.flat(), right.flat()]
  const apart = x.reshape(from.map(size))
  const kept = from.filter(({ id }) => to.some((axis) => axis.id === id))
  const gone = from.flatMap((axis, i) => (kept.includes(axis) ? [] : [i]))
  const reduced = gone.length === 0 || reduction === undefined ? apart : reduction(apart, gone)
  const place = (axis: Axis): number => kept.findIndex(({ id }) => id === axis.id)
  const moved = reduced.permuteDims(to.map(place).filter((i) => i >= 0))
  const whole = moved.reshape(to.map((axis) => (place(axis) < 0 ? 1 : size(axis)))).broadcastTo(to.map(size))
  return whole.reshape(right.map((group) => sizeOf(group.map(size))))
}

/**
 * A tensor whose axes are taken apart, put together and moved as a pattern says: on the left what they are, on the right what they become.
 *
 * An axis in parentheses is made of several, the slowest first. `...` stands for all axes that are not named, `1` for one of size 1.
 * einops `rearrange`. A view where the order of elements allows it.
 *
 * @param pattern Two sides with `->` between them; parsed once.
 * @param sizes Sizes of axes by name: in each pair of parentheses on the left all but one.
 * @throws {TensorError} `ERR_ARGUMENT` for a pattern that is none, for an axis that stands twice or on one side alone, and for sizes that are
 * missing or name no axis; `ERR_SHAPE` for a tensor that is not what the left side says.
 * @example
 * ```ts
 * ft.einops.rearrange(ft.arange(6), '(h w) -> w h', { h: 2 }) // [[0, 3], [1, 4], [2, 5]]
 * ```
 * ```ts
 * ft.einops.rearrange(ft.zeros([2, 12, 3]), 'b (h w) c -> b c h w', { h: 4 }).shape // [2, 3, 4, 3]
 * ```
 */
export function rearrange<D extends DType>(x: Tensor<D>, pattern: string, sizes?: Sizes): Tensor<D> {
  const op = 'einops.rearrange'
  return within(op, () => run(op, 'rearrange', x, pattern, sizes)) as Tensor<D>
}

/**
 * As {@link rearrange}, with the axes that stand on the left alone reduced.
 *
 * einops `reduce`. Sums and products of bool and of small integers widen, means are floating, `any` and `all` are bool.
 *
 * @param reduction One of 'mean', 'sum', 'max', 'min', 'prod', 'any', 'all'.
 * @throws {TensorError} as {@link rearrange}; `ERR_ARGUMENT` for another reduction, `ERR_DTYPE` for complex numbers, which have no order.
 * @example
 * ```ts
 * ft.einops.reduce(ft.tensor([[1, 2], [3, 4]]), 'h w -> w', 'sum') // [4, 6]
 * ```
 * ```ts
 * ft.einops.reduce(ft.arange(8), '(h 2) -> h', 'max') // [1, 3, 5, 7]
 * ```
 */
export function reduce<D extends DType, R extends Reduction>(x: Tensor<D> & (R extends 'max' | 'min' ? Takes<'real', D> : unknown), pattern: string, reduction: R, sizes?: Sizes): Tensor<ReducedDType<D, R>> {
  const op = 'einops.reduce'
  return within(op, () => {
    if (typeof reduction !== 'string' || !Object.hasOwn(REDUCTIONS, reduction)) throw new ArgumentError(`${op}: 'reduction' must be one of ${Object.keys(REDUCTIONS).join(', ')}, got ${shown(reduction)}`)
    return run(op, 'reduce', x, pattern, sizes, REDUCTIONS[reduction])
  }) as Tensor as Tensor<ReducedDType<D, R>>
}

/**
 * As {@link rearrange}, with the axes that stand on the right alone added, along which elements are repeated.
 *
 * einops `repeat`. NumPy's is `ft.repeat`.
 *
 * @param sizes Sizes of axes by name: those of new axes too, unless the pattern says them.
 * @throws {TensorError} as {@link rearrange}.
 * @example
 * ```ts
 * ft.einops.repeat(ft.tensor([1, 2]), 'w -> h w', { h: 2 }) // [[1, 2], [1, 2]]
 * ```
 * ```ts
 * ft.einops.repeat(ft.tensor([1, 2]), 'w -> (w 2)') // [1, 1, 2, 2]
 * ```
 */
export function repeat<D extends DType>(x: Tensor<D>, pattern: string, sizes?: Sizes): Tensor<D> {
  const op = 'einops.repeat'
  return within(op, () => run(op, 'repeat', x, pattern, sizes)) as Tensor<D>
}
