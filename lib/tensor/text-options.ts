// Text of tensors with options: NumPy's print options for one call.

import { checkOptions } from '../arguments/options.js'
import { flag, integer, wrong } from '../arguments/validate.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { elementsText, LAYOUT, type Layout, type TextOptions } from './print.js'
import type { Tensor } from './tensor.js'

/** A whole number in a range, or Infinity where there is no end to it. */
function whole(op: string, name: 'precision' | 'threshold' | 'edgeitems' | 'linewidth', value: unknown, low: number, high: number): number {
  if (value === undefined) return LAYOUT[name]
  if (value === Infinity && high === Infinity) return value
  const n = integer(op, name, value)
  if (n < low || n > high) throw wrong(op, name, high === Infinity ? `at least ${low}` : `from ${low} to ${high}`, value)
  return n
}

/**
 * A layout from options.
 *
 * @throws {ArgumentError} for options that are none, or out of range.
 */
export function layoutGiven(op: string, options: unknown): Layout {
  const o = checkOptions(op, options, Object.keys(LAYOUT))
  const { separator = LAYOUT.separator } = o
  if (typeof separator !== 'string') throw wrong(op, 'separator', 'text', separator)
  return {
    precision: whole(op, 'precision', o['precision'], 0, 100),
    threshold: whole(op, 'threshold', o['threshold'], 0, Infinity),
    edgeitems: whole(op, 'edgeitems', o['edgeitems'], 1, Infinity),
    linewidth: whole(op, 'linewidth', o['linewidth'], 1, Infinity),
    separator,
    suppressSmall: flag(op, 'suppressSmall', o['suppressSmall'], LAYOUT.suppressSmall)
  }
}

/**
 * The elements of a tensor as text, in the layout that options say. `String(x)` is that of the defaults.
 *
 * NumPy `array2string`, with brackets and commas as in JavaScript.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for options that are none, or out of range, and the error that the values turned out to be.
 * @example
 * ```ts
 * ft.array2string(ft.tensor([1 / 3, 200]), { precision: 3, separator: ' ' }) // '[0.333 200]'
 * ```
 */
export function array2string(x: Tensor | Listed, options?: TextOptions): string {
  const op = 'array2string'
  return elementsText(arrayGiven(op, 'x', x), layoutGiven(op, options))
}
