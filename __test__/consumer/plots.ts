// The declarations of `ferrotensor/plot`: tensors are those of the package itself, and what must not compile does not.

import * as ft from 'ferrotensor'
import * as plot from 'ferrotensor/plot'

const x: ft.Tensor = ft.ones([3])

export const drawings: readonly plot.Plot[] = [
  plot.lines(x, { title: 'x', logY: true }),
  plot.lines({ a: [1, 2], b: new Float32Array(2), c: x }),
  plot.lines([x, x.add(1)]),
  plot.scatter(x, [1n, 2n, 3n], { classes: x.greater(0), labels: ['no', 'yes'] }),
  plot.histogram(x, { bins: [0, 1, 2] }),
  plot.bars({ a: 1, b: 2n }),
  plot.heatmap([[1, 2]], { rowLabels: ['a'], columnLabels: [1, 2] }),
  plot.confusion([[1]]),
  plot.image(ft.ones([2, 2, 3]), { range: [0, 1] }),
  plot.images([ft.ones([2, 2])], { captions: ['one'] })
]

export const text: string = plot.lines(x).text + plot.lines(x).svg

export async function save(): Promise<void> {
  await plot.lines(x).saveSvg('x.svg')
}

// @ts-expect-error: an option nobody reads
plot.lines(x, { tittle: 'x' })
// @ts-expect-error: a histogram's x is linear
plot.histogram(x, { logX: true })
// @ts-expect-error: texts are no numbers
plot.lines(['a'])
// @ts-expect-error: nobody constructs a drawing
new plot.Plot({ title: '' })
// @ts-expect-error: a drawing does not change
plot.lines(x).text = ''
