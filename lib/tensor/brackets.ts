// `x[0] = 5`, which arrays understand and tensors do not: it would set a property that nothing reads. Accessors of the prototype cost nothing but
// such assignments, where a Proxy would cost each access. Reading gives undefined as ever: Jest reads every property of what it shows.

import { ArgumentError } from '../errors.js'

/** Positions from the first that are refused: who fills a tensor begins at one of them, or at -1 where he comes from Python. */
const POSITIONS = 32

/** Makes tensors throw where brackets set one of their first positions. */
export function refuseBrackets(prototype: object): void {
  for (let i = -1; i < POSITIONS; i++) {
    Object.defineProperty(prototype, i, {
      configurable: true,
      enumerable: false,
      set: () => {
        throw new ArgumentError(`x[${i}] = ...: tensors do not change; write x = x.withAt([${i}], value), which is a changed copy (to read an element: x.at(${i}))`)
      }
    })
  }
}
