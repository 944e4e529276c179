// Gradients of functions of tensors: functional, nested at will, over trees of tensors.

import { callable, synchronous } from '../arguments/functions.js'
import { checkOptions } from '../arguments/options.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { runLong, settleResults } from '../execution/flush.js'
import { ones, zeros } from '../generated/functions.js'
import { isDifferentiable } from '../program/derived-call.js'
import { inLevel, isConstantNow, openLevels } from '../program/lifetime.js'
import { company, constant, variable } from '../program/markers.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { alike, leaves, mapTree, sameType } from '../tree/traverse.js'
import { backward, forward, hold, trace } from './backward.js'

/** What a gradient is taken with respect to, and what else the function returns. */
export interface GradOptions {
  /** Numbers of the arguments; the first by default. */
  readonly argnums?: number | readonly number[] | undefined
  /** The function returns `[loss, more]`, and the rest is handed through. False by default. */
  readonly hasAux?: boolean | undefined
}

/** The types of the arguments that gradients are taken with respect to. */
export type Wanted<A extends readonly unknown[], O extends GradOptions> = O extends { readonly argnums: infer N }
  ? N extends readonly number[]
    ? { -readonly [K in keyof N]: N[K] extends number ? A[N[K]] : never }
    : N extends number
      ? A[N]
      : never
  : A[0]

/** Arguments of a call; a list of more is no list of arguments. */
const MOST_ARGUMENTS = 1000

/** What a gradient was asked for, checked. */
function asked(name: string, options: unknown): GradOptions {
  checkOptions(name, options, ['argnums', 'hasAux'])
  const { hasAux = false } = options as GradOptions
  if (typeof hasAux !== 'boolean') throw new ArgumentError(`${name}: 'hasAux' must be a boolean, got ${shown(hasAux)}`)
  return options as GradOptions
}

/** The arguments that `argnums` names, from the end where negative. */
function positions(name: string, argnums: unknown, count: number): readonly number[] {
  const list: readonly unknown[] = Array.isArray(argnums) ? argnums : [argnums]
  const found = list.map((n) => {
    if (typeof n !== 'number' || !Number.isSafeInteger(n)) throw new ArgumentError(`${name}: 'argnums' must be an integer or an array of integers, got ${shown(argnums)}`)
    if (n < -count || n >= count) throw new ArgumentError(`${name}: argument ${n} was asked for, of ${count}`)
    return n < 0 ? n + count : n
  })
  if (new Set(found).size !== found.length) throw new ArgumentError(`${name}: 'argnums' names an argument twice`)
  return found
}

const GRADIENTS_HINT = 'gradients are of synchronous functions (reads with itemSync and dataSync work inside, as constants)'

/** An argument with variables of a level in the place of its tensors, which are collected; `some`: integers and bool stay constants. */
function variables(name: string, what: string, tree: unknown, level: number, collected: Tensor[], some = false): unknown {
  const before = collected.length
  const inner = mapTree(
    tree,
    (x, path) => {
      checkAlive(name, x)
      if (!isDifferentiable(x)) {
        if (some) return x
        throw new DTypeError(`${name}: ${what}${path} is ${x.dtype}; gradients are with respect to floating and complex tensors`)
      }
      const v = variable(x, level)
      collected.push(v)
      return v
    },
    `${name}: ${what}`
  )
  if (!some && collected.length === before) throw new ArgumentError(`${name}: there is no tensor in ${what}, got ${shown(tree)}; wrap numbers with ft.tensor(...)`)
  return inner
}

/** The tree with what was found in the place of its tensors, in order; zeros where there is nothing. */
function filled(tree: unknown, found: readonly (Tensor | undefined)[], next: { at: number }): unknown {
  return mapTree(tree, (x) => found[next.at++] ?? zeros(x.shape, { dtype: x.dtype, device: x.device }))
}

/** The tensors of what a function returned. */
function results(name: string, result: unknown): Tensor[] {
  const found = leaves(result, `${name}: the result`)
  for (const x of found) checkAlive(name, x)
  return found
}

