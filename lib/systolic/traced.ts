// Systolic arrays whose elements are one program of tensors: `step` is recorded over whole grids, and ticks run as programs of many, on any device.

import { callable, synchronous } from '../arguments/functions.js'
import { jobOptions, type Progress } from '../arguments/job-options.js'
import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { deviceNumber, deviceName, onDevice } from '../devices/devices.js'
import { ArgumentError, TensorError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { flush } from '../execution/flush.js'
import type { DType } from '../generated/dtypes.js'
import { concat, full, stack, zeros } from '../generated/functions.js'
import { Slice } from '../indexing/slice.js'
import { isTensor } from '../program/node.js'
import { isNoValue, isTracing } from '../program/placeholder.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { matches, specOf, type Brought } from '../transforms/argument-signature.js'
import { isInline, tracedCalls } from '../transforms/jit.js'
import { traced as recorded } from '../transforms/trace.js'
import { sameType } from '../tree/traverse.js'
import { leaving, moved } from './edges.js'
import { beginningGiven, collectedGiven, deviceGiven, inputsGiven, RUN } from './traced-inputs.js'
import { initial, namesGiven, portsGiven, sizesGiven, statesGiven, type Opposite, type PortPlan, type State, type TracedPort, type TracedState } from './traced-parts.js'

/** States by name. */
export type TracedStates = Readonly<Record<string, TracedState>>

/** Ports by name. */
export type TracedPorts = Readonly<Record<string, TracedPort>>

type DTypeOfState<T> = T extends DType ? T : T extends { readonly dtype: infer D extends DType } ? D : DType

/** The tensors of all states, [rows, cols] each. */
export type StateTensors<S extends TracedStates> = { readonly [K in keyof S]: Tensor<DTypeOfState<S[K]>> }

/** The dtype of a port: its own, else that of the states, else float32. */
type DTypeOfPort<S extends TracedStates, T> = T extends { readonly dtype: infer D extends DType } ? D : [keyof S] extends [never] ? 'float32' : DTypeOfState<S[keyof S]>

/** The name under which a port is read. */
type ReadAs<N, T> = T extends { readonly as: infer A extends string } ? A : N extends keyof Opposite ? Opposite[N] : N

/** What all ports read, [rows, cols] each, by the names under which they are read. */
export type PortReads<S extends TracedStates, P extends TracedPorts> = { readonly [N in keyof P as ReadAs<N, P[N]> & string]: Tensor<DTypeOfPort<S, P[N]>> }

/** What is written to ports, [rows, cols] each, by their names. */
export type PortWrites<S extends TracedStates, P extends TracedPorts> = { readonly [N in keyof P]?: Tensor<DTypeOfPort<S, P[N]>> | undefined }

/** What `traced` is given. */
export interface TracedOptions<S extends TracedStates, P extends TracedPorts> {
  readonly rows: number
  readonly cols: number
  readonly state: S
  readonly ports: P
  /** One tick of all elements: from the states and what the ports read, the next states and what is written. */
  readonly step: (state: StateTensors<S>, inputs: PortReads<S, P>) => readonly [state: StateTensors<S>, outputs?: PortWrites<S, P>]
}

/** What a run leaves, and another one can go on from. */
export interface TracedRun<S extends TracedStates = TracedStates, P extends TracedPorts = TracedPorts, O extends keyof P = keyof P> {
  /** The states, [rows, cols] each. */
  readonly state: StateTensors<S>
  /** What left the array in each tick of this run, [ticks, places at the edge], by the ports that `outputs` names. */
  readonly outputs: { readonly [N in O]: Tensor<DTypeOfPort<S, P[N]>> }
  /** What is under way, for each port as many tensors [rows, cols] as its latency has ticks: first what was written last. */
  readonly links: { readonly [N in keyof P]: readonly Tensor<DTypeOfPort<S, P[N]>>[] }
  /** Ticks that have passed. */
  readonly tick: number
}

/** Options of a traced array's `run`. */
export interface TracedRunOptions<S extends TracedStates, P extends TracedPorts, O extends keyof P> {
  /** How many ticks; 0 gives what there was. */
  readonly ticks: number
  /** What an earlier run left, to go on from. */
  readonly from?: Pick<TracedRun<S, P, never>, 'state' | 'links' | 'tick'> | undefined
  /** What states begin with, in the place of `init` or of those of `from`: tensors [rows, cols]. */
  readonly state?: { readonly [K in keyof S]?: StateTensors<S>[K] | undefined } | undefined
  /** Ports whose values are collected where they leave the array; none by default. */
  readonly outputs?: readonly O[] | undefined
  /** That of the tensors of the call by default, else the default device. */
  readonly device?: Device | undefined
  /** Called after each program with the ticks that were handed to the device. What it throws ends the run. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** A systolic array of one program for all elements. */
export interface TracedArray<S extends TracedStates, P extends TracedPorts> {
  readonly rows: number
  readonly cols: number
  /**
   * Runs ticks. An input is a tensor [ticks, n] by the name under which its port is read: row t has the values of tick t for the n places of the edge that it comes in at, in
   * row-major order. Ports without one read what is `empty`.
   *
   * @throws {TensorError} `ERR_ARGUMENT` for unknown names and missing ticks, more than 2^20 ticks and 2^34 steps of elements in a call; `ERR_SHAPE`, `ERR_DTYPE`,
   * `ERR_DEVICE` for tensors, naming the port or state; what `step` throws.
   */
  run<O extends keyof P = never>(inputs: { readonly [N in keyof PortReads<S, P>]?: PortReads<S, P>[N] | undefined }, options: TracedRunOptions<S, P, O>): TracedRun<S, P, O>
}

/** Ticks of a program. Longer ones run no faster, and take longer to plan. */
const TICKS = 64
/** Ticks of a call, and steps of its elements: up to a minute. */
const [MOST_TICKS, MOST_STEPS] = [2 ** 20, 2 ** 34]
/** Tensors that are joined in one program. */
const MOST_JOINED = 64

const OP = 'systolic.traced'

/** What goes from tick to tick, by the order of states and ports. */
interface Carried {
  readonly state: readonly Tensor[]
  /** What was written last to each port. */
  readonly written: readonly Tensor[]
  /** What has gone by the offset and is still to be read, the newest first: a tick less than the latency. */
  readonly waiting: readonly (readonly Tensor[])[]
}

/** An array, checked. */
interface Plan {
  readonly sizes: readonly [rows: number, cols: number]
  readonly states: readonly State[]
  readonly ports: readonly PortPlan[]
  readonly step: (state: object, inputs: object) => unknown
}

const byName = <T>(names: readonly { readonly name: string }[], list: readonly T[]): Record<string, T> => Object.fromEntries(names.map(({ name }, i) => [name, list[i] as T]))

/** One tick: the next states, and what is written; undefined where nothing is. */
function stepped(op: string, { states, ports, step }: Plan, state: readonly Tensor[], reads: readonly Tensor[]): readonly [readonly Tensor[], readonly (Tensor | undefined)[]] {
  let found: unknown
  try {
    found = step(byName(states, state), Object.fromEntries(ports.map(({ as }, i) => [as, reads[i]])))
  } catch (error) {
    if (!isNoValue(error)) throw error
    throw new ArgumentError(`${op}: 'step' needs the value of a tensor, and is recorded once for all elements and ticks; choose by ft.where, and keep in a state what is to be read`, { cause: error })
  }
  synchronous(op, found, "'step' has to be synchronous, and records operations")
  if (!Array.isArray(found) || found.length < 1 || found.length > 2) throw new ArgumentError(`${op}: 'step' must return [state, outputs], got ${shown(found)}`)
  const next = namesGiven(op, "the states that 'step' returns", found[0], states.map(({ name }) => name))
  const outputs = namesGiven(op, "the outputs that 'step' returns", found[1] ?? {}, ports.map(({ name }) => name))
  const checked = (what: string, value: unknown, like: Tensor): Tensor => {
    const where = `${op}: ${what} that 'step' returns`
    if (!isTensor(value)) throw new ArgumentError(`${where} must be a tensor, got ${shown(value)}`)
    sameType(where, like, value)
    return value
  }
  return [
    states.map(({ name }, i) => checked(`the state '${name}'`, next[name], state[i] as Tensor)),
    ports.map(({ name }, i) => (outputs[name] === undefined ? undefined : checked(`the output '${name}'`, outputs[name], reads[i] as Tensor)))
  ]
}

/** A grid in which nothing was written. */
const nothing = ({ dtype, empty, way: { rows, cols } }: PortPlan, device: Device): Tensor => full([rows, cols], empty as number, { dtype, device }) as Tensor

/** Some ticks: what is carried on, and what left through the ports that are collected, [ticks, edge] each. */
function ticked(plan: Plan, device: Device, before: Carried, inputs: readonly (Tensor | null)[], ticks: number, collected: readonly boolean[]): readonly [Carried, readonly Tensor[]] {
  const { ports } = plan
  let { state, written } = before
  const waiting = before.waiting.map((grids) => [...grids])
  const left = ports.map((): Tensor[] => [])
  for (let tick = 0; tick < ticks; tick++) {
    const reads = ports.map(({ way, empty }, i) => {
      const queue = waiting[i] as Tensor[]
      queue.unshift(moved(written[i] as Tensor, way, inputs[i]?.at(tick) ?? empty))
      return queue.pop() as Tensor
    })
    const [next, outputs] = stepped(RUN, plan, state, reads)
    state = next
    written = ports.map((port, i) => outputs[i] ?? nothing(port, device))
    ports.forEach(({ way }, i) => collected[i] === true && (left[i] as Tensor[]).push(leaving(written[i] as Tensor, way)))
  }
  return [{ state, written, waiting }, left.filter((_, i) => collected[i]).map((rows) => stack(rows) as Tensor)]
}

/** Parts along the first axis as one. */
function joined(parts: readonly Tensor[]): Tensor {
  if (parts.length === 1) return parts[0] as Tensor
  const groups = Array.from({ length: Math.ceil(parts.length / MOST_JOINED) }, (_, i) => parts.slice(i * MOST_JOINED, (i + 1) * MOST_JOINED))
  return joined(groups.map((group) => (group.length === 1 ? (group[0] as Tensor) : (concat(group, { axis: 0 }) as Tensor))))
}

/** That a step works on grids of its states and ports; nothing is computed. */
function checkStep(plan: Plan): void {
  const device = deviceName(deviceNumber(OP, undefined))
  const args = [plan.states.map(({ dtype }) => zeros(plan.sizes, { dtype, device }) as Tensor), plan.ports.map((port) => nothing(port, device))] as const
  const record = (state: readonly Tensor[], reads: readonly Tensor[]): unknown => stepped(OP, plan, state, reads)
  // What is traced itself is recorded there: its tensors are no constants.
  if (isTracing()) return void record(...args)
  const specs = args.map(specOf)
  const brought: Brought = { tensors: [], numbers: [] }
  args.forEach((arg, i) => matches(specs[i] as (typeof specs)[number], arg, brought))
  recorded(OP, record as (...args: never[]) => unknown, args, specs, brought, deviceNumber(OP, undefined), (constants) => flush(constants, false))
}

/** Runs a program. What is wrong with tensors that a step took from around it is an error of the run. */
function running<T>(f: () => T): T {
  try {
    return f()
  } catch (error) {
    // Errors of the step itself go through as they are.
    if (!(error instanceof TensorError && error.message.startsWith('jit: '))) throw error
    return within(RUN, () => {
      throw error
    })
  }
}

/** Apart from the caller's: whoever disposes of one has the other. */
const own = (x: Tensor): Tensor => x.reshape(x.shape) as Tensor

/** {@link ticked} of an array on a device. */
type Ticked = (before: Carried, inputs: readonly (Tensor | null)[], ticks: number, collected: readonly boolean[]) => readonly [Carried, readonly Tensor[]]

/** The function `run` of an array. */
function runner(plan: Plan): (inputs: unknown, options: unknown) => TracedRun {
  const { sizes, states, ports } = plan
  // One for each device: constants of a program are on it.
  const programs = new Map<Device, Ticked>()
  const program = (device: Device, ticks: Ticked): Ticked => {
    let found = programs.get(device)
    if (found === undefined) programs.set(device, (found = tracedCalls(ticks as (...args: never[]) => unknown, [2], [], false) as unknown as Ticked))
    return found
  }
  return (inputsGivenTo, options) => {
    const given = checkOptions(RUN, options, ['ticks', 'from', 'state', 'outputs', 'device', 'onProgress'])
    if (given['ticks'] === undefined) throw new ArgumentError(`${RUN}: 'ticks' is missing: how long to run`)
    const ticks = integer(RUN, 'ticks', given['ticks'])
    if (ticks < 0) throw new ArgumentError(`${RUN}: 'ticks' must not be negative, got ${ticks}`)
    if (ticks > MOST_TICKS || ticks * sizes[0] * sizes[1] > MOST_STEPS) throw new ArgumentError(`${RUN}: ${ticks} ticks of ${sizes[0]} x ${sizes[1]} elements are more than ${ticks > MOST_TICKS ? `${MOST_TICKS} ticks` : `${MOST_STEPS} steps`}; longer runs are several calls, each 'from' the one before`)
    const { onProgress } = jobOptions(RUN, { onProgress: given['onProgress'] })
    const inputs = inputsGiven(ports, inputsGivenTo, ticks)
    const collected = collectedGiven(ports, given['outputs'])
    const beginning = beginningGiven(sizes, states, ports, given['from'], given['state'])
    const device = deviceGiven(given['device'], [
      ...ports.map(({ as }, i) => [`input '${as}'`, inputs[i] ?? null] as const),
      ...states.map(({ name, init }, i) => [`state '${name}'`, beginning.state[i] ?? (isTensor(init) ? init : null)] as const),
      ...ports.flatMap(({ name }, i) => (beginning.links[i] ?? []).map((x) => [`a link of port '${name}'`, x] as const))
    ])
    return onDevice(deviceNumber(RUN, device), () => {
      const links = ports.map((port, i) => beginning.links[i] ?? Array.from({ length: port.latency }, () => nothing(port, device)))
      let carried: Carried = {
        state: states.map((state, i) => beginning.state[i] ?? initial(state, sizes, device, RUN)),
        written: links.map(([first]) => first as Tensor),
        waiting: links.map((grids) => grids.slice(1))
      }
      const left: (readonly Tensor[])[] = []
      const inline = isInline()
      const recording: Ticked = (...args) => ticked(plan, device, ...args)
      const run = inline ? recording : program(device, recording)
      for (let done = 0; done < ticks; ) {
        const count = Math.min(TICKS, ticks - done)
        const parts = inputs.map((x) => (x === null || count === ticks ? x : (x.at(new Slice(done, done + count)) as Tensor)))
        const [next, outputs] = running(() => run(carried, parts, count, collected))
        if (!inline) {
          // Of no more use: without this they would wait for V8's collector.
          if (done > 0) for (const x of [...carried.state, ...carried.written, ...carried.waiting.flat()]) x.dispose()
          if (count < ticks) for (const x of parts) x?.dispose()
        }
        carried = next
        left.push(outputs)
        done += count
        onProgress?.({ done, total: ticks, label: 'ticks' })
      }
      // A step may return a tensor for a state and for a port, or one of those that it was given.
      const taken = new Set<Tensor>([...beginning.state, ...beginning.links.flatMap((grids) => grids ?? []), ...states.map(({ init }) => init)].filter(isTensor))
      const kept = (x: Tensor): Tensor => {
        const shared = taken.has(x)
        taken.add(x)
        return shared ? own(x) : x
      }
      let place = 0
      const outputs = ports.flatMap(({ name, dtype, empty, edge }, i): [string, Tensor][] => {
        if (collected[i] !== true) return []
        const at = place++
        return [[name, ticks === 0 ? (full([0, edge], empty as number, { dtype, device }) as Tensor) : joined(left.map((parts) => parts[at] as Tensor))]]
      })
      return {
        state: byName(states, carried.state.map(kept)),
        outputs: Object.fromEntries(outputs),
        links: byName(ports, carried.written.map((grid, i) => [grid, ...(carried.waiting[i] as readonly Tensor[])].map(kept))),
        tick: beginning.tick + ticks
      }
    })
  }
}

/**
 * A grid of elements that all have one program, `step`, which is recorded over whole grids: states, what ports read and what they are written are tensors [rows, cols], and an
 * operation on them is that of all elements. In a tick all ports are read, then `step` is computed, then what it returns for a port goes by the port's offset. A
 * run is programs of 64 ticks each, on any device, which keeps the states; gradients go through.
 *
 * What is written to a port is read `latency` ticks later, `offset` away, under the name `as`; what leads out of the grid leaves it (`outputs` of `run`). Places that no
 * value reaches read the inputs of `run`, or the number `empty`: 0, or what is neutral to the step, as infinity is where it takes minima. After Kung and Leiserson,
 * "Systolic arrays (for VLSI)", 1979.
 *
 * `step` is called with tensors that have no values, once for each tick of a program: it must be a function of its arguments alone, and return a tensor
 * [rows, cols] of the same dtype for each state. Ports that it leaves out are written `empty`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes that are no whole numbers from 1, more than 2^26 elements, states, ports and options that are none, and where `step` returns
 * something else, or needs a value; `ERR_SHAPE`, `ERR_DTYPE`, `ERR_DEVICE` for tensors that it returns, naming the state or port; what `step` throws.
 * @example
 * ```ts
 * ft.systolic.traced({ rows: 1, cols: 2, state: { sum: 'float32' }, ports: { east: [0, 1] }, step: ({ sum }, { west }) => [{ sum: sum.add(west) }, { east: west }] }).run({ west: ft.tensor([[1], [2], [3]]) }, { ticks: 3 }).state.sum // [[6, 3]]
 * ```
 */
export function traced<const S extends TracedStates, const P extends TracedPorts>(options: TracedOptions<S, P>): TracedArray<S, P> {
  const { rows, cols, state, ports: portsOption, step } = checkOptions(OP, options ?? null, ['rows', 'cols', 'state', 'ports', 'step'])
  const sizes = sizesGiven(OP, rows, cols)
  const states = statesGiven(OP, state, sizes)
  const ports = portsGiven(OP, portsOption, states, sizes)
  callable(`${OP}: 'step'`, step)
  const plan: Plan = { sizes, states, ports, step: step as Plan['step'] }
  checkStep(plan)
  return { rows: sizes[0], cols: sizes[1], run: runner(plan) as unknown as TracedArray<S, P>['run'] }
}
