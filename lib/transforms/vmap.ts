// `ft.vmap`: a function of one example, for a whole axis of them at once.
//
// The function is called once, with tensors that stand for one position each and have no values. What it records on them is then recorded
// again on the whole tensors: each call as the row `vmap`, which Rust lowers (crates/ops/src/vmap). What depends on no mapped argument is the
// function's own recording, as it is.

import { callable, synchronous } from '../arguments/functions.js'
import { checkOptions } from '../arguments/options.js'
import { axisGiven } from '../arguments/validate.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { broadcastTo, expandDims, moveaxis, sum } from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { derivedSignature, numbersBeside, operandsOf } from '../program/derived-call.js'
import { limits, undetected } from '../program/hooks.js'
import { forget } from '../program/lifetime.js'
import { barrier, bundle, constant, pieceOf, recomputed, withGradient } from '../program/markers.js'
import { checkAlive, isTensor, type Piece } from '../program/node.js'
import { during, isTracing, PLACEHOLDER } from '../program/placeholder.js'
import { derived, lastCreated, placeholder, valueOf } from '../program/record.js'
import { walk } from '../program/traverse.js'
import { internType, type Signature, type Type } from '../program/types.js'
import { isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { leaves, mapTree } from '../tree/traverse.js'

/** Where the axis is: a number for all tensors, `null` for none, or a tree of these. */
export type Axes = number | null | readonly Axes[] | { readonly [key: string]: Axes }

/** Options of `vmap`. */
export interface VmapOptions {
  /**
   * The axis of the arguments that positions are along: a number for all, or an array with one for each argument; `null` for what is the same at
   * all positions. An argument that is a tree may have a tree of axes. The first axis by default.
   */
  readonly inAxes?: Axes | undefined
  /** Where results have the axis: a number, or a tree of them; `null` for a result that is the same at all positions. The first axis by default. */
  readonly outAxes?: Axes | undefined
}

const NAME = 'vmap'

/** An axis or a tree of axes; what is in a tree is looked at beside the tree that it is for. */
function checkAxes(option: string, axes: unknown): void {
  if (axes === null || Array.isArray(axes) || isPlain(axes) || (typeof axes === 'number' && Number.isSafeInteger(axes))) return
  throw new ArgumentError(`${NAME}: '${option}' must be an integer, null, or a tree of these, got ${shown(axes)}`)
}

/** The axis of each tensor of a tree, in order; the tree is known to end. */
function axesOf(option: string, where: string, axes: Axes, tree: unknown): (number | null)[] {
  checkAxes(option, axes)
  if (axes === null || typeof axes === 'number') return leaves(tree, `${NAME}: ${where}`).map(() => axes)
  if (Array.isArray(axes) && Array.isArray(tree) && axes.length === tree.length) {
    return tree.flatMap((item, i) => axesOf(option, `${where}[${i}]`, axes[i] as Axes, item))
  }
  if (isPlain(axes) && isPlain(tree) && Object.keys(axes).length === Object.keys(tree).length && Object.keys(tree).every((key) => Object.hasOwn(axes, key))) {
    return Object.entries(tree).flatMap(([key, item]) => axesOf(option, `${where}.${key}`, (axes as Record<string, Axes>)[key] as Axes, item))
  }
  throw new ArgumentError(`${NAME}: the axes of ${where} are ${shown(axes)}, and it is ${shown(tree)}; axes are one for all of it, or a tree of its structure`)
}

/** Records without running anything: there are no values. */
function recording<T>(f: () => T): T {
  const before = { ...limits }
  limits.nodes = limits.depth = Infinity
  try {
    return undetected(() => (isTracing() ? f() : during({ name: NAME, steps: [] }, f)))
  } finally {
    limits.nodes = before.nodes
    limits.depth = before.depth
  }
}

/** What stands for the tensors that a mapped function records: at all positions together. */
class Mapping {
  readonly size: number
  /** What was recorded before: a gradient of the caller's making goes back over it. */
  readonly #before: Mapping | undefined
  /** The number of the last tensor before those that are recorded. */
  readonly #start = lastCreated()
  /** The whole of each tensor that depends on a mapped argument, positions first. */
  readonly #wholes = new Map<Tensor, Tensor>()
  /** What joins whole pieces, for each that joins pieces at a position. */
  readonly #joins = new Map<Piece['join'], Piece['join']>()

  constructor(size: number, before?: Mapping) {
    this.size = size
    this.#before = before
  }

  /** The whole of a tensor; none where it is the same at all positions. */
  get(x: Tensor): Tensor | undefined {
    return this.#wholes.get(x) ?? this.#before?.get(x)
  }

  /** A tensor that stands for one position of a whole one. */
  position(whole: Tensor, type: Type): Tensor {
    const x = placeholder(type)
    x.level = whole.level
    this.#wholes.set(x, whole)
    return x
  }

  /** A tensor at all positions, where it is the same at each as well. */
  whole(x: Tensor): Tensor {
    return this.get(x) ?? broadcastTo(expandDims(x, 0), [this.size, ...x.shape])
  }

  /** Records for all positions what was recorded for one. */
  record(roots: readonly Tensor[]): void {
    const calls: Tensor[] = []
    const enter = (t: Tensor): boolean => t.handle === null && t.signature !== null && t.signature !== PLACEHOLDER && this.get(t) === undefined
    walk(roots, enter, (t) => t.group === null && calls.push(t))
    // After the walk: what is recorded may be run at once, by a walk of its own.
    for (const t of calls) this.#call(t)
  }

  /** A function of whole tensors that does what `f` does at a position; tensors are of these types there. */
  #mapped<T extends Tensor | undefined>(f: (...args: T[]) => readonly (Tensor | undefined)[], types: readonly (Type | undefined)[]): (...wholes: T[]) => (Tensor | undefined)[] {
    return (...wholes) => {
      const own = new Mapping(this.size, this)
      const found = recording(() => f(...wholes.map((whole, n) => (whole === undefined ? whole : (own.position(whole, types[n] as Type) as T)))))
      own.record(found.filter((x) => x !== undefined))
      const results = found.map((x) => x && own.whole(x))
      own.end()
      return results
    }
  }

  #call(t: Tensor): void {
    const s = t.signature as Signature
    const operands = operandsOf(t, s)
    if (!operands.some((x) => isTensor(x) && this.get(x) !== undefined)) return
    if (s.op === OP.custom) this.#wholes.set(t, this.#value(t, operands as readonly Tensor[]))
    else if (s.op === OP.barrier) this.#wholes.set(t, barrier(this.whole(operands[0] as Tensor)))
    else if (t.outputs === null) this.#wholes.set(t, this.#result(t, s, operands, 0))
    else t.outputs.forEach((output, n) => this.#wholes.set(output, this.#result(t, s, operands, n)))
  }

  /** A call, recorded for all positions. */
  #result({ params }: Tensor, s: Signature, operands: readonly unknown[], of: number): Tensor {
    const tensors: Tensor[] = []
    const numbers = numbersBeside(operands, params, tensors)
    const mapped = derivedSignature(OP.vmap, s, operands, of, tensors.map((x) => this.get(x) !== undefined))
    return derived(mapped, tensors.map((x) => this.get(x) ?? x), numbers)
  }

  /** A value that is handed through, with the gradient that it has at a position. */
  #value(t: Tensor, [value, ...own]: readonly Tensor[]): Tensor {
    const x = value as Tensor
    const whole = this.whole(x)
    const { pull, again, piece } = t
    // What is the same at all positions stands there as it is, so that it is known where the way back meets it.
    const wholes = own.map((operand) => this.get(operand) ?? operand)
    if (pull !== null) {
      const pulled = this.#mapped<Tensor>(pull as (g: Tensor) => readonly (Tensor | undefined)[], [t.type])
      return withGradient(whole, wholes, (g) => pulled(g).map((found, n) => (found === undefined || wholes[n] !== own[n] ? found : sum(found, { axis: 0 }))))
    }
    if (again !== null) {
      const recorded = this.#mapped<Tensor>(() => [again()], [])
      return recomputed(whole, wholes, () => recorded()[0] as Tensor)
    }
    if (piece !== null) return pieceOf(this.whole(own[0] as Tensor), whole, { join: this.#join(piece.join), at: piece.at })
    return t.level === 0 && x.level > 0 ? constant(whole) : whole
  }

  /** The same object for all pieces. */
  #join(join: Piece['join']): Piece['join'] {
    let found = this.#joins.get(join)
    if (found === undefined) {
      found = (parts) => {
        const types = parts.map((part) => (part === undefined ? part : front(part, 0)[1]))
        return this.#mapped<Tensor | undefined>((...inner) => [join(inner)], types)(...parts)[0] as Tensor
      }
      this.#joins.set(join, found)
    }
    return found
  }

  /** Lets go of what was recorded at a position: it has no value, and holds operands. */
  end(): void {
    for (const x of this.#wholes.keys()) {
      if (x.seq <= this.#start || x.signature === PLACEHOLDER) continue
      forget(x)
      x.signature = PLACEHOLDER
    }
  }
}

