// What loops carry: a value that a program was run through on the way to what was read, and that a later program asked for again, has its
// place in the structure of the first program noted; programs of that structure keep the value of this place from then on. The cache of a
// language model's loop that reads nothing but tokens is computed twice in its first steps, and once in all others.
//
// The structure is the sequence of operations and how they hang together, without sizes and numbers: caches grow, and rates change.

/** Programs whose dropped values are known by their places: a loop asks for what it carries in its next turn, which may read several times. */
const RECENT = 8
/** Structures that are remembered, the last used ones. */
const MOST_STRUCTURES = 256
/** Operations of a program for each place of it: more are a history that was read, not what is carried, and keeping it would hold whole chains. */
const OPERATIONS_PER_PLACE = 6
/** Places that small programs may have. */
const FEW_PLACES = 4

/** The last programs by their number modulo RECENT: the number, structure, and how many values they computed. */
const numbers = new Float64Array(RECENT)
const keys = new Int32Array(RECENT)
const sizes = new Int32Array(RECENT)
/** Places by structure; null where they were too many. */
let places = new Map<number, Set<number> | null>()

/** Whether any structure has places, so that nodes are to be found by theirs. */
export const anyPlaces = (): boolean => places.size > 0

/** Structures of programs that were run. */
const turns = new Set<number>()

/** Notes the structure of a program that something was read of; says whether one like it was run before, as in each turn of a loop. */
export function noteProgram(flush: number, key: number, size: number): boolean {
  const at = flush % RECENT
  numbers[at] = flush
  keys[at] = key
  sizes[at] = size
  if (turns.has(key)) return true
  if (turns.size === MOST_STRUCTURES) turns.delete(turns.keys().next().value as number)
  turns.add(key)
  return false
}

/** Notes that a value which a program dropped, the `place`-th of its operations, was asked for again. */
export function noteAgain(flush: number, place: number): void {
  const at = flush % RECENT
  if (numbers[at] !== flush) return
  const [key, size] = [keys[at] as number, sizes[at] as number]
  let known = places.get(key)
  if (known === null) return
  if (known === undefined) {
    if (places.size === MOST_STRUCTURES) places.delete(places.keys().next().value as number)
    places.set(key, (known = new Set()))
  }
  known.add(place)
  if (known.size > Math.max(FEW_PLACES, size / OPERATIONS_PER_PLACE)) places.set(key, null)
}

/** The places whose values a program of this structure keeps. */
export function placesOf(key: number): Iterable<number> {
  const known = places.get(key)
  if (known === undefined || known === null) return []
  // The last used one is the last in the map.
  places.delete(key)
  places.set(key, known)
  return known
}

/** Forgets all: where memory is short, nothing is kept that nobody asked for. */
export function forgetPlaces(): void {
  places = new Map()
}
