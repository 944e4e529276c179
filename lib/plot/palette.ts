// Colours: of several things on one drawing, and of numbers.

/** Told apart by colour-blind people too (M. Okabe and K. Ito, "Color Universal Design", 2008); their black is the text's. */
const CATEGORIES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'] as const
/** The same for terminals of 16 colours, whose own shades are legible on their background. */
const TERMINAL = [34, 31, 32, 35, 33, 36] as const

/** Viridis at nine places (S. van der Walt and N. Smith, matplotlib, 2015): lightness grows evenly. */
const VIRIDIS = [
  [68, 1, 84],
  [71, 45, 123],
  [59, 82, 139],
  [44, 114, 142],
  [33, 145, 140],
  [40, 174, 128],
  [94, 201, 98],
  [173, 220, 48],
  [253, 231, 37]
] as const

/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

/** The colour of the nth thing; they repeat after six. */
export const colorOf = (n: number): string => CATEGORIES[n % CATEGORIES.length] as string

/** A text in the terminal's colour of the nth thing. */
export const painted = (n: number, text: string): string => `\x1b[${TERMINAL[n % TERMINAL.length]}m${text}\x1b[39m`

/** The colour of a part from 0 to 1. */
export function viridis(part: number): Rgb {
  const place = Math.min(1, Math.max(0, part)) * (VIRIDIS.length - 1)
  const before = Math.min(VIRIDIS.length - 2, Math.floor(place))
  const [a, b] = [VIRIDIS[before] as Rgb, VIRIDIS[before + 1] as Rgb]
  return [0, 1, 2].map((i) => Math.round((a[i] as number) + ((b[i] as number) - (a[i] as number)) * (place - before))) as unknown as Rgb
}

/** A grey from 0 (black) to 1 (white). */
export function grey(part: number): Rgb {
  const level = Math.round(255 * Math.min(1, Math.max(0, part)))
  return [level, level, level]
}

/** A colour as SVG writes it. */
export const hex = (rgb: Rgb): string => `#${rgb.map((n) => n.toString(16).padStart(2, '0')).join('')}`

/** Black or white, whichever is read better on a colour (luma of ITU-R BT.601). */
export const readable = ([r, g, b]: Rgb): string => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#000' : '#fff')
