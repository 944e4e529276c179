//! Errors as values: a code that becomes a TypeScript class, and a message built where the facts are known.

use std::fmt;

/// What kind of mistake an [`Error`] reports. Each code is one `TensorError` subclass in TypeScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// Shapes do not fit each other or the operation.
    Shape = 1,
    /// A dtype the operation does not take, or a number the dtype cannot hold.
    DType = 2,
    /// An index, axis or slice outside its range.
    Index = 3,
    /// Tensors on different devices, or a device that does not exist.
    Device = 4,
    /// A backend that is not present on this machine.
    BackendUnavailable = 5,
    /// The memory budget, or the machine's memory, is exhausted.
    OutOfMemory = 6,
    /// A tensor used after `dispose()`.
    Disposed = 7,
    /// A singular or indefinite matrix, or an iteration that did not converge.
    LinAlg = 8,
    /// Bytes that are not in the format they claim to be in.
    Format = 9,
    /// A valid request that this version does not offer.
    Unsupported = 10,
    /// An argument of the wrong kind (a string for a number, a missing operand, ...).
    Argument = 11,
    /// A broken promise of ours: always a bug.
    Internal = 12,
    /// A file that the system does not open, read or write.
    File = 13,
}

impl Code {
    /// Every code, in the order of its number.
    pub const ALL: [Code; 13] = [
        Code::Shape,
        Code::DType,
        Code::Index,
        Code::Device,
        Code::BackendUnavailable,
        Code::OutOfMemory,
        Code::Disposed,
        Code::LinAlg,
        Code::Format,
        Code::Unsupported,
        Code::Argument,
        Code::Internal,
        Code::File,
    ];

    /// The `code` property of the JavaScript error.
    pub fn name(self) -> &'static str {
        match self {
            Code::Shape => "ERR_SHAPE",
            Code::DType => "ERR_DTYPE",
            Code::Index => "ERR_INDEX",
            Code::Device => "ERR_DEVICE",
            Code::BackendUnavailable => "ERR_BACKEND_UNAVAILABLE",
            Code::OutOfMemory => "ERR_OUT_OF_MEMORY",
            Code::Disposed => "ERR_DISPOSED",
            Code::LinAlg => "ERR_LINALG",
            Code::Format => "ERR_FORMAT",
            Code::Unsupported => "ERR_UNSUPPORTED",
            Code::Argument => "ERR_ARGUMENT",
            Code::Internal => "ERR_INTERNAL",
            Code::File => "ERR_FILE",
        }
    }
}

/// An error with its code and a message that names op, shapes, dtypes and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The class of mistake.
    pub code: Code,
    /// The text shown to the user.
    pub message: String,
}

/// The result type of this workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the given code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error { code, message: message.into() }
    }

    /// The same error, its message led by the operation's name.
    pub fn in_op(mut self, op: &str) -> Self {
        self.message = format!("{op}: {}", self.message);
        self
    }
}

impl Error {
    /// What is left of a value whose environment (a worker) ended while it was computed, for those who had taken it from there.
    pub fn abandoned() -> Self {
        Error::new(Code::Disposed, "the worker that was computing this has ended")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

macro_rules! constructors {
    ($($name:ident => $code:ident),* $(,)?) => {
        impl Error {
            $(
                #[doc = concat!("A [`Code::", stringify!($code), "`] error.")]
                pub fn $name(message: impl Into<String>) -> Self {
                    Error::new(Code::$code, message)
                }
            )*
        }
    };
}

constructors! {
    shape => Shape, dtype => DType, index => Index, device => Device, out_of_memory => OutOfMemory,
    linalg => LinAlg, format => Format, unsupported => Unsupported, argument => Argument, internal => Internal,
    file => File,
}
