// `ft.data`: examples in batches. A data set is a tree of tensors whose first axes are the examples.

import { jobOptions, type JobOptions } from '../arguments/job-options.js'
import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { slice } from '../indexing/slice.js'
import { checkAlive, isTensor } from '../program/node.js'
import { fold, keyGiven, permutation, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import { leaves, mapTree } from '../tree/traverse.js'
import { fromTypedArray } from '../values/create.js'
import { dataSync, evaluate } from '../values/read.js'

export * from '../generated/names/data.js'

/** The number of examples in a data set. */
function examples(name: string, data: unknown): number {
  const [first, ...rest] = leaves(data, `${name}: the data`)
  if (first === undefined) throw new ArgumentError(`${name}: there is no tensor in the data`)
  for (const x of [first, ...rest]) {
    checkAlive(name, x)
    if (x.ndim === 0 || x.shape[0] !== first.shape[0]) {
      throw new ShapeError(`${name}: tensors of one data set have the same first axis, got shapes [${first.shape.join(', ')}] and [${x.shape.join(', ')}]`)
    }
  }
  return first.shape[0] as number
}

/** The key of an option. */
function keyOption(name: string, key: unknown): Key {
  if (!isTensor(key) || key.dtype !== 'uint32') throw new ArgumentError(`${name}: 'key' must be a key from ft.random.key(seed), got ${shown(key)}`)
  return keyGiven(name, key) as Key
}

/** The examples at some positions. */
function picked<T>(data: T, positions: Tensor): T {
  return mapTree(data, (x) => x.take(positions as Tensor<'int32'>, { axis: 0 })) as T
}

/** Options of `data.batches`. */
export interface BatchesOptions extends JobOptions {
  /** Examples of a batch. */
  readonly size: number
  /** Shuffles the examples; without one they come in order. */
  readonly key?: Key
  /** Leaves out the last batch where it is smaller; false by default. */
  readonly dropLast?: boolean
  /** Batches computed ahead by `for await`; 1 by default. */
  readonly prefetch?: number
}

/** The batches of a data set, to be gone through any number of times: `for (const batch of batches)`, or `for await`. */
export interface Batches<T> extends Iterable<T>, AsyncIterable<T> {
  /** How many there are. */
  readonly length: number
  /** The same batches in another order: an epoch's. */
  epoch(n: number): Batches<T>
}

/**
 * The examples of a data set in batches. `for await` computes the next ones while one is used.
 *
 * `onProgress` is told of each batch as it is handed out, that batch included, labelled `batches` or by the epoch's number; `signal` ends
 * the loop before the next one.
 *
 * @throws {ArgumentError} for data without tensors and options out of range.
 * @throws {ShapeError} for tensors of different numbers of examples.
 * @throws The reason of the signal, where the loop asks for a batch.
 * @example
 * ```ts
 * [...ft.data.batches({ x: ft.arange(5) }, { size: 2 })].map((batch) => batch.x.toArray()) // [[0, 1], [2, 3], [4]]
 * ```
 */
export function batches<T>(data: T, options: BatchesOptions): Batches<T> {
  const name = 'data.batches'
  const count = examples(name, data)
  const given = checkOptions(name, options, ['size', 'key', 'dropLast', 'prefetch', 'onProgress', 'signal']) as Partial<BatchesOptions>
  const { size, key, dropLast = false, prefetch = 1 } = given
  const { onProgress, signal } = jobOptions(name, given)
  const each = integer(name, 'size', size)
  if (each < 1) throw new ArgumentError(`${name}: 'size' must be positive, got ${size}`)
  if (integer(name, 'prefetch', prefetch) < 0) throw new ArgumentError(`${name}: 'prefetch' must not be negative, got ${prefetch}`)
  const whole = key === undefined ? undefined : keyOption(name, key)
  const length = dropLast ? Math.floor(count / each) : Math.ceil(count / each)
  const made = (own: Key | undefined, label: string): Batches<T> => {
    const order = own === undefined ? undefined : permutation(own, count)
    const at = (n: number): T => {
      const range = slice(n * each, Math.min((n + 1) * each, count))
      return order === undefined ? (mapTree(data, (x) => x.at(range)) as T) : picked(data, order.at(range) as Tensor)
    }
    const told = (batch: T, n: number): T => {
      signal?.throwIfAborted()
      onProgress?.({ done: n + 1, total: length, label })
      return batch
    }
    return {
      length,
      epoch(n) {
        const number = integer(name, 'epoch', n)
        return made(whole === undefined ? undefined : fold(whole, number), `epoch ${number}`)
      },
      *[Symbol.iterator]() {
        for (let n = 0; n < length; n++) yield told(at(n), n)
      },
      async *[Symbol.asyncIterator]() {
        const ahead: Promise<T>[] = []
        for (let n = 0; n < length; n++) {
          // Before anything is computed, and again when it is there.
          signal?.throwIfAborted()
          while (ahead.length <= prefetch && n + ahead.length < length) ahead.push(ready(at(n + ahead.length)))
          yield told(await (ahead.shift() as Promise<T>), n)
        }
      }
    }
  }
  return made(whole, 'batches')
}

/** A batch whose values are there. One that fails is an error where the loop asks for it; a loop that was left never does. */
function ready<T>(batch: T): Promise<T> {
  const there = evaluate(...leaves(batch)).then(() => batch)
  there.catch(() => {})
  return there
}

/** Options of `data.split`. */
export interface SplitOptions {
  /** Share of the examples in the second part, above 0 and below 1. */
  readonly share: number
  /** Shuffles the examples first; without one the second part are the last ones. */
  readonly key?: Key
  /** Classes of the examples, integers [examples], each of which is split by the same share. They are read. */
  readonly by?: Tensor
}

/**
 * A data set in two parts, for training and for testing: with `by`, each class in both by the same share, rounded. scikit-learn
 * `train_test_split`, with `stratify`.
 *
 * @throws {ArgumentError} for a share out of range and parts without examples.
 * @throws {ShapeError} for tensors of different numbers of examples.
 */
export function split<T>(data: T, options: SplitOptions): [first: T, second: T] {
  const name = 'data.split'
  const count = examples(name, data)
  const { share, key, by } = checkOptions(name, options, ['share', 'key', 'by']) as Partial<SplitOptions>
  if (typeof share !== 'number' || !(share > 0 && share < 1)) throw new ArgumentError(`${name}: 'share' must be above 0 and below 1, got ${shown(share)}`)
  const order = key === undefined ? Int32Array.from({ length: count }, (_, i) => i) : (dataSync(permutation(keyOption(name, key), count)) as Int32Array)
  const classes = by === undefined ? undefined : classesOf(name, by, count)
  const groups = new Map<number | bigint, number[]>()
  for (const i of order) {
    const group = classes === undefined ? 0 : (classes[i] as number | bigint)
    const members = groups.get(group)
    if (members === undefined) groups.set(group, [i])
    else members.push(i)
  }
  const parts: [number[], number[]] = [[], []]
  for (const members of groups.values()) {
    const first = members.length - Math.round(members.length * share)
    members.forEach((i, n) => parts[n < first ? 0 : 1].push(i))
  }
  if (parts.some((part) => part.length === 0)) throw new ArgumentError(`${name}: a share of ${share} of ${count} examples leaves a part without any`)
  // In the order of the shuffle, not class by class.
  const rank = new Map(Array.from(order, (i, n) => [i, n] as const))
  return parts.map((part) => {
    part.sort((a, b) => (rank.get(a) as number) - (rank.get(b) as number))
    return picked(data, fromTypedArray(Int32Array.from(part), [part.length], { device: leaves(data)[0]?.device as string }))
  }) as [T, T]
}

function classesOf(name: string, by: unknown, count: number): ArrayLike<number | bigint> {
  if (!isTensor(by)) throw new ArgumentError(`${name}: 'by' must be a tensor of integers, got ${shown(by)}`)
  checkAlive(name, by)
  if (!/int/.test(by.dtype) || by.ndim !== 1 || by.shape[0] !== count) {
    throw new ShapeError(`${name}: 'by' must be integers of shape [${count}], got ${by.dtype} of shape [${by.shape.join(', ')}]`)
  }
  return dataSync(by) as ArrayLike<number | bigint>
}
