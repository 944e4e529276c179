// What calls with several results return: an object that is taken apart by name, or by position in the order of the names.

/** Results by name, which can be walked in the order of their names. */
export type Several<T> = T & { [Symbol.iterator](): IterableIterator<T[keyof T]> }

function walk(this: object): IterableIterator<unknown> {
  return Object.values(this)[Symbol.iterator]()
}

/** The object itself; it stays a plain one, whose walk is neither listed nor printed. */
export function several<T extends object>(results: T): Several<T> {
  return Object.defineProperty(results, Symbol.iterator, { value: walk, configurable: true, writable: true }) as Several<T>
}
