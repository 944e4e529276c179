// Backends as users see them: `ft.backends`, operations on flat arrays.

export { type FloatArray, type Precision, type SameArray } from './backends/arrays.js'
export { type Backend, type OutJobOptions, type OutOptions } from './backends/backend.js'
export { type BackendInfo } from './backends/engine.js'
export { get, list } from './backends/registry.js'
export { autoSelect, type Workload } from './backends/selection.js'
