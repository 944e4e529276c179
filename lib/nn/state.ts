// Parameters and states under the names that PyTorch has for them: flat, `layers.0.in_proj_weight`. With `ft.io` they are files that
// both read and write.

import { checkOptions } from '../arguments/options.js'
import { flag } from '../arguments/validate.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { listed } from '../io/transfer.js'
import { checkAlive, isTensor } from '../program/node.js'
import { isPlain } from '../realm.js'
import type { Tensor } from '../tensor/tensor.js'
import { mapTree } from '../tree/traverse.js'

/** `.layers[0].inProjWeight` as `layers.0.inProjWeight`. */
function dotted(path: string): string {
  return path.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '')
}

/** The name PyTorch has: `layers.0.in_proj_weight`. */
function snake(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, (_, before: string, capital: string) => `${before}_${capital}`).toLowerCase()
}

/**
 * The tensors of trees (parameters, states) by their names in PyTorch: keys joined with dots, `inProjWeight` as `in_proj_weight`. What
 * `ft.io.saveSafetensors` writes and PyTorch's `load_state_dict` takes. PyTorch `Module.state_dict`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` where two tensors would have one name, and for a tree that is a tensor, which has no name.
 * @example
 * ```ts
 * ft.nn.stateDict({ layers: [{ inProjWeight: ft.zeros([2]) }] })['layers.0.in_proj_weight'] // [0, 0]
 * ```
 */
export function stateDict(...trees: readonly unknown[]): Record<string, Tensor> {
  const op = 'nn.stateDict'
  const found = new Map<string, Tensor>()
  for (const tree of trees) {
    mapTree(
      tree,
      (x, path) => {
        checkAlive(op, x)
        const name = snake(dotted(path))
        if (path === '') throw new ArgumentError(`${op}: a tensor alone has no name; pass an object or an array of tensors`)
        if (found.has(name)) throw new ArgumentError(`${op}: two tensors would be '${name}'`)
        found.set(name, x)
      },
      `${op}: the tree`
    )
  }
  return Object.fromEntries(found)
}

/** More are no list of trees: parameters and state are two. */
const MOST_TREES = 1000

/** Options of `nn.loadStateDict`. */
export interface LoadStateOptions {
  /** Whether every tensor must be there, and no other; true by default. Without, what is missing stays what it is in the trees. */
  readonly strict?: boolean | undefined
}

/**
 * The trees with the tensors of a state dict in the place of theirs, in their dtypes and on their devices. Names are looked up as they are in the
 * tree (`layers.0.inProjWeight`) or as PyTorch has them (`layers.0.in_proj_weight`). PyTorch `Module.load_state_dict`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` naming all that is missing and unexpected, or two tensors of one name, `ERR_SHAPE` for another shape, `ERR_DTYPE` where numbers
 * would change their kind.
 * @example
 * ```ts
 * const [params] = ft.nn.loadStateDict({ 'layer.weight': ft.tensor([1, 2]) }, [{ layer: { weight: ft.zeros([2]) } }])
 * params.layer.weight // [1, 2]
 * ```
 */
export function loadStateDict<T extends readonly unknown[] | []>(dict: Readonly<Record<string, Tensor>>, trees: T, options?: LoadStateOptions): { -readonly [K in keyof T]: T[K] } {
  const op = 'nn.loadStateDict'
  const { strict } = checkOptions(op, options, ['strict']) as LoadStateOptions
  const all = flag(op, 'strict', strict, true)
  if (!isPlain(dict)) throw new ArgumentError(`${op}: the state dict must be an object of tensors, got ${shown(dict)}`)
  if (!Array.isArray(trees) || trees.length > MOST_TREES) throw new ArgumentError(`${op}: the trees must be in an array, [params] or [params, state], got ${shown(trees)}`)
  const missing: string[] = []
  const unused = new Set(Object.keys(dict))
  const taken = new Set<string>()
  const made = trees.map((tree) =>
    mapTree(
      tree,
      (x, path) => {
        checkAlive(op, x)
        const exact = dotted(path)
        const name = Object.hasOwn(dict, exact) ? exact : snake(exact)
        if (!Object.hasOwn(dict, name)) {
          missing.push(name)
          return x
        }
        // Both would be loaded with what is one of theirs.
        if (taken.has(name)) throw new ArgumentError(`${op}: two tensors of the trees are '${name}'`)
        taken.add(name)
        unused.delete(name)
        return fitted(op, name, x, dict[name])
      },
      `${op}: the tree`
    )
  )
  if (all && (missing.length > 0 || unused.size > 0)) {
    const parts = [
      ['missing', missing],
      ['unexpected', [...unused]]
    ] as const
    throw new ArgumentError(`${op}: ${parts.filter(([, names]) => names.length > 0).map(([what, names]) => `${what}: ${listed(names)}`).join('; ')}; load what fits with { strict: false }`)
  }
  return made as { -readonly [K in keyof T]: T[K] }
}

/** A tensor of the dict as one of the tree: its shape, dtype and device. */
function fitted(op: string, name: string, x: Tensor, given: unknown): Tensor {
  if (!isTensor(given)) throw new ArgumentError(`${op}: '${name}' must be a tensor, got ${shown(given)}`)
  checkAlive(op, given)
  if (given.shape.join() !== x.shape.join()) throw new ShapeError(`${op}: '${name}' has shape [${given.shape.join(', ')}], and the tree's has [${x.shape.join(', ')}]`)
  const kind = (t: Tensor): string => (/int/.test(t.dtype) ? 'int' : t.type.row.kind)
  if (kind(given) !== kind(x)) throw new DTypeError(`${op}: '${name}' is ${given.dtype}, and the tree's is ${x.dtype}; convert it with astype('${x.dtype}')`)
  const moved = given.device === x.device ? given : given.to(x.device)
  return moved.dtype === x.dtype ? moved : moved.astype(x.dtype)
}
