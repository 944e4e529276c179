// What commands print: lines and JSON on standard output, messages on standard error. Text out of files cannot steer the terminal, and
// there are colours only where somebody looks.


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

/** Lines on standard output. */
export function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** A value as JSON on standard output. Numbers that JSON lacks (NaN, infinities) are texts, and so are 64-bit integers. */
export function printJson(value: unknown): void {
  const spelled = (_key: string, item: unknown): unknown => (typeof item === 'bigint' || (typeof item === 'number' && !Number.isFinite(item)) ? String(item) : item)
  print([JSON.stringify(value, spelled, 2)])
}

/** A message on standard error, printable but for its own line ends. */
export function report(message: string): void {
  // Of some errors the name is part: why there is no native module.
  const named = message.startsWith('ferrotensor: ') ? message : `ferrotensor: ${message}`
  process.stderr.write(`${named.split('\n').map(printable).join('\n')}\n`)
}
