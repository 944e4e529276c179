// Which backends there are: in TypeScript, on the CPU, on GPUs; by name, absent ones with the reason.

import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { didYouMean } from '../errors/did-you-mean.js'
import { backendOf, type Backend } from './backend.js'
import { cpuEngines } from './cpu.js'
import type { Engine } from './engine.js'
import { gpuEngines } from './gpu.js'
import { pure } from './pure.js'

/** A backend with what its user does not see. */
export interface Entry {
  readonly engine: Engine
  readonly backend: Backend
}

const entry = (engine: Engine): Entry => ({ engine, backend: backendOf(engine) })

let onCpu: readonly Entry[] | undefined
let onGpus: readonly Entry[] | undefined

/** What computes on this processor. */
export const cpuEntries = (): readonly Entry[] => (onCpu ??= [pure, ...cpuEngines()].map(entry))

/** What computes on GPUs. The first look opens their drivers, which takes up to 120 ms. */
export const gpuEntries = (): readonly Entry[] => (onGpus ??= gpuEngines().map(entry))

/**
 * All backends: `pure`, the engines of the CPU (`scalar`, `simd`, `parallel`, `blas`), and the GPUs by their device names; absent ones
 * too, which say why by `info().reason`.
 *
 * @example
 * ```ts
 * ft.backends.list()[0].name // 'pure'
 * ```
 */
export function list(): Backend[] {
  return [...cpuEntries(), ...gpuEntries()].map(({ backend }) => backend)
}

/** Names of those that can compute, and of the others with their reasons, in words. */
export function thereAre(): string {
  const all = list().map((backend) => backend.info())
  const present = all.filter(({ available }) => available).map(({ name }) => name)
  // Without a native binary most have one reason, of several lines.
  const reasons = new Map<string, string[]>()
  for (const { name, reason = '' } of all.filter(({ available }) => !available)) reasons.set(reason, [...(reasons.get(reason) ?? []), name])
  const absent = [...reasons].map(([reason, names]) => `${names.join(', ')} (${reason})`)
  return `there ${present.length === 1 ? 'is' : 'are'} ${present.join(', ')}${absent.length === 0 ? '' : `; absent: ${absent.join(', ')}`}`
}

/** A backend by name; `undefined` for a name that there is not. Looks for GPUs only for a name that no backend of the CPU has. */
export function find(name: string): Entry | undefined {
  const named = ({ engine }: Entry): boolean => engine.name === name
  return cpuEntries().find(named) ?? gpuEntries().find(named)
}

/**
 * A backend by its name, whether it can compute here or not: `isAvailable()` says so.
 *
 * @throws {ArgumentError} for a name that there is not, with those that there are.
 * @example
 * ```ts
 * ft.backends.get('pure').sum(new Float64Array([1, 2, 3])) // 6
 * ```
 */
export function get(name: string): Backend {
  const found = typeof name === 'string' ? find(name) : undefined
  if (found !== undefined) return found.backend
  const meant = typeof name === 'string' ? didYouMean(name, list().map((backend) => backend.name)) : ''
  throw new ArgumentError(`backends.get: there is no backend ${shown(name)}${meant}; ${thereAre()}`)
}
