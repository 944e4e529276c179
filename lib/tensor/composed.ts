// Methods that are a few operations each, or more than their row: those of NumPy's arrays and PyTorch's tensors whose functions `lib/arrays` has.

import { choose, type ChooseOptions } from '../arrays/choices.js'
import { exp2, gradient, logaddexp, logsumexp, sigmoid, sinc } from '../arrays/complex.js'
import { histc, type HistcOptions } from '../arrays/counts.js'
import { dist, renorm } from '../arrays/distances.js'
import { addcdiv, addcmul, clamp, isreal, type AddcmulOptions, type ClampOptions } from '../arrays/elementwise.js'
import { logdet } from '../arrays/factors.js'
import { diagflat } from '../arrays/grids.js'
import type { AxisKeptOptions, AxisOptions } from '../arrays/options.js'
import { aminmax, frexp } from '../arrays/pairs.js'
import { floatPower, ldexp } from '../arrays/powers.js'
import { addbmm, addmm, addmv, addr, baddbmm, type Added, type AddmmOptions } from '../arrays/products.js'
import { numbers } from '../arrays/pytorch.js'
import { round, type RoundOptions } from '../arrays/rounding.js'
import { cummax, cummin, logcumsumexp, mode, type Placed } from '../arrays/running.js'
import { expandDims, flatten, repeat, tile, unflatten } from '../arrays/shapes.js'
import { argpartition, compress, msort, partition, uniqueConsecutive } from '../arrays/sorting.js'
import {
  fillDiagonal, indexAdd, indexCopy, indexFill, indexPut, maskedScatter, put, scatterReduce, type FillDiagonalOptions, type IndexAddOptions, type Reduction,
  type ScatterReduceOptions
} from '../arrays/updates.js'
import { cov, trapezoid, type CovOptions } from '../arrays/weighted.js'
import type { Listed, Positions } from '../calls/arrays.js'
import type { Several } from '../calls/several.js'
import type { DType, FloatOf, Promote, RealOf, Takes } from '../generated/dtypes.js'
import type { FlattenOptions, GradientOptions, LogsumexpOptions, MeanOptions, RepeatOptions, TrapezoidOptions } from '../generated/functions.js'
import { OpMethods } from '../generated/ops.js'
import type { IndexItem } from '../indexing/at.js'
import type { Fits, Operand, With } from './operand.js'
import type { Tensor } from './tensor.js'

/** A tensor of some dtype, as the functions below take it. */
const self = <E extends DType = 'float32'>(x: unknown): Tensor<E> => x as Tensor<E>

/** A result whose dtypes the signature says. */
const as = <T>(x: unknown): T => x as T

/** Integers along an axis. */
type Indices = Tensor | Positions

/** Methods made of several operations; those under names with other arguments extend them. */
export abstract class ComposedMethods<D extends DType> extends OpMethods<D> {
  /** As `ft.addbmm`, of which this is the input. */
  addbmm<A extends DType, B extends DType>(a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
    return addbmm(self<D>(this), a, b, options)
  }

  /** As `ft.addcdiv`, of which this is the input. */
  addcdiv<A extends DType, B extends Operand>(a: Tensor<A>, b: B & Fits<'any', B, A>, options?: AddcmulOptions): Tensor<Promote<D, FloatOf<With<A, B>>>> {
    return addcdiv(self<D>(this), a, b, options)
  }

  /** As `ft.addcmul`, of which this is the input. */
  addcmul<A extends DType, B extends Operand>(a: Tensor<A>, b: B & Fits<'any', B, A>, options?: AddcmulOptions): Tensor<Promote<D, With<A, B>>> {
    return addcmul(self<D>(this), a, b, options)
  }

  /** As `ft.addmm`, of which this is the input. */
  addmm<A extends DType, B extends DType>(a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
    return addmm(self<D>(this), a, b, options)
  }

