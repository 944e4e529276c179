// Native functions of `crates/node/src/readback.rs`: values and waiting for them.

/** @internal */
export interface ReadbackFunctions {
  read(handle: number, into: ArrayBufferView, wait: boolean): boolean
  readAsync(handle: number): Promise<ArrayBuffer>
  wait(handle: number): void
  waitAsync(handle: number): Promise<void>
  drain(): void
}

/** @internal */
export const READBACK: Record<keyof ReadbackFunctions, true> = { read: true, readAsync: true, wait: true, waitAsync: true, drain: true }
