// Errors that random calls reach seldom or never, one scenario for each code, and the codes that nothing throws.

import * as ft from 'ferrotensor'

/** Codes without a scenario, and why. */
export const UNREACHABLE = {
  ERR_INTERNAL: 'it would be a bug'
}

/** @type {Record<string, () => unknown>} */
export const SCENARIOS = {
  ERR_SHAPE: () => ft.ones([2]).add(ft.ones([3])),
  ERR_DTYPE: () => ft.tensor([1], { dtype: 'int32' }).add(0.5),
  ERR_INDEX: () => ft.ones([2]).take(ft.tensor([2], { dtype: 'int32' })).dataSync(),
  ERR_DEVICE: () => ft.ones([2]).to('abacus'),
  ERR_BACKEND_UNAVAILABLE: () => ft.ones([2]).to(ft.devices().find((device) => !device.available).name),
  ERR_OUT_OF_MEMORY: () => ft.evaluateSync(ft.ones([1 << 26])),
  ERR_DISPOSED: () => {
    const x = ft.ones([2])
    x.dispose()
    return x.add(1)
  },
  ERR_LINALG: () => ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2])).dataSync(),
  ERR_NAN: () => ft.detectNaN(() => ft.tensor([-1]).log()),
  ERR_FORMAT: () => ft.io.loadNpySync(new Uint8Array(9)),
  ERR_FILE: () => ft.io.loadNpySync('no such folder/x.npy'),
  ERR_UNSUPPORTED: () => ft.tensor([1], { dtype: 'uint8' }).broadcastTo([2 ** 32]).argmax().dataSync(),
  ERR_ARGUMENT: () => ft.ones([2]).sum({ axes: 0 })
}
