// `ft.plan`: what kernels a function or an operation would run, where, and why not elsewhere. Nothing runs.

import { inspect } from 'node:util'
import { callable } from '../arguments/functions.js'
import { deviceNumber } from '../devices/devices.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { didYouMean } from '../errors/did-you-mean.js'
import * as fft from '../generated/fft.js'
import * as functions from '../generated/functions.js'
import * as linalg from '../generated/linalg.js'
import * as nn from '../generated/nn.js'
import { HEADER } from '../generated/protocol.js'
import { ints, native, reserve } from '../native.js'
import type { NativePlan } from '../native/plan.js'
import { openLevels } from '../program/lifetime.js'
import { checkAlive } from '../program/node.js'
import { isTracing } from '../program/placeholder.js'
import { columns } from '../text/table.js'
import { metric } from '../text/units.js'
import { matches, specOf, type Brought } from '../transforms/argument-signature.js'
import { traced } from '../transforms/trace.js'
import { leaves } from '../tree/traverse.js'

/** A device or a backend that does not run a kernel. */
export interface Rejection {
  /** A device (`vulkan:0`), or a backend without any (`cuda`). */
  readonly backend: string
  /** Why, in words. */
  readonly reason: string
}

/** One kernel of a plan. */
export interface PlannedKernel {
  /** Its kind, the operations it computes in order, dtype and shape, as in profiles. */
  readonly name: string
  /** The device that runs it. */
  readonly selected: string
  /** Why the tensors' device does not, so that operands are carried to the CPU and back; null where it does. */
  readonly lacking: string | null
  /** Whether it is a copy that is made only where an operand does not lie as it must. */
  readonly conditional: boolean
  /** Bytes of operands, each element counted once. */
  readonly read: number
  /** Bytes of results. */
  readonly written: number
  /** Bytes carried between devices because of `lacking`. */
  readonly carried: number
  /** Floating-point operations; null where they depend on values. */
  readonly flops: number | null
  /** Other devices that have this kernel, for tensors that live there. */
  readonly fallbacks: readonly string[]
  /** Devices that lack it, and backends without devices. */
  readonly rejected: readonly Rejection[]
}

/** What a function would run. Printed, it is a table. */
export class Plan {
  /** The tensors' device. */
  readonly device: string
  /** What that device calls itself, with the engine chosen: instruction set, library, driver. */
  readonly engine: string
  /** Kernels in the order in which they would run. */
  readonly kernels: readonly PlannedKernel[]
  /** Bytes of temporaries. */
  readonly temporary: number
  /** Bytes of results. */
  readonly results: number
  /** Kernels that fusion saves. */
  readonly fused: number

  /** @internal */
  constructor({ kernels, device, engine, temporary, results, fused }: NativePlan) {
    this.device = device
    this.engine = engine
    this.temporary = temporary
    this.results = results
    this.fused = fused
    this.kernels = kernels.map(({ device: selected, lacking = null, flops = null, ...k }) => ({ ...k, selected, lacking, flops }))
  }

  /** The table. */
  toString(): string {
    return table(this)
  }

  /** @internal */
  [inspect.custom](): string {
    return table(this)
  }
}

const HEADINGS = ['kernel', 'runs on', 'read', 'written', 'carried', 'flop', 'also on']
/** Names to the left, numbers to the right. */
const SIDES = 'llrrrrl'

function table({ device, engine, kernels, temporary, results, fused }: Plan): string {
  const rows = kernels.map((k) => [
    k.conditional ? `${k.name} (if needed)` : k.name,
    k.selected,
    metric(k.read, 'B'),
    metric(k.written, 'B'),
    k.carried === 0 ? '-' : metric(k.carried, 'B'),
    k.flops === null ? '-' : metric(k.flops),
    k.fallbacks.length === 0 ? '-' : k.fallbacks.join(', ')
  ])
  const lacking = kernels.flatMap((k) => (k.lacking === null ? [] : [`${device} lacks ${k.name}: ${k.lacking}`]))
  const rejections = new Map<string, string>()
  for (const { rejected } of kernels) for (const { backend, reason } of rejected) if (!rejections.has(backend)) rejections.set(backend, reason)
  const others = [...rejections].map(([backend, reason]) => `not on ${backend}: ${reason}`)
  const sums = `${kernels.length} ${kernels.length === 1 ? 'kernel' : 'kernels'} on ${device}, ${engine}; ${fused} saved by fusion; temporaries ${metric(temporary, 'B')}, results ${metric(results, 'B')}`
  return [...columns(SIDES, [HEADINGS, ...rows]), '', sums, ...lacking, ...others].join('\n')
}

