// Layers of a network as the products that an array computes.

import { checkOptions, integer, shown } from '../call.js'
import { ArgumentError } from '../errors.js'
import { sizeGiven } from './space.js'

/** A product of [m, k] and [k, n]. */
export interface ProductLayer {
  readonly name?: string | undefined
  readonly m: number
  readonly n: number
  readonly k: number
}

/** A convolution of images. */
export interface ConvolutionLayer {
  readonly name?: string | undefined
  readonly height: number
  readonly width: number
  readonly channels: number
  readonly filters: number
  readonly filterHeight: number
  readonly filterWidth: number
  /** Distance of windows; 1 by default. */
  readonly stride?: number | undefined
  /** Places at each side; 0 by default. */
  readonly padding?: number | undefined
  /** Images; 1 by default. */
  readonly batch?: number | undefined
}

/** A layer: a product, or a convolution, which is one of windows and filters. */
export type Layer = ProductLayer | ConvolutionLayer

/** A layer as a product: the input is [m, k], the weights are [k, n]. */
export interface Product {
  readonly name: string
  readonly m: number
  readonly n: number
  readonly k: number
  /** Elements of the input in memory: of a convolution fewer than the windows have. */
  readonly inputs: number
}

const SIZES = ['height', 'width', 'channels', 'filters', 'filterHeight', 'filterWidth'] as const
/** Sizes beyond it are a mistake. */
const MOST_SIZE = 2 ** 31
const MOST_LAYERS = 2 ** 16

function bounded(op: string, name: string, value: unknown): number {
  const size = sizeGiven(op, name, value)
  if (size > MOST_SIZE) throw new ArgumentError(`${op}: '${name}' is ${size}, more than ${MOST_SIZE}`)
  return size
}

function productOf(op: string, at: string, value: unknown): Product {
  if (typeof value !== 'object' || value === null) throw new ArgumentError(`${op}: '${at}' must be a product { m, n, k } or a convolution { height, width, channels, filters, ... }, got ${shown(value)}`)
  const names = 'm' in value ? ['name', 'm', 'n', 'k'] : ['name', ...SIZES, 'stride', 'padding', 'batch']
  const given = checkOptions(op, value, names)
  const { name = at } = given
  if (typeof name !== 'string') throw new ArgumentError(`${op}: '${at}.name' must be a text, got ${shown(name)}`)
  const size = (key: string): number => bounded(op, `${at}.${key}`, given[key])
  const checked = (product: Product): Product => {
    const { m, n, k } = product
    if (!Number.isSafeInteger(m * n * k)) throw new ArgumentError(`${op}: '${at}' takes ${m * n * k} products, more than can be counted`)
    return product
  }
  if ('m' in value) {
    const [m, n, k] = [size('m'), size('n'), size('k')]
    return checked({ name, m, n, k, inputs: m * k })
  }
  const [height, width, channels, filters, filterHeight, filterWidth] = SIZES.map(size) as [number, number, number, number, number, number]
  const [stride, batch] = (['stride', 'batch'] as const).map((key) => (given[key] === undefined ? 1 : size(key))) as [number, number]
  const padding = given['padding'] === undefined ? 0 : integer(op, `${at}.padding`, given['padding'])
  if (padding < 0 || padding > MOST_SIZE) throw new ArgumentError(`${op}: '${at}.padding' must not be negative, got ${padding}`)
  const [down, across] = [height + 2 * padding - filterHeight, width + 2 * padding - filterWidth]
  if (down < 0 || across < 0) throw new ArgumentError(`${op}: '${at}' has filters of ${filterHeight} x ${filterWidth} and images of ${height + 2 * padding} x ${width + 2 * padding}, padding included`)
  const windows = (Math.floor(down / stride) + 1) * (Math.floor(across / stride) + 1)
  return checked({ name, m: batch * windows, n: filters, k: channels * filterHeight * filterWidth, inputs: batch * height * width * channels })
}

/** The layers of a call. */
export function layersGiven(op: string, value: unknown): Product[] {
  if (!Array.isArray(value)) return [productOf(op, 'layer', value)]
  if (value.length === 0 || value.length > MOST_LAYERS) throw new ArgumentError(`${op}: 'layers' must have 1 to ${MOST_LAYERS} layers, got ${value.length}`)
  return Array.from({ length: value.length }, (_, i) => productOf(op, `layers[${i}]`, value[i]))
}
