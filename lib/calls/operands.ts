// Operands of a call, checked: tensors, and arrays and numbers that stand for some.

import { wrong } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { checkAlive, isTensor } from '../program/node.js'
import { rowOf } from '../program/op-table.js'
import { TracedNumber } from '../program/placeholder.js'
import type { Scalar } from '../program/record.js'
import type { Tensor } from '../tensor/tensor.js'
import { isListed, listBeside, tensorOf, widest } from './arrays.js'

/** As {@link tensorGiven}; an array becomes one, with the digits of the widest operand `beside` it. */
export function arrayGiven(op: string, name: string, value: unknown, ...beside: readonly unknown[]): Tensor {
  return isListed(value) ? listBeside(op, value, beside) : tensorGiven(op, name, value)
}

/** A tensor that can be used. */
export function tensorGiven(op: string, name: string, value: unknown): Tensor {
  if (!isTensor(value)) {
    const { message } = wrong(op, name, 'a tensor', value)
    throw new ArgumentError(isListed(value) ? `${message}; wrap it with ft.tensor(...)` : message)
  }
  checkAlive(op, value)
  return value
}

/** A tensor that can be used, or what may stand for one; an array, as a number, takes the dtype of a float `beside` it. */
export function operandGiven(op: string, name: string, value: unknown, ...beside: readonly unknown[]): Tensor | Scalar {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return value
  if (value instanceof TracedNumber) return value as unknown as number
  if (isListed(value)) return tensorOf(op, value, widest(beside))
  if (!isTensor(value)) throw wrong(op, name, 'a tensor or a number', value)
  checkAlive(op, value)
  return value
}

/** The tensors of a variadic operation, copied: the caller's list may change before they are computed. */
export function tensorList(op: number, list: unknown): readonly Tensor[] {
  const { name, operands } = rowOf(op)
  if (!Array.isArray(list)) throw wrong(name, operands[0] as string, 'an array of tensors', list)
  const items: unknown[] = []
  // Read once, and no further than to what is wrong: a list may change meanwhile, and be four thousand million holes.
  for (let i = 0; i < list.length; i++) {
    const x: unknown = list[i]
    if (!isTensor(x) && !isListed(x)) throw wrong(name, `${operands[0]}[${i}]`, 'a tensor', x)
    items.push(x)
  }
  const beside = items.some(isListed) ? widest(items) : undefined
  return items.map((x) => (isTensor(x) ? x : tensorOf(name, x, beside)))
}
