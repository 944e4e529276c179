// What commands print: lines and JSON on standard output, messages on standard error. Text out of files cannot steer the terminal, and
// there are colours only where somebody looks.

import { metric } from '../units.js'

const COLOURS = { green: 32, red: 31, dim: 2 } as const

/** Whether standard output shows colours: a terminal, unless NO_COLOR is set (no-color.org). */
const coloured = process.stdout.isTTY && !process.env['NO_COLOR']

/** A text in colour. */
export function paint(colour: keyof typeof COLOURS, text: string): string {
  return coloured ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text
}

/** A text on one line, with control characters, line ends and marks of direction as escapes: a name in a file may hold any. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`)
}

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

/** A value as JSON on standard output. Numbers that JSON lacks (NaN, infinities) are texts, and so are 64-bit integers. */
export function printJson(value: unknown): void {
  const lacking = (item: unknown): boolean => typeof item === 'bigint' || (typeof item === 'number' && !Number.isFinite(item))
  const spelled = (_key: string, item: unknown): unknown => (lacking(item) ? String(item) : item)
  print([JSON.stringify(value, spelled, 2)])
}

/** A message on standard error, printable but for its own line ends. */
export function report(message: string): void {
  // Of some errors the name is part: why there is no native module.
  const named = message.startsWith('ferrotensor: ') ? message : `ferrotensor: ${message}`
  process.stderr.write(`${named.split('\n').map(printable).join('\n')}\n`)
}
