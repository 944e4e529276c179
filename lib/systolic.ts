// `ft.systolic`: systolic arrays, simulated tick by tick (docs/systolic.md). Host code alone: nothing of it is a tensor.

export { array, type Dispatched, type InputStreams, type InputView, type LinkView, type PlaceView, type RunResult, type SystolicArray } from './systolic/array.js'
export { run, step, type ArrayBackend, type Dispatch, type RunOptions } from './systolic/clock.js'
export { conformance, type BackendUnderTest, type ConformanceCase, type ConformanceOptions } from './systolic/conformance.js'
export { element, EMPTY, type Element, type Read, type StepContext, type Stepped } from './systolic/element.js'
export { gemm, shortestPaths, type Dataflow, type Gemm, type GemmOptions } from './systolic/gemm.js'
export { convolve, matvec, solveTriangular, type ConvolveMode, type ConvolutionOptions, type SolveOptions, type TimedValues } from './systolic/lines.js'
export { mac, stationary, type MacOptions, type MacState, type Ring, type RingName, type StationaryState } from './systolic/mac.js'
export type { Counts, Output } from './systolic/machine.js'
export { tiles, type Tile, type TileOptions } from './systolic/partition.js'
export type { Matrix, RunOn, Vector } from './systolic/ready.js'
export type { Report, Total } from './systolic/report.js'
export { editDistance, sort, type EditDistance } from './systolic/sequences.js'
export {
  simulate, sweep, type ConvolutionLayer, type EnergyTable, type LayerReport, type ProductLayer, type SimulateOptions, type SramSizes,
  type SweepOptions, type SystolicLayer, type Traffic
} from './systolic/simulate.js'
export type { Coord, CustomSpace, Port } from './systolic/space.js'
export type { ElementEvent, ElementEvents, EventOptions } from './systolic/trace.js'
export type { Flight, LinkOptions, OnFull } from './systolic/wiring.js'
