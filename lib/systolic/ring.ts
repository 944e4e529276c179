// The two operations of an array's arithmetic, with the number that its sums begin with: a product of matrices over other rings is shortest
// paths, reachability, distances of bits.

import { checkOptions, number, oneOf, shown } from '../call.js'
import { ArgumentError } from '../errors.js'

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
