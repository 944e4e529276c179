// Native functions of `crates/node/src/plan.rs`: what a program would do.

/** @internal */
export interface NativePlan {
  readonly device: string
  readonly engine: string
  readonly kernels: readonly {
    readonly name: string
    readonly device: string
    readonly lacking?: string
    readonly conditional: boolean
    readonly read: number
    readonly written: number
    readonly carried: number
    readonly flops?: number
    readonly fallbacks: readonly string[]
    readonly rejected: readonly { readonly backend: string; readonly reason: string }[]
  }[]
  readonly temporary: number
  readonly results: number
  readonly fused: number
}

/** @internal */
export interface PlanFunctions {
  /** Of the program in the buffers: header, words, and slots of its outputs. */
  plan(): NativePlan
}

/** @internal */
export const PLAN: Record<keyof PlanFunctions, true> = { plan: true }
