// Shared libraries of Linux (ELF files): whether all bytes that would be mapped are there.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Places in the header of a 64-bit ELF file: gABI, chapter 4. */
const HEADER = { bytes: 64, magic: 0x7f454c46, class: 4, order: 5, table: 0x20, rowBytes: 0x36, rows: 0x38 }
/** 64-bit addresses, little-endian, as all our platforms with ELF files. */
const CLASS64 = 2
const LITTLE_ENDIAN = 1
/** Places in a row of the program header table: gABI, chapter 5. */
const ROW = { bytes: 56, type: 0, offset: 8, size: 0x20 }
/** The type of rows whose part of the file is mapped. */
const LOAD = 1

/**
 * Whether a library ends before the last byte that is mapped of it, as one does whose disk was full. The dynamic linkers of glibc and
 * musl do not compare, and the first look at a page that is not there ends the process (SIGBUS). What is no such library is not judged.
 *
 * @throws {Error} from the system.
 */
export function isTruncated(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER.bytes)
    if (readSync(file, header, 0, header.length, 0) < header.length || header.readUInt32BE(0) !== HEADER.magic) return false
    const foreign = header[HEADER.class] !== CLASS64 || header[HEADER.order] !== LITTLE_ENDIAN || header.readUInt16LE(HEADER.rowBytes) !== ROW.bytes
    if (foreign) return false
    const table = Buffer.alloc(header.readUInt16LE(HEADER.rows) * ROW.bytes)
    if (readSync(file, table, 0, table.length, header.readBigUInt64LE(HEADER.table)) < table.length) return true
    const size = BigInt(fstatSync(file).size)
    for (let row = 0; row < table.length; row += ROW.bytes) {
      const end = table.readBigUInt64LE(row + ROW.offset) + table.readBigUInt64LE(row + ROW.size)
      if (table.readUInt32LE(row + ROW.type) === LOAD && end > size) return true
    }
    return false
  } finally {
    closeSync(file)
  }
}
