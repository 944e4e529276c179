// Which dtypes layers have, as types: of fresh parameters, and of what comes out of a layer by the dtypes of its parameters and its operand.

import type { DType, FloatOf, FloatOrComplexDType, Promote } from '../generated/dtypes.js'
import type { AsDType, IsOne } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import type { Module } from './module.js'

/**
 * What is known of a layer's dtypes. `promoted`: parameters of one floating dtype, and a result whose dtype is theirs and the operand's
 * promoted. `picked`: the result has the dtype of the parameters. `kept`: it has that of the operand. A list of layers: the result of one after the other. Anything else: nothing.
 */
export type DTypeRule = 'promoted' | 'picked' | 'kept' | readonly unknown[] | unknown

/** A tree of parameters in which each tensor has one dtype. */
export type OfDType<P, E extends DType> = P extends Tensor ? Tensor<E> : P extends null | undefined ? P : { [K in keyof P]: OfDType<P[K], E> }

/** Fresh parameters of a layer: what its rule leaves open has the dtypes that the layer says. */
export type FreshOf<R, P, E extends DType> = R extends 'promoted' | 'picked' | 'kept' ? OfDType<P, E> : R extends readonly unknown[] ? ParamsOf<R, E> : P

/** The parameters of a layer, or of a tree of layers, in one dtype; float32 as `init` makes them by default. */
export type ParamsOf<L, E extends DType = 'float32'> = L extends Module<infer P, infer _, infer R>
  ? FreshOf<R, P, E>
  : L extends (...args: never[]) => unknown
    ? null
    : { -readonly [K in keyof L]: ParamsOf<L[K], E> }

/** The dtypes of the tensors in a tree; never where there are none. */
type DTypesIn<T> = T extends Tensor<infer D> ? D : T extends null | undefined ? never : T extends readonly (infer I)[] ? DTypesIn<I> : { [K in keyof T]-?: DTypesIn<T[K]> }[keyof T]

/** Parameters of several dtypes, as where they were converted apart, promote in an order that types do not follow. */
type Promoted<E extends DType, D extends DType> = [E] extends [never] ? FloatOf<D> : IsOne<E> extends true ? AsDType<FloatOf<AsDType<Promote<D, E>>>> : FloatOrComplexDType

/** The dtype of what a layer makes of a tensor of dtype `D` with parameters `P`. */
export type AppliedDType<R, P, D extends DType> = R extends 'kept' ? D : R extends 'promoted' ? Promoted<DTypesIn<P>, D> : R extends 'picked' ? (DTypesIn<P> extends infer E extends DType ? E : DType) : R extends readonly unknown[] ? AppliedAll<R, P, D> : DType

/** One layer after the other; beyond what the compiler follows, any dtype. */
type AppliedAll<L, P, D extends DType> = L extends readonly []
  ? D
  : L extends readonly [infer F, ...infer Rest]
    ? P extends readonly [infer Q, ...infer Others]
      ? AppliedAll<Rest, Others, AppliedOne<F, Q, D>>
      : DType
    : DType

/** A layer, or a function: one that takes any floating dtype and gives the same keeps it. */
type AppliedOne<F, Q, D extends DType> = F extends Module<infer _, infer _, infer R>
  ? AppliedDType<R, Q, D>
  : F extends (x: Tensor<D>) => Tensor<D>
    ? D
    : F extends (x: never) => Tensor<infer E>
      ? E
      : DType
