// Text of tensors with options: NumPy's print options, for one call or for all that is printed from then on.

import { checkOptions } from '../arguments/options.js'
import { flag, integer, wrong } from '../arguments/validate.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { currentLayout, elementsText, LAYOUT, setLayout, type Layout, type TextOptions } from './print.js'
import type { Tensor } from './tensor.js'

/** A whole number in a range, or Infinity where there is no end to it. */
function whole(op: string, name: 'precision' | 'threshold' | 'edgeitems' | 'linewidth', value: unknown, low: number, high: number): number {
  if (value === undefined) return currentLayout()[name]
  if (value === Infinity && high === Infinity) return value
  const n = integer(op, name, value)
  if (n < low || n > high) throw wrong(op, name, high === Infinity ? `at least ${low}` : `from ${low} to ${high}`, value)
  return n
}

/**
 * A layout from options: what they leave out is as it is printed now.
 *
 * @throws {ArgumentError} for options that are none, or out of range.
 */
export function layoutGiven(op: string, options: unknown): Layout {
  const o = checkOptions(op, options, Object.keys(LAYOUT))
  const now = currentLayout()
  const { separator = now.separator } = o
  if (typeof separator !== 'string') throw wrong(op, 'separator', 'text', separator)
  return {
    precision: whole(op, 'precision', o['precision'], 0, 100),
    threshold: whole(op, 'threshold', o['threshold'], 0, Infinity),
    edgeitems: whole(op, 'edgeitems', o['edgeitems'], 1, Infinity),
    linewidth: whole(op, 'linewidth', o['linewidth'], 1, Infinity),
    separator,
    suppressSmall: flag(op, 'suppressSmall', o['suppressSmall'], now.suppressSmall)
  }
}

/**
 * The elements of a tensor as text, in the layout that options say. What they leave out is as `String(x)` prints it, see {@link setPrintOptions}.
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

/**
 * How tensors are printed from now on, by `console.log`, `String(x)` and in error messages, in this thread. Options that are left out stay as
 * they are; without an argument all are back at their defaults.
 *
 * NumPy `set_printoptions`, PyTorch `set_printoptions`.
 *
 * @throws {ArgumentError} for options that are none, or out of range; nothing is changed then.
 * @example
 * ```ts
 * ft.setPrintOptions({ precision: 3 })
 * console.log(String(ft.tensor([1 / 3, 2])))
 * // [0.333, 2]
 * ft.setPrintOptions()
 * ```
 */
export function setPrintOptions(options?: TextOptions): void {
  setLayout(options === undefined ? LAYOUT : layoutGiven('setPrintOptions', options))
}

/**
 * How tensors are printed now: a copy, which {@link setPrintOptions} takes back.
 *
 * NumPy `get_printoptions`.
 */
export function getPrintOptions(): Required<TextOptions> {
  return { ...currentLayout() }
}
