// Methods under names of NumPy and PyTorch whose arguments stand otherwise than ours: `x.permute(2, 0, 1)`, `x.view(2, -1)`, `x.float()`.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import { bincount, type BincountOptions } from '../arrays/histogram.js'
import { dot, norm, transposed, unique, vdot, type NormOrdOptions, type Ord, type UniqueOf, type UniqueReturns } from '../arrays/numpy.js'
import {
  adjoint, bucketize, expand, gather, indexSelect, isComplex, isFloatingPoint, maskedFill, maskedSelect, narrow, permute, select, t, view,
  type BucketizeOptions, type Numbers
} from '../arrays/pytorch.js'
import { stopGradient } from '../autodiff/grad.js'
import type { Positions } from '../calls/arrays.js'
import { tensorGiven } from '../calls/operands.js'
import { DTYPE, type DType, type FloatOf, type Promote, type RealOf, type SumOf, type Takes } from '../generated/dtypes.js'
import { full, ones, where, zeros } from '../generated/functions.js'
import { cholesky, det, expm, inv, matrixPower, pinv, qr, slogdet, type CholeskyOptions, type QrOptions } from '../generated/linalg.js'
import { arraySplit, chunk, unstack, type PiecesOptions } from '../indexing/split.js'
import type { Scalar } from '../program/record.js'
import { tensor, type CreationOptions, type TensorData } from '../values/create.js'
import { ComposedMethods } from './composed.js'
import type { Common, Fits, Operand } from './operand.js'
import type { Tensor } from './tensor.js'

/** A tensor, as its bases see it. */
const self = <D extends DType>(x: NamedMethods<D>): Tensor<D> => x as unknown as Tensor<D>

/** What PyTorch's `new_*` make: of the dtype and on the device of a tensor by default. */
function newOf(op: string, x: Tensor, options: unknown, make: (o: CreationOptions) => Tensor): Tensor {
  return within(op, () => {
    const { dtype = x.dtype, device = x.device } = checkOptions(op, options, ['dtype', 'device']) as CreationOptions
    return make({ dtype, device })
  })
}

/** Methods of other libraries, written by hand; their aliases extend them. */
export abstract class NamedMethods<D extends DType> extends ComposedMethods<D> {
  /** PyTorch's `permute`: {@link Tensor.permuteDims}. A view. */
  permute(...axes: Numbers): Tensor<D> {
    return permute(self(this), ...axes)
  }

  /** All axes reversed, or as {@link Tensor.permuteDims} or {@link Tensor.swapaxes} where NumPy and PyTorch agree. A view. */
  transpose(...axes: Numbers | readonly []): Tensor<D> {
    return transposed(self(this), axes)
  }

  /** NumPy's and PyTorch's `view`: {@link Tensor.reshape}, of a dtype {@link Tensor.bitcast}. */
  view(...shape: Numbers): Tensor<D>
  view<E extends DType>(dtype: E): Tensor<E>
  view(...given: readonly unknown[]): Tensor {
    return view(self(this), ...(given as Numbers))
  }

  /** Under the shape of another tensor: {@link Tensor.reshape}. */
  viewAs(other: Tensor): Tensor<D> {
    return self(this).reshape(tensorGiven('viewAs', 'other', other).shape)
  }

  /** Under the shape of another tensor: {@link Tensor.reshape}. */
  reshapeAs(other: Tensor): Tensor<D> {
    return self(this).reshape(tensorGiven('reshapeAs', 'other', other).shape)
  }

  /** PyTorch's `expand`: {@link Tensor.broadcastTo}, where -1 keeps a size. A view. */
  expand(...sizes: Numbers): Tensor<D> {
    return expand(self(this), ...sizes)
  }

  /** Broadcast to the shape of another tensor. A view. */
  expandAs(other: Tensor): Tensor<D> {
    return self(this).broadcastTo(tensorGiven('expandAs', 'other', other).shape)
  }

  /** PyTorch's `t`: a matrix transposed, a vector as it is. A view. */
  t(): Tensor<D> {
    return t(self(this))
  }

  /** The last two axes exchanged, each element conjugated. */
  adjoint(): Tensor<D> {
    return adjoint(self(this))
  }

  /** A matrix transposed, each element conjugated. */
  get H(): Tensor<D> {
    return self(this).T.conj() as Tensor<D>
  }

  /** The last two axes exchanged, each element conjugated. */
  get mH(): Tensor<D> {
    return adjoint(self(this))
  }

