// Attention by the products of queries and keys, and where queries have more heads than keys and values: groups of query heads share one.

import { checkOptions } from '../arguments/options.js'
import { flag } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ShapeError } from '../errors.js'
import type { DType, FloatOf, Promote, Takes } from '../generated/dtypes.js'
import { scaledDotProductAttention as attended, type ScaledDotProductAttentionOptions as AttendedOptions } from '../generated/nn.js'
import type { Tensor } from '../tensor/tensor.js'

/** Options of `nn.scaledDotProductAttention`. */
export interface ScaledDotProductAttentionOptions extends AttendedOptions {
  /** Whether groups of query heads share heads of keys and values, as `nn.groupedQueryAttention` has them; false by default. */
  readonly enableGqa?: boolean | undefined
}

/**
 * Values [..., n, values] weighed for each query [..., m, length] by the softmax of its products with the keys [..., n, length], times the scale
 * (1 / sqrt(length) by default). A bool mask is true where a key takes part, a floating one is added to the scores; with causal the i-th query sees
 * the first i + 1 keys. 0 for a query to which its mask shows none; keys and values that a bool mask shows to no query take no part, NaN or not.
 *
 * `softmax(query @ keys^T scale + mask) @ values`
 *
 * Takes a real dtype; gives the promoted dtype, float32 for integers and bool. PyTorch `nn.functional.scaled_dot_product_attention`.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not go together, `ERR_DTYPE` for complex tensors and a mask of integers, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.nn.scaledDotProductAttention(ft.tensor([[1, 0]]), ft.tensor([[1, 0], [1, 0]]), ft.tensor([[2], [4]])) // [[3]]
 * ```
 */
export function scaledDotProductAttention<A extends DType, B extends DType, C extends DType>(
  query: Tensor<A> & Takes<'real', A>,
  keys: Tensor<B> & Takes<'real', B>,
  values: Tensor<C> & Takes<'real', C>,
  mask?: Tensor,
  options?: ScaledDotProductAttentionOptions
): Tensor<FloatOf<Promote<Promote<A, B>, C>>> {
  const op = 'nn.scaledDotProductAttention'
  return within(op, () => {
    const { enableGqa, ...own } = checkOptions(op, options, ['causal', 'scale', 'enableGqa']) as ScaledDotProductAttentionOptions
    if (flag(op, 'enableGqa', enableGqa, false)) return groupedQueryAttention(query, keys, values, mask, own)
    return attended(query, keys, values, mask, own)
  })
}

/** Heads [..., heads, length, features] as groups [..., groups, heads of a group, length, features]. */
function grouped(x: Tensor, groups: number): Tensor {
  const [heads, ...rest] = x.shape.slice(-3) as [number, number, number]
  return x.reshape([...x.shape.slice(0, -3), groups, heads / groups, ...rest])
}

/**
 * Attention of queries [..., heads, m, length] over keys [..., groups, n, length] and values [..., groups, n, features]: heads / groups heads, side by
 * side, share each head of keys and values, which are not repeated in memory. Else as `nn.scaledDotProductAttention`; masks are [m, n] or
 * [..., heads or 1, m, n].
 *
 * `softmax(query_h @ keys_(h groups / heads)^T scale + mask) @ values_(h groups / heads)`
 *
 * PyTorch `nn.functional.scaled_dot_product_attention` with `enable_gqa`. Ainslie and others, "GQA", 2023.
 *
 * @throws {TensorError} `ERR_SHAPE` for fewer than three axes, other heads of keys than of values, and heads that groups do not divide; else as
 * `nn.scaledDotProductAttention`.
 * @example
 * ```ts
 * ft.nn.groupedQueryAttention(ft.ones([4, 1, 2]), ft.ones([2, 3, 2]), ft.ones([2, 3, 5])).shape // [4, 1, 5]
 * ```
 */
export function groupedQueryAttention<A extends DType, B extends DType, C extends DType>(
  query: Tensor<A> & Takes<'real', A>,
  keys: Tensor<B> & Takes<'real', B>,
  values: Tensor<C> & Takes<'real', C>,
  mask?: Tensor,
  options?: AttendedOptions
): Tensor<FloatOf<Promote<Promote<A, B>, C>>> {
  const op = 'nn.groupedQueryAttention'
  return within(op, () => {
    const [q, k, v] = Object.entries({ query, keys, values }).map(([name, given]) => {
      const x = tensorGiven(op, name, given)
      if (x.ndim < 3) throw new ShapeError(`${op}: '${name}' must be [..., heads, length, features], got shape [${x.shape.join(', ')}]`)
      return x
    }) as [Tensor, Tensor, Tensor]
    const [heads, groups, others] = [q, k, v].map((x) => x.shape.at(-3) as number) as [number, number, number]
    if (groups !== others) throw new ShapeError(`${op}: keys have ${groups} heads, values ${others}`)
    if (groups === 0 || heads % groups !== 0) throw new ShapeError(`${op}: ${heads} heads of queries are no multiple of ${groups} of keys`)
    const shown = mask === undefined ? undefined : tensorGiven(op, 'mask', mask)
    const masked = shown === undefined || shown.ndim < 3 ? shown : shown.shape.at(-3) === 1 ? shown.expandDims(-4) : masks(op, shown, heads, groups)
    const seen = attended(grouped(q, groups) as Tensor<'float32'>, k.expandDims(-3) as Tensor<'float32'>, v.expandDims(-3) as Tensor<'float32'>, masked, options)
    return seen.flatten({ startAxis: -4, endAxis: -3 })
  }) as Tensor as Tensor<FloatOf<Promote<Promote<A, B>, C>>>
}

/** A mask of its own for each head. */
function masks(op: string, mask: Tensor, heads: number, groups: number): Tensor {
  if (mask.shape.at(-3) !== heads) throw new ShapeError(`${op}: 'mask' is of ${mask.shape.at(-3)} heads, queries have ${heads}; shape [${mask.shape.join(', ')}]`)
  return grouped(mask, groups)
}
