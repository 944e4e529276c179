// `ferrotensor/plot`: drawings for terminals, files and pages (docs/plots.md).

export { bars, type BarsOptions } from './plot/bars.js'
export { confusion, heatmap, type ConfusionOptions, type HeatmapOptions } from './plot/heatmap.js'
export { histogram, type HistogramOptions } from './plot/histogram.js'
export { image, images, type ImageOptions, type ImagesOptions } from './plot/image.js'
export { lines, scatter, type LinesOptions, type ScatterOptions, type Series } from './plot/lines.js'
export type { Numbers } from './plot/numbers.js'
export type { AxesOptions, PlotOptions } from './plot/options.js'
export { Plot } from './plot/plot.js'
