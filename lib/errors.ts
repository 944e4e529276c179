// The errors of this package: one class for each code, native code throws instances of the same classes.

/** What every error of this package is: an `Error` with a stable `code`. */
export abstract class TensorError extends Error {
  /** A stable name of the kind of mistake, `ERR_SHAPE` and so on. */
  abstract readonly code: string

  /** The class's name. */
  override get name(): string {
    return this.constructor.name
  }
}

/** Shapes do not fit each other or the operation. */
export class ShapeError extends TensorError {
  readonly code = 'ERR_SHAPE'
}

/** A dtype the operation does not take, or a number the dtype cannot hold. */
export class DTypeError extends TensorError {
  readonly code = 'ERR_DTYPE'
}

/** An index, axis or slice outside its range. */
export class IndexError extends TensorError {
  readonly code = 'ERR_INDEX'
}

/** Tensors on different devices, or a device that does not exist. */
export class DeviceError extends TensorError {
  readonly code = 'ERR_DEVICE'
}

/** A backend, or the native binary, that is not present on this machine; the message says why. */
export class BackendUnavailableError extends TensorError {
  readonly code = 'ERR_BACKEND_UNAVAILABLE'
}

/** The memory budget, or the machine's memory, is exhausted. Nothing was changed; freeing tensors and trying again works. */
export class OutOfMemoryError extends TensorError {
  readonly code = 'ERR_OUT_OF_MEMORY'
}

/** A tensor used after `dispose()`, or after the scope that made it. */
export class DisposedError extends TensorError {
  readonly code = 'ERR_DISPOSED'
}

/** A singular or indefinite matrix, or an iteration that did not converge. */
export class LinAlgError extends TensorError {
  readonly code = 'ERR_LINALG'
}

/** An operation that makes NaN of operands without one, where `detectNaN` looks for it. */
export class NaNError extends TensorError {
  readonly code = 'ERR_NAN'
}

/** Bytes that are not in the format they claim to be in. */
export class FormatError extends TensorError {
  readonly code = 'ERR_FORMAT'
}

/** A file that the system does not open, read or write; the message begins as Node's does: `ENOENT: no such file or directory, ...`. */
export class FileError extends TensorError {
  readonly code = 'ERR_FILE'

  /** The system's code, as Node names it: `ENOENT`, `EACCES`, `EISDIR`, `ENOSPC`, ...; `UNKNOWN` for one without a name. */
  get systemCode(): string {
    return /(?:^|: )([A-Z0-9]+): /.exec(this.message)?.[1] ?? 'UNKNOWN'
  }
}

/** A valid request that this version does not offer. */
export class UnsupportedError extends TensorError {
  readonly code = 'ERR_UNSUPPORTED'
}

/** An argument of the wrong kind: a string for a number, a missing operand, an unknown option. */
export class ArgumentError extends TensorError {
  readonly code = 'ERR_ARGUMENT'
}

/** A broken promise of this package: always a bug worth reporting. */
export class InternalError extends TensorError {
  readonly code = 'ERR_INTERNAL'
}

/**
 * The class of each code in `crates/core/src/error.rs`; native code refuses to load where one is missing.
 * @internal
 */
export const ERROR_CLASSES = [
  ShapeError,
  DTypeError,
  IndexError,
  DeviceError,
  BackendUnavailableError,
  OutOfMemoryError,
  DisposedError,
  LinAlgError,
  FormatError,
  FileError,
  UnsupportedError,
  ArgumentError,
  InternalError
] as const
