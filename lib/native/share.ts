// Native functions of `crates/node/src/share.rs`: tokens that workers of one process exchange.

/** @internal */
export interface ShareFunctions {
  share(handle: number): number
  fromShared(token: number, out: object): number
}

/** @internal */
export const SHARE: Record<keyof ShareFunctions, true> = { share: true, fromShared: true }
