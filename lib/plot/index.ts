// `ferrotensor/plot`: drawings for terminals, files and pages (docs/plots.md).

export { bars, type BarsOptions } from './bars.js'
export { confusion, heatmap, type ConfusionOptions, type HeatmapOptions } from './heatmap.js'
export { histogram, type HistogramOptions } from './histogram.js'
export { image, images, type ImageOptions, type ImagesOptions } from './image.js'
export { lines, scatter, type LinesOptions, type ScatterOptions, type Series } from './lines.js'
export type { Numbers } from './numbers.js'
export type { AxesOptions, PlotOptions } from './options.js'
export { Plot } from './plot.js'
