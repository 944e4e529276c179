// Native functions of `crates/node/src/handles.rs`: which tensors JavaScript holds, and in which scope.

/** @internal */
export interface HandleFunctions {
  dispose(handle: number): void
  adopt(handle: number, scope: number): void
  closeScope(scope: number): void
  collect(heap: number): void
  press(bytes: number): void
}

/** @internal */
export const HANDLES: Record<keyof HandleFunctions, true> = { dispose: true, adopt: true, closeScope: true, collect: true, press: true }
