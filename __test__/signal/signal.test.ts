// Signals in this library's own terms: gradients beside differences, tracing, dtypes, what filters cost, and errors.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from '../expect.js'

type F = ft.Tensor<'float32'>
type D = ft.Tensor<'float64'>

const float64 = { dtype: 'float64' } as const
const draw = (shape: readonly number[], seed = 1): D => ft.random.normal(ft.random.key(seed), shape, float64)

/** The gradient of the sum of `f` times weights, and the differences that it is to be. */
function beside(f: (x: D) => ft.Tensor, x: D): readonly [gradient: unknown, differences: unknown, traced: unknown] {
  const weights = draw(f(x).shape, 7)
  const loss = (v: D): D => f(v).mul(weights).sum() as D
  const step = 1e-6
  const differences = Array.from({ length: x.size }, (_, i) => {
    const shift = ft.zeros([x.size], float64).withAt([i], step).reshape(x.shape) as D
    return ((loss(x.add(shift) as D).itemSync() as number) - (loss(x.sub(shift) as D).itemSync() as number)) / (2 * step)
  })
  return [ft.grad(loss)(x).flatten().toArray(), differences, ft.jit(ft.grad(loss))(x).flatten().toArray()]
}

const hann = ft.signal.hann(8, { ...float64, periodic: true })
const FUNCTIONS: Readonly<Record<string, readonly [f: (x: D) => ft.Tensor, shape: readonly number[]]>> = {
  spectrogram: [(x) => ft.signal.spectrogram(x, 8, { window: hann, hopLength: 3 }), [2, 20]],
  magnitudes: [(x) => ft.signal.spectrogram(x, 8, { power: 1 }), [20]],
  'stft and istft': [(x) => ft.signal.istft(ft.signal.stft(x, 8, { window: hann }).mul(ft.arange(5, float64).expandDims(-1)), 8, { window: hann }), [24]],
  'stft of single frames': [(x) => ft.signal.istft(ft.signal.stft(x, 80, { hopLength: 1, center: false }), 80, { hopLength: 1, center: false }), [90]],
  'dct 2': [(x) => ft.signal.dct(x, { norm: 'ortho' }).square(), [7]],
  'dct 3': [(x) => ft.signal.dct(x, { type: 3 }).square(), [2, 4]],
  idct: [(x) => ft.signal.idct(x, { axis: 0 }).square(), [4, 2]],
  'lfilter by the signal': [(x) => ft.signal.lfilter([1, 0.5], [1, -1.2, 0.6], x), [2, 15]],
  'lfilter by its coefficients': [(c) => ft.signal.lfilter(c.at(':2'), c.at('2:').mul(0.2), draw([15], 3)), [5]],
  sosfilt: [(c) => ft.signal.sosfilt(c.mul(0.2).add(ft.tensor([0, 0, 0, 1, 0, 0], float64)), draw([15], 3)), [2, 6]]
}

for (const [name, [f, shape]] of Object.entries(FUNCTIONS)) {
  test(`gradients of ${name}`, (t) => {
    const [gradient, differences, traced] = beside(f, draw(shape))
    t.true(close(gradient, differences), `${String(gradient)} beside ${String(differences)}`)
    t.true(close(traced, gradient), 'traced')
  })
}

test('the same traced', (t) => {
  const x = draw([3, 40])
  for (const f of [
    (v: D) => ft.signal.stft(v, 8, { window: ft.signal.kaiser(8, 5, float64) }).abs(),
    (v: D) => ft.signal.istft(ft.signal.stft(v, 8), 8),
    (v: D) => ft.signal.dct(v, { axis: 0 }),
    (v: D) => ft.signal.sosfilt([[1, 2, 1, 1, -1.5, 0.7]], v)
  ] as readonly ((v: D) => ft.Tensor)[]) t.true(close(ft.jit(f)(x).toArray(), f(x).toArray()))
  throws(t, 'ERR_ARGUMENT', /jit/, () => ft.jit((v: D) => ft.signal.findPeaks(v).heights)(draw([9])))
})

