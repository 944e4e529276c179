// Memory pressure: what is done before a program is refused, and what keeps synchronous loops bounded. Values that
// JavaScript dropped are free only after a garbage collection, which V8 sees no reason for: tensors are small objects to it.

import { FileError, OutOfMemoryError } from '../errors.js'
import { WANT_FULL, WANT_MINOR } from '../generated/protocol.js'
import { native } from '../native.js'
import { WATCH_KIB } from '../program/hooks.js'
import { countPinned } from '../program/traverse.js'
import type { Tensor } from '../tensor/tensor.js'
import { collectAll, collectYoung } from './collector.js'
import { refusedBytes, tryFlush } from './run.js'

/** Nodes counted exactly below an expression; beyond, the upper bound of what it pins is taken. */
const COUNT_NODES = 128
/** Results up to this size are admitted in any case, as the last resort: reading a loss frees what it pins. */
const SMALL_BYTES = 64 << 10

function collectMinor(): void {
  collectYoung()
  native.collect(0)
}

/** Frees what was dropped, old tensors too. */
export function collectFull(): void {
  native.collect(collectAll())
}

/** Relief runs programs; those never ask for relief themselves. */
let relieving = false

/** Whether an expression was run. One that cannot be says so at its own read, not at the call that needed room. */
function flushed(t: Tensor): boolean {
  try {
    return tryFlush(t)
  } catch {
    return false
  }
}

/**
 * Runs watched expressions that are still alive, which frees what they pin: those nobody has consumed or computed, or with `consumed` all.
 * Those in `except` are left alone. Returns how many ran.
 */
function materialise(except: readonly Tensor[], consumed: boolean): number {
  const watched = native.takeWatched() as (Tensor | null)[]
  let ran = 0
  for (let i = 0; i < watched.length; i++) {
    const t = watched[i] as Tensor
    // The array must not keep it alive through the collection that follows.
    watched[i] = null
    if (t.handle !== null || t.disposed || t.owner.closed) continue
    // What a program computed and dropped nobody has asked for since: most of it is garbage that V8 has not collected.
    const wanted = t.uses === 0 && t.seen === 0
    if ((wanted || consumed) && !except.includes(t) && flushed(t)) ran++
    else native.watch(t)
  }
  return ran
}

/** The steps of hard relief, each followed by another try. Two minor collections in a row would promote what should die. */
const RELIEF: readonly ((except: readonly Tensor[]) => void)[] = [
  () => collectMinor(),
  (except) => {
    if (materialise(except, false) > 0) collectMinor()
  },
  () => native.drain(),
  (except) => {
    materialise(except, true)
    collectFull()
  }
]

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

/**
 * Tries something that the memory budget has refused again, after each step of relief. `run` gives -1 when refused, and is
 * forced through at the end if results in `except` are small.
 *
 * @throws {OutOfMemoryError} when nothing helped, naming the operation that makes the (first) result.
 */
export function admit(op: string, except: readonly Tensor[], run: (force: boolean) => number): number {
  if (!relieving) {
    relieving = true
    try {
      for (const step of RELIEF) {
        step(except)
        const status = run(false)
        if (status !== -1) return status
      }
    } finally {
      relieving = false
    }
    // What no budget of this size could ever hold is refused all the same: it would run the machine out of memory.
    const most = Math.max(native.memory().limit, SMALL_BYTES)
    if (refusedBytes <= most && except.reduce((bytes, t) => bytes + t.type.bytes, 0) <= SMALL_BYTES) {
      const status = run(true)
      if (status !== -1) return status
    }
  }
  const { live, limit } = native.memory()
  throw new OutOfMemoryError(
    `${op}: ${mebibytes(refusedBytes)} more do not fit: ${mebibytes(live)} of ${mebibytes(limit)} are in use. ` +
      'Dispose of tensors, work in smaller parts, or raise the limit with setMemoryLimit()'
  )
}

/** What the system has no more of: descriptors, mappings, memory. */
const EXHAUSTED = ['EMFILE', 'ENFILE', 'ENOMEM']

/** Calls something once more where the system had no room, after files and tensors that were dropped are closed and freed. */
export function withRoom<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    freeFor(error)
    return call()
  }
}

/** As {@link withRoom}, of a promise. */
export async function withRoomAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    freeFor(error)
    return call()
  }
}

/** Frees what was dropped, where an error is about room; throws any other. */
function freeFor(error: unknown): void {
  const exhausted = error instanceof OutOfMemoryError || (error instanceof FileError && EXHAUSTED.includes(error.systemCode))
  if (!exhausted) throw error
  collectFull()
}

/** Soft pressure: many new handles, or much new memory, since the last collection. */
export function relieveSoftly(status: number): void {
  const full = (status & WANT_FULL) !== 0
  // Old handles alone are no reason for minor collections: those would only promote what is young.
  if (relieving || (!full && (status & WANT_MINOR) === 0)) return
  relieving = true
  try {
    if (full) collectFull()
    else collectMinor()
    if (materialise([], false) > 0) collectMinor()
  } finally {
    relieving = false
  }
}

/** At the end of a loop's turn: what it left is found before fresh memory is taken for the next one. */
export function collectTurn(): void {
  if (!relieving) collectMinor()
}

/**
 * Watches a recorded expression that keeps much more memory alive than its value would take. Under soft pressure it is run:
 * `losses.push(loss)` in a loop that never reads stays bounded, and is four times faster for it (warm pages).
 */
export function considerWatching(t: Tensor): void {
  const gains = (pinned: number): boolean => pinned >= WATCH_KIB && 2 * t.type.kib <= pinned
  if (!gains(Math.min(t.pins, (t.nodes + 1) * t.leaf))) return
  if (t.b !== null || t.list !== null) {
    t.pins = countPinned(t, COUNT_NODES)
    if (!gains(t.pins)) return
  }
  if (native.watch(t)) {
    collectYoung()
    native.pruneWatched()
  }
}

