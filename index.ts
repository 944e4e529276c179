// The public surface of the package: what `import * as ft from 'ferrotensor'` sees.

// The tensor first: modules below refer to it, and its class must exist before anything calls them.
export { Tensor } from './lib/tensor.js'

export * from './lib/generated/functions.js'
export * from './lib/generated/names/root.js'
export * as backends from './lib/backends.js'
export * as data from './lib/data.js'
export * as einops from './lib/einops.js'
export * as fft from './lib/fft.js'
export * as io from './lib/io.js'
export * as linalg from './lib/linalg.js'
export * as nn from './lib/nn.js'
export * as optim from './lib/optim.js'
export * as random from './lib/random.js'
export * as signal from './lib/signal.js'
export * as special from './lib/generated/names/special.js'
export * as tree from './lib/tree.js'

export {
  asarray,
  emptyLike,
  fromTypedArray,
  fullLike,
  onesLike,
  tensor,
  zerosLike,
  type CreationOptions,
  type DTypeOfData,
  type TensorData,
  type TensorOptions
} from './lib/creation.js'
export { arange, linspace, logspace, meshgrid, type LinspaceOptions, type LogspaceOptions, type MeshgridOptions } from './lib/ranges.js'
export { associativeScan, reduce, windowReduce, type AssociativeScanOptions, type ReduceOptions, type WindowReduceOptions } from './lib/combine.js'
export { dot, dsplit, flatnonzero, hsplit, ndim, norm, shape, size, transpose, unique, vdot, vsplit, type NormOrdOptions, type Ord, type UniqueOf, type UniqueReturns } from './lib/numpy.js'
export {
  adjoint, bucketize, expand, gather, indexSelect, isComplex, isFloatingPoint, isTensor, maskedFill, maskedSelect, narrow, numel, permute, select,
  t, view, type BucketizeOptions, type Numbers
} from './lib/pytorch.js'
export { diagEmbed, type DiagEmbedOptions } from './lib/diagonal.js'
export { packbits, unpackbits, type PackbitsOptions, type UnpackbitsOptions } from './lib/arrays/bits.js'
export { exp2, gradient, logaddexp, logsumexp, sigmoid, sinc } from './lib/arrays/complex.js'
export { choose, piecewise, type ChooseOptions, type Piece } from './lib/arrays/choices.js'
export {
  ediff1d, histc, histogram2d, histogramdd, type Ediff1dOptions, type HistcOptions, type Histogram2d, type Histogramdd, type HistogramddOptions
} from './lib/arrays/counts.js'
export { cdist, dist, renorm, type CdistOptions } from './lib/arrays/distances.js'
export {
  addcdiv, addcmul, arrayEquiv, clamp, iscomplexobj, isreal, isrealobj, isscalar, spacing, unwrap, type AddcmulOptions, type ClampOptions, type UnwrapOptions
} from './lib/arrays/elementwise.js'
export { logdet } from './lib/arrays/factors.js'
export {
  diagIndices, diagflat, fromfunction, geomspace, indices, tri, trilIndices, triuIndices, vander, type DiagIndicesOptions, type TriangleOptions,
  type VanderOptions
} from './lib/arrays/grids.js'
export {
  append, block, blockDiag, delete, fromiter, insert, resize, rollaxis, trimZeros, type Blocks, type FromiterOptions, type Places, type TrimZerosOptions
} from './lib/arrays/joining.js'
export type { AxisKeptOptions, AxisOptions } from './lib/arrays/options.js'
export { aminmax, divmod, frexp, modf, stdMean, varMean } from './lib/arrays/pairs.js'
export {
  cartesianProd, combinations, ravelMultiIndex, unravelIndex, type CombinationsOptions, type RavelMultiIndexOptions
} from './lib/arrays/positions.js'
export { addbmm, addmm, addmv, addr, baddbmm, chainMatmul, type Added, type AddmmOptions } from './lib/arrays/products.js'
export { floatPower, ldexp } from './lib/arrays/powers.js'
export { round, type RoundOptions } from './lib/arrays/rounding.js'
export { cummax, cummin, logcumsumexp, mode, nanargmax, nanargmin, type Placed } from './lib/arrays/running.js'
export { applyAlongAxis } from './lib/arrays/lines.js'
export { concat, expandDims, flatten, repeat, tile, type ConcatOptions } from './lib/arrays/shapes.js'
export { argpartition, compress, extract, lexsort, msort, partition, uniqueConsecutive } from './lib/arrays/sorting.js'
export {
  fillDiagonal, indexAdd, indexCopy, indexFill, indexPut, maskedScatter, place, put, putmask, scatterReduce, type FillDiagonalOptions, type IndexAddOptions,
  type Reduction, type ScatterReduceOptions
} from './lib/arrays/updates.js'
export { cov, trapezoid, type CovOptions } from './lib/arrays/weighted.js'
export { maxWithIndices, minWithIndices, type Extremes, type ExtremesOptions } from './lib/extremes.js'
export { broadcastArrays, broadcastShapes } from './lib/broadcasting.js'
export { arraySplit, chunk, split, unstack, type PiecesOf, type PiecesOptions } from './lib/pieces.js'
export {
  argwhere,
  argwhereAsync,
  intersect1d,
  intersect1dAsync,
  isin,
  nonzero,
  nonzeroAsync,
  setdiff1d,
  setdiff1dAsync,
  setxor1d,
  setxor1dAsync,
  union1d,
  union1dAsync,
  uniqueAll,
  uniqueAllAsync,
  uniqueCounts,
  uniqueCountsAsync,
  uniqueInverse,
  uniqueInverseAsync,
  uniqueValues,
  uniqueValuesAsync,
  type IsinOptions,
  type Unique,
  type UniqueOptions
} from './lib/sets.js'
export {
  bincount,
  bincountAsync,
  digitize,
  histogram,
  histogramBinEdges,
  type BincountOptions,
  type CountOf,
  type DigitizeOptions,
  type Histogram,
  type HistogramBinEdgesOptions,
  type HistogramOptions
} from './lib/histogram.js'
export * from './lib/constants.js'
export { arrayNamespaceInfo, canCast, finfo, iinfo, isdtype, resultType, type ArrayNamespaceInfo, type FInfo, type IInfo, type Kind, type ResultOf, type Typed } from './lib/dtypes.js'
export { polyfit, polyval, roots, type PolyfitOptions } from './lib/polynomial.js'
export { checkpoint, customGradient } from './lib/custom-gradient.js'
export { hessian, jacobian } from './lib/jacobian.js'
export { grad, jvp, stopGradient, valueAndGrad, vjp, type GradOptions, type Wanted } from './lib/gradient.js'
export { jit, type JitOptions, type Traces } from './lib/jit.js'
export { vmap, type Axes, type VmapOptions } from './lib/vmap.js'
export { detectNaN } from './lib/nan.js'
export { Slice, slice } from './lib/slice.js'
export { devices, setDefaultDevice, setThreads, type AbsentDevice, type PresentDevice } from './lib/devices.js'
export { memory, setMemoryLimit, trim, type MemoryInfo } from './lib/memory.js'
export { evaluate, evaluateSync, type ArrayOfRank, type NestedArray } from './lib/reading.js'
export { plan, Plan, type PlannedKernel, type Rejection } from './lib/plan.js'
export { profile, Profile, type DevicePeak, type KernelProfile } from './lib/profile.js'
export type { MemorySample, ProfileSpan, SpanKind } from './lib/profile/spans.js'
export type { Trace, TraceEvent } from './lib/profile/trace.js'
export { scope, scopeAsync, type AsyncScope } from './lib/scope.js'
export { fromShared, type SharedTensor } from './lib/share.js'
export { config, resetStats, stats, strict, type Config, type Stats, type Strictness } from './lib/stats.js'
export {
  ArgumentError,
  BackendUnavailableError,
  DTypeError,
  DeviceError,
  DisposedError,
  FileError,
  FormatError,
  IndexError,
  InternalError,
  LinAlgError,
  NaNError,
  OutOfMemoryError,
  ShapeError,
  TensorError,
  UnsupportedError
} from './lib/errors.js'

