// The clock: runs an array for some ticks, on the backend that the call names. Every backend gives the same array.

import { checkOptions } from '../arguments/options.js'
import { integer, number } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { meantOrAll } from '../errors/did-you-mean.js'
import { arrayOf, partsOf, type Dispatched, type Parts, type SystolicArray } from './array.js'
import { isPlainMac, runPlainMac } from './mac-machine.js'
import { Machine } from './machine.js'
import { tilesOf, type TileOptions } from './partition.js'
import { runOnWorkers, usualWorkers } from './pool.js'
import { sizeGiven } from './space.js'

/** Something that runs arrays. */
export interface ArrayBackend {
  readonly name: string
  /** The array after `ticks` ticks, made by `array.after(...)`. */
  readonly run: (array: SystolicArray, options: { readonly ticks: number }) => SystolicArray
}

/** Where tiles of a partitioned run step: on threads made for the run, or on kept ones. */
export type Dispatch = 'tasks' | 'pool'

/** Options of `run`. */
export interface RunOptions extends TileOptions {
  /** How many ticks; 0 gives the array as it is. */
  readonly ticks: number
  /** `'interpreted'` by default: one element after the other. `'partitioned'` divides the array into tiles. Or a backend of one's own. */
  readonly backend?: 'interpreted' | 'partitioned' | ArrayBackend | undefined
  /** Of a partitioned run: worker threads made for it (`'tasks'`, by default) or kept for later ones (`'pool'`). */
  readonly dispatch?: Dispatch | undefined
  /** Of a partitioned run: threads at most; as many as the machine has cores by default. */
  readonly workers?: number | undefined
  /** Of a partitioned run: milliseconds without a tick after which it fails; 30,000 by default. */
  readonly timeout?: number | undefined
}

/** Steps of elements in one call: up to a minute. Longer runs are several calls. */
export const MOST_STEPS = 2 ** 28
/** Values that one call collects. */
const MOST_COLLECTED = 2 ** 24
const MOST_WORKERS = 64

const TICKS_ONLY = ['backend', 'ticks']
const PARTITIONED = ['dispatch', 'tileRows', 'tileCols', 'tileSize', 'workers', 'timeout']
const BACKENDS = ['interpreted', 'partitioned']

/** How a partitioned run is dispatched. */
interface Plan {
  readonly tiles: readonly (readonly number[])[]
  readonly dispatch: Dispatch
  readonly workers: number
  readonly timeout: number
}

function planned(op: string, parts: Parts, options: Record<string, unknown>): Plan {
  const { dispatch = 'tasks', workers, timeout = 30_000 } = options
  if (dispatch !== 'tasks' && dispatch !== 'pool') throw new ArgumentError(`${op}: 'dispatch' must be 'tasks' or 'pool', got ${shown(dispatch)}`)
  if (!(number(op, 'timeout', timeout) > 0)) throw new ArgumentError(`${op}: 'timeout' must be above 0, got ${shown(timeout)}`)
  const threads = workers === undefined ? Math.min(usualWorkers(), MOST_WORKERS) : sizeGiven(op, 'workers', workers)
  if (threads > MOST_WORKERS) throw new ArgumentError(`${op}: 'workers' is ${threads}, more than ${MOST_WORKERS}`)
  return { tiles: tilesOf(op, parts.space, options as TileOptions), dispatch, workers: threads, timeout: timeout as number }
}

function onCallingThread(tiles: number, reason: string | null): Dispatched {
  return { dispatch: 'calling thread', workers: 0, tiles, reason }
}

function runPartitioned(parts: Parts, ticks: number, { tiles, ...use }: Plan): Parts {
  const remote = parts.elements.every((element) => element === null || element.remote !== null)
  if (remote) return runOnWorkers(parts, ticks, tiles, use)
  const reason = 'an element is a function of the calling thread; systolic.element names one that threads can load'
  return { ...new Machine(parts, Int32Array.from(tiles.flat())).run(ticks), dispatched: onCallingThread(tiles.length, reason) }
}

function runInterpreted(parts: Parts, ticks: number): Parts {
  const done = isPlainMac(parts) ? runPlainMac(parts, ticks) : new Machine(parts).run(ticks)
  return { ...done, dispatched: onCallingThread(1, null) }
}

