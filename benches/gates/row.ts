// What a row of the table of gates is, and the operands that rows are made of.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import type { PeerName } from '../peers/registry.js'
import type { Node } from './onnx.js'

export type Operands = Readonly<Record<string, Tensor>>

/** What the machine must do at least: operations on floats, or a pass over arrays of so many bytes each, read or written once. */
export type Limit = { readonly flops: number; readonly wide?: true } | { readonly reads: number; readonly writes: number; readonly bytes: number }

/** Peers that evaluate an expression over the operands, or know a call by name (those in Rust: peers/rust/src). */
type Calls = Partial<Record<Exclude<PeerName, 'onnxruntime' | 'onnxruntime-node'>, string>>

export interface Row {
  readonly name: string
  /** At least this many times as fast as the fastest peer of the run; but 0.9 of the limit is enough. */
  readonly gate: number
  /** What 0.85 of the limit was, where it was measured first. */
  readonly stretch: number
  /** Peers that are shown, but that the gate is not about, and why. */
  readonly aside?: Partial<Record<PeerName, string>>
  /** At least this many times as fast as single peers. */
  readonly against?: Partial<Record<PeerName, number>>
  readonly limit: Limit | null
  /** A number of operations that follow from one another, each on the result x of the one before. */
  readonly chain?: number
  /** What checksums may differ by, relative to their size; Infinity for draws. */
  readonly tolerance?: number
  /** Signs are free, as those of singular vectors. */
  readonly signless?: true
  readonly operands: () => Operands
  readonly ours: (operands: any) => object
  readonly calls: Calls
  /** What both onnxruntimes run. */
  readonly onnx?: readonly Node[]
  /** The name of a training (training/steps.ts) whose step is the row, instead of calls. */
  readonly training?: string
}

/** A row, with the types of its operands known to `ours`. */
export function row<O extends Operands>(row: Omit<Row, 'operands' | 'ours'> & { readonly operands: () => O; readonly ours: (operands: O) => object }): Row {
  return row
}

const key = ft.random.key(1)
let draws = 0

/** Uniform draws. */
export const uniform = (shape: readonly number[], low = -2, high = 2): Tensor<'float32'> => ft.random.uniform(ft.random.fold(key, draws++), shape, { low, high })
/** The same in float64. */
export const uniform64 = (shape: readonly number[]): Tensor<'float64'> => ft.random.uniform(ft.random.fold(key, draws++), shape, { low: -1, high: 1, dtype: 'float64' })
/** Uniform integers below a number. */
export const integers = (shape: readonly number[], high: number, low = 0): Tensor<'int32'> => ft.random.randint(ft.random.fold(key, draws++), low, high, shape)
/** Uniform integers of 8 bits. */
export const bytes = (shape: readonly number[]): Tensor<'int8'> => integers(shape, 128, -128).astype('int8')
/** Numbers from -2 to 2, none twice, in no order: there is one way to sort them. */
export const distinct = (n: number): Tensor<'float32'> => ft.random.permutation(ft.random.fold(key, draws++), n).astype('float32').multiply(4 / n).subtract(2)

/** `5 n log2 n`, as Fourier transforms are counted. */
export const fourier = (n: number): number => 5 * n * Math.log2(n)
