// The backend in TypeScript alone, which needs no native binary: everything is computed in float64 and rounded once. Work is cut into
// steps of at most a millisecond, between which the asynchronous forms let the event loop turn.

import { setImmediate as turn } from 'node:timers/promises'
import { VERSION } from '../generated/package.js'
import type { FloatArray } from './arrays.js'
import type { Engine } from './engine.js'
import type { Job, Operation } from './job.js'

/** A job in steps, to be taken in order. */
interface Work {
  readonly steps: number
  step(at: number): void
}

/** Elements of a step of an elementwise operation or a sum: 0.3 ms. */
const CHUNK = 1 << 18
/** Elements that a sum adds one after the other; partial sums of them are added in pairs, so that rounding errors grow with the logarithm of the length. */
const BLOCK = 1024

/** Rows, columns and depth of a tile of a product: with 64 x 128 x 64 those of `b` and of the sums are 64 KB each, and a step takes 0.25 ms. */
const [ROWS, COLUMNS, DEPTH] = [64, 128, 64]
/** Up to so many columns, and in products up to so many multiply-adds, copies into tiles take longer than they save: 5 ms for 1024 x 1024 by 1024 x 1. */
const [NARROW, TINY] = [4, 512]
/** Multiply-adds of a step without copies: 0.3 ms. */
const STEP = 1 << 18

/** Sums over [from, to) of x[i], or of x[i] y[i], in pairs. */
function pairwise(leaf: (from: number, to: number) => number, from: number, to: number): number {
  if (to - from <= BLOCK) return leaf(from, to)
  const middle = from + Math.floor((to - from) / 2)
  return pairwise(leaf, from, middle) + pairwise(leaf, middle, to)
}

/** Four sums side by side: an addition has to wait for the one before it, four do not wait for each other. */
function sumOf(x: FloatArray, from: number, to: number): number {
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  let i = from
  for (; i + 4 <= to; i += 4) {
    s0 += x[i]!
    s1 += x[i + 1]!
    s2 += x[i + 2]!
    s3 += x[i + 3]!
  }
  for (; i < to; i++) s0 += x[i]!
  return s0 + s1 + (s2 + s3)
}

function dotOf(x: FloatArray, y: FloatArray, from: number, to: number): number {
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  let i = from
  for (; i + 4 <= to; i += 4) {
    s0 += x[i]! * y[i]!
    s1 += x[i + 1]! * y[i + 1]!
    s2 += x[i + 2]! * y[i + 2]!
    s3 += x[i + 3]! * y[i + 3]!
  }
  for (; i < to; i++) s0 += x[i]! * y[i]!
  return s0 + s1 + (s2 + s3)
}

/** Steps over chunks of so many elements. */
function chunks(length: number, body: (from: number, to: number, at: number) => void): Work {
  return { steps: Math.ceil(length / CHUNK), step: (at) => body(at * CHUNK, Math.min((at + 1) * CHUNK, length), at) }
}

function reduction({ out, sizes: [length = 0] }: Job, leaf: (from: number, to: number) => number): Work {
  const partial = new Float64Array(Math.ceil(length / CHUNK))
  return chunks(length, (from, to, at) => {
    partial[at] = pairwise(leaf, from, to)
    if (to === length) out[0] = pairwise((first, last) => sumOf(partial, first, last), 0, partial.length)
  })
}

/** Copies `rows` x `columns` of a matrix with `stride` columns, from `start` on, as float64 to a tile with rows of `width`; the rest of the tile is 0. */
function pack(from: FloatArray, start: number, stride: number, rows: number, columns: number, tile: Float64Array, width: number): void {
  if (columns < width || rows * width < tile.length) tile.fill(0)
  for (let i = 0; i < rows; i++) {
    const [row, to] = [start + i * stride, i * width]
    for (let j = 0; j < columns; j++) tile[to + j] = from[row + j]!
  }
}

/** sums += a b, in the order i, k, j: two rows of `a` and four of `b` at a time read each element of `b` once for two multiplications. */
function addProduct(a: Float64Array, b: Float64Array, sums: Float64Array, rows: number, columns: number, depth: number): void {
  for (let i = 0; i < rows; i += 2) {
    const [row, next] = [i * columns, (i + 1) * columns]
    for (let p = 0; p < depth; p += 4) {
      const [x, y] = [i * depth + p, (i + 1) * depth + p]
      const [x0, x1, x2, x3] = [a[x]!, a[x + 1]!, a[x + 2]!, a[x + 3]!]
      const [y0, y1, y2, y3] = [a[y]!, a[y + 1]!, a[y + 2]!, a[y + 3]!]
      const first = p * columns
      const [second, third, fourth] = [first + columns, first + 2 * columns, first + 3 * columns]
      for (let j = 0; j < columns; j++) {
        const b0 = b[first + j]!
        const b1 = b[second + j]!
        const b2 = b[third + j]!
        const b3 = b[fourth + j]!
        sums[row + j] = sums[row + j]! + x0 * b0 + x1 * b1 + x2 * b2 + x3 * b3
        sums[next + j] = sums[next + j]! + y0 * b0 + y1 * b1 + y2 * b2 + y3 * b3
      }
    }
  }
}