/** The result whose gradient is taken. */
function loss(name: string, result: unknown): Tensor {
  if (!isTensor(result)) throw new ArgumentError(`${name}: the function must return a tensor, got ${shown(result)}`)
  checkAlive(name, result)
  if (result.ndim !== 0) throw new ShapeError(`${name}: the function must return a scalar, got shape [${result.shape.join(', ')}]; sum() or mean() it, or use vjp or jacobian`)
  if (result.type.row.kind !== 'float') throw new DTypeError(`${name}: the function must return a real floating tensor, got ${result.dtype}`)
  return result
}

/**
 * A function that computes `fn` and its gradient with respect to an argument (a tensor or a tree of tensors), of that argument's structure;
 * with several `argnums`, an array of them. `fn` returns a scalar, and is called once each time. Reads inside it work, and count as
 * constants; what it does not depend on has gradient zero. Reverse mode: Griewank and Walther, "Evaluating Derivatives", 2008.
 *
 * @throws {ArgumentError} for functions that return promises or anything but a tensor, and arguments without tensors.
 * @throws {ShapeError} for a result that is not a scalar.
 * @throws {DTypeError} for arguments or a result that are not floating.
 */
export function valueAndGrad(fn: (...args: Tensor[]) => Tensor): <A extends Tensor[]>(...args: A) => [value: Tensor, gradient: A[0]]
export function valueAndGrad<A extends unknown[], R extends Tensor, const O extends GradOptions & { readonly hasAux?: false }>(
  fn: (...args: A) => R,
  options?: O
): (...args: A) => [value: R, gradient: Wanted<A, O>]
export function valueAndGrad<A extends unknown[], R extends Tensor, X, const O extends GradOptions & { readonly hasAux: true }>(
  fn: (...args: A) => readonly [R, X],
  options: O
): (...args: A) => [value: [R, X], gradient: Wanted<A, O>]
export function valueAndGrad(fn: (...args: never[]) => unknown, options: GradOptions = {}): (...args: never[]) => unknown {
  const name = 'valueAndGrad'
  callable(name, fn)
  const { argnums, hasAux } = asked(name, options)
  return (...args) => differentiate(name, fn, argnums, hasAux, args)
}

/**
 * A function that computes the gradient of `fn`, as {@link valueAndGrad}; with `hasAux`, `[gradient, more]`.
 *
 * @throws {TensorError} as {@link valueAndGrad}.
 */
export function grad(fn: (...args: Tensor[]) => Tensor): <A extends Tensor[]>(...args: A) => A[0]
export function grad<A extends unknown[], const O extends GradOptions & { readonly hasAux?: false }>(fn: (...args: A) => Tensor, options?: O): (...args: A) => Wanted<A, O>
export function grad<A extends unknown[], X, const O extends GradOptions & { readonly hasAux: true }>(
  fn: (...args: A) => readonly [Tensor, X],
  options: O
): (...args: A) => [gradient: Wanted<A, O>, more: X]
export function grad(fn: (...args: never[]) => unknown, options: GradOptions = {}): (...args: never[]) => unknown {
  const name = 'grad'
  callable(name, fn)
  const { argnums, hasAux } = asked(name, options)
  return (...args) => {
    const [value, gradient] = differentiate(name, fn, argnums, hasAux, args)
    return hasAux === true ? [gradient, (value as [unknown, unknown])[1]] : gradient
  }
}

