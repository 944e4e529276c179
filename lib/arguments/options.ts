// Objects of options: names that are known, and hints at what was meant where something else stands in their place.

import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { didYouMean, nowhere } from '../errors/did-you-mean.js'
import type { OpRow } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import { axisLast } from '../program/op-table.js'
import { TracedNumber } from '../program/placeholder.js'
import { isDType } from './validate.js'

/** What to write where tensors are passed one by one. */
export const ONE_ARRAY = '; several tensors are one array'

/** Kinds of options that no row has, which users of Python pass by their place. */
const KINDS: Readonly<Record<string, string>> = {
  approximate: 'text', bias: 'bool', bins: 'int', full: 'bool', learningRate: 'number', margin: 'number', mode: 'text', r: 'int', reduction: 'text'
}

/**
 * An options object, checked for names nobody reads: `{ axes: 0 }` would silently reduce everything. `row` tells what kind of value a
 * name takes; without one the name does.
 */
export function checkOptions(op: string, options: unknown, names: readonly string[], row?: OpRow): Record<string, unknown> {
  if (options === undefined) return {}
  // What can be walked (arrays, typed arrays, maps, tensors) is an argument in the wrong place.
  if (typeof options !== 'object' || options === null || Symbol.iterator in options || options instanceof TracedNumber) {
    const meant = names.find((name) => isValueOf(name, row, options))
    const sizes = row?.attrs[0]?.kind === 'shape' && typeof options === 'number' ? '; write the sizes as one array' : ''
    const order = isTensor(options) && row?.operands.includes('indices') === true ? axisLast(row) : isTensor(options) && row?.variadic === true ? ONE_ARRAY : op.startsWith('random.') ? '; a key comes first, the shape after what is drawn from' : sizes
    const hint = meant === undefined ? order : `; write { ${meant}: ${shown(options)} }`
    throw new ArgumentError(`${op}: 'options' must be an object (${names.join(', ')}), got ${shown(options)}${hint}`)
  }
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) {
      throw new ArgumentError(`${op}: unknown option '${name}'${didYouMean(name, names) || nowhere(op, name)}${names.length > 1 ? ` (one of ${names.join(', ')})` : ` (there is only ${names[0]})`}`)
    }
  }
  return options as Record<string, unknown>
}

function kindOf(name: string, row: OpRow | undefined): string {
  return row?.attrs.find((attr) => attr.name === name)?.kind ?? (row?.params.some((param) => param.name === name) ? 'int' : (KINDS[name] ?? name))
}

/** Whether a value that stands where options belong is probably meant as the one of this name. */
function isValueOf(name: string, row: OpRow | undefined, value: unknown): boolean {
  switch (kindOf(name, row)) {
    case 'choice':
      return row?.attrs.find((attr) => attr.name === name)?.choices?.includes(value as string) === true
    case 'text':
      return typeof value === 'string' && value.length <= 20
    case 'dtype':
      return typeof value === 'string' && isDType(value)
    case 'shape':
      return Array.isArray(value)
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
    case 'number':
    case 'optAxis':
    case 'axes':
    case 'axisPairs':
      return typeof value === 'number'
    default:
      return false
  }
}
