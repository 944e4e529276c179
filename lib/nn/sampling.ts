// Pictures read at places between their elements.

import { checkOptions } from '../arguments/options.js'
import { flag, integers, oneOf } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating } from '../arrays/dtypes.js'
import { arange } from '../arrays/ranges.js'
import { tensorGiven } from '../calls/operands.js'
import { DTypeError, ShapeError } from '../errors.js'
import { DTYPE, type DType, type FloatOf, type Takes } from '../generated/dtypes.js'
import { stack, where } from '../generated/functions.js'
import { isHalf } from '../program/half.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `nn.gridSample`. */
export interface GridSampleOptions {
  /** Between the elements around a place, or the one next to it; 'bilinear' by default. */
  readonly mode?: 'bilinear' | 'nearest' | undefined
  /** What lies outside: zeros, the element at the border, or the picture again, reflected; 'zeros' by default. */
  readonly paddingMode?: 'zeros' | 'border' | 'reflection' | undefined
  /** Whether -1 and 1 are the middles of the first and last elements; else they are the picture's edges. false by default. */
  readonly alignCorners?: boolean | undefined
}

/** Options of `nn.affineGrid`. */
export interface AffineGridOptions {
  /** Whether -1 and 1 are the middles of the first and last elements; else they are the picture's edges. false by default. */
  readonly alignCorners?: boolean | undefined
}

/** Places reflected between two ends until they lie between them, as PyTorch does; twice the ends are integers. */
function reflected(place: Tensor, twiceLow: number, twiceHigh: number): Tensor {
  if (twiceLow === twiceHigh) return place.multiply(0) as Tensor
  const [low, span] = [twiceLow / 2, (twiceHigh - twiceLow) / 2]
  const from = place.subtract(low).abs()
  const times = from.divide(span).floor()
  const rest = from.subtract(times.multiply(span))
  return where(times.remainder(2).equal(0), rest.add(low), rest.negative().add(span + low)) as Tensor
}

/** Coordinates from -1 to 1 as places among `size` elements, inside of them but for zeros. */
function placesOf(coordinate: Tensor, size: number, paddingMode: string, aligned: boolean): Tensor {
  const place = aligned ? coordinate.add(1).multiply((size - 1) / 2) : coordinate.add(1).multiply(size).subtract(1).divide(2)
  if (paddingMode === 'zeros') return place as Tensor
  const folded = paddingMode === 'border' ? place : aligned ? reflected(place as Tensor, 0, 2 * (size - 1)) : reflected(place as Tensor, -1, 2 * size - 1)
  return folded.clip(0, size - 1) as Tensor
}

/**
 * A picture at the places of a grid: x [batch, channels, height, width] at grid [batch, rows, columns, 2], whose (x, y) go from -1 at one
 * edge to 1 at the other, becomes [batch, channels, rows, columns]; volumes [batch, channels, depth, height, width] take places (x, y, z).
 * A place that is NaN gives 0.
 *
 * PyTorch `nn.functional.grid_sample`. Jaderberg and others, "Spatial transformer networks", 2015.
 *
 * @param x A real tensor; integers and bool become float32.
 * @param grid A floating tensor.
 * @throws {TensorError} `ERR_SHAPE` for ranks, batches and coordinates that do not go together and pictures without elements, `ERR_DTYPE` for
 * complex tensors and a grid that is not floating, `ERR_ARGUMENT` for other modes.
 * @example
 * ```ts
 * ft.nn.gridSample(ft.tensor([[[[1, 2], [3, 4]]]]), ft.tensor([[[[0, 0], [-0.5, 0.5]]]])) // [[[[2.5, 3]]]]
 * ```
 */
