// Flat arrays: `ft.backends`.

import * as ft from 'ferrotensor'
import { is } from '../expectations.js'

const [x, y] = [new Float32Array(4), new Float64Array(4)]
const pure: ft.backends.Backend = ft.backends.get('pure')

export async function results(): Promise<void> {
  is<Float32Array>()(pure.matmul(x, x, 2, 2, 2))
  is<Float64Array>()(pure.matmul(y, y, 2, 2, 2, { out: new Float64Array(4) }))
  is<Float32Array>()(await pure.matmulAsync(x, x, 2, 2, 2, { onProgress: ({ done }) => void done }))
  is<Float64Array>()(pure.add(y, y))
  is<Float32Array>()(await pure.addAsync(x, x, { out: new Float32Array(4) }))
  is<number>()(pure.dot(x, x))
  is<number>()(await pure.dotAsync(y, y))
  is<number>()(pure.sum(y))
  is<number>()(await pure.sumAsync(x, { signal: new AbortController().signal }))
  is<Float32Array>()(pure.scale(x, 2))
  is<Float64Array>()(await pure.scaleAsync(y, 2))
  // An array of either kind gives one of either kind.
  const either = x as ft.backends.FloatArray
  is<ft.backends.FloatArray>()(pure.scale(either, 2))
  is<ft.backends.Backend>()(ft.backends.autoSelect({ op: 'dot', length: 3, dtype: 'float64' }))
  is<ft.backends.BackendInfo>()(pure.info())
  is<ft.backends.Backend[]>()(ft.backends.list())
}

/** Compiled, never called. */
export function refused(): void {
  // @ts-expect-error Two precisions do not mix.
  pure.add(x, y)
  // @ts-expect-error
  pure.matmul(y, y, 2, 2, 2, { out: x })
  // @ts-expect-error No array of integers.
  pure.sum(new Int32Array(1))
  // @ts-expect-error
  pure.sum([1, 2])
  // @ts-expect-error A result in memory of the caller is an option.
  pure.add(x, x, x)
  // @ts-expect-error Blocking forms have no options of jobs.
  pure.scale(x, 2, { onProgress() {} })
  // @ts-expect-error
  ft.backends.autoSelect({ op: 'matmul', length: 3 })
  // @ts-expect-error
  ft.backends.autoSelect({ op: 'sum', length: 3, dtype: 'float16' })
}
