// Native functions of `crates/node/src/program.rs`: the buffers both sides share, programs, types and attributes, memory for elements.

/** @internal */
export interface ProgramFunctions {
  table(): string
  setBuffers(ints: Int32Array, params: Float64Array, handles: Float64Array, small: Uint8Array): void
  run(out: object): number
  infer(): number
  internType(dtype: number, shape: Float64Array, device: number): number
  typeOf(id: number): number
  internAttrs(op: number, words: Float64Array): number
  endEpoch(): void
  upload(type: number, data: ArrayBufferView, out: object): number
  reserve(type: number, out: object): number
}

/** @internal */
export const PROGRAM: Record<keyof ProgramFunctions, true> = {
  table: true,
  setBuffers: true,
  run: true,
  infer: true,
  internType: true,
  typeOf: true,
  internAttrs: true,
  endEpoch: true,
  upload: true,
  reserve: true
}
