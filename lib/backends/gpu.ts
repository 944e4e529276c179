// GPUs as backends: arrays go to the device as tensors, the operation runs there, and the result is read back.

import { within } from '../arguments/within.js'
import { devices, type AbsentDevice, type PresentDevice } from '../devices/devices.js'
import { VERSION } from '../generated/package.js'
import { scope } from '../memory/scope.js'
import type { Tensor } from '../tensor/tensor.js'
import { fromTypedArray } from '../values/create.js'
import { data, dataSync } from '../values/read.js'
import type { FloatArray, Precision } from './arrays.js'
import type { Engine } from './engine.js'
import type { Job, Operation } from './job.js'

const isPrecision = (dtype: string): dtype is Precision => dtype === 'float32' || dtype === 'float64'

/** The tensors of a job's operands: matrices of `matmul`, vectors of the others. */
function operands({ operation, a, b, sizes: [m = 0, n = 0, k = 0] }: Job, device: string): readonly [a: Tensor, b: Tensor | undefined] {
  const [shapeOfA, shapeOfB] = operation === 'matmul' ? [[m, k], [k, n]] : []
  return [fromTypedArray(a, shapeOfA, { device }), b && fromTypedArray(b, shapeOfB, { device })]
}

/** Each operation on tensors. A product of vectors would be summed in one row: rounding errors of `dot` would grow with its length. */
const ON_TENSORS: Readonly<Record<Operation, (a: Tensor, b: Tensor, s: number) => Tensor>> = {
  matmul: (a, b) => a.matmul(b),
  add: (a, b) => a.add(b),
  dot: (a, b) => a.multiply(b).sum(),
  sum: (a) => a.sum(),
  scale: (a, _, s) => a.multiply(s)
}

function engine(device: PresentDevice | AbsentDevice): Engine {
  const { name } = device
  const reason = device.available ? undefined : device.reason
  const result = (job: Job): readonly Tensor[] => {
    const [a, b] = operands(job, name)
    return [ON_TENSORS[job.operation](a, b as Tensor, job.s), a, ...(b === undefined ? [] : [b])]
  }
  return {
    name,
    reason,
    dtypes: device.available ? device.dtypes.filter(isPrecision) : [],
    gpu: device.available && device.class !== 'software',
    copies: true,
    info: () =>
      device.available ? { name, available: true, version: VERSION, device: device.description } : { name, available: false, reason: device.reason },
    run: (op, job) => within(op, () => scope(() => job.out.set(dataSync(result(job)[0] as Tensor) as FloatArray))),
    async runAsync(op, job, { onProgress, signal }) {
      const tensors = within(op, () => result(job))
      try {
        job.out.set((await data(tensors[0] as Tensor)) as FloatArray)
      } catch (error) {
        within(op, () => {
          throw error
        })
      } finally {
        for (const x of tensors) x.dispose()
      }
      signal?.throwIfAborted()
      onProgress?.({ done: 1, total: 1, label: job.operation })
    }
  }
}

/** Kinds of devices that are no GPUs. */
const OTHERS = ['cpu', 'systolic', 'native']

/** The GPUs, and for each kind without any the reason; none without a native binary, whose absence the engines of the CPU tell of. */
export function gpuEngines(): Engine[] {
  return devices()
    .filter(({ kind }) => !OTHERS.includes(kind))
    .map(engine)
}
