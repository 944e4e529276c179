// Backends of systolic arrays before the conformance suite: the package's own with every tiling and dispatch, one written as plainly as the contract
// reads, and broken ones, which it must refuse. SYSTOLIC_RANDOM says how many random arrays are tried, 30 by default.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'
import { FAULTS, plain } from './plain.js'

const random = Number(process.env['SYSTOLIC_RANDOM'] ?? 30)
const { conformance } = ft.systolic

const BACKENDS: Readonly<Record<string, ft.systolic.BackendUnderTest>> = {
  interpreted: 'interpreted',
  'written plainly': plain(),
  'one tile, pool': { backend: 'partitioned', dispatch: 'pool' },
  'tiles of 1 x 1, pool': { backend: 'partitioned', tileRows: 1, tileCols: 1, tileSize: 1, workers: 3, dispatch: 'pool' },
  'tiles of 1 x 2, pool': { backend: 'partitioned', tileRows: 1, tileCols: 2, tileSize: 2, workers: 2, dispatch: 'pool' },
  'tiles of 2 x 2, tasks': { backend: 'partitioned', tileRows: 2, tileCols: 2, tileSize: 2, workers: 2, dispatch: 'tasks' }
}

for (const [name, backend] of Object.entries(BACKENDS)) {
  for (const { name: about, run } of conformance(backend, { random })) test(`${name}: ${about}`, (t) => t.notThrows(run))
}

for (const fault of FAULTS) {
  test(`a backend with a fault is refused: ${fault}`, (t) => {
    const failed = conformance(plain(fault), { random }).filter(({ run }) => {
      try {
        run()
        return false
      } catch (error) {
        return t.true(error instanceof Error)
      }
    })
    const names = failed.map(({ name }) => name)
    t.true(names.some((name) => !name.startsWith('random')), `no fixed case failed: ${names.join('; ')}`)
    t.true(random < 30 || names.some((name) => name.startsWith('random')), 'no random array failed')
  })
}