  /** As `ft.addmv`, of which this is the input. */
  addmv<A extends DType, B extends DType>(a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
    return addmv(self<D>(this), a, b, options)
  }

  /** As `ft.addr`, of which this is the input. */
  addr<A extends DType, B extends DType>(a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Promote<D, Promote<A, B>>> {
    return addr(self<D>(this), a, b, options)
  }

  /** As `ft.aminmax`. */
  aminmax(this: Takes<'real', D>, options?: number | readonly number[] | MeanOptions): Several<{ min: Tensor<D>; max: Tensor<D> }> {
    return as(aminmax(self(this), options))
  }

  /** As `ft.argpartition`. */
  argpartition(this: Takes<'real', D>, kth: number | readonly number[], options?: number | AxisOptions): Tensor<'int32'> {
    return argpartition(self(this), kth, options)
  }

  /** As `ft.baddbmm`, of which this is the input. */
  baddbmm<A extends DType, B extends DType>(a: Tensor<A> & Takes<'numeric', A>, b: Tensor<B> & Takes<'numeric', B>, options?: AddmmOptions): Tensor<Added<D, A, B>> {
    return baddbmm(self<D>(this), a, b, options)
  }

  /** As `ft.choose`, of which this is the numbers. */
  choose<E extends DType>(this: Takes<'integer', D>, choices: readonly Tensor<E>[] | Tensor<E>, options?: ChooseOptions): Tensor<E> {
    return choose(self(this), choices, options)
  }

  /** As `ft.clamp`. */
  clamp<B extends Operand | undefined = undefined, C extends Operand | undefined = undefined>(this: Takes<'integerOrFloat', D>, bounds: ClampOptions<B & Fits<'integerOrFloat', B>, C & Fits<'integerOrFloat', C>>): Tensor<With<With<D, B>, C>>
  clamp<B extends Operand | undefined = undefined, C extends Operand | undefined = undefined>(this: Takes<'integerOrFloat', D>, min?: B & Fits<'integerOrFloat', B>, max?: C & Fits<'integerOrFloat', C>): Tensor<With<With<D, B>, C>>
  clamp(min?: unknown, max?: unknown): Tensor {
    return clamp(self(this), min as number, max as number)
  }

  /** As `ft.compress`: the slices of an axis, or elements, where a condition is true. Reads the condition. */
  compress(condition: Tensor | Listed | readonly boolean[], options?: number | AxisOptions): Tensor<D> {
    return compress(condition, self<D>(this), options)
  }

  /** As `ft.cov`. */
  override cov(..._options: [options?: CovOptions]): Tensor<FloatOf<D>> {
    return Reflect.apply(cov, undefined, [this, ...arguments]) as Tensor<FloatOf<D>>
  }

  /** As `ft.cummax`. */
  cummax(this: Takes<'real', D>, options?: number | AxisOptions): Several<Placed<D>> {
    return as(cummax(self(this), options))
  }

  /** As `ft.cummin`. */
  cummin(this: Takes<'real', D>, options?: number | AxisOptions): Several<Placed<D>> {
    return as(cummin(self(this), options))
  }

  /** As `ft.diagflat`. */
  diagflat(options?: Parameters<typeof diagflat>[1]): Tensor<D> {
    return diagflat(self<D>(this), options)
  }

  /** As `ft.dist`. */
  dist<B extends DType>(this: Takes<'numeric', D>, x2: Tensor<B> & Takes<'numeric', B>, p?: number): Tensor<RealOf<FloatOf<Promote<D, B>>>> {
    return as(dist(self(this), x2, p))
  }

  /** As `ft.exp2`. */
  override exp2(): Tensor<FloatOf<D>> {
    if (arguments.length > 0) Reflect.apply(super.exp2, this, arguments)
    return exp2(self<D>(this))
  }

  /** As `ft.expandDims`. A view. */
  override expandDims(axis?: number | readonly number[]): Tensor<D> {
    if (Array.isArray(axis)) return expandDims(self<D>(this), axis)
    return arguments.length < 2 ? super.expandDims(axis as number) : (Reflect.apply(super.expandDims, this, arguments) as Tensor<D>)
  }

  /** As `ft.fillDiagonal`. */
  fillDiagonal(value: Tensor | Listed | Operand, options?: FillDiagonalOptions): Tensor<D> {
    return fillDiagonal(self<D>(this), value, options)
  }

  /** As `ft.flatten`. */
  override flatten(..._given: [options?: number | FlattenOptions, endAxis?: number]): Tensor<D> {
    return Reflect.apply(flatten, undefined, [this, ...arguments]) as Tensor<D>
  }

  /** As `ft.floatPower`. */
  floatPower<B extends Operand>(b: B): Tensor<Promote<'float64', FloatOf<With<D, B>>>> {
    return as(floatPower(self<D>(this), b))
  }

  /** As `ft.frexp`. */
  frexp(this: Takes<'real', D>): Several<{ mantissa: Tensor<FloatOf<D>>; exponent: Tensor<'int32'> }> {
    return as(frexp(self(this)))
  }

  /** As `ft.gradient`. */
  override gradient<B extends DType = 'bool'>(..._given: [coordinates?: Tensor<B> & Takes<'real', B>, options?: number | GradientOptions]): Tensor<FloatOf<Promote<D, B>>> {
    return Reflect.apply(gradient, undefined, [this, ...arguments]) as Tensor<FloatOf<Promote<D, B>>>
  }

  /** As `ft.histc`. */
  histc(this: Takes<'real', D>, options?: HistcOptions): Tensor<D> {
    return as(histc(self(this), options))
  }

  /** As `ft.indexAdd`. */
  indexAdd(axis: number, index: Indices, source: Tensor | Listed, options?: IndexAddOptions): Tensor<D> {
    return indexAdd(self<D>(this), axis, index, source, options)
  }

  /** As `ft.indexCopy`. */
  indexCopy(axis: number, index: Indices, source: Tensor | Listed): Tensor<D> {
    return indexCopy(self<D>(this), axis, index, source)
  }

  /** As `ft.indexFill`. */
  indexFill(axis: number, index: Indices, value: Operand): Tensor<D> {
    return indexFill(self<D>(this), axis, index, value)
  }

  /** As `ft.indexPut`. */
  indexPut(indices: readonly IndexItem[], values: Tensor | Listed | Operand): Tensor<D> {
    return indexPut(self<D>(this), indices, values)
  }

  /** As `ft.isreal`. */
  isreal(): Tensor<'bool'> {
    return isreal(self<D>(this))
  }

  /** As `ft.ldexp`. */
  ldexp<B extends Operand>(this: Takes<'real', D>, b: B & Fits<'real', B, D, 'any'>): Tensor<FloatOf<With<D, B>>> {
    return as(ldexp(self(this), b as never))
  }

  /** As `ft.logaddexp`. */
  override logaddexp<B extends Operand>(..._given: [x2: B & Fits<'any', B>]): Tensor<FloatOf<With<D, B>>> {
    return Reflect.apply(logaddexp, undefined, [this, ...arguments]) as Tensor<FloatOf<With<D, B>>>
  }

  /** As `ft.logcumsumexp`. */
  logcumsumexp(options?: number | AxisOptions): Tensor<FloatOf<D>> {
    return logcumsumexp(self<D>(this), options)
  }

  /** As `ft.logdet`. */
  logdet(): Tensor<FloatOf<D>> {
    return logdet(self<D>(this))
  }

  /** As `ft.logsumexp`. */
  override logsumexp(..._given: [options?: number | readonly number[] | LogsumexpOptions]): Tensor<FloatOf<D>> {
    return Reflect.apply(logsumexp, undefined, [this, ...arguments]) as Tensor<FloatOf<D>>
  }

  /** As `ft.maskedScatter`. */
  maskedScatter(mask: Tensor | readonly boolean[], source: Tensor | Listed): Tensor<D> {
    return maskedScatter(self<D>(this), mask, source)
  }

  /** As `ft.mode`. */
  mode(this: Takes<'real', D>, options?: number | AxisKeptOptions): Several<Placed<D>> {
    return as(mode(self(this), options))
  }

  /** As `ft.msort`. */
  msort(this: Takes<'real', D>): Tensor<D> {
    return as(msort(self(this)))
  }

  /** As `ft.partition`. */
  partition(this: Takes<'real', D>, kth: number | readonly number[], options?: number | AxisOptions): Tensor<D> {
    return as(partition(self(this), kth, options))
  }

  /** As `ft.put`. */
  put(indices: Indices, values: Tensor | Listed | Operand): Tensor<D> {
    return put(self<D>(this), indices, values)
  }

  /** As `ft.renorm`. */
  renorm(p: number, axis: number, maxnorm: number): Tensor<FloatOf<D>> {
    return renorm(self<D>(this), p, axis, maxnorm)
  }

  /** As `ft.repeat`. */
  override repeat(..._given: [repeats: number | Positions | Tensor, options?: number | RepeatOptions]): Tensor<D> {
    return Reflect.apply(repeat, undefined, [this, ...arguments]) as Tensor<D>
  }

  /** As `ft.reshape`, with the sizes in one array or one after the other. */
  override reshape(...shape: readonly [readonly number[]] | readonly [number, ...number[]]): Tensor<D> {
    if (typeof shape[0] === 'number') return super.reshape(numbers('reshape', 'shape', shape))
    return shape.length === 1 ? super.reshape(shape[0]) : (Reflect.apply(super.reshape, this, shape) as Tensor<D>)
  }

  /** As `ft.round`. */
  override round(this: Takes<'numeric', D>, ..._given: [options?: number | RoundOptions]): Tensor<D> {
    return Reflect.apply(round, undefined, [this, ...arguments]) as Tensor<D>
  }

  /** As `ft.scatterReduce`. */
  scatterReduce(axis: number, index: Indices, source: Tensor | Listed, reduction: Reduction, options?: ScatterReduceOptions): Tensor<D> {
    return scatterReduce(self<D>(this), axis, index, source, reduction, options)
  }

  /** As `ft.sigmoid`. */
  override sigmoid(): Tensor<FloatOf<D>> {
    if (arguments.length > 0) Reflect.apply(super.sigmoid, this, arguments)
    return sigmoid(self<D>(this))
  }

  /** As `ft.sinc`. */
  override sinc(): Tensor<FloatOf<D>> {
    if (arguments.length > 0) Reflect.apply(super.sinc, this, arguments)
    return sinc(self<D>(this))
  }

  /** As `ft.tile`. */
  override tile(..._given: [repetitions: number | readonly number[]]): Tensor<D> {
    return Reflect.apply(tile, undefined, [this, ...arguments]) as Tensor<D>
  }

  /** As `ft.trapezoid`. */
  override trapezoid<B extends DType = 'bool'>(..._given: [coordinates?: Tensor<B> & Takes<'real', B>, options?: number | TrapezoidOptions]): Tensor<FloatOf<Promote<D, B>>> {
    return Reflect.apply(trapezoid, undefined, [this, ...arguments]) as Tensor<FloatOf<Promote<D, B>>>
  }

  /** As `ft.unflatten`. */
  unflatten(axis: number, sizes: readonly number[]): Tensor<D> {
    return unflatten(self<D>(this), axis, sizes)
  }

  /** As `ft.uniqueConsecutive`. Reads a mask. */
  uniqueConsecutive(options?: number | AxisOptions): Tensor<D> {
    return uniqueConsecutive(self<D>(this), options)
  }
}
