// The public surface of the package: what `import * as ft from 'ferrotensor'` sees.

export { Tensor } from './lib/tensor/tensor.js'
export { isTensor } from './lib/program/node.js'

export * from './lib/generated/functions.js'
export * from './lib/generated/names/root.js'
export * as backends from './lib/backends/backends.js'
export * as data from './lib/data/data.js'
export * as einops from './lib/arrays/einops.js'
export * as fft from './lib/fft/fft.js'
export * as io from './lib/io/io.js'
export * as linalg from './lib/linalg/linalg.js'
export * as nn from './lib/nn/nn.js'
export * as optim from './lib/optim/optim.js'
export * as random from './lib/random/random.js'
export * as signal from './lib/signal/signal.js'
export * as special from './lib/generated/names/special.js'
export * as systolic from './lib/systolic/systolic.js'
export * as tree from './lib/tree/tree.js'

export { asarray, fromTypedArray, tensor, type CreationOptions, type DTypeOfData, type TensorData, type TensorOptions } from './lib/values/create.js'
export { emptyLike, fullLike, onesLike, zerosLike } from './lib/arrays/create-like.js'
export { arange, linspace, logspace, meshgrid, type LinspaceOptions, type LogspaceOptions, type MeshgridOptions } from './lib/arrays/ranges.js'
export { associativeScan, reduce, windowReduce, type AssociativeScanOptions, type ReduceOptions, type WindowReduceOptions } from './lib/arrays/associative-scan.js'
export { dot, dsplit, flatnonzero, hsplit, ndim, norm, shape, size, transpose, unique, vdot, vsplit, type NormOrdOptions, type Ord, type UniqueOf, type UniqueReturns } from './lib/arrays/numpy.js'
export {
  adjoint, bucketize, expand, gather, indexSelect, isComplex, isFloatingPoint, maskedFill, maskedSelect, narrow, numel, permute, select,
  t, view, type BucketizeOptions, type Numbers
} from './lib/arrays/pytorch.js'
export { diagEmbed, type DiagEmbedOptions } from './lib/arrays/diagonal.js'
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
export { viewAsComplex, viewAsReal } from './lib/arrays/complex-parts.js'
export { concat, expandDims, flatten, repeat, tile, unflatten, type ConcatOptions } from './lib/arrays/shapes.js'
export { argpartition, compress, extract, lexsort, msort, partition, uniqueConsecutive } from './lib/arrays/sorting.js'
export {
  fillDiagonal, indexAdd, indexCopy, indexFill, indexPut, maskedScatter, place, put, putmask, scatterReduce, type FillDiagonalOptions, type IndexAddOptions,
  type Reduction, type ScatterReduceOptions
} from './lib/arrays/updates.js'
export { cov, cumulativeTrapezoid, trapezoid, type CovOptions } from './lib/arrays/weighted.js'
export { maxWithIndices, minWithIndices, type Extremes, type ExtremesOptions } from './lib/arrays/extremes.js'
export { broadcastArrays, broadcastShapes } from './lib/arrays/broadcasting.js'
export { arraySplit, chunk, split, unstack, type PiecesOf, type PiecesOptions } from './lib/indexing/split.js'
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
} from './lib/arrays/sets.js'
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
} from './lib/arrays/histogram.js'
export { array2string, getPrintOptions, setPrintOptions } from './lib/tensor/text-options.js'
export * from './lib/tensor/constants.js'
export { arrayNamespaceInfo, canCast, finfo, iinfo, isdtype, issubdtype, resultType, type ArrayNamespaceInfo, type FInfo, type IInfo, type Kind, type ResultOf, type ScalarKind, type Typed } from './lib/arrays/dtypes.js'
export { polyfit, polyval, roots, type PolyfitOptions } from './lib/signal/polynomial.js'
export { checkpoint, customGradient } from './lib/autodiff/custom-gradient.js'
export { hessian, jacobian } from './lib/transforms/jacobian.js'
export { noGrad } from './lib/autodiff/no-grad.js'
export { grad, jvp, stopGradient, valueAndGrad, vjp, type GradOptions, type Wanted } from './lib/autodiff/grad.js'
export { jit, type JitOptions, type Traces } from './lib/transforms/jit.js'
export { vmap, type Axes, type VmapOptions } from './lib/transforms/vmap.js'
export { detectNaN } from './lib/diagnostics/detect-nan.js'
export { Slice, slice } from './lib/indexing/slice.js'
export { devices, setDefaultDevice, setThreads, type AbsentDevice, type PresentDevice } from './lib/devices/devices.js'
export { memory, setMemoryLimit, trim, type MemoryInfo } from './lib/memory/memory.js'
export { evaluate, evaluateSync, type ArrayOfRank, type NestedArray } from './lib/values/read.js'
export { plan, Plan, type PlannedKernel, type Rejection } from './lib/diagnostics/plan.js'
export { profile, Profile, type DevicePeak, type KernelProfile } from './lib/diagnostics/profile.js'
export type { MemorySample, ProfileSpan, SpanKind } from './lib/diagnostics/profile/spans.js'
export type { Trace, TraceEvent } from './lib/diagnostics/profile/trace.js'
export { scope, scopeAsync, type AsyncScope } from './lib/memory/scope.js'
export { fromShared, type SharedTensor } from './lib/values/share.js'
export { config, resetStats, stats, strict, type Config, type Stats, type Strictness } from './lib/diagnostics/stats.js'
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
export type { PositionDType } from './lib/values/index-arrays.js'
export type { IndexItem, Indices } from './lib/indexing/at.js'
export type { DeviceMemory, Fallback, Rewriting } from './lib/native/control.js'
export { type Listed, type Positions } from './lib/calls/arrays.js'
export type { Instead } from './lib/errors/instead.js'
export type { Several } from './lib/calls/several.js'
export type { Nested } from './lib/values/nested.js'
export type { AsDType, Common, DTypeOf, Device, Fits, Operand, PromoteAll, TakesEach, Weak, With } from './lib/tensor/operand.js'
export type { TensorJSON, TextOptions } from './lib/tensor/print.js'
export type { AbortSignalLike, JobOptions, Progress } from './lib/arguments/job-options.js'
export { type Scalar } from './lib/program/record.js'
export type { DTypeOfArray, TypedArray } from './lib/values/typed-arrays.js'

import * as errors from './lib/errors.js'
import { nameClasses } from './lib/errors/class-names.js'
import * as nn from './lib/nn/nn.js'
import { Plan } from './lib/diagnostics/plan.js'
import { Profile } from './lib/diagnostics/profile.js'
import * as random from './lib/random/random.js'
import { Slice } from './lib/indexing/slice.js'
import { Tensor } from './lib/tensor/tensor.js'

nameClasses({ Tensor, Slice, Plan, Profile, ...errors, ...nn, ...random })
