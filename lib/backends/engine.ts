// What stands behind a backend: something that runs jobs whose arguments are known to be right.

import type { JobOptions } from '../arguments/job-options.js'
import type { Precision } from './arrays.js'
import type { Job } from './job.js'

/** What a backend is, as data. */
export interface BackendInfo {
  /** Its name in `get`. */
  readonly name: string
  /** Whether it can compute here. */
  readonly available: boolean
  /** Why it cannot, in words. */
  readonly reason?: string
  /** Version of what computes: of the library, where there is one, else of this package. */
  readonly version?: string
  /** The instruction set in use: `avx2`, `avx512`, `neon`, ... */
  readonly isa?: string
  /** How many threads compute, the calling one included. */
  readonly threads?: number
  /** The library that computes, by its own name. */
  readonly library?: string
  /** The device that computes, by its own name. */
  readonly device?: string
  /** The library's name of the kernels it has chosen for this processor. */
  readonly core?: string
}

/** Runs jobs that are not empty, on memory that nobody else writes to. */
export interface Engine {
  readonly name: string
  /** Why it cannot run anything, if so. */
  readonly reason: string | undefined
  /** What it computes in. */
  readonly dtypes: readonly Precision[]
  /** Whether it is a GPU, not a program that imitates one. */
  readonly gpu: boolean
  /** Whether `runAsync` has copied operands when it returns; their owner may change them then. */
  readonly copies: boolean
  info(): BackendInfo
  /** Writes the job's `out`. `op` leads the message of an error. */
  run(op: string, job: Job): void
  /** As `run`, off the event loop; whatever `onProgress` throws and the signal's reason end it. */
  runAsync(op: string, job: Job, options: Required<JobOptions>): Promise<void>
}
