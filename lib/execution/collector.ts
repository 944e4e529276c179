// Garbage collection on demand, in whatever runs JavaScript: what is not collected keeps its tensors, and synchronous loops give V8 no reason
// to collect. Where nothing can be asked, nothing is: the budget then holds by OutOfMemoryError alone.

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { native } from '../native.js'

/** The two kinds of collections. Both are done when the call returns. */
interface Collector {
  /** Of what is young. */
  readonly minor: () => void
  /** Of everything. */
  readonly full: () => void
}

type Collect = (options?: { type: 'minor' }) => void

/** JavaScriptCore's, in Bun. */
interface BunCollector {
  readonly edenGC: () => unknown
  readonly fullGC: () => unknown
}

/** Tries until V8's collector is found. One is enough but when other workers look for theirs in the same microseconds. */
const TRIES = 1000

/** V8 ends the process where a flag is set after this one. */
const FROZEN = /^--freeze[-_]flags[-_]after[-_]init$/

const isBun = 'bun' in process.versions

function bun(): Collector | undefined {
  const { edenGC, fullGC } = (process.getBuiltinModule?.('bun:jsc') ?? {}) as Partial<BunCollector>
  return typeof edenGC === 'function' && typeof fullGC === 'function' ? { minor: edenGC, full: fullGC } : undefined
}

/**
 * V8's collector. The flag that shows it in new contexts is process-wide, and reset at once: another worker that looks for
 * its own may have reset it before the context here was made.
 */
function v8(): Collector | undefined {
  const find = () => runInNewContext('globalThis.gc') as Collect | undefined
  // Whoever started Node with the flag keeps it.
  let found = 'gc' in globalThis ? find() : undefined
  const frozen = process.execArgv.some((option) => FROZEN.test(option))
  for (let i = 0; found === undefined && !frozen && i < TRIES; i++) {
    setFlagsFromString('--expose-gc')
    found = find()
    setFlagsFromString('--no-expose-gc')
  }
  if (found === undefined) return undefined
  const collect = found
  // With any object V8 of Node 20 runs a minor collection, {type: 'major'} included; without one, a full one.
  return { minor: () => collect({ type: 'minor' }), full: () => collect() }
}

/** V8 collects everything when it hears of more memory outside of its heap than that may be; newer ones at the next call of a function. */
function pressed(): void {
  const bytes = getHeapStatistics().heap_size_limit
  native.press(bytes)
  turnOver()
  native.press(-bytes)
}

/** A call at which V8 does what it has put off. */
function turnOver(): void {
  for (let i = 0; i < 2; i++) String(i)
}

/** The first that there is. Each collection of the last is a full one. */
function findCollector(): Collector {
  return (isBun ? bun() : v8()) ?? { minor: pressed, full: pressed }
}

let collector: Collector | undefined

/** Collects what is young. */
export function collectYoung(): void {
  collector ??= findCollector()
  collector.minor()
}

/** Collects everything; returns the bytes that are left on JavaScript's heap, at least 1. */
export function collectAll(): number {
  collector ??= findCollector()
  collector.full()
  return Math.max(1, getHeapStatistics().used_heap_size)
}
