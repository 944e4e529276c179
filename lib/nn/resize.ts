// Pictures of another size: the modes of PyTorch's interpolate, one axis after the other.

import { checkOptions } from '../arguments/options.js'
import { flag, integer, integers, oneOf } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating } from '../arrays/dtypes.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type FloatOf, type Takes } from '../generated/dtypes.js'
import { adaptiveAvgPool, interpolate as between } from '../generated/nn.js'
import { isHalf } from '../program/half.js'
import { isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { tensor } from '../values/create.js'

/** Options of `nn.interpolate`. */
export interface InterpolateOptions {
  /**
   * The nearest element before each place ('nearest'), or that next to its middle ('nearest-exact'); lines between the elements along each axis
   * ('linear', also called 'bilinear' and 'trilinear'); cubic polynomials ('bicubic', of two spatial axes); means of what a place covers ('area').
   * 'nearest' by default.
   */
  readonly mode?: 'nearest' | 'nearest-exact' | 'linear' | 'bilinear' | 'trilinear' | 'bicubic' | 'area' | undefined
  /** Whether the first and last elements are matched, instead of the edges; of lines and cubic polynomials. false by default. */
  readonly alignCorners?: boolean | undefined
  /** In place of a size: what each spatial size is multiplied by, rounded down. One number for all axes, or one for each. */
  readonly scaleFactor?: number | readonly number[] | undefined
  /** Whether lines and cubic polynomials are widened where pictures become smaller, so that every element counts; false by default. */
  readonly antialias?: boolean | undefined
}

const MODES = ['nearest', 'nearest-exact', 'linear', 'bilinear', 'trilinear', 'bicubic', 'area']

/** Modes that are lines, by the number of spatial axes that PyTorch calls them by. */
const LINES: Readonly<Record<string, number>> = { bilinear: 2, trilinear: 3 }

/** Weights of a resized axis: `taps` elements of the axis for each of its new places. */
interface Taps {
  readonly taps: number
  readonly places: Int32Array
  readonly weights: Float64Array
}

/** Weights of one axis. */
const MOST_WEIGHTS = 2 ** 24

/** How far apart new places are, in old ones. */
function stepOf(size: number, next: number, aligned: boolean, factor: number | undefined): number {
  if (aligned) return next > 1 ? (size - 1) / (next - 1) : 0
  return factor === undefined ? size / next : 1 / factor
}

/** Keys' cubic (1981) at a distance, with PyTorch's parameter. */
function cubic(distance: number, a: number): number {
  const x = Math.abs(distance)
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0
}

/** The taps that a function of each new place gives: its first element, and a weight for each from there. */
function tapsOf(next: number, size: number, taps: number, at: (i: number) => readonly [first: number, weights: readonly number[]]): Taps {
  // Within 200 MB of places and weights.
  if (next * taps > MOST_WEIGHTS) throw new ShapeError(`nn.interpolate: ${next} places of ${taps} weights each are too many for an axis of ${size}`)
  const [places, weights] = [new Int32Array(next * taps), new Float64Array(next * taps)]
  for (let i = 0; i < next; i++) {
    const [first, own] = at(i)
    for (let k = 0; k < taps; k++) {
      places[i * taps + k] = Math.min(Math.max(first + (k < own.length ? k : 0), 0), size - 1)
      weights[i * taps + k] = own[k] ?? 0
    }
  }
  return { taps, places, weights }
}

/** Weights that cover what lies between new places, as Pillow's: a filter stretched by the step where that is above 1. */
function covering(mode: string, size: number, next: number, step: number): Taps {
  const radius = mode === 'bicubic' ? 2 : 1
  const stretch = Math.max(step, 1)
  const support = radius * stretch
  const filter = (x: number): number => (mode === 'bicubic' ? cubic(x, -0.5) : Math.max(0, 1 - Math.abs(x)))
  return tapsOf(next, size, Math.ceil(support) * 2 + 1, (i) => {
    const centre = step * (i + 0.5)
    const first = Math.max(Math.trunc(centre - support + 0.5), 0)
    const count = Math.min(Math.trunc(centre + support + 0.5), size) - first
    const weights = Array.from({ length: count }, (_, k) => filter((k + first - centre + 0.5) / stretch))
    const total = weights.reduce((a, b) => a + b, 0)
    return [first, total === 0 ? weights : weights.map((w) => w / total)]
  })
}

/** Weights of the elements next to each new place. */
function nextTo(mode: string, size: number, next: number, step: number, aligned: boolean): Taps {
  const place = (i: number): number => (aligned ? step * i : step * (i + 0.5) - 0.5)
  if (mode === 'nearest') return tapsOf(next, size, 1, (i) => [Math.floor(i * step), [1]])
  if (mode === 'nearest-exact') return tapsOf(next, size, 1, (i) => [Math.floor((i + 0.5) * step), [1]])
  if (mode === 'bicubic') {
    return tapsOf(next, size, 4, (i) => {
      const first = Math.floor(place(i))
      const t = place(i) - first
      return [first - 1, [t + 1, t, 1 - t, 2 - t].map((x) => cubic(x, -0.75))]
    })
  }
  return tapsOf(next, size, 2, (i) => {
    const at = Math.max(place(i), 0)
    const first = Math.floor(at)
    return [first, [1 - (at - first), at - first]]
  })
}

/** An axis at its new places. */
function resampled(x: Tensor, axis: number, { taps, places, weights }: Taps): Tensor {
  const picked = x.take(tensor(places, { device: x.device }) as Tensor<'int32'>, { axis })
  if (taps === 1) return picked as Tensor
  const shape = [...x.shape.slice(0, axis), places.length / taps, taps, ...x.shape.slice(axis + 1)]
  const factors = tensor(weights, { device: x.device }).astype(x.dtype).reshape([places.length / taps, taps, ...x.shape.slice(axis + 1).map(() => 1)])
  return picked.reshape(shape).multiply(factors).sum({ axis: axis + 1 }) as Tensor
}

/** Sizes, and how they were asked for. */
function sizesOf(op: string, x: Tensor, size: unknown, factor: unknown): { sizes: readonly number[]; factors: readonly (number | undefined)[] } {
  const before = x.shape.slice(2)
  if (before.length < 1 || before.length > 3) throw new ShapeError(`${op}: x must have shape [batch, channels, spatial...] with one to three spatial axes, got [${x.shape.join(', ')}]`)
  if ((size === undefined) === (factor === undefined)) throw new ArgumentError(`${op}: give a size, or { scaleFactor }, and not both`)
  if (factor === undefined) {
    const sizes = typeof size === 'number' ? before.map(() => integer(op, 'size', size)) : integers(op, 'size', size)
    if (sizes.length !== before.length) throw new ShapeError(`${op}: ${sizes.length} sizes for ${before.length} spatial axes`)
    if (sizes.some((n) => n < 1)) throw new ArgumentError(`${op}: 'size' must be positive, got ${shown(size)}`)
    return { sizes, factors: sizes.map(() => undefined) }
  }
  const factors: readonly unknown[] = typeof factor === 'number' ? before.map(() => factor) : Array.isArray(factor) ? factor : []
  if (factors.length !== before.length || factors.some((f) => typeof f !== 'number' || !(f > 0 && f < Infinity))) {
    throw new ArgumentError(`${op}: 'scaleFactor' must be a number above 0 or ${before.length} of them, got ${shown(factor)}`)
  }
  const sizes = before.map((n, i) => Math.floor(n * (factors[i] as number)))
  if (sizes.some((n) => n < 1)) throw new ArgumentError(`${op}: 'scaleFactor' ${shown(factor)} leaves nothing of ${before.join(' x ')} elements`)
  if (!sizes.every(Number.isSafeInteger)) throw new ShapeError(`${op}: ${sizes.join(' x ')} elements are too many`)
  return { sizes, factors: factors as readonly number[] }
}

/**
 * x [batch, channels, spatial...] with spatial axes of another size. Elements are cells, whose middles are matched; with `alignCorners` they are
 * points, whose first and last are. Integers give float32.
 *
 * `y_(b,c,i) = x_(b,c,floor(i n / size)), or (1 - t) x_(b,c,j) + t x_(b,c,j+1) with j + t = (i + 1/2) n / size - 1/2`
 *
 * Takes an integer or floating dtype; gives the same dtype, float32 for integers. PyTorch `nn.functional.interpolate`; by a `scaleFactor` places
 * are as far apart as it says, also where a size was rounded down, as there.
 *
 * @param size One number for all spatial axes, or one for each; left out with a `scaleFactor`.
 * @throws {TensorError} `ERR_SHAPE` for sizes that do not fit the axes, `ERR_ARGUMENT` for options out of range and modes without `alignCorners` or
 * `antialias` that are given one.
 * @example
 * ```ts
 * ft.nn.interpolate(ft.tensor([[[1, 3]]]), 4, { mode: 'linear' }) // [[[1, 1.5, 2.5, 3]]]
 * ```
 * ```ts
 * ft.nn.interpolate(ft.tensor([[[1, 3]]]), { scaleFactor: 2 }) // [[[1, 1, 3, 3]]]
 * ```
 */
export function interpolate<A extends DType = 'float32'>(x: (Tensor<A> & Takes<'integerOrFloat', A>) | Listed, size: number | readonly number[] | undefined, options?: InterpolateOptions): Tensor<FloatOf<A>>
export function interpolate<A extends DType = 'float32'>(x: (Tensor<A> & Takes<'integerOrFloat', A>) | Listed, options: InterpolateOptions): Tensor<FloatOf<A>>
export function interpolate(x: Tensor | Listed, size: unknown, options?: unknown): Tensor {
  const op = 'nn.interpolate'
  return within(op, () => {
    const alone = options === undefined && isPlain(size)
    const o = checkOptions(op, alone ? size : options, ['mode', 'alignCorners', 'scaleFactor', 'antialias'])
    const values = arrayGiven(op, 'x', x)
    const mode = oneOf(op, 'mode', o['mode'] === undefined ? 'nearest' : o['mode'], MODES)
    const axes = values.ndim - 2
    const wanted = mode === 'bicubic' ? 2 : LINES[mode]
    if (wanted !== undefined && wanted !== axes) throw new ShapeError(`${op}: mode '${mode}' is of ${wanted} spatial axes, got shape [${values.shape.join(', ')}]`)
    const kind = mode in LINES ? 'linear' : mode
    const isSmooth = kind === 'linear' || kind === 'bicubic'
    const [aligned, covers] = [flag(op, 'alignCorners', o['alignCorners'], false), flag(op, 'antialias', o['antialias'], false)]
    if (covers && !isSmooth) throw new ArgumentError(`${op}: 'antialias' is of lines and cubic polynomials, not of mode '${mode}'`)
    if (aligned && (kind === 'nearest-exact' || kind === 'area')) throw new ArgumentError(`${op}: 'alignCorners' is of lines and cubic polynomials, not of mode '${mode}'`)
    if (!['signed', 'unsigned', 'float'].includes(DTYPE[values.dtype].kind)) throw new DTypeError(`${op}: 'x' must be integers or floating, got ${values.dtype}`)
    const { sizes, factors } = sizesOf(op, values, alone ? undefined : size, o['scaleFactor'])
    if (kind === 'area') return adaptiveAvgPool(values as Tensor<'float32'>, sizes) as Tensor
    const exact = factors.every((f, i) => f === undefined || (values.shape[i + 2] as number) * f === sizes[i])
    if ((kind === 'nearest' || kind === 'linear') && !covers && exact) return between(values as Tensor<'float32'>, sizes, { mode: kind, alignCorners: aligned }) as Tensor
    if (values.size === 0) throw new ShapeError(`${op}: there is nothing to read in x of shape [${values.shape.join(', ')}]`)
    const given = floating(values)
    const wide = isHalf(given.dtype) ? given.astype('float32') : given
    const resized = sizes.reduce<Tensor>((y, next, i) => {
      const before = y.shape[i + 2] as number
      const step = stepOf(before, next, aligned, factors[i])
      return resampled(y, i + 2, covers ? covering(kind, before, next, step) : nextTo(kind, before, next, step, aligned))
    }, wide)
    return resized.astype(given.dtype)
  })
}
