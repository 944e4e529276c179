// The two elements of products, one whose sum stays where it is and one whose factor does, over any ring: a product over other rings than that of ordinary
// arithmetic is shortest paths, reachability, distances of bits.

import { checkOptions } from '../arguments/options.js'
import { number, oneOf } from '../arguments/validate.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { EMPTY, known, type Element, type Read } from './element.js'

/** Two operations on numbers. `zero` leaves what is added to it as it is: sums begin with it, and streams are padded with it. */
export interface Ring {
  readonly zero: number
  readonly add: (a: number, b: number) => number
  readonly multiply: (a: number, b: number) => number
}

/** Rings by name: `plusTimes` is ordinary arithmetic in float64, `minPlus` the tropical one. */
export type RingName = 'plusTimes' | 'minPlus' | 'maxPlus' | 'minMax' | 'orAnd' | 'xorCount'

/** The bits of a 32-bit integer that are set, by sums over fields of 2, 4 and 8 bits (Warren, Hacker's Delight, 5-1). */
function bits(value: number): number {
  const pairs = value - ((value >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** The rings. The text of workers has the same table (`worker-source.ts`), and a test compares both. */
export const RINGS: Readonly<Record<RingName, Ring>> = {
  plusTimes: { zero: 0, add: (a, b) => a + b, multiply: (a, b) => a * b },
  minPlus: { zero: Infinity, add: (a, b) => Math.min(a, b), multiply: (a, b) => a + b },
  maxPlus: { zero: -Infinity, add: (a, b) => Math.max(a, b), multiply: (a, b) => a + b },
  minMax: { zero: Infinity, add: (a, b) => Math.min(a, b), multiply: (a, b) => Math.max(a, b) },
  orAnd: { zero: 0, add: (a, b) => (a !== 0 || b !== 0 ? 1 : 0), multiply: (a, b) => (a !== 0 && b !== 0 ? 1 : 0) },
  xorCount: { zero: 0, add: (a, b) => a + b, multiply: (a, b) => bits(a ^ b) }
}

const NAMES = Object.keys(RINGS) as RingName[]

/** A ring of a call, with its name where it has one; ordinary arithmetic where it is left out. */
export function ringGiven(op: string, value: unknown): { readonly name: RingName | null; readonly ring: Ring } {
  if (value === undefined) return { name: 'plusTimes', ring: RINGS.plusTimes }
  if (typeof value !== 'object' || value === null) {
    const name = oneOf(op, 'ring', value, NAMES)
    return { name, ring: RINGS[name] }
  }
  const { zero, add, multiply } = checkOptions(op, value, ['zero', 'add', 'multiply'])
  for (const [name, f] of [['add', add], ['multiply', multiply]] as const) {
    if (typeof f !== 'function') throw new ArgumentError(`${op}: 'ring.${name}' must be a function of two numbers, got ${shown(f)}`)
  }
  return { name: null, ring: { zero: number(op, 'ring.zero', zero), add: add as Ring['add'], multiply: multiply as Ring['multiply'] } }
}

/** Options of `mac` and `stationary`. */
export interface MacOptions {
  /** The arithmetic; ordinary sums and products by default. Workers know rings by name, not functions. */
  readonly ring?: RingName | Ring | undefined
}

/** The state of a multiply-accumulate element. */
export interface MacState {
  readonly acc: number
}

/** The state of an element whose weight stays. */
export interface StationaryState {
  readonly weight: number
}

/** A number at a port; `zero` where nothing arrived. */
function numberRead(port: string, value: Read, zero: number): number {
  if (value === EMPTY) return zero
  if (typeof value !== 'number') throw new ArgumentError(`the value at '${port}' must be a number, it is of type ${typeof value}`)
  return value
}

/** A number among the options of a place. */
const option = (op: string, options: unknown, name: string, fallback: number): number => {
  const value = checkOptions(op, options, [name])[name]
  return value === undefined ? fallback : number(op, name, value)
}

const RESULT = (state: MacState): number => state.acc

/**
 * The multiply-accumulate element of a product whose results stay (output stationary; Kung and Leiserson 1979): `acc += west * north`. What
 * arrived from the west goes on to the east, what arrived from the north to the south, and `result` shows the sum; where nothing
 * arrived it counts as 0, and nothing goes on. A place's option `acc` is the sum before the first tick, 0 by default.
 *
 * @throws {ArgumentError} for an unknown ring; in a run, for a value that is no number.
 * @example
 * ```ts
 * ft.systolic.run(ft.systolic.array(1, 1).fill(ft.systolic.mac()).connect('west_to_east').connect('north_to_south').input('west', [[[0, 0], [3, 7]]]).input('north', [[[0, 0], [4, 2]]]), { ticks: 3 }).resultMatrix() // [[26]]
 * ```
 */
export function mac(options?: MacOptions): Element<MacState> {
  const op = 'systolic.mac'
  const { name, ring } = ringGiven(op, checkOptions(op, options, ['ring'])['ring'])
  const { zero, add, multiply } = ring
  const element: Element<MacState> = {
    init: (place) => ({ acc: option(op, place, 'acc', zero) }),
    step({ acc }, inputs) {
      const west = inputs['west'] as Read<number>
      const north = inputs['north'] as Read<number>
      const sum = add(acc, multiply(numberRead('west', west, zero), numberRead('north', north, zero)))
      const outputs: Record<string, number> = { result: sum }
      if (west !== EMPTY) outputs['east'] = west
      if (north !== EMPTY) outputs['south'] = north
      return [{ acc: sum }, outputs]
    },
    result: RESULT
  }
  return name === null ? Object.freeze(element) : known(element, { builtin: 'mac', ring: name, swapped: false })
}

/**
 * The element of a product whose factors stay (weight stationary, as in Jouppi et al. 2017): `south = north + west * weight`, where something
 * arrived from the west, which also goes on to the east. A place's option `weight` is its factor, 0 by default.
 *
 * @throws {ArgumentError} for an unknown ring; in a run, for a value that is no number.
 * @example
 * ```ts
 * ft.systolic.run(ft.systolic.array(1, 1).fill(ft.systolic.stationary(), { '0,0': { weight: 2 } }).connect('west_to_east').input('west', [[[0, 0], [3, 7]]]).output('south'), { ticks: 2 }).outputs.map(({ value }) => value) // [6, 14]
 * ```
 */
export function stationary(options?: MacOptions): Element<StationaryState> {
  const op = 'systolic.stationary'
  const { name, ring } = ringGiven(op, checkOptions(op, options, ['ring'])['ring'])
  return stationaryOf(ring, name, false)
}

/** As {@link stationary}; `swapped` has the weight as the left factor, which rings need that do not commute. */
export function stationaryOf({ zero, add, multiply }: Ring, name: RingName | null, swapped: boolean): Element<StationaryState> {
  const element: Element<StationaryState> = {
    init: (place) => ({ weight: option('systolic.stationary', place, 'weight', zero) }),
    step(state, inputs) {
      const x = inputs['west'] as Read<number>
      if (x === EMPTY) return [state]
      const value = numberRead('west', x, zero)
      const product = swapped ? multiply(state.weight, value) : multiply(value, state.weight)
      return [state, { east: value, south: add(numberRead('north', inputs['north'], zero), product) }]
    },
    result: (state) => state.weight
  }
  return name === null ? Object.freeze(element) : known(element, { builtin: 'stationary', ring: name, swapped })
}
