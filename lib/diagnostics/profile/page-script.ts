// What the page of a profile does in the browser: draws the timeline and memory, sorts and filters the table. Plain JavaScript without
// imports, as it travels inside of the page.

/** @internal */
export const SCRIPT = String.raw`'use strict'
const data = JSON.parse(document.getElementById('data').textContent)
const [KIND, THREAD, DEVICE, KERNEL, START, TIME, AMOUNT] = [0, 1, 2, 3, 4, 5, 6]
const COLOURS = { program: '#8b8d98', planning: '#e2a336', wait: '#c6c9d0', upload: '#12a594', download: '#0d7c90' }
const DEVICE_COLOURS = ['#0b68cb', '#d6409f', '#30a46c', '#e5484d']
const ROW = 18
const HEAD = 20
const LEFT = 120
const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P']

function metric(n, unit) {
  const at = n < 1 ? 0 : Math.min(PREFIXES.length - 1, Math.floor(Math.log10(n) / 3))
  return NUMBER.format(n / 1000 ** at) + ' ' + PREFIXES[at] + unit
}
function duration(ms) {
  if (ms >= 1000) return NUMBER.format(ms / 1000) + ' s'
  if (ms >= 1) return NUMBER.format(ms) + ' ms'
  return ms >= 1e-3 ? NUMBER.format(ms * 1e3) + ' us' : NUMBER.format(ms * 1e6) + ' ns'
}
// Neighbours in the list differ in hue: steps of the golden angle.
const kernelColour = (at) => 'hsl(' + ((210 + at * 137.508) % 360).toFixed(0) + ' 55% 52%)'

// Rows: a thread has one for each level of nesting.
const rows = []
data.threads.forEach((name, thread) => {
  const first = rows.length
  const open = []
  for (const span of data.spans) {
    if (span[THREAD] !== thread) continue
    // A rounding step of starts and times, so that a neighbour is no child.
    while (open.length > 0 && open[open.length - 1] <= span[START] + 2e-5) open.pop()
    const row = first + open.length
    if (rows[row] === undefined) rows[row] = { name: row === first ? name : '', spans: [] }
    rows[row].spans.push(span)
    open.push(span[START] + span[TIME])
  }
  if (rows.length === first) rows.push({ name, spans: [] })
})

let view = { from: 0, to: Math.max(data.time, 1e-6) }
let marked = -1
const timeline = document.getElementById('timeline')
const memory = document.getElementById('memory')
const tip = document.getElementById('tip')

function prepared(canvas, height) {
  const scale = window.devicePixelRatio || 1
  const width = canvas.clientWidth
  canvas.style.height = height + 'px'
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  const context = canvas.getContext('2d')
  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width, height)
  context.font = '11px system-ui, sans-serif'
  context.textBaseline = 'middle'
  return { context, width, plot: width - LEFT }
}
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name)
const placed = (time, plot) => LEFT + ((time - view.from) / (view.to - view.from)) * plot

// Steps of 1, 2 or 5 times a power of ten.
function step(range, most) {
  const rough = range / most
  const power = 10 ** Math.floor(Math.log10(rough))
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough)
}

function drawTimes(context, plot, height) {
  const each = step(view.to - view.from, Math.max(2, plot / 110))
  context.strokeStyle = colour('--line')
  context.fillStyle = colour('--soft')
  for (let n = Math.ceil(view.from / each); n * each <= view.to; n++) {
    const x = placed(n * each, plot)
    context.beginPath()
    context.moveTo(x, HEAD)
    context.lineTo(x, height)
    context.stroke()
    context.fillText(n === 0 ? '0' : duration(n * each), x + 3, HEAD / 2)
  }
}

// The first span of a row that ends after a time; ends of one row are in order.
function firstAfter(spans, time) {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle][START] + spans[middle][TIME] < time) low = middle + 1
    else high = middle
  }
  return low
}

const nameOf = (span) => (span[KERNEL] >= 0 ? data.kernels[span[KERNEL]].name : data.kinds[span[KIND]])

function drawTimeline() {
  const height = HEAD + rows.length * ROW + 6
  const { context, width, plot } = prepared(timeline, height)
  drawTimes(context, plot, height)
  rows.forEach(({ name, spans }, at) => {
    const y = HEAD + at * ROW
    context.save()
    context.beginPath()
    context.rect(LEFT, y, plot, ROW)
    context.clip()
    let last = -1
    for (let i = firstAfter(spans, view.from); i < spans.length && spans[i][START] <= view.to; i++) {
      const span = spans[i]
      const x = placed(span[START], plot)
      const w = Math.max(1, (span[TIME] / (view.to - view.from)) * plot)
      // Of many within one pixel, one is seen.
      if (x + w < last + 1) continue
      last = x + w
      const kernel = span[KERNEL]
      context.globalAlpha = marked >= 0 && kernel !== marked ? 0.2 : 1
      context.fillStyle = kernel >= 0 ? kernelColour(kernel) : COLOURS[data.kinds[span[KIND]]]
      context.fillRect(x, y + 1, w > 2 ? w - 0.5 : w, ROW - 2)
      if (w < 30) continue
      const begin = Math.max(x, LEFT)
      context.save()
      context.beginPath()
      context.rect(begin, y, x + w - begin - 3, ROW)
      context.clip()
      context.fillStyle = kernel >= 0 ? '#fff' : '#111'
      context.fillText(nameOf(span), begin + 4, y + ROW / 2)
      context.restore()
    }
    context.restore()
    context.globalAlpha = 1
    context.fillStyle = colour('--text')
    context.fillText(name, 6, y + ROW / 2)
    if (name !== '' && at > 0) {
      context.strokeStyle = colour('--line')
      context.beginPath()
      context.moveTo(0, y)
      context.lineTo(width, y)
      context.stroke()
    }
  })
}

const MEMORY_HEIGHT = 130
const most = Math.max(1, ...data.devices.map((_, device) => data.memory.reduce((sum, m) => (m[0] === device ? Math.max(sum, m[2]) : sum), 0)))

function drawMemory() {
  const { context, plot } = prepared(memory, MEMORY_HEIGHT)
  drawTimes(context, plot, MEMORY_HEIGHT)
  const level = (bytes) => MEMORY_HEIGHT - 6 - (bytes / most) * (MEMORY_HEIGHT - HEAD - 16)
  context.fillStyle = colour('--soft')
  context.fillText(metric(most, 'B'), 6, level(most))
  context.fillText('0 B', 6, level(0) - 4)
  context.save()
  context.beginPath()
  context.rect(LEFT, 0, plot, MEMORY_HEIGHT)
  context.clip()
  data.devices.forEach((_, device) => {
    context.strokeStyle = DEVICE_COLOURS[device % DEVICE_COLOURS.length]
    context.lineWidth = 1.5
    context.beginPath()
    let before = null
    for (const [own, time, live] of data.memory) {
      if (own !== device) continue
      const x = placed(time, plot)
      if (before === null) context.moveTo(x, level(live))
      else {
        context.lineTo(x, level(before))
        context.lineTo(x, level(live))
      }
      before = live
    }
    context.stroke()
  })
  context.restore()
}

let waiting = false
function draw() {
  if (waiting) return
  waiting = true
  requestAnimationFrame(() => {
    waiting = false
    drawTimeline()
    drawMemory()
    timeline.dataset.from = view.from
    timeline.dataset.to = view.to
  })
}

function show(from, to) {
  const range = Math.min(Math.max(to - from, 1e-5), data.time || 1e-5)
  const start = Math.min(Math.max(from, 0), Math.max(0, data.time - range))
  view = { from: start, to: start + range }
  draw()
}
function zoom(factor, around) {
  show(around - (around - view.from) * factor, around + (view.to - around) * factor)
}
const move = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from))
const timeAt = (canvas, event) => view.from + ((event.clientX - canvas.getBoundingClientRect().left - LEFT) / (canvas.clientWidth - LEFT)) * (view.to - view.from)

function spanAt(event) {
  const row = rows[Math.floor((event.clientY - timeline.getBoundingClientRect().top - HEAD) / ROW)]
  const time = timeAt(timeline, event)
  if (row === undefined || time < view.from) return undefined
  // Narrow spans are drawn a pixel wide.
  const pixel = (view.to - view.from) / (timeline.clientWidth - LEFT)
  const span = row.spans[firstAfter(row.spans, time - pixel)]
  return span !== undefined && span[START] <= time + pixel ? span : undefined
}
function told(span) {
  const kind = data.kinds[span[KIND]]
  const lines = [nameOf(span), duration(span[TIME]) + ' from ' + duration(span[START]) + ', ' + data.devices[span[DEVICE]]]
  if (kind === 'program' || kind === 'planning') lines.push(span[AMOUNT] + ' operations')
  else if (kind !== 'wait') lines.push(metric(span[AMOUNT], 'B') + (span[TIME] > 0 ? ', ' + NUMBER.format(span[AMOUNT] / span[TIME] / 1e6) + ' GB/s' : ''))
  const kernel = data.kernels[span[KERNEL]]
  if (kernel && kernel.flops !== null && span[TIME] > 0) lines.push(NUMBER.format(kernel.flops / kernel.count / span[TIME] / 1e6) + ' GFLOP/s')
  if (kernel) lines.push('one of ' + kernel.count + ', ' + (100 * kernel.share).toFixed(1) + ' % of the time together')
  return lines.join('\n')
}
function hint(event, text) {
  tip.hidden = text === undefined
  if (text === undefined) return
  tip.textContent = text
  tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + 'px'
  tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + 'px'
}

let dragged = null
for (const canvas of [timeline, memory]) {
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault()
    zoom(Math.exp(event.deltaY / 400), timeAt(canvas, event))
  }, { passive: false })
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId)
    dragged = { x: event.clientX, ...view }
  })
  canvas.addEventListener('pointerup', () => (dragged = null))
  canvas.addEventListener('pointerleave', () => hint(null, undefined))
  canvas.addEventListener('dblclick', () => show(0, data.time))
}
timeline.addEventListener('pointermove', (event) => {
  if (dragged) {
    const by = ((dragged.x - event.clientX) / (timeline.clientWidth - LEFT)) * (dragged.to - dragged.from)
    show(dragged.from + by, dragged.to + by)
  }
  const span = spanAt(event)
  hint(event, span === undefined ? undefined : told(span))
})
timeline.addEventListener('click', (event) => {
  const span = spanAt(event)
  if (span && dragged === null) mark(span[KERNEL])
})
memory.addEventListener('pointermove', (event) => {
  const time = timeAt(memory, event)
  const lines = data.devices.map((name, device) => {
    const at = data.memory.filter((m) => m[0] === device && m[1] <= time).pop()
    return at === undefined ? '' : name + ': ' + metric(at[2], 'B')
  })
  hint(event, duration(Math.max(0, time)) + '\n' + lines.filter(Boolean).join('\n'))
})
timeline.addEventListener('keydown', (event) => {
  const middle = (view.from + view.to) / 2
  const keys = { '+': () => zoom(0.5, middle), '=': () => zoom(0.5, middle), '-': () => zoom(2, middle), 0: () => show(0, data.time), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2) }
  if (keys[event.key] === undefined) return
  event.preventDefault()
  keys[event.key]()
})
window.addEventListener('resize', draw)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)

// The table.
const LIMITS = { bytes: 'memory', flops: 'arithmetic' }
const body = document.getElementById('rows')
const filter = document.getElementById('filter')
let order = { key: 'time', down: true }
const textOf = (kernel) => kernel.name + ' ' + where(kernel) + ' ' + (LIMITS[kernel.limit] || '')
const where = ({ device, lacking }) => (lacking === null ? device : device + ' for ' + lacking)
const percent = (part) => (part === null ? '-' : (100 * part).toFixed(1) + ' %')
function bar(part) {
  const outer = document.createElement('span')
  outer.className = 'bar'
  const inner = document.createElement('i')
  inner.style.width = (100 * Math.min(1, part)).toFixed(1) + '%'
  outer.append(inner)
  return outer
}
function rowOf(kernel, at) {
  const row = document.createElement('tr')
  const swatch = document.createElement('span')
  swatch.className = 'swatch'
  swatch.style.background = kernelColour(at)
  const cells = [
    [swatch, kernel.name],
    [where(kernel)],
    [String(kernel.count)],
    [duration(kernel.time)],
    [percent(kernel.share), bar(kernel.share)],
    [duration(kernel.average)],
    [metric(kernel.bytes, 'B')],
    [NUMBER.format(kernel.bandwidth)],
    [kernel.flops === null ? '-' : metric(kernel.flops, '')],
    [kernel.gflops === null ? '-' : NUMBER.format(kernel.gflops)],
    kernel.ofPeak === null ? ['-'] : [percent(kernel.ofPeak), bar(kernel.ofPeak)],
    [LIMITS[kernel.limit] || '-']
  ]
  for (const content of cells) row.insertCell().append(...content)
  row.cells[6].title = 'read ' + metric(kernel.read, 'B') + ', written ' + metric(kernel.written, 'B')
  row.ariaSelected = String(at === marked)
  row.addEventListener('click', () => mark(at))
  return row
}
function list() {
  const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
  const chosen = data.kernels.map((kernel, at) => [kernel, at]).filter(([kernel]) => wanted.every((word) => textOf(kernel).toLowerCase().includes(word)))
  const { key, down } = order
  const value = (kernel) => (key === 'device' ? where(kernel) : kernel[key])
  // What is not known comes last in either order.
  chosen.sort(([a], [b]) => {
    const [x, y] = [value(a), value(b)]
    if (x === null || y === null) return (x === null) - (y === null)
    const less = typeof x === 'string' ? x.localeCompare(y) : x - y
    return down ? -less : less
  })
  body.replaceChildren(...chosen.map(([kernel, at]) => rowOf(kernel, at)))
  const share = chosen.reduce((sum, [{ share }]) => sum + share, 0)
  document.getElementById('shown').textContent = chosen.length + ' of ' + data.kernels.length + ' kernels, ' + percent(share) + ' of the time'
  for (const button of document.querySelectorAll('th button')) {
    const mine = button.dataset.key === key
    if (mine) button.parentElement.setAttribute('aria-sort', down ? 'descending' : 'ascending')
    else button.parentElement.removeAttribute('aria-sort')
  }
}
function mark(kernel) {
  marked = kernel === marked ? -1 : kernel
  list()
  draw()
}
for (const button of document.querySelectorAll('th button')) {
  button.addEventListener('click', () => {
    const key = button.dataset.key
    const text = key === 'name' || key === 'device' || key === 'limit'
    order = { key, down: order.key === key ? !order.down : !text }
    list()
  })
}
filter.addEventListener('input', list)

const legend = document.getElementById('legend')
const entries = [...Object.entries(COLOURS), ...data.devices.map((name, at) => ['memory of ' + name, DEVICE_COLOURS[at % DEVICE_COLOURS.length]])]
for (const [name, shade] of entries) {
  const entry = document.createElement('span')
  const swatch = document.createElement('i')
  swatch.className = 'swatch'
  swatch.style.background = shade
  entry.append(swatch, name)
  legend.append(entry)
}
list()
draw()
`
