// What may stand where an operation takes a tensor, and the dtype that comes out of it.

import type { Listed } from '../calls/arrays.js'
import type { DType, Promote, Takes, TakesTable } from '../generated/dtypes.js'
import type { Scalar } from '../program/record.js'
import type { Tensor } from './tensor.js'

/** A device by name: `cpu`, `vulkan:0`, `cuda:1`, ... */
export type Device = string

/** An operand: a tensor, or a JavaScript scalar or nested arrays of numbers, which change no dtype but bool. */
export type Operand = Tensor | Scalar | Listed

/** The dtype of an operand, or that it is a scalar. */
export type DTypeOf<T> = T extends Tensor<infer D> ? D : 'scalar'

/**
 * What an operand must be beside itself, where an operation takes a class of dtypes only. `D` is the dtype of what stands beside it, or
 * that it is a scalar: some operand is a tensor. A number or a bigint wants `N` there: what is bool stays none beside it.
 */
export type Fits<C extends keyof TakesTable, T, D extends DType | 'scalar' = DType, N extends keyof TakesTable = 'numeric'> = T extends Tensor<infer E>
  ? Takes<C, E>
  : T extends boolean | undefined
    ? Takes<'any', D>
    : Takes<N, D>

/** As {@link Takes}, of each tensor in a list. */
export type TakesEach<C extends keyof TakesTable, T extends readonly Tensor[]> = { readonly [K in keyof T]: Takes<C, DTypeOf<T[K]>> }

/** The dtype of a tensor combined with an operand: promoted for a tensor, unchanged for a scalar. */
export type With<D extends DType, T> = T extends Tensor<infer E> ? Promote<D, E> : D

/** The dtype of scalars alone: the widest of bool, int64, float32. */
export type Weak<T> = [T] extends [boolean] ? 'bool' : [T] extends [boolean | bigint] ? 'int64' : 'float32'

/** The same dtype; being a conditional type, it keeps the compiler from unfolding every promotion of many type parameters. */
export type AsDType<D extends DType> = [D] extends [infer E extends DType] ? E : never

/** The dtype of two operands combined. */
export type Common<A, B> = A extends Tensor<infer D> ? With<D, B> : B extends Tensor<infer E> ? E : Weak<A | B>

/** The dtype of a list of tensors combined, one after the other, with `D`: bool promotes nothing. */
export type PromoteAll<T extends readonly Tensor[], D extends DType = 'bool'> = T extends readonly [Tensor<infer A>, ...infer Rest extends readonly Tensor[]]
  ? PromoteAll<Rest, Promote<D, A>>
  : T extends readonly []
    ? D
    : T extends readonly Tensor<infer A>[]
      ? Promote<Promote<D, A>, A>
      : never

/** Whether a dtype is one, and not one of several. */
export type IsOne<D, Each = D> = D extends unknown ? ([Each] extends [D] ? true : false) : never
