// Matrices in characters: shades without colours, and fewer elements where there is no room for all.

import type { Matrix } from './numbers.js'

/** From nothing to all (Unicode, block elements). */
export const SHADES = [' ', '░', '▒', '▓', '█'] as const
/** Where there is no number. */
export const UNKNOWN = '×'

/** The shade of a part from 0 to 1. */
export const shade = (part: number): string => SHADES[Math.min(SHADES.length - 1, Math.max(0, Math.floor(part * SHADES.length)))] as string

/** Means of blocks of `down` x `across` elements; one with a NaN or an infinity has none. */
export function reduced({ rows, columns, values }: Matrix, down: number, across: number): Matrix {
  if (down <= 1 && across <= 1) return { rows, columns, values }
  const [fewer, narrower] = [Math.ceil(rows / down), Math.ceil(columns / across)]
  const means = new Float64Array(fewer * narrower)
  for (let y = 0; y < fewer; y++) {
    for (let x = 0; x < narrower; x++) {
      let [sum, count] = [0, 0]
      for (let row = y * down; row < Math.min(rows, (y + 1) * down); row++) {
        for (let column = x * across; column < Math.min(columns, (x + 1) * across); column++) {
          sum += values[row * columns + column] as number
          count++
        }
      }
      means[y * narrower + x] = sum / count
    }
  }
  return { rows: fewer, columns: narrower, values: means }
}
