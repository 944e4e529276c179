// Elements that worker threads load by name, honest ones and others. No test: `workers.test.ts` uses it.

import type { systolic } from 'ferrotensor'

// As the package has it: a worker imports this module without the package.
const EMPTY: unknown = Symbol.for('ferrotensor.systolic.EMPTY')

/** Numbers, with gaps. */
export const SUM: systolic.Element<number> = {
  init: ({ start = 0 }: { start?: number }) => start,
  step: (sum, { west, north }) => {
    const next = Math.imul(sum, 31) + (west === EMPTY ? 5 : (west as number)) + (north === EMPTY ? 7 : (north as number)) * 3
    return [next | 0, { east: (next & 3) === 0 ? undefined : next & 255, ...((next & 4) === 0 ? { south: next >>> 24 } : {}) }]
  }
}

/** Objects, texts, NaN and -0 beside numbers: what no shared memory takes. */
export const MIXED: systolic.Element<{ readonly seen: readonly unknown[] }> = {
  init: () => ({ seen: [] }),
  step({ seen }, { west, north }, { tick, coord }) {
    const next = [...seen.slice(-3), west === EMPTY ? null : west, north === EMPTY ? null : north]
    const values = [tick, `tick ${tick}`, { at: coord, tick }, -0, NaN, [1n, null]]
    return [{ seen: next }, { east: values[(tick + (coord[1] as number)) % 6], south: values[(tick * 5 + (coord[0] as number)) % 6] }]
  }
}

/** Throws in the third tick, in two places. */
export const THROWS: systolic.Element<number> = {
  init: () => 0,
  step(state, _, { tick, coord }) {
    if (tick === 2 && coord[1] === 1) throw new RangeError('too far')
    return [state + 1, { east: state }]
  }
}

/** Throws in the 67th tick, in one place. */
export const LATE: systolic.Element<number> = {
  init: () => 0,
  step(state, _, { tick, coord }) {
    if (tick === 66 && coord[0] === 2) throw new RangeError('too late')
    return [state + 1]
  }
}

/** Counts, and writes the count. */
export const COUNTS: systolic.Element<number> = { init: () => 0, step: (state) => [state + 1, { east: state }] }

/** Ends its thread in the third tick. */
export const EXITS: systolic.Element<number> = {
  init: () => 0,
  step(state, _, { tick, coord }) {
    if (tick === 2 && coord[1] === 1) process.exit(3)
    return [state]
  }
}

/** Does not return in the third tick. */
export const HANGS: systolic.Element<number> = {
  init: () => 0,
  step(state, _, { tick, coord }) {
    while (tick === 2 && coord[1] === 1);
    return [state]
  }
}

/** Writes what cannot be copied to another thread. */
export const FUNCTIONS: systolic.Element<number> = { init: () => 0, step: (state) => [state, { east: () => state }] }

/** Has a state that cannot be copied to another thread, after the first tick. */
export const CLOSURE: systolic.Element<unknown> = { init: () => 0, step: () => [() => 1] }

/** Starts with a state that cannot be copied. */
export const UNCLONEABLE: systolic.Element<unknown> = { init: () => () => 1, step: (state) => [state] }

/** Its output throws when it is read, in the third tick. */
export const TRAPPED: systolic.Element<number> = {
  init: () => 0,
  step: (state, _, { tick }) => [state, { get east() { if (tick === 2) throw new RangeError('too far'); return state } }]
}

/** No element. */
export const NOTHING = 7