/** How many positions there are. */
function countOf(args: readonly unknown[], axes: readonly (number | null)[]): number {
  let size: number | undefined
  let first = ''
  let at = 0
  const look = (x: Tensor, where: string): void => {
    const given = axes[at++] as number | null
    checkAlive(NAME, x)
    if (given === null) return
    const axis = axisGiven(NAME, given, x.ndim)
    const length = x.shape[axis] as number
    if (size !== undefined && size !== length) throw new ShapeError(`${NAME}: axis ${axis} of ${where} has ${length} positions, and that of ${first} has ${size}`)
    if (size === undefined) [size, first] = [length, where]
  }
  args.forEach((arg, n) => mapTree(arg, (x, path) => look(x, `argument ${n}${path}`), `${NAME}: argument ${n}`))
  if (size === undefined) throw new ArgumentError(`${NAME}: no argument has a tensor with an axis to map over`)
  return size
}

/** A tensor with an axis in front, and its type without. */
function front(x: Tensor, given: number): [whole: Tensor, type: Type] {
  const axis = axisGiven(NAME, given, x.ndim)
  const { row, device } = x.type
  return [axis === 0 ? x : moveaxis(x, axis, 0), internType(row, x.shape.toSpliced(axis, 1), device)]
}

/** A result where it is asked to have the axis. */
function placed(x: Tensor, axis: number | null, mapping: Mapping): Tensor {
  const whole = mapping.get(x)
  if (axis === null) {
    if (whole !== undefined) throw new ArgumentError(`${NAME}: a result whose axis is null in 'outAxes' depends on a mapped argument; say where its axis is`)
    return valueOf(OP.custom, [x])
  }
  // An argument is handed on as another tensor, which may be disposed of alone.
  const found = whole === undefined ? mapping.whole(x) : x.signature === PLACEHOLDER ? valueOf(OP.custom, [whole]) : whole
  const to = axisGiven(NAME, axis, found.ndim)
  return to === 0 ? found : moveaxis(found, 0, to)
}

