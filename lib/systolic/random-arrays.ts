// Random small arrays: spaces, elements, links with latencies and capacities, inputs with gaps, observed in every way. The same seed gives the same
// array. All arithmetic is of 32-bit integers, so results do not depend on how sums are rounded.

import { array, type SystolicArray } from './array.js'
import { EMPTY, type Element } from './element.js'
import { mac, stationary } from './mac.js'
import type { Coord } from './space.js'

/** Numbers below a bound, from a seed (mulberry32: a counter, mixed). */
export function drawing(seed: number): (bound: number) => number {
  let state = seed >>> 0
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

/** An element whose next state depends on everything it sees, and which writes to some ports in some ticks. */
function mixer(ports: readonly string[], which: number): Element<number> {
  return {
    init: (options: { readonly start?: number }, { coord }) => (options.start ?? 0) + coord.reduce((sum, n) => sum * 7 + n, which),
    step(state, inputs, { tick }) {
      let next = Math.imul(state, 31) + tick
      for (const port of ports) {
        const value = inputs[port] as number | typeof EMPTY
        next = Math.imul(next, 17) + (value === EMPTY ? 3 : value)
      }
      next |= 0
      const written = ports.filter((_, i) => ((next >>> (i + which)) & 3) !== 0)
      return [next, Object.fromEntries(written.map((port, i) => [port, (next ^ i) & 0xff]))]
    }
  }
}

const DIRECTIONS = ['west_to_east', 'east_to_west', 'north_to_south', 'south_to_north']
const EDGE: Readonly<Record<string, string>> = { west_to_east: 'west', east_to_west: 'east', north_to_south: 'north', south_to_north: 'south' }

/** A grid of mixers, or of the elements of products. */
function grid(draw: (bound: number) => number): SystolicArray {
  const [rows, cols] = [1 + draw(5), 1 + draw(5)]
  let made = array(rows, cols)
  const kind = draw(3)
  if (kind === 0) made = made.fill(mac(), { '0,0': { acc: draw(9) } })
  else if (kind === 1) made = made.fill(stationary(), { [`${rows - 1},0`]: { weight: draw(9) - 4 } })
  else {
    made = made.fill(mixer(made.ports, draw(4)), { '0,0': { start: draw(100) } })
    if (draw(2) === 0) made = made.place([rows - 1, cols - 1], mixer(made.ports, 5))
  }
  const directions = kind === 2 ? DIRECTIONS.filter(() => draw(3) > 0) : ['west_to_east', 'north_to_south']
  for (const direction of directions) made = made.connect(direction, { latency: 1 + draw(3), capacity: 1 + draw(3) })
  for (const port of new Set([...directions.map((direction) => EDGE[direction] as string), 'west'])) {
    const inward = made.places.filter(({ coord: [row, col] }) => (port === 'west' ? col === 0 : port === 'east' ? col === cols - 1 : port === 'north' ? row === 0 : row === rows - 1))
    made = made.input(port, inward.map(({ coord }) => [coord, stream(draw)]))
  }
  return made.output('east').output('south', [[0, 0]])
}

/** A ring of elements with a chord: two links leave its first port, and all have two ports. */
function chorded(draw: (bound: number) => number): SystolicArray {
  const n = 3 + draw(6)
  const coords: Coord[] = Array.from({ length: n }, (_, i) => [i])
  const made = array({ coords, ports: ['a', 'b', 'c'], neighbours: ([i], port) => (port === 'a' ? { coord: [((i as number) + 1) % n], port: 'b' } : undefined) })
  return made
    .fill(mixer(made.ports, draw(4)))
    .connect('a', { latency: 1 + draw(2), capacity: 1 + draw(2) })
    .link({ from: { coord: [0], port: 'a' }, to: { coord: [n - 1], port: 'c' } }, { latency: 1 + draw(4) })
    .link({ to: { coord: [1], port: 'c' } }, { latency: 2, capacity: 1 })
    .input('c', [[[1], stream(draw)]])
    .output('b')
}

function stream(draw: (bound: number) => number): unknown[] {
  return Array.from({ length: draw(12) }, () => (draw(4) === 0 ? EMPTY : draw(19) - 9))
}

/** The array of a seed. */
export function randomArray(seed: number): SystolicArray {
  const draw = drawing(seed)
  const made = draw(4) === 0 ? chorded(draw) : grid(draw)
  return draw(2) === 0 ? made.trace({ limit: 20 + draw(400) }) : made
}
