// `ft.nn`: the rows of neural networks, layers made of them, what layers start from, and their parameters as PyTorch names them.

export * from './generated/nn.js'
export { l1Loss, silu, softsign, tanhshrink } from './nn/complex.js'
export { dropout, embedding, glu, type DropoutOptions, type GluOptions } from './nn/functions.js'
export { groupedQueryAttention } from './nn/grouped.js'
export {
  binaryCrossEntropy,
  cosineEmbeddingLoss,
  hingeEmbeddingLoss,
  hingeLoss,
  smoothL1Loss,
  tripletMarginLoss,
  type BinaryCrossEntropyOptions,
  type LossOptions,
  type MarginLossOptions,
  type SmoothL1LossOptions,
  type TripletMarginLossOptions
} from './nn/losses.js'
export * as init from './nn/init.js'
export { Module, initStateTree, initTree, type ApplyOptions, type InitOptions, type Layer, type Run, type StateOf, type StateOptions, type TrainOptions } from './nn/module.js'
export type { DTypeRule, OfDType, ParamsOf, AppliedDType } from './nn/dtypes.js'
export { Embedding, Linear, linear, type EmbeddingOptions, type EmbeddingParams, type LinearParams, type WeightOptions } from './nn/linear.js'
export { Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, type ConvLayerOptions, type ConvTransposeLayerOptions } from './nn/convolution.js'
export { BatchNorm, GroupNorm, LayerNorm, RMSNorm, type BatchNormLayerOptions, type BatchNormState, type LayerNormLayerOptions, type NormOptions, type NormParams, type RMSNormOptions } from './nn/norm.js'
export { Dropout, Sequential, type DropoutLayerOptions } from './nn/sequential.js'
export { MultiHeadAttention, type AttendOptions, type AttentionCache, type AttentionOptions, type AttentionParams, type CacheOptions } from './nn/attention.js'
export { GRU, LSTM, type LSTMState, type RecurrentOptions, type RecurrentParams, type Sequence } from './nn/recurrent.js'
export { loadStateDict, stateDict, type LoadStateOptions } from './nn/state.js'
export * from './generated/names/nn.js'
