// A page in headless Chromium, driven over its own protocol (Chrome DevTools Protocol, by `--remote-debugging-pipe`: JSON that ends with NUL): what it
// shows, what it reports, and what it asks the network for.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The command of a Chromium that is installed; undefined where there is none. */
export const CHROMIUM = NAMES.find((name) => spawnSync(name, ['--version'], { timeout: 20_000 }).status === 0)

/** Whether there must be one. */
export const EXPECTED = (process.env['EXPECT_TOOLS'] ?? '').split(',').includes('chromium')

/** A page that is open. */
export interface Page {
  /** What an expression of the page gives, which JSON can hold. */
  readonly evaluate: <T>(expression: string) => Promise<T>
  /** Sends an event of a mouse, whose coordinates are those of the window. */
  readonly mouse: (type: 'mouseMoved' | 'mousePressed' | 'mouseReleased' | 'mouseWheel', x: number, y: number, deltaY?: number) => Promise<void>
  /** Types a key. */
  readonly key: (key: string) => Promise<void>
  /** A picture of the window, as PNG. */
  readonly screenshot: () => Promise<Buffer>
  /** Errors and warnings of scripts, of the console, and of a policy that was broken. */
  readonly complaints: readonly string[]
  /** What was asked for beside the page itself. */
  readonly requests: readonly string[]
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>

/** Messages over the pipe of a browser. */
function protocol(to: Writable, from: Readable, heard: (message: Message) => void): { readonly send: (method: string, params?: object, session?: string) => Promise<Record<string, unknown>>; readonly end: (why: Error) => void } {
  let rest = ''
  let next = 1
  const waiting = new Map<number, { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }>()
  from.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\0')
    rest = parts.pop() as string
    for (const part of parts) {
      const message = JSON.parse(part) as Message
      const asked = message.id === undefined ? undefined : waiting.get(message.id)
      if (asked === undefined) heard(message)
      else if (message.error === undefined) asked.resolve(message.result ?? {})
      else asked.reject(new Error(message.error.message))
      if (message.id !== undefined) waiting.delete(message.id)
    }
  })
  const send = (method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const id = next++
      waiting.set(id, { resolve, reject })
      to.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`)
    })
  const end = (why: Error): void => {
    for (const { reject } of waiting.values()) reject(why)
  }
  return { send, end }
}

function pageOf(send: Send, complaints: readonly string[], requests: readonly string[]): Page {
  return {
    complaints,
    requests,
    async evaluate<T>(expression: string) {
      const { result, exceptionDetails } = (await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })) as { result: { value: T }; exceptionDetails?: object }
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      return result.value
    },
    async mouse(type, x, y, deltaY = 0) {
      const button = type === 'mousePressed' || type === 'mouseReleased' ? { button: 'left', clickCount: 1 } : {}
      await send('Input.dispatchMouseEvent', { type, x, y, ...button, ...(type === 'mouseWheel' ? { deltaX: 0, deltaY } : {}) })
    },
    async key(key) {
      for (const type of ['keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, key, ...(key.length === 1 && type === 'keyDown' ? { text: key } : {}) })
    },
    async screenshot() {
      return Buffer.from((await send('Page.captureScreenshot'))['data'] as string, 'base64')
    }
  }
}

/** Opens a page in a window of 1400 x 1000 pixels, looks at it, and ends the browser. */
export async function browse<T>(url: string, look: (page: Page) => Promise<T>): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), 'ferrotensor-browser-'))
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', '--window-size=1400,1000', `--user-data-dir=${profile}`]
  const browser = spawn(CHROMIUM as string, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => browser.once('exit', () => resolve()))
  const complaints: string[] = []
  const requests: string[] = []
  let loaded = (): void => {}
  const ready = new Promise<void>((resolve) => (loaded = resolve))
  const { send, end } = protocol(browser.stdio[3] as Writable, browser.stdio[4] as Readable, ({ method, params = {} }) => {
    if (method === 'Page.loadEventFired') loaded()
    if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded') complaints.push(JSON.stringify(params))
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params['type'] as string)) complaints.push(JSON.stringify(params))
    if (method === 'Network.requestWillBeSent') {
      const { url: asked } = params['request'] as { url: string }
      if (asked !== url) requests.push(asked)
    }
  })
  browser.once('error', end)
  browser.once('exit', () => end(new Error('the browser has ended')))
  try {
    const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
    const own: Send = (method, params) => send(method, params, sessionId as string)
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await own(`${domain}.enable`)
    await own('Page.navigate', { url })
    await ready
    return await look(pageOf(own, complaints, requests))
  } finally {
    // It ends its own processes; the answer may get lost with it.
    void send('Browser.close').catch(() => {})
    await ended
    for (const stream of browser.stdio) stream?.destroy()
    rmSync(profile, { recursive: true, force: true })
  }
}
