// How well drawn numbers fit a distribution: the statistics of Kolmogorov and Smirnov and of Pearson.

import * as ft from 'ferrotensor'

export const doubles = (x: ft.Tensor): number[] => [...(x.astype('float64').dataSync() as Float64Array)]

/** The largest distance between the numbers' distribution and one with this integral, times the root of their count. */
export function distance(numbers: number[], integral: (x: number) => number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const gaps = sorted.map((x, i) => Math.max(Math.abs(integral(x) - i / sorted.length), Math.abs(integral(x) - (i + 1) / sorted.length)))
  return gaps.reduce((a, b) => Math.max(a, b), 0) * Math.sqrt(sorted.length)
}

/** Pearson's statistic of counts beside probabilities, less its mean, in its standard deviations. */
export function surprise(numbers: number[], p: readonly number[]): number {
  const counts = p.map((_, i) => numbers.filter((x) => x === i).length)
  const statistic = p.map((q, i) => ((counts[i] as number) - numbers.length * q) ** 2 / (numbers.length * q)).reduce((a, b) => a + b, 0)
  return (statistic - (p.length - 1)) / Math.sqrt(2 * (p.length - 1))
}
