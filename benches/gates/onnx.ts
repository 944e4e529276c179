// Models for onnxruntime, written as ONNX's protocol buffers (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto): the few messages that
// a graph of nodes takes. The numbers are those of the fields there.

import type { DType, Tensor } from 'ferrotensor'

type Attribute = number | string | readonly number[]
/**
 * An operator, the names of its inputs and outputs with spaces between, and attributes. An input `[0,1]` is a constant vector of int64, a name
 * that is no output is an operand of the row; the outputs of the last node are the model's.
 */
export type Node = readonly [operator: string, inputs: string, outputs: string, attributes?: Readonly<Record<string, Attribute>>]

/** Revisions of the format and of the operators: the first with Gelu. */
const [IR_VERSION, OPERATORS] = [9, 20]
/** Elements as TensorProto.DataType numbers them. */
const DATA_TYPES: Partial<Record<DType, number>> = { float32: 1, int8: 3, int32: 6, int64: 7, bool: 9, float64: 11, uint32: 12 }
/** AttributeProto.AttributeType. */
const KINDS = { int: 2, string: 3, ints: 7 } as const

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}

const integer = (field: number, value: number): number[] => [...varint(field << 3), ...varint(value)]
const bytes = (field: number, value: readonly number[]): number[] => [...varint((field << 3) | 2), ...varint(value.length), ...value]
const text = (field: number, value: string): number[] => bytes(field, [...Buffer.from(value)])
const all = (field: number, values: readonly (readonly number[])[]): number[] => values.flatMap((value) => bytes(field, value))

function attribute(name: string, value: Attribute): number[] {
  if (typeof value === 'string') return [...text(1, name), ...text(4, value), ...integer(20, KINDS.string)]
  if (typeof value === 'number') return [...text(1, name), ...integer(3, value), ...integer(20, KINDS.int)]
  return [...text(1, name), ...value.flatMap((item) => integer(8, item)), ...integer(20, KINDS.ints)]
}

const names = (list: string): string[] => list.split(' ').filter((name) => name !== '')

function node([operator, inputs, outputs, attributes = {}]: Node): number[] {
  const written = Object.entries(attributes).map(([name, value]) => attribute(name, value))
  return [...names(inputs).flatMap((name) => text(1, name)), ...names(outputs).flatMap((name) => text(2, name)), ...text(4, operator), ...all(5, written)]
}

/** A value of a graph; without a type it is inferred. */
function value(name: string, x?: Tensor): number[] {
  if (x === undefined) return text(1, name)
  const shape = all(1, x.shape.map((size) => integer(1, size)))
  return [...text(1, name), ...bytes(2, bytes(1, [...integer(1, DATA_TYPES[x.dtype] as number), ...bytes(2, shape)]))]
}

/** `[0,1]` as the constant of that name. */
function constant(name: string): number[] {
  const values = JSON.parse(name) as number[]
  return [...integer(1, values.length), ...integer(2, DATA_TYPES.int64 as number), ...values.flatMap((item) => integer(7, item)), ...text(8, name)]
}

/** The model of some nodes over operands, in base64. */
export function onnxModel(nodes: readonly Node[], operands: Readonly<Record<string, Tensor>>): string {
  const read = [...new Set(nodes.flatMap(([, inputs]) => names(inputs)))]
  const graph = [
    ...all(1, nodes.map(node)),
    ...text(2, 'row'),
    ...all(5, read.filter((name) => name.startsWith('[')).map(constant)),
    ...all(11, read.filter((name) => name in operands).map((name) => value(name, operands[name]))),
    ...all(12, names((nodes.at(-1) as Node)[2]).map((name) => value(name)))
  ]
  return Buffer.from([...integer(1, IR_VERSION), ...bytes(7, graph), ...bytes(8, integer(2, OPERATORS))]).toString('base64')
}