test('a signal comes back from its spectra, at any hop and length', (t) => {
  for (const [nFft, hopLength, length] of [[8, 2, 40], [8, 3, 41], [16, 1, 33], [9, 4, 50], [256, 2, 700]] as const) {
    const x = draw([2, length])
    for (const window of [undefined, ft.signal.hann(nFft, { ...float64, periodic: true }), ft.signal.hamming(nFft - 3, float64)]) {
      for (const normalized of [false, true]) {
        const o = { hopLength, window, normalized } as const
        const back = ft.signal.istft(ft.signal.stft(x, nFft, o), nFft, { ...o, length })
        // Behind the last frame nothing is known.
        const known = Math.min(length, Math.floor(length / hopLength) * hopLength + Math.floor((nFft - 3) / 2))
        t.true(close(back.at('...', `:${known}`).toArray(), x.at('...', `:${known}`).toArray()), `${nFft} ${hopLength} ${length}`)
      }
    }
    const z = ft.complex(x, draw([2, length], 2))
    const two = ft.signal.istft(ft.signal.stft(z, nFft, { hopLength }), nFft, { hopLength, onesided: false })
    t.is(two.dtype, 'complex128')
    t.true(close(two.toArray(), z.at('...', `:${two.shape[1]}`).toArray()))
  }
  // torch.istft(torch.stft(torch.ones(8), 4, 1, ...), 4, 1, ..., length=11): two samples of the last frame's own half, then nothing.
  t.deepEqual(ft.signal.istft(ft.signal.stft(ft.ones([8]), 4), 4, { length: 11 }).at('8:').toArray(), [1, 1, 0])
  t.deepEqual(ft.signal.istft(ft.signal.stft(ft.ones([8]), 4), 4, { length: 0 }).shape, [0])
  // Hann's window is 0 at a sample that one frame alone has.
  const open = { window: ft.signal.hann(4, { periodic: true }), center: false } as const
  t.true(Number.isNaN(ft.signal.istft(ft.signal.stft(ft.ones([8]), 4, open), 4, open).at(0).itemSync()))
})

test('dtypes', (t) => {
  const x = ft.ones([16])
  t.is(ft.signal.stft(x.astype('int16'), 8).dtype, 'complex64')
  t.is(ft.signal.stft(x, 8, { window: ft.signal.hann(8, float64) }).dtype, 'complex128')
  t.is(ft.signal.istft(ft.signal.stft(x.astype('float16'), 8), 8).dtype, 'float32')
  t.is(ft.signal.hann(4, { dtype: 'bfloat16' }).dtype, 'bfloat16')
  t.is(ft.signal.lfilter([1], [1, 0.5], x.astype('int8')).dtype, 'float32')
  t.is(ft.signal.lfilter([1], [1, 0.5], x.astype('float16')).dtype, 'float16')
  t.deepEqual(ft.signal.lfilter([1], [1, -0.5], ft.tensor([{ re: 1, im: 2 }, { re: 0, im: 0 }])).toArray(), [{ re: 1, im: 2 }, { re: 0.5, im: 1 }])
  t.is(ft.signal.dct(x.astype('bool')).dtype, 'float32')
  const peaks = ft.signal.findPeaks(ft.tensor([0n, 2n ** 62n, 2n ** 62n - 1n, 2n ** 62n + 1n, 0n]))
  t.deepEqual([peaks.indices.toArray(), peaks.prominences.toArray()], [[1, 3], [1n, 2n ** 62n + 1n]])
  t.deepEqual(ft.signal.findPeaks(ft.tensor([0, 200, 100, 255, 0], { dtype: 'uint8' }), { prominence: 100 }).prominences.toArray(), [100, 255])
})

test('a recursion records operations by the logarithm of its length', (t) => {
  const count = (n: number): number => {
    const x = ft.ones([n])
    ft.evaluateSync(x)
    ft.resetStats()
    ft.signal.lfilter([1, 2, 1], [1, -1.6, 0.8], x).dataSync()
    return ft.stats().ops
  }
  const [short, long] = [count(1000), count(100_000)]
  t.true(long < 200 && long - short <= 10 * 7, `${short} and ${long} operations`)
})

test('a filter that grows is finite until it overflows, a slow one keeps its digits', (t) => {
  const grown = ft.signal.lfilter([1], [1, -1.01], ft.ones([1]).pad([[0, 9999]]))
  const [at1000, at8000, end] = grown.at([1000, 8000, -1]).toArray() as number[]
  t.true(Math.abs(at1000! / 1.01 ** 1000 - 1) < 1e-3 && Math.abs(at8000! / 1.01 ** 8000 - 1) < 1e-2 && end === Infinity, `${at1000} ${at8000} ${end}`)
  const steady = ft.signal.lfilter([1], [1, -0.9999], ft.ones([100_000], float64))
  t.true(close(steady.at(-1).itemSync(), (1 - 0.9999 ** 100_000) / 1e-4))
})

/** The recursion, sample by sample. */
function plain(b: readonly number[], a: readonly number[], x: readonly number[]): number[] {
  const y: number[] = []
  const sum = (of: readonly number[], values: readonly number[], t: number, from: number): number => of.reduce((s, c, k) => (k < from || k > t ? s : s + c * (values[t - k] as number)), 0)
  for (let t = 0; t < x.length; t++) y.push(sum(b, x, t, 0) - sum(a, y, t, 1))
  return y
}

