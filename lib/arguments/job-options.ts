// What long jobs tell of their progress, and how they are stopped: the options `onProgress` and `signal`.

import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

/** How far a job is. */
export interface Progress {
  /** How many parts are done: files, batches. */
  readonly done: number
  /** How many parts there are. */
  readonly total: number
  /** What the parts belong to, in words. */
  readonly label: string
}

/** The part of an `AbortSignal` that is used: `AbortSignal.timeout(ms)`, or the `signal` of an `AbortController`. */
export interface AbortSignalLike {
  /** Whether it was aborted. */
  readonly aborted: boolean
  /** Throws the reason if it was aborted. */
  throwIfAborted(): void
}

/** Options of long jobs. */
export interface JobOptions {
  /** Called with how far the job is. What it throws ends the job. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Ends the job with the signal's reason. */
  readonly signal?: AbortSignalLike | undefined
}

/** A job's options, checked; what is absent does nothing. */
export function jobOptions(op: string, { onProgress, signal }: { readonly onProgress?: unknown; readonly signal?: unknown }): Required<JobOptions> {
  if (onProgress !== undefined && typeof onProgress !== 'function') throw new ArgumentError(`${op}: 'onProgress' must be a function, got ${shown(onProgress)}`)
  // By what it can do: signals of other realms and of polyfills are no instances.
  if (signal !== undefined && (typeof signal !== 'object' || signal === null || typeof (signal as AbortSignalLike).throwIfAborted !== 'function')) {
    throw new ArgumentError(`${op}: 'signal' must be an AbortSignal, got ${shown(signal)}`)
  }
  return { onProgress: onProgress as JobOptions['onProgress'], signal: signal as JobOptions['signal'] }
}
