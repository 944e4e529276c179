// The constants of the array API, as JavaScript numbers.

/** Euler's number, 2.718281828459045. */
export const e: number = Math.E
/** Positive infinity. */
export const inf: number = Infinity
/** Not a number. */
export const nan: number = NaN
/** A new axis of size 1 among the items of `x.at(...)`. */
export const newaxis: null = null
/** The circle's circumference over its diameter, 3.141592653589793. */
export const pi: number = Math.PI