/** Operands of an operation; lists of tensors are one. */
const MOST_OPERANDS = 100

/** Where operations are, by the part of a path before the dot. */
const NAMESPACES: Readonly<Record<string, object>> = { '': functions, fft, linalg, nn }

/** The function of an operation: `matmul`, `linalg.solve`. */
function operation(path: string): (...args: never[]) => unknown {
  const at = path.lastIndexOf('.')
  const [space, name] = [path.slice(0, Math.max(at, 0)), path.slice(at + 1)]
  const found = at !== 0 && Object.hasOwn(NAMESPACES, space) ? (NAMESPACES[space] as Record<string, unknown>)[name] : undefined
  if (typeof found === 'function') return found as (...args: never[]) => unknown
  const known = Object.entries(NAMESPACES).flatMap(([prefix, namespace]) => Object.keys(namespace).map((key) => (prefix === '' ? key : `${prefix}.${key}`)))
  throw new ArgumentError(`plan: there is no operation ${shown(path)}${didYouMean(path, known)}`)
}

/** The plan of a function with arguments of this kind. */
function planned(fn: (...args: never[]) => unknown, args: readonly unknown[]): Plan {
  if (isTracing() || openLevels() > 0) throw new ArgumentError('plan: not while a function is traced or differentiated; plan it from outside')
  args.forEach((arg, n) => {
    for (const x of leaves(arg, `plan: argument ${n}`)) checkAlive('plan', x)
  })
  const specs = args.map((arg) => specOf(arg))
  const brought: Brought = { tensors: [], numbers: [] }
  const odd = args.findIndex((arg, n) => !matches(specs[n] as (typeof specs)[number], arg, brought))
  if (odd >= 0) throw new ArgumentError(`plan: argument ${odd} is another each time it is looked at`)
  const { program, types } = traced('plan', fn, args, specs, brought, deviceNumber('plan', undefined), () => {})
  if (types.length === 0) throw new ArgumentError('plan: the function returns no tensor')
  const { words, params, inputs } = program
  reserve(words.length - HEADER, params.length, Math.max(inputs.length, types.length))
  ints.set(words)
  return new Plan(native.plan())
}

/**
 * What would run: kernels with the device of each, bytes and floating-point operations, what the tensors' device lacks and the CPU does in its place, which
 * other devices have a kernel, and why others do not. Nothing is computed and nothing allocated: tensors stand for their shapes and dtypes, as in `jit`,
 * so values cannot be read inside, and operands are taken to lie densely. Tensors recorded before are part of what would run.
 *
 * `plan(fn)` gives a function of the arguments of `fn`; `plan(op, inputs, options)` plans one operation by its name: `'matmul'`,
 * `'linalg.solve'`. No plan lowers a precision: kernels have the dtypes that were asked for.
 *
 * @returns A {@link Plan}.
 * @throws {TensorError} `ERR_ARGUMENT` for an unknown operation, a function that returns no tensor, and inside of a function that is traced
 * or differentiated; whatever the function throws.
 * @example
 * ```ts
 * ft.plan('matmul', [ft.ones([2, 3]), ft.ones([3, 4])]).kernels.map((k) => [k.name, k.written]) // [['contract matmul float32 [2, 3] x [3, 4]', 32]]
 * ```
 */
export function plan<F extends (...args: never[]) => unknown>(fn: F): (...args: Parameters<F>) => Plan
export function plan(op: string, inputs: readonly unknown[], options?: unknown): Plan
export function plan(what: unknown, inputs?: unknown, options?: unknown): unknown {
  if (typeof what === 'string') {
    const run = operation(what) as (...args: unknown[]) => unknown
    // An array's length may be that of nothing but holes, and of one behind a proxy anything.
    const count: unknown = Array.isArray(inputs) ? inputs.length : undefined
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > MOST_OPERANDS) {
      throw new ArgumentError(`plan: 'inputs' must be an array of operands, got ${shown(inputs)}`)
    }
    const operands: unknown[] = []
    for (let n = 0; n < count; n++) operands.push((inputs as readonly unknown[])[n])
    return planned((...args: unknown[]) => (options === undefined ? run(...args) : run(...args, options)), operands)
  }
  callable('plan', what)
  return (...args: unknown[]) => planned(what as (...args: never[]) => unknown, args)
}
