// Gradients of functions of tensors: functional, nested at will, over trees of tensors.

import { shown } from './call.js'
import { ones } from './generated/functions.js'
import { ArgumentError, DTypeError, ShapeError } from './errors.js'
import { alike, leaves, mapTree } from './pytree.js'
import { backward, constant, forward, inLevel, isDifferentiable, trace, variable } from './tape.js'
import { checkAlive, Tensor } from './tensor.js'
import { zerosLike } from './creation.js'

/** What a gradient is taken with respect to, and what else the function returns. */
export interface GradOptions {
  /** Numbers of the arguments; the first by default. */
  readonly argnums?: number | readonly number[]
  /** The function returns `[loss, more]`, and the rest is handed through. False by default. */
  readonly hasAux?: boolean
}

/** The types of the arguments that gradients are taken with respect to. */
export type Wanted<A extends readonly unknown[], O extends GradOptions> = O extends { readonly argnums: infer N }
  ? N extends readonly number[]
    ? { -readonly [K in keyof N]: N[K] extends number ? A[N[K]] : never }
    : N extends number
      ? A[N]
      : never
  : A[0]

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

function callable(name: string, fn: unknown): void {
  if (typeof fn !== 'function') throw new ArgumentError(`${name}: expected a function, got ${shown(fn)}`)
}

function synchronous(name: string, result: unknown): void {
  if (result instanceof Promise) throw new ArgumentError(`${name}: the function returned a promise; gradients are of synchronous functions (reads with itemSync and dataSync work inside, as constants)`)
}

/** The tree with variables of a level in the place of its tensors, which are collected; `some`: integers and bool stay constants. */
function variables(name: string, tree: unknown, level: number, collected: Tensor[], some = false): unknown {
  return mapTree(tree, (x, path) => {
    checkAlive(name, x)
    if (!isDifferentiable(x)) {
      if (some) return x
      throw new DTypeError(`${name}: ${path === '' ? 'the argument' : `the argument's ${path}`} is ${x.dtype}; gradients are with respect to floating and complex tensors`)
    }
    const v = variable(x, level)
    collected.push(v)
    return v
  })
}

/** The tree with what was found in the place of its tensors, in order; zeros where there is nothing. */
function filled(tree: unknown, found: readonly (Tensor | undefined)[], next: { at: number }): unknown {
  return mapTree(tree, (x) => found[next.at++] ?? zerosLike(x))
}

/** The result whose gradient is taken. */
function loss(name: string, result: unknown): Tensor {
  if (!(result instanceof Tensor)) throw new ArgumentError(`${name}: the function must return a tensor, got ${shown(result)}`)
  if (result.ndim !== 0) throw new ShapeError(`${name}: the function must return a scalar, got shape [${result.shape.join(', ')}]; sum() or mean() it, or use vjp or jacobian`)
  if (result.type.row.kind !== 'float') throw new DTypeError(`${name}: the function must return a real floating tensor, got ${result.dtype}`)
  return result
}

/**
 * A function that computes `fn` and its gradient with respect to an argument (a tensor or a tree of tensors), of that argument's structure;
 * with several `argnums`, an array of them. `fn` returns a scalar, and is called once each time. Reads inside it work, and count as
 * constants; what it does not depend on has gradient zero. Reverse mode: Griewank and Walther, "Evaluating Derivatives", 2008.
 *
 * @throws {ArgumentError} for functions that return promises or anything but a tensor.
 * @throws {ShapeError} for a result that is no scalar.
 * @throws {DTypeError} for arguments or a result that are not floating.
 */
export function valueAndGrad<A extends unknown[], R, const O extends GradOptions = {}>(fn: (...args: A) => R, options?: O): (...args: A) => [R, Wanted<A, O>] {
  const name = 'valueAndGrad'
  callable(name, fn)
  return (...args) => differentiate(name, fn, options ?? {}, args) as [R, Wanted<A, O>]
}

/**
 * A function that computes the gradient of `fn`, as {@link valueAndGrad}; with `hasAux`, `[gradient, more]`.
 *
 * @throws {TensorError} as {@link valueAndGrad}.
 */
export function grad<A extends unknown[], R, const O extends GradOptions = {}>(
  fn: (...args: A) => R,
  options?: O
): (...args: A) => O extends { readonly hasAux: true } ? [Wanted<A, O>, R extends readonly [unknown, infer X] ? X : never] : Wanted<A, O> {
  const name = 'grad'
  callable(name, fn)
  return (...args) => {
    const [value, gradient] = differentiate(name, fn, options ?? {}, args)
    return (options?.hasAux === true ? [gradient, (value as [unknown, unknown])[1]] : gradient) as never
  }
}

function differentiate<A extends unknown[]>(name: string, fn: (...args: A) => unknown, options: GradOptions, args: A): [unknown, unknown] {
  const { argnums = 0, hasAux = false } = options
  const wanted = positions(name, argnums, args.length)
  return inLevel((level) => {
    const collected: Tensor[] = []
    const inner = [...args] as unknown[]
    for (const n of wanted) inner[n] = variables(name, args[n], level, collected)
    const result = fn(...(inner as A))
    synchronous(name, result)
    if (hasAux && (!Array.isArray(result) || result.length !== 2)) throw new ArgumentError(`${name}: with hasAux the function must return [loss, more], got ${shown(result)}`)
    const value = loss(name, hasAux ? (result as [unknown, unknown])[0] : result)
    const entries = trace([value], new Set(collected), level)
    const found = backward(entries, [value], [ones([], { dtype: value.dtype, device: value.device })], collected)
    // Read one after the other, each would compute the way to the loss again.
    const pending = found.filter((g) => g !== undefined)
    value.beside = pending
    for (const g of pending) g.beside = [value]
    const next = { at: 0 }
    const gradients = wanted.map((n) => filled(args[n], found, next))
    return [result, Array.isArray(argnums) ? gradients : gradients[0]]
  })
}

/**
 * Calls `fn` and returns its result (a tree of tensors) with a function from cotangents of the result to cotangents of the arguments, an
 * array with one for each argument.
 *
 * @throws {TensorError} as {@link valueAndGrad}, but that the result may have any shape.
 */
export function vjp<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): [R, (cotangents: R) => A] {
  const name = 'vjp'
  callable(name, fn)
  return inLevel((level) => {
    const collected: Tensor[] = []
    const result = fn(...(args.map((arg) => variables(name, arg, level, collected)) as A))
    synchronous(name, result)
    const results = leaves(result)
    const entries = trace(results, new Set(collected), level)
    const back = (cotangents: R): A => {
      const given = matching(name, 'the cotangents', result, results, cotangents)
      const found = backward(entries, results, given, collected)
      const next = { at: 0 }
      return args.map((arg) => filled(arg, found, next)) as A
    }
    return [result, back]
  })
}

