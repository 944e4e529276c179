// Random choices from a seed: the same text gives the same choices on every machine.

/** FNV-1a over UTF-16 units: 32 bits from any text. */
export function hash(text) {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return h >>> 0
}

/** A stream of choices (mulberry32, Tommy Ettinger). */
export class Random {
  #state

  constructor(seed) {
    this.#state = hash(String(seed))
  }

  /** A number in [0, 1). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `low` to `high`, both included. */
  int(low, high) {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  /** True with this probability. */
  chance(probability) {
    return this.next() < probability
  }

  /** One of the items. */
  pick(items) {
    return items[this.int(0, items.length - 1)]
  }
}
