// `ft.optim`: optimisers over trees of parameters, learning rates over time, clipping.

export { adafactor, adam, adamw, lion, rmsprop, sgd, type AdafactorOptions, type AdamOptions, type LionOptions, type RmspropOptions, type SgdOptions } from './optim/rules.js'
export { clipByGlobalNorm, globalNorm } from './optim/clip.js'
export { cosine, oneCycle, stepDecay, warmup, type OneCycleOptions } from './optim/schedules.js'
export type { Optimizer, OptimizerState, Schedule } from './optim/optimizer.js'
export * from './generated/names/optim.js'
