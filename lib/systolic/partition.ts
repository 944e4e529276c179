// An array divided into tiles: rectangles of a grid, stretches of another space. Each element is in exactly one.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { partsOf, type SystolicArray } from './array.js'
import { sizeGiven, type Coord, type Space } from './space.js'

/** How an array is divided. */
export interface TileOptions {
  /** Rows of a tile of a grid; all by default. */
  readonly tileRows?: number | undefined
  /** Columns of a tile of a grid; all by default. */
  readonly tileCols?: number | undefined
  /** Elements of a tile of another space, in the order of their coordinates; all by default. */
  readonly tileSize?: number | undefined
}

/** A part of an array. */
export interface Tile {
  /** The first coordinate. */
  readonly id: Coord
  readonly coords: readonly Coord[]
}

/** The elements of each tile, by number in ascending order. Tiles at the last edges may be smaller. */
export function tilesOf(op: string, space: Space, { tileRows, tileCols, tileSize }: TileOptions): number[][] {
  const sizes = Object.entries({ tileRows, tileCols, tileSize }).filter(([, size]) => size !== undefined)
  const wrong = sizes.find(([name]) => (name === 'tileSize') === (space.kind === 'grid'))
  if (wrong !== undefined) throw new ArgumentError(`${op}: '${wrong[0]}' is for ${space.kind === 'grid' ? 'spaces other than grids; a grid has tileRows and tileCols' : 'grids; other spaces have tileSize'}`)
  const [high, wide, many] = [[tileRows, 'tileRows', space.rows], [tileCols, 'tileCols', space.cols], [tileSize, 'tileSize', space.coords.length]].map(([size, name, all]) => (size === undefined ? (all as number) : sizeGiven(op, name as string, size))) as [number, number, number]
  const across = Math.ceil(space.cols / wide)
  const tiles: number[][] = []
  space.coords.forEach((coord, i) => {
    const tile = space.kind === 'grid' ? Math.floor((coord[0] as number) / high) * across + Math.floor((coord[1] as number) / wide) : Math.floor(i / many)
    ;(tiles[tile] ??= []).push(i)
  })
  return tiles
}

/**
 * The tiles that a partitioned run divides an array into, by their first coordinates.
 *
 * @throws {ArgumentError} for sizes that are no whole numbers from 1.
 * @example
 * ```ts
 * ft.systolic.tiles(ft.systolic.array(3, 2), { tileRows: 2 }).map(({ coords }) => coords.length) // [4, 2]
 * ```
 */
export function tiles(array: SystolicArray, options?: TileOptions): Tile[] {
  const op = 'systolic.tiles'
  const { space } = partsOf(op, array)
  const found = tilesOf(op, space, checkOptions(op, options, ['tileRows', 'tileCols', 'tileSize']))
  return found.map((tile) => {
    const coords = tile.map((i) => space.coords[i] as Coord)
    return { id: coords[0] as Coord, coords }
  })
}
