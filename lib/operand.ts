// What may stand where an operation takes a tensor, and the dtype that comes out of it.

import type { DType, Promote } from './generated/dtypes.js'
import type { Scalar } from './record.js'
import type { Tensor } from './tensor.js'

/** A device by name: `cpu`, `vulkan:0`, `cuda:1`, ... */
export type Device = string

/** An operand: a tensor, or a JavaScript scalar, which never changes the dtype. */
export type Operand = Tensor | Scalar

/** The dtype of a tensor combined with an operand: promoted for a tensor, unchanged for a scalar. */
export type With<D extends DType, T> = T extends Tensor<infer E> ? Promote<D, E> : D

/** The dtype of scalars alone: the widest of bool, int64, float32. */
export type Weak<T> = [T] extends [boolean] ? 'bool' : [T] extends [boolean | bigint] ? 'int64' : 'float32'

/** The dtype of two operands combined. */
export type Common<A, B> = A extends Tensor<infer D> ? With<D, B> : B extends Tensor<infer E> ? E : Weak<A | B>
