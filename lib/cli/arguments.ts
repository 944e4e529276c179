// The words of the command line as a command with its operands and options. Whatever is wrong with them is one error that says what
// was probably meant.

import { parseArgs } from 'node:util'
import { meantOrAll } from '../errors/did-you-mean.js'
import { COMMANDS, type CommandRow } from './commands.js'
import { usage } from './help.js'
import { quoted, shortened } from './output.js'

/** Wrong words on the command line. */
export class UsageError extends Error {}

/** What a command was given. */
export interface Arguments {
  readonly operands: readonly string[]
  /** Whether a flag was given. */
  readonly flag: (name: string) => boolean
  /** The value of an option, if it was given. */
  readonly text: (name: string) => string | undefined
}

/** What is to be done. */
export type Request =
  | { readonly kind: 'run'; readonly command: CommandRow; readonly given: Arguments }
  | { readonly kind: 'help'; readonly command: CommandRow | undefined }
  | { readonly kind: 'version' }

const SHORT: Readonly<Record<string, string>> = { h: 'help', v: 'version' }

/**
 * Reads the words behind the program's name.
 *
 * @throws {UsageError} for a command or an option that does not exist, an operand too many or too few, an option without its value,
 * with one it does not take, or given twice.
 */
export function readArguments(words: readonly string[]): Request {
  const [first = '', ...rest] = words
  if (first.startsWith('-')) return readGlobal(first)
  const command = COMMANDS.find(({ name }) => name === first)
  if (command === undefined) throw new UsageError(`there is no command ${quoted(first)}${meantOrAll(first, COMMANDS.map(({ name }) => name))}`)
  return readCommand(command, rest)
}

/** An option before any command. */
function readGlobal(word: string): Request {
  const name = word.startsWith('--') ? word.slice(2) : (SHORT[word.slice(1)] ?? '')
  if (name === 'help') return { kind: 'help', command: undefined }
  if (name === 'version') return { kind: 'version' }
  const owner = COMMANDS.find(({ options }) => Object.hasOwn(options, name))
  const meant = owner === undefined ? meantOrAll(word, ['--help', '--version']) : `; options stand behind the command: ferrotensor ${owner.name} ${word}`
  throw new UsageError(`there is no option ${quoted(word)} without a command${meant}`)
}

function readCommand(command: CommandRow, words: readonly string[]): Request {
  const types = Object.entries(command.options).map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const)
  const options = { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } } as const
  // Not strict: what Node says of wrong words has neither a hint nor, from version to version, the same words.
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true })
  const operands: string[] = []
  const values = new Map<string, string>()
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind === 'option') values.set(token.name, optionValue(command, values, token))
  }
  if (values.has('help')) return { kind: 'help', command }
  checkOperands(command, operands)
  return { kind: 'run', command, given: { operands, flag: (name) => values.has(name), text: (name) => values.get(name) } }
}

/** An option as it was written. */
interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

/** The value of an option; of a flag, nothing. */
function optionValue({ name: command, options }: CommandRow, seen: ReadonlyMap<string, string>, token: OptionToken): string {
  const { name, rawName, value, inlineValue } = token
  const row = name === 'help' ? { about: '' } : Object.hasOwn(options, name) ? options[name] : undefined
  const known = [...Object.keys(options), 'help'].map((option) => `--${option}`)
  if (row === undefined) throw new UsageError(`${command} has no option ${quoted(rawName)}${meantOrAll(rawName, known)}`)
  if (seen.has(name)) throw new UsageError(`${command}: ${rawName} is given twice`)
  if (row.value === undefined) {
    if (value !== undefined) throw new UsageError(`${command}: ${rawName} takes no value, got ${quoted(value)}`)
    return ''
  }
  // A word that looks like an option is one that follows a forgotten value, unless it is joined to the option.
  if (value === undefined || value === '' || (!inlineValue && value.startsWith('-'))) {
    const joined = value?.startsWith('-') ? `; if ${quoted(value)} is one, write ${rawName}=${shortened(value)}` : ''
    throw new UsageError(`${command}: ${rawName} needs a value: ${rawName} <${row.value}>${joined}`)
  }
  return value
}

function checkOperands(command: CommandRow, given: readonly string[]): void {
  const { name, operands: wanted } = command
  const missing = wanted[given.length]
  if (missing !== undefined) throw new UsageError(`${name}: <${missing}> is missing: ferrotensor ${usage(command)}`)
  const surplus = given[wanted.length]
  if (surplus !== undefined) throw new UsageError(`${name}: ${quoted(surplus)} is one too many: ferrotensor ${usage(command)}`)
}
