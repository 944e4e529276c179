// `ft.nn`: the rows of neural networks, layers made of them, what layers start from, and their parameters as PyTorch names them.

export * from './generated/nn.js'
export { l1Loss, silu, softsign, tanhshrink } from './nn/complex.js'
export {
  channelDropout,
  dropout,
  embedding,
  glu,
  gumbelSoftmax,
  softmin,
  threshold,
  type DropoutOptions,
  type EmbedOptions,
  type GluOptions,
  type GumbelSoftmaxOptions,
  type SoftminOptions
} from './nn/functions.js'
export { fold, unfold, type BlockOptions } from './nn/blocks.js'
export { ctcLoss, type CtcLossOptions } from './nn/ctc.js'
export {
  cosineSimilarity,
  normalize,
  pairwiseDistance,
  type CosineSimilarityOptions,
  type NormalizeOptions,
  type PairwiseDistanceOptions
} from './nn/distances.js'
export { InstanceNorm, instanceNorm, type InstanceNormLayerOptions, type InstanceNormOptions } from './nn/instance.js'
export { pixelShuffle, pixelUnshuffle } from './nn/pixels.js'
export { affineGrid, gridSample, type AffineGridOptions, type GridSampleOptions } from './nn/sampling.js'
export { groupedQueryAttention, scaledDotProductAttention, type ScaledDotProductAttentionOptions } from './nn/grouped.js'
export { avgPool, maxPool, maxUnpool, type AvgPoolOptions, type MaxPoolIndices, type MaxPoolOptions, type MaxUnpoolOptions } from './nn/pooling.js'
export { interpolate, type InterpolateOptions } from './nn/resize.js'
export { softplus, type SoftplusOptions } from './nn/softplus.js'
export {
  binaryCrossEntropy,
  binaryCrossEntropyWithLogits,
  cosineEmbeddingLoss,
  hingeEmbeddingLoss,
  hingeLoss,
  smoothL1Loss,
  tripletMarginLoss,
  type BinaryCrossEntropyOptions,
  type BinaryCrossEntropyWithLogitsOptions,
  type LossOptions,
  type MarginLossOptions,
  type SmoothL1LossOptions,
  type TripletMarginLossOptions
} from './nn/losses.js'
export * as init from './nn/init.js'
export { Module, initStateTree, initTree, type ApplyOptions, type InitOptions, type Layer, type Run, type StateOf, type StateOptions, type TrainOptions } from './nn/module.js'
export type { DTypeRule, OfDType, ParamsOf, AppliedDType } from './nn/dtypes.js'
export { Embedding, Linear, bilinear, linear, type EmbeddingOptions, type EmbeddingParams, type LinearParams, type WeightOptions } from './nn/linear.js'
export { Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, type ConvLayerOptions, type ConvTransposeLayerOptions } from './nn/convolution.js'
export { BatchNorm, GroupNorm, LayerNorm, RMSNorm, type BatchNormLayerOptions, type BatchNormState, type LayerNormLayerOptions, type NormOptions, type NormParams, type RMSNormOptions } from './nn/norm.js'
export { ChannelDropout, Dropout, Sequential, type DropoutLayerOptions } from './nn/sequential.js'
export { CELU, ELU, GELU, LeakyReLU, LogSigmoid, Mish, PReLU, ReLU, ReLU6, SELU, SiLU, Sigmoid, Tanh, type PReLUParams } from './nn/activations.js'
export { Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LogSoftmax, Softmax, Softmin, Softplus, Softshrink, Softsign, Tanhshrink } from './nn/shrinking.js'
export { Flatten, Identity, PixelShuffle, PixelUnshuffle, Unflatten } from './nn/reshaping.js'
export { AdaptiveAvgPool, AdaptiveMaxPool, AvgPool, MaxPool, Upsample, type MaxPoolLayerOptions, type UpsampleOptions } from './nn/pools.js'
export { MultiHeadAttention, type AttendOptions, type AttentionCache, type AttentionOptions, type AttentionParams, type CacheOptions } from './nn/attention.js'
export { GRU, LSTM, RNN, type LSTMState, type RNNOptions, type RecurrentOptions, type RecurrentParams, type Sequence } from './nn/recurrent.js'
export {
  TransformerEncoder,
  TransformerEncoderLayer,
  type EncodeOptions,
  type TransformerEncoderLayerOptions,
  type TransformerEncoderLayerParams,
  type TransformerEncoderOptions,
  type TransformerEncoderParams
} from './nn/transformer.js'
export { loadStateDict, stateDict, type LoadStateOptions } from './nn/state.js'
export * from './generated/names/nn.js'