export function gridSample<A extends DType, B extends DType>(x: Tensor<A> & Takes<'real', A>, grid: Tensor<B> & Takes<'float', B>, options?: GridSampleOptions): Tensor<FloatOf<A>> {
  const op = 'nn.gridSample'
  return within(op, () => {
    const o = checkOptions(op, options, ['mode', 'paddingMode', 'alignCorners'])
    const mode = oneOf(op, 'mode', o['mode'] ?? 'bilinear', ['bilinear', 'nearest'])
    const paddingMode = oneOf(op, 'paddingMode', o['paddingMode'] ?? 'zeros', ['zeros', 'border', 'reflection'])
    const aligned = flag(op, 'alignCorners', o['alignCorners'], false)
    const [given, places] = [tensorGiven(op, 'x', x), tensorGiven(op, 'grid', grid)] as [Tensor, Tensor]
    if (DTYPE[given.dtype].kind === 'complex') throw new DTypeError(`${op}: 'x' must be real, got ${given.dtype}`)
    if (DTYPE[places.dtype].kind !== 'float') throw new DTypeError(`${op}: 'grid' must be floating, got ${places.dtype}`)
    const axes = given.ndim - 2
    if ((axes !== 2 && axes !== 3) || places.ndim !== given.ndim || places.shape.at(-1) !== axes || places.shape[0] !== given.shape[0]) {
      throw new ShapeError(`${op}: x [batch, channels, spatial...] of two or three spatial axes takes a grid [batch, ..., ${axes === 3 ? 3 : 2}], got shapes [${given.shape.join(', ')}] and [${places.shape.join(', ')}]`)
    }
    const values = floating(given)
    const [batch, channels, ...sizes] = values.shape as [number, number, ...number[]]
    if (sizes.includes(0)) throw new ShapeError(`${op}: there is nothing to read in x of shape [${values.shape.join(', ')}]`)
    // Places are numbered in int32.
    if (sizes.reduce((n, size) => n * size, 1) >= 2 ** 31) throw new ShapeError(`${op}: a picture of ${sizes.join(' x ')} has more places than int32 counts`)
    // Places among 2,048 elements have no fraction in float16.
    const wide = isHalf(places.dtype) ? places.astype('float32') : places
    // The last coordinate of the grid belongs to the first spatial axis.
    const along = sizes.map((size, i) => placesOf(wide.at('...', axes - 1 - i) as Tensor, size, paddingMode, aligned))
    const flat = values.reshape([batch, channels, -1])
    const result = [batch, channels, ...along[0]!.shape.slice(1)]
    const read = (corner: readonly Tensor[], weight?: Tensor): Tensor => {
      const inside = corner.map((place, i) => place.greaterEqual(0).logicalAnd(place.lessEqual((sizes[i] as number) - 1))).reduce((a, b) => a.logicalAnd(b))
      const index = corner.reduce<Tensor>((all, place, i) => all.multiply(sizes[i] as number).add(where(inside, place, 0).astype('int32')) as Tensor, corner[0]!.multiply(0).astype('int32'))
      const found = flat.takeAlongAxis(where(inside, index, 0).reshape([batch, 1, -1]).broadcastTo([batch, channels, result.slice(2).reduce((n, d) => n * d, 1)]) as Tensor<'int32'>, { axis: 2 }).reshape(result)
      const weighed = weight === undefined ? found : found.multiply(weight.expandDims(1).astype(values.dtype))
      return where(inside.expandDims(1), weighed, 0) as Tensor
    }
    if (mode === 'nearest') return read(along.map((place) => place.round())) as Tensor<FloatOf<A>>
    const starts = along.map((place) => place.floor())
    const shares = along.map((place, i) => place.subtract(starts[i] as Tensor))
    const corners = Array.from({ length: 2 ** axes }, (_, n) => {
      const far = sizes.map((_, i) => (n >> i) % 2 === 1)
      const corner = far.map((end, i) => (end ? (starts[i] as Tensor).add(1) : (starts[i] as Tensor)))
      const weight = far.map((end, i) => (end ? (shares[i] as Tensor) : (shares[i] as Tensor).negative().add(1))).reduce((a, b) => a.multiply(b))
      return read(corner, weight as Tensor)
    })
    return corners.reduce((a, b) => a.add(b)) as Tensor<FloatOf<A>>
  })
}

/**
 * The grid of an affine map, for {@link gridSample}: matrices theta [batch, 2, 3] over pictures of the size [batch, channels, height, width] give
 * [batch, height, width, 2], matrices [batch, 3, 4] over volumes likewise.
 *
 * `grid = theta @ (x, y, 1)^T`
 *
 * PyTorch `nn.functional.affine_grid`.
 *
 * @param theta A floating tensor.
 * @param size The shape of the pictures.
 * @throws {TensorError} `ERR_SHAPE` for matrices that do not fit the size, `ERR_DTYPE` for a theta that is not floating, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.affineGrid(ft.tensor([[[1, 0, 0], [0, 1, 0]]]), [1, 1, 1, 2]) // [[[[-0.5, 0], [0.5, 0]]]]
 * ```
 */
export function affineGrid<D extends DType>(theta: Tensor<D> & Takes<'float', D>, size: readonly number[], options?: AffineGridOptions): Tensor<D> {
  const op = 'nn.affineGrid'
  return within(op, () => {
    const aligned = flag(op, 'alignCorners', checkOptions(op, options, ['alignCorners'])['alignCorners'], false)
    const matrices = tensorGiven(op, 'theta', theta) as Tensor
    if (DTYPE[matrices.dtype].kind !== 'float') throw new DTypeError(`${op}: 'theta' must be floating, got ${matrices.dtype}`)
    const given = integers(op, 'size', size)
    const [batch, , ...sizes] = given
    const axes = sizes.length
    if ((axes !== 2 && axes !== 3) || sizes.some((n) => n < 1) || matrices.shape.join() !== [batch, axes, axes + 1].join()) {
      throw new ShapeError(`${op}: a size [batch, channels, spatial...] of two or three spatial axes takes theta [batch, axes, axes + 1], got [${given.join(', ')}] and shape [${matrices.shape.join(', ')}]`)
    }
    const { dtype, device } = matrices
    const coordinates = sizes.map((n, i) => {
      const places = arange(n, { dtype: 'float64', device })
      // One element alone lies in the middle.
      const from = aligned ? places.multiply(n === 1 ? 0 : 2 / (n - 1)).subtract(n === 1 ? 0 : 1) : places.multiply(2).add(1).divide(n).subtract(1)
      return from.astype(dtype).reshape(sizes.map((_, axis) => (axis === i ? n : 1))).broadcastTo(sizes) as Tensor
    })
    const base = stack([...coordinates.reverse(), coordinates[0]!.multiply(0).add(1) as Tensor], { axis: -1 }).reshape([-1, axes + 1])
    return base.matmul(matrices.matrixTranspose()).reshape([batch as number, ...sizes, axes]) as Tensor<D>
  })
}
