// Times contenders fairly: they take turns in short slices of one run, and the median over slices of the median call counts
// (a mean would report the neighbours).

/** Above this share of the machine used by others a row is marked: on two cores it changes winners. */
export const NOISY = 0.15

/** One slice: seconds of the median call, and what the results add up to. */
export interface Slice {
  readonly seconds: number
  readonly checksum: number
}

export interface Contender {
  readonly name: string
  /** Calls repeatedly for about this many seconds. */
  slice(seconds: number): Slice | Promise<Slice>
}

export interface Result {
  readonly name: string
  readonly seconds: number
  readonly checksum: number
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] as number
}

/** How long a slice of slow calls may wait for its third. */
export const PATIENCE_MS = 1000

/**
 * Seconds of the median of repeated calls, for about `seconds`, at least 3 unless those take longer than a second. `calls` are done
 * between looks at the clock.
 */
export function repeat(seconds: number, calls: number, f: () => void): number {
  const times: number[] = []
  const first = performance.now()
  const end = first + seconds * 1000
  do {
    const start = performance.now()
    for (let i = 0; i < calls; i++) f()
    times.push((performance.now() - start) / 1000 / calls)
  } while (performance.now() < end || (times.length < 3 && performance.now() < first + PATIENCE_MS))
  return median(times)
}

/** How many rounds of slices of how many seconds; a contender that took `limit` seconds in rounds has no further turn. */
export interface Pace {
  readonly rounds: number
  readonly slice: number
  readonly limit?: number
}

/** In smoke mode just long enough to see that everything runs. */
export const PACE: Pace = process.argv.includes('--smoke') ? { rounds: 1, slice: 0.005 } : { rounds: 9, slice: 0.05 }

/** One warm-up slice each, then rounds in turn. */
export async function race(contenders: readonly Contender[], pace: Pace = PACE): Promise<Result[]> {
  for (const contender of contenders) await contender.slice(pace.slice)
  return takeTurns(contenders, pace)
}

/** Rounds of contenders that are warm. */
export async function takeTurns(contenders: readonly Contender[], { rounds, slice, limit = Infinity }: Pace): Promise<Result[]> {
  const turns = contenders.map((contender) => ({ contender, slices: [] as Slice[], used: 0 }))
  for (let round = 0; round < rounds; round++) {
    for (const turn of turns.filter(({ used }) => used < limit)) {
      const start = performance.now()
      turn.slices.push(await turn.contender.slice(slice))
      turn.used += (performance.now() - start) / 1000
    }
  }
  return turns.map(({ contender: { name }, slices }) => ({ name, seconds: median(slices.map((s) => s.seconds)), checksum: (slices[0] as Slice).checksum }))
}

/** `1.23 ms`, `45.6 us`. */
export function duration(seconds: number): string {
  const [scale, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : seconds >= 1e-6 ? [1e6, 'us'] : [1e9, 'ns']
  return `${(seconds * scale).toPrecision(3)} ${unit}`
}
