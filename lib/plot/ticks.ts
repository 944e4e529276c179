// Where the ticks of an axis are, and how their numbers are written.

/**
 * The most numbers from `low` to `high`, which differ, that are 1, 2 or 5 times a power of ten apart (P. S. Heckbert, "Nice Numbers for Graph Labels",
 * Graphics Gems, 1990) and no more than `most`; the ends where there are fewer than two.
 */
export function linearTicks(low: number, high: number, most: number): number[] {
  const range = high - low
  // A range beyond the largest number, near the smallest one, or of a few units in the last place has no nice numbers inside.
  if (!Number.isFinite(range) || range < 1e-300 || range < 1e-12 * Math.max(Math.abs(low), Math.abs(high))) return [low, high]
  const power = 10 ** Math.floor(Math.log10(range / most))
  const first = (step: number): number => Math.ceil(low / step - 1e-9)
  const count = (step: number): number => Math.floor(high / step + 1e-9) - first(step) + 1
  // The power alone gives at least as many as are wanted.
  const step = [1, 2, 5, 10, 20, 50].map((part) => part * power).find((each) => count(each) <= most)
  if (step === undefined || count(step) < 2) return [low, high]
  // Products of a decimal step carry its rounding: 3 * 0.1 is 0.30000000000000004.
  return Array.from({ length: count(step) }, (_, i) => Number(((first(step) + i) * step).toPrecision(15)))
}

/** Powers of ten between two positive numbers, with 2 and 5 times them where all are at most `most`; the ends where there are fewer than two. */
export function logTicks(low: number, high: number, most: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))]
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const inside = (parts: readonly number[], exponents: readonly number[]): number[] =>
    exponents.flatMap((n) => parts.map((part) => Number(`${part}e${n}`))).filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9))
  const fine = inside([1, 2, 5], powers)
  const each = Math.max(1, Math.ceil(inside([1], powers).length / most))
  const ticks = fine.length <= most ? fine : inside([1], powers.filter((n) => n % each === 0))
  return ticks.length >= 2 ? ticks : [low, high]
}

/** A number with a power of ten, without zeros that say nothing. */
export const exponential = (tick: number, digits: number): string => (tick === 0 ? '0' : tick.toExponential(digits).replace(/\.?0+e/, 'e').replace('e+', 'e'))

/** Numbers as an axis shows them: with as many digits as tell neighbours apart, and powers of ten where zeros would be many. */
export function labels(ticks: readonly number[]): string[] {
  const largest = Math.max(0, ...ticks.map(Math.abs))
  if (largest === 0) return ticks.map(() => '0')
  const gaps = ticks.slice(1).map((tick, i) => Math.abs(tick - (ticks[i] as number))).filter((gap) => gap > 0)
  const exponent = Math.floor(Math.log10(Math.min(largest, ...gaps)) + 1e-9)
  const powers = largest >= 1e6 || largest < 1e-3
  // 15 digits are what float64 has.
  const digits = Math.min(15, Math.max(0, (powers ? Math.floor(Math.log10(largest) + 1e-9) : 0) - exponent))
  return ticks.map((tick) => {
    const own = powers ? exponential(tick, digits) : tick.toFixed(digits)
    // Ends that are no nice numbers have two digits more, which tell them apart as well.
    const close = Math.abs(Number(own) - tick) <= 1e-3 * 10 ** exponent
    return close ? own : powers ? exponential(tick, Math.min(15, digits + 2)) : tick.toFixed(Math.min(15, digits + 2))
  })
}
