// How ava runs the JavaScript tests: which files, in what order, how many at a time.

import { availableParallelism } from 'node:os'

/**
 * Files of more than about five seconds begin first, the longest ones before the others: at the end none is left that keeps one core
 * busy alone. An order and no more: what is not here begins later.
 */
const LONG = [
  'memory', 'memory-young', 'workers', 'vulkan', 'examples/digits', 'guides', 'no-binary/absent', 'no-binary/damaged', 'cli/files', 'cli/machine', 'cli/usage', 'backends/values',
  'exit', 'numpy-indexing', 'cli/terminal', 'rejection', 'consumer', 'backends/blas'
]

/** The place of a compiled file, whose path may be of any system. */
function place(path) {
  const at = LONG.findIndex((name) => path.replaceAll('\\', '/').endsWith(`/__test__/${name}.test.js`))
  return at < 0 ? LONG.length : at
}

export default {
  files: ['dist/__test__/**/*.test.js'],
  workerThreads: false,
  timeout: '2m',
  // One more than there are cores: tests wait for processes, timers and devices.
  concurrency: availableParallelism() + 1,
  sortTestFiles: (a, b) => place(a) - place(b) || (a < b ? -1 : 1)
}
