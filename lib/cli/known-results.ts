// Operations with results that are known beforehand, one for each way that elements go through a device.

import * as ft from '../../index.js'
import type { Device } from '../tensor/operand.js'

/** An operation and its result. */
export interface KnownResult {
  /** What it is about. */
  readonly name: string
  readonly compute: (device: Device) => ft.Tensor
  /** The elements in row-major order: real numbers, which float32 holds to six digits. */
  readonly expected: readonly number[]
}

export const KNOWN_RESULTS: readonly KnownResult[] = [
  { name: 'upload and read', compute: (device) => ft.tensor([[1.5, -2], [0, 4]], { device }), expected: [1.5, -2, 0, 4] },
  { name: 'map', compute: (device) => ft.tensor([1, 4, 9], { device }).sqrt().add(1), expected: [2, 3, 4] },
  { name: 'function', compute: (device) => ft.tensor([0, 1, -1], { device }).exp(), expected: [1, Math.E, 1 / Math.E] },
  { name: 'reduction', compute: (device) => ft.arange(1e6, { dtype: 'int32', device }).remainder(7).sum(), expected: [2_999_997] },
  { name: 'rows', compute: (device) => ft.arange(4, { device }).log1p().softmax(-1), expected: [0.1, 0.2, 0.3, 0.4] },
  {
    name: 'matrix product',
    compute: (device) => ft.tensor([[1, 2], [3, 4]], { device }).matmul(ft.tensor([[5, 6], [7, 8]], { device })),
    expected: [19, 22, 43, 50]
  },
  { name: 'large product', compute: (device) => ft.ones([96, 200], { device }).matmul(ft.full([200, 96], 2, { device })).sum(), expected: [96 * 96 * 400] },
  { name: 'sort', compute: (device) => ft.tensor([3, -1, 2, 0], { device }).sort(), expected: [-1, 0, 2, 3] },
  {
    name: 'gather',
    compute: (device) => ft.tensor([10, 20, 30], { device }).take(ft.tensor([2, 0, 0], { dtype: 'int32', device }), { axis: 0 }),
    expected: [30, 10, 10]
  },
  { name: 'scan', compute: (device) => ft.tensor([1, 2, 3, 4], { device }).cumulativeSum({ axis: 0 }), expected: [1, 3, 6, 10] },
  // The same on every machine: element i depends on the key and i alone.
  {
    name: 'random bits',
    compute: (device) => ft.random.bits(ft.random.key(1, { device }), [3]),
    expected: [3_823_634_032, 3_842_641_596, 2_515_673_792]
  },
  { name: 'Fourier transform', compute: (device) => ft.fft.fft(ft.tensor([1, 0, 0, 0], { device })).abs(), expected: [1, 1, 1, 1] },
  {
    name: 'linear equations',
    compute: (device) => ft.linalg.solve(ft.tensor([[2, 1], [1, 3]], { device }), ft.tensor([5, 10], { device })),
    expected: [1, 3]
  }
]

/** Relative error: float32 has six digits, and every operation above some roundings. */
const TOLERANCE = 1e-5

/** Computes it on a device, and says what is wrong with the result; undefined where nothing is. */
export async function difference({ compute, expected }: KnownResult, device: Device): Promise<string | undefined> {
  const found = Array.from((await compute(device).data()) as ArrayLike<number>)
  const near = (value: number, i: number): boolean => Math.abs((found[i] as number) - value) <= TOLERANCE * Math.max(1, Math.abs(value))
  const same = found.length === expected.length && expected.every(near)
  return same ? undefined : `gave [${found.slice(0, 8).join(', ')}] instead of [${expected.join(', ')}]`
}
