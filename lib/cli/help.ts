// What `--help` prints, of the program and of each command: made of the table of commands, and no larger than 80 x 24 characters.

import { columns } from '../text/table.js'
import { COMMANDS, type CommandRow } from './commands.js'

const list = (rows: readonly (readonly string[])[]): string[] => columns('ll', rows).map((line) => `  ${line}`)

/** A command and its operands, as they are written. */
export const usage = ({ name, operands }: CommandRow): string => [name, ...operands.map((operand) => `<${operand}>`)].join(' ')

/** The lines of a command's help, or of the program's. */
export function helpOf(command: CommandRow | undefined): string[] {
  if (command === undefined) {
    return [
      'Usage: ferrotensor <command> [options]',
      '',
      'Lists devices and tensor files, checks an installation, converts files.',
      '',
      'Commands:',
      ...list(COMMANDS.map((row) => [usage(row), row.about])),
      '',
      'Options:',
      ...list([['-h, --help', 'this text; behind a command, its own'], ['-v, --version', 'the version of the package']]),
      '',
      'Ends with 0 for success, 1 for a failure, 2 for a wrong command or option.'
    ]
  }
  const options = Object.entries(command.options).map(([name, { value, about }]) => [`    --${name}${value === undefined ? '' : ` <${value}>`}`, about])
  return [
    `Usage: ferrotensor ${usage(command)} [options]`,
    '',
    `${command.about.charAt(0).toUpperCase()}${command.about.slice(1)}.`,
    '',
    'Options:',
    ...list([...options, ['-h, --help', 'this text']]),
    '',
    ...command.notes
  ]
}
