// Learning rates over time: functions of a step's number, which counts from 0.

import { checkOptions, shown } from '../call.js'
import { ArgumentError } from '../errors.js'

function positive(name: string, what: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return value
  throw new ArgumentError(`${name}: '${what}' must be a positive number, got ${shown(value)}`)
}

/** A number of steps, none included: what is left of a short run after its start. */
function stepsGiven(name: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value
  throw new ArgumentError(`${name}: 'steps' must be a number from 0, got ${shown(value)}`)
}

/** Between two numbers along half a wave: `from` at 0, `to` at 1 and beyond. */
function alongCosine(from: number, to: number, share: number): number {
  return to + ((from - to) * (1 + Math.cos(Math.PI * Math.min(share, 1)))) / 2
}

/**
 * From `rate` down to `least` (0 by default) along half a cosine over so many steps, and `least` from then on. PyTorch
 * `CosineAnnealingLR`.
 *
 * @throws {ArgumentError} for a rate that is not positive or a negative number of steps.
 */
export function cosine(rate: number, steps: number, least = 0): (step: number) => number {
  positive('optim.cosine', 'rate', rate)
  stepsGiven('optim.cosine', steps)
  return (step) => (step < steps ? alongCosine(rate, least, step / steps) : least)
}

/**
 * Another schedule behind a linear start: over so many steps from a first step of `1 / steps` of it to the whole; the other schedule
 * counts from there.
 *
 * @throws {ArgumentError} for a negative number of steps.
 */
export function warmup(steps: number, schedule: number | ((step: number) => number)): (step: number) => number {
  stepsGiven('optim.warmup', steps)
  const after = typeof schedule === 'function' ? schedule : () => schedule
  return (step) => (step < steps ? (after(0) * (step + 1)) / steps : after(step - steps))
}

/**
 * A rate that is multiplied by a factor after every so many steps. PyTorch `StepLR`.
 *
 * @throws {ArgumentError} for numbers that are not positive.
 */
export function stepDecay(rate: number, every: number, factor = 0.1): (step: number) => number {
  positive('optim.stepDecay', 'rate', rate)
  positive('optim.stepDecay', 'every', every)
  positive('optim.stepDecay', 'factor', factor)
  return (step) => rate * factor ** Math.floor(step / every)
}

/** Options of `optim.oneCycle`. */
export interface OneCycleOptions {
  /** Share of the steps that go up; 0.3 by default. */
  readonly up?: number
  /** The highest rate by the first; 25 by default. */
  readonly start?: number
  /** The first rate by the last; 10000 by default. */
  readonly end?: number
}

/**
 * Up to a rate and down to next to nothing, each along half a cosine (Smith and Topin, "Super-convergence", 2018). PyTorch `OneCycleLR`.
 *
 * @throws {ArgumentError} for numbers that are not positive.
 */
export function oneCycle(highest: number, steps: number, options: OneCycleOptions = {}): (step: number) => number {
  const name = 'optim.oneCycle'
  const { up = 0.3, start = 25, end = 1e4 } = checkOptions(name, options, ['up', 'start', 'end']) as OneCycleOptions
  const first = positive(name, 'highest', highest) / positive(name, 'start', start)
  const last = first / positive(name, 'end', end)
  const top = positive(name, 'up', up) * positive(name, 'steps', steps) - 1
  return (step) => (step <= top ? alongCosine(first, highest, step / top) : alongCosine(highest, last, (step - top) / (steps - 1 - top)))
}
