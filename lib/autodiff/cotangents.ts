// The cotangents that values on a way back have so far: sums, and pieces that are put together once all are there.

import type { Piece } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'

type Parts = (Tensor | undefined)[]

export class Cotangents {
  readonly #sums = new Map<Tensor, Tensor>()
  /** Cotangents of pieces, by the tensor they were cut from and what joins them. */
  readonly #cut = new Map<Tensor, Map<Piece['join'], Parts>>()
  /** Values whose sums, and pieces that, are others since {@link changes} was asked. */
  readonly #changed = new Set<Tensor>()
  #pieces: { readonly whole: Tensor; readonly parts: Parts; readonly at: number }[] = []
  readonly #noted: boolean

  /** @param noted Whether {@link changes} will be asked. */
  constructor(noted: boolean) {
    this.#noted = noted
  }

  /** The sum for a value, without what its pieces have. */
  sum(x: Tensor): Tensor | undefined {
    return this.#sums.get(x)
  }

  set(x: Tensor, g: Tensor): void {
    this.#sums.set(x, g)
    if (this.#noted) this.#changed.add(x)
  }

  add(x: Tensor, g: Tensor): void {
    const before = this.#sums.get(x)
    this.set(x, before === undefined ? g : before.add(g))
  }

  /** Adds the cotangent of a piece to those of its whole. */
  addPiece(whole: Tensor, { join, at }: Piece, g: Tensor): void {
    let pieces = this.#cut.get(whole)
    if (pieces === undefined) this.#cut.set(whole, (pieces = new Map()))
    let parts = pieces.get(join)
    if (parts === undefined) pieces.set(join, (parts = []))
    parts[at] = parts[at]?.add(g) ?? g
    if (this.#noted) this.#pieces.push({ whole, parts, at })
  }

  /** The sum for a value, its pieces put together. */
  total(x: Tensor): Tensor | undefined {
    const pieces = this.#cut.get(x)
    if (pieces !== undefined) {
      this.#cut.delete(x)
      for (const [join, parts] of pieces) this.add(x, join(parts))
    }
    return this.#sums.get(x)
  }

  /** Forgets a value that the way back has passed. */
  delete(x: Tensor): void {
    this.#sums.delete(x)
    this.#changed.delete(x)
  }

  /** Cotangents that the rest of the way back starts from, as far as they are others since this was last asked: all of them each time take n^2 time. */
  changes(): Tensor[] {
    const found = Array.from(this.#changed, (x) => this.#sums.get(x) as Tensor)
    for (const { whole, parts, at } of this.#pieces) if (this.#cut.has(whole)) found.push(parts[at] as Tensor)
    this.#changed.clear()
    this.#pieces = []
    return found
  }
}
