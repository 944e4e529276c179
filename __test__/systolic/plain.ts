// The contract of a tick, written once more and as plainly as it reads: maps and lists, no numbers for anything. Another backend, which is the measure of
// the package's own; and, with a fault, one that the conformance suite must refuse.

import * as ft from 'ferrotensor'

const { EMPTY } = ft.systolic

/** What a broken backend does wrong. */
export type Fault = 'skipped barrier' | 'lost latency' | 'wrong order' | 'zero padding'
export const FAULTS: readonly Fault[] = ['skipped barrier', 'lost latency', 'wrong order', 'zero padding']

type Array_ = ft.systolic.SystolicArray

const key = ({ coord, port }: ft.systolic.Port): string => `${coord.join(',')}.${port}`

function run(array: Array_, ticks: number, fault?: Fault): Array_ {
  const links = array.links.map((link) => ({ ...link, queue: [...link.queue] }))
  const inputs = array.inputs.map(({ coord, port, values }) => ({ at: key({ coord, port }), values: [...values] }))
  const places = array.places.map((place) => ({ ...place }))
  const collected = new Set(array.collected.map(key))
  const counts = { ...array.counts }
  const outputs = [...array.outputs]
  const events: ft.systolic.ElementEvent[] = []
  let tick = array.tick
  const push = (link: (typeof links)[number], value: unknown, delay: number): boolean => {
    if (link.queue.length >= link.capacity) return false
    const flight = { value, arrives: tick + delay }
    if (fault === 'wrong order') link.queue.unshift(flight)
    else link.queue.push(flight)
    return true
  }
  const latencyOf = (link: (typeof links)[number]): number => (fault === 'lost latency' ? 1 : link.latency)
  for (let i = 0; i < ticks; i++, tick++) {
    // Inject.
    for (const input of inputs) {
      if (input.values.length === 0) continue
      const link = links.find(({ to }) => key(to) === input.at)
      if (link === undefined) counts.unmatched++
      else if (input.values[0] === EMPTY || push(link, input.values[0], latencyOf(link) - 1)) input.values.shift()
      else counts.deferred++
    }
    const read = ({ coord }: (typeof places)[number]): Record<string, unknown> =>
      Object.fromEntries(array.ports.map((port) => {
        const link = links.find(({ to }) => key(to) === key({ coord, port }))
        const arrived = link?.queue[0] !== undefined && (fault === 'skipped barrier' || link.queue[0].arrives <= tick)
        return [port, arrived ? link.queue.shift()?.value : fault === 'zero padding' ? 0 : EMPTY]
      }))
    // Read, execute, collect.
    const frozen = fault === 'skipped barrier' ? null : places.map(read)
    const writes: (() => void)[] = []
    places.forEach((place, at) => {
      const { coord, step, state } = place
      const seen = frozen === null ? read(place) : (frozen[at] as Record<string, unknown>)
      if (step === null) return
      const about = `the element at [${coord.join(', ')}] in tick ${tick}`
      let stepped: ft.systolic.Stepped
      try {
        stepped = step(state, seen, { coord, tick })
      } catch (error) {
        throw new Error(`${about}: ${String(error)}`)
      }
      if (!Array.isArray(stepped) || stepped.length < 1 || stepped.length > 2) throw new Error(`${about}: no [state, outputs]`)
      const [next, given = {}] = stepped as unknown as readonly [unknown, Record<string, unknown>?]
      if (typeof given !== 'object' || Object.keys(given).some((port) => port !== 'result' && !array.ports.includes(port))) throw new Error(`${about}: no outputs by port`)
      const written = Object.entries(given).filter(([, value]) => value !== undefined && value !== EMPTY)
      place.state = next
      for (const [port, value] of written) {
        if (collected.has(key({ coord, port }))) outputs.push({ tick, coord, port, value })
        const write = (): void => {
          for (const link of links) {
            if (link.from === undefined || key(link.from) !== key({ coord, port }) || push(link, value, latencyOf(link))) continue
            counts.dropped++
            if (link.onFull === 'throw') throw new Error(`${about}: full`)
          }
        }
        if (fault === 'skipped barrier') write()
        else writes.push(write)
      }
      if (array.traced) events.push({ tick, coord, inputs: seen, outputs: Object.fromEntries(written), stateBefore: state, stateAfter: next })
    })
    // Write.
    for (const write of writes) write()
  }
  return array.after({ tick, states: places.map(({ state }) => state as unknown), queues: links.map(({ queue }) => queue), inputs: inputs.map(({ values }) => values), counts, outputs, events })
}

/** The plain backend; with a fault, a broken one. */
export const plain = (fault?: Fault): ft.systolic.ArrayBackend => ({ name: fault ?? 'plain', run: (array, { ticks }) => run(array, ticks, fault) })
