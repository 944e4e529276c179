// Text from outside in a terminal.

/** A text on one line, with control characters, line ends and marks of direction as escapes: a name in a file may hold any. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`)
}
