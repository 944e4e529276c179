// Native functions of `crates/node/src/error.rs`: the classes that native failures are instances of.

/** @internal */
export interface ErrorFunctions {
  setErrorClasses(classes: object): void
}

/** @internal */
export const ERROR: Record<keyof ErrorFunctions, true> = { setErrorClasses: true }