  /** Products over the last axis of this and the first of `x2`, for vectors and matrices: {@link Tensor.matmul}. */
  dot<B extends DType>(this: Takes<'numeric', D>, x2: (Tensor<B> & Takes<'numeric', B>) | number): Tensor<SumOf<Promote<D, B>>> {
    return dot(this as unknown as Tensor<'float32'>, x2 as number) as Tensor as Tensor<SumOf<Promote<D, B>>>
  }

  /** The product of all elements, those of this conjugated. */
  vdot<B extends DType>(this: Takes<'numeric', D>, x2: Tensor<B> & Takes<'numeric', B>): Tensor<SumOf<Promote<D, B>>> {
    return vdot(this as unknown as Tensor<'float32'>, x2 as Tensor as Tensor<'float32'>) as Tensor as Tensor<SumOf<Promote<D, B>>>
  }

  /** Norm of all elements or along axes, as `ft.norm`: `x.norm()`, `x.norm(1)`, `x.norm({ axis: 0 })`. */
  norm(ord?: Ord | NormOrdOptions, options?: NormOrdOptions): Tensor<RealOf<FloatOf<D>>> {
    return norm(self(this), ord, options)
  }

  /** PyTorch's `gather`: {@link Tensor.takeAlongAxis}, the axis first. */
  gather(axis: number, indices: Tensor | Positions): Tensor<D> {
    return gather(self(this), axis, indices)
  }

  /** PyTorch's `index_select`: {@link Tensor.take}, the axis first. */
  indexSelect(axis: number, indices: Tensor | Positions): Tensor<D> {
    return indexSelect(self(this), axis, indices)
  }

  /** The elements where a mask is true, as `x.at(mask)`. Reads the mask. */
  maskedSelect(mask: Tensor<'bool'>): Tensor<D> {
    return maskedSelect(self(this), mask)
  }

  /** With one value where a mask is true. */
  maskedFill(mask: Tensor, value: Operand): Tensor<D> {
    return maskedFill(self(this), mask, value)
  }

  /** So many places of an axis from one on. A view. */
  narrow(axis: number, start: number, length: number): Tensor<D> {
    return narrow(self(this), axis, start, length)
  }

  /** One place of an axis, which the result does not have. A view. */
  select(axis: number, index: number): Tensor<D> {
    return select(self(this), axis, index)
  }

  /** Between which boundaries elements lie. */
  bucketize<B extends DType>(this: Takes<'real', D>, boundaries: Tensor<B> & Takes<'real', B>, options?: BucketizeOptions): Tensor<'int32'> {
    return bucketize(this as unknown as Tensor<'float32'>, boundaries as Tensor as Tensor<'float32'>, options)
  }

  /** As `ft.chunk`. Views. */
  chunk(chunks: number, options?: number | PiecesOptions): Tensor<D>[] {
    return chunk(self(this), chunks, options)
  }

  /** As `ft.unstack`. Views. */
  unbind(options?: number | PiecesOptions): Tensor<D>[] {
    return unstack(self(this), options)
  }

  /** As `ft.arraySplit`. Views. */
  tensorSplit(sections: number | readonly number[], options?: number | PiecesOptions): Tensor<D>[] {
    return arraySplit(self(this), sections, options)
  }

  /** As `ft.linalg.inv`. */
  inverse(this: Takes<'any', D>): Tensor<FloatOf<D>> {
    return inv(this as unknown as Tensor) as Tensor as Tensor<FloatOf<D>>
  }

  /** As `ft.linalg.pinv`. */
  pinverse(): Tensor<FloatOf<D>> {
    return pinv(self(this)) as Tensor as Tensor<FloatOf<D>>
  }

  /** As `ft.linalg.det`. */
  det(): Tensor<FloatOf<D>> {
    return det(self(this)) as Tensor as Tensor<FloatOf<D>>
  }

  /** As `ft.linalg.slogdet`. */
  slogdet(): ReturnType<typeof slogdet<D>> {
    return slogdet(self(this))
  }

  /** As `ft.linalg.matrixPower`. */
  matrixPower(n: number): ReturnType<typeof matrixPower<D>> {
    return matrixPower(self(this), n)
  }

  /** As `ft.linalg.cholesky`. */
  cholesky(options?: CholeskyOptions): Tensor<FloatOf<D>> {
    return cholesky(self(this), options)
  }

  /** As `ft.linalg.qr`. */
  qr(options?: QrOptions): ReturnType<typeof qr<D>> {
    return qr(self(this), options)
  }

