// Where ready-made arrays run: options that go on to `run`, checked also where there is nothing to run.

import { within } from '../arguments/within.js'
import { array } from './array.js'
import { run, type ArrayBackend, type Dispatch } from './clock.js'

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

/** Runs of no ticks check their options. */
const ONE = array(1, 1)

/** The options that say where an array runs. */
export function runOn(op: string, options: Record<string, unknown>): RunOn {
  const where: RunOn = Object.fromEntries(RUN_ON.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))
  within(op, () => run(ONE, { ticks: 0, ...where }))
  return where
}
