// Backends as users see them: `ft.backends`, operations on flat arrays.

export { type FloatArray, type Precision, type SameArray } from './arrays.js'
export { type Backend, type OutJobOptions, type OutOptions } from './backend.js'
export { type BackendInfo } from './engine.js'
export { get, list } from './registry.js'
export { autoSelect, type Workload } from './selection.js'
