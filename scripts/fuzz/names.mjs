// Argument lists that work, for names of NumPy and PyTorch whose arguments stand otherwise; methods get their receiver first.

import * as ft from 'ferrotensor'

const pending = (...shape) => ft.ones(shape).add(1)
const receiver = [() => [pending(2, 3)]]
const matrix = [() => [ft.eye(2).add(1)], () => [ft.eye(2, { dtype: 'float64' })]]
const indices = () => ft.tensor([[0, 1, 1]], { dtype: 'int32' })

/** Names that take a tensor alone. */
const ALONE = [
  't', 'adjoint', 'detach', 'cpu', 'unique', 'float', 'double', 'half', 'bfloat16', 'char', 'byte', 'short', 'int', 'long', 'bool', 'isFloatingPoint', 'isComplex', 'isposinf',
  'isneginf', 'dim', 'numel', 'itemsize', 'elementSize', 'nbytes', 'H', 'mH', 'flatnonzero', 'ndim', 'shape', 'size', 'isTensor', 'fft.fft2', 'fft.ifft2', 'fft.irfft2', 'fft.rfft2'
]
/** Names that take a matrix. */
const SQUARE = ['inverse', 'pinverse', 'det', 'slogdet', 'matrixExp', 'inv', 'pinv', 'eigh', 'eigvals', 'eigvalsh']

/** @type {Record<string, (() => unknown[])[]>} */
export const NAME_SEEDS = {
  ...Object.fromEntries(ALONE.map((name) => [name, receiver])),
  ...Object.fromEntries(SQUARE.map((name) => [name, matrix])),
  permute: [() => [pending(2, 3), 1, 0], () => [pending(2, 3), [1, 0]]],
  transpose: [() => [pending(2, 3)], () => [pending(2, 3, 4), 1, 2], () => [pending(2, 3, 4), [2, 0, 1]]],
  view: [() => [pending(2, 3), 3, -1], () => [pending(2, 3), [6]], () => [pending(2, 3), 'int32']],
  where: [() => [pending(2, 3).greater(0), pending(2, 3), 1]],
  'Tensor.where': [() => [pending(2, 3), pending(3).greater(0), 1]],
  newZeros: [() => [pending(2, 3), [2]]],
  newOnes: [() => [pending(2, 3), [2], { dtype: 'int8' }]],
  newFull: [() => [pending(2, 3), [2], 7]],
  newTensor: [() => [pending(2, 3), [1, 2]]],
  // Functions of `ft.signal` that stand in the root too.
  bartlett: [() => [5], () => [4, { periodic: true, dtype: 'float16' }]],
  blackman: [() => [5]],
  hamming: [() => [5]],
  kaiser: [() => [5, 8]],
  stft: [() => [pending(2, 20), 8, { hopLength: 3 }]],
  istft: [() => [ft.signal.stft(pending(20), 8), 8, { length: 12 }]],
  cholesky: [() => [ft.eye(2)]],
  qr: [() => [pending(2, 2)], () => [pending(3, 2), { mode: 'complete' }]],
  viewAs: [() => [pending(2, 3), pending(6)]],
  reshapeAs: [() => [pending(2, 3), pending(6)]],
  expand: [() => [pending(1, 3), 2, -1], () => [pending(3), [2, 3]]],
  expandAs: [() => [pending(1, 3), pending(2, 3)]],
  dot: [() => [pending(2, 3), pending(3)], () => [pending(3), [1, 2, 3]]],
  vdot: [() => [pending(2, 3), pending(6)]],
  norm: [() => [pending(2, 3)], () => [pending(3), 1], () => [pending(2, 3), { axis: 0, keepdims: true }], () => [pending(2, 3), 'fro']],
  'linalg.norm': [() => [pending(2, 3)], () => [pending(2, 3), 1], () => [pending(2, 3, 4), 'nuc', { axis: [0, 2], keepdims: true }]],
  gather: [() => [pending(2, 3), 0, indices()], () => [pending(2, 3), 1, [[0], [2]]]],
  indexSelect: [() => [pending(2, 3), 1, ft.tensor([2, 0], { dtype: 'int32' })], () => [pending(2, 3), 0, [1]]],
  maskedSelect: [() => [pending(2, 3), pending(3).greater(0)]],
  maskedFill: [() => [pending(2, 3), pending(3).greater(0), 0]],
  narrow: [() => [pending(2, 3), 1, 1, 2]],
  select: [() => [pending(2, 3), 1, -1]],
  bucketize: [() => [pending(2, 3), ft.tensor([1, 2, 3])], () => [pending(3), [0, 1], { right: true }]],
  matrixPower: [() => [ft.eye(2).add(1), 3]],
  solve: [() => [ft.eye(2).add(1), pending(2)]],
  typeAs: [() => [pending(2, 3), ft.ones([1], { dtype: 'int8' })]],
  hsplit: [() => [pending(2, 4), 2], () => [pending(4), [1, 2]]],
  vsplit: [() => [pending(4, 2), 2]],
  dsplit: [() => [pending(2, 2, 4), 2]],
  'random.random': [() => [ft.random.key(1), [2, 3]]],
  'random.standardNormal': [() => [ft.random.key(1), [2, 3]]],
  'random.integers': [() => [ft.random.key(1), 0, 9, [2, 3]]]
}
