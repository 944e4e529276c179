// Which vendors' libraries of products are installed.

import { spawnSync } from 'node:child_process'

/** In FERROTENSOR_BLAS, with what the loader calls their files. */
const FILES = { openblas: 'libopenblas.so.0', blis: 'libblis.so.4', mkl: 'libmkl_rt.so.2' }

/** The libraries that the tests are run on. */
export function libraries() {
  if (process.platform === 'darwin') return ['accelerate']
  const known = spawnSync('ldconfig', ['-p'], { encoding: 'utf8' }).stdout ?? ''
  return Object.keys(FILES).filter((name) => known.includes(FILES[name]))
}

/** Why the tests cannot run; null if they can. */
export const noBlas = () => (libraries().length > 0 ? null : `none of ${Object.values(FILES).join(', ')} is installed`)
