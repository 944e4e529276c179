// Quantities as people read them: three digits, and a prefix of the metric system.

/** Three significant digits. */
export function digits(n: number): string {
  return n === 0 ? '0' : n >= 999.5 ? n.toFixed(0) : n.toPrecision(3)
}

/** A number with a prefix of the metric system; whole numbers that need none stay whole. */
export function metric(n: number, unit = ''): string {
  if (n < 1000 && Number.isInteger(n)) return `${n} ${unit}`.trim()
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P']
  const at = n < 1 ? 0 : Math.min(prefixes.length - 1, Math.floor(Math.log10(n) / 3))
  return `${digits(n / 1000 ** at)} ${prefixes[at]}${unit}`.trim()
}

/** Milliseconds, in the unit that suits them. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${digits(milliseconds / 1000)} s`
  return milliseconds >= 1 ? `${digits(milliseconds)} ms` : `${digits(milliseconds * 1000)} us`
}

/** A part of one. */
export const percent = (part: number): string => `${(100 * part).toFixed(1)} %`
