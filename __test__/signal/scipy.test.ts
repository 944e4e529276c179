// Signals beside SciPy and PyTorch, in float64: windows, spectra and their inverse, cosine transforms, filters, peaks.
// runs on: node

import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'

type Numbers = number | readonly Numbers[]
type D = ft.Tensor<'float64'>

interface Expected {
  readonly windows: readonly { name: 'hann' | 'kaiser'; n: number; parameters: readonly number[]; periodic: boolean; expected: Numbers }[]
  readonly stft: readonly { shape: readonly number[]; nFft: number; hopLength: number | null; window: readonly number[] | null; options: Record<string, unknown>; expected: Numbers; inverse: Numbers }[]
  readonly dct: readonly { n: number; type: 2 | 3; norm: 'backward' | 'ortho' | 'forward'; dct: Numbers; idct: Numbers }[]
  readonly lfilter: readonly { b: readonly number[]; a: readonly number[]; shape: readonly number[]; expected: Numbers }[]
  readonly sosfilt: readonly { sos: readonly (readonly number[])[]; shape: readonly number[]; expected: Numbers }[]
  readonly findPeaks: readonly { x: number[]; options: ft.signal.FindPeaksOptions; indices: number[]; heights: number[]; prominences: number[]; leftBases: number[]; rightBases: number[] }[]
}

const expected = JSON.parse(readFileSync(new URL('../../../__test__/signal/expected.json', import.meta.url), 'utf8')) as Expected

const float64 = { dtype: 'float64' } as const

/** The signal of `expected.py`. */
const signal = (...shape: readonly number[]): D => ft.tensor(Array.from({ length: shape.reduce((n, size) => n * size, 1) }, (_, i) => ((7 * i * i + 3 * i) % 11) - 5), { ...float64, shape })

/** Asserts that numbers agree within this share of the largest; complex ones are pairs. */
function near(t: ExecutionContext, actual: ft.Tensor, numbers: Numbers, about: string, within = 1e-13): void {
  const complex = actual.dtype.startsWith('complex')
  const plain = complex ? ft.stack([actual.real(), actual.imag()], { axis: -1 }) : actual
  const wanted = ft.tensor(numbers as number[], float64)
  t.deepEqual(plain.shape, wanted.shape, about)
  if (plain.size === 0) return
  const off = plain.sub(wanted).abs().max().itemSync() as number
  t.true(off <= within * Math.max(1, wanted.abs().max().itemSync() as number), `${about} is off by ${off}`)
}

test('windows', (t) => {
  t.true(expected.windows.length > 100)
  for (const { name, n, parameters, periodic, expected: values } of expected.windows) {
    const window = ft.signal[name] as unknown as (n: number, ...rest: readonly unknown[]) => D
    const made = window(n, ...parameters, { ...float64, periodic })
    near(t, made, values, `${name} ${n} ${parameters.join()} ${periodic}`)
    if (!periodic && n > 0) t.deepEqual(made.flip().toArray(), made.toArray(), 'exactly symmetric')
    t.deepEqual(window(n, ...parameters, { periodic }).toArray(), made.astype('float32').toArray(), 'rounded once')
  }
})

test('spectra and their inverse', (t) => {
  for (const { shape, nFft, hopLength, window, options, expected: spectra, inverse } of expected.stft) {
    const { pad_mode: padMode, ...rest } = options
    const frames = { ...rest, hopLength: hopLength ?? undefined, window: window === null ? undefined : ft.tensor(window as number[], float64) }
    const about = JSON.stringify([shape, nFft, hopLength, options])
    const found = ft.signal.stft(signal(...shape), nFft, { ...frames, padMode: padMode as 'constant' | undefined })
    near(t, found, spectra, about)
    const back: ft.Tensor = ft.signal.istft(found, nFft, frames)
    near(t, back.dtype === 'complex128' ? back.real() : back, inverse, `inverse ${about}`)
  }
})

test('cosine transforms', (t) => {
  for (const { n, type, norm, dct, idct } of expected.dct) {
    const about = `${n} type ${type} ${norm}`
    near(t, ft.signal.dct(signal(2, n), { type, norm }), dct, about)
    near(t, ft.signal.idct(signal(2, n), { type, norm }), idct, `inverse ${about}`)
    near(t, ft.signal.dct(signal(2, n).T, { type, norm, axis: 0 }).T, dct, `${about} along the first axis`)
    near(t, ft.signal.idct(ft.signal.dct(signal(2, n), { type, norm }), { type, norm }), signal(2, n).toArray() as Numbers, `there and back ${about}`)
  }
})

test('recursive filters', (t) => {
  for (const { b, a, shape, expected: values } of expected.lfilter) {
    const about = `[${b.join()}] / [${a.join()}] of [${shape.join()}]`
    near(t, ft.signal.lfilter(b, a, signal(...shape)), values, about, 1e-12)
    near(t, ft.signal.lfilter(ft.tensor(b as number[], float64), ft.tensor(a as number[], float64), signal(...shape).swapaxes(0, -1), 0).swapaxes(0, -1), values, `${about} along the first axis`, 1e-12)
  }
  for (const { sos, shape, expected: values } of expected.sosfilt) near(t, ft.signal.sosfilt(sos, signal(...shape)), values, `${sos.length} sections`, 1e-11)
})

test('peaks', async (t) => {
  for (const { x, options, ...peaks } of expected.findPeaks) {
    const about = JSON.stringify(options)
    const given = ft.tensor(x, { ...float64, shape: [x.length] })
    const { indices, heights, prominences, leftBases, rightBases } = ft.signal.findPeaks(given, options)
    t.deepEqual(indices.toArray(), peaks.indices, about)
    t.deepEqual(heights.toArray(), peaks.heights, about)
    near(t, prominences, peaks.prominences, about)
    t.deepEqual([leftBases.toArray(), rightBases.toArray()], [peaks.leftBases, peaks.rightBases], about)
    t.deepEqual((await ft.signal.findPeaksAsync(given, options)).indices.toArray(), peaks.indices)
  }
})
