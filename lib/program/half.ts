// The half floats, float16 and bfloat16, which are computed with in float32.

import { DTYPE, type DType } from '../generated/dtypes.js'

/** Whether a dtype is a float of two bytes. */
export function isHalf(dtype: DType): boolean {
  const { kind, bytes } = DTYPE[dtype]
  return kind === 'float' && bytes === 2
}
