// Hostile bytes through the whole way: files cut anywhere and files with any byte changed give tensors that can be read, or a
// FormatError. Rust tries every value of every byte (crates/io/tests/hostile.rs); here each byte has a few.
// runs on: host; bytes are read by our own code on the host

import test from 'ava'
import * as ft from 'ferrotensor'

const { io } = ft
const tensors = { a: ft.tensor([1, 2], { dtype: 'int16' }), b: ft.tensor([true, false, true]) }
const first = tensors.a

const FORMATS: Readonly<Record<string, { bytes: Uint8Array; load: (bytes: Uint8Array) => ft.Tensor[] }>> = {
  npy: { bytes: io.encodeNpySync(first), load: (bytes) => [io.loadNpySync(bytes)] },
  npz: { bytes: io.encodeNpzSync(tensors), load: (bytes) => Object.values(io.loadNpzSync(bytes)) },
  'compressed npz': { bytes: io.encodeNpzSync(tensors, { compressed: true }), load: (bytes) => Object.values(io.loadNpzSync(bytes)) },
  safetensors: { bytes: io.encodeSafetensorsSync(tensors, { metadata: { k: 'v' } }), load: (bytes) => Object.values(io.loadSafetensorsSync(bytes)) },
  text: { bytes: io.encodeTextSync(first), load: (bytes) => [io.loadTextSync(bytes)] },
  table: { bytes: new TextEncoder().encode('a,"b ""c"""\r\n1,"x, é"\n16777217,\n'), load: (bytes) => Object.values(io.loadTableSync(bytes)).filter(ft.isTensor) }
}

for (const [name, { bytes, load }] of Object.entries(FORMATS)) {
  const outcome = (changed: Uint8Array): string => {
    try {
      for (const x of load(changed)) x.toBytes()
      return 'ok'
    } catch (error) {
      if (error instanceof ft.FormatError) return 'refused'
      if (error instanceof ft.UnsupportedError && name === 'safetensors') return 'refused'
      throw error
    }
  }

  test(`${name} cut at every byte`, (t) => {
    t.is(outcome(bytes), 'ok')
    for (let end = 0; end < bytes.length; end++) {
      const found = outcome(bytes.slice(0, end))
      if (name !== 'text' && name !== 'table') t.is(found, 'refused', `cut to ${end} of ${bytes.length} bytes`)
    }
    t.pass()
  })

  test(`${name} with every byte changed`, (t) => {
    const seen = new Set<string>()
    for (let at = 0; at < bytes.length; at++) {
      const was = bytes[at] as number
      for (const value of [0, 255, was ^ 1, was ^ 128, was + 1, 0x20, 0x39, 0x2d]) {
        const changed = bytes.slice()
        changed[at] = value
        seen.add(outcome(changed))
      }
    }
    t.deepEqual([...seen].sort(), ['ok', 'refused'])
  })
}
