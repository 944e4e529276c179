// Tensors of every dtype and layout for round trips, and their comparison by bytes.

import type { ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'

/** Every dtype, with values that use all of its bytes. */
export const VALUES: Readonly<Record<ft.DType, ft.TensorData>> = {
  bool: [true, false, true, true, false, false],
  int8: [-128, 127, 0, 1, -1, 5],
  uint8: [255, 0, 1, 2, 3, 4],
  int16: [-32768, 32767, 0, 1, -1, 258],
  uint16: [65535, 0, 1, 2, 3, 258],
  int32: [-2147483648, 2147483647, 0, 1, -1, 16909060],
  uint32: [4294967295, 0, 1, 2, 3, 16909060],
  int64: [-(2n ** 63n), 2n ** 63n - 1n, 0n, 1n, -1n, 72623859790382856n],
  uint64: [2n ** 64n - 1n, 0n, 1n, 2n, 3n, 72623859790382856n],
  float16: [65504, -0, Infinity, NaN, 2 ** -24, 1.5],
  bfloat16: [3.3895313892515355e38, -0, -Infinity, NaN, 1.5, 0.0078125],
  float32: [3.4028234663852886e38, -0, Infinity, NaN, 2 ** -149, 0.1],
  float64: [Number.MAX_VALUE, -0, Infinity, NaN, 5e-324, 0.1],
  complex64: [{ re: 1, im: -2 }, { re: -0, im: Infinity }, { re: 0.1, im: 3 }, { re: 4, im: 5 }, { re: 6, im: 7 }, { re: 8, im: 9 }],
  complex128: [{ re: 1, im: -2 }, { re: -0, im: Infinity }, { re: 0.1, im: 3 }, { re: 4, im: 5 }, { re: 6, im: 7 }, { re: 8, im: 9 }]
}

/** The dtypes. */
export const NAMES = Object.keys(VALUES) as ft.DType[]

/** Six elements of a dtype in two rows. */
export const sample = (dtype: ft.DType): ft.Tensor => ft.tensor(VALUES[dtype], { dtype, shape: [2, 3] })

/** The same elements in every kind of layout that tensors have. */
export function layouts(x: ft.Tensor): Readonly<Record<string, ft.Tensor>> {
  const computed = x.copy()
  ft.evaluateSync(computed)
  return {
    dense: x,
    recorded: x.reshape([3, 2]).reshape([2, 3]),
    transposed: computed.permuteDims([1, 0]),
    sliced: computed.at(':', '1:'),
    reversed: computed.flip(),
    repeated: computed.at(0).broadcastTo([4, 3]),
    'rank 0': computed.at(1, 2),
    'rank 5': computed.reshape([1, 2, 1, 3, 1]),
    empty: computed.at('2:'),
    'empty in the middle': computed.reshape([2, 1, 3]).at(':', '1:')
  }
}

/** Asserts that two tensors are the same to the bit. */
export function same(t: ExecutionContext, actual: ft.Tensor | undefined, expected: ft.Tensor, about: string): void {
  t.deepEqual([actual?.dtype, actual?.shape], [expected.dtype, expected.shape], about)
  t.deepEqual(actual?.toBytes(), expected.toBytes(), about)
}