test('filters of every order and length, around blocks', (t) => {
  const poles = (order: number): number[] => [1, ...Array.from({ length: order }, (_, k) => (k === 0 ? -0.7 : 0.4 / (k + 3) / (k + 1)))]
  for (const order of [1, 2, 5, 64, 70]) {
    for (const n of [1, 63, 64, 65, 128, 129, 300]) {
      const x = draw([2, n], n)
      const found = ft.signal.lfilter([1, -0.3], poles(order), x).toArray() as number[][]
      for (const [i, row] of (x.toArray() as number[][]).entries()) t.true(close(found[i], plain([1, -0.3], poles(order), row)), `order ${order}, ${n} samples`)
    }
  }
})

test('a sample that is not finite spoils no sample before it', (t) => {
  for (const wrong of [Infinity, NaN]) {
    const x = draw([200], 5).withAt([100], wrong) as D
    const [found, clean] = [x, draw([200], 5) as D].map((v) => ft.signal.lfilter([1], [1, -0.5], v).toArray() as number[]) as [number[], number[]]
    t.deepEqual(found.slice(0, 100), clean.slice(0, 100))
    t.true(found.slice(100).every((y) => !Number.isFinite(y)))
  }
  // Nor does one that overflows on its way into the recursion.
  const x = ft.zeros([200]).withAt([40], 3e38)
  const found = ft.signal.lfilter([2], [1, -0.5], x).toArray() as number[]
  t.deepEqual(found.slice(0, 40), Array<number>(40).fill(0))
  t.true(found.slice(40).every((y) => !Number.isFinite(y)))
})

test('peaks beside NaN, and heights that carry gradients', (t) => {
  t.deepEqual(ft.signal.findPeaks(ft.tensor([0, 2, NaN, 0, 3, 1])).indices.toArray(), [4])
  t.deepEqual(ft.signal.findPeaks(ft.tensor([0, 1, 0, NaN, 5, 6, 5])).leftBases.toArray(), [0, 4])
  // Equal bases share.
  t.deepEqual(ft.grad((x: F) => ft.signal.findPeaks(x).prominences.sum() as F)(ft.tensor([0, 3, 1, 2, 0])).toArray(), [-0.5, 1, -1, 1, -0.5])
  // Half a million equal peaks are one pass, not the square of it.
  const many = ft.arange(1_000_000).remainder(2)
  t.is(ft.signal.findPeaks(many, { prominence: 1 }).indices.size, 499_999)
})

