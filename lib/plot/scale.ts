// From values to places on an axis: linear or logarithmic.

import { exponential, labels, linearTicks, logTicks } from './ticks.js'

/** An axis. */
export interface Scale {
  readonly log: boolean
  /** The values at its ends. */
  readonly low: number
  readonly high: number
  /** The place of a value between the ends, from 0 to 1; NaN for one that the scale cannot show. */
  readonly at: (value: number) => number
}

/** Whether a scale has a place for a value. */
export const shows = (log: boolean, value: number): boolean => Number.isFinite(value) && (!log || value > 0)

/** The scale over all values of some arrays that it can show; from 0 to 1 (or 1 to 10) where there are none. */
export function scaleOf(log: boolean, ...arrays: readonly ArrayLike<number>[]): Scale {
  let [low, high] = [Infinity, -Infinity]
  for (const array of arrays) {
    for (let i = 0; i < array.length; i++) {
      const value = array[i] as number
      if (!shows(log, value)) continue
      if (value < low) low = value
      if (value > high) high = value
    }
  }
  if (low > high) [low, high] = log ? [1, 10] : [0, 1]
  // One value stands in the middle; a margin smaller than a rounding step would leave no range.
  if (low === high) {
    const margin = Math.abs(low) * 0.1 || 1
    ;[low, high] = log ? [Math.max(low / 2, Number.MIN_VALUE), Math.min(high * 2, Number.MAX_VALUE)] : [Math.max(low - margin, -Number.MAX_VALUE), Math.min(high + margin, Number.MAX_VALUE)]
  }
  return scale(log, low, high)
}

/** The scale from one value to another. */
export function scale(log: boolean, low: number, high: number): Scale {
  // Halves, as the difference of two numbers may be beyond the largest one.
  const [from, to] = log ? [Math.log(low), Math.log(high)] : [low / 2, high / 2]
  const at = (value: number): number => (shows(log, value) ? Math.min(1, Math.max(0, ((log ? Math.log(value) : value / 2) - from) / (to - from))) : NaN)
  return { log, low, high, at }
}

/** A tick of an axis. */
export interface Tick {
  /** From 0 to 1. */
  readonly at: number
  readonly label: string
}

/** About `most` ticks of a scale at nice numbers. */
export function ticksOf({ log, low, high, at }: Scale, most: number): Tick[] {
  const ticks = (log ? logTicks : linearTicks)(low, high, Math.max(2, most))
  // Powers of ten are told apart by themselves; gaps between them say nothing of digits.
  const ofLog = (tick: number): string => (tick >= 1e-4 && tick < 1e6 ? Number(tick.toPrecision(3)).toString() : exponential(tick, 2))
  const powers = log ? ticks.map(ofLog) : []
  const names = new Set(powers).size === ticks.length ? powers : labels(ticks)
  return ticks.map((tick, i) => ({ at: at(tick), label: names[i] as string }))
}
