// Native functions of `crates/node/src/tables.rs`: texts of columns.

/** @internal */
export interface TableFunctions {
  /**
   * Texts of a column from the `first` on, whose bytes begin at `start`, as many as `bytes` and `ends` have room for. `ends` gets how many there
   * are, how many bytes they take, and where each ends in the string that the bytes are. Without room for one: 0, and how many bytes it takes.
   */
  texts(source: number, entry: number, first: number, start: number, bytes: Uint8Array, ends: Uint32Array): void
}

/** @internal */
export const TABLES: Record<keyof TableFunctions, true> = {
  texts: true
}
