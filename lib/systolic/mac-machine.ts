// An array of nothing but ordinary multiply-accumulate elements, over numbers: no state, input or output is an object. What it gives is what `Machine`
// gives, bit for bit.

import type { Parts } from './array.js'
import { EMPTY } from './element.js'
import type { MacState } from './mac.js'

/** Whether an array is one that this file runs. */
export function isPlainMac({ space, elements, states, links, flights, inputs, wiring, collects, tracing, tick }: Parts): boolean {
  if (space.kind !== 'grid' || tracing !== null || collects.length > 0) return false
  for (const element of elements) {
    const remote = element?.remote
    if (remote == null || !('builtin' in remote) || remote.builtin !== 'mac' || remote.ring !== 'plusTimes') return false
  }
  // In links of one place and one tick a value is read in the tick after its write: none is ever full when it is written to.
  for (const { latency, capacity, from } of links) if (latency !== 1 || capacity !== 1 || (from >= 0 && (wiring.first[from + 1] as number) - (wiring.first[from] as number) > 1)) return false
  return (
    states.every((state) => typeof (state as MacState | undefined)?.acc === 'number') &&
    flights.every((queue) => queue.every(({ value, arrives }) => typeof value === 'number' && arrives <= tick)) &&
    inputs.every(({ values, port }) => (wiring.into[port] as number) >= 0 && isNumeric(values))
  )
}

/** Streams that were looked at: an array that runs tick by tick has the same one each time. */
const numeric = new WeakMap<readonly unknown[], boolean>()

function isNumeric(values: readonly unknown[]): boolean {
  const found = numeric.get(values) ?? values.every((value) => value === EMPTY || typeof value === 'number')
  numeric.set(values, found)
  return found
}

/** Runs such an array. */
export function runPlainMac(parts: Parts, ticks: number): Parts {
  const { states, links, wiring, space, flights, inputs, counts } = parts
  const n = states.length
  const ports = space.ports.length
  const [north, south, east, west] = ['north', 'south', 'east', 'west'].map((port) => space.ports.indexOf(port)) as [number, number, number, number]
  // One place more than there are links: what no link leads to is read from there, and is never full.
  const none = links.length
  const values = new Float64Array(none + 2)
  const full = new Uint8Array(none + 2)
  const from = (port: number): Int32Array => Int32Array.from({ length: n }, (_, i) => { const link = wiring.into[i * ports + port] as number; return link < 0 ? none : link })
  const towards = (port: number): Int32Array => Int32Array.from({ length: n }, (_, i) => { const at = i * ports + port; return wiring.first[at] === wiring.first[at + 1] ? none + 1 : (wiring.leaving[wiring.first[at] as number] as number) })
  const [fromWest, fromNorth, toEast, toSouth] = [from(west), from(north), towards(east), towards(south)]
  // Links into the other two sides are read, too, and nothing comes of what they carry.
  const unused = [from(south), from(east)].map((list) => list.filter((link) => link !== none))
  flights.forEach((queue, i) => {
    const [flight] = queue
    if (flight === undefined) return
    values[i] = flight.value as number
    full[i] = 1
  })
  const acc = Float64Array.from(states, (state) => (state as MacState).acc)
  const at = Int32Array.from(inputs, (stream) => stream.at)
  const into = Int32Array.from(inputs, ({ port }) => wiring.into[port] as number)
  const [x, y] = [new Float64Array(n), new Float64Array(n)]
  const present = new Uint8Array(n)
  let deferred = 0
  for (let tick = 0; tick < ticks; tick++) {
    for (let i = 0; i < into.length; i++) {
      const stream = (inputs[i] as (typeof inputs)[number]).values
      const next = at[i] as number
      if (next === stream.length) continue
      const value = stream[next]
      const link = into[i] as number
      if (value !== EMPTY) {
        if (full[link] === 1) {
          deferred++
          continue
        }
        values[link] = value as number
        full[link] = 1
      }
      at[i] = next + 1
    }
    for (let i = 0; i < n; i++) {
      const w = fromWest[i] as number
      const h = fromNorth[i] as number
      const hasX = full[w] as number
      const hasY = full[h] as number
      const a = hasX === 1 ? (values[w] as number) : 0
      const b = hasY === 1 ? (values[h] as number) : 0
      acc[i] = (acc[i] as number) + a * b
      x[i] = a
      y[i] = b
      present[i] = hasX | (hasY << 1)
      full[w] = 0
      full[h] = 0
    }
    for (const list of unused) for (let i = 0; i < list.length; i++) full[list[i] as number] = 0
    for (let i = 0; i < n; i++) {
      const has = present[i] as number
      if ((has & 1) === 1) {
        const link = toEast[i] as number
        values[link] = x[i] as number
        full[link] = 1
      }
      if (has > 1) {
        const link = toSouth[i] as number
        values[link] = y[i] as number
        full[link] = 1
      }
    }
  }
  return {
    ...parts,
    states: Array.from(acc, (sum): MacState => ({ acc: sum })),
    flights: links.map((_, i) => (full[i] === 1 ? [{ value: values[i] as number, arrives: arrival(parts, i, parts.tick + ticks, ticks) }] : [])),
    inputs: inputs.flatMap((stream, i) => (at[i] === stream.values.length ? [] : [{ ...stream, at: at[i] as number }])),
    counts: { ...counts, deferred: counts.deferred + deferred },
    tick: parts.tick + ticks
  }
}

/** When a value can be read that is still under way: what was written in the last tick in the next one. */
const arrival = ({ flights }: Parts, link: number, tick: number, ticks: number): number => (ticks === 0 ? (flights[link]?.[0]?.arrives as number) : tick)
