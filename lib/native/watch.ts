// Native functions of `crates/node/src/watch.rs`: recorded expressions that keep much memory alive.

/** @internal */
export interface WatchFunctions {
  watch(expression: object): boolean
  pruneWatched(): void
  watched(): object[]
  takeWatched(): object[]
}

/** @internal */
export const WATCH: Record<keyof WatchFunctions, true> = { watch: true, pruneWatched: true, watched: true, takeWatched: true }
