// `ft.nn`: the rows of neural networks, layers made of them, what layers start from, and their parameters as PyTorch names them.

export * from '../generated/nn.js'
export { l1Loss, rmsNorm, silu, softsign, tanhshrink } from './complex.js'
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
} from './functions.js'
export { fold, unfold, type BlockOptions } from './blocks.js'
export { ctcLoss, type CtcLossOptions } from './ctc.js'
export {
  cosineSimilarity,
  normalize,
  pairwiseDistance,
  type CosineSimilarityOptions,
  type NormalizeOptions,
  type PairwiseDistanceOptions
} from './distances.js'
export { InstanceNorm, instanceNorm, type InstanceNormLayerOptions, type InstanceNormOptions } from './instance.js'
export { pad, type PadOptions } from './pad.js'
export { channelShuffle, pixelShuffle, pixelUnshuffle } from './pixels.js'
export { affineGrid, gridSample, type AffineGridOptions, type GridSampleOptions } from './sampling.js'
export { groupedQueryAttention, scaledDotProductAttention, type ScaledDotProductAttentionOptions } from './grouped.js'
export { avgPool, maxPool, maxUnpool, type AvgPoolOptions, type MaxPoolIndices, type MaxPoolOptions, type MaxUnpoolOptions } from './pooling.js'
export { gaussianNllLoss, poissonNllLoss, type GaussianNllLossOptions, type PoissonNllLossOptions } from './likelihoods.js'
export { marginRankingLoss, softMarginLoss } from './margins.js'
export { interpolate, type InterpolateOptions } from './resize.js'
export { softplus, type SoftplusOptions } from './softplus.js'
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
} from './losses.js'
export * as init from './init.js'
export { Module, initStateTree, initTree, type ApplyOptions, type InitOptions, type Layer, type Run, type StateOf, type StateOptions, type TrainOptions } from './module.js'
export type { DTypeRule, OfDType, ParamsOf, AppliedDType } from './dtypes.js'
export { Embedding, Linear, bilinear, linear, type EmbeddingOptions, type EmbeddingParams, type LinearParams, type WeightOptions } from './linear.js'
export { Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, type ConvLayerOptions, type ConvTransposeLayerOptions } from './convolution.js'
export { BatchNorm, GroupNorm, LayerNorm, RMSNorm, type BatchNormLayerOptions, type BatchNormState, type LayerNormLayerOptions, type NormOptions, type NormParams, type RMSNormOptions } from './norm.js'
export { ChannelDropout, Dropout, Sequential, type DropoutLayerOptions } from './sequential.js'
export { CELU, ELU, GELU, LeakyReLU, LogSigmoid, Mish, PReLU, ReLU, ReLU6, SELU, SiLU, Sigmoid, Tanh, type PReLUParams } from './activations.js'
export { Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LogSoftmax, Softmax, Softmin, Softplus, Softshrink, Softsign, Tanhshrink } from './shrinking.js'
export { ChannelShuffle, Flatten, Identity, PixelShuffle, PixelUnshuffle, Unflatten } from './reshaping.js'
export { CircularPad, ConstantPad, ReflectionPad, ReplicationPad, ZeroPad } from './pads.js'
export { AdaptiveAvgPool, AdaptiveMaxPool, AvgPool, MaxPool, Upsample, type MaxPoolLayerOptions, type UpsampleOptions } from './pools.js'
export { MultiHeadAttention, type AttendOptions, type AttentionCache, type AttentionOptions, type AttentionParams, type CacheOptions } from './attention.js'
export { GRU, LSTM, RNN, type LSTMState, type RNNOptions, type RecurrentOptions, type RecurrentParams, type Sequence } from './recurrent.js'
export {
  TransformerEncoder,
  TransformerEncoderLayer,
  type EncodeOptions,
  type TransformerEncoderLayerOptions,
  type TransformerEncoderLayerParams,
  type TransformerEncoderOptions,
  type TransformerEncoderParams
} from './transformer.js'
export { loadStateDict, stateDict, type LoadStateOptions } from './state.js'
export * from '../generated/names/nn.js'
