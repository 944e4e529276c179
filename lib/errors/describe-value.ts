// Values as error messages show them.

/**
 * The only own property of a tensor that `Object.keys` does not list and `assert.deepStrictEqual` compares: no two tensors have the same
 * number, so that two of them are never deeply equal by chance, and its text is what the failed assertion shows. That compares fields, not values.
 * Private fields would hide the others, and make chains of additions of 4 elements a quarter slower (350 ns each instead of 285).
 * @internal
 */
export const IDENTITY = Symbol('number of this tensor; to compare values: assertEqual of ferrotensor/testing')

/** What error messages call the instances of a class, where not by its name. */
export const DESCRIPTION = Symbol('description')

/** A value as error messages show it: kind and, where short, the value. */
export function shown(value: unknown, inside = false): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'string') return value.length <= 40 ? `'${value}'` : 'a long string'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' || typeof value === 'boolean') return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) return listed(value, inside)
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' ? instance(value) : withArticle(typeof value)
}

const withArticle = (noun: string): string => `${/^[AEIO]/i.test(noun) ? 'an' : 'a'} ${noun}`

/** The items of a short array; a proxy may have any length, and throw. */
function listed(value: readonly unknown[], inside: boolean): string {
  try {
    const short = value.length <= 8 && !inside
    return short ? `[${value.map((item) => shown(item, true)).join(', ')}]` : `an array of ${value.length}`
  } catch {
    return 'an array'
  }
}

/** An object by its class; a proxy or a getter may throw or give anything, and an error message must not. */
function instance(value: object): string {
  try {
    if (DESCRIPTION in value) return String(value[DESCRIPTION])
    // The fields of a tensor in a plain object.
    if (IDENTITY in value && value.constructor?.name === 'Object') return "an object with a tensor's fields, which is no copy of it ({...x}); tensors do not change, so use x itself"
    const name: unknown = value.constructor?.name
    return withArticle(typeof name === 'string' && name !== '' ? name : 'object')
  } catch {
    return 'an object'
  }
}
