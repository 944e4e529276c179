// Native functions of `crates/node/src/profile.rs`: what kernels took.

/** @internal */
export interface NativeProfile {
  readonly wall: number
  readonly busy: number
  readonly kernels: readonly {
    readonly name: string
    readonly device: string
    readonly lacking?: string
    readonly count: number
    readonly time: number
    readonly read: number
    readonly written: number
    readonly flops?: number
    readonly double: boolean
  }[]
  readonly peaks: readonly { readonly device: string; readonly copy: number; readonly float32: number; readonly float64: number }[]
  /** Float64, eight of each span: what, thread, device, kernel, start and end in milliseconds, amount, live bytes. */
  readonly spans: ArrayBuffer
  /** Names; the first one opened the profile. */
  readonly threads: readonly string[]
  readonly devices: readonly { readonly number: number; readonly name: string }[]
  readonly leftOut: number
}

/** @internal */
export interface ProfileFunctions {
  openProfile(): number
  closeProfile(id: number): NativeProfile
}

/** @internal */
export const PROFILE: Record<keyof ProfileFunctions, true> = { openProfile: true, closeProfile: true }
