// Attention whose queries have more heads than keys and values: groups of query heads share one.

import { tensorGiven, within } from '../call.js'
import { ShapeError } from '../errors.js'
import type { DType, FloatOf, Promote, Takes } from '../generated/dtypes.js'
import { scaledDotProductAttention, type ScaledDotProductAttentionOptions } from '../generated/nn.js'
import type { Tensor } from '../tensor.js'

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
  options?: ScaledDotProductAttentionOptions
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
    const seen = scaledDotProductAttention(grouped(q, groups) as Tensor<'float32'>, k.expandDims(-3) as Tensor<'float32'>, v.expandDims(-3) as Tensor<'float32'>, masked, options)
    return seen.flatten({ startAxis: -4, endAxis: -3 })
  }) as Tensor as Tensor<FloatOf<Promote<Promote<A, B>, C>>>
}

/** A mask of its own for each head. */
function masks(op: string, mask: Tensor, heads: number, groups: number): Tensor {
  if (mask.shape.at(-3) !== heads) throw new ShapeError(`${op}: 'mask' is of ${mask.shape.at(-3)} heads, queries have ${heads}; shape [${mask.shape.join(', ')}]`)
  return grouped(mask, groups)
}