test('errors', (t) => {
  const s = ft.signal as unknown as Record<keyof typeof ft.signal, (...args: unknown[]) => unknown>
  const x = ft.ones([16])
  const cases: readonly (readonly [code: string, message: RegExp, call: () => unknown])[] = [
    ['ERR_ARGUMENT', /^signal.hann: 'n' must be an integer, got 1.5/, () => s.hann(1.5)],
    ['ERR_SHAPE', /^signal.hann: -1 places are negative/, () => s.hann(-1)],
    ['ERR_DTYPE', /^signal.hann: takes a floating dtype, got int32/, () => s.hann(4, { dtype: 'int32' })],
    ['ERR_ARGUMENT', /^signal.hann: 'periodic' must be a boolean/, () => s.hann(4, { periodic: 1 })],
    ['ERR_ARGUMENT', /^signal.hann: unknown option 'sym'/, () => s.hann(4, { sym: true })],
    ['ERR_ARGUMENT', /^signal.kaiser: 'beta' must be a finite number of at least 0, got -1/, () => s.kaiser(4, -1)],
    ['ERR_ARGUMENT', /^signal.gaussian: 'std' must be a finite number above 0, got 0/, () => s.gaussian(4, 0)],
    ['ERR_ARGUMENT', /^signal.tukey: 'alpha' must be a number, got NaN/, () => s.tukey(4, NaN)],
    ['ERR_ARGUMENT', /^signal.stft: 'nFft' must be at least 1, got 0/, () => s.stft(x, 0)],
    ['ERR_ARGUMENT', /^signal.stft: 'hopLength' must be at least 1, got 0/, () => s.stft(x, 4, { hopLength: 0 })],
    ['ERR_ARGUMENT', /^signal.stft: the spectra of a complex signal are not one-sided/, () => s.stft(x.astype('complex64'), 4, { onesided: true })],
    ['ERR_SHAPE', /^signal.stft: 'window' must be a vector of at most 4 weights, got shape \[5\]/, () => s.stft(x, 4, { window: ft.ones([5]) })],
    ['ERR_SHAPE', /^signal.stft: 16 samples are fewer than a frame of 32; shape \[16\]/, () => s.stft(x, 32, { center: false })],
    ['ERR_SHAPE', /^signal.stft: a signal has at least one axis/, () => s.stft(ft.tensor(1), 4)],
    ['ERR_ARGUMENT', /^signal.stft: 'mode' must be|^signal.stft: .*mode/, () => s.stft(x, 4, { padMode: 'mirror' })],
    ['ERR_SHAPE', /^signal.istft: 'x' must be \[\.\.\., 3, frames\], as of 4 samples, got shape \[4, 5\]/, () => s.istft(ft.ones([4, 5], { dtype: 'complex64' }), 4)],
    ['ERR_SHAPE', /^signal.istft: there are no frames/, () => s.istft(ft.ones([3, 0], { dtype: 'complex64' }), 4)],
    ['ERR_ARGUMENT', /^signal.istft: 'length' must be at least 0/, () => s.istft(ft.ones([3, 2], { dtype: 'complex64' }), 4, { length: -1 })],
    ['ERR_ARGUMENT', /^signal.spectrogram: 'power' must be a finite number above 0, got 0/, () => s.spectrogram(x, 4, { power: 0 })],
    ['ERR_ARGUMENT', /^signal.dct: 'type' must be 2 or 3, got 1/, () => s.dct(x, { type: 1 })],
    ['ERR_ARGUMENT', /^signal.dct: 'norm' must be 'backward', 'ortho' or 'forward', got 'none'/, () => s.dct(x, { norm: 'none' })],
    ['ERR_DTYPE', /^signal.dct: takes a real dtype, got complex64/, () => s.dct(x.astype('complex64'))],
    ['ERR_SHAPE', /^signal.idct: axis 0 has no elements/, () => s.idct(ft.zeros([0]))],
    ['ERR_INDEX', /^signal.idct: axis 1 is out of range for rank 1/, () => s.idct(x, { axis: 1 })],
    ['ERR_ARGUMENT', /^signal.lfilter: 'b' must be an array of numbers or a tensor, got 1/, () => s.lfilter(1, [1], x)],
    ['ERR_ARGUMENT', /^signal.lfilter: 'a' must not begin with 0/, () => s.lfilter([1], [0, 1], x)],
    ['ERR_SHAPE', /^signal.lfilter: 'a' must have 1 axis and at least one coefficient, got shape \[0\]/, () => s.lfilter([1], [], x)],
    ['ERR_ARGUMENT', /^signal.sosfilt: 'a_0' of section 1 must not be 0/, () => s.sosfilt([[1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]], x)],
    ['ERR_SHAPE', /^signal.sosfilt: a section has 6 coefficients, got shape \[1, 5\]/, () => s.sosfilt([[1, 0, 0, 1, 0]], x)],
    ['ERR_SHAPE', /^signal.findPeaks: 'x' must be a vector, got shape \[2, 2\]/, () => s.findPeaks(ft.ones([2, 2]))],
    ['ERR_DTYPE', /^signal.findPeaks: takes a real dtype, got complex64/, () => s.findPeaks(x.astype('complex64'))],
    ['ERR_ARGUMENT', /^signal.findPeaks: 'distance' must be at least 1, got 0.5/, () => s.findPeaks(x, { distance: 0.5 })],
    ['ERR_ARGUMENT', /^signal.findPeaks: 'height' must be a number, got '1'/, () => s.findPeaks(x, { height: '1' })]
  ]
  for (const [code, message, call] of cases) throws(t, code, message, call)
})

test('recursive filters run at once in plain code, with the bits of what is traced and of what gradients are taken of', (t) => {
  const x = ft.random.normal(ft.random.key(1), [3, 200])
  const sections = [[0.2, 0.1, 0, 1, -0.5, 0.1], [1, 0.3, 0.2, 1, -0.2, 0]]
  const filters: Record<string, (x: ft.Tensor) => ft.Tensor> = {
    lfilter: (x) => ft.signal.lfilter([0.1, 0.2], [1, -0.9, 0.3], x),
    sosfilt: (x) => ft.signal.sosfilt(sections, x)
  }
  ft.evaluateSync(x)
  for (const [name, filter] of Object.entries(filters)) {
    ft.resetStats()
    const y = filter(x)
    t.true(ft.stats().ops > 50, `${name}: ${ft.stats().ops} operations were run`)
    t.deepEqual(y.dataSync(), ft.jit(filter)(x).dataSync(), name)
    const [loss] = ft.vjp(filter, x)
    t.deepEqual(y.dataSync(), loss.dataSync(), name)
  }
})
