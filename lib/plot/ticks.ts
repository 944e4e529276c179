// Where the ticks of an axis are, and how their numbers are written.

/** The number of 1, 2, 5 or 10 times a power of ten that is near a positive one (P. S. Heckbert, "Nice Numbers for Graph Labels", Graphics Gems, 1990). */
function nice(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x))
  const part = x / power
  return (part < 1.5 ? 1 : part < 3 ? 2 : part < 7 ? 5 : 10) * power
}

/** Nice numbers from `low` to `high`, which differ, about `most` of them (Heckbert, 1990, without its widening of the range). */
export function linearTicks(low: number, high: number, most: number): number[] {
  const range = high - low
  // Neither a range beyond the largest number nor one of a few units in the last place has nice numbers inside.
  if (!Number.isFinite(range)) return [low, high]
  let step = nice(range / Math.max(1, most - 1))
  if (step < Number.MIN_VALUE * 1e4 || low + step === low || high - step === high) return [low, high]
  // A step that was rounded down may give one too many.
  const count = (): number => Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1
  while (count() > most) step = nice(2.1 * step)
  const first = Math.ceil(low / step - 1e-9)
  // Products of a decimal step carry its rounding: 3 * 0.1 is 0.30000000000000004.
  const places = Math.min(100, Math.max(0, 1 - Math.floor(Math.log10(step))))
  return Array.from({ length: Math.max(0, count()) }, (_, i) => {
    const tick = (first + i) * step
    return step < 1 ? Number(tick.toFixed(places)) : tick
  })
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

/** Numbers as an axis shows them: with as many digits as tell neighbours apart, and powers of ten where those are many. */
export function labels(ticks: readonly number[]): string[] {
  const largest = Math.max(0, ...ticks.map(Math.abs))
  const gaps = ticks.slice(1).map((tick, i) => Math.abs(tick - (ticks[i] as number))).filter((gap) => gap > 0)
  const smallest = Math.min(largest, ...gaps)
  if (largest === 0) return ticks.map(() => '0')
  const exponent = Math.floor(Math.log10(smallest) + 1e-9)
  if (largest >= 1e6 || exponent < -4) {
    // Digits of the largest that the gap needs, 15 at most: that is what float64 has.
    const digits = Math.min(15, Math.max(0, Math.floor(Math.log10(largest) + 1e-9) - exponent))
    return ticks.map((tick) => (tick === 0 ? '0' : tick.toExponential(digits).replace(/\.?0+e/, 'e').replace('e+', 'e')))
  }
  return ticks.map((tick) => {
    const own = tick.toFixed(Math.max(0, -exponent))
    // Ends that are no nice numbers keep three digits.
    return Number(own) === tick ? own : Number(tick.toPrecision(3)).toString()
  })
}
