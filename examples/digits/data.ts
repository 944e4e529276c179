// The digits: reading the file, and a split into images to learn from and images to be tested on.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'

export const CLASSES = 10
/** Images are SIDE x SIDE pixels. */
export const SIDE = 8
export const PIXELS = SIDE * SIDE
const DARKEST = 16
const TEST_SHARE = 0.2

/** A tree of tensors whose first axes are the examples: what `ft.data` splits, shuffles and cuts into batches. */
export interface Digits {
  /** [rows, 64], from 0 (white) to 1 (black). */
  readonly images: Tensor
  /** [rows], from 0 to 9. */
  readonly labels: Tensor<'int32'>
}

// This file runs as dist/examples/digits/data.js.
const FILE = fileURLToPath(new URL('../../../examples/digits/data/digits.csv.gz', import.meta.url))

/** The digits in random order, a fifth of each class for the test; the same key gives the same split. */
export async function loadDigits(key: ft.random.Key): Promise<{ training: Digits; test: Digits }> {
  const text = gunzipSync(await readFile(FILE)).toString('utf8')
  const rows = text.trim().split('\n').map((line) => line.split(',').map(Number))
  const table = ft.tensor(rows, { dtype: 'int32' })
  const labels = table.at(':', PIXELS)
  const images = table.at(':', ft.slice(0, PIXELS)).astype('float32').div(DARKEST)
  const [training, test] = ft.data.split<Digits>({ images, labels }, { share: TEST_SHARE, by: labels, key })
  return { training, test }
}