/**
 * The result of `fn` (a tree of tensors) and its tangent, where `primals` are its arguments and `tangents`, of the same structure, the
 * direction they move in.
 *
 * @throws {TensorError} as {@link vjp}.
 */
export function jvp<A extends unknown[], R>(fn: (...args: A) => R, primals: readonly [...A], tangents: readonly [...A]): [R, R] {
  const name = 'jvp'
  callable(name, fn)
  if (!Array.isArray(primals) || !Array.isArray(tangents)) throw new ArgumentError(`${name}: primals and tangents must be arrays of arguments`)
  return inLevel((level) => {
    const collected: Tensor[] = []
    const inner = primals.map((arg) => variables(name, arg, level, collected)) as A
    const given = matching(name, 'the tangents', primals, leaves(primals), tangents)
    const result = fn(...inner)
    synchronous(name, result)
    const results = leaves(result)
    const found = forward(trace(results, new Set(collected), level), results, collected, given)
    return [result, filled(result, found, { at: 0 }) as R]
  })
}

/**
 * Calls `fn` and goes back from its result, a tensor, at once: cotangents of the arguments' tensors, in order, none for integers and bool and
 * what the result does not depend on.
 */
export function pullback<A extends unknown[]>(name: string, fn: (...args: A) => Tensor, args: A, cotangent: Tensor): (Tensor | undefined)[] {
  return inLevel((level) => {
    const collected: Tensor[] = []
    const result = fn(...(args.map((arg) => variables(name, arg, level, collected, true)) as A))
    const found = backward(trace([result], new Set(collected), level), [result], [cotangent], collected)
    return leaves(args).map((x) => (isDifferentiable(x) ? found.shift() : undefined))
  })
}

/** Tensors given for those of a tree: as many, of their types. */
function matching(name: string, what: string, tree: unknown, own: readonly Tensor[], given: unknown): Tensor[] {
  const found = alike(`${name}: ${what}`, tree, given)
  found.forEach((g, i) => {
    const x = own[i] as Tensor
    checkAlive(name, g)
    if (g.dtype !== x.dtype || g.shape.join() !== x.shape.join()) {
      throw new ShapeError(`${name}: ${what} must be ${x.dtype} of shape [${x.shape.join(', ')}], got ${g.dtype} of shape [${g.shape.join(', ')}]`)
    }
  })
  return found
}

/**
 * The same tensor, which gradients take for a constant.
 *
 * @throws {ArgumentError} for anything but a tensor, or `DisposedError`.
 */
export function stopGradient<T extends Tensor>(x: T): T {
  if (!(x instanceof Tensor)) throw new ArgumentError(`stopGradient: expected a tensor, got ${shown(x)}`)
  checkAlive('stopGradient', x)
  return constant(x) as T
}
