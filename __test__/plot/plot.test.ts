// `ferrotensor/plot`: what is drawn, where, and what is said of the rest; in a terminal and as SVG.
// runs on: host

import { readFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import test from 'ava'
import * as ft from 'ferrotensor'
import * as plot from 'ferrotensor/plot'
import { throws } from '../expect.js'
import { folder } from '../io/folder.js'
import { parsed, within, type Element } from './xml.js'

const file = folder()
const O = { textWidth: 40, colors: false } as const

/** Lines of a drawing, between its axes. */
const inside = (text: string): string[] => text.split('\n').flatMap((line) => /^ *\S* ?[┤│](.*)$/.exec(line)?.[1] ?? [])

test('a line goes from its first to its last point', (t) => {
  const { text } = plot.lines([0, 1, 2, 3], { ...O, title: 'up', textHeight: 4 })
  t.is(text.split('\n')[0], 'up')
  const rows = inside(text)
  t.is(rows.length, 4)
  t.regex(rows[3] as string, /^\S/)
  t.true((rows[0] as string).length === 37 && !(rows[0] as string).endsWith(' '), 'the last column has the last point')
  t.is(text, `up
  │                            ⢀⣀⡠⠤⠤⠒⠒⠊⠉
2 ┤                  ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠁
  │        ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠁
0 ┤⣀⡠⠤⠤⠒⠒⠉⠉⠁
  └┬───────────┬───────────┬───────────┬
   0           1           2           3`)
})

test('several lines have a legend, and signs where there are no colours', (t) => {
  const p = plot.lines({ down: [3, 2, 1], up: ft.tensor([1, 2, 3]) }, { ...O, xLabel: 'step', yLabel: 'loss' })
  t.regex(p.text, /^ +loss\n/)
  t.regex(p.text, /\n +step\n +• down {3}\+ up$/)
  const rows = inside(p.text)
  t.regex(rows[0] as string, /^•.*\+$/)
  t.regex(rows.at(-1) as string, /^\+.*•$/)
  const colored = plot.lines({ down: [3, 2, 1], up: [1, 2, 3] }, { textWidth: 40, colors: true }).text
  t.regex(colored, /\x1b\[34m── *\x1b\[39m down/)
  t.regex(colored, /\x1b\[31m[\u2800-\u28ff]+\x1b\[39m/)
})

test('rows of two axes, and arrays of different lengths, are lines', (t) => {
  const lines = (y: plot.Series): number => [...within(parsed(plot.lines(y).svg))].filter(({ name }) => name === 'polyline').length
  t.deepEqual([lines([1, 2]), lines([[1, 2, 3], [4, 5]]), lines(ft.ones([3, 4])), lines([new Float64Array(4), ft.ones([2])]), lines({ a: [1n, 2n] })], [1, 2, 3, 2, 1])
})

test('NaN and infinities break a line, and are counted; so is what a logarithm does not have', (t) => {
  const gap = plot.lines([1, 2, NaN, 4, 5, -Infinity, 7], O)
  t.regex(gap.text, /left out: 2 of 7 points, NaN or infinite$/)
  const marks = [...within(parsed(gap.svg))].filter(({ name }) => name === 'polyline' || name === 'circle')
  t.deepEqual(marks.map(({ name }) => name), ['polyline', 'polyline', 'circle'], 'a point alone is a point')
  t.regex(gap.svg, /left out: 2 of 7 points/)
  t.regex(plot.lines([10, 0, -3, 1000], { ...O, logY: true }).text, /left out: 2 of 4 points, not positive on a logarithmic scale$/)
  t.notRegex(plot.lines([1, 2], O).text, /left out/)
})

test('halves fall on a straight line where y is logarithmic', (t) => {
  const rows = inside(plot.lines([1, 0.5, 0.25], { ...O, logY: true, textHeight: 10 }).text)
  const first = rows.map((row) => row.search(/\S/))
  t.is(first[0], 0)
  t.true(first.every((at, row) => row === 0 || at > (first[row - 1] as number)), `${first}`)
})

const NOTHING: readonly (readonly [string, () => plot.Plot])[] = [
  ['lines', () => plot.lines([], O)],
  ['lines of none', () => plot.lines({}, O)],
  ['NaN alone', () => plot.lines([NaN], { ...O, logX: true, logY: true })],
  ['scatter', () => plot.scatter([], [], O)],
  ['histogram', () => plot.histogram(ft.zeros([0, 3]), O)],
  ['bars', () => plot.bars([], O)],
  ['bars of an object', () => plot.bars({}, O)],
  ['heatmap', () => plot.heatmap([], O)],
  ['heatmap of NaN', () => plot.heatmap([[NaN, NaN]], O)],
  ['confusion', () => plot.confusion(ft.zeros([0, 0]), { textWidth: 40 })],
  ['image', () => plot.image(ft.zeros([0, 4]), { textWidth: 40 })],
  ['images', () => plot.images([], { textWidth: 40 })],
  ['one point', () => plot.lines([5], O)],
  ['one place', () => plot.scatter([1, 1, 1], [2, 2, 2], O)],
  ['zeros', () => plot.bars([0, 0], O)],
  ['one number', () => plot.image([[3]], { textWidth: 40 })],
  ['huge numbers', () => plot.lines([-Number.MAX_VALUE, Number.MAX_VALUE, Number.MIN_VALUE], O)],
  ['huge bars', () => plot.bars([-Number.MAX_VALUE, Number.MAX_VALUE, NaN, -Infinity], O)],
  ['huge cells', () => plot.heatmap([[-Number.MAX_VALUE, Number.MAX_VALUE, NaN]], O)],
  ['the narrowest', () => plot.lines([1e-9, 2e-9], { textWidth: 20, textHeight: 2, width: 100, height: 80, title: 'x'.repeat(50), xLabel: 'x', yLabel: 'y' })],
  ['a large matrix', () => plot.heatmap(ft.arange(900 * 400).reshape([900, 400]), O)],
  ['a large picture', () => plot.image(ft.arange(300 * 500).reshape([300, 500]), { textWidth: 40 })],
  ['many points', () => plot.lines(Float64Array.from({ length: 100_000 }, (_, i) => Math.sin(i / 100)), O)]
]

/** Numbers of attributes that say where something is. */
const places = ({ name, attributes: a }: Element): [number, number][] => {
  const at = (x: string | undefined, y: string | undefined): [number, number] => [Number(x), Number(y)]
  if (name === 'circle') return [at(a['cx'], a['cy'])]
  if (name === 'polyline') return (a['points'] as string).split(' ').map((pair) => at(...(pair.split(',') as [string, string])))
  if (name === 'rect' || name === 'image') return [at(a['x'] ?? '0', a['y'] ?? '0'), at(String(Number(a['x'] ?? 0) + Number(a['width'])), String(Number(a['y'] ?? 0) + Number(a['height'])))]
  return []
}

for (const [what, make] of NOTHING) {
  test(`${what}: is drawn, within its picture and lines`, (t) => {
    const p = make()
    const svg = parsed(p.svg)
    t.is(svg.name, 'svg')
    const [width, height] = [Number(svg.attributes['width']), Number(svg.attributes['height'])]
    t.true(width > 0 && height > 0)
    // A cell is drawn half a pixel wider than it is, so that no line shows between two.
    for (const element of within(svg)) {
      for (const [x, y] of places(element)) t.true(x >= -0.5 && x <= width + 0.5 && y >= -0.5 && y <= height + 0.5, `${element.name} at ${x}, ${y} of ${width} x ${height}`)
      for (const [key, value] of Object.entries(element.attributes)) if (key !== 'href') t.notRegex(`${key}=${value}`, /NaN|Infinity|undefined/)
    }
    t.true(p.svg.length < 1_500_000, `${p.svg.length}`)
    const wide = what === 'the narrowest' ? 50 : 42
    // Sentences of what is left out are as long as they are.
    for (const line of p.text.split('\n')) t.true(/left out|mean of|NaN or/.test(line) || [...line].length <= wide, line)
    t.notRegex(p.text, /undefined|\x1b/)
  })
}

test('what no pixel shows of a long line is left out, and its extremes stay', (t) => {
  const y = new Float64Array(200_000)
  y[77_777] = 5
  y[155_555] = -5
  const { svg } = plot.lines(y)
  const [points] = [...within(parsed(svg))].filter(({ name }) => name === 'polyline').map(places) as [[number, number][]]
  t.true(points.length < 4 * 640)
  const heights = points.map(([, at]) => at)
  const [top, bottom] = [Math.min(...heights), Math.max(...heights)]
  t.deepEqual([heights.filter((at) => at === top).length, heights.filter((at) => at === bottom).length], [1, 1])
})

test('a text is text: in SVG nothing of it is an element, in a terminal nothing of it steers', (t) => {
  const name = `</text><script>alert("1")</script> & 'it' \x1b[31m\x00\n`
  const all = [
    plot.lines({ [name]: [1, 2], other: [2, 1] }, { ...O, title: name, xLabel: name, yLabel: name }),
    plot.bars({ [name]: 1 }, { ...O, title: name, xLabel: name }),
    plot.heatmap([[1]], { ...O, rowLabels: [name], columnLabels: [name], title: name, xLabel: name, yLabel: name }),
    plot.confusion([[1]], { labels: [name], title: name }),
    plot.images([[[1]]], { captions: [name], title: name })
  ]
  for (const p of all) {
    const svg = parsed(p.svg)
    t.false([...within(svg)].some((element) => element.name === 'script'))
    t.true([...within(svg)].some(({ text }) => text.includes(`</text><script>alert("1")</script> & 'it'`)))
    t.notRegex(p.text, /[\x00-\x09\x0b-\x1f]/)
  }
})

test('a histogram counts as NumPy does', (t) => {
  const boxes = (p: plot.Plot): string[] => [...within(parsed(p.svg))].filter(({ name }) => name === 'title').map(({ text }) => text)
  t.deepEqual(boxes(plot.histogram([0, 1, 1.5, 2, 3, 4], { bins: 4 })), ['0 to 1: 1', '1 to 2: 2', '2 to 3: 1', '3 to 4: 2'])
  const edges = plot.histogram([-1, 0, 1, 2, 9, NaN, Infinity], { bins: [0, 1, 3], textWidth: 40 })
  t.deepEqual(boxes(edges), ['0 to 1: 1', '1 to 3: 2'])
  t.regex(edges.text, /left out: 2 of 7 values, NaN or infinite\n +left out: 2 of 7 values, beyond the edges$/)
  const x = ft.random.normal(ft.random.key(1), [1000])
  const counts = (ft.histogram(x, { bins: 10 }) as unknown as { counts?: ft.Tensor; hist?: ft.Tensor })
  const expected = Object.values(counts).find((value): value is ft.Tensor => value instanceof ft.Tensor && value.size === 10) as ft.Tensor
  t.deepEqual(boxes(plot.histogram(x)).map((text) => Number(text.split(': ')[1])), (expected.toArray() as number[]).filter((n) => n > 0))
})

test('bars start at zero, to the left where they are negative', (t) => {
  t.is(
    plot.bars({ add: 3, matmul: 12, less: -4, nothing: 0, unknown: NaN }, { textWidth: 40, colors: false, xLabel: 'ms' }).text,
    `ms
    add │    ███ 3
 matmul │    ████████████ 12
   less │████ -4
nothing │     0
unknown │     NaN (left out)`
  )
})

test('a confusion matrix has counts, dots for none, and its classes', (t) => {
  const p = plot.confusion([[5, 1, 0], [0, 7, 2], [0, 0, 9]], { labels: ['cat', 'dog', 'bird'] })
  t.is(
    p.text,
    `true \\ predicted   cat  dog bird
             cat     5    1    ·
             dog     ·    7    2
            bird     ·    ·    9`
  )
  t.is([...within(parsed(p.svg))].filter(({ name, text }) => name === 'text' && /^\d+$/.test(text)).length, 9 + 2)
})

test('a heatmap shades from its least to its greatest element', (t) => {
  const p = plot.heatmap([[0, 1], [2, NaN]], { ...O, rowLabels: ['a', 'b'], columnLabels: ['x', 'y'] })
  t.is(p.text, '   x y\na   ▒▒\nb ██××\n0  ░▒▓█ 2\n× 1 of 4 elements, NaN or infinite')
  t.regex(plot.heatmap([[0, 1]], { textWidth: 40, colors: true }).text, /\x1b\[48;2;68;1;84m {2}\x1b\[49m\x1b\[48;2;253;231;37m {2}\x1b\[49m/)
  t.regex(plot.heatmap(ft.ones([100, 100]), O).text, /each cell is the mean of 3 x 5 elements/)
})

test('pictures are side by side, with captions, as PNG inside of the SVG', (t) => {
  const corner = ft.zeros([2, 3]).withAt([0, 0], 1)
  const p = plot.images(ft.stack([corner, corner.flip(1)]), { captions: ['one', 'two'], textWidth: 40, colors: false })
  t.is(p.text, '██           ██\n\none      two')
  const [first] = [...within(parsed(p.svg))].filter(({ name }) => name === 'image') as [Element]
  const bytes = Buffer.from((first.attributes['href'] as string).replace('data:image/png;base64,', ''), 'base64')
  t.is(bytes.subarray(1, 4).toString(), 'PNG')
  t.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [3, 2])
  const colored = plot.image([[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [NaN, 0, 0]]], { textWidth: 40, colors: true }).text
  t.is(colored, '\x1b[38;2;255;0;0;48;2;0;0;255m▀\x1b[39;49m\x1b[38;2;0;255;0m▀\x1b[39m\nleft out: 1 of 4 pixels, NaN or infinite')
})

test('bytes are from 0 to 255, colours from 0 to 1, greys from the least to the greatest', (t) => {
  const text = (x: plot.Numbers, options: plot.ImageOptions = {}): string => plot.image(x, { textWidth: 40, colors: false, ...options }).text
  t.is(text(ft.tensor([[0, 128, 255]], { dtype: 'uint8' })), '  ▒▒██')
  t.is(text(ft.tensor([[0, 128]], { dtype: 'uint8' })), '  ▒▒')
  t.is(text([[5, 6, 7]]), '  ▒▒██')
  t.is(text([[[0.5, 0.5, 0.5]]]), '▒▒')
  t.is(text([[5, 6]], { range: [0, 12] }), '▒▒▒▒')
})

test('a drawing prints itself, and is saved as SVG', async (t) => {
  const p = plot.lines([1, 2], O)
  t.is(inspect(p), p.text)
  t.is(`${p}`, p.text)
  t.true(p instanceof plot.Plot)
  const path = file('drawing.svg')
  await p.saveSvg(path)
  t.is(await readFile(path, 'utf8'), p.svg)
  const error = await t.throwsAsync(p.saveSvg(file('no/where.svg')))
  t.is((error as ft.FileError).systemCode, 'ENOENT')
  await t.throwsAsync(p.saveSvg(3 as never), { message: /^Plot\.saveSvg: 'path' must be a path/ })
})

test('a call that is wrong says what is', (t) => {
  const any = plot as unknown as Record<string, (...args: unknown[]) => unknown>
  const refused = (code: string, message: RegExp, name: string, ...args: unknown[]): void => throws(t, code, message, () => any[name]?.(...args), name)
  refused('ERR_ARGUMENT', /plot\.lines: 'y' must be numbers/, 'lines', 3)
  refused('ERR_ARGUMENT', /plot\.lines: element \[0\] must be a number/, 'lines', ['a'])
  refused('ERR_ARGUMENT', /plot\.lines: element \[1\] is undefined/, 'lines', [1, , 3])
  refused('ERR_DTYPE', /plot\.lines: 'y' is complex64/, 'lines', ft.tensor([{ re: 1, im: 2 }]))
  refused('ERR_SHAPE', /plot\.lines: 'y' must have one axis, or two/, 'lines', ft.ones([2, 2, 2]))
  refused('ERR_SHAPE', /plot\.lines: 'x' has 3 elements, a line has 2/, 'lines', [1, 2], { x: [1, 2, 3] })
  refused('ERR_SHAPE', /plot\.lines: 'labels' must have 1 labels, got 2/, 'lines', [1, 2], { labels: ['a', 'b'] })
  refused('ERR_ARGUMENT', /plot\.lines: unknown option 'tittle'; did you mean 'title'/, 'lines', [1], { tittle: 'x' })
  refused('ERR_ARGUMENT', /plot\.lines: 'logY' must be a boolean/, 'lines', [1], { logY: 1 })
  refused('ERR_ARGUMENT', /plot\.lines: 'textWidth' must be from 20 to 1000, got 5/, 'lines', [1], { textWidth: 5 })
  refused('ERR_SHAPE', /plot\.scatter: 'x' has 2 elements, 'y' has 1/, 'scatter', [1, 2], [1])
  refused('ERR_ARGUMENT', /plot\.scatter: 'classes' must be integers from 0 to 255, got 0\.5/, 'scatter', [1], [1], { classes: [0.5] })
  refused('ERR_ARGUMENT', /plot\.histogram: 'bins' must be finite and increase/, 'histogram', [1], { bins: [1, 1] })
  refused('ERR_ARGUMENT', /plot\.histogram: unknown option 'logX'/, 'histogram', [1], { logX: true })
  refused('ERR_ARGUMENT', /plot\.bars: 'values' must be numbers or an object/, 'bars', 'abc')
  refused('ERR_SHAPE', /plot\.bars: 1001 bars are more than 1000/, 'bars', new Float32Array(1001))
  refused('ERR_SHAPE', /plot\.heatmap: 'values' must have two axes/, 'heatmap', [1, 2])
  refused('ERR_SHAPE', /plot\.confusion: 'counts' must have as many rows as columns/, 'confusion', [[1, 2]])
  refused('ERR_ARGUMENT', /plot\.confusion: 'counts' must be finite and not negative, got -1/, 'confusion', [[-1]])
  refused('ERR_SHAPE', /plot\.image: 'x' must have shape \[height, width\]/, 'image', ft.ones([2, 2, 5]))
  refused('ERR_ARGUMENT', /plot\.image: 'range' must be two finite numbers/, 'image', [[1]], { range: [1, 0] })
  refused('ERR_SHAPE', /plot\.images: 'captions' must have 1 labels, got 0/, 'images', [[[1]]], { captions: [] })
  refused('ERR_ARGUMENT', /plot\.images: 'list' must be an array of pictures/, 'images', 7)
  const gone = ft.ones([2])
  gone.dispose()
  refused('ERR_DISPOSED', /plot\.lines/, 'lines', gone)
})
