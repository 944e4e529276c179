// Arrays of one program for all elements, once as tensors and once as plain numbers, and the same array interpreted: values of a port that nothing arrived at are its `empty`.

import * as ft from 'ferrotensor'

const { systolic } = ft

type Numbers = Readonly<Record<string, number>>
type Tensors = Readonly<Record<string, ft.Tensor<'int32'>>>

/** A port as both arrays have it. */
export interface KindPort {
  readonly offset: readonly [number, number]
  readonly as: string
  readonly latency: number
  readonly empty: number
}

/** One program, twice. */
export interface Kind {
  readonly ports: Readonly<Record<string, KindPort>>
  /** What a state of an element is before the first tick. */
  readonly init: Readonly<Record<string, (row: number, col: number) => number>>
  readonly tensors: (state: Tensors, reads: Tensors) => readonly [Tensors, Tensors]
  readonly numbers: (state: Numbers, reads: Numbers) => readonly [Numbers, Numbers]
}

const port = (offset: readonly [number, number], as: string, empty = 0, latency = 1): KindPort => ({ offset, as, latency, empty })
/** Farther than any path here, and far enough from the largest integer to add two. */
const FAR = 2 ** 24
const hash = (row: number, col: number): number => (row * 7919 + col * 104729) % 23

export const KINDS: Readonly<Record<string, Kind>> = {
  mac: {
    ports: { east: port([0, 1], 'west'), south: port([1, 0], 'north') },
    init: { acc: () => 0 },
    tensors: ({ acc }, { west, north }) => [{ acc: acc!.add(west!.mul(north!)) }, { east: west!, south: north! }],
    numbers: ({ acc }, { west, north }) => [{ acc: (acc! + Math.imul(west!, north!)) | 0 }, { east: west!, south: north! }]
  },
  sorter: {
    ports: { east: port([0, 1], 'west', -FAR), west: port([0, -1], 'east', FAR) },
    init: { held: hash, eastward: (_, col) => col % 2 },
    tensors({ held, eastward }, { west, east }) {
      const turn = eastward!.equal(1)
      const other = ft.where(turn, east!, west!)
      const next = ft.where(ft.where(turn, held!.greater(other), other.greater(held!)), other, held!)
      return [{ held: next, eastward: ft.subtract(1, eastward!) }, { east: next, west: next }]
    },
    numbers({ held, eastward }, { west, east }) {
      const other = eastward === 1 ? east! : west!
      const next = (eastward === 1 ? held! > other : other > held!) ? other : held!
      return [{ held: next, eastward: 1 - eastward! }, { east: next, west: next }]
    }
  },
  dp: {
    ports: { east: port([0, 1], 'west', 3), south: port([1, 0], 'north', 5), southeast: port([1, 1], 'northwest', 2, 2) },
    init: { cost: hash, best: () => 0 },
    tensors({ cost, best }, { west, north, northwest }) {
      const next = ft.minimum(ft.minimum(west!, north!).add(1), northwest!.add(cost!))
      return [{ cost: cost!, best: ft.maximum(best!, next) }, { east: next, south: next, southeast: next }]
    },
    numbers({ cost, best }, { west, north, northwest }) {
      const next = Math.min(Math.min(west!, north!) + 1, northwest! + cost!)
      return [{ cost: cost!, best: Math.max(best!, next) }, { east: next, south: next, southeast: next }]
    }
  },
  minPlus: {
    ports: { east: port([0, 1], 'west', FAR), south: port([1, 0], 'north', FAR, 3) },
    init: { shortest: () => FAR },
    tensors: ({ shortest }, { west, north }) => [{ shortest: ft.minimum(shortest!, west!.add(north!)) }, { east: west!, south: north! }],
    numbers: ({ shortest }, { west, north }) => [{ shortest: Math.min(shortest!, west! + north!) }, { east: west!, south: north! }]
  }
}