  /** As `ft.linalg.expm`. */
  matrixExp(): ReturnType<typeof expm<D>> {
    return expm(self(this))
  }

  /** As `ft.stopGradient`. */
  detach(): Tensor<D> {
    return stopGradient(self(this))
  }

  /** On the CPU. */
  cpu(): Tensor<D> {
    return self(this).to('cpu')
  }

  /** As `ft.unique`. Reads a mask. */
  unique<const O extends UniqueReturns = {}>(options?: O): UniqueOf<D, O> {
    return unique(self(this), options)
  }

  /** PyTorch's `where`: this where a condition is true, `other` elsewhere. */
  where<C extends Operand>(condition: Tensor, other: C & Fits<'any', C, D>): Tensor<Common<Tensor<D>, C>> {
    return where(condition, self(this), other as never) as Tensor as Tensor<Common<Tensor<D>, C>>
  }

  /** As `ft.bincount`. Reads the largest element. */
  bincount<W extends DType = 'int32'>(this: Takes<'integer', D>, options?: BincountOptions<W>): Tensor<NoInfer<W>> {
    return bincount(this as unknown as Tensor<'int32'>, options)
  }

  /** Zeros of another shape, of this dtype and on this device by default. */
  newZeros<E extends DType = D>(shape: readonly number[], options?: CreationOptions<E>): Tensor<NoInfer<E>> {
    return newOf('newZeros', self(this), options, (o) => zeros(shape, o)) as Tensor<E>
  }

  /** Ones of another shape, of this dtype and on this device by default. */
  newOnes<E extends DType = D>(shape: readonly number[], options?: CreationOptions<E>): Tensor<NoInfer<E>> {
    return newOf('newOnes', self(this), options, (o) => ones(shape, o)) as Tensor<E>
  }

  /** One value in another shape, of this dtype and on this device by default. */
  newFull<E extends DType = D>(shape: readonly number[], fillValue: Scalar, options?: CreationOptions<E>): Tensor<NoInfer<E>> {
    return newOf('newFull', self(this), options, (o) => full(shape, fillValue, o)) as Tensor<E>
  }

  /** A tensor of other elements, as `ft.tensor`, of this dtype and on this device by default. */
  newTensor<E extends DType = D>(data: TensorData, options?: CreationOptions<E>): Tensor<NoInfer<E>> {
    return newOf('newTensor', self(this), options, (o) => tensor(data, o)) as Tensor<E>
  }

  /** {@link Tensor.astype} of another tensor's dtype. */
  typeAs<E extends DType>(other: Tensor<E>): Tensor<E> {
    return self(this).astype(tensorGiven('typeAs', 'other', other).dtype as E)
  }

  /** As float32. */
  float(): Tensor<'float32'> {
    return self(this).astype('float32')
  }

  /** As float64. */
  double(): Tensor<'float64'> {
    return self(this).astype('float64')
  }

  /** As float16. */
  half(): Tensor<'float16'> {
    return self(this).astype('float16')
  }

  /** As bfloat16. */
  bfloat16(): Tensor<'bfloat16'> {
    return self(this).astype('bfloat16')
  }

  /** As int8. */
  char(): Tensor<'int8'> {
    return self(this).astype('int8')
  }

  /** As uint8. */
  byte(): Tensor<'uint8'> {
    return self(this).astype('uint8')
  }

  /** As int16. */
  short(): Tensor<'int16'> {
    return self(this).astype('int16')
  }

  /** As int32. */
  int(): Tensor<'int32'> {
    return self(this).astype('int32')
  }

  /** As int64. */
  long(): Tensor<'int64'> {
    return self(this).astype('int64')
  }

  /** As bool. */
  bool(): Tensor<'bool'> {
    return self(this).astype('bool')
  }

  /** Whether the dtype is floating. */
  isFloatingPoint(): boolean {
    return isFloatingPoint(self(this))
  }

  /** Whether the dtype is complex. */
  isComplex(): boolean {
    return isComplex(self(this))
  }

  /** Number of axes: {@link Tensor.ndim}. */
  dim(): number {
    return self(this).ndim
  }

  /** Number of elements: {@link Tensor.size}. */
  numel(): number {
    return self(this).size
  }

  /** Bytes of an element. */
  get itemsize(): number {
    return DTYPE[self(this).dtype].bytes
  }

  /** Bytes of an element. */
  elementSize(): number {
    return this.itemsize
  }

  /** Bytes of all elements. */
  get nbytes(): number {
    return this.itemsize * self(this).size
  }
}