/**
 * A function that does what `fn` does at each position of an axis of its arguments, and returns its results along an axis: a function of one
 * example for a batch of them. `fn` is called once and recorded; each of its operations runs once for all positions, as it would be
 * written by hand with one axis more: a product of a matrix and a vector becomes one of matrices. Arguments and results are trees of tensors; what
 * is no tensor is handed through, the same at all positions.
 *
 * It nests with itself, `grad`, `jacobian`, `jit` and `checkpoint`: `ft.vmap(ft.grad(loss), { inAxes: [null, 0, 0] })` gives a gradient for each
 * example. While `fn` is called its tensors have no values: reads throw. A random key that is the same at all positions draws the
 * same numbers at each; map over `ft.random.split(key, n)` for others. JAX `vmap`, PyTorch `torch.func.vmap`.
 *
 * @throws {ArgumentError} for anything but a function, axes that do not fit the arguments, arguments without a mapped tensor; at a call, for
 * values that are needed while it is recorded and for promises.
 * @throws {ShapeError} where mapped axes differ in length.
 * @throws {TensorError} what `fn` throws.
 * @example
 * ```ts
 * const x = ft.tensor([[1, 2], [3, 4], [5, 6]])
 * ft.vmap((row) => row.dot(ft.tensor([10, 1])))(x) // [12, 34, 56]
 * ```
 */
export function vmap<R>(fn: (...args: Tensor[]) => R, options?: VmapOptions): (...args: Tensor[]) => R
export function vmap<F extends (...args: never[]) => unknown>(fn: F, options?: VmapOptions): F
export function vmap(fn: (...args: never[]) => unknown, options: VmapOptions = {}): (...args: readonly unknown[]) => unknown {
  callable(NAME, fn)
  const { inAxes = 0, outAxes = 0 } = checkOptions(NAME, options, ['inAxes', 'outAxes']) as VmapOptions
  checkAxes('inAxes', inAxes)
  checkAxes('outAxes', outAxes)
  const call = (...args: readonly unknown[]): unknown => {
    // First, so that an argument that contains itself is an error before anything walks it.
    args.forEach((arg, n) => leaves(arg, `${NAME}: argument ${n}`))
    const axes = axesOf('inAxes', 'the arguments', inAxes, args)
    const mapping = new Mapping(countOf(args, axes))
    let at = 0
    const position = (x: Tensor): Tensor => {
      const axis = axes[at++] as number | null
      return axis === null ? x : mapping.position(...front(x, axis))
    }
    const inner = args.map((arg, n) => mapTree(arg, position, `${NAME}: argument ${n}`))
    const result = recording(() => {
      const found = fn(...(inner as never[]))
      synchronous(NAME, found, 'what is mapped is synchronous; await outside, around the call')
      return found
    })
    const roots = leaves(result, `${NAME}: the result`)
    for (const x of roots) checkAlive(NAME, x)
    const places = axesOf('outAxes', 'the result', outAxes, result)
    mapping.record(roots)
    let next = 0
    const results: Tensor[] = []
    const mapped = mapTree(
      result,
      (x) => {
        const found = placed(x, places[next++] as number | null, mapping)
        results.push(found)
        return found
      },
      `${NAME}: the result`
    )
    mapping.end()
    // One program computes them all: most of what one is made of, the others are too.
    if (results.length > 1) bundle(results)
    return mapped
  }
  Object.defineProperty(call, 'name', { value: fn.name, configurable: true })
  return call
}
