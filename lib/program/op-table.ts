// Rows of the op table by their numbers.

import { OP_TABLE, type OpRow } from '../generated/table.js'

/** The row of an operation's number. */
export function rowOf(op: number): OpRow {
  return OP_TABLE[op - 1] as OpRow
}

/** How a row with indices is called, for those who have PyTorch's order in mind: the axis first. */
export function axisLast({ name, operands }: OpRow): string {
  const other = name === 'scatter' ? '; what PyTorch calls scatter is putAlongAxis(x, indices, values, axis)' : ''
  return `; the axis stands last: ${name}(${operands.join(', ')}, axis)${other}`
}

/** How a call is written whose options were passed in the place of an operand. */
export function optionsLast(name: string, operands: readonly string[], options: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(options).filter((key) => /^\w{1,30}$/.test(key)).slice(0, 4)
  return `; options stand last: ${name}(${[...operands, `{ ${names.join(', ')} }`].join(', ')}), with undefined for what is left out`
}

/** An operand's name, as its row has it. */
export function operandName(op: number, position: number): string {
  const { operands, variadic } = rowOf(op)
  const last = operands.length - 1
  return variadic && position >= last ? `${operands[last]}[${position - last}]` : (operands[position] as string)
}
