// A drawing with two axes as SVG.

import type { Chart, Mark } from './chart.js'
import { colorOf } from './palette.js'
import type { SvgParts } from './plot.js'
import { ticksOf, type Scale } from './scale.js'
import { label, legend, px, rectangle, stroke, widthOf } from './svg.js'

const GRID = '#e4e4e4'
const AXIS = '#888'
const GAP = 14
const LINE = 16
/** The drawing keeps so many pixels, however long labels are. */
const FEWEST = 40

/** Where the drawing itself is. */
interface Frame {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/**
 * The points of a line without those that no pixel shows: of each column of pixels the first, the lowest, the highest and the last (M4; U. Jugel et
 * al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014). Exact where x grows, as then no other point of the column matters.
 */
function thinned(points: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const kept: (readonly [number, number])[] = []
  for (let from = 0, to = 0; from < points.length; from = to) {
    const column = Math.floor((points[from] as readonly [number, number])[0])
    let [lowest, highest] = [from, from]
    for (to = from; to < points.length && Math.floor((points[to] as readonly [number, number])[0]) === column; to++) {
      const y = (points[to] as readonly [number, number])[1]
      if (y < (points[lowest] as readonly [number, number])[1]) lowest = to
      if (y > (points[highest] as readonly [number, number])[1]) highest = to
    }
    const chosen = [...new Set([from, lowest, highest, to - 1])].sort((a, b) => a - b)
    kept.push(...chosen.map((i) => points[i] as readonly [number, number]))
  }
  return kept
}

function drawn(mark: Mark, x: Scale, y: Scale, { left, top, width, height }: Frame, color: string): string {
  const atX = (value: number): number => left + x.at(value) * width
  const atY = (value: number): number => top + (1 - y.at(value)) * height
  if (mark.kind === 'boxes') {
    return Array.from({ length: mark.ys.length }, (_, i) => {
      const value = mark.ys[i] as number
      const [from, to] = [atX(mark.edges[i] as number), atX(mark.edges[i + 1] as number)]
      // A box without height is nothing, and none can be NaN high.
      if (!(y.at(value) > 0)) return ''
      return rectangle(from, atY(value), Math.max(0.5, to - from - 1), y.at(value) * height, color, `${mark.edges[i]} to ${mark.edges[i + 1]}: ${value}`)
    }).join('')
  }
  const parts: (readonly [number, number])[][] = [[]]
  for (let i = 0; i < mark.ys.length; i++) {
    const point = [atX(mark.xs[i] as number), atY(mark.ys[i] as number)] as const
    if (Number.isNaN(point[0]) || Number.isNaN(point[1])) parts.push([])
    else (parts.at(-1) as (readonly [number, number])[]).push(point)
  }
  const round = (cx: string, cy: string, r: number): string => `<circle cx="${cx}" cy="${cy}" r="${r}" fill="${color}" fill-opacity="0.7"/>`
  if (mark.kind === 'points') {
    // Points of one place are one circle.
    const places = new Set(parts.flat().map(([cx, cy]) => `${cx.toFixed(1)} ${cy.toFixed(1)}`))
    return [...places].map((place) => round(...(place.split(' ') as [string, string]), 2.5)).join('')
  }
  return parts
    .filter((part) => part.length > 0)
    .map((part) => {
      // A point alone is no line.
      if (part.length === 1) return round(px((part[0] as readonly [number, number])[0]), px((part[0] as readonly [number, number])[1]), 2.5)
      return `<polyline fill="none" stroke="${color}" stroke-width="1.5" stroke-linejoin="round" points="${thinned(part).map(([cx, cy]) => `${px(cx)},${px(cy)}`).join(' ')}"/>`
    })
    .join('')
}

/** The elements of a drawing. */
export function chartSvg({ layout, x, y, marks, names, notes, xLabel, yLabel }: Chart): SvgParts {
  const { width, height, title } = layout
  const yTicks = ticksOf(y, Math.max(2, Math.floor(height / 60)))
  const named = Math.max(0, ...names.map(widthOf))
  const right = GAP + (names.length === 0 ? 0 : Math.min(width / 3, named + 30))
  const left = GAP + (yLabel === '' ? 0 : LINE) + Math.max(...yTicks.map((tick) => widthOf(tick.label)), 0)
  const top = GAP + (title === '' ? 0 : 22)
  const bottom = GAP + LINE + (xLabel === '' ? 0 : LINE) + notes.length * LINE
  const frame = { left, top, width: Math.max(FEWEST, width - left - right), height: Math.max(FEWEST, height - top - bottom) }
  const xTicks = ticksOf(x, Math.max(2, Math.floor(frame.width / 80)))
  const floor = top + frame.height
  const middle = left + frame.width / 2
  const vertical = xTicks.map(({ at, label: text }) => {
    const place = left + at * frame.width
    return stroke(place, top, place, floor, GRID) + label(place, floor + LINE, text, { anchor: 'middle' })
  })
  const horizontal = yTicks.map(({ at, label: text }) => {
    const place = top + (1 - at) * frame.height
    return stroke(left, place, left + frame.width, place, GRID) + label(left - 6, place + 4, text, { anchor: 'end' })
  })
  const turned = ` transform="rotate(-90 ${px(LINE)} ${px(top + frame.height / 2)})"`
  const body = [
    ...(title === '' ? [] : [label(width / 2, GAP + 8, title, { anchor: 'middle', more: ' font-size="15" font-weight="bold"' })]),
    ...vertical,
    ...horizontal,
    `<g class="marks">${marks.map((mark, i) => drawn(mark, x, y, frame, colorOf(i))).join('')}</g>`,
    `<path d="M${px(left)} ${px(top)}V${px(floor)}H${px(left + frame.width)}" fill="none" stroke="${AXIS}"/>`,
    ...(xLabel === '' ? [] : [label(middle, floor + 2 * LINE, xLabel, { anchor: 'middle' })]),
    ...(yLabel === '' ? [] : [label(LINE, top + frame.height / 2, yLabel, { anchor: 'middle', more: turned })]),
    ...(names.length === 0 ? [] : [legend(left + frame.width + 10, top + 4, names)]),
    ...notes.map((note, i) => label(left, height - 6 - LINE * (notes.length - 1 - i), note, { more: ' fill="#777"' }))
  ]
  return { width, height, body: body.join('') }
}