/** A backend of one's own, checked. */
function ownBackend(op: string, value: object): ArrayBackend {
  const { name, run } = value as Partial<ArrayBackend>
  if (typeof name !== 'string' || typeof run !== 'function') throw new ArgumentError(`${op}: a 'backend' must have a name and a function 'run', got ${shown(value)}`)
  return { name, run: run.bind(value) }
}

/**
 * The array after some ticks. It is the same array whatever the backend, tiles and dispatch: an element reads in a tick what was written in earlier ones
 * alone, so the order within a tick does not matter. The array that was given stays as it is, also where the run fails.
 *
 * A partitioned run uses worker threads where all elements have names that threads can load (`mac`, `stationary` of a ring by name, `systolic.element`); other elements step
 * on the calling thread. `dispatched` of the result says which it was.
 *
 * @throws {ArgumentError} for missing ticks, more than 2^28 steps of elements in a call, unknown options, backends and dispatches; where an element
 * throws, gives what no step may give, or writes to a full link that refuses it: the message names its coordinate and the tick.
 * @throws {BackendUnavailableError} where a worker thread ends during the run, or no tick passes for `timeout` milliseconds.
 * @example
 * ```ts
 * ft.systolic.run(ft.systolic.array(1, 1).fill(ft.systolic.mac()), { ticks: 5 }).tick // 5
 * ```
 */
export function run(array: SystolicArray, options: RunOptions): SystolicArray {
  const op = 'systolic.run'
  const parts = partsOf(op, array)
  const given = checkOptions(op, options, ['ticks', 'backend', 'dispatch', 'tileRows', 'tileCols', 'tileSize', 'workers', 'timeout'])
  const { backend = 'interpreted' } = given
  if (given['ticks'] === undefined) throw new ArgumentError(`${op}: 'ticks' is missing: how long to run`)
  const ticks = integer(op, 'ticks', given['ticks'])
  if (ticks < 0) throw new ArgumentError(`${op}: 'ticks' must not be negative, got ${ticks}`)
  checkWork(op, parts, ticks)
  const own = typeof backend === 'object' && backend !== null ? ownBackend(op, backend) : null
  if (own === null && !BACKENDS.includes(backend as string)) {
    throw new ArgumentError(`${op}: unknown backend ${shown(backend)}${typeof backend === 'string' ? meantOrAll(backend, BACKENDS) : ''}`)
  }
  const surplus = backend === 'partitioned' ? undefined : PARTITIONED.find((name) => given[name] !== undefined)
  if (surplus !== undefined) throw new ArgumentError(`${op}: '${surplus}' is an option of the backend 'partitioned' alone (of others: ${TICKS_ONLY.join(', ')})`)
  const plan = backend === 'partitioned' ? planned(op, parts, given) : null
  if (ticks === 0) return array
  if (own !== null) {
    const result = own.run(array, { ticks })
    if (partsOf(op, result).tick !== parts.tick + ticks) throw new ArgumentError(`${op}: the backend '${own.name}' gave an array at tick ${result.tick} instead of ${parts.tick + ticks}`)
    return result
  }
  return arrayOf(plan === null ? runInterpreted(parts, ticks) : runPartitioned(parts, ticks, plan))
}

/** Refuses runs that nobody waits for. */
function checkWork(op: string, { states, collects, outputs }: Parts, ticks: number): void {
  if (states.length * ticks > MOST_STEPS) throw new ArgumentError(`${op}: ${states.length} elements for ${ticks} ticks are more than ${MOST_STEPS} steps; longer runs are several calls`)
  if (collects.length * ticks + outputs.length > MOST_COLLECTED) throw new ArgumentError(`${op}: ${collects.length} ports for ${ticks} ticks may collect more than ${MOST_COLLECTED} values; longer runs are several calls`)
}

/**
 * The array after one tick, interpreted.
 *
 * @throws {ArgumentError} as {@link run}.
 * @example
 * ```ts
 * ft.systolic.step(ft.systolic.array(1, 1).fill(ft.systolic.mac())).tick // 1
 * ```
 */
export function step(array: SystolicArray): SystolicArray {
  partsOf('systolic.step', array)
  return run(array, { ticks: 1 })
}
