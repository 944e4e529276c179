// What a call may do: give a value that agrees with itself and can be read, or throw an error of ours that says what was wrong.

import { inspect } from 'node:util'
import * as ft from 'ferrotensor'
import { DTYPE } from '../../dist/lib/generated/dtypes.js'
import { Mine } from './hostile.mjs'

/** What went wrong with a call. */
export class Violation extends Error {}

/** Where a tensor may be: some of what is drawn for a device is the name of one. */
const PRESENT = new Set(ft.devices().flatMap(({ available, name }) => (available ? [name] : [])))

/** Elements up to which a result is read whole; of a larger one, the first element. */
const READ_WHOLE = 1 << 16

function must(condition, text) {
  if (!condition) throw new Violation(text)
}

/** What the machine refuses it refuses to nobody in particular. */
const NAMELESS = new Set(['ERR_OUT_OF_MEMORY'])

/** The code of an error that is allowed, `mine` for the caller's own; anything else is a violation. */
export function judge(error) {
  if (error instanceof Violation) throw error
  if (error instanceof Mine) return 'mine'
  // The engine's errors about the caller's own objects: nobody can ask a revoked proxy whether it is an array.
  if (error instanceof TypeError && /has been revoked$|^Class constructors? .*cannot be invoked without 'new'$/.test(error.message)) return 'mine'
  const what = inspect(error)
  must(error instanceof ft.TensorError, `threw what is no TensorError: ${what}`)
  must(error.name === error.constructor.name && /^ERR_[A-Z_]+$/.test(error.code), `an error without name or code: ${what}`)
  must(error.code !== 'ERR_INTERNAL', `an internal error: ${what}`)
  must(NAMELESS.has(error.code) ? error.message !== '' : /^[a-z][\w.]*: ./is.test(error.message), `a message that names no operation: ${what}`)
  return error.code
}

const READERS = [
  (x) => x.dataSync(),
  (x) => x.data(),
  (x) => x.toBytes(),
  (x) => x.toArray(),
  (x) => String(x),
  (x) => inspect(x),
  (x) => x.toJSON(),
  (x) => ft.evaluate(x),
  (x) => ft.evaluateSync(x)
]

/** Reads one element of a tensor without computing more than it must. */
const firstElement = (x) => (x.size === 0 ? x : x.at(...x.shape.map(() => 0)))

async function checkTensor(x, rng, { enormous }) {
  const { shape, dtype, size, ndim } = x
  must(Array.isArray(shape) && Object.isFrozen(shape) && shape.every((n) => Number.isSafeInteger(n) && n >= 0), `shape ${inspect(shape)}`)
  must(ndim === shape.length && ndim <= 32, `ndim ${ndim} of shape [${shape}]`)
  must(size === (shape.includes(0) ? 0 : shape.reduce((n, length) => n * length, 1)), `size ${size} of shape [${shape}]`)
  must(Number.isSafeInteger(size), `size ${size}`)
  must(PRESENT.has(x.device), `device ${x.device}`)
  must(Object.hasOwn(DTYPE, dtype), `dtype ${dtype}`)
  const row = DTYPE[dtype]
  if (enormous) return 'ok'
  const part = size <= READ_WHOLE ? x : firstElement(x)
  try {
    const value = await rng.pick(READERS)(part)
    if (ArrayBuffer.isView(value)) {
      const bytes = part.size * row.bytes
      const units = part.size * (row.kind === 'complex' ? 2 : 1)
      if (value.byteLength !== bytes || value.constructor !== Uint8Array) {
        must(value instanceof row.read && value.length === units, `read as ${value.constructor.name} of ${value.length}, ${dtype} of shape [${part.shape}]`)
      }
    }
    return 'ok'
  } catch (error) {
    return judge(error)
  }
}

/** The outcome of a value: `ok`, or the code of the error at its read. */
async function checkValue(value, rng, ctx) {
  if (value instanceof ft.Tensor) return checkTensor(value, rng, ctx)
  let outcome = 'ok'
  const parts = Array.isArray(value) ? value.slice(0, 4) : typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) ? Object.values(value) : []
  for (const part of parts) {
    if (!(part instanceof ft.Tensor)) continue
    const found = await checkTensor(part, rng, ctx)
    if (found !== 'ok') outcome = found
  }
  return outcome
}

/** The first rows of a tensor that is walked. */
function firstOf(rows) {
  const found = []
  for (const row of rows) if (found.push(row) === 4) break
  return found
}

/** Runs a call of a target and judges it: `ok`, `mine`, or an error's code. */
export async function outcomeOf({ path, call }, args, rng, ctx) {
  let value
  try {
    value = call(...args)
    if (value instanceof Promise) value = await value
    else if (path === 'Tensor[Symbol.iterator]') value = firstOf(value)
  } catch (error) {
    return judge(error)
  }
  return checkValue(value, rng, ctx)
}
