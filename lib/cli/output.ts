// What commands print: lines and JSON on standard output, messages on standard error. Text out of files cannot steer the terminal, and
// there are colours only where somebody looks.

import { printable } from '../text/printable.js'
import { metric } from '../text/units.js'

export { printable }

const COLOURS = { green: 32, red: 31, dim: 2 } as const

/** Whether standard output shows colours: a terminal, unless NO_COLOR is set (no-color.org). */
const coloured = process.stdout.isTTY && !process.env['NO_COLOR']

/** A text in colour. */
export function paint(colour: keyof typeof COLOURS, text: string): string {
  return coloured ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text
}

/** Characters of a cell or of a name in a message: headers of files may have names of megabytes, and a column is as wide as its widest cell. */
const MOST_CHARACTERS = 64

/** A text as {@link printable} makes it; of a long one the middle is left out. */
export function shortened(text: string, most = MOST_CHARACTERS): string {
  const whole = printable(text)
  if (whole.length <= most) return whole
  const half = (most - 3) >> 1
  // Characters have one or two units: twice as many hold all that is shown, and the one that a cut halves is not.
  return `${[...whole.slice(0, 2 * most)].slice(0, half).join('')}...${[...whole.slice(-2 * most)].slice(-half).join('')}`
}

/** A word or name as messages quote it. */
export const quoted = (text: string): string => `'${shortened(text)}'`

/** A file in a line: its format, and how many arrays it has; the bytes of each, where they are known. */
export function summary(path: string, format: string, bytes: readonly (number | null)[]): string {
  const total = bytes.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0)
  const size = total === null ? '' : `, ${metric(total, 'B')} of elements`
  return `${printable(path)}: ${format}, ${bytes.length} ${bytes.length === 1 ? 'array' : 'arrays'}${size}`
}

/** Lines on standard output. */
export function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** A text of JSON in which no character steers a terminal: JSON itself escapes those below U+0020 alone. Its own line ends stay. */
const plain = (json: string): string =>
  json.replace(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )

/** A value as JSON on standard output. Numbers that JSON lacks (NaN, infinities) are texts, and so are 64-bit integers. */
export function printJson(value: unknown): void {
  const lacking = (item: unknown): boolean => typeof item === 'bigint' || (typeof item === 'number' && !Number.isFinite(item))
  const spelled = (_key: string, item: unknown): unknown => (lacking(item) ? String(item) : item)
  print([plain(JSON.stringify(value, spelled, 2))])
}

/** A message on standard error, each line of it printable. */
export function report(first: string, ...others: readonly string[]): void {
  // Of some errors the name is part: why there is no native module.
  const named = first.startsWith('ferrotensor: ') ? first : `ferrotensor: ${first}`
  process.stderr.write(`${[named, ...others].map(printable).join('\n')}\n`)
}
