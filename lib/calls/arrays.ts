// JavaScript arrays where an operation takes a tensor: which dtype and device they get.

import { deviceNumber } from '../devices/devices.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { isTensor } from '../program/node.js'
import { operandName, rowOf } from '../program/op-table.js'
import { formOf } from '../program/record.js'
import { infer, signature, type Attr } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'
import { fromList } from '../values/create.js'
import { advanced } from '../values/index-arrays.js'
import type { Flat, Nested } from '../values/nested.js'
import { upload } from '../values/upload.js'

/** Nested arrays of numbers: what JavaScript has for a tensor of float32. */
export type Listed = readonly Nested<number>[]

/** Nested arrays of whole numbers, and typed arrays of integers: positions along an axis. */
export type Positions = readonly Nested<number>[] | readonly bigint[] | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array

/** Operands that are positions: their numbers become integers. */
const POSITIONS: readonly string[] = ['indices', 'segments', 'sorter']

/** Whether a value may stand for a tensor: an array or a typed array. */
export function isListed(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) || ArrayBuffer.isView(value)
}

function depth(value: unknown): number {
  let levels = 0
  for (let item = value; Array.isArray(item) && levels < 64; item = item[0] as unknown) levels++
  return levels
}

/** Whether an operand is of positions: by its name, or as the classes of a loss, of which each row of the first operand has one. */
function arePositions(name: string, value: unknown, first: unknown): boolean {
  if (POSITIONS.includes(name)) return true
  const rank = ArrayBuffer.isView(value) ? 1 : depth(value)
  return name === 'target' && isTensor(first) && rank === first.ndim - 1
}

/** Whether the first leaf is a number. */
function isOfNumbers(value: unknown): boolean {
  let item: unknown = value
  for (let levels = 0; Array.isArray(item) && levels < 64; levels++) item = item[0] as unknown
  return typeof item === 'number'
}

/**
 * An array as a tensor on a tensor's device. Its numbers take that tensor's dtype where it is floating; otherwise they become what
 * `ft.tensor` makes of them.
 */
export function tensorOf(op: string, value: unknown, beside: Tensor | undefined): Tensor {
  const floating = beside !== undefined && isOfNumbers(value) && (beside.type.row.kind === 'float' || beside.type.row.kind === 'complex')
  return fromList(op, value, { dtype: floating ? beside.dtype : undefined, device: beside?.device })
}

/** Whether a tensor has the digits of float64. */
const isWide = (x: Tensor): boolean => DTYPE[x.dtype].float?.dtype === 'float64'

/** Of values the tensor that an array beside them takes its digits from: the first of float64, else the first. */
export function widest(values: readonly unknown[]): Tensor | undefined {
  const tensors = values.filter((x) => isTensor(x))
  return tensors.find(isWide) ?? tensors[0]
}

/** An array beside operands, in the digits of a float64 tensor among them: the nearest float32 of 0.1 is another number. Otherwise its numbers are float32. */
export function listBeside(op: string, value: unknown, beside: readonly unknown[]): Tensor {
  const tensors = beside.filter((x) => isTensor(x))
  return tensors.some(isWide) ? wideList(op, value, tensors[0]) : fromList(op, value, { dtype: undefined, device: tensors[0]?.device })
}

/** An array whose numbers become float64, on a tensor's device. */
export function wideList(op: string, value: unknown, beside: Tensor | undefined): Tensor {
  return fromList(op, value, { dtype: isOfNumbers(value) ? 'float64' : undefined, device: beside?.device })
}

/** An array of positions as a tensor of integers on a tensor's device. */
export function positionsOf(op: string, value: unknown, beside: Tensor | undefined): Tensor {
  const { shape, dtype, data } = advanced(op, value) as Flat
  return upload(op, DTYPE[dtype], shape, beside?.type.device ?? deviceNumber(op, undefined), new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
}

/** The dtype that a number would take in the place of each array that is left: what the operation computes in. */
function weakDType(op: number, operands: readonly unknown[], attr: Attr | null): DType {
  let forms = 0
  operands.forEach((x, i) => {
    // An array stands where a number may.
    forms |= (isListed(x) ? 1 : formOf(op, x, i)) << (3 * i)
  })
  return infer(signature(op, forms, attr), operands.filter((x) => isTensor(x))).weak.name
}

/**
 * The operands of a call, with a tensor in the place of each array. Numbers take the dtype that a number alone would in their place: an array
 * of them never changes the dtype of a tensor beside it.
 *
 * @throws {TensorError} for arrays that are ragged or hold elements that are not numbers, and for numbers that the dtype cannot hold.
 */
export function withTensors(op: number, operands: readonly unknown[], attr: Attr | null): readonly unknown[] {
  const beside = operands.find((x) => isTensor(x))
  const { name, weak, variadic } = rowOf(op)
  const isWeak = (value: unknown, i: number): boolean => beside !== undefined && !variadic && weak.includes(i) && isListed(value) && isOfNumbers(value)
  const strong = operands.map((value, i) => {
    if (!isListed(value) || isWeak(value, i)) return value
    const make = arePositions(operandName(op, i), value, operands[0]) ? positionsOf : tensorOf
    return make(name, value, beside)
  })
  if (!strong.some(isListed)) return strong
  const dtype = weakDType(op, strong, attr)
  return strong.map((value) => (isListed(value) ? fromList(name, value, { dtype, device: beside?.device }) : value))
}
