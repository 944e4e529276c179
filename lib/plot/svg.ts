// Elements of SVG.

import { colorOf } from './palette.js'

/** A text inside of an element or attribute: what XML 1.0 has no place for (section 2.2) becomes the sign of a replacement. */
export function escaped(text: string): string {
  const allowed = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
  return allowed.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}

/** A length in pixels, to a hundredth. */
export const px = (n: number): string => String(Math.round(n * 100) / 100)

/** A text; `anchor` says which of its ends is at x. */
export function label(x: number, y: number, text: string, { anchor = 'start', more = '' }: { anchor?: 'start' | 'middle' | 'end'; more?: string } = {}): string {
  return `<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}"${more}>${escaped(text)}</text>`
}

/** About how wide a text of 12 pixels is: sans-serif letters are 0.6 of their size on average. */
export const widthOf = (text: string): number => 7.2 * [...text].length

/** A line between two places. */
export function stroke(x1: number, y1: number, x2: number, y2: number, color: string): string {
  return `<path d="M${px(x1)} ${px(y1)}L${px(x2)} ${px(y2)}" stroke="${color}"/>`
}

/** A filled rectangle; what stands in `title` shows when it is pointed at. */
export function rectangle(x: number, y: number, width: number, height: number, fill: string, title = ''): string {
  const box = `<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" fill="${fill}"`
  return title === '' ? `${box}/>` : `${box}><title>${escaped(title)}</title></rect>`
}

/** Names of several things with their colours, below one another from a place on. */
export function legend(x: number, y: number, names: readonly string[]): string {
  return names.map((name, i) => `${rectangle(x, y + 16 * i, 10, 10, colorOf(i))}${label(x + 15, y + 16 * i + 9, name)}`).join('')
}
