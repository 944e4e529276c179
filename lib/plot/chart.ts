// A drawing with two axes: what is in it, and the parts that both of its forms share.

import { chartSvg } from './chart-svg.js'
import { chartText } from './chart-text.js'
import { flag, textOption, type Layout } from './options.js'
import { Plot } from './plot.js'
import { shows, type Scale } from './scale.js'

/** What is drawn of one thing; places that the scales cannot show are left out. */
export type Mark =
  /** A line through places, which breaks at what is left out. */
  | { readonly kind: 'line'; readonly xs: ArrayLike<number>; readonly ys: ArrayLike<number> }
  | { readonly kind: 'points'; readonly xs: ArrayLike<number>; readonly ys: ArrayLike<number> }
  /** Boxes side by side from the lowest y up; box i lies between edges i and i + 1. */
  | { readonly kind: 'boxes'; readonly edges: ArrayLike<number>; readonly ys: ArrayLike<number> }

/** A drawing with two axes. */
export interface Chart {
  readonly layout: Layout
  readonly xLabel: string
  readonly yLabel: string
  readonly x: Scale
  readonly y: Scale
  readonly marks: readonly Mark[]
  /** Names of the marks; none where there is but one without a name. */
  readonly names: readonly string[]
  /** What is not in the drawing, and why. */
  readonly notes: readonly string[]
}

/** What is left out, said in words: nothing where all is there. */
export function leftOut(pairs: readonly (readonly [xs: ArrayLike<number>, ys: ArrayLike<number>])[], logX: boolean, logY: boolean): string[] {
  let [total, notFinite, notPositive] = [0, 0, 0]
  for (const [xs, ys] of pairs) {
    total += ys.length
    for (let i = 0; i < ys.length; i++) {
      const [x, y] = [xs[i] as number, ys[i] as number]
      if (!shows(false, x) || !shows(false, y)) notFinite++
      else if (!shows(logX, x) || !shows(logY, y)) notPositive++
    }
  }
  const note = (count: number, why: string): string[] => (count === 0 ? [] : [`left out: ${count} of ${total} points, ${why}`])
  return [...note(notFinite, 'NaN or infinite'), ...note(notPositive, 'not positive on a logarithmic scale')]
}

/** The labels and kinds of both axes, checked. */
export function axes(op: string, o: Record<string, unknown>): { readonly xLabel: string; readonly yLabel: string; readonly logX: boolean; readonly logY: boolean } {
  return { xLabel: textOption(op, o, 'xLabel'), yLabel: textOption(op, o, 'yLabel'), logX: flag(op, o, 'logX'), logY: flag(op, o, 'logY') }
}

/** The drawing in both forms. */
export const charted = (chart: Chart): Plot => new Plot(chart.layout, { text: (room) => chartText(chart, room), svg: () => chartSvg(chart) })
