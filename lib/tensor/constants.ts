// The constants of the array API, as JavaScript numbers, and the dtypes as constants: `{ dtype: ft.float32 }` is `{ dtype: 'float32' }`.

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

export const bool = 'bool'
export const int8 = 'int8'
export const uint8 = 'uint8'
export const int16 = 'int16'
export const uint16 = 'uint16'
export const int32 = 'int32'
export const uint32 = 'uint32'
export const int64 = 'int64'
export const uint64 = 'uint64'
export const float16 = 'float16'
export const bfloat16 = 'bfloat16'
export const float32 = 'float32'
export const float64 = 'float64'
export const complex64 = 'complex64'
export const complex128 = 'complex128'

// PyTorch's names of dtypes.
export const half = 'float16'
export const float = 'float32'
export const double = 'float64'
export const short = 'int16'
export const int = 'int32'
export const long = 'int64'
export const cfloat = 'complex64'
export const cdouble = 'complex128'
