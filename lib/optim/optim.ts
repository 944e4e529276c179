// `ft.optim`: optimisers over trees of parameters, learning rates over time, clipping.

export { adafactor, adam, adamw, lion, rmsprop, sgd, type AdafactorOptions, type AdamOptions, type LionOptions, type RmspropOptions, type SgdOptions } from './rules.js'
export { adadelta, adagrad, adamax, nadam, radam, type AdadeltaOptions, type AdagradOptions, type NadamOptions } from './adaptive.js'
export { lbfgs, type Lbfgs, type LbfgsOptions, type LbfgsState } from './lbfgs.js'
export { clipByGlobalNorm, clipByValue, globalNorm, type ClipOptions, type GlobalNormOptions } from './clip.js'
export { reduceOnPlateau, type Plateau, type PlateauOptions, type PlateauState } from './plateau.js'
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
} from './schedules.js'
export type { Optimizer, OptimizerState, Schedule } from './optimizer.js'
export * from '../generated/names/optim.js'
