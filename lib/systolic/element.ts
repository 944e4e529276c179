// What stands at a place of an array: a plain object of two functions, or the name of one in a module, which worker threads can load.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { Coord } from './space.js'

/**
 * What an input reads where nothing arrived, or where no link leads to it. A registered symbol: modules that worker threads load have
 * the same one, whichever copy of the package they import.
 */
export const EMPTY: unique symbol = Symbol.for('ferrotensor.systolic.EMPTY') as never

/** What an element reads at a port. */
export type Read<V = any> = V | typeof EMPTY

/** What a step is told beside its state and inputs. */
export interface StepContext {
  readonly coord: Coord
  /** From 0. */
  readonly tick: number
}

/** What a step gives: the next state, and the values it writes, by port; a port that is left out writes nothing. */
export type Stepped<S = any> = readonly [state: S, outputs?: Readonly<Record<string, any>>]

/**
 * A processing element. Both functions are pure: they change neither the state nor the inputs that they get, and the same arguments give
 * the same results.
 */
export interface Element<S = any> {
  /** The state before the first tick; `options` are those of this place (`fill`, `place`), an empty object without any. */
  readonly init: (options: any, context: { readonly coord: Coord }) => S
  /** One tick. Outputs have names of the space's ports; `result` is one more, which no link leads away from. */
  readonly step: (state: S, inputs: Readonly<Record<string, Read>>, context: StepContext) => Stepped<S>
  /** What `resultMatrix` and `resultMap` show of a state; the state itself where this is left out. */
  readonly result?: (state: S) => unknown
}

/** An element that worker threads can load. */
export interface ModuleElement {
  readonly module: string
  readonly name: string
}

/** How a worker makes an element: what a module exports, or one of the two that it has itself, with the arguments. */
export type Remote = { readonly module: string; readonly name: string } | { readonly builtin: 'mac' | 'stationary'; readonly ring: string; readonly swapped: boolean }

/** An element of a call, checked; `remote` is what the shortcuts for known elements look at. */
export interface Prepared {
  readonly init: Element['init']
  readonly step: Element['step']
  readonly result: (state: unknown) => unknown
  /** Null for functions, which cannot go to another thread. */
  readonly remote: Remote | null
}

/** What this package knows of elements that it made itself, and of those by name. */
const KNOWN = new WeakMap<object, Remote>()

/** Notes how a worker makes an element. */
export function known<E extends Element>(element: E, remote: Remote): E {
  KNOWN.set(element, remote)
  return Object.freeze(element)
}

const same = (state: unknown): unknown => state

/** Elements that were checked: an array of a thousand places has the same one everywhere. */
const prepared = new WeakMap<object, Prepared>()

/** An element of a call. */
export function elementGiven(op: string, value: unknown): Prepared {
  if (typeof value !== 'object' || value === null) throw new ArgumentError(`${op}: 'element' must be an object with the functions 'init' and 'step', got ${shown(value)}`)
  const found = prepared.get(value)
  if (found !== undefined) return found
  // Classes have these as methods, too: only their presence counts.
  const { init, step, result } = value as { init?: unknown; step?: unknown; result?: unknown }
  for (const [name, f] of [['init', init], ['step', step]] as const) {
    if (typeof f !== 'function') throw new ArgumentError(`${op}: an element's '${name}' must be a function, got ${shown(f)}`)
  }
  if (result !== undefined && typeof result !== 'function') throw new ArgumentError(`${op}: an element's 'result' must be a function, got ${shown(result)}`)
  const made: Prepared = {
    init: (init as Element['init']).bind(value),
    step: (step as Element['step']).bind(value),
    result: result === undefined ? same : (result as Prepared['result']).bind(value),
    remote: KNOWN.get(value) ?? null
  }
  // What is frozen stays as it was checked.
  if (Object.isFrozen(value)) prepared.set(value, made)
  return made
}

/**
 * An element that a module exports under a name, for worker threads: functions cannot go to another thread, so each thread imports the module. The
 * calling thread imports nothing: it is given the element itself, `use`, which must be the same one.
 *
 * @param url the module's address, as `new URL('./elements.mjs', import.meta.url)`.
 * @param name the name it exports the element by.
 * @param use the element, as this thread imported it.
 * @throws {ArgumentError} for an address that is no `file:`, `data:` or `node:` URL, an empty name, or no element.
 * @example
 * ```ts
 * Object.isFrozen(ft.systolic.element(new URL('file:///elements.mjs'), 'SUM', { init: () => 0, step: (sum) => [sum] })) // true
 * ```
 */
export function element<S>(url: URL | string, name: string, use: Element<S>): Element<S> {
  const op = 'systolic.element'
  const module = addressGiven(op, url)
  if (typeof name !== 'string' || name === '') throw new ArgumentError(`${op}: 'name' must be the name of an export, got ${shown(name)}`)
  const { init, step, result } = elementGiven(op, use)
  return known({ init, step, result } as Element<S>, { module, name })
}

function addressGiven(op: string, url: unknown): string {
  try {
    const { protocol, href } = new URL(typeof url === 'string' ? url : (url as URL).href)
    if (['file:', 'data:', 'node:'].includes(protocol)) return href
  } catch {
    // Refused below.
  }
  throw new ArgumentError(`${op}: 'url' must be the URL of a module (file:, data: or node:), got ${url instanceof URL ? url.href : shown(url)}`)
}

/** Options of a place, as plain data. */
export const optionsOfPlace = (op: string, value: unknown): unknown => (value === undefined ? {} : checkOptions(op, value, typeof value === 'object' && value !== null ? Object.keys(value) : []))
