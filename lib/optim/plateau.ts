// A learning rate that goes by how well training goes, not by the step's number.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

/** Options of `optim.reduceOnPlateau`. */
export interface PlateauOptions {
  /** Whether the metric is to become smaller ('min') or larger ('max'); 'min' by default. */
  readonly mode?: 'min' | 'max'
  /** What the rate is multiplied by, below 1; 0.1 by default. */
  readonly factor?: number
  /** How many steps without improvement are let pass; 10 by default. */
  readonly patience?: number
  /** How much better than the best is better; 1e-4 by default. */
  readonly threshold?: number
  /** Whether the threshold is a share of the best ('relative') or a difference ('absolute'); 'relative' by default. */
  readonly thresholdMode?: 'relative' | 'absolute'
  /** How many steps after a reduction are not counted; 0 by default. */
  readonly cooldown?: number
  /** The least rate; 0 by default. */
  readonly least?: number
  /** Changes of the rate that are smaller are not made; 1e-8 by default. */
  readonly eps?: number
}

/** What a plateau's rate is known by: plain numbers, to be saved and restored. */
export interface PlateauState {
  /** The rate. */
  readonly rate: number
  /** The best metric so far; null before the first. */
  readonly best: number | null
  /** Steps since the last improvement. */
  readonly bad: number
  /** Steps that are not counted yet. */
  readonly cooling: number
}

/** A rate that is reduced where a metric stops improving. */
export interface Plateau {
  /** The state before the first metric. */
  init(): PlateauState
  /**
   * The state after a metric, such as an epoch's loss.
   *
   * @throws {ArgumentError} for a metric that is not a number, and a state that is none.
   */
  step(state: PlateauState, metric: number): PlateauState
}

/**
 * A rate that is multiplied by a factor where a metric has not improved for some steps. PyTorch `ReduceLROnPlateau`. Of an optimiser it is the
 * rate by a function that reads the state: `learningRate: () => state.rate`.
 *
 * @throws {ArgumentError} for options out of range.
 */
export function reduceOnPlateau(rate: number, options: PlateauOptions = {}): Plateau {
  const name = 'optim.reduceOnPlateau'
  const o = checkOptions(name, options, ['mode', 'factor', 'patience', 'threshold', 'thresholdMode', 'cooldown', 'least', 'eps']) as PlateauOptions
  const { mode = 'min', factor = 0.1, patience = 10, threshold = 1e-4, thresholdMode = 'relative', cooldown = 0, least = 0, eps = 1e-8 } = o
  if (typeof rate !== 'number' || !(rate > 0 && rate < Infinity)) throw new ArgumentError(`${name}: 'rate' must be a positive number, got ${shown(rate)}`)
  if (mode !== 'min' && mode !== 'max') throw new ArgumentError(`${name}: 'mode' must be 'min' or 'max', got ${shown(mode)}`)
  if (thresholdMode !== 'relative' && thresholdMode !== 'absolute') throw new ArgumentError(`${name}: 'thresholdMode' must be 'relative' or 'absolute', got ${shown(thresholdMode)}`)
  if (typeof factor !== 'number' || !(factor > 0 && factor < 1)) throw new ArgumentError(`${name}: 'factor' must be above 0 and below 1, got ${shown(factor)}`)
  for (const [what, value] of Object.entries({ patience, threshold, cooldown, least, eps })) {
    if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) throw new ArgumentError(`${name}: '${what}' must be a number from 0, got ${shown(value)}`)
  }
  const side = mode === 'min' ? -1 : 1
  const better = (metric: number, best: number | null): boolean => {
    if (best === null) return !Number.isNaN(metric)
    const bound = thresholdMode === 'relative' ? best * (1 + side * threshold) : best + side * threshold
    return side * metric > side * bound
  }
  return {
    init: () => ({ rate, best: null, bad: 0, cooling: 0 }),
    step(state, metric) {
      if (typeof metric !== 'number') throw new ArgumentError(`${name}: the metric must be a number, got ${shown(metric)}`)
      const { rate: before, best, bad: passed, cooling: left } = (typeof state === 'object' && state !== null ? state : {}) as Partial<PlateauState>
      if (typeof before !== 'number' || typeof passed !== 'number' || typeof left !== 'number' || !(best === null || typeof best === 'number')) {
        throw new ArgumentError(`${name}: the state must come from init or from the last step, got ${shown(state)}`)
      }
      const improves = better(metric, best)
      const cooling = Math.max(0, left - 1)
      const bad = improves || left > 0 ? 0 : passed + 1
      const known = improves ? metric : best
      if (bad <= patience) return { rate: before, best: known, bad, cooling }
      const reduced = Math.max(before * factor, least)
      return { rate: before - reduced > eps ? reduced : before, best: known, bad: 0, cooling: cooldown }
    }
  }
}
