// The other libraries that benches run beside this one: how each is started, and how operands get to them. What a library needs is in a
// folder that setup.ts fills: FERROTENSOR_PEERS, or target/peers. NUMPY_PYTHON names another Python for those written in it.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { startPeer, type Command, type Peer } from './peer.js'

/** This file runs as dist/benches/peers/registry.js. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
/** Sources of the peers. */
export const SOURCES = join(ROOT, 'benches', 'peers')
const WINDOWS = process.platform === 'win32'

/** Where setup.ts puts packages and programs. */
const FOLDER = process.env['FERROTENSOR_PEERS'] ?? join(ROOT, 'target', 'peers')
export const FOLDERS = { python: join(FOLDER, 'python'), node: join(FOLDER, 'node'), rust: join(FOLDER, 'rust') }
/** The Python of its own that setup.ts makes. */
export const OWN_PYTHON = join(FOLDERS.python, WINDOWS ? 'Scripts/python.exe' : 'bin/python')
/** Asked for when a peer is started, since `--setup` may just have made it. */
const interpreter = (): string => process.env['NUMPY_PYTHON'] ?? (existsSync(OWN_PYTHON) ? OWN_PYTHON : WINDOWS ? 'python' : 'python3')
const RUST = join(FOLDERS.rust, 'release', WINDOWS ? 'ferrotensor-bench-peers.exe' : 'ferrotensor-bench-peers')

const SETUP = '`npm run bench gates -- --setup` installs it'
const python = (label: string, library: string): Command => ({
  label,
  get command() {
    return [interpreter(), join(SOURCES, 'peer.py'), library]
  },
  hint: `${SETUP}, or NUMPY_PYTHON names a Python that has it`
})
const node = (label: string, library: string): Command => ({
  label,
  command: [process.execPath, fileURLToPath(new URL('node_peer.js', import.meta.url)), library, FOLDERS.node],
  hint: SETUP
})
const rust = (label: string, library: string): Command => ({ label, command: [RUST, library], hint: SETUP })

/** Every peer, by the name that rows and options use. */
export const PEERS = {
  numpy: python('NumPy', 'numpy'),
  torch: python('PyTorch', 'torch'),
  jax: python('JAX', 'jax'),
  onnxruntime: python('onnxruntime', 'onnxruntime'),
  'onnxruntime-node': node('onnxruntime-node', 'onnxruntime-node'),
  tfjs: node('TensorFlow.js', 'tfjs'),
  'numpy-ts': node('numpy-ts', 'numpy-ts'),
  candle: rust('candle', 'candle'),
  gemm: rust('gemm', 'gemm'),
  faer: rust('faer', 'faer'),
  ndarray: rust('ndarray', 'ndarray')
} as const satisfies Record<string, Command>

export type PeerName = keyof typeof PEERS
export const PEER_NAMES = Object.keys(PEERS) as PeerName[]

/** What the machine could do at best; no library, but it takes its turns as one. */
export const LIMITS: Command = rust('limits of the machine', 'limits')

/** Starts some peers, in their order; what is missing is left out, with a line that says so. */
export async function startPeers<Name extends PeerName>(names: readonly Name[]): Promise<Map<Name, Peer>> {
  const started = new Map<Name, Peer>()
  for (const name of names) {
    const peer = await startPeer(PEERS[name])
    if (peer !== null) started.set(name, peer)
  }
  return started
}

/** Gives `use` a file of tensors that peers can load. */
export async function withFile<T>(operands: Readonly<Record<string, Tensor>>, use: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'ferrotensor-peers-'))
  try {
    const file = join(folder, 'operands.npz')
    ft.io.saveNpzSync(file, operands)
    return await use(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
