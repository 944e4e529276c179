// What ready-made arrays have in common: where they run, and how much they may take.

import { ArgumentError } from '../errors.js'
import type { ArrayBackend, Dispatch } from './clock.js'

/** Where a ready-made array runs. */
export interface RunOn {
  readonly backend?: 'interpreted' | 'partitioned' | ArrayBackend | undefined
  /** Of the backend `'partitioned'`. */
  readonly dispatch?: Dispatch | undefined
  readonly tileRows?: number | undefined
  readonly tileCols?: number | undefined
  readonly workers?: number | undefined
  readonly timeout?: number | undefined
}

/** Names of the options that say where an array runs. */
export const RUN_ON = ['backend', 'dispatch', 'tileRows', 'tileCols', 'workers', 'timeout'] as const

/** Steps of elements that a ready-made array may take: seconds. */
export const MOST_READY_STEPS = 2 ** 25

/** To make a part of an array takes as long as so many steps of an element, for itself and for each of its elements. */
const [PART, ELEMENT] = [1024, 32]

/** Refuses ready-made arrays that nobody waits for: `elements` and ticks of each part. */
export function checkSteps(op: string, elements: number, ticks: number, parts = 1): void {
  if (parts * (PART + elements * (ELEMENT + ticks)) > MOST_READY_STEPS + PART) throw new ArgumentError(`${op}: ${elements} elements for ${ticks} ticks${parts === 1 ? '' : `, ${parts} times,`} are more than ${MOST_READY_STEPS} steps; simulate(...) counts the cycles of larger products`)
}

/** The options that say where an array runs, checked by `run`. */
export const runOn = (options: Record<string, unknown>): RunOn => Object.fromEntries(RUN_ON.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))