/** Every state depends on everything, through ports of these offsets and latencies. */
export function mixer(ports: Readonly<Record<string, KindPort>>): Kind {
  const names = Object.keys(ports)
  return {
    ports,
    init: { sum: hash },
    tensors({ sum }, reads) {
      const next = names.reduce((all, name) => all.mul(17).add(reads[(ports[name] as KindPort).as]!), sum!.mul(31))
      return [{ sum: next }, Object.fromEntries(names.map((name, i) => [name, next.mod(251).add(i)]))]
    },
    numbers({ sum }, reads) {
      const next = names.reduce((all, name) => (Math.imul(all, 17) + reads[(ports[name] as KindPort).as]!) | 0, Math.imul(sum!, 31))
      // The remainder has the sign of the divisor, as that of tensors.
      return [{ sum: next }, Object.fromEntries(names.map((name, i) => [name, (((next % 251) + 251) % 251) + i]))]
    }
  }
}

/** Places of the edge at which a port's values come in, or with `out` leave, in row-major order. */
export function edgeOf(rows: number, cols: number, [down, right]: readonly [number, number], out: boolean): [number, number][] {
  const sign = out ? 1 : -1
  const inside = (row: number, col: number): boolean => row >= 0 && row < rows && col >= 0 && col < cols
  return Array.from({ length: rows * cols }, (_, i): [number, number] => [Math.floor(i / cols), i % cols]).filter(([row, col]) => !inside(row + sign * down, col + sign * right))
}

/** The array as tensors. */
export function tracedOf({ ports, init, tensors }: Kind, rows: number, cols: number): ft.systolic.TracedArray<any, any> {
  const grid = (f: (row: number, col: number) => number): ft.Tensor<'int32'> => ft.tensor(Array.from({ length: rows }, (_, row) => Array.from({ length: cols }, (_, col) => f(row, col))), { dtype: 'int32' })
  const state = Object.fromEntries(Object.entries(init).map(([name, f]) => [name, { dtype: 'int32', init: grid(f) } as const]))
  return systolic.traced({ rows, cols, state, ports, step: tensors as never })
}

/** The same one interpreted, with values for each input: rows of ticks. */
export function interpretedOf({ ports, init, numbers }: Kind, rows: number, cols: number, inputs: Readonly<Record<string, readonly (readonly number[])[]>>): ft.systolic.SystolicArray {
  const names = Object.keys(ports)
  const reads = names.map((name) => `in ${(ports[name] as KindPort).as}`)
  const element: ft.systolic.Element<Numbers> = {
    init: (_, { coord: [row, col] }) => Object.fromEntries(Object.entries(init).map(([name, f]) => [name, f(row as number, col as number)])),
    step: (state, inputs) => numbers(state, Object.fromEntries(names.map((name, i) => [(ports[name] as KindPort).as, inputs[reads[i] as string] === systolic.EMPTY ? (ports[name] as KindPort).empty : (inputs[reads[i] as string] as number)])))
  }
  const space: ft.systolic.CustomSpace = {
    coords: Array.from({ length: rows * cols }, (_, i) => [Math.floor(i / cols), i % cols]),
    ports: [...names, ...reads],
    neighbours([row, col], name) {
      if (!names.includes(name)) return undefined
      const { offset: [down, right], as } = ports[name] as KindPort
      const [r, c] = [(row as number) + down, (col as number) + right]
      return r < 0 || r >= rows || c < 0 || c >= cols ? undefined : { coord: [r, c], port: `in ${as}` }
    }
  }
  let made = systolic.array(space).fill(element)
  for (const name of names) {
    const { offset, as, latency } = ports[name] as KindPort
    const entries = edgeOf(rows, cols, offset, false)
    made = made.connect(name, { latency }).output(name)
    for (const coord of entries) made = made.link({ to: { coord, port: `in ${as}` } }, { latency })
    const values = inputs[as]
    if (values !== undefined) made = made.input(`in ${as}`, entries.map((coord, i) => [coord, values.map((row) => row[i] as number)]))
  }
  return made
}
