// What the cases of operations.bench.ts run on: each tensor of about side^2 elements, under the names that NumPy sees too.

import * as ft from 'ferrotensor'
import { Tensor } from 'ferrotensor'

/** The side of the many small matrices, and the entries of the smallest vectors. */
const SMALL = 32

export type Operands = ReturnType<typeof makeOperands>

/** Operands for a side that 8 divides: 1000 for a million elements. */
export function makeOperands(side: number) {
  const n = side * side
  const key = ft.random.key(1)
  let draws = 0
  const uniform = (shape: readonly number[], low: number, high: number) => ft.random.uniform(ft.random.fold(key, draws++), shape, { low, high })
  const integers = (shape: readonly number[], high: number) => ft.random.randint(ft.random.fold(key, draws++), 0, high, shape)

  const [x, y] = [uniform([n], -2, 2), uniform([n], -2, 2)]
  const near = uniform([n], 0.999, 1.001)
  const [v, v2] = [uniform([side], -2, 2), uniform([side], -2, 2)]
  const third = Math.floor(n / 3)
  // Every tenth element, so that functions that pass over NaN have something to pass over.
  const gap = ft.arange(n, { dtype: 'int32' }).remainder(10).equal(0)
  const [z, half] = [ft.complex(x, y), n / 2 + 1]
  // Far from singular: random entries have a spectral radius of about 3 here.
  const unit = ft.eye(SMALL).multiply(8)
  const a = uniform([side, SMALL, SMALL], -1, 1).add(unit)
  const large = uniform([side, side], -1, 1).add(ft.eye(side).multiply(side))
  const spd = a.add(a.matrixTranspose()).divide(2)
  const heads = () => uniform([8, side / 2, 64], -1, 1)

  const all = {
    n,
    side,
    key,
    /** Vectors: of both signs, from 1 to 3, from 0.05 to 0.95, so near 1 that products stay finite, and two with NaN in them. */
    x,
    y,
    p: uniform([n], 1, 3),
    u: uniform([n], 0.05, 0.95),
    near,
    g: ft.where(gap, NaN, x) as Tensor<'float32'>,
    h: ft.where(gap, NaN, near) as Tensor<'float32'>,
    sorted: y.sort(),
    /** Integers: every one below n once, below side, below 32; the last as a class for each row of a matrix. */
    i: ft.random.permutation(key, n),
    k: integers([n], side),
    s: integers([n], 32),
    labels: integers([side], side),
    /** Truth values: half and half, and two that a search cannot leave early. */
    b: x.greater(0),
    c: y.greater(0),
    yes: ft.ones([n], { dtype: 'bool' }),
    no: ft.zeros([n], { dtype: 'bool' }),
    /** Complex vectors and a matrix; the first halves of transforms that are real. */
    z,
    z2: ft.complex(y, x),
    zm: z.reshape([side, side]),
    zhalf: z.at(`:${half}`).copy(),
    zmhalf: z.reshape([side, side]).at('...', `:${side / 2 + 1}`).copy(),
    /** Matrices of n elements, positions that sort the rows of the first, one far from singular and one symmetric and positive definite. */
    m: x.reshape([side, side]),
    m2: y.reshape([side, side]),
    order: x.reshape([side, side]).argsort(),
    large,
    largeSpd: large.add(large.matrixTranspose()).divide(2),
    tall: x.reshape([n / SMALL, SMALL]),
    rhs: uniform([n / SMALL], -2, 2),
    /** As many matrices of 32 x 32 as the side, general, small, and symmetric positive definite, with right sides. */
    a,
    tiny: a.divide(SMALL),
    spd,
    r: uniform([side, SMALL, 1], -2, 2),
    covariance: spd.at(0).copy(),
    mean: uniform([SMALL], -2, 2),
    /** Short vectors, and points in space. */
    v,
    v2,
    grid: ft.linspace(-2, 2, side),
    taps: uniform([64], -1, 1),
    points: uniform([third, 3], -2, 2),
    points2: uniform([third, 3], -2, 2),
    /** Pictures [batch, channels, height, width], the weights of a convolution, and what attention takes. */
    images: x.reshape([4, 16, side / 8, side / 8]),
    kernels: uniform([16, 16, 3, 3], -1, 1),
    query: heads(),
    keys: heads(),
    values: heads(),
    typed: Float32Array.from({ length: n }, (_, j) => j),
    list: Array.from({ length: n }, (_, j) => j)
  }
  ft.evaluateSync(...Object.values(tensors(all)))
  return all
}

/** The tensors among operands. */
export function tensors(operands: object): Record<string, Tensor> {
  return Object.fromEntries(Object.entries(operands).filter((entry): entry is [string, Tensor] => entry[1] instanceof Tensor))
}
