// How many inputs and outputs a weight joins, which its first values go by.

import { ShapeError } from '../errors.js'

/** How many inputs an output is made of, and how many outputs an input is in. */
export function fans(op: string, shape: readonly number[]): { fanIn: number; fanOut: number } {
  const [outputs, inputs, ...window] = shape
  if (outputs === undefined || inputs === undefined) {
    throw new ShapeError(`${op}: weights have shape [outputs, inputs, window...], got [${shape.join(', ')}]`)
  }
  const places = window.reduce((n, size) => n * size, 1)
  // A weight without elements has no variance to keep.
  return { fanIn: Math.max(inputs * places, 1), fanOut: Math.max(outputs * places, 1) }
}
