// Learning rates over time: functions of a step's number, which counts from 0.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

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

/**
 * A rate that is multiplied by a factor after each of some steps. PyTorch `MultiStepLR`.
 *
 * @throws {ArgumentError} for a rate and a factor that are not positive, and steps that are not numbers from 0.
 */
export function multiStepDecay(rate: number, milestones: readonly number[], factor = 0.1): (step: number) => number {
  const name = 'optim.multiStepDecay'
  positive(name, 'rate', rate)
  positive(name, 'factor', factor)
  if (!Array.isArray(milestones)) throw new ArgumentError(`${name}: 'milestones' must be an array of steps, got ${shown(milestones)}`)
  const steps = Array.from({ length: milestones.length }, (_, i) => stepsGiven(name, milestones[i]))
  return (step) => rate * factor ** steps.filter((milestone) => milestone <= step).length
}

/**
 * A rate that is multiplied by a factor after every step. PyTorch `ExponentialLR`.
 *
 * @throws {ArgumentError} for numbers that are not positive.
 */
export function exponentialDecay(rate: number, factor: number): (step: number) => number {
  positive('optim.exponentialDecay', 'rate', rate)
  positive('optim.exponentialDecay', 'factor', factor)
  return (step) => rate * factor ** step
}

/**
 * In a straight line from one rate to another over so many steps, and the second one from then on. PyTorch `LinearLR`, whose factors times the rate
 * both are.
 *
 * @throws {ArgumentError} for rates that are negative or not finite and a negative number of steps.
 */
export function linear(from: number, to: number, steps: number): (step: number) => number {
  const name = 'optim.linear'
  for (const [what, value] of [['from', from], ['to', to]] as const) {
    if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) throw new ArgumentError(`${name}: '${what}' must be a number from 0, got ${shown(value)}`)
  }
  stepsGiven(name, steps)
  return (step) => (step < steps ? from + ((to - from) * step) / steps : to)
}

/**
 * From `rate` down to 0 over so many steps, by a power of what is left of them. PyTorch `PolynomialLR`.
 *
 * @throws {ArgumentError} for a rate and a power that are not positive and a negative number of steps.
 */
export function polynomial(rate: number, steps: number, power = 1): (step: number) => number {
  positive('optim.polynomial', 'rate', rate)
  positive('optim.polynomial', 'power', power)
  stepsGiven('optim.polynomial', steps)
  return (step) => (step < steps ? rate * (1 - step / steps) ** power : 0)
}

/** Options of `optim.cosineRestarts`. */
export interface CosineRestartsOptions {
  /** By how much each period is longer than the last one, at least 1; 1 by default. */
  readonly factor?: number
  /** The rate at the end of a period; 0 by default. */
  readonly least?: number
}

/**
 * From `rate` down along half a cosine over a period, again and again (Loshchilov and Hutter, "SGDR", 2017). PyTorch `CosineAnnealingWarmRestarts`.
 *
 * @throws {ArgumentError} for a rate and a period that are not positive and a factor below 1.
 */
export function cosineRestarts(rate: number, period: number, options: CosineRestartsOptions = {}): (step: number) => number {
  const name = 'optim.cosineRestarts'
  const { factor = 1, least = 0 } = checkOptions(name, options, ['factor', 'least']) as CosineRestartsOptions
  positive(name, 'rate', rate)
  positive(name, 'period', period)
  if (typeof factor !== 'number' || !(factor >= 1 && factor < Infinity)) throw new ArgumentError(`${name}: 'factor' must be a number from 1, got ${shown(factor)}`)
  if (typeof least !== 'number' || !Number.isFinite(least)) throw new ArgumentError(`${name}: 'least' must be a finite number, got ${shown(least)}`)
  return (step) => {
    if (factor === 1) return alongCosine(rate, least, (step % period) / period)
    // How many periods are over, whose lengths add up to period (factor^n - 1) / (factor - 1).
    const over = (n: number): number => (period * (factor ** n - 1)) / (factor - 1)
    const guess = Math.floor(Math.log1p((step * (factor - 1)) / period) / Math.log(factor))
    // The logarithm may be off by a rounding.
    const n = over(guess + 1) <= step ? guess + 1 : over(guess) > step ? guess - 1 : guess
    return alongCosine(rate, least, (step - over(n)) / (period * factor ** n))
  }
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
