// The page of a profile, in a browser: what it shows, that it can be zoomed, sorted and filtered, and that it asks no network for anything.
// runs on: host

import { pathToFileURL } from 'node:url'
import test from 'ava'
import * as ft from 'ferrotensor'
import { browse, CHROMIUM, EXPECTED, type Page } from '../browser.js'
import { folder } from '../io/folder.js'

const file = folder()
const inBrowser = CHROMIUM !== undefined || EXPECTED ? test.serial : test.serial.skip

/** A profile with kernels of several kinds, names that HTML could take for elements, copies, and work of the executor. */
async function profiled(): Promise<ft.Profile> {
  return ft.profile(async () => {
    const x = ft.fromTypedArray(new Float32Array(400 * 400).fill(0.001), [400, 400])
    let y: ft.Tensor = x
    for (let i = 0; i < 6; i++) y = y.matmul(x).add(0.5).tanh()
    await ft.evaluate(y)
    const rows = y.softmax(-1).sort()
    ft.evaluateSync(rows)
    return (await rows.sum(0).data()).length
  })
}

const cells = (page: Page, column: number): Promise<string[]> => page.evaluate(`[...document.querySelectorAll('#rows tr')].map((row) => row.cells[${column}].innerText)`)
const frame = (page: Page): Promise<void> => page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))')
const view = (page: Page): Promise<[number, number]> => page.evaluate(`[Number(timeline.dataset.from), Number(timeline.dataset.to)]`)

