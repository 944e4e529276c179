// Which backend a piece of work should run on: by the table of thresholds, or as the environment says.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError, BackendUnavailableError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { Precision } from './arrays.js'
import type { Backend } from './backend.js'
import { OPERATIONS, productSizes, sizeGiven, type Operation } from './job.js'
import { cpuEntries, find, get, gpuEntries, thereAre, type Entry } from './registry.js'
import { THRESHOLDS } from './thresholds.js'

/** A piece of work, by its operation and sizes. */
export type Workload =
  | {
      readonly op: 'matmul'
      readonly m: number
      readonly n: number
      readonly k: number
      /** float32 by default. */
      readonly dtype?: Precision | undefined
    }
  | {
      readonly op: 'add' | 'dot' | 'sum' | 'scale'
      /** Elements of an operand. */
      readonly length: number
      /** float32 by default. */
      readonly dtype?: Precision | undefined
    }

/** A workload as the table looks at it. */
interface Work {
  readonly operation: Operation
  readonly amount: number
  readonly dtype: Precision
}

const OP = 'backends.autoSelect'
/** Work without bounds: what is best for large products. */
const LARGE: Work = { operation: 'matmul', amount: Infinity, dtype: 'float32' }

function workOf(workload: unknown): Work {
  if (workload === undefined) return LARGE
  if (typeof workload !== 'object' || workload === null) {
    throw new ArgumentError(`${OP}: 'workload' must be an object such as { op: 'sum', length: 1000 }, got ${shown(workload)}`)
  }
  const { op: operation, dtype = 'float32' } = workload as { readonly op?: unknown; readonly dtype?: unknown }
  if (typeof operation !== 'string' || !Object.hasOwn(OPERATIONS, operation)) {
    throw new ArgumentError(`${OP}: 'op' must be one of ${Object.keys(OPERATIONS).join(', ')}, got ${shown(operation)}`)
  }
  const given = checkOptions(OP, workload, ['op', ...OPERATIONS[operation as Operation].sizes, 'dtype'])
  if (dtype !== 'float32' && dtype !== 'float64') throw new DTypeError(`${OP}: 'dtype' must be 'float32' or 'float64', got ${shown(dtype)}`)
  const sizes = operation === 'matmul' ? productSizes(OP, given) : [sizeGiven(OP, 'length', given['length'])]
  return { operation: operation as Operation, amount: sizes.reduce((product, size) => product * size, 1), dtype }
}

/** The backend of a row, where it can do the work. A library's products have bits of their own: it must have been asked for. */
function candidate(name: string, dtype: Precision): Entry | undefined {
  if (name === 'gpu') return gpuEntries().find(({ engine }) => engine.gpu && engine.dtypes.includes(dtype))
  if (name === 'blas' && !process.env['FERROTENSOR_BLAS']) return undefined
  return cpuEntries().find(({ engine }) => engine.name === name && engine.reason === undefined)
}

/** The backend that FERROTENSOR_BACKEND names. */
function named(name: string): Backend {
  const found = find(name)
  if (found === undefined) throw new ArgumentError(`${OP}: FERROTENSOR_BACKEND names ${shown(name)}; ${thereAre()}`)
  if (found.engine.reason === undefined) return found.backend
  throw new BackendUnavailableError(`${OP}: FERROTENSOR_BACKEND names ${shown(name)}, which is not available; ${thereAre()}`)
}

/**
 * The backend that should be fastest for a piece of work: small work stays in TypeScript, larger goes to `scalar`, products and sums to `simd`,
 * then to `parallel`, and a large product to a GPU, arrays there and back included. `blas` is chosen where FERROTENSOR_BLAS asks for it; a GPU that a program imitates never is.
 * Without a workload: the best for large products. The environment variable FERROTENSOR_BACKEND names one for everything.
 *
 * @throws {TensorError} `ERR_ARGUMENT`, `ERR_SHAPE`, `ERR_DTYPE` for an argument that is not a workload; `ERR_ARGUMENT` or `ERR_BACKEND_UNAVAILABLE` where
 * FERROTENSOR_BACKEND names one that is not there, with those that are.
 * @example
 * ```ts
 * ft.backends.autoSelect({ op: 'matmul', m: 2, n: 2, k: 2 }).name // 'pure'
 * ```
 */
export function autoSelect(workload?: Workload): Backend {
  const { operation, amount, dtype } = workOf(workload)
  const asked = process.env['FERROTENSOR_BACKEND']
  if (asked) return named(asked)
  const [pure, ...rows] = THRESHOLDS
  const fitting = rows.filter(({ from }) => amount >= from[operation])
  return fitting.reduce((best, { backend }) => candidate(backend, dtype)?.backend ?? best, get(pure.backend))
}
