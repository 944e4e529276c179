// The digits: reading the file, and the usual split into training and test rows.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'

export const CLASSES = 10
/** Images are SIDE x SIDE pixels. */
export const SIDE = 8
export const PIXELS = SIDE * SIDE
const TRAINING_ROWS = 1347
const DARKEST = 16

export interface Digits {
  /** [rows, 64], from 0 (white) to 1 (black). */
  readonly images: Tensor
  /** [rows], from 0 to 9. */
  readonly labels: Tensor<'int32'>
}

// This file runs as dist/examples/digits/data.js.
const FILE = fileURLToPath(new URL('../../../examples/digits/data/digits.csv.gz', import.meta.url))

/** Training and test rows; `dtype` is that of the images. */
export async function loadDigits(dtype: 'float32' | 'float64' = 'float32'): Promise<{ training: Digits; test: Digits }> {
  const text = gunzipSync(await readFile(FILE)).toString('utf8')
  const rows = text.trim().split('\n').map((line) => line.split(',').map(Number))
  const table = ft.tensor(rows, { dtype: 'int32' })
  const images = table.at(':', ft.slice(0, PIXELS)).astype(dtype).div(DARKEST)
  const labels = table.at(':', PIXELS)
  const part = (range: ft.Slice): Digits => ({ images: images.at(range), labels: labels.at(range) })
  return { training: part(ft.slice(0, TRAINING_ROWS)), test: part(ft.slice(TRAINING_ROWS)) }
}
