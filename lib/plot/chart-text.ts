// A drawing with two axes as characters.

import { printable } from '../text/printable.js'
import type { Chart, Mark } from './chart.js'
import { Dots, SIGNS } from './dots.js'
import { painted } from './palette.js'
import type { Room } from './plot.js'
import { ticksOf, type Scale, type Tick } from './scale.js'

const LINES = 12
/** The drawing keeps so many characters, however long labels are. */
const FEWEST_COLUMNS = 8

function draw(dots: Dots, mark: Mark, x: Scale, y: Scale, owner: number): void {
  if (mark.kind === 'boxes') {
    for (let i = 0; i < mark.ys.length; i++) {
      const top = y.at(mark.ys[i] as number)
      // A box without height has no dots.
      if (top > 0) dots.fill(x.at(mark.edges[i] as number), 0, x.at(mark.edges[i + 1] as number), top, owner)
    }
    return
  }
  let [beforeX, beforeY] = [NaN, NaN]
  for (let i = 0; i < mark.ys.length; i++) {
    const [placeX, placeY] = [x.at(mark.xs[i] as number), y.at(mark.ys[i] as number)]
    const seen = !Number.isNaN(placeX) && !Number.isNaN(placeY)
    if (seen && mark.kind === 'line' && !Number.isNaN(beforeX)) dots.line(beforeX, beforeY, placeX, placeY, owner)
    else if (seen) dots.dot(placeX, placeY, owner)
    ;[beforeX, beforeY] = seen ? [placeX, placeY] : [NaN, NaN]
  }
}

/** The line below the drawing, and its numbers; one that would touch its neighbour is left out. */
function below(ticks: readonly Tick[], columns: number, before: string): string[] {
  const axis = Array.from({ length: columns }, () => '─')
  let numbers = ''
  for (const { at, label } of ticks) {
    const column = Math.round(at * (columns - 1))
    const start = Math.min(Math.max(0, column - (label.length >> 1)), Math.max(0, columns - label.length))
    if (numbers !== '' && start < numbers.length + 1) continue
    axis[column] = '┬'
    numbers = numbers.padEnd(start) + label
  }
  return [`${before}└${axis.join('')}`, `${before} ${numbers}`]
}

/** The lines of a drawing. */
export function chartText({ x, y, marks, names, notes, xLabel, yLabel }: Chart, { columns: room, lines = LINES, colors }: Room): string[] {
  const ticks = ticksOf(y, Math.max(2, Math.floor(lines / 3)))
  const rows = new Map(ticks.map(({ at, label }) => [Math.round((1 - at) * (lines - 1)), label]))
  const margin = Math.max(...ticks.map(({ label }) => label.length), 0)
  const columns = Math.max(FEWEST_COLUMNS, room - margin - 2)
  const dots = new Dots(columns, lines)
  marks.forEach((mark, i) => draw(dots, mark, x, y, i))
  const several = marks.length > 1
  const drawn = dots.lines(colors && several, !colors && several).map((line, row) => {
    const label = rows.get(row)
    return `${(label ?? '').padStart(margin)} ${label === undefined ? '│' : '┤'}${line}`
  })
  const before = ' '.repeat(margin + 1)
  const legend = names.map((name, i) => {
    const sign = colors ? painted(i, '──') : (SIGNS[i % SIGNS.length] as string)
    return `${several ? `${sign} ` : ''}${printable(name)}`
  })
  return [
    ...(yLabel === '' ? [] : [`${before}${printable(yLabel)}`]),
    ...drawn,
    ...below(ticksOf(x, Math.max(2, Math.floor(columns / 9))), columns, before),
    ...(xLabel === '' ? [] : [`${before} ${printable(xLabel).padStart(columns)}`]),
    ...(legend.length === 0 ? [] : [`${before} ${legend.join('   ')}`]),
    ...notes.map((note) => `${before} ${note}`)
  ]
}
