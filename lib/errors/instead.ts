// What stands under a name of another library that does not run here: a function that throws what to write in its place.

import { UnsupportedError } from '../errors.js'

/** Stands under a name that does not run; the words say what to write. It has no call signature, so that the compiler shows them. */
export interface Instead<Words extends string = string> {
  readonly instead: Words
}

/** Makes one of a name as its users write it, without `ft.`. */
export function instead<const Words extends string>(name: string, words: Words): Instead<Words> {
  // No arrow function: `new ft.nn.ReLU()` is to throw the same.
  const thrower = function (): never {
    throw new UnsupportedError(`${name}: ${words}`)
  }
  return Object.assign(thrower, { instead: words })
}
