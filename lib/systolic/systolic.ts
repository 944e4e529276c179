// `ft.systolic`: systolic arrays, simulated tick by tick (docs/systolic.md). Host code on plain numbers, and `traced`, whose elements are programs of tensors.

export { array, type Dispatched, type InputStreams, type InputView, type LinkView, type PlaceView, type RunResult, type SystolicArray } from './array.js'
export { run, step, type ArrayBackend, type Dispatch, type RunOptions } from './clock.js'
export { conformance, type BackendUnderTest, type ConformanceCase, type ConformanceOptions } from './conformance.js'
export { element, EMPTY, type Element, type Read, type StepContext, type Stepped } from './element.js'
export { gemm, shortestPaths, type Dataflow, type Gemm, type GemmOptions } from './gemm.js'
export { convolve, matvec, solveTriangular, type ConvolveMode, type ConvolutionOptions, type SolveOptions, type TimedValues } from './lines.js'
export { mac, stationary, type MacOptions, type MacState, type Ring, type RingName, type StationaryState } from './mac.js'
export type { Counts, Output } from './machine.js'
export { tiles, type Tile, type TileOptions } from './partition.js'
export type { Matrix, Vector } from './ready.js'
export type { Report, Total } from './report.js'
export type { RunOn } from './run-on.js'
export { editDistance, sort, type EditDistance } from './sequences.js'
export {
  simulate, sweep, type ConvolutionLayer, type EnergyTable, type LayerReport, type ProductLayer, type SimulateOptions, type SramSizes,
  type SweepOptions, type SystolicLayer, type Traffic
} from './simulate.js'
export type { Coord, CustomSpace, Port } from './space.js'
export type { ElementEvent, ElementEvents, EventOptions } from './trace.js'
export {
  traced, type PortReads, type PortWrites, type StateTensors, type TracedArray, type TracedOptions, type TracedPorts, type TracedRun, type TracedRunOptions, type TracedStates
} from './traced.js'
export type { TracedPort, TracedPortOptions, TracedState, TracedStateOptions } from './traced-parts.js'
export type { Offset } from './edges.js'
export type { Flight, LinkOptions, OnFull } from './wiring.js'
