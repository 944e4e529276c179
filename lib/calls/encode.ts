// Attributes and run-time numbers of a call, from values to words.

import { dtypeNamed, integer, integers, MOST_AXES, number, padding, wrong } from '../arguments/validate.js'
import { deviceNumber } from '../devices/devices.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE } from '../generated/dtypes.js'
import type { AttrRow, OpRow, ParamRow } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import { TracedNumber } from '../program/placeholder.js'
import { Attr, internAttr } from '../program/types.js'
import type { Tensor } from '../tensor/tensor.js'

function list(words: number[], values: readonly number[]): void {
  words.push(values.length)
  // Not spread: 10^6 arguments are more than a call can have.
  for (let i = 0; i < values.length; i++) words.push(values[i] as number)
}

/** Counting from the end of the first operand and the start of the second, as `tensordot` does with a number. */
function axisPairs(op: string, name: string, value: unknown): [readonly number[], readonly number[]] {
  if (typeof value === 'number') {
    const n = integer(op, name, value)
    if (n < 0 || n > 64) throw wrong(op, name, 'a number of axes', value)
    const axes = Array.from({ length: n }, (_, i) => i)
    return [axes.map((i) => i - n), axes]
  }
  if (!Array.isArray(value) || value.length !== 2) throw wrong(op, name, 'a number or two lists of axes', value)
  return [integers(op, `${name}[0]`, value[0]), integers(op, `${name}[1]`, value[1])]
}

/** Places before and after the data: a number for every side, or a pair for all axes or for each. */
function widths(op: string, name: string, value: unknown): readonly (readonly number[])[] {
  const pairs = Array.isArray(value) && value.length > 0 && value.length <= MOST_AXES && value.every((item) => Array.isArray(item))
  if (typeof value !== 'number' && !pairs) throw wrong(op, name, 'a number or pairs [[before, after], ...]', value)
  return padding(op, name, value)
}

/** Characters of a text: an equation of 32 operands with 32 labels each has half of them. */
const MOST_CHARACTERS = 2048

/** Text as the codes of its characters. */
function text(op: string, name: string, value: unknown): readonly number[] {
  if (typeof value !== 'string' || value.length > MOST_CHARACTERS) throw wrong(op, name, `text of at most ${MOST_CHARACTERS} characters`, value)
  return Array.from({ length: value.length }, (_, i) => value.charCodeAt(i))
}

/** Appends an attribute's words; the layout is that of `crates/ops/src/attrs.rs`. */
function encode(words: number[], op: string, row: AttrRow, value: unknown): void {
  const { name } = row
  if (value === undefined && row.default !== null && row.kind !== 'axisPairs' && row.kind !== 'padding') {
    words.push(row.default)
    return
  }
  switch (row.kind) {
    case 'int':
    case 'optAxis':
      words.push(integer(op, name, value))
      return
    case 'number':
      words.push(number(op, name, value))
      return
    case 'axes':
      if (typeof value !== 'number' && !Array.isArray(value)) throw wrong(op, name, 'an integer or an array of integers', value)
      list(words, typeof value === 'number' ? [integer(op, name, value)] : integers(op, name, value))
      return
    case 'axisPairs':
      for (const axes of axisPairs(op, name, value === undefined ? row.default : value)) list(words, axes)
      return
    case 'padding': {
      const sides = padding(op, name, value === undefined ? row.default : value)
      if (sides.length === 0) words.push(-1)
      for (const places of sides) list(words, places)
      return
    }
    case 'widths':
      for (const places of widths(op, name, value)) list(words, places)
      return
    case 'text':
      list(words, text(op, name, value))
      return
    case 'shape':
      list(words, integers(op, name, value))
      return
    case 'bool':
      if (typeof value !== 'boolean') throw wrong(op, name, 'a boolean', value)
      words.push(value ? 1 : 0)
      return
    case 'dtype':
      words.push(DTYPE[dtypeNamed(op, name, value)].code)
      return
    case 'device':
      words.push(deviceNumber(op, value))
      return
    case 'choice': {
      const choice = row.choices?.indexOf(value as string | number) ?? -1
      if (choice < 0) throw wrong(op, name, `one of ${row.choices?.map((word) => shown(word)).join(', ')}`, value)
      words.push(choice)
      return
    }
  }
}

export function attrOf(op: number, row: OpRow, values: readonly unknown[], operands: readonly unknown[]): Attr | null {
  if (row.attrs.length === 0) return null
  const words: number[] = []
  // No callback: the first ten lines of an error's stack reach the caller.
  for (let i = 0; i < row.attrs.length; i++) {
    const attr = row.attrs[i] as AttrRow
    // A tensor says where the result goes, unless the option does; whether both agree is checked with the types.
    const beside = attr.kind === 'device' && values[i] === undefined ? operands.find((x) => isTensor(x)) : undefined
    if (beside === undefined) encode(words, row.name, attr, values[i])
    else words.push((beside as Tensor).type.device)
  }
  return internAttr(op, words)
}

const READ: Readonly<Record<ParamRow['kind'], (op: string, name: string, value: unknown) => number>> = {
  number,
  element: number,
  integer,
  positive: (op, name, value) => {
    if (!(number(op, name, value) > 0)) throw wrong(op, name, 'a number above 0', value)
    return value as number
  },
  notNegative: (op, name, value) => {
    if (!(number(op, name, value) >= 0)) throw wrong(op, name, 'a number of at least 0', value)
    return value as number
  }
}

export function paramsOf(row: OpRow, values: readonly unknown[]): readonly number[] | null {
  if (row.params.length === 0) return null
  return row.params.map(({ name, default: fallback, kind }, i) => {
    const value = values[i]
    if (value === undefined && fallback !== null) return fallback
    const read = READ[kind]
    if (!(value instanceof TracedNumber)) return read(row.name, name, value)
    value.check((n) => read(row.name, name, n))
    return value as unknown as number
  })
}
