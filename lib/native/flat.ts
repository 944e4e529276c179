// Native functions of `crates/node/src/flat.rs`: operations on plain memory by an engine of the CPU.

/**
 * An engine of the CPU for flat arrays: `reason` where it is absent.
 * @internal
 */
export interface NativeEngine {
  readonly name: string
  readonly reason?: string
  readonly isa?: string
  readonly threads?: number
  readonly library?: string
  readonly version?: string
  readonly core?: string
}

type FlatArray = Float32Array | Float64Array

/** @internal */
export interface FlatFunctions {
  /** What an engine of the CPU is: `scalar`, `simd`, `parallel` or `blas`, whose library is opened to tell. */
  engine(name: string): NativeEngine
  /**
   * Runs an operation on plain memory, for the function of this name, which leads the messages of errors; writes `out`: of `dot` and `sum` its one element, a Float64Array(1) for both dtypes. Operation: `matmul`,
   * `add`, `dot`, `sum` or `scale`; sizes: m, n, k, or the length, none of them 0; `s`: the factor of
   * `scale`, which the dtype holds. `out` of `add` and `scale` may be an operand, as a whole.
   */
  flat(name: string, engine: string, op: string, a: FlatArray, b: FlatArray | undefined, out: FlatArray, sizes: Float64Array, s: number): void
  /** As `flat`, off the main thread. Operands are copied at the call; `out` says only how large the result is, whose bytes come back. */
  flatAsync(name: string, engine: string, op: string, a: FlatArray, b: FlatArray | undefined, out: FlatArray, sizes: Float64Array, s: number): Promise<ArrayBuffer>
}

/** @internal */
export const FLAT: Record<keyof FlatFunctions, true> = { engine: true, flat: true, flatAsync: true }
