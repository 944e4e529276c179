// Cases of operations.bench.ts: products, linear algebra, Fourier transforms. Their cost is not linear: the operands are about a
// million elements, as one matrix or as many small ones.

import * as ft from 'ferrotensor'
import { FREE, type Case } from './case.js'

/** Float32 after some thousand roundings. */
const LONG = 1e-4

export const ALGEBRA: readonly Case[] = [
  ['matmul', ({ m, m2 }) => ft.matmul(m, m2), 'm @ m2'],
  ['matmul of many', ({ a, spd }) => ft.matmul(a, spd), 'a @ spd'],
  ['matmul with a vector', ({ m, v }) => ft.matmul(m, v), 'm @ v'],
  ['matmul complex', ({ zm }) => ft.matmul(zm, zm), 'zm @ zm', LONG],
  ['tensordot', ({ m, m2 }) => ft.tensordot(m, m2, { axes: 1 }), 'np.tensordot(m, m2, 1)'],
  ['einsum', ({ m, m2 }) => ft.einsum('ij,jk->ik', m, m2), "np.einsum('ij,jk->ik', m, m2, optimize=True)"],
  ['einsum of many', ({ a, spd }) => ft.einsum('bij,bjk->bik', a, spd), "np.einsum('bij,bjk->bik', a, spd, optimize=True)"],
  ['vecdot', ({ m, m2 }) => ft.vecdot(m, m2), 'np.vecdot(m, m2)'],
  ['cross', ({ points, points2 }) => ft.cross(points, points2), 'np.cross(points, points2)'],
  ['outer', ({ v, v2 }) => ft.outer(v, v2), 'np.outer(v, v2)'],
  ['inner', ({ m, m2 }) => ft.inner(m, m2), 'np.inner(m, m2)'],
  ['kron', ({ v, v2 }) => ft.kron(v, v2), 'np.kron(v, v2)'],
  ['diagonal', ({ a }) => ft.diagonal(a).copy(), 'np.linalg.diagonal(a).copy()'],
  ['trace', ({ a }) => ft.trace(a), 'np.linalg.trace(a)'],
  ['diag', ({ v }) => ft.diag(v), 'np.diag(v)'],

  ['linalg.solve', ({ a, r }) => ft.linalg.solve(a, r), 'np.linalg.solve(a, r)'],
  ['linalg.solve large', ({ large, v }) => ft.linalg.solve(large, v), 'np.linalg.solve(large, v)'],
  ['linalg.solveTriangular', ({ a, r }) => ft.linalg.solveTriangular(a, r), '-'],
  ['linalg.inv', ({ a }) => ft.linalg.inv(a), 'np.linalg.inv(a)'],
  ['linalg.inv large', ({ large }) => ft.linalg.inv(large), 'np.linalg.inv(large)'],
  ['linalg.matrixPower', ({ a }) => ft.linalg.matrixPower(a, 5), 'np.linalg.matrix_power(a, 5)'],
  ['linalg.cholesky', ({ spd }) => ft.linalg.cholesky(spd), 'np.linalg.cholesky(spd)'],
  ['linalg.cholesky large', ({ largeSpd }) => ft.linalg.cholesky(largeSpd), 'np.linalg.cholesky(largeSpd)'],
  ['linalg.qr', ({ a }) => ft.linalg.qr(a), 'np.linalg.qr(a)', FREE],
  ['linalg.qr large', ({ large }) => ft.linalg.qr(large), 'np.linalg.qr(large)', FREE],
  ['linalg.lu', ({ a }) => ft.linalg.lu(a), '-'],
  ['linalg.lu large', ({ large }) => ft.linalg.lu(large), '-'],
  ['linalg.det', ({ a }) => ft.linalg.det(a), 'np.linalg.det(a)'],
  ['linalg.slogdet', ({ a }) => ft.linalg.slogdet(a), 'np.linalg.slogdet(a)'],
  ['linalg.expm', ({ tiny }) => ft.linalg.expm(tiny), '-'],
  ['linalg.eigh', ({ spd }) => ft.linalg.eigh(spd), 'np.linalg.eigh(spd)', FREE],
  ['linalg.eigvalsh', ({ spd }) => ft.linalg.eigvalsh(spd), 'np.linalg.eigvalsh(spd)'],
  ['linalg.eigvalsh large', ({ largeSpd }) => ft.linalg.eigvalsh(largeSpd), 'np.linalg.eigvalsh(largeSpd)'],
  ['linalg.eig', ({ a }) => ft.linalg.eig(a), 'np.linalg.eig(a)', FREE],
  ['linalg.eigvals', ({ a }) => ft.linalg.eigvals(a), 'np.linalg.eigvals(a)', FREE],
  ['linalg.svd', ({ a }) => ft.linalg.svd(a), 'np.linalg.svd(a)', FREE],
  ['linalg.svdvals', ({ a }) => ft.linalg.svdvals(a), 'np.linalg.svdvals(a)'],
  ['linalg.svdvals large', ({ m }) => ft.linalg.svdvals(m), 'np.linalg.svdvals(m)', LONG],
  ['linalg.matrixRank', ({ a }) => ft.linalg.matrixRank(a), 'np.linalg.matrix_rank(a)'],
  ['linalg.pinv', ({ a }) => ft.linalg.pinv(a), 'np.linalg.pinv(a)'],
  ['linalg.lstsq', ({ tall, rhs }) => ft.linalg.lstsq(tall, rhs), 'np.linalg.lstsq(tall, rhs)', LONG],
  ['linalg.vectorNorm', ({ x }) => ft.linalg.vectorNorm(x), 'np.linalg.vector_norm(x)'],
  ['linalg.matrixNorm', ({ a }) => ft.linalg.matrixNorm(a), 'np.linalg.matrix_norm(a)'],
  ['linalg.cond', ({ a }) => ft.linalg.cond(a), 'np.linalg.cond(a)'],

  ['fft.fft', ({ z }) => ft.fft.fft(z), 'np.fft.fft(z)'],
  ['fft.fft of rows', ({ zm }) => ft.fft.fft(zm), 'np.fft.fft(zm)'],
  ['fft.ifft', ({ z }) => ft.fft.ifft(z), 'np.fft.ifft(z)'],
  ['fft.fftn', ({ zm }) => ft.fft.fftn(zm), 'np.fft.fftn(zm)'],
  ['fft.ifftn', ({ zm }) => ft.fft.ifftn(zm), 'np.fft.ifftn(zm)'],
  ['fft.rfft', ({ x }) => ft.fft.rfft(x), 'np.fft.rfft(x)'],
  ['fft.rfft of rows', ({ m }) => ft.fft.rfft(m), 'np.fft.rfft(m)'],
  ['fft.irfft', ({ zhalf }) => ft.fft.irfft(zhalf), 'np.fft.irfft(zhalf)'],
  ['fft.rfftn', ({ m }) => ft.fft.rfftn(m), 'np.fft.rfftn(m)'],
  ['fft.irfftn', ({ zmhalf }) => ft.fft.irfftn(zmhalf), 'np.fft.irfftn(zmhalf)'],
  ['fft.hfft', ({ zhalf }) => ft.fft.hfft(zhalf), 'np.fft.hfft(zhalf)'],
  ['fft.ihfft', ({ x }) => ft.fft.ihfft(x), 'np.fft.ihfft(x)'],
  ['fft.fftshift', ({ m }) => ft.fft.fftshift(m), 'np.fft.fftshift(m)'],
  ['fft.ifftshift', ({ m }) => ft.fft.ifftshift(m), 'np.fft.ifftshift(m)'],
  ['fft.fftfreq', ({ n }) => ft.fft.fftfreq(n), 'np.fft.fftfreq(n).astype(np.float32)'],
  ['fft.rfftfreq', ({ n }) => ft.fft.rfftfreq(n), 'np.fft.rfftfreq(n).astype(np.float32)']
]
