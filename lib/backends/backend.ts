// A backend as its user sees it: the protocol, the same on every one, over an engine that runs jobs.

import { jobOptions, type JobOptions } from '../arguments/job-options.js'
import { checkOptions } from '../arguments/options.js'
import { ArgumentError, BackendUnavailableError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { dtypeOfArray } from '../values/typed-arrays.js'
import { copied, flatArray, isShared, zeros, type FloatArray, type SameArray } from './arrays.js'
import type { BackendInfo, Engine } from './engine.js'
import { isEmpty, jobOf, OPERATIONS, rounded, type Call, type Job, type Operation } from './job.js'

/** Options of operations whose result is an array. */
export interface OutOptions<T extends FloatArray> {
  /**
   * The array for the result, which the call returns: of the type of the operands, and of the length of the result. `add` and `scale` accept one of
   * their operands here. Other overlaps of memory are an error.
   */
  readonly out?: SameArray<T> | undefined
}

/** Options of the asynchronous operations whose result is an array. */
export interface OutJobOptions<T extends FloatArray> extends OutOptions<T>, JobOptions {}

/**
 * Five operations on flat arrays, Float32Array or Float64Array, each blocking and asynchronous. `a` and `b` are of one kind, and so is the
 * result: new, or in `out`. NaN and infinities follow IEEE 754; no zero is skipped, so that 0 times infinity is NaN (of `blas` as its library has it). Arrays may be
 * views of shared and of resizable buffers. Sizes of 0 are valid: products over k = 0 are 0, sums of nothing 0.
 *
 * Asynchronous forms leave the event loop free: `pure` lets it turn after each millisecond of work, others compute elsewhere. Operands are
 * copied at the call, and `out` is written at the end. `signal` ends a job of `pure` between two such steps; elsewhere it is looked at before and
 * after. `onProgress` is told of steps of `pure`, elsewhere of the end.
 *
 * What is promised of rounding:
 *
 * | | |
 * |---|---|
 * | `add`, `scale` | each element is rounded once, on every backend, where the device keeps subnormal numbers; `s` is first rounded to the dtype |
 * | `dot`, `sum` | within 1e-6 of the sum of magnitudes in float32, 1e-13 in float64 |
 * | `matmul` | within k + 2 roundings of the sum of magnitudes, in whatever order terms are added |
 * | `pure` | float32 is computed in float64 and rounded once; products add in the order of k, sums in pairs of blocks: the same bits everywhere |
 *
 * Every function throws, or rejects with:
 *
 * - `BackendUnavailableError` where the backend is not available, with the reason;
 * - `ArgumentError` for arrays of other kinds, detached buffers, sizes that are not whole numbers, `out` that shares memory with an operand;
 * - `DTypeError` for a Float32Array beside a Float64Array, and for a precision that a GPU does not have;
 * - `ShapeError` for lengths that do not fit each other, or m, n, k, and for negative or enormous sizes;
 * - `OutOfMemoryError` where there is no memory for the result;
 * - `UnsupportedError` for sizes of 2^31 and more where the library of `blas` counts in 32 bits.
 */
export interface Backend {
  /** Its name: `pure`, `scalar`, `simd`, `parallel`, `blas`, or that of a GPU. */
  readonly name: string
  /** Whether it can compute here. */
  isAvailable(): boolean
  /** What it is, and why it is not available if it is not. */
  info(): BackendInfo
  /**
   * The matrix product of `a`, m x k, and `b`, k x n, both in row-major order: m x n.
   *
   * @example
   * ```ts
   * [...ft.backends.get('pure').matmul(new Float32Array([1, 2, 3, 4]), new Float32Array([5, 6, 7, 8]), 2, 2, 2)] // [19, 22, 43, 50]
   * ```
   */
  matmul<T extends FloatArray>(a: T, b: SameArray<T>, m: number, n: number, k: number, options?: OutOptions<T>): SameArray<T>
  /** a + b, element by element: of equal lengths. */
  add<T extends FloatArray>(a: T, b: SameArray<T>, options?: OutOptions<T>): SameArray<T>
  /** The sum of a b, of equal lengths; of float32 rounded to float32. */
  dot<T extends FloatArray>(a: T, b: SameArray<T>): number
  /** The sum of all elements; of float32 rounded to float32. */
  sum(a: FloatArray): number
  /** s a: each element times a number. */
  scale<T extends FloatArray>(a: T, s: number, options?: OutOptions<T>): SameArray<T>
  /** As `matmul`, without blocking. */
  matmulAsync<T extends FloatArray>(a: T, b: SameArray<T>, m: number, n: number, k: number, options?: OutJobOptions<T>): Promise<SameArray<T>>
  /** As `add`, without blocking. */
  addAsync<T extends FloatArray>(a: T, b: SameArray<T>, options?: OutJobOptions<T>): Promise<SameArray<T>>
  /** As `dot`, without blocking. */
  dotAsync<T extends FloatArray>(a: T, b: SameArray<T>, options?: JobOptions): Promise<number>
  /** As `sum`, without blocking. */
  sumAsync(a: FloatArray, options?: JobOptions): Promise<number>
  /** As `scale`, without blocking. */
  scaleAsync<T extends FloatArray>(a: T, s: number, options?: OutJobOptions<T>): Promise<SameArray<T>>
}

const OUT = ['out']
const JOB = ['signal', 'onProgress']

/** The options of a call; those that it does not have are unknown, and an array in their place is probably `out`. */
function optionsOf(op: string, options: unknown, names: readonly string[]): Record<string, unknown> {
  if (names.includes('out') && dtypeOfArray(options) !== null) {
    throw new ArgumentError(`${op}: 'options' must be an object (${names.join(', ')}), got ${shown(options)}; write { out: ... }`)
  }
  return checkOptions(op, options, names)
}

/** The result of a job as its caller gets it. */
function resultOf({ operation, dtype, out }: Job): FloatArray | number {
  return OPERATIONS[operation].scalar ? rounded(dtype, out[0] as number) : out
}

/** Memory that another thread may write to, replaced by a copy. */
const settled = (op: string, x: FloatArray): FloatArray => (isShared(x) ? copied(op, x) : x)

/** The backend of an engine. Its functions need no `this`. */
export function backendOf(engine: Engine): Backend {
  const { name } = engine

  const checkAvailable = (op: string): void => {
    if (engine.reason !== undefined) throw new BackendUnavailableError(`${op}: backend '${name}' is not available: ${engine.reason}`)
  }

  const run = (operation: Operation, call: Call, options?: unknown): FloatArray | number => {
    const op = `backends.${operation}`
    checkAvailable(op)
    const given = OPERATIONS[operation].scalar ? undefined : optionsOf(op, options, OUT)['out']
    const job = jobOf(op, operation, call, given)
    if (isEmpty(job)) {
      // What was allocated here is 0 already.
      if (given !== undefined) job.out.fill(0)
    } else {
      const { a, b, out } = job
      const own = isShared(out) ? zeros(op, job.dtype, out.length) : out
      engine.run(op, { ...job, a: settled(op, a), b: b && settled(op, b), out: own })
      if (own !== out) out.set(own)
    }
    return (given as FloatArray | undefined) ?? resultOf(job)
  }

  const runAsync = async (operation: Operation, call: Call, options: unknown): Promise<FloatArray | number> => {
    const op = `backends.${operation}Async`
    checkAvailable(op)
    const { scalar } = OPERATIONS[operation]
    const { out: given, ...rest } = optionsOf(op, options, scalar ? JOB : [...OUT, ...JOB])
    const how = jobOptions(op, rest)
    how.signal?.throwIfAborted()
    const job = jobOf(op, operation, call, given)
    const { a, b, dtype } = job
    const own = given === undefined ? job : { ...job, out: zeros(op, dtype, job.out.length) }
    const kept = (x: FloatArray): FloatArray => (engine.copies && !isShared(x) ? x : copied(op, x))
    if (isEmpty(job)) how.onProgress?.({ done: 1, total: 1, label: operation })
    else await engine.runAsync(op, { ...own, a: kept(a), b: b && kept(b) }, how)
    if (given === undefined) return resultOf(job)
    // The caller may have transferred it away meanwhile, or made it smaller.
    const out = flatArray(op, 'out', given)
    if (out.length !== own.out.length) throw new ArgumentError(`${op}: 'out' changed its length while its result was computed`)
    out.set(own.out)
    return given as FloatArray
  }

  // Which class and whether number or array comes out, the operation says.
  const functions = {
    matmul: (a: unknown, b: unknown, m: unknown, n: unknown, k: unknown, options?: unknown) => run('matmul', { a, b, m, n, k }, options),
    add: (a: unknown, b: unknown, options?: unknown) => run('add', { a, b }, options),
    dot: (a: unknown, b: unknown) => run('dot', { a, b }),
    sum: (a: unknown) => run('sum', { a }),
    scale: (a: unknown, s: unknown, options?: unknown) => run('scale', { a, s }, options),
    matmulAsync: (a: unknown, b: unknown, m: unknown, n: unknown, k: unknown, options?: unknown) => runAsync('matmul', { a, b, m, n, k }, options),
    addAsync: (a: unknown, b: unknown, options?: unknown) => runAsync('add', { a, b }, options),
    dotAsync: (a: unknown, b: unknown, options?: unknown) => runAsync('dot', { a, b }, options),
    sumAsync: (a: unknown, options?: unknown) => runAsync('sum', { a }, options),
    scaleAsync: (a: unknown, s: unknown, options?: unknown) => runAsync('scale', { a, s }, options)
  }
  return Object.freeze({ name, isAvailable: () => engine.reason === undefined, info: () => engine.info(), ...functions } as unknown as Backend)
}
