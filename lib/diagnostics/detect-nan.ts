// `ft.detectNaN`: which operation makes a NaN. While it is on, each operation runs as it is recorded, and its result is looked at.

import { ArgumentError, NaNError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { OP } from '../generated/table.js'
import { isDifferentiable } from '../program/derived-call.js'
import { detectedWith, undetected } from '../program/hooks.js'
import { constant } from '../program/markers.js'
import { isTensor } from '../program/node.js'
import type { Signature } from '../program/types.js'
import { isPromise } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { dataSync, evaluateSync } from '../values/read.js'
import { recorded, type Recorded } from './describe-call.js'

/**
 * Calls a synchronous function and returns its result; the first operation in it that makes a NaN of operands without one is an error that
 * names it, with the dtypes and shapes of its operands. Of gradients that is the operation whose gradient it is. Each operation runs at once
 * and is waited for, which takes a few times as long: call it around a step that went wrong, `ft.detectNaN(() => step(params, x, y))`.
 * PyTorch `autograd.detect_anomaly`, JAX `debug_nans`.
 *
 * NaN that is passed in, in tensors or as a number, is handed on without an error, and so is infinity, which the error points out where an
 * operand has one. What was recorded before the call is not looked at.
 *
 * @throws {NaNError} at the call of that operation.
 * @throws {ArgumentError} when the function returns a promise.
 * @throws {TensorError} errors that depend on values (`ERR_INDEX`, `ERR_LINALG`), at the call of their operation too.
 * @example
 * ```ts
 * ft.detectNaN(() => ft.tensor([1, 4]).sqrt()) // [1, 2]
 * ```
 */
export function detectNaN<T>(fn: () => T): T {
  if (typeof fn !== 'function') throw new ArgumentError(`detectNaN: expected a function, got ${shown(fn)}`)
  const result = detectedWith(inspect, fn)
  if (!isPromise(result)) return result
  // Nobody will wait for it.
  result.catch(() => {})
  throw new ArgumentError('detectNaN: the function returned a promise, and what it does later would not be looked at; call detectNaN inside, around each step')
}

/** What has NaN in it, as a tensor of one element that nobody has read: it is given up together with what it is made of. */
function nanIn(x: Tensor): Tensor {
  // A constant: an open gradient would keep it to its end.
  const own = constant(x)
  const each = own.isnan()
  const any = each.any()
  own.dispose()
  each.dispose()
  return any
}

/**
 * Runs a node that was just recorded and looks at what came out, its other outputs too. Returns whether it ran: nothing is to be seen in
 * integers, nor in what hands a value through.
 *
 * @throws {NaNError} when there is a NaN that no operand has.
 */
function inspect(t: Tensor): boolean {
  if (t.handle !== null) return true
  const call = t.group === null ? t : t.group.node
  const { op } = call.signature as Signature
  const outputs = call.outputs ?? [call]
  const results = outputs.filter(isDifferentiable)
  if (op === OP.custom || op === OP.barrier || results.length === 0) return false
  undetected(() => {
    // Before it runs: afterwards it has forgotten its operands, and those that were given up are gone.
    const what = recorded(call)
    const before = what.operands.flatMap(([, x]) => (isTensor(x) && isDifferentiable(x) ? [nanIn(x)] : []))
    const after = results.map(nanIn)
    try {
      evaluateSync(t, ...after)
      const first = after.findIndex((any) => any.itemSync())
      if (first < 0 || what.operands.some(([, x]) => Number.isNaN(x)) || before.some((any) => any.itemSync())) return
      const result = results[first] as Tensor
      throw new NaNError(message(outputs.length > 1 ? { ...what, what: `result ${outputs.indexOf(result)}` } : what, result))
    } finally {
      for (const any of [...before, ...after]) any.dispose()
    }
  })
  return true
}

const typeOf = (x: Tensor): string => `${x.dtype} [${x.shape.join(', ')}]`

/** An operand; infinity in it is often where a NaN comes from. */
function operand([name, x]: Recorded['operands'][number]): string {
  if (!isTensor(x)) return `${name} ${shown(x)}`.trim()
  // One that was given up went with its last use.
  const there = x.handle !== null || x.signature !== null
  const infinite = there && isDifferentiable(x) && constant(x).isinf().any().itemSync()
  return `${name} ${typeOf(x)}${infinite ? ' with Infinity' : ''}`.trim()
}

/** Where the first of some elements that are true stands, and how many there are. */
function places(flags: Tensor): string {
  const { shape, size } = flags
  const values = dataSync(flags) as Uint8Array
  const count = values.reduce((n, value) => n + value, 0)
  let rest = values.indexOf(1)
  const place = shape.toReversed().map((length) => {
    const at = rest % length
    rest = (rest - at) / length
    return at
  })
  return size === 1 ? 'is NaN' : `has NaN in ${count} of ${size} elements, the first at [${place.toReversed().join(', ')}]`
}

function message({ name, what, operands }: Recorded, result: Tensor): string {
  const from = operands.length === 0 ? '' : `, made of operands without NaN: ${operands.map(operand).join(', ')}`
  return `${name}: ${what}, ${typeOf(result)}, ${places(constant(result).isnan())}${from}`
}