export type {
  Complex,
  ComplexOf,
  DType,
  DataOf,
  FloatDType,
  FloatOf,
  FloatOrComplexDType,
  IndexDType,
  IndexOrMaskDType,
  IntegerDType,
  IntegerOrBoolDType,
  IntegerOrFloatDType,
  ItemOf,
  NoCommonDType,
  NumericDType,
  Promote,
  RealDType,
  RealOf,
  Refused,
  StorageOf,
  SumOf,
  Takes,
  TakesTable
} from './lib/generated/dtypes.js'
export type { PositionDType } from './lib/indices.js'
export type { IndexItem, Indices } from './lib/indexing.js'
export type { DeviceMemory, Fallback, Rewriting } from './lib/native/control.js'
export type { Listed, Positions } from './lib/listed.js'
export type { Instead } from './lib/instead.js'
export type { Several } from './lib/several.js'
export type { Nested } from './lib/nested.js'
export type { AsDType, Common, DTypeOf, Device, Fits, Operand, PromoteAll, TakesEach, Weak, With } from './lib/operand.js'
export type { TensorJSON } from './lib/print.js'
export type { AbortSignalLike, JobOptions, Progress } from './lib/progress.js'
export type { Scalar } from './lib/record.js'
export type { DTypeOfArray, TypedArray } from './lib/typedarray.js'

import * as errors from './lib/errors.js'
import { nameClasses } from './lib/names.js'
import * as nn from './lib/nn.js'
import { Plan } from './lib/plan.js'
import { Profile } from './lib/profile.js'
import * as random from './lib/random.js'
import { Slice } from './lib/slice.js'
import { Tensor } from './lib/tensor.js'

nameClasses({ Tensor, Slice, Plan, Profile, ...errors, ...nn, ...random })