/** A part of a product: rows from `i`, columns from `j`, and k from `p` on. */
interface Tile {
  readonly i: number
  readonly j: number
  readonly p: number
  readonly rows: number
  readonly columns: number
  readonly deep: number
}

/** sums += a b without copies, each element alone; `stride` sums are a row. */
function addDirectly({ a, b, sizes }: Job, { i, j, p, rows, columns, deep }: Tile, sums: Float64Array, stride: number): void {
  const [, n, k] = sizes as [number, number, number]
  for (let row = 0; row < rows; row++) {
    const start = (i + row) * k
    for (let column = 0; column < columns; column++) {
      const at = row * stride + column
      let sum = sums[at]!
      for (let q = p; q < p + deep; q++) sum += a[start + q]! * b![q * n + j + column]!
      sums[at] = sum
    }
  }
}

const upTo = (multiple: number, n: number): number => Math.ceil(n / multiple) * multiple

/** A product in tiles, whose sums stay in float64 until they are complete. They are added in the order of k, so that no size of a tile shows in the bits. */
function product(job: Job): Work {
  const [m, n, k] = job.sizes as [number, number, number]
  const { a, b, out } = job as Job & { readonly b: FloatArray }
  const directly = n <= NARROW || m * n * k <= TINY
  // Rows come in pairs and depth in fours, filled up with zeros: 0 added to a sum leaves its bits, for no sum is -0.
  const [height, width] = [directly ? Math.min(m, ROWS) : upTo(2, Math.min(m, ROWS)), Math.min(n, COLUMNS)]
  const depth = directly ? Math.min(k, Math.floor(STEP / height / width)) : upTo(4, Math.min(k, DEPTH))
  const sums = new Float64Array(height * width)
  const [tileA, tileB] = directly ? [] : [new Float64Array(height * depth), new Float64Array(depth * width)]
  const [across, down] = [Math.ceil(n / width), Math.ceil(k / depth)]
  return {
    steps: Math.ceil(m / height) * across * down,
    step(at) {
      const p = (at % down) * depth
      const j = (Math.floor(at / down) % across) * width
      const i = Math.floor(at / down / across) * height
      const [rows, columns, deep] = [Math.min(height, m - i), Math.min(width, n - j), Math.min(depth, k - p)]
      if (p === 0) sums.fill(0)
      if (tileA === undefined || tileB === undefined) addDirectly(job, { i, j, p, rows, columns, deep }, sums, width)
      else {
        pack(a, i * k + p, k, rows, deep, tileA, depth)
        pack(b, p * n + j, n, deep, columns, tileB, width)
        addProduct(tileA, tileB, sums, height, width, depth)
      }
      if (p + deep < k) return
      for (let row = 0; row < rows; row++) {
        const [to, first] = [(i + row) * n + j, row * width]
        for (let column = 0; column < columns; column++) out[to + column] = sums[first + column]!
      }
    }
  }
}

/** How each operation is cut. */
const WORK: Readonly<Record<Operation, (job: Job) => Work>> = {
  matmul: product,
  add: ({ a, b, out }) =>
    chunks(out.length, (from, to) => {
      for (let i = from; i < to; i++) out[i] = a[i]! + b![i]!
    }),
  dot: (job) => reduction(job, (from, to) => dotOf(job.a, job.b as FloatArray, from, to)),
  sum: (job) => reduction(job, (from, to) => sumOf(job.a, from, to)),
  scale: ({ a, out, s }) =>
    chunks(out.length, (from, to) => {
      for (let i = from; i < to; i++) out[i] = a[i]! * s
    })
}

/** The engine of the backend `pure`. */
export const pure: Engine = {
  name: 'pure',
  reason: undefined,
  dtypes: ['float32', 'float64'],
  gpu: false,
  copies: false,
  info: () => ({ name: 'pure', available: true, version: VERSION, threads: 1 }),
  run(_op, job) {
    const { steps, step } = WORK[job.operation](job)
    for (let at = 0; at < steps; at++) step(at)
  },
  async runAsync(_op, job, { onProgress, signal }) {
    const { steps, step } = WORK[job.operation](job)
    for (let at = 0; at < steps; at++) {
      if (at > 0) await turn()
      signal?.throwIfAborted()
      step(at)
      onProgress?.({ done: at + 1, total: steps, label: job.operation })
    }
  }
}
