// Methods under names of other libraries: the same functions as ours, or functions that throw what to write.

import { instead } from '../errors/instead.js'
import { INSTEAD, SAME } from '../generated/names/methods.js'

/** Gives a prototype these methods; like those of a class they are not listed. */
export function addAliases(prototype: object): void {
  const add = (name: string, value: unknown) => Object.defineProperty(prototype, name, { value, configurable: true, writable: true })
  for (const [name, target] of Object.entries(SAME)) add(name, (prototype as Record<string, unknown>)[target])
  for (const [words, names] of INSTEAD) for (const name of names.split(' ')) add(name, instead(name, words))
}
