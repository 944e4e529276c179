// The special cases of the array API standard hold, in every floating dtype.
// runs on: vulkan; a device may have ways of its own with infinities and zeros

import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { COMPLEX, KINDS, REAL, TURNED } from './special-cases.js'

type Function_ = (...operands: ft.Tensor[]) => ft.Tensor
const functions = ft as unknown as Record<string, Function_>

interface Case {
  readonly text: string
  readonly operands: readonly string[]
  readonly result: string
}

function cases(text: string): Case[] {
  return text.split('; ').map((one) => {
    const [operands, result] = one.split(' -> ') as [string, string]
    return { text: one, operands: operands.split(', '), result }
  })
}

const values = (kind: string): readonly number[] => KINDS[kind] ?? [Number(kind)]

/** Every choice of one value for each of some kinds. */
function choices(kinds: readonly string[]): number[][] {
  return kinds.reduce<number[][]>((all, kind) => all.flatMap((before) => values(kind).map((v) => [...before, v])), [[]])
}

const ANGLES: Readonly<Record<string, number>> = { pi: Math.PI, 'pi/2': Math.PI / 2, 'pi/4': Math.PI / 4, '3pi/4': (3 * Math.PI) / 4 }

/** Whether a real number is what a result says; `named` are the operands by name, in the precision of the dtype. */
function is(actual: number, said: string, named: Readonly<Record<string, number>>, precision: number): boolean {
  if (said === '+') return actual > 0
  if (said === '-') return actual < 0
  if (said === '0') return actual === 0
  if (said === 'nan') return Number.isNaN(actual)
  if (said === 'inf') return actual === Infinity
  if (said.startsWith('±')) return is(actual, said.slice(1), named, precision) || is(-actual, said.slice(1), named, precision)
  if (said.startsWith('-')) return is(-actual, said.slice(1), named, precision)
  if (said === '+0') return Object.is(actual, 0)
  const size = /^\|(\w+)\|$/.exec(said)?.[1]
  if (size !== undefined) return Object.is(actual, Math.abs(named[size] as number))
  if (said in named) return Object.is(actual, named[said])
  const angle = ANGLES[said]
  return angle === undefined ? actual === Number(said) : Math.abs(actual - angle) <= precision * angle
}

/** What a dtype holds of a number. */
const stored: Readonly<Record<string, (v: number) => number>> = { float32: Math.fround, float64: (v) => v, complex64: Math.fround, complex128: (v) => v }
const EPSILON: Readonly<Record<string, number>> = { float32: 2 ** -22, float64: 2 ** -51, complex64: 2 ** -21, complex128: 2 ** -50 }

const shown = (v: number) => (Object.is(v, -0) ? '-0' : String(v))

for (const [name, text] of Object.entries(REAL)) {
  for (const dtype of ['float32', 'float64'] as const) {
    test(`${name} of ${dtype}`, (t) => {
      for (const { text: said, operands, result } of cases(text)) {
        const all = choices(operands)
        const columns = operands.map((_, i) => ft.tensor(all.map((one) => one[i] as number), { dtype }))
        const actual = [...(functions[name] as Function_)(...columns).dataSync()]
        actual.forEach((value, k) => {
          const given = (all[k] as number[]).map((v) => (stored[dtype] as (v: number) => number)(v))
          const named = Object.fromEntries(given.map((v, i) => [`x${i + 1}`, v]))
          const right = result === 'true' || result === 'false' ? Boolean(value) === (result === 'true') : is(value as number, result, named, EPSILON[dtype] as number)
          t.true(right, `${said}: ${name}(${given.map(shown).join(', ')}) is ${shown(value as number)}`)
        })
      }
    })
  }
}

interface Complex {
  readonly re: number
  readonly im: number
}

/** A function's value at a complex number; what is real has no imaginary part. */
function at(name: string, { re, im }: Complex, dtype: 'complex64' | 'complex128'): { re: number; im: number | undefined } {
  const y = (functions[name] as Function_)(ft.tensor([{ re, im }], { dtype }))
  const [first, second] = y.dataSync() as unknown as [number, number | undefined]
  return { re: Number(first), im: y.dtype.startsWith('complex') ? second : undefined }
}

const conjugate = (z: Complex): Complex => ({ re: z.re, im: -z.im })
/** z divided by i. */
const turned = (z: Complex): Complex => ({ re: z.im, im: -z.re })

/** Checks each case of a complex function: `ask` gives its value where the case says, `back` undoes what the value was turned by. */
function check(t: ExecutionContext, name: string, text: string, dtype: 'complex64' | 'complex128', ask: (z: Complex) => { re: number; im: number | undefined }): void {
  for (const { text: said, operands, result } of cases(text)) {
    for (const [re, im] of choices((operands[0] as string).split(' ')) as [number, number][]) {
      const value = ask({ re, im })
      const given = [re, im].map((v) => (stored[dtype] as (v: number) => number)(v)) as [number, number]
      const named = { a: given[0], b: given[1] }
      const [first, second] = result.split(' ') as [string, string | undefined]
      const truth = first === 'true' || first === 'false'
      const right = truth ? value.re === Number(first === 'true') : is(value.re, first, named, EPSILON[dtype] as number)
      const both = right && (second === undefined || is(value.im as number, second, named, EPSILON[dtype] as number))
      t.true(both, `${said}: ${name}(${shown(given[0])} + ${shown(given[1])}i) is ${shown(value.re)}${value.im === undefined ? '' : ` + ${shown(value.im)}i`}`)
    }
  }
}

for (const dtype of ['complex64', 'complex128'] as const) {
  for (const [name, text] of Object.entries(COMPLEX)) {
    test(`${name} of ${dtype}`, (t) => {
      check(t, name, text, dtype, (z) => at(name, z, dtype))
      if (text.includes('true')) return
      // Conjugates go to conjugates; where the result is real, to itself.
      check(t, name, text, dtype, (z) => {
        const { re, im } = at(name, conjugate(z), dtype)
        return { re, im: im === undefined ? im : -im }
      })
    })
  }
  for (const [name, other] of Object.entries(TURNED)) {
    test(`${name} of ${dtype}`, (t) => {
      check(t, name, COMPLEX[other] as string, dtype, (z) => {
        const value = at(name, turned(z), dtype) as Complex
        // f(z / i) = g(z) / i; of cos nothing is turned.
        return name === 'cos' ? value : { re: -value.im, im: value.re }
      })
    })
  }
  for (const [name, base] of [['log2', Math.LN2], ['log10', Math.LN10]] as const) {
    test(`${name} of ${dtype}`, (t) => {
      check(t, name, COMPLEX['log'] as string, dtype, (z) => {
        const { re, im } = at(name, z, dtype)
        return { re: re * base, im: (im as number) * base }
      })
    })
  }
}

test('there are about as many cases as sentences', (t) => {
  const count = [...Object.values(REAL), ...Object.values(COMPLEX)].flatMap(cases).length
  t.true(count > 500, `${count} cases`)
})
