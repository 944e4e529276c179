// The native module, or what stands in its place without a binary, and the buffers both sides share. Its functions: `native/families.ts`.

import { BackendUnavailableError, ERROR_CLASSES } from './errors.js'
import { DTYPES } from './generated/dtypes.js'
import { HEADER, SMALL_ELEMENTS } from './generated/protocol.js'
import { loadNative, type Loaded } from './loader.js'
import { FUNCTIONS, type Native } from './native/families.js'
import { thrown } from './realm.js'

/** Header (`generated/protocol.ts`) and program words; params as numbers and as bigints; handles in and out; the bytes of a small result. */
export let ints = new Int32Array(1 << 14)
export let params = new Float64Array(1 << 12)
export let bigParams = new BigInt64Array(params.buffer)
export let handles = new Float64Array(1 << 10)
/** Room for a small result of the widest dtype. */
export const small = new Uint8Array(SMALL_ELEMENTS * Math.max(...DTYPES.map(({ bytes }) => bytes)))

function grown<T extends Int32Array | Float64Array>(array: T, length: number): T {
  if (length <= array.length) return array
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length))
  larger.set(array)
  return larger
}

/** Makes room for this many program words, params and handles; contents stay. */
export function reserve(words: number, paramCount: number, handleCount: number): void {
  if (HEADER + words <= ints.length && paramCount <= params.length && handleCount <= handles.length) return
  ints = grown(ints, HEADER + words)
  params = grown(params, paramCount)
  bigParams = new BigInt64Array(params.buffer)
  handles = grown(handles, handleCount)
  native.setBuffers(ints, params, handles, small)
}

/** The loaded module, which has been handed what both sides share; or why there is none. */
function connect(): (Loaded & { readonly module: Native }) | BackendUnavailableError {
  try {
    const found = loadNative()
    const module = found.module as Native
    module.setErrorClasses(Object.fromEntries(ERROR_CLASSES.map((Class) => [new Class().code, Class])))
    module.setBuffers(ints, params, handles, small)
    return { ...found, module }
  } catch (cause) {
    if (cause instanceof BackendUnavailableError) return cause
    // Of the handshake, or a manifest that is broken.
    return new BackendUnavailableError(`ferrotensor: the native binary cannot be used: ${thrown(cause)}`, { cause })
  }
}

/** What stands in the place of an absent module: its functions throw the reason, each time as a new error, whose stack is the call's. */
function absent({ message, cause }: BackendUnavailableError): Native {
  const refuse = () => {
    throw new BackendUnavailableError(message, cause === undefined ? {} : { cause })
  }
  return Object.fromEntries(FUNCTIONS.map((name) => [name, refuse])) as unknown as Native
}

const connected = connect()

/**
 * Why there is no native module; null where there is one.
 * @internal
 */
export const absence = connected instanceof BackendUnavailableError ? connected.message : null

/** @internal */
export const native: Native = connected instanceof BackendUnavailableError ? absent(connected) : connected.module

/**
 * Where the native module is from; null where there is none.
 * @internal
 */
export const loaded: Omit<Loaded, 'module'> | null =
  connected instanceof BackendUnavailableError ? null : { file: connected.file, version: connected.version }
