// Pixels as PNG (ISO/IEC 15948), which SVG can hold in itself.

import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Red, green, blue and alpha of 8 bits each (section 11.2.2). */
const TRUECOLOR_WITH_ALPHA = 6

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const out = Buffer.alloc(named.length + 8)
  out.writeUInt32BE(data.length, 0)
  named.copy(out, 4)
  out.writeUInt32BE(crc32(named), named.length + 4)
  return out
}

/** Such a picture as a URL that holds it. */
export const pngUrl = (width: number, height: number, rgba: Uint8Array): string => `data:image/png;base64,${png(width, height, rgba).toString('base64')}`

/** A picture of `width` x `height` pixels, of which each is red, green, blue and alpha. */
function png(width: number, height: number, rgba: Uint8Array): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, TRUECOLOR_WITH_ALPHA, 0, 0, 0], 8)
  // Each row begins with its filter: none.
  const rows = Buffer.alloc(height * (1 + 4 * width))
  for (let y = 0; y < height; y++) rows.set(rgba.subarray(4 * y * width, 4 * (y + 1) * width), y * (1 + 4 * width) + 1)
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', new Uint8Array(0))])
}