function differentiate(
  name: string,
  fn: (...args: never[]) => unknown,
  argnums: GradOptions['argnums'] = 0,
  hasAux: boolean | undefined,
  args: readonly unknown[]
): [unknown, unknown] {
  const wanted = positions(name, argnums, args.length)
  const [result, found, roots] = inLevel((level) => {
    const collected: Tensor[] = []
    const inner = [...args]
    for (const n of wanted) inner[n] = variables(name, `argument ${n}`, args[n], level, collected)
    const result = fn(...(inner as never[]))
    synchronous(name, result, GRADIENTS_HINT)
    if (hasAux === true && (!Array.isArray(result) || result.length !== 2)) throw new ArgumentError(`${name}: with hasAux the function must return [loss, more], got ${shown(result)}`)
    const [first, more] = hasAux === true ? (result as [unknown, unknown]) : [result, undefined]
    const value = loss(name, first)
    const entries = trace([value], new Set(collected), level)
    const found = backward(entries, [value], [ones([], { dtype: value.dtype, device: value.device })], collected, level)
    const rest = leaves(more, `${name}: the rest of the result`)
    const gradients = found.filter((g) => g !== undefined)
    company(value, rest, gradients)
    return [result, found, [value, ...rest, ...gradients]] as const
  })
  // Outside: while its level is open, all that a gradient is made of is kept.
  settleResults(roots)
  const next = { at: 0 }
  const gradients = wanted.map((n) => filled(args[n], found, next))
  return [result, Array.isArray(argnums) ? gradients : gradients[0]]
}

/**
 * Calls `fn` and returns its result (a tree of tensors) with a function from cotangents of the result to cotangents of the arguments, an
 * array with one for each argument. It may be called any number of times, and holds what it needs.
 *
 * @throws {TensorError} as {@link valueAndGrad}, but that the result may have any shape.
 */
export function vjp<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): [result: R, back: (cotangents: R) => A] {
  const name = 'vjp'
  callable(name, fn)
  const [result, own, back] = inLevel((level) => {
    const collected: Tensor[] = []
    const result = fn(...(args.map((arg, n) => variables(name, `argument ${n}`, arg, level, collected)) as A))
    synchronous(name, result, GRADIENTS_HINT)
    const own = results(name, result)
    const entries = trace(own, new Set(collected), level)
    hold(entries)
    // In the level, with what the way back reads: it may be gone any number of times.
    if (openLevels() === 1) runLong(own)
    const back = (cotangents: R): A => {
      const given = alike(`${name}: the cotangents`, result, cotangents, sameType)
      // Open again: what is recorded on the way may be computed before the way ends.
      const all = inLevel(() => backward(entries, own, given, collected, level), level)
      const found = all.map((g) => (g !== undefined && isConstantNow(g) ? constant(g) : g))
      settleResults(found.filter((g) => g !== undefined))
      const next = { at: 0 }
      return args.map((arg) => filled(arg, found, next)) as A
    }
    return [result, own, back] as const
  })
  settleResults(own)
  return [result, back]
}

/**
 * The result of `fn` (a tree of tensors) and its tangent, where `primals` are its arguments and `tangents`, of the same structure, the
 * direction they move in.
 *
 * @throws {TensorError} as {@link vjp}.
 */
export function jvp<A extends unknown[], R>(fn: (...args: A) => R, primals: readonly [...A], tangents: readonly [...A]): [result: R, tangent: R] {
  const name = 'jvp'
  callable(name, fn)
  if (!Array.isArray(primals) || !Array.isArray(tangents) || primals.length > MOST_ARGUMENTS) throw new ArgumentError(`${name}: primals and tangents must be arrays of arguments`)
  const [result, tangent, own] = inLevel((level) => {
    const collected: Tensor[] = []
    const inner = primals.map((arg: unknown, n) => variables(name, `argument ${n}`, arg, level, collected)) as A
    const given = alike(`${name}: the tangents`, primals, tangents, sameType) as Tensor[]
    const result = fn(...inner)
    synchronous(name, result, GRADIENTS_HINT)
    const own = results(name, result)
    const found = forward(trace(own, new Set(collected), level), own, collected, given, level)
    return [result, filled(result, found, { at: 0 }) as R, [...own, ...found.filter((t) => t !== undefined)]] as const
  })
  settleResults(own)
  return [result, tangent]
}

/**
 * The same tensor, which gradients take for a constant.
 *
 * @throws {ArgumentError} for anything but a tensor, or `DisposedError`.
 */
export function stopGradient<T extends Tensor>(x: T): T {
  if (!isTensor(x)) throw new ArgumentError(`stopGradient: expected a tensor, got ${shown(x)}`)
  checkAlive('stopGradient', x)
  return constant(x) as T
}
