// Patterns of axes as einops writes them: `b (h w) c -> b c h w`. Text to lists of axes, checked for one operation; no shape is known here.

import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

/** What a pattern may do with axes: all stay, some go, some come. */
export type Kind = 'rearrange' | 'reduce' | 'repeat'

/** An axis of a pattern: a name, or the size of one without a name. */
export interface Axis {
  /** What it is known by: its name, or for one without a name its place in the pattern. */
  readonly id: string
  /** Its size, where the pattern says so. */
  readonly size?: number
}

/** All axes that are not named. */
export const ELLIPSIS: Axis = { id: '...' }

/** Each of them as an axis of its own; in parentheses they are one. */
export const SPREAD: readonly Axis[] = [ELLIPSIS]

/** One side: each axis of a tensor as the axes that it is made of, the slowest first. */
export type Side = readonly (readonly Axis[])[]

/** A pattern. */
export interface Pattern {
  readonly left: Side
  readonly right: Side
  /** The names of axes, in the order of the pattern. */
  readonly names: readonly string[]
}

/** Longer patterns are a mistake: 32 axes of 32 characters on both sides have 2,048. */
const MOST_CHARACTERS = 4096

/** How many patterns are remembered: programs have tens of them. */
const MOST_PATTERNS = 512

const known = new Map<string, Pattern>()

/** The words of a side; what is no word is an error that names it. */
function words(op: string, text: string): string[] {
  const found = text.match(/\.\.\.|…|[()]|[^\s().…]+|\./g) ?? []
  return found.map((word) => {
    if (word === '…') return '...'
    if (/^(\.\.\.|[()]|\d+|[\p{L}_][\p{L}\p{N}_]*)$/u.test(word)) return word
    throw new ArgumentError(`${op}: ${shown(word)} in the pattern is no axis: names begin with a letter, sizes are digits`)
  })
}

function sideOf(op: string, text: string, side: 'left' | 'right'): Side {
  const axes: (readonly Axis[])[] = []
  let group: Axis[] | undefined
  for (const [at, word] of words(op, text).entries()) {
    if (word === '(') {
      if (group !== undefined) throw new ArgumentError(`${op}: a parenthesis stands in another on the ${side} side`)
      group = []
    } else if (word === ')') {
      if (group === undefined) throw new ArgumentError(`${op}: a parenthesis is closed on the ${side} side that was not opened`)
      axes.push(group)
      group = undefined
    } else {
      const axis = word === '...' ? ELLIPSIS : /^\d/.test(word) ? { id: `${side} ${at}`, size: Number(word) } : { id: word }
      if (axis.size !== undefined && !(axis.size >= 1 && Number.isSafeInteger(axis.size))) throw new ArgumentError(`${op}: the size ${word} in the pattern must be at least 1`)
      if (axis === ELLIPSIS && group !== undefined && side === 'left') throw new ArgumentError(`${op}: '...' stands in parentheses on the left side, where it says no sizes`)
      if (group === undefined) axes.push(axis === ELLIPSIS ? SPREAD : axis.size === 1 ? [] : [axis])
      else if (axis.size !== 1) group.push(axis)
    }
  }
  if (group !== undefined) throw new ArgumentError(`${op}: a parenthesis is not closed on the ${side} side`)
  const ids = axes.flat().map(({ id }) => id)
  const again = ids.find((id, i) => ids.indexOf(id) < i)
  if (again !== undefined) throw new ArgumentError(`${op}: axis '${again}' stands twice on the ${side} side`)
  return axes
}

/** What a kind of pattern does not allow: axes without a partner, sizes without a name. */
function checkSides(op: string, kind: Kind, left: Side, right: Side): void {
  const missing = (from: Side, side: Side): Axis | undefined => from.flat().find(({ id }) => !side.flat().some((other) => other.id === id))
  const text = ({ id, size }: Axis): string => (size === undefined ? `axis '${id}'` : `an axis of size ${size} without a name`)
  const gone = missing(left, right)
  const hint = { rearrange: '; reduce takes axes away', repeat: '; reduce takes axes away', reduce: '' }[kind]
  if (gone !== undefined && kind !== 'reduce') throw new ArgumentError(`${op}: ${text(gone)} stands on the left side alone${hint}`)
  const come = missing(right, left)
  if (come !== undefined && (kind !== 'repeat' || come === ELLIPSIS)) throw new ArgumentError(`${op}: ${text(come)} stands on the right side alone${come === ELLIPSIS ? '' : '; repeat adds axes'}`)
}

/** The pattern of a text, parsed once. */
export function patternGiven(op: string, kind: Kind, value: unknown): Pattern {
  if (typeof value !== 'string') throw new ArgumentError(`${op}: 'pattern' must be text such as 'b (h w) c -> b c h w', got ${shown(value)}`)
  const key = `${kind} ${value}`
  const before = known.get(key)
  if (before !== undefined) return before
  if (value.length > MOST_CHARACTERS) throw new ArgumentError(`${op}: 'pattern' must be text of at most ${MOST_CHARACTERS} characters, got ${value.length}`)
  const sides = value.split('->')
  if (sides.length !== 2) throw new ArgumentError(`${op}: the pattern must have one '->', got ${shown(value)}`)
  const [left, right] = [sideOf(op, sides[0] as string, 'left'), sideOf(op, sides[1] as string, 'right')]
  checkSides(op, kind, left, right)
  const named = [...left, ...right].flat().filter((axis) => axis !== ELLIPSIS && axis.size === undefined)
  const pattern = { left, right, names: [...new Set(named.map(({ id }) => id))] }
  // Patterns made at run time would be remembered without end.
  if (known.size >= MOST_PATTERNS) known.clear()
  known.set(key, pattern)
  return pattern
}
