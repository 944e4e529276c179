// `ft.optim`: optimisers over trees of parameters, learning rates over time, clipping.

export { adafactor, adam, adamw, lion, rmsprop, sgd, type AdafactorOptions, type AdamOptions, type LionOptions, type RmspropOptions, type SgdOptions } from './optim/rules.js'
export { adadelta, adagrad, adamax, nadam, radam, type AdadeltaOptions, type AdagradOptions, type NadamOptions } from './optim/adaptive.js'
export { lbfgs, type Lbfgs, type LbfgsOptions, type LbfgsState } from './optim/lbfgs.js'
export { clipByGlobalNorm, clipByValue, globalNorm, type ClipOptions, type GlobalNormOptions } from './optim/clip.js'
export { reduceOnPlateau, type Plateau, type PlateauOptions, type PlateauState } from './optim/plateau.js'
export {
  cosine,
  cosineRestarts,
  exponentialDecay,
  linear,
  multiStepDecay,
  oneCycle,
  polynomial,
  stepDecay,
  warmup,
  type CosineRestartsOptions,
  type OneCycleOptions
} from './optim/schedules.js'
export type { Optimizer, OptimizerState, Schedule } from './optim/optimizer.js'
export * from './generated/names/optim.js'
