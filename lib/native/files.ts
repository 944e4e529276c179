// Native functions of `crates/node/src/files.rs`: sources of tensors, and writing them.

/**
 * What is in a file, before its elements are looked at.
 * @internal
 */
export interface NativeSource {
  readonly id: number
  readonly names: readonly string[]
  readonly codes: readonly string[]
  /** For each array: dtype, place in `codes`, Fortran order, packed, bytes, rank, sizes; float64. */
  readonly facts: ArrayBuffer
  /** Places of arrays that cannot be read, and why. */
  readonly refusals: readonly (readonly [number, string])[]
  readonly metadata: readonly (readonly [string, string])[]
}

/** @internal */
export interface FileFunctions {
  openSource(op: string, source: string | Uint8Array, options: object): NativeSource
  openSourceAsync(op: string, source: string | Uint8Array, options: object): Promise<NativeSource>
  closeSource(source: number): void
  /** Closes it when the object has been collected; returns what should be collected now, as a run's status does. */
  holdSource(source: number, object: object): number
  /** A handle for an array where it lies in a mapped file, or 0. */
  lend(source: number, entry: number, type: number, out: object): number
  fill(op: string, source: number, entry: number, handle: number): void
  fillAsync(op: string, source: number, entry: number, handle: number): Promise<void>
  /**
   * Texts of a column from the `first` on, whose bytes begin at `start`, as many as `bytes` and `ends` have room for. `ends` gets how many there
   * are, how many bytes they take, and where each ends in the string that the bytes are. Without room for one: 0, and how many bytes it takes.
   */
  texts(source: number, entry: number, first: number, start: number, bytes: Uint8Array, ends: Uint32Array): void
  /** Without a path: returns how many bytes `encoded` will give. */
  write(path: string, handles: Float64Array, options: object): number
  encoded(into: Uint8Array | undefined): void
  writeAsync(path: string, handles: Float64Array, options: object): Promise<ArrayBuffer | undefined>
}

/** @internal */
export const FILES: Record<keyof FileFunctions, true> = {
  openSource: true,
  openSourceAsync: true,
  closeSource: true,
  holdSource: true,
  lend: true,
  fill: true,
  fillAsync: true,
  texts: true,
  write: true,
  encoded: true,
  writeAsync: true
}
