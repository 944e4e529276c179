// A profile as one page of HTML: no file beside it, and nothing is asked of any network.

import { digits, duration, metric, percent } from '../../text/units.js'
import type { Profile } from '../profile.js'
import { SCRIPT } from './page-script.js'
import { STYLE } from './page-style.js'

const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)

/** A value as JSON inside of a script element: no text of it can end the element. */
const embedded = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

/** Microseconds of a time in the page's data, with the digits that a zoom can show. */
const short = (milliseconds: number): number => Number(milliseconds.toFixed(5))

/** What the script draws: names once, spans as rows of numbers. */
function dataOf({ kernels, spans, memory, time, leftOut }: Profile): object {
  const threads = ['JavaScript', ...new Set(spans.map(({ thread }) => thread).filter((thread) => thread !== 'JavaScript'))]
  const devices = [...new Set([...memory, ...spans].map(({ device }) => device))]
  const kinds = ['kernel', 'program', 'planning', 'wait', 'upload', 'download']
  const places = new Map(kernels.map((kernel, at) => [kernel, at]))
  return {
    time,
    leftOut,
    threads,
    devices,
    kinds,
    kernels: kernels.map(({ name, device, lacking, count, time, share, average, read, written, bandwidth, flops, gflops, ofPeak, limit }) => ({
      name,
      device,
      lacking,
      count,
      time,
      share,
      average,
      bytes: read + written,
      read,
      written,
      bandwidth,
      flops,
      gflops,
      ofPeak,
      limit
    })),
    spans: spans.map(({ kind, thread, device, start, time, bytes, operations, kernel }) => [
      kinds.indexOf(kind),
      threads.indexOf(thread),
      devices.indexOf(device),
      kernel === null ? -1 : places.get(kernel),
      short(start),
      short(time),
      bytes + operations
    ]),
    memory: memory.map(({ device, time, live }) => [devices.indexOf(device), short(time), live])
  }
}

/** Columns of the table: the key by which they are sorted, and the heading. */
const COLUMNS = [
  ['name', 'kernel'],
  ['device', 'device'],
  ['count', 'calls'],
  ['time', 'total'],
  ['share', 'share'],
  ['average', 'average'],
  ['bytes', 'bytes'],
  ['bandwidth', 'GB/s'],
  ['flops', 'flop'],
  ['gflops', 'GFLOP/s'],
  ['ofPeak', 'of peak'],
  ['limit', 'limit']
] as const

/** The page of a profile. */
export function pageOf(profile: Profile, version: string): string {
  const { kernels, memory, time, outside, peaks, leftOut } = profile
  const launches = kernels.reduce((sum, { count }) => sum + count, 0)
  const most = memory.reduce((sum, { live }) => Math.max(sum, live), 0)
  const tiles = [
    ['time', duration(time)],
    ['kernels running', time > 0 ? percent((time - outside) / time) : '-'],
    ['launches', String(launches)],
    ['different kernels', String(kernels.length)],
    ['most memory', metric(most, 'B')]
  ]
  const tile = ([name, value]: string[]): string => `<div class="tile"><b>${escaped(value as string)}</b><span>${escaped(name as string)}</span></div>`
  const best = peaks.map(({ device, bandwidth, float32, float64 }) =>
    `<p class="note">${escaped(device)} at best: copy ${digits(bandwidth)} GB/s, float32 ${digits(float32)} GFLOP/s, float64 ${digits(float64)} GFLOP/s</p>`
  )
  const missing = leftOut > 0 ? [`<p class="note">The timeline has the first ${profile.spans.length} spans; ${leftOut} more entries are left out, whose launches are in the table.</p>`] : []
  const headings = COLUMNS.map(([key, heading]) => `<th scope="col"><button type="button" data-key="${key}">${heading}</button></th>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>ferrotensor profile</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>ferrotensor profile</h1><span class="note">version ${escaped(version)}</span></header>
<section class="tiles">${tiles.map(tile).join('')}</section>
<section>
<h2>Timeline</h2>
<p class="note">Wheel or + and - to zoom, drag or arrow keys to move, double click or 0 for all. Click a kernel to mark its launches.</p>
<canvas id="timeline" tabindex="0" role="img" aria-label="What each thread did over time"></canvas>
<h2>Memory</h2>
<canvas id="memory" role="img" aria-label="Bytes in tensors and running programs over time"></canvas>
<p id="legend" class="note"></p>
</section>
<section>
<h2>Kernels</h2>
<p><label>Filter <input id="filter" type="search" placeholder="name, device or limit"></label> <span id="shown" class="note"></span></p>
<div class="wide"><table><thead><tr>${headings.join('')}</tr></thead><tbody id="rows"></tbody></table></div>
${[...best, ...missing].join('\n')}
</section>
<div id="tip" hidden></div>
<script type="application/json" id="data">${embedded(dataOf(profile))}</script>
<script>${SCRIPT}</script>
</body>
</html>
`
}
