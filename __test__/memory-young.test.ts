// The loops of memory.test.ts with a young generation of 1 MiB: V8's own collections, elsewhere in the middle of every hundredth step,
// promote tensors that are still in use all the time. A file of its own, so that both run side by side.
// runs on: node

import { LOOPS } from '../benches/memory_loops.js'
import { bounded } from './bounded.js'

for (const name of Object.keys(LOOPS)) bounded(name, ' (a young generation of 1 MiB)', { options: '--max-semi-space-size=1' })