test('the page is one document that names no address but itself', async (t) => {
  const html = (await profiled()).html()
  t.true(html.startsWith('<!doctype html>') && html.trimEnd().endsWith('</html>'))
  t.notRegex(html, /https?:|\bsrc=|\bhref=|@import|url\(/)
  t.regex(html, /Content-Security-Policy" content="default-src 'none'/)
  // The data end where they should, whatever kernels are called.
  t.is(html.match(/<\/script>/g)?.length, 2)
})

inBrowser('a browser shows the timeline, memory and the table, without errors and without the network', async (t) => {
  const p = await profiled()
  const path = file('profile.html')
  await p.saveHtml(path)
  await browse(pathToFileURL(path).href, async (page) => {
    t.is(await page.evaluate('document.title'), 'ferrotensor profile')
    t.deepEqual(await page.evaluate(`[...document.querySelectorAll('h2')].map((h) => h.textContent)`), ['Timeline', 'Memory', 'Kernels'])
    t.is((await cells(page, 0)).length, p.kernels.length)
    // Sorted by time, as the profile is.
    t.deepEqual(await cells(page, 0), p.kernels.map(({ name }) => name))
    t.deepEqual(await cells(page, 2), p.kernels.map(({ count }) => String(count)))
    const shares = (await cells(page, 4)).map(Number.parseFloat)
    shares.forEach((share, i) => t.true(Math.abs(share - 100 * (p.kernels[i] as ft.KernelProfile).share) <= 0.051))
    await frame(page)
    // Pixels of both pictures that are no background.
    for (const id of ['timeline', 'memory']) {
      const drawn = await page.evaluate<number>(`(() => { const c = document.getElementById('${id}'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((x, i) => i % 4 === 3 && x > 0).length })()`)
      t.true(drawn > 500, `${id}: ${drawn}`)
    }
    t.deepEqual(page.complaints, [])
    t.deepEqual(page.requests, [])
    t.true((await page.screenshot()).length > 20_000)
  })
})

inBrowser('the timeline zooms around the mouse, moves, says what is there, and marks the launches of a kernel', async (t) => {
  const p = await profiled()
  const path = file('timeline.html')
  await p.saveHtml(path)
  await browse(pathToFileURL(path).href, async (page) => {
    await frame(page)
    const [from, to] = await view(page)
    t.is(from, 0)
    t.true(Math.abs(to - p.time) < 1e-3)
    const box = await page.evaluate<{ x: number; y: number; width: number; height: number }>('timeline.getBoundingClientRect().toJSON()')
    // The longest launch of what computes, in the middle of it: where its thread's first row may be is tried from above.
    const computing = p.kernels.filter(({ flops }) => flops !== null).map(({ name }) => name)
    const longest = p.spans.filter(({ kind, name }) => kind === 'kernel' && computing.includes(name)).reduce((a, b) => (a.time > b.time ? a : b))
    const x = box.x + 120 + ((longest.start + longest.time / 2) / p.time) * (box.width - 120)
    let seen = ''
    for (let y = box.y + 25; y < box.y + box.height && !seen.startsWith(`${longest.name}\n`); y += 9) {
      await page.mouse('mouseMoved', x, y)
      seen = await page.evaluate<string>('tip.hidden ? "" : tip.textContent')
    }
    t.true(seen.startsWith(`${longest.name}\n`), seen)
    t.regex(seen, /GB\/s\n.+ GFLOP\/s\none of \d+, [\d.]+ % of the time together$/)

    await page.mouse('mouseWheel', x, box.y + 30, -400)
    await frame(page)
    const [low, high] = await view(page)
    const middle = longest.start + longest.time / 2
    t.true(high - low < 0.5 * (to - from) && low < middle && middle < high, `${low} to ${high}`)
    await page.evaluate('timeline.focus()')
    await page.key('0')
    await frame(page)
    t.deepEqual(await view(page), [from, to])

    await page.evaluate(`document.querySelector('#rows tr').click()`)
    t.deepEqual(await page.evaluate(`[...document.querySelectorAll('#rows tr')].map((row) => row.ariaSelected)`), p.kernels.map((_, i) => String(i === 0)))
    t.deepEqual(page.complaints, [])
  })
})

inBrowser('the table is sorted by any column, in both orders, and filtered by words', async (t) => {
  const p = await profiled()
  const path = file('table.html')
  await p.saveHtml(path)
  await browse(pathToFileURL(path).href, async (page) => {
    const names = (sorted: readonly ft.KernelProfile[]): string[] => sorted.map(({ name }) => name)
    await page.evaluate(`document.querySelector('[data-key=average]').click()`)
    t.deepEqual(await cells(page, 0), names([...p.kernels].sort((a, b) => b.average - a.average)))
    await page.evaluate(`document.querySelector('[data-key=average]').click()`)
    t.deepEqual(await cells(page, 0), names([...p.kernels].sort((a, b) => a.average - b.average)))
    t.is(await page.evaluate(`document.querySelector('th[aria-sort]').innerText.trim()`), 'average')
    // What is not known is last in both orders: operations of a sort.
    for (let i = 0; i < 2; i++) {
      await page.evaluate(`document.querySelector('[data-key=flops]').click()`)
      t.is((await cells(page, 8)).at(-1), '-')
    }
    await page.evaluate(`filter.value = 'MATMUL cpu'; filter.dispatchEvent(new Event('input'))`)
    t.deepEqual(await cells(page, 0), names(p.kernels.filter(({ name }) => name.includes('matmul'))))
    t.regex(await page.evaluate<string>('shown.textContent'), new RegExp(`^\\d+ of ${p.kernels.length} kernels, [\\d.]+ % of the time$`))
    await page.evaluate(`filter.value = 'nothing has this name'; filter.dispatchEvent(new Event('input'))`)
    t.deepEqual(await cells(page, 0), [])
    t.deepEqual(page.complaints, [])
  })
})

inBrowser('a profile of nothing is a page too, and one that breaks its policy is seen', async (t) => {
  const path = file('empty.html')
  await ft.profile(() => 1).saveHtml(path)
  await browse(pathToFileURL(path).href, async (page) => {
    await frame(page)
    t.deepEqual(await cells(page, 0), [])
    t.deepEqual([page.complaints, page.requests], [[], []])
    // The test's own eyes: what a page should not do is noticed.
    await page.evaluate(`document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/x.png' })); setTimeout(() => { throw new Error('mine') }); new Promise((resolve) => setTimeout(resolve, 200))`)
    t.true(page.complaints.some((text) => text.includes('mine')) && page.complaints.some((text) => text.includes('Content Security Policy')), page.complaints.join('\n'))
  })
})
