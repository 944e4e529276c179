// What ran, and how: counters, strictness about fallbacks, settings of recording and fusion.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { native } from '../native.js'
import type { Fallback, Rewriting } from '../native/control.js'
import { limits } from '../program/hooks.js'
import { recomputes } from '../program/writer.js'
import { traces, type Traces } from '../transforms/jit.js'

/** Counters of this worker since its start or `resetStats()`. */
export interface Stats extends Traces {
  /** Programs run. */
  readonly programs: number
  /** Operations in them. */
  readonly ops: number
  /** Kernels started. */
  readonly launches: number
  /** Kernels that became part of another. */
  readonly fusions: number
  /** Operations computed again because an earlier program dropped their values. */
  readonly recomputes: number
  /** Programs scheduled for the first time. */
  readonly schedules: number
  /** Programs run by the JavaScript thread itself. */
  readonly inline: number
  /** Bytes copied from JavaScript. */
  readonly uploaded: number
  /** Kernels that the tensors' device lacks and that ran there as others. */
  readonly rewritten: readonly Rewriting[]
  /** Kernels that ran elsewhere than on the tensors' device. */
  readonly fallbacks: readonly Fallback[]
}

/** The counters. */
export function stats(): Stats {
  return { ...native.stats(), recomputes: recomputes(), ...traces() }
}

/** Sets all counters to 0. */
export function resetStats(): void {
  native.resetStats()
  recomputes(true)
  traces(true)
}

const STRICTNESS = ['allow', 'warn', 'throw'] as const

/** What happens when a kernel has to run elsewhere than on the tensors' device. */
export type Strictness = (typeof STRICTNESS)[number]

const settings = { fusion: true, strict: 0 }

/**
 * Whether kernels that a device lacks may run on the CPU: counted only, with a warning, or as an error.
 *
 * @throws {ArgumentError} for another word.
 */
export function strict(mode: Strictness): void {
  const level = STRICTNESS.indexOf(mode)
  if (level < 0) throw new ArgumentError(`strict: one of ${STRICTNESS.join(', ')}, got ${shown(mode)}`)
  settings.strict = level
  native.config(settings.fusion, level)
}

/** Settings that change how programs run, never what they compute. */
export interface Config {
  /** Whether kernels are fused. Default true. */
  fusion?: boolean
  /** Operations recorded before they run: 1 runs each at once. Default 2048. */
  limit?: number
}

/**
 * Changes settings of this worker; returns them all.
 *
 * @throws {ArgumentError} for an unknown setting or a value of the wrong kind.
 */
export function config(changes: Config = {}): Required<Config> {
  checkOptions('config', changes, ['fusion', 'limit'])
  const { fusion = settings.fusion, limit = limits.nodes === 0 ? 1 : limits.nodes } = changes
  if (typeof fusion !== 'boolean') throw new ArgumentError(`config: fusion must be a boolean, got ${shown(fusion)}`)
  if (!Number.isInteger(limit) || limit < 1) throw new ArgumentError(`config: limit must be a whole number from 1, got ${shown(limit)}`)
  settings.fusion = fusion
  limits.nodes = limit === 1 ? 0 : limit
  native.config(fusion, settings.strict)
  return { fusion, limit }
}
